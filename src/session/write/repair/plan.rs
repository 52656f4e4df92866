//! The plan of a repair: the header, and the changes of single entries, from the IDs of all entries.

use std::collections::{HashMap, HashSet};

use crate::session::entry::kind::EntryKind;
use crate::session::entry::parse;
use crate::session::json::edit::{RawObject, quote};
use crate::session::json::{JsonReader, ValueKind};
use crate::session::links::IdHash;
use crate::session::write::line::new_id;
use crate::session::write::repair::content::{is_broken, lacks_content, readable};
use crate::session::write::repair::known::{KnownHeader, Unrepairable};

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
    claim: Claim,
}

/// The claim of an entry to its ID, weakest first. The strongest keeps the ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Claim {
    /// The entry was incomplete.
    Completed,
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
    /// The beginning of an entry that is complete elsewhere; moves to the rest.
    Beginning,
    /// A value that pi ignores.
    Ignored,
}

/// Collects the values of a file.
#[derive(Debug, Default)]
pub(super) struct Planner {
    records: Vec<Record>,
    /// The first header with an ID and its record. A complete one replaces a completed one.
    header: Option<(usize, Vec<u8>)>,
    /// `true` if its line was damaged, so that it can lack fields.
    is_header_changed: bool,
    /// The first header without one.
    bad_header: Option<(usize, Vec<u8>)>,
    pub(super) version: Option<f64>,
    steps: RepairSteps,
}

/// The plan of a repair.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The version of the file.
    pub(super) version: f64,
    /// A new first line.
    pub(super) header: Option<Vec<u8>>,
    /// The record of the header that is now the first line.
    moved: Option<usize>,
    edits: HashMap<usize, Edit>,
    /// The new IDs of entries with a repeated ID, with their records in order.
    renamed: HashMap<String, Vec<(usize, String)>>,
    /// A replaced header.
    pub(super) rest: Vec<u8>,
    /// The steps of the repair for people.
    pub(super) steps: RepairSteps,
}

/// The change of a value.
#[derive(Debug, Default)]
struct Edit {
    is_dropped: bool,
    is_broken: bool,
    /// The new JSON values of `id` and `parentId`.
    fields: Vec<(&'static str, Vec<u8>)>,
}

impl Planner {
    /// Adds the next value. Its line was damaged if it `is_changed`, and it was incomplete if it `is_completed`.
    pub(super) fn value(&mut self, line: u64, raw: &[u8], (is_changed, is_completed): (bool, bool)) {
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
        let at = self.records.len();
        let beginning = self
            .header
            .as_ref()
            .map(|(at, _)| *at)
            .filter(|at| self.records[*at].claim == Claim::Completed && !is_completed);
        if entry.starts_session() && (self.header.is_none() || beginning.is_some()) {
            beginning.into_iter().for_each(|at| self.records[at].kind = RecordKind::Dropped);
            self.version = Some(entry.version.unwrap_or(1.0));
            self.header = Some((at, raw.to_vec()));
            self.is_header_changed = is_changed;
        } else if kind == RecordKind::Header && self.bad_header.is_none() {
            self.version = self.version.or(entry.version);
            self.bad_header = Some((at, raw.to_vec()));
        }
        let text = |text: crate::session::json::Str<'_>| text.text().into();
        self.records.push(Record {
            line,
            id: entry.id.map(text).filter(|_| kind != RecordKind::Header),
            id_is_text: entry.id_is_text,
            parent: entry.parent_id.map(text),
            hash: IdHash::new(raw.trim_ascii()).value(),
            kind,
            is_broken: is_broken(&entry),
            claim: match (is_completed, entry.kind) {
                (true, _) => Claim::Completed,
                (false, EntryKind::Unknown | EntryKind::OtherMessage) => Claim::Unknown,
                _ if is_changed || lacks_content(&entry) => Claim::Damaged,
                _ => Claim::Intact,
            },
        });
    }

    /// Records what was done to a line.
    pub(super) fn step(&mut self, line: u64, done: &str) {
        self.steps.push(format!("line {line}: {done}"));
    }

    /// Returns `true` if no value is a header or an entry.
    pub(super) fn is_empty(&self) -> bool {
        !self.records.iter().any(|record| matches!(record.kind, RecordKind::Entry | RecordKind::Header))
    }

