//! Compares replayed files with later reads: `cargo run --release --example replay_oracle -- FILE|DIR…`. Prints the counts
//! and each exact state that was wrong.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for developers")]

#[path = "../tests/replay/oracle.rs"]
mod oracle;

use std::path::PathBuf;

use oracle::Counts;

fn main() {
    let mut counts = Counts::default();
    let mut paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            counts.add(&path, &mut |wrong| println!("wrong: {wrong}"));
        }
    }
    println!("{counts:#?}");
}
