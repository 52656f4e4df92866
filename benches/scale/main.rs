//! Times and memory of whole processes with many sessions, as multiples of references measured in the same run:
//!
//! ```sh
//! cargo bench --bench scale -- 2000 10000 100000
//! ```
//!
//! The arguments are numbers of sessions: 2,000 of 1 GB, 10,000 of 4.3 GB, or 100,000 small ones of 455 MB in 500
//! projects. They are generated once in `target/tmp/bench-corpus`. `PITREE_BINARY` names another program to measure.
//! Needs Linux: memory is read from `/proc`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a benchmark that cannot go on has failed")]

#[allow(dead_code, reason = "shared with the other benchmarks")]
#[path = "../corpus/mod.rs"]
mod corpus;
mod terminal;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use terminal::Browser;

/// The number of sessions, their size in bytes, and the number of projects.
const CORPORA: [(usize, usize, usize); 3] =
    [(2000, 1_000_000_000, 37), (10_000, 4_300_000_000, 37), (100_000, 455_000_000, 500)];

/// The number of runs of each command; the fastest counts.
const RUNS: usize = 7;

fn main() {
    let wanted: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    if wanted.is_empty() {
        println!("scale: give numbers of sessions, for example: cargo bench --bench scale -- 2000 10000 100000");
    }
    for (sessions, bytes, projects) in CORPORA.into_iter().filter(|(sessions, ..)| wanted.contains(sessions)) {
        let dir = generate(sessions, bytes, projects);
        Corpus { home: dir.join("home"), dir: dir.join("sessions"), sessions }.measure();
    }
}

/// Returns the program to measure.
fn program() -> PathBuf {
    std::env::var_os("PITREE_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_pitree").into(), PathBuf::from)
}

fn generate(sessions: usize, bytes: usize, projects: usize) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-corpus");
    let dir = target.join(format!("speech-{sessions}"));
    let complete = dir.join("complete");
    if !complete.exists() {
        let _ = fs::remove_dir_all(&dir);
        let state = dir.join("home/.local/state/pitree");
        fs::create_dir_all(&state).unwrap();
        // Without the box of the first start.
        fs::write(state.join("remembered.json"), r#"{"version":1,"welcomed":true}"#).unwrap();
        corpus::speech(&dir.join("sessions"), sessions, bytes, projects).unwrap();
        fs::write(complete, "").unwrap();
    }
    dir
}

struct Corpus {
    home: PathBuf,
    dir: PathBuf,
    sessions: usize,
}

impl Corpus {
    fn measure(&self) {
        let cache = self.home.join(".cache/pitree");
        let files: u64 = self.bytes(&self.dir);
        println!("\n{} sessions, {:.0} MB", self.sessions, files as f64 / 1e6);
        let list = || self.pitree(&["ls", "--json"]);
        let without_index = || self.pitree(&["ls", "--json", "--no-index"]);
        let (first, first_peak) = (self.run(without_index()), self.peak(without_index()));
        let forget_index = || drop(fs::remove_dir_all(&cache));
        forget_index();
        let building = self.run(list());
        forget_index();
        let building_peak = self.peak(list());
        thread::sleep(Duration::from_secs(3)); // later changes of the files would have another time
        forget_index();
        self.run(list());
        self.run(list());
        let id = corpus::session_id(self.sessions as u64 / 2);
        let commands: [(&str, &[&str]); 8] = [
            ("ls --json", &["ls", "--json"]),
            ("ls --limit 50", &["ls", "--limit", "50"]),
            ("search, word of 20 sessions", &["search", "--json", "zebraquartz"]),
            ("search, two words of 1,000", &["search", "--json", "alphaquartz", "betaquartz"]),
            ("search, word in all, --limit 20", &["search", "--json", "--limit", "20", "the"]),
            ("search, a word of none (fuzzy)", &["search", "--json", "--limit", "20", "qzwvbn"]),
            ("path ID", &["path", &id]),
            ("complete an ID", &["--", "pitree", "path", &id[..7]]),
        ];
        let command = |(name, args): &(&str, &[&str])| {
            if *name != "complete an ID" {
                return self.pitree(args);
            }
            let mut command = self.pitree(&[]);
            command.env("PITREE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2").args(*args);
            command.env("PI_CODING_AGENT_SESSION_DIR", &self.dir);
            command
        };
        let (mut times, mut find, mut cat) = ([Duration::MAX; 8], Duration::MAX, Duration::MAX);
        for _ in 0..RUNS {
            let mut reference = Command::new("find");
            reference.arg(&self.dir).args(["-type", "f", "-printf", "%s\\n"]);
            find = find.min(self.run(reference));
            for (fastest, one) in times.iter_mut().zip(&commands) {
                *fastest = self.run(command(one)).min(*fastest);
            }
        }
        if let Some(gigabyte) = self.gigabyte() {
            for _ in 0..3 {
                let mut reference = Command::new("cat");
                reference.args(&gigabyte);
                cat = cat.min(self.run(reference));
            }
        }
        println!("| Operation | Time | Multiple of find | Peak memory |\n|---|---|---|---|");
        let line = |name: &str, time: Duration, memory: u64| {
            let multiple = time.as_secs_f64() / find.as_secs_f64();
            println!("| {name} | {:.1} ms | {multiple:.2} | {:.1} MB |", ms(time), memory as f64 / 1e6);
        };
        line("find -printf %s", find, 0);
        line("first run, no index", first, first_peak);
        line("first run, builds the index", building, building_peak);
        times.iter().zip(&commands).for_each(|(&time, one)| line(one.0, time, self.peak(command(one))));
        self.browse(cat);
        let index = self.bytes(&cache);
        println!("index: {:.1} MB, {:.1} % of the sessions", index as f64 / 1e6, index as f64 / files as f64 * 100.0);
    }

