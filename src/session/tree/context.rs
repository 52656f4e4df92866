//! What the model would see if pi went on from an entry, as pi's `buildSessionProjection` has it (0.87.1).

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasherDefault;

use crate::session::entry::Entry;
use crate::session::entry::kind::Kind;
use crate::session::json::Str;
use crate::session::tree::Tree;
use crate::session::tree::shape::{IdHash, Index, Shape, Through};

/// What the model would see at an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The entries that give messages, in the order of the messages: the compaction comes first.
    pub entries: Vec<Index>,
    /// The messages, as many as pi's `buildSessionContext` gives. Of these pi does not send `!!` commands and messages
    /// with roles that it does not know.
    pub messages: usize,
    /// The provider and the id of the model set last or that answered last.
    pub model: Option<(String, String)>,
    /// The thinking level set last; pi's `off` if none was.
    pub thinking_level: String,
    /// The compaction whose summary stands for what came before.
    pub compaction: Option<Index>,
}

/// What the model would see if pi went on from an entry; before the first one, that is nothing.
pub fn context(tree: &Tree, at: Option<Index>) -> Context {
    let path = at.map(|at| tree.path(at)).unwrap_or_default();
    let mut context = Context { thinking_level: "off".into(), ..Context::default() };
    let kind = |at: Index| tree.nodes[at as usize].kind;
    let mut is_set = (false, false);
    for &at in path.iter().rev() {
        match tree.settings.get(tree.nodes[at as usize].sense.setting) {
            Some(Setting::Model(provider, model)) if !is_set.0 => {
                context.model = Some((provider.clone(), model.clone()));
                is_set.0 = true;
            }
            Some(Setting::Thinking(level)) if !is_set.1 => {
                context.thinking_level.clone_from(level);
                is_set.1 = true;
            }
            _ => {}
        }
    }
    let compaction = path.iter().rposition(|&at| kind(at) == Kind::Compaction);
    context.compaction = compaction.map(|place| path[place]);
    let mut seen: Vec<Index> = context.compaction.into_iter().collect();
    if let Some(place) = compaction {
        let first = tree.first_kept.get(&path[place]);
        let is_kept = |at: &&Index| !tree.nodes[**at as usize].sense.is_system;
        seen.extend(path[..place].iter().skip_while(|at| first != Some(*at)).filter(is_kept));
    }
    seen.extend(&path[compaction.map_or(0, |place| place + 1)..]);
    // Only edits that are in the context count, and the last one of a target.
    let mut omitted = HashSet::new();
    for (target, omits) in seen.iter().filter_map(|at| tree.edits.get(at)) {
        if *omits {
            omitted.insert(*target);
        } else {
            omitted.remove(target);
        }
    }
    for at in seen {
        let is_older_compaction = kind(at) == Kind::Compaction && Some(at) != context.compaction;
        let messages = tree.nodes[at as usize].sense.messages;
        if messages > 0 && !is_older_compaction && !omitted.contains(&at) {
            context.entries.push(at);
            context.messages += usize::from(messages);
        }
    }
    context
}

/// What an entry is to the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sense {
    /// How many messages it gives.
    messages: u8,
    /// A system message: compactions don't keep it.
    is_system: bool,
    /// Its setting in [`Settings`], from 1 on; 0 for none.
    pub(crate) setting: u16,
}

impl Sense {
    pub(crate) fn new(entry: &Entry<'_>) -> Self {
        let messages = match entry.kind {
            Kind::User
            | Kind::Assistant
            | Kind::ToolResult
            | Kind::Bash
            | Kind::SystemRole
            | Kind::CustomRole
            | Kind::SummaryRole
            | Kind::CustomMessage => 1,
            Kind::OtherMessage => u8::from(entry.message.is_some()),
            Kind::BranchSummary => u8::from(entry.summary.is_some_and(|summary| !summary.is_empty())),
            Kind::Compaction => 1 + u8::from(entry.has_system_message),
            Kind::ModelChange
            | Kind::ThinkingLevel
            | Kind::Custom
            | Kind::Label
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::ContextEdit
            | Kind::Unknown => 0,
        };
        Self { messages, is_system: entry.kind == Kind::SystemRole, setting: 0 }
    }
}

/// From where on a compaction keeps what stands before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstKept {
    id: Option<IdHash>,
    /// In version 1: its place among the file's values.
    index: Option<f64>,
}

impl FirstKept {
    pub(crate) fn new(entry: &Entry<'_>) -> Self {
        Self { id: entry.first_kept_id.map(IdHash::of), index: entry.first_kept_index }
    }

    /// The entry. `headers` has, for each header in the file, how many entries stand before it.
    pub(crate) fn resolve(self, shape: &Shape, version: f64, headers: &[usize]) -> Option<Index> {
        if version >= 2.0 {
            return shape.find(self.id?); // pi does not look at an index any more
        }
        let value = self.index.filter(|index| *index >= 0.0 && index.fract() == 0.0)?;
        // The n-th header stands behind n other headers.
        let places = headers.iter().enumerate().map(|(n, before)| (n + before) as f64);
        if places.clone().any(|place| place == value) {
            return None;
        }
        let at = value - places.filter(|place| *place < value).count() as f64;
        (at < shape.parents.len() as f64).then_some(at as Index)
    }
}

