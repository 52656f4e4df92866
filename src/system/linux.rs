//! Linux-specific functions with files in /proc and system calls.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use memchr::memmem;
use rustix::fs::{StatFs, major, minor};

/// The number of files up to which single syncs are as fast as one of the file system.
const FEW: usize = 8;

/// The advice at the limit of file watches.
pub(crate) const RAISE_WATCHES: &str = " (raise fs.inotify.max_user_watches)";

/// The advice at the limit of file watchers.
pub(crate) const RAISE_WATCHERS: &str = " (raise fs.inotify.max_user_instances)";

/// The directory of all processes.
pub(crate) const PROCESSES: Option<&str> = Some("/proc");

/// The major device number of pseudo-terminals below `/dev/pts`.
const PSEUDO_TERMINALS: u32 = 136;

/// Identifies this machine and PID namespace, in the format of pitree's extension.
pub(crate) fn namespace_id() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

/// Returns when the machine was started, by its current clock.
pub(crate) fn boot_time() -> Option<SystemTime> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// Returns the status of a process from its state on, which follows the name.
fn status(pid: u32) -> Option<String> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name can contain anything.
    String::from_utf8_lossy(&stat).rsplit_once(") ").map(|(_, status)| status.to_owned())
}

/// Returns `true` if a process with this start time is still running. The time is in ticks since boot.
pub(crate) fn runs(pid: u32, start: &str) -> bool {
    let Some(status) = status(pid) else { return false };
    let mut fields = status.split(' ');
    // A zombie process has a start time too.
    let is_over = fields.next().is_none_or(|state| matches!(state, "Z" | "X"));
    !is_over && fields.nth(18) == Some(start)
}

/// Returns the path of the controlling terminal of a process.
pub(crate) fn terminal_of(pid: u32) -> Option<String> {
    let device: u64 = status(pid)?.split(' ').nth(4)?.parse().ok().filter(|&device| device != 0)?;
    if major(device) == PSEUDO_TERMINALS {
        return Some(format!("/dev/pts/{}", minor(device)));
    }
    let input = fs::read_link(format!("/proc/{pid}/fd/0")).ok()?;
    input.to_str().filter(|path| path.starts_with("/dev/tty")).map(String::from)
}

/// Returns an environment variable that a process was started with.
pub(crate) fn variable_of(pid: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let variables = environment.split(|&byte| byte == 0).filter_map(|variable| str::from_utf8(variable).ok());
    variables
        .filter_map(|variable| variable.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value.into())
}

/// Describes the process that holds the lock of a file, if known.
pub(crate) fn lock_holder(file: &File) -> Option<String> {
    described(process(&fs::read_to_string("/proc/locks").ok()?, &file.metadata().ok()?)?)
}

/// Returns the process that holds a lock of a file from `/proc/locks`: `1: FLOCK ADVISORY WRITE 4711 fd:01:131 0 EOF`.
fn process(locks: &str, file: &Metadata) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino());
    let line = locks.lines().find(|line| line.split(' ').any(|word| word == file) && !line.contains("->"))?;
    let mut words = line.split_whitespace().skip_while(|word| !matches!(*word, "READ" | "WRITE"));
    words.nth(1)?.parse().ok()
}

/// Describes a process by name and PID, with the command to resume it if it is stopped.
fn described(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (start, end) = (stat.find('(')?, stat.rfind(')')?);
    let (name, state) = (stat.get(start + 1..end)?, stat.get(end + 2..end + 3)?);
    let stopped = match state {
        "T" | "t" => format!(", suspended; resume it with `kill -CONT {process}`"),
        _ => String::new(),
    };
    Some(format!("{name} (pid {process}{stopped})"))
}

/// Part of the paths of session files, also of renamed and removed ones.
const SESSION: &[u8] = b".jsonl";

/// Returns `true` for each of the session files that a process has open for writing, as far as this user can see
/// processes.
pub(crate) fn are_written(files: &[PathBuf]) -> Option<Vec<bool>> {
    let identity = |file: &Metadata| (file.dev(), file.ino());
    let mut written = HashSet::new();
    for process in fs::read_dir("/proc").ok()?.flatten().map(|process| process.path()) {
        // The descriptors of other users cannot be listed.
        for descriptor in fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
            // Other descriptors are not looked at: a file on an unreachable server would block.
            let is_session = |target: PathBuf| memmem::find(target.as_os_str().as_encoded_bytes(), SESSION).is_some();
            if !fs::read_link(descriptor.path()).is_ok_and(is_session) {
                continue;
            }
            let info = fs::read_to_string(process.join("fdinfo").join(descriptor.file_name())).unwrap_or_default();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            // The last two bits are the access mode; 0 is reading.
            if flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok()).is_some_and(|flags| flags & 3 != 0) {
                written.extend(fs::metadata(descriptor.path()).map(|file| identity(&file)));
            }
        }
    }
    let is_written = |file: &PathBuf| fs::metadata(file).is_ok_and(|file| written.contains(&identity(&file)));
    Some(files.iter().map(is_written).collect())
}

/// Syncs files of one file system. For many files, one call for the file system takes a tenth of the time of single
/// calls.
///
/// # Errors
/// The disk fails, or a file cannot be opened.
pub(crate) fn sync_all(files: &[PathBuf]) -> io::Result<()> {
    match files {
        [first, ..] if files.len() > FEW => Ok(rustix::fs::syncfs(File::open(first)?)?),
        few => few.iter().try_for_each(|file| File::open(file)?.sync_all()),
    }
}

/// Syncs open files, which must have been opened before they were written. Many files take one call per file system,
/// which reports write errors since Linux 5.8. On network file systems, only calls for single files reach the server.
///
/// # Errors
/// The disk fails.
pub(crate) fn sync_files(files: &[File]) -> io::Result<()> {
    let mut synced = HashSet::new();
    for file in files {
        if files.len() <= FEW || rustix::fs::fstatfs(file).is_ok_and(|system| is_remote_type(&system)) {
            file.sync_all()?;
        } else if synced.insert(file.metadata()?.dev()) {
            rustix::fs::syncfs(file)?;
        }
    }
    Ok(())
}

/// Returns `true` if a directory is on another machine, so that changes made there are not reported.
pub(crate) fn is_remote(dir: &Path) -> bool {
    rustix::fs::statfs(dir).is_ok_and(|system| is_remote_type(&system))
}

fn is_remote_type(system: &StatFs) -> bool {
    // NFS, SMB, CIFS, SMB2, FUSE, 9P, AFS, Ceph.
    const REMOTE: [u32; 8] =
        [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0x0102_1997, 0x5346_414f, 0x00c3_6400];
    REMOTE.contains(&(system.f_type as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_system_says_of_locks() {
        let file = fs::metadata("/").unwrap();
        let place = format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino());
        let locks = format!(
            "1: POSIX  ADVISORY  READ 5 00:19:1 128 128\n2: -> FLOCK  ADVISORY  WRITE 6 {place} 0 EOF\n2: FLOCK  ADVISORY  WRITE 4711 {place} 0 EOF\n"
        );
        assert_eq!(process(&locks, &file), Some(4711));
        assert_eq!(process("", &file), None);
        assert_eq!(described(u32::MAX), None);
    }
}
