//! Random input: changed fixtures, samples and pages. A target is a function that panics if pitree handles its input wrongly;
//! it must not use much memory either. `PROPTEST_CASES=5000 cargo test --test counted fuzz::sessions` tries more inputs of
//! one target. Inputs that once failed are in `found/`; the seeds of new ones are written to `proptest-regressions/`.

mod config;
mod documents;
mod keys;
mod lines;
mod queries;
mod seeds;
mod sessions;
mod words;

use std::fs;
use std::ops::Range;
use std::path::Path;

use allocation_counter::measure;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;

use crate::common::reference;

/// The maximum memory for an input: bytes for each of its bytes, and beside.
///
/// Highlighting a language for the first time takes up to 70 MB for its tables. A search reserves three buffers of 33 MB
/// for texts and rarely fills them.
const PER_BYTE: usize = 40;
const BESIDE: usize = 192 << 20;

/// The maximum size of an input in bytes, and of the few that are longer.
const USUAL: usize = 24 << 10;
const LONG: usize = 256 << 10;

#[test]
fn lines() {
    fuzz("lines", lines::run, &seeds::sessions(), words::SESSION);
}

#[test]
fn readers() {
    let run = |input: &[u8]| input.split(|&byte| byte == b'\n').for_each(reference::agree);
    fuzz("readers", run, &seeds::sessions(), words::SESSION);
}

#[test]
fn sessions() {
    fuzz("sessions", sessions::run, &seeds::sessions(), words::SESSION);
}

#[test]
fn documents() {
    fuzz("documents", documents::run, &seeds::documents(), words::DOCUMENT);
}

#[test]
fn queries() {
    fuzz("queries", queries::run, &seeds::queries(), words::QUERY);
}

#[test]
fn config() {
    fuzz("config", config::run, &seeds::config(), words::CONFIG);
}

#[test]
fn keys() {
    fuzz("keys", keys::run, &seeds::keys(), words::SESSION);
}

/// Runs a target with the inputs that once failed, and with changed seeds, into which `words` are inserted.
fn fuzz(target: &str, run: impl Fn(&[u8]), seeds: &[Vec<u8>], words: &[&str]) {
    let run = |input: &[u8]| {
        let memory = measure(|| run(input)).bytes_max as usize;
        assert!(memory <= PER_BYTE * input.len() + BESIDE, "{} KB for {} bytes", memory >> 10, input.len());
    };
    for found in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/found")).unwrap() {
        let path = found.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with(target) {
            run(&fs::read(path).unwrap());
        }
    }
    let steps = proptest::collection::vec(any::<Step>(), 0..9);
    let is_long = proptest::bool::weighted(0.005);
    let config = ProptestConfig { source_file: Some(file!()), ..ProptestConfig::default() };
    TestRunner::new(config)
        .run(&(any::<(Index, Index, Index)>(), steps, is_long), |(places, steps, is_long)| {
            run(&changed(seeds, words, places, &steps, is_long));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{target}: {failure}"));
}

/// A change of an input, by its kind, two places and an amount.
type Step = (u8, (Index, Index, Index), u8);

/// Changes a seed.
fn changed(
    seeds: &[Vec<u8>],
    words: &[&str],
    (seed, start, piece): (Index, Index, Index),
    steps: &[Step],
    is_long: bool,
) -> Vec<u8> {
    let mut bytes = seed.get(seeds).clone();
    let most = if is_long { LONG } else { USUAL };
    if bytes.len() > most {
        // Part of a long session with its first line: without a header it would not be a session.
        let first = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1).min(most / 2);
        let from = first + start.index(bytes.len() - most);
        bytes.drain(first..from);
        bytes.truncate(most);
    }
    for step in steps {
        change(&mut bytes, *step, seeds, words);
    }
    if is_long && !bytes.is_empty() {
        let piece = piece_of(&bytes, (start, piece), 1);
        bytes.extend(bytes[piece.clone()].repeat(LONG / piece.len().max(1)));
    }
    bytes.truncate(most);
    bytes
}

/// Returns a piece of some bytes: any of up to 64 bytes, any, or whole lines.
fn piece_of(bytes: &[u8], (start, end): (Index, Index), kind: u8) -> Range<usize> {
    let start = start.index(bytes.len() + 1);
    let most = if kind.is_multiple_of(4) { bytes.len() } else { 64 };
    let end = (start + end.index(most + 1)).min(bytes.len());
    if !kind.is_multiple_of(3) {
        return start..end;
    }
    let start = bytes[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| end + at + 1);
    start..end
}

fn change(bytes: &mut Vec<u8>, (kind, (place, other, third), amount): Step, seeds: &[Vec<u8>], words: &[&str]) {
    let at = place.index(bytes.len() + 1);
    let piece = piece_of(bytes, (other, third), amount);
    match kind % 12 {
        0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << (amount % 8)),
        1 => bytes.insert(at, amount),
        2..5 => {
            let over = if amount % 2 == 0 { at..at } else { piece };
            bytes.splice(over, third.get(words).bytes());
        }
        5 => {
            let seed = place.get(seeds);
            let foreign = seed[piece_of(seed, (other, third), amount)].to_vec();
            bytes.splice(at..at, foreign);
        }
        6 => drop(bytes.drain(piece)),
        7 => {
            let times = if amount % 8 == 0 { 100 } else { 1 };
            let copy = &bytes[piece];
            let copies = copy[..copy.len().min(USUAL / times)].repeat(times);
            bytes.splice(at..at, copies);
        }
        8 => bytes.truncate(at.max(bytes.len() / 2)),
        9 => {
            let digits = bytes.iter_mut().skip(at).filter(|byte| byte.is_ascii_digit()).take(1);
            digits.for_each(|digit| *digit = b'0' + amount % 10);
        }
        10 => {
            // The parent, target or ID of an entry becomes that of another.
            let ids = ids(bytes);
            if !ids.is_empty() {
                let id = bytes[other.get(&ids).clone()].to_vec();
                bytes.splice(third.get(&ids).clone(), id);
            }
        }
        _ => {
            let moved: Vec<u8> = bytes.drain(piece).collect();
            let at = place.index(bytes.len() + 1);
            bytes.splice(at..at, moved);
        }
    }
}

/// Returns the positions of IDs.
fn ids(bytes: &[u8]) -> Vec<Range<usize>> {
    let starts = memchr::memmem::find_iter(bytes, b"d\":\"").map(|at| at + 4);
    starts
        .map(|start| {
            let len = bytes[start..].iter().position(|&byte| byte == b'"').unwrap_or(0);
            start..start + len
        })
        .collect()
}
