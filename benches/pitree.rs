//! Benchmarks: `cargo bench`. The corpora are generated once in `target/bench-corpus` and are always the same.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on has failed")]

#[allow(dead_code, reason = "shared with the other benchmarks")]
mod corpus;
mod search;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::model::Model;
use pitree::app::panes::tree::rows::{TreeRows, passes};
use pitree::app::settings::Settings;
use pitree::app::ticket::Ticket;
use pitree::app::update::{start, update};
use pitree::catalog::{find, secrets};
use pitree::config::{Config, Filter};
use pitree::disk::incremental::FileChanges;
use pitree::disk::load::{LoadRequest, OpenFile};
use pitree::disk::locate::Located;
use pitree::disk::{load, scan};
use pitree::runtime::jobs::JobContext;
use pitree::search::text_match::Words;
use pitree::secrets::Rules;
use pitree::session::digest::Digest;
use pitree::session::tree::Tree;
use pitree::ui;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

fn main() {
    divan::main();
}

fn target() -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-corpus");
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Returns a directory with `files` files of `bytes` bytes in total.
pub(crate) fn many(files: usize, bytes: usize) -> PathBuf {
    let dir = target().join(format!("{files}-files"));
    if !dir.exists() {
        let fresh = target().join(format!("{files}-files.new"));
        let _ = std::fs::remove_dir_all(&fresh);
        corpus::fill(&fresh, files, bytes).unwrap();
        std::fs::rename(&fresh, &dir).unwrap();
    }
    dir
}

/// Returns a file of 240 MB with 100,000 entries: a chain, or with about 2,000 branch points.
fn big(branch_every: usize) -> PathBuf {
    entries(240_000_000, branch_every)
}

/// Returns a file of `bytes` bytes with 100,000 entries.
fn entries(bytes: usize, branch_every: usize) -> PathBuf {
    one_of(100_000, bytes, branch_every)
}

/// Returns a file of `bytes` bytes with `entries` entries.
fn one_of(entries: usize, bytes: usize, branch_every: usize) -> PathBuf {
    let path = target().join(format!("{entries}-entries-{bytes}-{branch_every}.jsonl"));
    if !path.exists() {
        let shape = corpus::Shape { entries, bytes, branch_every, ..corpus::Shape::default() };
        corpus::session(&path, 1, "/home/dev/project", None, &shape).unwrap();
    }
    path
}

fn tree(branch_every: usize) -> Tree {
    load::tree(&big(branch_every), "/home/dev").unwrap()
}

