//! The session files of a machine: one script for its shell lists them, and `rsync` fetches those that differ. What the
//! machine prints is untrusted.

use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use serde::Deserialize;

use crate::base::text::clean;
use crate::base::time;
use crate::config::Address;
use crate::disk::{create, files, program};
use crate::machines::link::{self, LinkError};
use crate::machines::mirror::{self, ListedFiles, MAX_FILES, Mirror, RemoteFile};
use crate::machines::state::RemotePi;
use crate::machines::transport::{Transport, dir_word};
use crate::pi::status::PiState;

/// The session directory of pi, unless the address names another one.
const PI_DIR: &str = "\"${PI_CODING_AGENT_SESSION_DIR:-${PI_CODING_AGENT_DIR:-$HOME/.pi/agent}/sessions}\"";

/// The names of pitree: in the directories of the PATH, and where it is often installed.
pub(super) const PLACES: &str = r#"pitree "$HOME/.cargo/bin/pitree" "$HOME/.local/bin/pitree" "$HOME/.nix-profile/bin/pitree" /usr/local/bin/pitree"#;

/// The lines before and after the list, and the one that marks it as incomplete.
const START: &str = "pitree-list";
const INCOMPLETE: &str = "pitree-incomplete";
const END: &str = "pitree-end";

/// The options of `rsync`: list and compare nothing but the named files, keep their times, compress.
const RSYNC: [&str; 5] = ["-Irtz", "--from0", "--files-from=-", "--timeout=30", "--stats"];

/// The advice for a machine without `rsync`.
const INSTALL: &str = "install it: apt install rsync, dnf install rsync, apk add rsync, or brew install rsync";

/// The time in which a machine must deliver [`MIN_BYTES`] bytes, and that for the first ones, while `rsync` builds its list.
const PACE: Duration = Duration::from_secs(30);
const FIRST: Duration = Duration::from_secs(300);
const MIN_BYTES: u64 = 1000;

/// The interval between checks of the received bytes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The number of bytes by which files can grow between the list and `rsync`.
const SLACK: u64 = 64 * 1024 * 1024;

/// The session files of a machine.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The session directory.
    pub(super) dir: String,
    /// `true` if it exists.
    pub(super) has_dir: bool,
    /// The time there in milliseconds since 1970, if known.
    pub(super) now: Option<i64>,
    /// The running pis, if they are known.
    pub(super) pis: Vec<RemotePi>,
    /// The first line of `rsync --version` there.
    pub(super) rsync: Option<String>,
    /// The version of pitree there, and its path.
    pub(super) pitree: Option<String>,
    pub(super) program: Option<String>,
    /// The names of other programs that are installed there.
    pub(super) programs: Vec<String>,
    /// The files.
    pub(super) files: Vec<RemoteFile>,
    /// The number of files that are left out because of their names.
    pub(super) refused: usize,
    /// `false` if a directory there cannot be read.
    pub(super) is_complete: bool,
}

impl Transport<'_> {
    /// Lists the session files of the machine, until `is_wanted` returns `false`.
    ///
    /// # Errors
    /// The machine cannot be reached, has no `rsync`, or its answer is not valid.
    pub(super) fn list(&self, is_wanted: &dyn Fn() -> bool) -> Result<Listing, LinkError> {
        if let Address::Dir(dir) = self.address {
            // A directory that is named by a symbolic link has one mirror.
            let dir = files::resolved(dir);
            let ListedFiles { files, refused, is_complete } = mirror::list(&dir);
            let (has_dir, dir) = (dir.is_dir(), dir.to_string_lossy().into_owned());
            return Ok(Listing { dir, has_dir, files, refused, is_complete, ..Listing::default() });
        }
        local_rsync()?;
        let command = self.script(&list_script(self.address)).map_err(|error| chain(&error))?;
        let output = link::run(command, Vec::new(), self.can_ask, is_wanted)?;
        let (noise, listing) = parse(&output.text)
            .map_err(|reason| if output.code == Some(0) { LinkError::new(reason) } else { output.failure() })?;
        if let Some(noise) = noise {
            let text = clean(noise);
            let reason = format!(
                "its shell prints {text:?} before the output of a command, so that rsync cannot work; print it only in interactive shells"
            );
            return Err(LinkError::new(reason));
        }
        if listing.rsync.is_none() {
            return Err(LinkError::new(format!("rsync is missing there; {INSTALL}")));
        }
        Ok(listing)
    }

    /// Fetches files into the staging directory of a mirror, until `is_wanted` returns `false`. Files that cannot be read are
    /// left out. Returns the number of bytes received and sent.
    ///
    /// # Errors
    /// The connection failed, or the machine sent too much or too little. Files in the staging directory are complete.
    pub(super) fn fetch(
        &self,
        dir: &str,
        mirror: &Mirror,
        files: &[RemoteFile],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<u64, LinkError> {
        let staging = mirror.staging();
        if let Address::Dir(_) = self.address {
            for file in files {
                copy(&mirror::below(Path::new(dir), &file.path), &mirror::below(&staging, &file.path))?;
            }
            return Ok(0);
        }
        let mut command = local_rsync()?;
        let shell = self.remote_shell(dir).map_err(|error| chain(&error))?;
        fs::write(mirror.incoming.join("shell"), shell)?;
        command.args(RSYNC).args(["-e", "sh ./shell", "machine:./", "staging/"]).current_dir(&mirror.incoming);
        let names: String = files.iter().map(|file| format!("./{}\0", file.path)).collect();
        let most = files.iter().map(|file| file.bytes).sum::<u64>() + bytes_in(&staging) + SLACK;
        let mut pace = Pace::default();
        let output = link::run_with(command, names.into_bytes(), self.can_ask, &mut |elapsed, _| {
            if !is_wanted() {
                return Some(LinkError::new("canceled"));
            }
            pace.gives_up(elapsed, most, &|| bytes_in(&staging))
        })?;
        // 23 and 24: some files could not be read, or vanished.
        match output.code {
            Some(0 | 23 | 24) => Ok(transferred(&output.text)),
            _ => Err(output.failure()),
        }
    }
}

