//! Writes a corpus for trying out pitree: `cargo run --release --example corpus -- DIR [SESSIONS] [BYTES]`. A single
//! session: `… -- FILE.jsonl ENTRIES BYTES [BRANCH_EVERY]`. A family: `… -- DIR MEMBERS family`.

#[allow(dead_code, reason = "shared with the benchmarks")]
#[path = "../benches/corpus/mod.rs"]
mod corpus;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let path = PathBuf::from(args.next().unwrap_or_else(|| "target/corpus".into()));
    let mut number = |default: usize| args.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        let shape = corpus::Shape {
            entries: number(100_000),
            bytes: number(240_000_000),
            branch_every: number(0),
            ..corpus::Shape::default()
        };
        return corpus::session(&path, 1, "/home/dev/project", None, &shape);
    }
    if std::env::args().any(|arg| arg == "family") {
        return corpus::family(&path, number(500));
    }
    let (sessions, bytes) = (number(2000), number(1_000_000_000));
    corpus::fill(&path, sessions, bytes)
}