fn list(bencher: Bencher, dir: &Path, files: usize) {
    bencher.bench(|| {
        let found = scan::find(&[dir.to_path_buf()]);
        let mut sessions = 0;
        scan::read(&found.files, "/home/dev", |batch| {
            sessions += batch.sessions.len();
            true
        });
        assert_eq!(sessions, files);
    });
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn list_1_gb_in_2000_files(bencher: Bencher) {
    list(bencher, &many(2000, 1_000_000_000), 2000);
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn list_40_mb_in_10000_files(bencher: Bencher) {
    list(bencher, &many(10_000, 40_000_000), 10_000);
}

/// Searches all strings of 1 GB in 2000 sessions for secrets, on all threads.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn secrets_in_1_gb(bencher: Bencher) {
    let files: Vec<PathBuf> =
        scan::find(&[many(2000, 1_000_000_000)]).files.into_iter().map(|file| file.path).collect();
    bencher
        .counter(BytesCount::new(1_000_000_000u64))
        .bench(|| secrets::in_files(&files, Rules::built_in(), |_| true).0.len());
}

/// 64 MB is a long conversation, 240 MB one with huge tool results.
#[divan::bench(args = [64_000_000, 240_000_000], sample_count = 10, sample_size = 1)]
fn open_100000_entries(bencher: Bencher, bytes: usize) {
    let path = entries(bytes, 50);
    bencher.bench(|| load::tree(&path, "/home/dev").unwrap());
}

/// Reads the end of the file, which is displayed first.
#[divan::bench(args = [64_000_000, 240_000_000])]
fn open_end_of_100000_entries(bencher: Bencher, bytes: usize) {
    let path = entries(bytes, 50);
    bencher.bench(|| load::end(&path, "/home/dev").unwrap());
}

#[divan::bench(args = [0, 50])]
fn rows_of_100000_entries(bencher: Bencher, branch_every: usize) {
    let tree = tree(branch_every);
    bencher.bench(|| TreeRows::new(black_box(&tree), |at| passes(&tree, at, Filter::Default), [], &[]).layout());
}

/// Searches all texts of a session of 240 MB on one thread: words that are in most entries, in none, and with composed
/// characters.
#[divan::bench(args = ["session token", "kubernetes", "한국어", "é"], sample_count = 5, sample_size = 1)]
fn find_in_100000_entries(bencher: Bencher, words: &str) {
    let path = entries(240_000_000, 50);
    let tree = load::tree(&path, "/home/dev").unwrap();
    let words = Words::new(words).unwrap();
    bencher.bench(|| {
        let mut found = 0;
        find::each(&path, (&tree, 0), &words, |hits, _| {
            found += hits.len();
            true
        });
        found
    });
}

/// Returns the browser on a directory, with everything read.
fn browser(dir: PathBuf) -> (Model, JobContext) {
    let located = Located { dirs: vec![dir], origin: "--dir".into(), ..Default::default() };
    let config = Config::default();
    let setting = Arc::new(Settings::new(&config, located, "/home/dev".into(), false));
    let mut model = Model::new(setting.clone(), (200, 60), 1_795_248_000_000);
    let context = JobContext::new(setting);
    let effects = start(&mut model);
    perform(&mut model, &context, effects);
    (model, context)
}

fn perform(model: &mut Model, context: &JobContext, effects: Vec<Effect>) {
    for effect in effects {
        let Effect::Ask(ticket, work) = effect else { continue };
        // These jobs wait until the user is idle, or until an event.
        if matches!(work, Work::Suggest { .. } | Work::Watch { .. }) {
            continue;
        }
        let mut replies = Vec::new();
        context.work(&ticket, work, |reply| {
            replies.push(reply);
            true
        });
        for reply in replies {
            let effects = update(model, Msg::Reply(ticket.clone(), reply));
            perform(model, context, effects);
        }
    }
}

fn press(model: &mut Model, context: &JobContext, keys: &str) {
    for key in keys.split_whitespace() {
        let effects = update(model, Msg::Key(key.parse().unwrap()));
        perform(model, context, effects);
    }
}

/// Returns a directory with one big session and no other file.
fn alone(branch_every: usize) -> PathBuf {
    only(&big(branch_every), &format!("alone-{branch_every}"))
}

/// Returns a directory of this name with one file.
fn only(path: &Path, name: &str) -> PathBuf {
    let dir = target().join(name);
    std::fs::create_dir_all(&dir).unwrap();
    let link = dir.join("big.jsonl");
    if !link.exists() {
        std::fs::hard_link(path, &link).unwrap();
    }
    dir
}

/// Numbers of entries, of 640 bytes each, for measuring growth.
const GROWTH: [usize; 4] = [1000, 10_000, 100_000, 500_000];

fn growing(entries: usize) -> PathBuf {
    one_of(entries, 640 * entries, 50)
}

#[divan::bench(args = GROWTH, sample_count = 10, sample_size = 1)]
fn growth_of_open(bencher: Bencher, entries: usize) {
    let path = growing(entries);
    bencher.bench(|| load::tree(&path, "/home/dev").unwrap());
}

/// Applies another filter, so that all rows are rebuilt, and draws the frame.
#[divan::bench(args = GROWTH, sample_count = 40, sample_size = 2)]
fn growth_of_filter_and_frame(bencher: Bencher, entries: usize) {
    keys_to_frames(bencher, only(&growing(entries), &format!("growth-{entries}")), "| 1 2");
}

/// Moves down one row, and draws the frame.
#[divan::bench(args = GROWTH, sample_count = 40, sample_size = 2)]
fn growth_of_move_and_frame(bencher: Bencher, entries: usize) {
    keys_to_frames(bencher, only(&growing(entries), &format!("growth-{entries}")), "| k j");
}

fn draw(terminal: &mut Terminal<TestBackend>, model: &Model) {
    terminal.draw(|frame| ui::draw(frame, model)).unwrap();
}

fn terminal() -> Terminal<TestBackend> {
    Terminal::new(TestBackend::new(200, 60)).unwrap()
}

/// Draws one frame of 200×60 with 10,000 sessions in the list.
#[divan::bench]
fn frame_of_10000_sessions(bencher: Bencher) {
    let (model, _) = browser(many(10_000, 40_000_000));
    let mut terminal = terminal();
    bencher.bench_local(|| draw(&mut terminal, &model));
}

/// Measures a key in the query of a session search until the new frame, with texts read and the hit's tree open.
///
/// Types and deletes one letter of a word found in most sessions, of one found in none, and of the first letters of two
/// words.
fn key_to_frame(bencher: Bencher, dir: PathBuf, query: &str) {
    let (mut model, context) = browser(dir);
    let mut terminal = terminal();
    press(&mut model, &context, "/");
    let effects = update(&mut model, Msg::Paste(query.into()));
    perform(&mut model, &context, effects);
    let mut is_longer = false;
    bencher.bench_local(|| {
        is_longer = !is_longer;
        press(&mut model, &context, if is_longer { "x" } else { "backspace" });
        draw(&mut terminal, &model);
    });
}

#[divan::bench(args = ["token", "kubernetes", "rftok"], sample_count = 20)]
fn key_to_frame_of_10000_sessions(bencher: Bencher, query: &str) {
    key_to_frame(bencher, many(10_000, 40_000_000), query);
}

#[divan::bench(args = ["token", "kubernetes", "rftok"], sample_count = 20)]
fn key_to_frame_of_1_gb_in_2000_files(bencher: Bencher, query: &str) {
    key_to_frame(bencher, many(2000, 1_000_000_000), query);
}

/// Draws one frame of 200×60 at the end of a tree of 100,000 entries.
#[divan::bench(args = [0, 50])]
fn frame_of_100000_entries(bencher: Bencher, branch_every: usize) {
    let (mut model, context) = browser(alone(branch_every));
    press(&mut model, &context, "l .");
    let mut terminal = terminal();
    bencher.bench_local(|| draw(&mut terminal, &model));
}

/// Presses keys in the tree of 100,000 entries and draws a frame after each. The keys before the bar are pressed once,
/// as preparation.
#[divan::bench(
    args = ["| k j", "| home G", "| pageup pagedown", "| { }", "| ctrl+left ctrl+right", "| v c v x", "home g b j | h l", "ctrl+a | v r",
        "| ctrl+d ctrl+t", "| ctrl+u ctrl+l", "| ctrl+a v o", "| v t ctrl+d", "/ words enter | n N", "/ words | tab", "tab | pagedown", "tab home | pagedown pageup", "tab | { }"],
    sample_count = 20
)]
fn key_to_frame_of_100000_entries(bencher: Bencher, keys: &str) {
    keys_to_frames(bencher, alone(50), keys);
}