/// What a context edit does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edit {
    pub(crate) target: IdHash,
    /// The target is left out; otherwise it gets other words.
    pub(crate) omits: bool,
}

impl Edit {
    pub(crate) fn new(entry: &Entry<'_>) -> Option<Self> {
        Some(Self { target: IdHash::of(entry.target_id?), omits: entry.replacement.is_none() })
    }
}

/// The models and thinking levels of a file, each once, so that an entry holds no text for them.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    all: Vec<Setting>,
    places: HashMap<(u8, IdHash, IdHash), u16, BuildHasherDefault<Through>>,
}

#[derive(Debug)]
enum Setting {
    /// Provider and id.
    Model(String, String),
    Thinking(String),
}

impl Settings {
    /// Takes note of what an entry sets; gives its place, from 1 on, or 0 if there is none (or no place is left: a
    /// file does not have 65,535 models).
    pub(crate) fn note(&mut self, entry: &Entry<'_>) -> u16 {
        let (tag, first, second) = match entry.kind {
            Kind::ModelChange => (0, entry.provider, entry.model_id),
            Kind::Assistant => {
                let Some(message) = &entry.message else { return 0 };
                (0, message.provider, message.model)
            }
            Kind::ThinkingLevel => (1, None, entry.thinking_level),
            Kind::User
            | Kind::ToolResult
            | Kind::Bash
            | Kind::SystemRole
            | Kind::CustomRole
            | Kind::SummaryRole
            | Kind::OtherMessage
            | Kind::CustomMessage
            | Kind::Compaction
            | Kind::BranchSummary
            | Kind::Custom
            | Kind::Label
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::ContextEdit
            | Kind::Unknown => return 0,
        };
        let (first, second) = (first.unwrap_or_default(), second.unwrap_or_default());
        let text = |text: Str<'_>| text.text().into_owned();
        let key = (tag, IdHash::of(first), IdHash::of(second));
        self.place(key, || match tag {
            0 => Setting::Model(text(first), text(second)),
            _ => Setting::Thinking(text(second)),
        })
    }

    fn place(&mut self, key: (u8, IdHash, IdHash), setting: impl FnOnce() -> Setting) -> u16 {
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let Ok(place) = u16::try_from(self.all.len() + 1) else { return 0 };
        self.all.push(setting());
        self.places.insert(key, place);
        place
    }

    fn get(&self, place: u16) -> Option<&Setting> {
        self.all.get(usize::from(place).checked_sub(1)?)
    }

    /// Adds those of a later part of the file; gives their new places, by the old ones.
    pub(crate) fn add(&mut self, later: Self) -> Vec<u16> {
        let mut places = vec![0];
        for setting in later.all {
            let hash = |text: &String| IdHash::new(text.as_bytes());
            let key = match &setting {
                Setting::Model(provider, model) => (0, hash(provider), hash(model)),
                Setting::Thinking(level) => (1, hash(&String::new()), hash(level)),
            };
            places.push(self.place(key, || setting));
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tree::Part;

    /// The lines in two parts, cut before the line `cut`.
    fn tree(lines: &[&str], cut: usize) -> Tree {
        let part = |lines: &[&str]| {
            let mut part = Part::new("");
            lines.iter().for_each(|line| part.line(0, line.as_bytes(), true));
            part
        };
        Tree::build([part(&lines[..cut]), part(&lines[cut..])]).unwrap()
    }

    #[test]
    fn parts_give_the_same_as_the_whole() {
        let lines = [
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"model_change","provider":"p","modelId":"one"}"#,
            r#"{"type":"thinking_level_change","thinkingLevel":"low"}"#,
            r#"{"type":"session","id":"t"}"#,
            r#"{"type":"message","message":{"role":"assistant","provider":"p","model":"two"}}"#,
            r#"{"type":"compaction","firstKeptEntryIndex":4}"#,
            r#"{"type":"model_change","provider":"p","modelId":"one"}"#,
            r#"{"type":"thinking_level_change","thinkingLevel":"high"}"#,
            r#"{"type":"message","message":{"role":"assistant","provider":"q","model":"two"}}"#,
        ];
        let context = |cut| context(&tree(&lines, cut), Some(6));
        assert_eq!(context(lines.len()).entries, [3, 2, 6]);
        assert_eq!(context(lines.len()).model, Some(("q".into(), "two".into())));
        assert_eq!(context(lines.len()).thinking_level, "high");
        for cut in 0..lines.len() {
            assert_eq!(context(cut), context(lines.len()), "cut before {cut}");
        }
    }

    #[test]
    fn before_the_first_entry_there_is_nothing() {
        let empty = Context { thinking_level: "off".into(), ..Context::default() };
        assert_eq!(context(&tree(&[r#"{"type":"session","id":"s"}"#], 1), None), empty);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_needs_no_recursion() {
        let mut part = Part::new("");
        part.line(0, br#"{"type":"session","id":"s"}"#, true);
        for _ in 0..100_000 {
            part.line(0, br#"{"type":"message","message":{"role":"user"}}"#, true);
        }
        let tree = Tree::build([part]).unwrap();
        assert_eq!(context(&tree, tree.leaf).messages, 100_000);
    }
}
