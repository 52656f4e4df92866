//! Findings in broken files, and their repair.

use crate::common::broken;
use crate::common::repairing::{Repaired, repair};

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use pitree::session::digest::builder::DigestBuilder;
use pitree::session::health::code::Code;
use pitree::session::health::{Checkup, HealthFinding};
use pitree::session::lines::Line;
use pitree::session::problem::Problem;
use pitree::session::tree::{Tree, TreeLines};
use pitree::session::write::repair::{KnownHeader, RepairSteps, Unrepairable};

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

fn check(bytes: &[u8]) -> Option<Vec<HealthFinding>> {
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
fn agrees(name: &str, bytes: &[u8], found: &[HealthFinding]) {
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
            Problem::Newer(_) | Problem::ConflictCopy(_) => continue,
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
    let has_problems = found.iter().any(HealthFinding::is_problem);
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
    let known = KnownHeader { id: broken::ID.into(), cwds: vec![broken::CWD.into()], time_ms: 1_767_603_600_000 };
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
    assert!(!found.iter().any(HealthFinding::is_problem), "{name}: {found:?}\n{text}");
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
                assert!(found.iter().any(HealthFinding::is_problem));
                continue;
            }
            assert!(!found.iter().any(HealthFinding::is_problem), "{}: {found:?}", path.display());
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
        if found.iter().any(HealthFinding::is_problem) {
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
                prop_assert!(!found.iter().any(HealthFinding::is_problem), "{:?}\n{}\n{}", found, String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&new.bytes));
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

/// The lines of which each beginning is tried.
const CUT: [&str; 3] = [
    r#"{"type":"message","id":"c1","parentId":"a1","timestamp":"2026-01-05T09:00:03.000Z","message":{"role":"user","content":[{"type":"text","text":"one, \"two\" \u00e9é  "},{"type":"text","text":"x"}],"timestamp":1767603603000}}"#,
    r#"{"type":"message", "id":"c2", "parentId":"a1","timestamp":"2026-01-05T09:00:03.000Z","message":{"role":"assistant","content":[{"type":"text","text":"sure"},{"type":"toolCall","id":"t","name":"bash","arguments":{"command":"ls -l"}}],"api":"x","provider":"p","model":"m","usage":{"input":12,"output":3,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"stopReason":"stop","timestamp":1767603603000}}"#,
    r#"{"type":"custom","customType":"state","data":{"a":[1,2,{"b":null}]},"id":"c3","parentId":"a1","timestamp":"2026-01-05T09:00:03.000Z"}"#,
];

#[test]
fn each_byte_of_a_torn_line_is_kept() {
    let before = format!(
        "{}\n{}\n",
        r#"{"type":"session","version":3,"id":"01aa0004-0000-7000-8000-000000000001","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"go","timestamp":1767603601000}}"#
    );
    for line in CUT {
        for (end, behind) in (1..line.len()).flat_map(|end| ["", "  ", "\0\0", "\r"].map(|behind| (end, behind))) {
            let torn = [&line.as_bytes()[..end], behind.as_bytes()].concat();
            let new = repaired(&[before.as_bytes(), &torn].concat()).unwrap();
            let kept = new.bytes.strip_prefix(before.as_bytes()).unwrap();
            let without_nul: Vec<u8> = torn.iter().copied().filter(|byte| *byte != 0).collect();
            let rest = new.rest.strip_suffix(b"\n").unwrap_or_default();
            assert_eq!((kept, rest), (&b""[..], &*without_nul), "{}", String::from_utf8_lossy(&torn));
        }
    }
}

/// Returns the messages by ID that are on a line of their own, with their content but without their parent.
fn readable(bytes: &[u8]) -> BTreeMap<String, Vec<serde_json::Value>> {
    let mut entries = BTreeMap::<_, Vec<_>>::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(mut value) = serde_json::from_str::<serde_json::Value>(&String::from_utf8_lossy(line)) else { continue };
        let Some(fields) =
            value.as_object_mut().filter(|fields| fields.get("type").is_some_and(|kind| kind != "session"))
        else {
            continue;
        };
        // Entries of unknown types, and messages without a role or a content, give way.
        let message = fields.get("message").cloned().unwrap_or_default();
        let is_read = message["role"].is_string() && (message["content"].is_string() || message["content"].is_array());
        if fields["type"] != "message" || !is_read {
            continue;
        }
        fields.remove("parentId");
        // Programs disagree about IDs that are not Unicode.
        let id = fields.get("id").and_then(|id| id.as_str()).filter(|id| !id.contains(char::REPLACEMENT_CHARACTER));
        if let Some(id) = id.map(String::from) {
            entries.entry(id).or_default().push(value);
        }
    }
    entries
}