    /// Makes the plan.
    ///
    /// # Errors
    /// The header lacks the working directory, which is not known.
    pub(super) fn plan(mut self, known: &KnownHeader, random: &mut dyn FnMut() -> u128) -> Result<Plan, Unrepairable> {
        let claims = self.claims();
        self.drop_beginnings(&claims);
        let has_ids = self.records.iter().any(|record| record.kind == RecordKind::Entry && record.id.is_some());
        let version = *self.version.get_or_insert(if has_ids { 3.0 } else { 1.0 });
        let mut plan = Plan { version, steps: std::mem::take(&mut self.steps), ..Plan::default() };
        self.plan_header(version, known, &mut plan)?;
        for (at, record) in self.records.iter().enumerate() {
            if record.kind == RecordKind::Dropped {
                plan.edit(at, record, "moved to the rest: not an entry that pi can read").is_dropped = true;
            } else if record.kind == RecordKind::Beginning {
                plan.edit(at, record, "moved to the rest: the beginning of a complete entry").is_dropped = true;
            } else if record.is_broken {
                plan.edit(at, record, "gave the message a content that pi can read").is_broken = true;
            }
        }
        if version >= 2.0 {
            let ids = self.plan_ids(&mut plan, &claims, random);
            self.plan_parents(&ids, &mut plan);
        }
        Ok(plan)
    }

    /// Returns the strongest claim to each ID.
    fn claims(&self) -> HashMap<Box<str>, Claim> {
        let mut claims = HashMap::new();
        for record in self.records.iter().filter(|record| record.kind == RecordKind::Entry) {
            if let Some(id) = &record.id {
                let strongest = claims.entry(id.clone()).or_insert(record.claim);
                *strongest = record.claim.max(*strongest);
            }
        }
        claims
    }

    /// Drops the completed entries whose complete form is in the file too.
    fn drop_beginnings(&mut self, claims: &HashMap<Box<str>, Claim>) {
        for record in self.records.iter_mut().filter(|record| record.claim == Claim::Completed) {
            let strongest = record.id.as_ref().and_then(|id| claims.get(id)).copied();
            if record.kind == RecordKind::Entry && strongest > Some(Claim::Completed) {
                record.kind = RecordKind::Beginning;
            }
        }
    }

