//! Findings in broken files, and their repair.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test may fail anywhere, not only in a function marked #[test]"
)]

#[path = "../common/broken.rs"]
mod broken;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use pitree::session::digest::builder::DigestBuilder;
use pitree::session::health::code::Code;
use pitree::session::health::{Checkup, Finding};
use pitree::session::lines::Line;
use pitree::session::problem::Problem;
use pitree::session::tree::{Tree, TreeLines};
use pitree::session::write::repair::{KnownHeader, RepairSteps, Repaired, Unrepairable, repair};

fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    let mut offset = 0;
    let split = bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let new = Line::new(offset, text, text.len() < line.len());
        offset += line.len() as u64;
        new
    });
    split.collect()
}

fn check(bytes: &[u8]) -> Option<Vec<Finding>> {
    let mut checkup = Checkup::default();
    lines(bytes).iter().for_each(|line| checkup.line(line));
    checkup.finish()
}

fn tree(bytes: &[u8]) -> Option<Tree> {
    let mut part = TreeLines::new("");
    lines(bytes).into_iter().for_each(|line| part.line(line));
    Tree::build([part]).ok()
}

/// Checks that findings agree with the problems that lists and trees show.
fn agrees(name: &str, bytes: &[u8], found: &[Finding]) {
    let mut digest = DigestBuilder::new("");
    lines(bytes).into_iter().for_each(|line| digest.line(line));
    let Ok(digest) = digest.finish(0, &mut |_| None) else {
        assert!(tree(bytes).is_none(), "{name}");
        return;
    };
    let has = |codes: &[Code]| found.iter().filter(|one| codes.contains(&one.code)).map(|one| one.more + 1).sum();
    let mut seen = 0;
    for problem in &digest.problems {
        let (expected, count): (&[Code], usize) = match *problem {
            Problem::Newer(_) => continue,
            Problem::NotJson { lines, .. } => (&[Code::NotJson, Code::GluedLines, Code::NulBytes], lines),
            Problem::TooLong { lines, .. } => (&[Code::LongLine], lines),
            Problem::CutOff => (&[Code::TornLine, Code::GluedLines, Code::NulBytes], 1),
            Problem::DoubleIds(count) => (&[Code::DuplicateId], count),
            Problem::UnknownParents(count) => (&[Code::MissingParent], count),
            Problem::Cycles(count) => (&[Code::Cycle], count),
            Problem::NoIds(count) => (&[Code::MissingId], count),
            Problem::NoContent => (&[Code::NoContent], 1),
            Problem::NoText => (&[Code::NoText], 1),
        };
        let listed: usize = has(expected);
        assert!(listed >= count, "{name}: {problem}: {found:?}");
        seen += 1;
    }
    let has_problems = found.iter().any(Finding::is_problem);
    assert_eq!(has_problems, seen > 0, "{name}: {found:?} {:?}", digest.problems);
}

fn counted() -> impl FnMut() -> u128 {
    let mut count = 0u128;
    move || {
        count += 1;
        count << 96
    }
}

fn repaired(bytes: &[u8]) -> Result<Repaired, Unrepairable> {
    let known = KnownHeader { id: broken::ID.into(), cwd: broken::CWD.into(), time_ms: 1_767_603_600_000 };
    repair(bytes, &known, &mut counted())
}

/// Counts the words of a file, and each byte outside of ASCII.
fn words(bytes: &[u8]) -> BTreeMap<&[u8], usize> {
    let mut words = BTreeMap::new();
    let ascii = bytes.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let others = bytes.chunks(1).filter(|byte| !byte[0].is_ascii());
    ascii.chain(others).for_each(|word| *words.entry(word).or_default() += 1);
    words
}

/// Checks that all words of a file are in its repaired version or in the rest.
fn keeps_all(name: &str, before: &[u8], Repaired { bytes, rest, .. }: &Repaired) {
    let all = [&bytes[..], b"\n", rest].concat();
    let now = words(&all);
    let without_nul: Vec<u8> = before.iter().copied().filter(|byte| *byte != 0).collect();
    for (word, count) in words(&without_nul) {
        let kept = now.get(word).copied().unwrap_or(0);
        assert!(kept >= count, "{name}: {:?} is {kept} times in the result", String::from_utf8_lossy(word));
    }
}

fn is_sound(name: &str, repaired: &Repaired) {
    let found = check(&repaired.bytes).unwrap();
    let text = String::from_utf8_lossy(&repaired.bytes);
    assert!(!found.iter().any(Finding::is_problem), "{name}: {found:?}\n{text}");
    assert!(tree(&repaired.bytes).unwrap().problems.is_empty(), "{name}");
    assert!(!repaired.steps.is_empty(), "{name}");
}

