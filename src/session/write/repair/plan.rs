//! The plan of a repair: the header, and the changes of single entries, from the IDs of all entries.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::EntryKind;
use crate::session::entry::{NEWEST, parse};
use crate::session::health::Piece;
use crate::session::json::edit::{RawObject, quote};
use crate::session::json::{JsonReader, ValueKind};
use crate::session::links::IdHash;
use crate::session::write::line::new_id;
use crate::session::write::repair::fields::{KnownHeader, Unrepairable, is_broken, lacks_content, readable};
use crate::session::write::repair::segments::split;

/// Fields besides `parentId` that refer to entries.
const REFERENCES: [&str; 3] = ["targetId", "firstKeptEntryId", "fromId"];

/// The maximum number of listed steps of a repair.
const LISTED: usize = 10;

/// The steps of a repair for people. They can contain text from the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairSteps {
    /// The first steps.
    pub listed: Vec<String>,
    /// The number of further steps.
    pub more: usize,
}

impl RepairSteps {
    /// Returns `true` if the file stays as it is.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    pub(super) fn push(&mut self, step: String) {
        if self.listed.len() < LISTED {
            self.listed.push(step);
        } else {
            self.more += 1;
        }
    }
}

/// A value of the file.
#[derive(Debug)]
struct Record {
    line: u64,
    id: Option<Box<str>>,
    id_is_text: bool,
    parent: Option<Box<str>>,
    hash: u64,
    kind: RecordKind,
    /// `true` if its content must be changed.
    is_broken: bool,
    /// The claim to its ID.
    claim: IdPriority,
}

/// The claim of an entry to its ID, weakest first. The strongest keeps the ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum IdPriority {
    /// Its type or its role is missing or unknown.
    Unknown,
    /// Its line was damaged, or its message has no content.
    Damaged,
    /// Its line was readable.
    Intact,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RecordKind {
    Entry,
    Header,
    /// Moves to the rest.
    Dropped,
    /// A value that pi ignores.
    Ignored,
}

/// A header in the file.
#[derive(Debug)]
struct FoundHeader {
    record: usize,
    raw: Vec<u8>,
    has_id: bool,
}

/// Collects the values of a file.
#[derive(Debug, Default)]
pub(super) struct Planner {
    records: Vec<Record>,
    /// The number of lines so far.
    lines: u64,
    /// The first header with an ID, or else the first one.
    header: Option<FoundHeader>,
    version: Option<f64>,
    steps: RepairSteps,
}

/// The plan of a repair.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The version of the file.
    pub(super) version: f64,
    /// A new first line with its line break, or nothing.
    pub(super) header: Vec<u8>,
    /// The record of the header that is now the first line.
    moved: Option<usize>,
    edits: HashMap<usize, Edit>,
    /// The new IDs of entries with a repeated ID, with their records in order.
    renamed: HashMap<String, Vec<(usize, String)>>,
    /// A replaced header.
    pub(super) rest: Vec<u8>,
    /// The steps of the repair for people.
    pub(super) steps: RepairSteps,
    /// The number of values written so far.
    values: usize,
    /// The number of lines written so far.
    lines: u64,
}

/// The change of a value.
#[derive(Debug, Default)]
struct Edit {
    is_dropped: bool,
    is_broken: bool,
    /// The new JSON values of `id` and `parentId`.
    fields: Vec<(&'static str, Option<Vec<u8>>)>,
}

impl Planner {
    /// Adds the next line, or an entry with this number of lines.
    pub(super) fn line(&mut self, line: &[u8], count: u64) {
        let first = self.lines + 1;
        self.lines += count;
        let is_joined = count > 1;
        let done = split(line, &mut |piece, is_damaged| {
            if let Piece::Value(value) = piece {
                self.value(first, value, is_damaged || is_joined);
            }
        });
        let done = if is_joined { Some("joined the lines of an entry with raw line breaks") } else { done };
        done.iter().for_each(|done| self.steps.push(format!("line {first}: {done}")));
    }