/// The progress of `rsync`.
#[derive(Debug, Default)]
struct Pace {
    /// The time and the number of bytes of the last progress; `None` before the first look.
    last: Option<(Duration, u64)>,
    is_sending: bool,
    looked: Duration,
}

impl Pace {
    /// Returns the reason to end `rsync`, given the elapsed time and the maximum number of bytes.
    fn gives_up(&mut self, elapsed: Duration, most: u64, bytes: &dyn Fn() -> u64) -> Option<LinkError> {
        if self.last.is_some() && elapsed < self.looked + POLL_INTERVAL {
            return None;
        }
        self.looked = elapsed;
        let now = bytes();
        if now > most {
            return Some(LinkError::new("the machine sends more than it listed"));
        }
        let (since, before) = *self.last.get_or_insert((elapsed, now));
        // A complete file replaces the link to the mirrored one, which can be larger.
        if now.abs_diff(before) >= MIN_BYTES {
            (self.last, self.is_sending) = (Some((elapsed, now)), true);
            return None;
        }
        let limit = if self.is_sending { PACE } else { FIRST };
        let reason = || format!("less than {MIN_BYTES} bytes in {} s", limit.as_secs());
        (elapsed - since >= limit).then(|| LinkError::offline(reason()))
    }
}

/// Returns the command of `rsync` on this machine.
fn local_rsync() -> Result<std::process::Command, LinkError> {
    let found = program::find("rsync").map(std::process::Command::new);
    found.ok_or_else(|| LinkError::new(format!("rsync is missing on this machine; {INSTALL}")))
}

fn chain(error: &anyhow::Error) -> LinkError {
    LinkError::new(format!("{error:#}"))
}

/// Copies a file to a staging directory, unless it cannot be read.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(mut content) = files::open_regular(from, fs::File::options().read(true)) else { return Ok(()) };
    if let Some(folder) = to.parent() {
        create::folders(folder)?;
    }
    let _ = fs::remove_file(to); // the link to the mirrored file
    io::copy(&mut content, &mut create::private().write(true).create_new(true).open(to)?).map(drop)
}

/// Returns the number of bytes of the files below a directory.
fn bytes_in(dir: &Path) -> u64 {
    let (mut bytes, mut dirs) = (0, vec![dir.to_path_buf()]);
    while let Some(dir) = dirs.pop() {
        for entry in files::entries(&dir) {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => dirs.push(entry.path()),
                Ok(metadata) => bytes += metadata.len(),
                Err(_) => {} // it was renamed meanwhile
            }
        }
    }
    bytes
}

/// Returns the script that lists the files. GNU `find` prints fractions of seconds; others need `stat`.
fn list_script(address: &Address) -> String {
    let dir = address.dir().map_or_else(|| PI_DIR.to_owned(), dir_word);
    let find = "find . -type f -name '*.jsonl'";
    format!(
        "d={dir}; LC_ALL=C; export LC_ALL; echo {START}; echo \"now $(date +%s)\"; \
         has() {{ command -v \"$1\" >/dev/null 2>&1; }}; \
         if has rsync; then echo \"rsync $(rsync --version 2>/dev/null </dev/null | head -n 1)\"; fi; \
         for p in {PLACES}; do if has \"$p\"; then echo \"program $(command -v \"$p\")\"; \
         echo \"pitree $(\"$p\" --version 2>/dev/null </dev/null)\"; \
         echo \"pis $(\"$p\" live --json 2>/dev/null </dev/null)\"; break; fi; done; \
         for p in pi npm cargo; do if has $p; then echo \"has $p\"; fi; done; \
         if cd \"$d\" 2>/dev/null; then echo \"dir $(pwd -P)\"; \
         {{ if find . -maxdepth 0 -printf '' >/dev/null 2>&1; then {find} -printf '%s %T@ %p\\n'; \
         elif stat -c %s . >/dev/null 2>&1; then {find} -exec stat -c '%s %Y %n' {{}} +; \
         else {find} -exec stat -f '%z %m %N' {{}} +; fi || echo {INCOMPLETE}; }} 2>/dev/null; \
         else printf 'missing %s\\n' \"$d\"; fi; echo {END}"
    )
}

