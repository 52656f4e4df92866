//! Finds programs like a shell, captures the output of subprocesses and limits their time.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{PathBuf, absolute, is_separator};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::string::FromUtf8Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{env, fs, mem, thread};

use parking_lot::Mutex;

use crate::base::ansi;
use crate::base::text::clean;
use crate::disk::create::temp_folder;
use crate::system::files::is_executable;
use crate::system::programs;

/// The interval between checks for the end of a subprocess.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The maximum wait for the output of a program that ended; a background child can keep the pipe open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// The maximum number of captured output bytes of commands in the configuration.
const KEPT: usize = 4096;

/// Returns the absolute path of a command, because it can run in another directory. A name with a slash is used
/// directly. Other names are searched in the directories of the PATH, where an empty directory is the working
/// directory. The first executable file is used.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    if program.contains(is_separator) {
        return absolute(program).ok();
    }
    let names = [program.to_string(), format!("{program}{}", env::consts::EXE_SUFFIX)];
    let dirs = env::var_os("PATH")?;
    let files = env::split_paths(&dirs).flat_map(|dir| names.clone().map(|name| dir.join(name)));
    files.filter_map(|file| absolute(file).ok()).find(|file| file.is_file() && is_executable(file))
}

/// Returns the path of this program.
///
/// # Errors
/// The system cannot determine it.
pub(crate) fn this() -> io::Result<PathBuf> {
    env::current_exe()
}

/// Waits for a subprocess. `gives_up` receives the elapsed time and can end the subprocess with all its children; then
/// there is no status.
///
/// # Errors
/// The system cannot report its status.
pub(crate) fn ended(child: &mut Child, mut gives_up: impl FnMut(Duration) -> bool) -> io::Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            programs::has_ended(child);
            return Ok(Some(status));
        }
        if gives_up(begun.elapsed()) {
            programs::end(child);
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Runs a command and returns its output of at most 4 KB without the last line break. The error contains no output.
///
/// # Errors
/// The command cannot be run, failed, or exceeded its time limit.
pub(crate) fn read(program: &str, arguments: &[String], limit: Duration) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(arguments);
    match read_command(command, limit) {
        Err(error) => Err(format!("cannot run {program}: {error}")),
        Ok(None) => Err(format!("{program} timed out after {} s and was stopped", limit.as_secs())),
        Ok(Some((status, _))) if !status.success() => Err(format!("{program} failed ({status})")),
        Ok(Some((_, text))) => Ok(text),
    }
}

/// Runs a command like [`read`]. Returns `None` if it exceeded its time limit.
///
/// # Errors
/// The command cannot be run.
pub(super) fn read_command(command: Command, limit: Duration) -> io::Result<Option<(ExitStatus, String)>> {
    let Some((status, output)) = read_bytes(command, Vec::new(), limit, KEPT)? else { return Ok(None) };
    let text = String::from_utf8_lossy(&output);
    Ok(Some((status, text.trim_end_matches(['\n', '\r']).to_owned())))
}

/// Runs a command and returns its output up to a limit of 1 MB. Returns `None` if it exceeded its time limit.
///
/// # Errors
/// The command cannot be run.
pub(crate) fn read_to_end(command: Command, limit: Duration) -> io::Result<Option<(ExitStatus, String)>> {
    let Some((status, output)) = read_bytes(command, Vec::new(), limit, 1_000_000)? else { return Ok(None) };
    Ok(Some((status, String::from_utf8_lossy(&output).into_owned())))
}

/// Runs a program of the PATH with an environment variable, and returns its output like [`read_to_end`]. Returns `None` if
/// it is missing, failed or exceeded its time limit.
pub(super) fn output_of(words: &[&str], variable: Option<(&str, &str)>, limit: Duration) -> Option<String> {
    let mut command = Command::new(find(words.first()?)?);
    command.args(&words[1..]).envs(variable);
    read_to_end(command, limit).ok()?.filter(|(status, _)| status.success()).map(|(_, output)| output)
}

/// Runs a command with an input. Returns its status, and at most `most` bytes of its output if it succeeded. Returns
/// `None` if it exceeded its time limit.
///
/// # Errors
/// The command cannot be run.
pub(super) fn read_bytes(
    mut command: Command,
    input: Vec<u8>,
    limit: Duration,
    most: usize,
) -> io::Result<Option<(ExitStatus, Vec<u8>)>> {
    command.stderr(Stdio::null());
    let (status, [output, _]) = run(command, input, most, |elapsed| elapsed >= limit)?;
    let output = |status: ExitStatus| if status.success() { output.bytes(LAST_OUTPUT) } else { Vec::new() };
    Ok(status.map(|status| (status, output(status))))
}