#[test]
fn broken_files_have_their_findings() {
    for broken in broken::files() {
        let found = check(&broken.bytes).unwrap_or_default();
        agrees(broken.name, &broken.bytes, &found);
        let mut found: Vec<(&str, u64)> = found.iter().map(|one| (one.code.name(), one.line.unwrap_or(0))).collect();
        let mut expected = broken.findings.to_vec();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{}", broken.name);
    }
}

#[test]
fn repaired_files_have_no_problems_and_keep_all_bytes() {
    let files = broken::files();
    assert!(files.len() >= 40);
    for broken in files.iter().filter(|broken| broken.name != "bytes that are not UTF-8") {
        let new = repaired(&broken.bytes).unwrap();
        is_sound(broken.name, &new);
        keeps_all(broken.name, &broken.bytes, &new);
    }
}

/// A sample that is damaged on purpose.
const DAMAGED: &str = "01a1d637-8d56-7184-ad1b-193743340a70";

#[test]
fn sound_files_stay_the_same() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["assets/demo", "fixtures/sessions/--home-dev-app--", "fixtures/sessions/--home-dev-talk--"];
    let mut count = 0;
    for folder in folders {
        let mut files: Vec<_> = vec![root.join(folder)];
        while let Some(path) = files.pop() {
            if path.is_dir() {
                files.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let found = check(&bytes).unwrap_or_default();
            if path.to_string_lossy().contains(DAMAGED) {
                assert!(found.iter().any(Finding::is_problem));
                continue;
            }
            assert!(!found.iter().any(Finding::is_problem), "{}: {found:?}", path.display());
            if let Ok(new) = repaired(&bytes) {
                assert!(new.steps.is_empty() && new.rest.is_empty(), "{}: {:?}", path.display(), new.steps);
                assert!(new.bytes == bytes, "{}", path.display());
            }
            count += 1;
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn odd_fixtures_can_be_repaired() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sessions/--home-dev-odd--");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Some(found) = check(&bytes) else { continue };
        agrees(&name, &bytes, &found);
        if found.iter().any(Finding::is_problem) {
            is_sound(&name, &repaired(&bytes).unwrap());
            count += 1;
        }
    }
    assert!(count > 15, "{count}");
}

/// A damage: its kind, a place and a length, in fractions of the file.
type Damage = (u8, prop::sample::Index, prop::sample::Index);

/// Damages a file.
fn damaged(mut bytes: Vec<u8>, (kind, place, other): &Damage) -> Vec<u8> {
    let (at, other) = (place.index(bytes.len()), other.index(bytes.len()));
    let (from, to) = (at.min(other), at.max(other));
    match kind {
        0 => drop(bytes.drain(from..to.min(from + 200))),
        1 => bytes.truncate(at),
        2 => drop(bytes.splice(at..at, [0; 9])),
        3 => bytes[at] = b'\n',
        4 => bytes[at] = b'"',
        5 => bytes[at] = 0xff,
        6 => {
            // Glues two lines.
            if let Some(found) = bytes[at..].iter().position(|byte| *byte == b'\n') {
                bytes.remove(at + found);
            }
        }
        _ => {
            // Copies a range of lines.
            let start = |at: usize| bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |found| found + 1);
            let copy = bytes[start(from)..start(to)].to_vec();
            bytes.extend(copy);
        }
    }
    bytes
}

proptest! {
    #[test]
    fn any_damage_can_be_repaired(damages in prop::collection::vec((0u8..8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5)) {
        let talk = broken::files().into_iter().find(|broken| broken.name == "text between entries").unwrap();
        let bytes = damages.iter().fold(talk.bytes, |bytes, damage| if bytes.is_empty() { bytes } else { damaged(bytes, damage) });
        match repaired(&bytes) {
            Ok(new) => {
                let found = check(&new.bytes).unwrap();
                prop_assert!(!found.iter().any(Finding::is_problem), "{:?}\n{}\n{}", found, String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&new.bytes));
                // A word can be cut where the incomplete entry ends. A migration replaces the IDs.
                let is_migrated = new.steps.listed.iter().any(|step| step.starts_with("converted"));
                let count = |bytes: &[u8], wanted: u8| bytes.iter().filter(|byte| **byte == wanted).count();
                for byte in (1..=u8::MAX).filter(|byte| !byte.is_ascii_whitespace() && !is_migrated) {
                    prop_assert!(count(&new.bytes, byte) + count(&new.rest, byte) >= count(&bytes, byte), "{byte:x}: {:?}", new.steps);
                }
                let again = repaired(&new.bytes).unwrap();
                prop_assert_eq!((again.bytes, again.steps), (new.bytes, RepairSteps::default()));
            }
            Err(error) => prop_assert_eq!(error, Unrepairable::NoSession),
        }
        if let Some(found) = check(&bytes) {
            agrees("damaged", &bytes, &found);
        }
    }
}