    /// Puts a header first.
    fn plan_header(&mut self, version: f64, known: &KnownHeader, plan: &mut Plan) -> Result<(), Unrepairable> {
        let first = self.records.iter().position(|record| record.kind != RecordKind::Ignored);
        let (raw, step) = match (self.header.take(), self.bad_header.take()) {
            (Some((at, raw)), _) => {
                let missing = if self.is_header_changed { known.missing(&raw, version)? } else { None };
                if first == Some(at) && missing.is_none() {
                    return Ok(());
                }
                plan.moved = Some(at);
                let step = if first == Some(at) { "completed the header" } else { "moved the header to the start" };
                (missing.unwrap_or(raw), step)
            }
            (None, Some((at, raw))) => {
                plan.moved = Some(at);
                plan.rest = [&raw, &b"\n"[..]].concat();
                let id = quote(&known.id);
                let raw = RawObject::new(&raw).map_or(raw.clone(), |raw| raw.with(&[("id", Some(id.as_bytes()))]));
                (known.missing(&raw, version)?.unwrap_or(raw), "gave the header the ID of the file name")
            }
            (None, None) => {
                let raw = known.missing(br#"{"type":"session"}"#, version)?.unwrap_or_default();
                let id = quote(&known.id);
                let raw = RawObject::new(&raw).map_or(raw.clone(), |raw| raw.with(&[("id", Some(id.as_bytes()))]));
                (raw, "created a header")
            }
        };
        let written = RawObject::new(&raw);
        let field = |key| written.as_ref().and_then(|raw| raw.text(key)).unwrap_or_default();
        plan.steps.listed.insert(0, format!("{step}: ID {}, directory {}", field("id"), field("cwd")));
        plan.header = Some(raw);
        Ok(())
    }

    /// Gives each entry an ID of its own. Returns the entries with each original ID: their records and final IDs.
    fn plan_ids(
        &mut self,
        plan: &mut Plan,
        claims: &HashMap<Box<str>, Claim>,
        random: &mut dyn FnMut() -> u128,
    ) -> EntriesById {
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
                edit.fields.push(("id", quote(&new).into_bytes()));
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
        cut_cycles(&mut parents, &is_entry, &mut reasons);
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
            plan.edit(at, record, &format!("new parent {to}: {reason}")).fields.push(("parentId", text));
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

/// Cuts each cycle at its first entry, which gets the nearest entry before it that does not descend from it as its parent.
/// After too many steps of work, it becomes a root.
fn cut_cycles(parents: &mut [Option<usize>], is_entry: &dyn Fn(usize) -> bool, reasons: &mut HashMap<usize, &str>) {
    const NEW: usize = 0;
    const CANDIDATES: usize = 8;
    let mut steps = 10_000_000usize;
    let mut seen = vec![NEW; parents.len()];
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(here) = at {
            if seen[here] == start + 1 {
                let members =
                    std::iter::successors(parents[here], |&member| parents[member].filter(|_| member != here));
                let first = members.min().unwrap_or(here);
                let mut descends = |&other: &usize| {
                    let mut up = std::iter::successors(Some(other), |&other| parents[other]).zip(0..);
                    up.any(|(one, walked)| {
                        steps = steps.saturating_sub(1);
                        one == first || steps == 0 || walked > parents.len()
                    })
                };
                let before = (0..first).rev().filter(|&other| is_entry(other)).take(CANDIDATES);
                parents[first] = before.into_iter().find(|other| !descends(other));
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

    /// Returns `true` if the value with this number has no place in the file.
    pub(super) fn is_dropped(&self, at: usize) -> bool {
        self.edits.get(&at).is_some_and(|edit| edit.is_dropped)
    }

    /// Writes a value, by its number and its line, to the file or to the rest.
    pub(super) fn write(&self, (at, line): (usize, u64), raw: &[u8], (file, rest): (&mut Vec<u8>, &mut Vec<u8>)) {
        if self.moved == Some(at) {
            return;
        }
        let edit = self.edits.get(&at);
        if self.is_dropped(at) {
            rest.extend_from_slice(raw);
            rest.push(b'\n');
            return;
        }
        let is_changed = edit.is_some() || !self.renamed.is_empty();
        let new = if is_changed { self.changed((at, line), raw, rest) } else { None };
        file.extend_from_slice(new.as_deref().unwrap_or(raw));
        file.push(b'\n');
    }

    /// Returns the new form of a value. The values of replaced fields go to the rest.
    fn changed(&self, (at, line): (usize, u64), raw: &[u8], rest: &mut Vec<u8>) -> Option<Vec<u8>> {
        let edit = self.edits.get(&at);
        let object = RawObject::new(raw)?;
        let mut changes: Vec<(&str, Vec<u8>)> = edit.map(|edit| edit.fields.clone()).unwrap_or_default();
        for key in REFERENCES {
            let new = object.text(key).and_then(|id| {
                let renamed = self.renamed.get(&*id)?;
                renamed.iter().rev().find(|(from, _)| *from <= at)
            });
            changes.extend(new.map(|(_, new)| (key, quote(new).into_bytes())));
        }
        let mut old: Vec<(&str, &[u8])> =
            changes.iter().filter_map(|(key, _)| Some((*key, object.get(key)?))).collect();
        if edit.is_some_and(|edit| edit.is_broken) {
            let content = object.get("message").and_then(RawObject::new).and_then(|message| message.get("content"));
            old.extend(content.map(|content| ("content", content)));
            changes.extend(readable(&object).map(|message| ("message", message)));
        }
        if !old.is_empty() {
            rest.extend_from_slice(format!("{{\"line\":{line}").as_bytes());
            for (key, value) in old {
                rest.extend_from_slice(format!(",\"{key}\":").as_bytes());
                rest.extend_from_slice(value);
            }
            rest.extend_from_slice(b"}\n");
        }
        let changes: Vec<(&str, Option<&[u8]>)> = changes.iter().map(|(key, new)| (*key, Some(&**new))).collect();
        Some(object.with(&changes))
    }
}