    /// Measures the browser.
    fn browse(&self, cat: Duration) {
        let (mut rows, mut whole, mut hits) = (Duration::MAX, Duration::MAX, Duration::MAX);
        let (mut open, mut searched, mut wakes) = (0, 0, 0);
        // Each row has a cost, or each header of a project.
        let is_listed = |screen: &str| screen.matches(" $").count() > 5;
        let all = format!("{},{:03} sessions", self.sessions / 1000, self.sessions % 1000);
        for run in 0..5 {
            let mut browser = Browser::open(&self.home, &self.dir);
            rows = rows.min(browser.wait(is_listed));
            whole = whole.min(browser.wait(|screen| is_listed(screen) && screen.contains(&all)));
            browser.settle();
            browser.settle();
            open = open.max(resident(browser.pid()));
            if run == 0 {
                let before = switches(browser.pid());
                thread::sleep(Duration::from_secs(10));
                wakes = switches(browser.pid()) - before;
            }
            browser.keys("/");
            browser.settle();
            browser.keys("zebraquartz");
            hits = hits.min(browser.wait(|screen| screen.matches("zebraquartz").count() > 2));
            browser.settle();
            searched = searched.max(resident(browser.pid()));
        }
        if cat < Duration::MAX {
            println!("cat of 1 GB: {:.0} ms", ms(cat));
        }
        println!(
            "browser: first rows {:.1} ms, whole list {:.1} ms, first hits {:.1} ms",
            ms(rows),
            ms(whole),
            ms(hits)
        );
        println!(
            "browser: {:.1} MB open, {:.1} MB after a search; {wakes} wake-ups in 10 s",
            open as f64 / 1e6,
            searched as f64 / 1e6
        );
    }

    fn pitree(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.env_clear().env("HOME", &self.home).env("PATH", std::env::var_os("PATH").unwrap());
        if let Some((name, rest)) = args.split_first() {
            command.arg(name);
            if *name != "--" {
                command.arg("--dir").arg(&self.dir);
            }
            command.args(rest);
        }
        command
    }

    /// Runs a command. Returns its time.
    fn run(&self, mut command: Command) -> Duration {
        let start = Instant::now();
        let exit = start_quietly(&mut command).wait().unwrap();
        let time = start.elapsed();
        assert!(exit.code().is_some_and(|code| code <= 1), "{command:?}: {exit}");
        time
    }

    /// Runs a command. Returns its peak memory in bytes. Reading it slows down the command, so the time is measured in
    /// other runs.
    fn peak(&self, mut command: Command) -> u64 {
        let (mut child, mut peak) = (start_quietly(&mut command), 0);
        while let (None, Some(memory)) = (child.try_wait().unwrap(), status(child.id(), "VmHWM:")) {
            peak = memory.max(peak);
            thread::sleep(Duration::from_millis(2));
        }
        child.wait().unwrap();
        peak * 1024
    }

    /// Returns files of at least 1 GB, if there are that many.
    fn gigabyte(&self) -> Option<Vec<PathBuf>> {
        let (mut files, mut bytes) = (Vec::new(), 0);
        for folder in fs::read_dir(&self.dir).unwrap().flatten() {
            for file in fs::read_dir(folder.path()).unwrap().flatten() {
                bytes += file.metadata().unwrap().len();
                files.push(file.path());
                if bytes >= 990_000_000 {
                    return Some(files);
                }
            }
        }
        None
    }

    /// Returns the size of all files in bytes.
    fn bytes(&self, dir: &Path) -> u64 {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let one = |entry: fs::DirEntry| match entry.metadata() {
            Ok(found) if found.is_dir() => self.bytes(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        };
        entries.map(one).sum()
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn start_quietly(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns a number of `/proc/PID/status`, or `None` after the process has exited.
fn status(pid: u32, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
}

/// Returns the memory of a process in bytes.
fn resident(pid: u32) -> u64 {
    status(pid, "VmRSS:").unwrap_or_default() * 1024
}

/// Returns the number of times the threads of a process were woken.
fn switches(pid: u32) -> u64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let one = |thread: fs::DirEntry| {
        let text = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        let woken = text.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok());
        woken.unwrap_or(0)
    };
    threads.map(one).sum()
}