/// Runs a command with an input until it ends or `gives_up`. Returns its status, and at most `most` bytes of its output and of
/// its messages.
fn run(
    mut command: Command,
    input: Vec<u8>,
    most: usize,
    gives_up: impl FnMut(Duration) -> bool,
) -> io::Result<(Option<ExitStatus>, [CapturedOutput; 2])> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.stdin(stdin).stdout(Stdio::piped());
    let mut child = programs::start_apart(&mut command)?;
    if let Some(mut to) = child.stdin.take() {
        thread::spawn(move || to.write_all(&input)); // the program can end before it has read all
    }
    let captured = [CapturedOutput::new(child.stdout.take(), most), CapturedOutput::new(child.stderr.take(), most)];
    Ok((ended(&mut child, gives_up)?, captured))
}

/// Runs a command with an input in an empty directory, and returns its output of at most 4 KB. It is stopped at the limit
/// and when it is no longer wanted.
///
/// # Errors
/// The command cannot be run, failed, or was stopped; with the last line that it printed to standard error.
pub(crate) fn answer(
    words: &[String],
    input: Vec<u8>,
    limit: Duration,
    is_wanted: &dyn Fn() -> bool,
) -> Result<String, String> {
    let [program, arguments @ ..] = words else { return Err("the command is empty".into()) };
    let path = find(program).ok_or_else(|| format!("cannot run {program}: not found"))?;
    let dir = temp_folder("pitree-").map_err(|error| format!("cannot create a temporary directory: {error}"))?;
    let mut command = Command::new(path);
    command.args(arguments).current_dir(&dir).stderr(Stdio::piped());
    let ended = run(command, input, KEPT, |elapsed| elapsed >= limit || !is_wanted());
    let _ = fs::remove_dir_all(&dir); // the program may still write to it
    match ended {
        Err(error) => Err(format!("cannot run {program}: {error}")),
        Ok((None, _)) if !is_wanted() => Err("canceled".into()),
        Ok((None, _)) => Err(format!("{program} timed out after {} s and was stopped", limit.as_secs())),
        Ok((Some(status), [output, _])) if status.success() => Ok(output.text(LAST_OUTPUT)),
        Ok((Some(status), [_, errors])) => {
            let errors = errors.text(LAST_OUTPUT);
            let last = ansi::strip(&errors).lines().rfind(|line| !line.trim().is_empty()).map(str::to_owned);
            let last = last.map_or(String::new(), |last| format!(": {}", clean(&last)));
            Err(format!("{program} failed ({status}){last}"))
        }
    }
}

/// Returns the value of an environment variable.
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// The first bytes of an output, which a thread reads to its end.
pub(crate) struct CapturedOutput {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// The number of bytes received.
    received: Arc<AtomicUsize>,
    end: Receiver<()>,
}

impl CapturedOutput {
    /// Captures at most `most` bytes of an output. More are read, because otherwise the program would block on a full pipe.
    pub(crate) fn new(from: Option<impl Read + Send + 'static>, most: usize) -> Self {
        let (sender, end) = mpsc::channel();
        let captured = Self { bytes: Arc::default(), received: Arc::default(), end };
        let (bytes, received) = (captured.bytes.clone(), captured.received.clone());
        if let Some(mut from) = from {
            thread::spawn(move || {
                let mut chunk = vec![0; 64 * 1024];
                while let Ok(count @ 1..) = from.read(&mut chunk) {
                    received.fetch_add(count, Ordering::Relaxed);
                    let mut bytes = bytes.lock();
                    let room = most.saturating_sub(bytes.len());
                    bytes.extend_from_slice(&chunk[..count.min(room)]);
                }
                drop(sender);
            });
        }
        captured
    }

    /// Captures the output of a short program.
    pub(crate) fn short(from: Option<impl Read + Send + 'static>) -> Self {
        Self::new(from, KEPT)
    }

    /// Returns the number of bytes received so far.
    pub(crate) fn received(&self) -> usize {
        self.received.load(Ordering::Relaxed)
    }

    /// Waits for the end of the output up to a limit, and takes what was captured: a background child can keep the pipe
    /// open.
    pub(crate) fn bytes(&self, limit: Duration) -> Vec<u8> {
        let _: Result<(), RecvTimeoutError> = self.end.recv_timeout(limit);
        mem::take(&mut *self.bytes.lock())
    }

    /// Returns the same as a text.
    pub(crate) fn text(&self, limit: Duration) -> String {
        let lossy = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
        String::from_utf8(self.bytes(limit)).unwrap_or_else(lossy)
    }
}

/// Returns the arguments of this process, with its name first.
pub(crate) fn arguments() -> impl Iterator<Item = OsString> {
    env::args_os()
}