proptest! {
    #[test]
    fn entries_that_were_readable_are_still_there(damages in prop::collection::vec((0u8..8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..5)) {
        let talk = broken::files().into_iter().find(|broken| broken.name == "text between entries").unwrap();
        let bytes = damages.iter().fold(talk.bytes, |bytes, damage| if bytes.is_empty() { bytes } else { damaged(bytes, damage) });
        if let Ok(new) = repaired(&bytes)
            && !new.steps.listed.iter().any(|step| step.starts_with("converted"))
        {
            let now = readable(&new.bytes);
            for (id, entries) in readable(&bytes) {
                let is_kept = now.get(&id).is_some_and(|now| now.iter().any(|now| entries.contains(now)));
                prop_assert!(is_kept, "{id}: {:?}\n{}\n{}", new.steps, String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&new.bytes));
            }
        }
    }
}

const HEADER: &str = r#"{"type":"session","version":3,"id":"01aa0004-0000-7000-8000-000000000001","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#;
const PROMPT: &str = r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"go","timestamp":1767603601000}}"#;

#[test]
fn raw_line_breaks_in_a_text_are_escaped() {
    let entry = |text: &str| {
        let text = text.replace('"', "\\\"");
        format!(
            r#"{{"type":"message","id":"b1","parentId":"a1","timestamp":"2026-01-05T09:00:02.000Z","message":{{"role":"user","content":"{text}","timestamp":1767603602000}}}}"#
        )
    };
    let last = PROMPT.replace("a1", "c1").replace("null", "\"b1\"");
    for text in ["one\ntwo", "one\r\n\n\ttwo {\"type\":\"x\"}\n42\n{\"a\":1}\n", "one\u{1}two"] {
        let new = repaired(format!("{HEADER}\n{PROMPT}\n{}\n{last}\n", entry(text)).as_bytes()).unwrap();
        let content = serde_json::to_string(text).unwrap();
        let whole = entry("").replace("\"content\":\"\"", &format!("\"content\":{content}"));
        assert_eq!(String::from_utf8(new.bytes).unwrap(), format!("{HEADER}\n{PROMPT}\n{whole}\n{last}\n"));
        assert!(new.rest.is_empty() && new.steps.listed.len() == 1, "{:?}", new.steps);
    }
    // An entry that is incomplete stays apart from the lines after it, in the rest.
    let new =
        repaired(format!("{HEADER}\n{PROMPT}\n{}\nnot JSON }}\n{last}\n", &entry("one")[..130]).as_bytes()).unwrap();
    assert_eq!(new.bytes.iter().filter(|byte| **byte == b'\n').count(), 3);
    // The parent of the last entry changed, so that its previous one follows.
    let rest = [&entry("one").as_bytes()[..130], b"\nnot JSON }\n{\"line\":5,\"parentId\":\"b1\"}\n"].concat();
    assert_eq!(String::from_utf8(new.rest).unwrap(), String::from_utf8(rest).unwrap());
}

#[test]
fn a_message_without_content_leaves_the_id_to_a_complete_one() {
    for key in ["\"other\"", "\"conten\"", "\"\u{fffd}ontent\""] {
        let damaged = PROMPT.replace("\"content\"", key);
        let new = repaired(format!("{HEADER}\n{damaged}\n{PROMPT}\n").as_bytes()).unwrap();
        let bytes = String::from_utf8(new.bytes).unwrap();
        assert!(bytes.contains(&format!("\n{PROMPT}\n")) && bytes.contains(key), "{bytes}");
    }
}

#[test]
fn the_beginning_of_an_entry_goes_to_the_rest_if_the_entry_is_complete_elsewhere() {
    let answer = PROMPT.replace("a1", "b1").replace("null", "\"a1\"");
    for end in 60..answer.len() {
        let beginning = &answer[..end];
        let new = repaired(format!("{HEADER}\n{PROMPT}\n{beginning}{answer}\n").as_bytes()).unwrap();
        let (bytes, rest) = (String::from_utf8(new.bytes).unwrap(), String::from_utf8(new.rest).unwrap());
        assert_eq!((&*bytes, &*rest), (&*format!("{HEADER}\n{PROMPT}\n{answer}\n"), &*format!("{beginning}\n")));
    }
    // A header, too.
    let new = repaired(format!("{}{HEADER}\n{PROMPT}\n", &HEADER[..100]).as_bytes()).unwrap();
    assert_eq!(String::from_utf8(new.bytes).unwrap(), format!("{HEADER}\n{PROMPT}\n"));
    assert_eq!(new.rest, [&HEADER.as_bytes()[..100], b"\n"].concat());
}
