//! A source that needs only a shell on the machine: `find` lists the files, and `rsync`, or `tar` and `tail`, send them.
//! What the machine prints is untrusted.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use crate::config::Address;
use crate::disk::{create, files, program};
use crate::machines::cksum::Cksum;
use crate::machines::link::{LIST_LIMIT, Link, LinkError};
use crate::machines::listing::{MOST_FILES, RemoteFile};
use crate::machines::mirror::Mirror;
use crate::machines::source::{FetchedFile, Listing, OpenMirror, Source, TakeFile, read_from};
use crate::machines::state::Method;
use crate::machines::transport::{Transport, dir_word};

/// The session directory of pi, unless the address names another one.
const PI_DIR: &str = "\"${PI_CODING_AGENT_SESSION_DIR:-${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}/sessions}\"";

/// The lines that mark the parts of the output, because the shell of a machine can print other lines before.
const START: &str = "pitree-list";
const RSYNC: &str = "pitree-rsync";
const NO_DIR: &str = "pitree-no-dir";
const INCOMPLETE: &str = "pitree-incomplete";
const END: &str = "pitree-end";

/// The number of bytes by which a file can grow between the list and `rsync`.
const SLACK: u64 = 16 * 1024 * 1024;

/// The number of files that `rsync` sends at a time.
const FILES_AT_ONCE: usize = 500;

/// The time limit of `rsync`, which has a limit for silence of its own.
const RSYNC_LIMIT: Duration = Duration::from_secs(3600);

/// A shell on a machine.
pub(super) struct ShellSource<'a> {
    transport: Transport<'a>,
    /// The session directory there.
    dir: String,
    /// `true` if the machine has `rsync`.
    has_rsync: bool,
    transferred: u64,
}

impl<'a> ShellSource<'a> {
    pub(super) fn new(transport: Transport<'a>) -> Self {
        Self { transport, dir: String::new(), has_rsync: false, transferred: 0 }
    }

    /// Returns the script that lists the files. GNU `find` prints fractions of seconds; others need `stat`.
    fn list_script(&self) -> String {
        let dir = dir_of(self.transport.address);
        let find = "find . -type f -name '*.jsonl'";
        format!(
            "d={dir}; LC_ALL=C; export LC_ALL; echo {START}; date +%s; \
             if command -v rsync >/dev/null 2>&1; then echo {RSYNC}; else echo; fi; \
             if cd \"$d\" 2>/dev/null; then pwd -P; \
             {{ if find . -maxdepth 0 -printf '' >/dev/null 2>&1; then {find} -printf '%s %T@ %p\\n'; \
             elif stat -c %s . >/dev/null 2>&1; then {find} -exec stat -c '%s %Y %n' {{}} +; \
             else {find} -exec stat -f '%z %m %N' {{}} +; fi || echo {INCOMPLETE}; }} 2>/dev/null; \
             else printf '%s\\n' \"$d\"; echo {NO_DIR}; fi; echo {END}"
        )
    }

    /// Parses the lines after the start.
    fn parse(&mut self, link: &mut Link) -> io::Result<Listing> {
        let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        link.skip_to(&[START])?;
        let now = link.line()?.trim().parse::<i64>().ok().map(|seconds| seconds.saturating_mul(1000));
        self.has_rsync = link.line()?.trim() == RSYNC;
        self.dir = link.line()?;
        let mut listing =
            Listing { dir: self.dir.clone(), has_dir: true, is_complete: true, now, ..Listing::default() };
        loop {
            let line = link.line()?;
            match line.trim_end_matches('\r') {
                END => return Ok(listing),
                NO_DIR => listing.has_dir = false,
                INCOMPLETE => listing.is_complete = false,
                line => match file(line) {
                    Some(file) if listing.files.len() < MOST_FILES => listing.files.push(file),
                    Some(_) => return Err(invalid("too many files")),
                    None => listing.refused += 1,
                },
            }
        }
    }

    /// Fetches whole files with `tar`.
    fn tar(&mut self, files: &[(usize, &FetchedFile)], take: TakeFile<'_>) -> Result<usize, LinkError> {
        let places: HashMap<&str, (usize, &FetchedFile)> =
            files.iter().map(|&(at, file)| (&*file.file.path, (at, file))).collect();
        let dir = dir_word(&self.dir);
        let mut link = Link::run(self.transport, &format!("cd {dir} && tar -cf - -T - 2>/dev/null"))?;
        let names: String = files.iter().map(|(_, file)| format!("./{}\n", file.file.path)).collect();
        link.write_all(names.as_bytes()).map_err(|error| link.explain(&error))?;
        link.end_input();
        let mut done = 0;
        let read = (|| {
            let mut archive = tar::Archive::new(&mut link);
            for entry in archive.entries()? {
                let mut entry = entry?;
                let path = entry.path_bytes().into_owned();
                let place = std::str::from_utf8(&path)
                    .ok()
                    .and_then(|path| places.get(path.strip_prefix("./").unwrap_or(path)));
                let (Some((at, wanted)), true) = (place, entry.header().entry_type().is_file()) else { continue };
                // The file can have grown since it was listed, but not beyond what was planned for the mirror.
                let mtime = wanted.file.mtime;
                done += 1;
                let bytes = entry.size().min(wanted.file.bytes);
                let mut content = Exact { from: &mut entry, left: bytes, end: None };
                if let Err(error) = take(*at, (0, mtime), &mut content) {
                    return Ok(Err(error));
                }
            }
            Ok::<_, io::Error>(Ok(()))
        })();
        self.transferred += link.transferred;
        read.map_err(|error| link.explain(&error))??;
        Ok(files.len().saturating_sub(done))
    }