/// Parses the output of the script. Also returns the first line that the shell printed before it.
///
/// # Errors
/// The reason why the output is not valid.
fn parse(output: &str) -> Result<(Option<&str>, Listing), &'static str> {
    let mut lines = output.lines().map(|line| line.trim_end_matches('\r'));
    let mut noise = None;
    loop {
        match lines.next().ok_or("the shell there printed something else than a list of files")? {
            START => break,
            line => noise = noise.or(Some(line)),
        }
    }
    let mut listing = Listing { is_complete: true, ..Listing::default() };
    for line in lines {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            END => return Ok((noise, listing)),
            INCOMPLETE => listing.is_complete = false,
            "now" => listing.now = value.parse::<i64>().ok().map(|seconds| seconds.saturating_mul(1000)),
            "rsync" => listing.rsync = Some(value.to_owned()),
            "program" => listing.program = text(),
            "pitree" => listing.pitree = value.split_whitespace().last().map(String::from),
            "pis" => listing.pis = pis(value),
            "has" => listing.programs.push(value.to_owned()),
            "dir" => (listing.dir, listing.has_dir) = (value.to_owned(), true),
            "missing" => listing.dir = value.to_owned(),
            _ => match file(line) {
                Some(file) if listing.files.len() < MAX_FILES => listing.files.push(file),
                Some(_) => return Err("too many files"),
                None => listing.refused += 1,
            },
        }
    }
    Err("the connection was lost")
}

/// Parses the output of `pitree live --json`; empty if it is not valid.
fn pis(json: &str) -> Vec<RemotePi> {
    #[derive(Deserialize)]
    struct Live {
        pis: Vec<LivePi>,
    }
    #[derive(Deserialize)]
    struct LivePi {
        path: String,
        state: PiState,
        since: String,
        pid: u32,
        model: Option<String>,
        cost: f64,
    }
    let live = serde_json::from_str(json).unwrap_or(Live { pis: Vec::new() });
    let pi = |LivePi { path, state, since, pid, model, cost }: LivePi| {
        let since = time::parse(&since).unwrap_or(0);
        RemotePi { session: path, state, since, pid, model, cost }
    };
    // A broken pitree there can print any number.
    live.pis.into_iter().map(pi).filter(|pi| pi.cost.is_finite()).collect()
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

/// Returns the bytes that `rsync` reports as in `sent 1,234 bytes  received 567 bytes`.
fn transferred(output: &str) -> u64 {
    let number = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>().parse::<u64>().ok();
    let line = output.lines().find(|line| line.starts_with("sent "));
    let words = line.into_iter().flat_map(str::split_whitespace);
    words.take(5).filter_map(number).sum()
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
        // GNU rsync, and openrsync.
        assert_eq!(transferred("x\nsent 1,234 bytes  received 5 bytes  7.00 bytes/sec\ntotal size is 9"), 1239);
        assert_eq!(transferred("sent 6756 bytes  received 15087 bytes  218430000 bytes/sec\n"), 21843);
    }

    #[test]
    fn lists_are_parsed_up_to_their_end() {
        let text = "motd\npitree-list\nnow 5\nrsync rsync  version 3\npis {}\nhas pi\ndir /s\n3 5 ./a.jsonl\njunk\n";
        assert!(parse(text).is_err() && parse("").is_err());
        let whole = format!("{text}pitree-end\n9 9 ./b.jsonl\n");
        let (noise, listing) = parse(&whole).unwrap();
        assert_eq!(
            (noise, &*listing.dir, listing.now, listing.programs),
            (Some("motd"), "/s", Some(5000), vec!["pi".to_owned()])
        );
        assert_eq!((listing.files.len(), listing.refused, listing.is_complete), (1, 1, true));
        let incomplete = whole.replace("junk", INCOMPLETE);
        assert!(parse(&incomplete).is_ok_and(|(_, listing)| !listing.is_complete));
    }

    #[test]
    fn a_machine_must_deliver() {
        let seconds = Duration::from_secs;
        let mut pace = Pace::default();
        let mut at = |elapsed, bytes| pace.gives_up(seconds(elapsed), 50_000, &|| bytes).map(|error| error.reason);
        // rsync builds its list for minutes, and then the first bytes arrive.
        assert_eq!([at(0, 3_000), at(200, 3_999), at(299, 5_000)], [const { None }; 3]);
        assert_eq!([at(328, 5_900), at(329, 6_100), at(358, 7_099)], [const { None }; 3]);
        assert_eq!(at(359, 7_099).unwrap(), "less than 1000 bytes in 30 s");
        assert!(at(360, 60_000).unwrap().contains("more than it listed"));
        let mut silent = Pace::default();
        assert_eq!([0, 299].map(|at| silent.gives_up(seconds(at), 9, &|| 0)), [const { None }; 2]);
        assert!(silent.gives_up(seconds(300), 9, &|| 0).is_some_and(|error| error.is_offline));
    }
}
