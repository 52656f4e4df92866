//! How long things take: `cargo bench`. The corpora are made once, below `target/bench-corpus`, always the same.

mod corpus;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use divan::{Bencher, black_box};
use pitree::app::rows::Rows;
use pitree::config::Filter;
use pitree::session::tree::Tree;
use pitree::store::files::Files;
use pitree::store::{load, scan};

fn main() {
    divan::main();
}

fn target() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-corpus");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// 1 GB in 2,000 files.
fn many() -> PathBuf {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = target().join("2000-files");
        if !dir.exists() {
            let fresh = target().join("2000-files.new");
            let _ = std::fs::remove_dir_all(&fresh);
            corpus::fill(&fresh, 2000, 1_000_000_000).unwrap();
            std::fs::rename(&fresh, &dir).unwrap();
        }
        dir
    })
    .clone()
}

/// 240 MB and 100,000 entries in one file: a chain, or with about 2,000 branch points.
fn big(branch_every: usize) -> PathBuf {
    let path = target().join(format!("100000-entries-{branch_every}.jsonl"));
    if !path.exists() {
        let shape = corpus::Shape { entries: 100_000, bytes: 240_000_000, branch_every };
        corpus::session(&path, 1, "/home/dev/project", None, &shape).unwrap();
    }
    path
}

fn tree(branch_every: usize) -> Tree {
    load::tree(Files::Disk, &big(branch_every), "/home/dev").unwrap()
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn list_1_gb_in_2000_files(bencher: Bencher) {
    let dir = many();
    bencher.bench(|| {
        let finds = scan::find(Files::Disk, std::slice::from_ref(&dir));
        let mut sessions = 0;
        scan::read(Files::Disk, &finds.files, |batch| {
            sessions += batch.sessions.len();
            true
        });
        assert_eq!(sessions, 2000);
    });
}

#[divan::bench(args = [0, 50], sample_count = 10, sample_size = 1)]
fn open_100000_entries(bencher: Bencher, branch_every: usize) {
    let path = big(branch_every);
    bencher.bench(|| load::tree(Files::Disk, &path, "/home/dev").unwrap());
}

#[divan::bench(args = [0, 50])]
fn rows_of_100000_entries(bencher: Bencher, branch_every: usize) {
    let tree = tree(branch_every);
    bencher.bench(|| Rows::new(black_box(&tree), Filter::Default, &HashSet::new(), &[]));
}