    /// Fetches what was appended to files, if the known content is unchanged; returns the others.
    fn tails<'f>(
        &mut self,
        mirror: &Mirror,
        files: &[(usize, &'f FetchedFile)],
        take: TakeFile<'_>,
    ) -> Result<Vec<(usize, &'f FetchedFile)>, LinkError> {
        let dir = dir_word(&self.dir);
        let script = format!(
            "cd {dir} && while IFS= read -r k && IFS= read -r l && IFS= read -r f; do \
             head -c \"$k\" \"./$f\" 2>/dev/null | cksum; \
             tail -c \"+$((k + 1))\" \"./$f\" 2>/dev/null | head -c \"$l\"; echo; echo {END}; done"
        );
        let mut link = Link::run(self.transport, &script)?;
        let line = |file: &FetchedFile| {
            let (known, _) = file.known.parts();
            format!("{known}\n{}\n{}\n", file.file.bytes - known, file.file.path)
        };
        let lines: String = files.iter().map(|(_, file)| line(file)).collect();
        link.write_all(lines.as_bytes()).map_err(|error| link.explain(&error))?;
        link.end_input();
        let mut replaced = Vec::new();
        for &(at, file) in files {
            let (known, _) = file.known.parts();
            let is_same = is_sum_of(&mirror.path(&file.file.path), &link.line().map_err(|error| link.explain(&error))?);
            let mut tail = Exact { from: &mut link, left: file.file.bytes - known, end: Some(end_of_tail) };
            let read = match is_same {
                true => take(at, (known, file.file.mtime), &mut tail),
                false => io::copy(&mut tail, &mut io::sink()).map(drop).map_err(|error| link.explain(&error)),
            };
            read?;
            replaced.extend((!is_same).then_some((at, file)));
        }
        self.transferred += link.transferred;
        Ok(replaced)
    }

    /// Fetches files with `rsync`, which sends only the parts that differ from the mirror.
    fn rsync(
        &mut self,
        mirror: &Mirror,
        files: &[FetchedFile],
        (rsh, host): &(String, String),
        take: TakeFile<'_>,
    ) -> Result<usize, LinkError> {
        let failed = |error: io::Error| LinkError::new(format!("rsync: {error}"));
        let staging = mirror.staging();
        let _ = fs::remove_dir_all(&staging); // of an interrupted run
        create::private_folder(&staging).map_err(failed)?;
        let found = program::find("rsync").ok_or_else(|| LinkError::new("cannot find rsync on the PATH"))?;
        let mut command = std::process::Command::new(found);
        command.args(["-rtsz", "--from0", "--files-from=-", "--no-links", "--timeout=10", "--stats", "-e"]).arg(rsh);
        // A machine that sends more than it listed is cut off.
        let largest = files.iter().map(|file| file.file.bytes).max().unwrap_or(0);
        command.arg(format!("--max-size={}", largest + SLACK));
        command.arg(format!("--copy-dest={}", mirror.dir.display()));
        command.arg("--").arg(format!("{host}:{}/", self.dir)).arg(&staging);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut link = Link::start(command)?;
        link.wait_at_most(RSYNC_LIMIT);
        let names: String = files.iter().map(|file| format!("{}\0", file.file.path)).collect();
        link.write_all(names.as_bytes()).map_err(|error| link.explain(&error))?;
        link.end_input();
        let mut stats = String::new();
        link.read_to_string(&mut stats).map_err(|error| link.explain(&error))?;
        // 23 and 24: some files could not be read, or vanished.
        if !matches!(link.code(), Some(0 | 23 | 24)) {
            return Err(link.explain(&io::ErrorKind::UnexpectedEof.into()));
        }
        self.transferred += rsync_bytes(&stats);
        read_from(&staging, files, &mut |at, (from, _), content| take(at, (from, files[at].file.mtime), content))
    }
}

/// Returns `true` if a line of `cksum` is that of a file.
fn is_sum_of(path: &Path, line: &str) -> bool {
    let sum = files::open(path).and_then(|mut file| {
        let mut sum = Cksum::default();
        io::copy(&mut file, &mut sum).map(|_| sum.to_string())
    });
    sum.is_ok_and(|sum| sum.split(' ').eq(line.split_whitespace().take(2)))
}

/// Checks the lines after the end of a file.
fn end_of_tail(link: &mut Link) -> io::Result<()> {
    match (link.line()?, link.line()?) {
        (empty, end) if empty.is_empty() && end == END => Ok(()),
        _ => Err(io::Error::other(LinkError::new("a file became shorter while it was read"))),
    }
}

/// A reader of a number of bytes, after which the end is checked. An earlier end is an error, so that no file is taken
/// that is cut off.
struct Exact<'a, R> {
    from: &'a mut R,
    left: u64,
    /// The check after the bytes, which runs once.
    end: Option<fn(&mut R) -> io::Result<()>>,
}