    fn value(&mut self, line: u64, raw: &[u8], is_damaged: bool) {
        let entry = parse::line(raw).ok().flatten();
        let is_object = JsonReader::new(raw).kind() == Ok(ValueKind::Object);
        let kind = match &entry {
            None => RecordKind::Ignored,
            Some(entry) if entry.is_header() => RecordKind::Header,
            Some(entry) if !is_object || (entry.kind == EntryKind::OtherMessage && entry.message.is_none()) => {
                RecordKind::Dropped
            }
            Some(_) => RecordKind::Entry,
        };
        let entry = entry.unwrap_or_default();
        let has_id = entry.starts_session();
        if kind == RecordKind::Header && self.header.as_ref().is_none_or(|known| has_id && !known.has_id) {
            self.version = if has_id { Some(entry.version.unwrap_or(1.0)) } else { entry.version };
            self.header = Some(FoundHeader { record: self.records.len(), raw: raw.to_vec(), has_id });
        }
        self.records.push(Record {
            line,
            id: entry.id.filter(|_| kind != RecordKind::Header).map(|id| id.owned().into()),
            id_is_text: entry.id_is_text,
            parent: entry.parent_id.map(|id| id.owned().into()),
            hash: IdHash::new(raw.trim_ascii()).value(),
            kind,
            is_broken: is_broken(&entry),
            claim: match entry.kind {
                EntryKind::Unknown | EntryKind::OtherMessage => IdPriority::Unknown,
                _ if is_damaged || lacks_content(&entry) => IdPriority::Damaged,
                _ => IdPriority::Intact,
            },
        });
    }

