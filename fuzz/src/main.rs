//! Runs the targets on stable Rust with mutated seeds for a given time. Inputs that panic, take long or use much memory
//! are written to `artifacts/`.

use std::any::Any;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pitree_fuzz::mutate::{Random, mutated};
use pitree_fuzz::{TARGETS, Target, memory};
use rustix::time::{ClockId, clock_gettime};

#[global_allocator]
static COUNTED: memory::Counting = memory::Counting;

/// Maximum CPU time of an execution; wall-clock time depends on the load. Highlighting one document may take two
/// seconds.
const LONGEST: Duration = Duration::from_secs(5);
/// Timeout after which an execution is aborted.
const PATIENCE: Duration = Duration::from_secs(60);
/// Maximum memory of an execution: bytes per input byte, and a fixed amount in addition.
///
/// Highlighting a language for the first time takes up to 70 MB for its tables. A search reserves three buffers of 33
/// MB for texts and rarely fills them.
const PER_BYTE: usize = 40;
const BESIDE: usize = 192 << 20;

const USAGE: &str = "usage: cargo run --release -- [TARGET…] [--seconds N | --runs N] [--seed S]
       cargo run --release -- TARGET --input FILE
targets: lines, readers, sessions, documents, queries, config, keys; all if none is named";

/// Command-line options.
struct Asked {
    targets: Vec<&'static Target>,
    seconds: u64,
    runs: Option<u64>,
    seed: u64,
    input: Option<PathBuf>,
}

impl Asked {
    fn read(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut asked = Self { targets: Vec::new(), seconds: 10, runs: None, seed: 1, input: None };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--seconds" => asked.seconds = words.next()?.parse().ok()?,
                "--runs" => asked.runs = Some(words.next()?.parse().ok()?),
                "--seed" => asked.seed = words.next()?.parse().ok()?,
                "--input" => asked.input = Some(words.next()?.into()),
                name => asked.targets.push(TARGETS.iter().find(|target| target.name == name)?),
            }
        }
        if asked.targets.is_empty() {
            asked.targets = TARGETS.iter().collect();
        }
        Some(asked)
    }
}

fn main() -> ExitCode {
    let Some(asked) = Asked::read(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    fs::create_dir_all(&folder).expect("a folder for what fails");
    if let Some(input) = &asked.input {
        let input = fs::read(input).expect("a file to be read");
        let failed = asked.targets.iter().filter(|target| reported(once(target, &input)).is_some()).count();
        return if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    std::panic::set_hook(Box::new(|_| {})); // failures are printed below
    let sound = asked.targets.iter().filter(|target| is_sound(target, &asked, &folder)).count();
    if sound == asked.targets.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The result of an execution.
struct Done {
    time: Duration,
    memory: usize,
    failure: Option<String>,
}

fn reported(done: Done) -> Option<String> {
    println!(
        "{:.3} s, {} KB{}",
        done.time.as_secs_f64(),
        done.memory >> 10,
        if done.failure.is_some() { "" } else { ", fine" }
    );
    done.failure.inspect(|failure| println!("{failure}"))
}

/// Returns the CPU time of this process so far.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}

fn once(target: &Target, input: &[u8]) -> Done {
    let start = processor_time();
    let mut result = Ok(());
    let memory = memory::most(|| result = catch_unwind(AssertUnwindSafe(|| (target.run)(input))));
    let time = processor_time().saturating_sub(start);
    let most = PER_BYTE * input.len() + BESIDE;
    let failure = match result {
        Err(panic) => Some(format!("panicked: {}", message(&*panic))),
        Ok(()) if time > LONGEST => Some(format!("took {:.1} s", time.as_secs_f64())),
        Ok(()) if memory > most => Some(format!("had {} KB in use for {} bytes", memory >> 10, input.len())),
        Ok(()) => None,
    };
    Done { time, memory, failure }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no reason given")
}

/// Runs a target for the requested time or until a failure; returns `true` if there was none.
fn is_sound(target: &Target, asked: &Asked, folder: &Path) -> bool {
    let mut random = Random(asked.seed ^ hash(target.name.as_bytes()));
    let seeds = (target.seeds)();
    let path = folder.join(format!("{}-running", target.name));
    let mut running = File::create(&path).expect("a file to write to");
    let guard = Guard::new(target.name);
    let (start, mut count, mut slowest, mut largest) = (Instant::now(), 0u64, (Duration::ZERO, 0), 0);
    let mut failed = None;
    while failed.is_none() && asked.runs.map_or(start.elapsed().as_secs() < asked.seconds, |runs| count < runs) {
        // The unmodified seeds come first.
        let input = match seeds.get(count as usize) {
            Some(seed) => seed.clone(),
            None => mutated(&mut random, &seeds, target.words),
        };
        // If the process aborts, for example on a stack overflow, this file remains.
        running
            .set_len(0)
            .and_then(|()| running.rewind())
            .and_then(|()| running.write_all(&input))
            .expect("room on the disk");
        *guard.since.lock().expect("no holder of it panics") = Some(Instant::now());
        let done = once(target, &input);
        *guard.since.lock().expect("no holder of it panics") = None;
        count += 1;
        slowest = slowest.max((done.time, input.len()));
        largest = largest.max(done.memory);
        failed = done.failure.map(|failure| (failure, input));
    }
    println!(
        "{:10} {count:8} executions in {:3.0} s, the slowest {:6.1} ms (of {} bytes), at most {} KB in use",
        target.name,
        start.elapsed().as_secs_f64(),
        slowest.0.as_secs_f64() * 1000.0,
        slowest.1,
        largest >> 10,
    );
    let _ = fs::remove_file(path);
    let Some((failure, input)) = &failed else { return true };
    let kept = folder.join(format!("{}-{:016x}", target.name, hash(input)));
    fs::write(&kept, input).expect("room on the disk");
    println!("{}: execution {count} of seed {} {failure}", target.name, asked.seed);
    println!(
        "again: cargo run --release --manifest-path fuzz/Cargo.toml -- {} --input {}",
        target.name,
        kept.display()
    );
    false
}

/// Aborts the process when an execution does not end.
struct Guard {
    since: Arc<Mutex<Option<Instant>>>,
}

impl Guard {
    fn new(target: &'static str) -> Self {
        let since: Arc<Mutex<Option<Instant>>> = Arc::default();
        let weak = Arc::downgrade(&since);
        std::thread::spawn(move || {
            while let Some(since) = weak.upgrade() {
                let is_late = since.lock().is_ok_and(|since| since.is_some_and(|since| since.elapsed() > PATIENCE));
                if is_late {
                    println!("{target}: an execution does not end; its input is artifacts/{target}-running");
                    std::process::exit(1);
                }
                drop(since);
                std::thread::sleep(Duration::from_millis(500));
            }
        });
        Self { since }
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
