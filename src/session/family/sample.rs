//! Files of a family as they come to be, for tests: begun, gone on with, forked, copied, damaged.

use proptest::prelude::*;
use serde_json::{Value, json};

/// A session file, as lines of JSON: its header first.
pub(crate) type SampleFile = Vec<Value>;

/// What is done next: what, to which file, at which of its lines.
pub(crate) type SampleStep = (u8, prop::sample::Index, prop::sample::Index);

pub(crate) fn header(created: usize, version: u8) -> Value {
    json!({"type": "session", "version": version, "id": "s", "timestamp": created})
}

/// The path to an entry as pi forks it: without labels, which are written anew behind it.
pub(crate) fn fork(file: &SampleFile, mut at: usize, created: usize) -> SampleFile {
    let mut path = Vec::new();
    while at > 0 {
        path.push(file[at].clone());
        let is_parent = |line: &Value| line["id"] == file[at]["parentId"];
        at = file[..at].iter().rposition(is_parent).unwrap_or(0);
    }
    let (labels, kept): (Vec<Value>, Vec<Value>) = path.into_iter().rev().partition(|line| line["type"] == "label");
    let mut parent = Value::Null;
    let mut fork = vec![header(created, 3)];
    for mut line in kept {
        line["parentId"] = std::mem::replace(&mut parent, line["id"].clone());
        fork.push(line);
    }
    for (number, mut label) in labels.into_iter().enumerate() {
        (label["id"], label["parentId"]) = (json!(format!("anew{created}-{number}")), parent.clone());
        fork.push(label);
    }
    fork
}

/// Files as they come to be: begun, gone on with, forked, copied, damaged.
pub(crate) fn files(steps: &[SampleStep]) -> Vec<SampleFile> {
    let mut files: Vec<SampleFile> = Vec::new();
    for (time, (kind, file, at)) in steps.iter().enumerate() {
        let kind = kind % 9;
        if kind == 0 || files.is_empty() {
            files.push(vec![header(time, 3)]);
            continue;
        }
        let file = file.index(files.len());
        let at = at.index(files[file].len());
        let id = format!("{time:08x}");
        let parent = files[file][at]["id"].as_str().filter(|_| at > 0).map(String::from);
        match kind {
            1 => files.push(fork(&files[file], at, time)),
            2 => files.push(files[file].clone()),
            3 if at > 0 => {
                let label = json!({"type": "label", "id": id, "parentId": parent, "timestamp": time,
                    "targetId": parent, "label": "x"});
                files[file].push(label);
            }
            4 if at > 0 => {
                let again = files[file][at].clone();
                files[file].push(again);
            }
            _ => {
                let entry = json!({"type": "usage", "id": id, "parentId": parent, "timestamp": time,
                    "usage": {"cost": time, "input": 10 * time}});
                files[file].push(entry);
            }
        }
    }
    files
}