impl<R: Read> Read for Exact<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        if most == 0 {
            let check = if buffer.is_empty() { None } else { self.end.take() };
            return check.map_or(Ok(0), |check| check(self.from).map(|()| 0));
        }
        match self.from.read(&mut buffer[..most])? {
            0 => Err(io::Error::other(LinkError::offline("the connection was lost"))),
            count => {
                self.left -= count as u64;
                Ok(count)
            }
        }
    }
}

impl Source for ShellSource<'_> {
    fn list(&mut self, open_mirror: OpenMirror<'_>) -> Result<Listing, LinkError> {
        let mut link = Link::run(self.transport, &self.list_script())?;
        link.end_input();
        if !self.transport.can_ask {
            link.end_within(Some(LIST_LIMIT));
        }
        let listing = self.parse(&mut link).map_err(|error| link.explain(&error))?;
        self.transferred += link.transferred;
        if listing.has_dir {
            open_mirror(&listing.dir)?;
        }
        Ok(listing)
    }

    fn fetch(&mut self, mirror: &Mirror, files: &[FetchedFile], take: TakeFile<'_>) -> Result<usize, LinkError> {
        if let (Method::Rsync, Some(rsh)) = (self.method(), self.transport.rsh()) {
            let mut unread = 0;
            for (number, some) in files.chunks(FILES_AT_ONCE).enumerate() {
                let mut take_one =
                    |at: usize, version, content: &mut dyn Read| take(number * FILES_AT_ONCE + at, version, content);
                let fetched = self.rsync(mirror, some, &rsh, &mut take_one);
                let _ = fs::remove_dir_all(mirror.staging()); // the next run would replace it
                unread += fetched?;
            }
            return Ok(unread);
        }
        let numbered = files.iter().enumerate();
        let has_grown = |file: &FetchedFile| (1..=file.file.bytes).contains(&file.known.parts().0);
        let (grown, mut whole): (Vec<_>, Vec<_>) = numbered.partition(|(_, file)| has_grown(file));
        if !grown.is_empty() {
            whole.extend(self.tails(mirror, &grown, &mut *take)?);
        }
        if whole.is_empty() { Ok(0) } else { self.tar(&whole, take) }
    }

    fn method(&self) -> Method {
        let is_possible = self.has_rsync && self.transport.rsh().is_some() && program::find("rsync").is_some();
        if is_possible { Method::Rsync } else { Method::Tar }
    }

    fn transferred(&self) -> u64 {
        self.transferred
    }
}

/// Returns a word of a shell script for the session directory on a machine.
pub(super) fn dir_of(address: &Address) -> String {
    address.dir().map_or_else(|| PI_DIR.to_owned(), dir_word)
}

/// Parses a line of the list: bytes, seconds and path.
fn file(line: &str) -> Option<RemoteFile> {
    let (bytes, rest) = line.split_once(' ')?;
    let (time, path) = rest.split_once(' ')?;
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let digits = |count: usize| fraction.chars().chain(std::iter::repeat('0')).take(count).collect::<String>();
    let milliseconds: i64 = digits(3).parse().ok()?;
    let mtime = seconds.parse::<i64>().ok()?.checked_mul(1000)?.checked_add(milliseconds)?;
    let file = RemoteFile { path: path.strip_prefix("./")?.into(), bytes: bytes.parse().ok()?, mtime };
    file.is_safe().then_some(file)
}

/// Returns the bytes that `rsync --stats` reports as sent and received.
fn rsync_bytes(stats: &str) -> u64 {
    let number = |line: &str| {
        let digits: String = line.split(':').nth(1)?.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().ok()
    };
    stats.lines().filter(|line| line.starts_with("Total bytes ")).filter_map(number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_lists_are_parsed() {
        let parsed = |line| file(line).map(|file| (file.bytes, file.mtime, file.path));
        assert_eq!(
            parsed("12 1700000000.1234567 ./--a--/x y.jsonl"),
            Some((12, 1_700_000_000_123, "--a--/x y.jsonl".into()))
        );
        assert_eq!(parsed("0 1700000000 ./x.jsonl"), Some((0, 1_700_000_000_000, "x.jsonl".into())));
        for line in [
            "",
            "x",
            "1 2",
            "1 2 x.jsonl",
            "1 2 ./../x.jsonl",
            "-1 2 ./x.jsonl",
            "1 99999999999999999999 ./x.jsonl",
            "1 2 ./x.jsonl\u{1b}",
        ] {
            assert_eq!(parsed(line), None, "{line}");
        }
        assert_eq!(rsync_bytes("Total bytes sent: 1,234\nTotal bytes received: 5\nx: 9"), 1239);
    }
}