fn keys_to_frames(bencher: Bencher, dir: PathBuf, keys: &str) {
    let (mut model, context) = browser(dir);
    let (before, keys) = keys.split_once('|').unwrap();
    press(&mut model, &context, "l");
    for key in before.split_whitespace() {
        match key {
            "words" => {
                let effects = update(&mut model, Msg::Paste("session token".into()));
                perform(&mut model, &context, effects);
            }
            key => press(&mut model, &context, key),
        }
    }
    let keys: Vec<_> = keys.split_whitespace().map(|key| key.parse().unwrap()).collect();
    let mut keys = keys.into_iter().cycle();
    let mut terminal = terminal();
    bencher.bench_local(|| {
        black_box(update(&mut model, Msg::Key(keys.next().unwrap())));
        draw(&mut terminal, &model);
    });
}

/// Returns a directory with 10,000 sessions, and a family of 500 more.
fn with_family() -> PathBuf {
    let dir = target().join("10000-files-and-a-family");
    if !dir.exists() {
        let fresh = target().join("10000-files-and-a-family.new");
        let _ = std::fs::remove_dir_all(&fresh);
        corpus::fill(&fresh, 10_000, 40_000_000).unwrap();
        std::fs::rename(&fresh, &dir).unwrap();
        // The files refer to each other by path.
        corpus::family(&dir, 500).unwrap();
    }
    dir
}

