//! Parses all lines, valid or damaged, like the reference reader.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;

use crate::common::reference::agree;

/// The lines of all fixtures and samples.
fn lines() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut folders, mut lines) = (vec![root.join("fixtures"), root.join("assets")], Vec::new());
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let (below, files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
        folders.extend(below);
        for file in files {
            lines.extend(fs::read(file).unwrap().split(|&b| b == b'\n').map(<[u8]>::to_vec));
        }
    }
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn reads_all_lines_alike() {
    let lines = lines();
    assert!(lines.len() > 300);
    lines.iter().for_each(|line| agree(line));
}

/// Bytes that end a string, belong to an escape, or are invalid in strings.
const MARKS: &[&[u8]] = &[
    b"",
    b"\"",
    b"\\\"",
    b"\\\\",
    b"\\\\\\\"",
    b"\\n",
    b"\\t",
    b"\\r",
    b"\\/",
    b"\\b",
    b"\\f",
    b"\\u00e9",
    b"\\ud83d",
    b"\\u00g9",
    b"\\u00",
    b"\\x",
    b"\\",
    b"\\\x01",
    b"\0",
    b"\x1f",
    b"\t",
    b"\n",
    b" ",
    b"!",
    b"#",
    b"]",
    b"\x7f",
    b"\x80",
    b"\x82\xa2\xdc",
    b"\xff",
];

/// Vectors have 16 to 64 bytes; words have 8.
#[test]
fn reads_all_bytes_in_strings_alike() {
    for mark in MARKS {
        for before in 0..150 {
            // The last lengths reach the end of the line within a word or a block.
            for behind in [0, 1, 7, 31, 70] {
                let text = [&vec![b'x'; before][..], mark, &vec![b'x'; behind]].concat();
                for end in [&b"\"}"[..], b"\"", b""] {
                    agree(&[b"{\"name\":\"", &text[..], end].concat());
                }
            }
        }
    }
}

/// A mutation of a line.
#[derive(Clone, Debug)]
enum Change {
    /// Flips a bit.
    Turn(Index, u8),
    /// Inserts bytes.
    Put(Index, Vec<u8>),
    /// Removes a range.
    Leave(Index, Index),
    /// Duplicates a range.
    Double(Index, Index),
    /// Appends the rest of another line.
    Glue(Index, Index, Index),
    /// Truncates the line.
    Cut(Index),
}

/// Other words of lines, besides [`MARKS`].
const WORDS: &[&[u8]] = &[
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"false",
    b"0",
    b"-",
    b"1e999",
    b"0.5",
    b"\"type\":\"message\",",
    b"\"type\":5,",
    b"\"id\":7,",
    b"\"message\":{\"role\":\"user\"},",
    b"\"role\":\"assistant\",",
    b"\"content\":\"x\",",
    b"\"content\":[null],",
    b"{\"type\":\"text\",\"text\":5},",
    b"\"usage\":{\"cost\":{\"a\":1,\"b\":2}},",
    b"\"\\u0074ype\":\"label\",",
    b"\"arguments\":{\"path\":[]},",
];

fn change() -> impl Strategy<Value = Change> {
    let words: Vec<Vec<u8>> = MARKS.iter().chain(WORDS).map(|word| word.to_vec()).collect();
    let put = (any::<Index>(), proptest::sample::select(words), 1..40usize);
    prop_oneof![
        (any::<Index>(), 0..8u8).prop_map(|(at, bit)| Change::Turn(at, bit)),
        put.prop_map(|(at, word, times)| Change::Put(at, if times > 35 { word.repeat(times) } else { word })),
        any::<(Index, Index)>().prop_map(|(from, len)| Change::Leave(from, len)),
        any::<(Index, Index)>().prop_map(|(from, len)| Change::Double(from, len)),
        any::<(Index, Index, Index)>().prop_map(|(at, other, from)| Change::Glue(at, other, from)),
        any::<Index>().prop_map(Change::Cut),
    ]
}

fn changed(line: &mut Vec<u8>, change: &Change, lines: &[Vec<u8>]) {
    let place = |at: &Index| at.index(line.len() + 1);
    let piece = |from: &Index, len: &Index| place(from)..(place(from) + len.index(80)).min(line.len());
    match change {
        Change::Turn(at, bit) => {
            let at = place(at);
            line.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << bit);
        }
        Change::Put(at, word) => {
            let at = place(at);
            drop(line.splice(at..at, word.iter().copied()));
        }
        Change::Leave(from, len) => {
            let piece = piece(from, len);
            drop(line.drain(piece));
        }
        Change::Double(from, len) => {
            let piece = piece(from, len);
            let copy = line[piece.clone()].to_vec();
            drop(line.splice(piece.start..piece.start, copy));
        }
        Change::Glue(at, other, from) => {
            let other = other.get(lines);
            line.truncate(at.index(line.len() + 1));
            line.extend_from_slice(&other[from.index(other.len() + 1)..]);
        }
        Change::Cut(at) => line.truncate(at.index(line.len() + 1)),
    }
}

#[test]
fn reads_mutated_lines_alike() {
    let lines = lines();
    let run = (any::<Index>(), proptest::collection::vec(change(), 1..6));
    let config = ProptestConfig { cases: 4 * ProptestConfig::default().cases, ..ProptestConfig::default() };
    proptest!(config, |((at, changes) in run)| {
        let mut line = at.get(&lines).clone();
        for change in &changes {
            changed(&mut line, change, &lines);
            agree(&line);
        }
    });
}