    /// Makes the plan.
    ///
    /// # Errors
    /// The file cannot be repaired.
    pub(super) fn plan(mut self, known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Plan, Unrepairable> {
        if let Some(newer) = self.version.filter(|version| *version > NEWEST) {
            return Err(Unrepairable::Newer(newer));
        }
        let is_session = |record: &Record| matches!(record.kind, RecordKind::Entry | RecordKind::Header);
        if !self.records.iter().any(is_session) {
            return Err(Unrepairable::NoSession);
        }
        let has_ids = self.records.iter().any(|record| record.kind == RecordKind::Entry && record.id.is_some());
        let version = self.version.unwrap_or(if has_ids { 3.0 } else { 1.0 });
        let mut plan = Plan { version, steps: std::mem::take(&mut self.steps), ..Plan::default() };
        self.plan_header(known, &mut plan)?;
        for (at, record) in self.records.iter().enumerate() {
            if record.kind == RecordKind::Dropped {
                plan.edit(at, record, "moved to the rest: not an entry that pi can read").is_dropped = true;
            } else if record.is_broken {
                plan.edit(at, record, "gave the message a content that pi can read").is_broken = true;
            }
        }
        if version >= 2.0 {
            let ids = self.plan_ids(&mut plan, random);
            self.plan_parents(&ids, &mut plan);
        }
        Ok(plan)
    }

    /// Returns the strongest claim to each ID.
    fn claims(&self) -> HashMap<Box<str>, IdPriority> {
        let mut claims = HashMap::new();
        for record in self.records.iter().filter(|record| record.kind == RecordKind::Entry) {
            if let Some(id) = &record.id {
                let strongest = claims.entry(id.clone()).or_insert(record.claim);
                *strongest = record.claim.max(*strongest);
            }
        }
        claims
    }

    /// Puts a header first.
    fn plan_header(&mut self, known: &KnownHeader, plan: &mut Plan) -> Result<(), Unrepairable> {
        let first = self.records.iter().position(|record| record.kind != RecordKind::Ignored);
        let (raw, step) = match self.header.take() {
            Some(header) if header.has_id && first == Some(header.record) => return Ok(()),
            Some(FoundHeader { record, raw, has_id }) => {
                plan.moved = Some(record);
                if has_id {
                    (raw, "moved the header to the start")
                } else {
                    plan.rest = [&raw, &b"\n"[..]].concat();
                    (known.complete(&raw, plan.version)?, "gave the header the ID of the file name")
                }
            }
            None => (known.complete(br#"{"type":"session"}"#, plan.version)?, "created a header"),
        };
        let written = RawObject::new(&raw);
        let field = |key| written.as_ref().and_then(|raw| raw.text(key)).unwrap_or_default();
        plan.steps.listed.insert(0, format!("{step}: ID {}, directory {}", field("id"), field("cwd")));
        plan.header = [&raw, &b"\n"[..]].concat();
        Ok(())
    }

    /// Gives each entry an ID of its own. Returns the entries with each original ID: their records and final IDs.
    fn plan_ids(&mut self, plan: &mut Plan, random: &mut dyn FnMut() -> u128) -> EntriesById {
        let claims = self.claims();
        let mut taken: HashSet<Box<str>> = self.records.iter().filter_map(|record| record.id.clone()).collect();
        let last = self.records.iter().rposition(|record| record.kind == RecordKind::Entry);
        let mut ids = EntriesById { by_id: HashMap::new(), finals: vec![None; self.records.len()] };
        let mut last_id: Option<Box<str>> = None;
        for at in 0..self.records.len() {
            let record = &self.records[at];
            if !matches!(record.kind, RecordKind::Entry | RecordKind::Dropped) {
                continue;
            }
            let earlier = record.id.as_ref().and_then(|id| ids.by_id.get(id)).map(|all| &all[..]);
            let keeps_id = |at: &&usize| self.records[**at].kind == RecordKind::Entry;
            let first = earlier.and_then(|all| all.iter().find(keeps_id)).copied();
            // Programs disagree about IDs that are not Unicode.
            let is_odd = record.id.as_ref().is_none_or(|id| id.contains(char::REPLACEMENT_CHARACTER));
            let gives_way = record.id.as_ref().and_then(|id| claims.get(id)).is_some_and(|claim| *claim > record.claim);
            if record.kind == RecordKind::Entry && (is_odd || gives_way || first.is_some()) {
                let is_copy = first.is_some_and(|first| self.records[first].hash == record.hash);
                // Without a copy at the end, pi would continue from another entry.
                if is_copy && (Some(at) != last || last_id == record.id) {
                    plan.edit(at, record, "moved to the rest: a copy of an earlier line").is_dropped = true;
                    self.records[at].kind = RecordKind::Dropped;
                    continue;
                }
                let new = new_id(random, |id| taken.contains(id));
                taken.insert(new.clone().into());
                let what = if is_odd { "new ID" } else { "new ID for an entry with a repeated one" };
                let edit = plan.edit(at, record, &format!("{what}: {new}"));
                edit.fields.push(("id", Some(quote(&new).into_bytes())));
                if let Some(id) = record.id.as_ref().filter(|_| !gives_way) {
                    plan.renamed.entry(id.to_string()).or_default().push((at, new.clone()));
                }
                ids.finals[at] = Some(new.into());
            }
            if let Some(id) = record.id.as_ref().filter(|_| !gives_way) {
                ids.by_id.entry(id.clone()).or_default().push(at);
            }
            if record.kind == RecordKind::Entry {
                last_id.clone_from(&record.id);
            }
        }
        ids
    }

    /// Resolves all parents: each refers to the last entry before it with the ID, or else to a later one.
    fn plan_parents(&self, ids: &EntriesById, plan: &mut Plan) {
        let is_entry = |at: usize| self.records[at].kind == RecordKind::Entry;
        let mut parents: Vec<Option<usize>> = vec![None; self.records.len()];
        let mut before: Option<usize> = None; // the entry before
        let mut reasons: HashMap<usize, &str> = HashMap::new();
        for (at, record) in self.records.iter().enumerate() {
            if !matches!(record.kind, RecordKind::Entry | RecordKind::Dropped) {
                continue;
            }
            let found = record.parent.as_ref().and_then(|parent| ids.find(parent, at));
            let follows_unnamed = before.is_some_and(|before| self.records[before].id.is_none());
            parents[at] = match found {
                Some(found) if found != at => Some(found),
                None if record.parent.is_none() && !follows_unnamed => None,
                _ => {
                    reasons.insert(at, if found.is_some() { "was its own parent" } else { "its parent is missing" });
                    before
                }
            };
            if is_entry(at) {
                before = Some(at);
            }
        }
        cut_cycles(&mut parents, &mut reasons);
        for at in (0..self.records.len()).filter(|&at| is_entry(at)) {
            let mut parent = parents[at];
            while let Some(dropped) = parent.filter(|&parent| !is_entry(parent)) {
                parent = parents[dropped];
            }
            let (new, text) = match parent {
                None => (None, b"null".to_vec()),
                Some(parent) => (ids.id(&self.records, parent), ids.json(&self.records, parent)),
            };
            let record = &self.records[at];
            if new == record.parent.as_deref() {
                continue;
            }
            let reason = reasons.get(&at).copied().unwrap_or("its parent moved or has a new ID");
            let to = new.map_or("none".into(), String::from);
            plan.edit(at, record, &format!("new parent {to}: {reason}")).fields.push(("parentId", Some(text)));
        }
    }
}

/// The entries with each original ID.
struct EntriesById {
    by_id: HashMap<Box<str>, Vec<usize>>,
    /// The new ID of each record, if it has one.
    finals: Vec<Option<Box<str>>>,
}

impl EntriesById {
    /// Returns the entry to which an ID refers on a record.
    fn find(&self, id: &str, at: usize) -> Option<usize> {
        let all = self.by_id.get(id)?;
        let before = all.partition_point(|entry| *entry < at);
        before.checked_sub(1).and_then(|last| all.get(last)).or_else(|| all.first()).copied()
    }

    fn id<'a>(&'a self, records: &'a [Record], at: usize) -> Option<&'a str> {
        self.finals[at].as_deref().or(records[at].id.as_deref())
    }

    /// Returns the ID as JSON.
    fn json(&self, records: &[Record], at: usize) -> Vec<u8> {
        let id = self.id(records, at).unwrap_or_default();
        let is_number = self.finals[at].is_none() && !records[at].id_is_text;
        if is_number { id.into() } else { quote(id).into_bytes() }
    }
}

/// Cuts each cycle at its first entry, which becomes a root.
fn cut_cycles(parents: &mut [Option<usize>], reasons: &mut HashMap<usize, &str>) {
    const NEW: usize = 0;
    let mut seen = vec![NEW; parents.len()];
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(here) = at {
            if seen[here] == start + 1 {
                let members =
                    std::iter::successors(parents[here], |&member| parents[member].filter(|_| member != here));
                let first = members.min().unwrap_or(here);
                parents[first] = None;
                reasons.insert(first, "it was its own ancestor");
                break;
            }
            if seen[here] != NEW {
                break;
            }
            seen[here] = start + 1;
            at = parents[here];
        }
    }
}

impl Plan {
    fn edit(&mut self, at: usize, record: &Record, step: &str) -> &mut Edit {
        self.steps.push(format!("line {}: {step}", record.line));
        self.edits.entry(at).or_default()
    }

    /// Writes the next line, or an entry with this number of lines, to the file or to the rest.
    pub(super) fn line(&mut self, line: &[u8], count: u64, file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        let first = self.lines + 1;
        self.lines += count;
        split(line, &mut |piece, _| match piece {
            Piece::Value(value) => {
                let at = self.values;
                self.values += 1;
                self.write(at, first, value, file, rest);
            }
            Piece::Torn(bytes) => {
                rest.extend_from_slice(bytes);
                rest.push(b'\n');
            }
        });
    }

    /// Writes a value, by its number and its line.
    fn write(&self, at: usize, line: u64, raw: &[u8], file: &mut Vec<u8>, rest: &mut Vec<u8>) {
        if self.moved == Some(at) {
            return;
        }
        let edit = self.edits.get(&at);
        if edit.is_some_and(|edit| edit.is_dropped) {
            rest.extend_from_slice(raw);
            rest.push(b'\n');
            return;
        }
        let is_changed = edit.is_some() || !self.renamed.is_empty();
        let new = if is_changed { self.changed(at, line, raw, rest) } else { None };
        file.extend_from_slice(new.as_deref().unwrap_or(raw));
        file.push(b'\n');
    }

    /// Returns the new form of a value. The values of replaced fields go to the rest.
    fn changed(&self, at: usize, line: u64, raw: &[u8], rest: &mut Vec<u8>) -> Option<Vec<u8>> {
        let edit = self.edits.get(&at);
        let object = RawObject::new(raw)?;
        let mut changes = edit.map(|edit| edit.fields.clone()).unwrap_or_default();
        for key in REFERENCES {
            let new = object.text(key).and_then(|id| {
                let renamed = self.renamed.get(&*id)?;
                renamed.iter().rev().find(|(from, _)| *from <= at)
            });
            changes.extend(new.map(|(_, new)| (key, Some(quote(new).into_bytes()))));
        }
        let mut old: Vec<(&str, &[u8])> =
            changes.iter().filter_map(|(key, _)| Some((*key, object.get(key)?))).collect();
        if edit.is_some_and(|edit| edit.is_broken) {
            let content = object.get("message").and_then(RawObject::new).and_then(|message| message.get("content"));
            old.extend(content.map(|content| ("content", content)));
            changes.extend(readable(&object).map(|message| ("message", Some(message))));
        }
        if !old.is_empty() {
            rest.extend_from_slice(format!("{{\"line\":{line}").as_bytes());
            for (key, value) in old {
                rest.extend_from_slice(format!(",\"{key}\":").as_bytes());
                rest.extend_from_slice(value);
            }
            rest.extend_from_slice(b"}\n");
        }
        Some(object.with(&changes))
    }
}