/// Returns the browser at the root session of the family.
fn at_family() -> (Model, JobContext) {
    let (mut model, context) = browser(with_family());
    press(&mut model, &context, "tab"); // until a key is pressed the most recent session is selected
    let root = |key: &_| model.catalog[*key].path.ends_with("2026-06-01T00-00-00-000Z_00000000-family.jsonl");
    let root = model.catalog.keys().find(root).unwrap();
    model.sessions.select(root, &model.catalog);
    press(&mut model, &context, ".");
    (model, context)
}

/// Measures the time from the key to the first frame of the tree of 500 files, each of which is read.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn family_of_500_among_10000(bencher: Bencher) {
    let (mut model, context) = at_family();
    let mut terminal = terminal();
    bencher.bench_local(|| {
        press(&mut model, &context, "v m");
        draw(&mut terminal, &model);
        assert_eq!(model.tree.family.as_ref().unwrap().request.members.len(), 500);
        press(&mut model, &context, "v m");
        context.members.lock().clear();
    });
}

/// Presses keys in the tree of 500 files and draws a frame after each.
#[divan::bench(args = ["k j", "ctrl+d ctrl+t", "v c v x", "home G", "} {", "h l"], sample_count = 20)]
fn key_to_frame_of_500_files(bencher: Bencher, keys: &str) {
    let (mut model, context) = at_family();
    press(&mut model, &context, "v m");
    let mut keys = keys.split_whitespace().cycle();
    let mut terminal = terminal();
    bencher.bench_local(|| {
        let effects = update(&mut model, Msg::Key(keys.next().unwrap().parse().unwrap()));
        drop(effects);
        draw(&mut terminal, &model);
    });
}

/// Rebuilds the rows of 10,000 sessions.
#[divan::bench]
fn rows_of_10000_sessions(bencher: Bencher) {
    let (mut model, _) = browser(many(10_000, 40_000_000));
    let key = "ctrl+n".parse().unwrap();
    bencher.bench_local(|| black_box(update(&mut model, Msg::Key(key))));
}

/// Updates and draws the list after 50 of 10,000 sessions grew, as reported ten times a second.
#[divan::bench]
fn live_batch_of_50_among_10000(bencher: Bencher) {
    let (mut model, _) = browser(many(10_000, 40_000_000));
    let keys: Vec<_> = model.catalog.keys().step_by(200).collect();
    let (_claim, ticket) = Ticket::new(u64::MAX);
    let mut terminal = terminal();
    let mut time = model.now;
    bencher.bench_local(|| {
        time += 1;
        let grown = |&key| Digest { modified: Some(time), mtime: time, ..(*model.catalog[key]).clone() };
        let changes = FileChanges { read: keys.iter().map(grown).collect(), ..FileChanges::default() };
        update(&mut model, Msg::Reply(ticket.clone(), Reply::FilesChanged { changes, gone: Vec::new(), hold: None }));
        draw(&mut terminal, &model);
    });
}

/// Appends a line to an open session of 100,000 entries and waits for the updated tree, on a separate thread.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn grow_100000_entries(bencher: Bencher) {
    let path = target().join("growing.jsonl");
    std::fs::copy(entries(64_000_000, 50), &path).unwrap();
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    let mut opened = OpenFile::default();
    let reading = LoadRequest::new(&path, "/home/dev");
    let mut open = || opened.tree(reading, true).unwrap();
    open();
    bencher.bench_local(|| {
        let line = r#"{"type":"message","id":"x","parentId":null,"message":{"role":"user","content":"one more"}}"#;
        writeln!(file, "{line}").unwrap();
        open()
    });
}

/// Replaces a tree of 100,000 entries with the updated one, and draws a frame.
#[divan::bench(args = [0, 50], sample_count = 20)]
fn show_grown_100000_entries(bencher: Bencher, branch_every: usize) {
    let (mut model, _) = browser(alone(branch_every));
    update(&mut model, Msg::Key("l".parse().unwrap()));
    let trees = [Arc::new(tree(branch_every)), Arc::new(tree(branch_every))];
    let (_claim, ticket) = Ticket::new(u64::MAX);
    let mut terminal = terminal();
    let mut at = 0;
    bencher.bench_local(|| {
        at = 1 - at;
        update(&mut model, Msg::Reply(ticket.clone(), Reply::Opened(trees[at].clone())));
        draw(&mut terminal, &model);
    });
}
