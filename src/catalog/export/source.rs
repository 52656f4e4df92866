//! A session to export: its tree or family, the chosen entries, and its title and facts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::base::named::named;
use crate::base::numbers;
use crate::catalog::export::redact::ExportRedactor;
use crate::catalog::{Catalog, SessionKey};
use crate::disk::load::{self, EntryReader, LoadRequest};
use crate::export::Format;
use crate::export::document::{Head, minute, one_line};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{parse, typed_prompt};
use crate::session::family::{self, MergedFamily};
use crate::session::lines::Header;
use crate::session::prompt::plan::Plan;
use crate::session::tree::context::{context, dependencies, edits_in_force};
use crate::session::tree::{EntryIndex, Tree};

named! {
    /// The kind of selection.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Scope {
        /// The path to an entry.
        Branch = "branch",
        /// All entries.
        Tree = "all branches",
        /// The messages that the model receives at an entry.
        Context = "model context",
    }
}

/// A session to export.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) tree: Arc<Tree>,
    /// The entries.
    pub(crate) entries: Vec<EntryIndex>,
    /// The context edits that are in force for them at the end.
    pub(crate) edits: HashMap<EntryIndex, EntryIndex>,
    /// The entry where the export ends.
    pub(crate) end: Option<EntryIndex>,
    pub(crate) scope: Scope,
    is_part: bool,
    readers: Vec<EntryReader>,
    joined: Option<MergedFamily>,
}

impl Source {
    /// Loads a session; its whole tree is chosen.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn session(path: &Path, home: &str) -> Result<Self> {
        Ok(Self::new(path, Arc::new(load::tree(path, home)?), None, vec![EntryReader::open(path)?]))
    }

    /// Loads the sessions of a family one by one, with their keys.
    ///
    /// # Errors
    /// A file of the family cannot be read.
    pub(crate) fn members(catalog: &Catalog, key: SessionKey, home: &str) -> Result<Vec<(SessionKey, Self)>> {
        let members = catalog.family(key).into_iter();
        members.map(|member| Ok((member, Self::session(&catalog[member].path, home)?))).collect()
    }

    /// Loads the family of a session as one tree.
    ///
    /// # Errors
    /// A file of the family cannot be read.
    pub(crate) fn family(catalog: &Catalog, key: SessionKey, home: &str) -> Result<Self> {
        let (joined, readers) = family(catalog, key, home)?;
        Ok(Self::new(&catalog[key].path, joined.tree.clone(), Some(joined), readers))
    }

    fn new(path: &Path, tree: Arc<Tree>, joined: Option<MergedFamily>, readers: Vec<EntryReader>) -> Self {
        let (entries, end) = (tree.order.clone(), tree.leaf);
        let edits = edits_in_force(&tree, end);
        Self { path: path.into(), tree, entries, edits, end, scope: Scope::Tree, is_part: false, readers, joined }
    }

    /// Chooses the entries for a format: up to `end` or the leaf, and from `since` on.
    ///
    /// # Errors
    /// No entry is left, or the format cannot contain them.
    pub(crate) fn choose(
        &mut self,
        (scope, format): (Scope, Format),
        end: Option<EntryIndex>,
        since: Option<EntryIndex>,
    ) -> Result<()> {
        let end = end.or(self.tree.leaf);
        self.entries = match (scope, format) {
            (Scope::Context, Format::Jsonl) if self.tree.header.version < 2.0 => bail!(
                "cannot export the model context of {}: its entries have no IDs; open the session in pi once to convert it",
                self.path.display()
            ),
            (Scope::Context, Format::Jsonl) => dependencies(&self.tree, end),
            (Scope::Branch, _) => end.map(|end| self.tree.path(end)).unwrap_or_default(),
            (Scope::Tree, _) => self.tree.order.clone(),
            (Scope::Context, _) => Plan::new(&self.tree, end).sent().map(|part| part.at).collect(),
        };
        if let Some(since) = since {
            self.start_at(since)?;
        }
        self.edits = edits_in_force(&self.tree, end);
        (self.scope, self.end, self.is_part) = (scope, end, since.is_some());
        Ok(())
    }

    /// Leaves out entries that are not below an entry.
    fn start_at(&mut self, since: EntryIndex) -> Result<()> {
        let mut below = HashSet::new();
        for &at in &self.tree.order {
            if at == since || self.tree.parent(at).is_some_and(|parent| below.contains(&parent)) {
                below.insert(at);
            }
        }
        self.entries.retain(|at| below.contains(at));
        if self.entries.is_empty() {
            bail!("the entry of --since is not on the exported branch; use --tree, or name an entry after it");
        }
        Ok(())
    }

    /// Reads the line of an entry.
    pub(crate) fn line(&mut self, at: EntryIndex) -> Result<Vec<u8>> {
        let file = self.joined.as_ref().map_or(0, |joined| joined.of(at).0);
        self.readers[file].line(&self.tree[at])
    }

    /// Returns the entries whose texts the export contains: those of the selection, the name, and the context edits.
    pub(crate) fn all_entries(&self) -> Vec<EntryIndex> {
        let mut seen = HashSet::new();
        let edits = self.entries.iter().filter_map(|at| self.edits.get(at));
        let labels = self.tree.label_entries();
        let all = self.entries.iter().chain(edits).copied().chain(self.name_entry()).chain(labels);
        all.filter(|at| seen.insert(*at)).collect()
    }

    /// Returns the entry with the current name.
    fn name_entry(&self) -> Option<EntryIndex> {
        self.tree.nodes.iter().rposition(|node| node.kind == EntryKind::SessionInfo).map(|at| at as EntryIndex)
    }

    /// Returns the title: the name, or the first prompt.
    fn title(&mut self, redact: &ExportRedactor<'_>) -> Result<String> {
        let name = self.name_entry();
        let is_prompt = |at: &EntryIndex| self.tree.is_prompt(*at);
        let prompts = self.entries.iter().copied().filter(is_prompt);
        let candidates: Vec<EntryIndex> = name.into_iter().chain(prompts).collect();
        for at in candidates {
            let line = redact.line(&self.line(at)?);
            let entry = parse::entry(&line);
            let typed = || typed_prompt::typed(&entry).unwrap_or_else(|| entry.text());
            let title = one_line(&if Some(at) == name { entry.session_name().unwrap_or_default() } else { typed() });
            if !title.is_empty() {
                return Ok(title);
            }
        }
        Ok("pi session".into())
    }

    /// Returns the title and the facts.
    pub(crate) fn head(&mut self, redact: &ExportRedactor<'_>) -> Result<Head> {
        let title = self.title(redact)?;
        let tree = &self.tree;
        let nodes = || self.entries.iter().map(|&at| &tree[at]);
        let times = || nodes().filter_map(|node| node.time);
        let date = |time: Option<i64>| time.and_then(minute).unwrap_or_default();
        let (first, last) = (date(times().min()), date(times().max()));
        // Entries of version 1 have no ID.
        let id = |at: Option<EntryIndex>| redact.text(at.and_then(|at| tree.id(at)).unwrap_or("the end"));
        let what = match self.scope {
            Scope::Tree if self.joined.is_some() => "all branches of the family".into(),
            Scope::Tree => "all branches".into(),
            Scope::Branch => format!("branch to {}", id(self.end)),
            Scope::Context => format!("model context at {}", id(self.end)),
        };
        let since = if self.is_part { " (from a later entry on)" } else { "" };
        let model = context(tree, self.end).model.map(|(_, model)| redact.text(&model).into_owned());
        let cost: f64 = nodes().map(|node| node.cost).sum();
        let mut facts = vec![
            ("Session", redact.text(&tree.header.id).into_owned()),
            ("Project", redact.text(&tree.header.cwd).into_owned()),
            ("Date", if first == last { first } else { format!("{first} – {last}") }),
            ("Model", model.unwrap_or_default()),
            ("Content", format!("{what}{since}, {}", numbers::count(self.entries.len(), "entry", "entries"))),
            ("Cost", numbers::nonzero_dollars(cost).unwrap_or_default()),
        ];
        facts.retain(|(_, value)| !value.is_empty());
        let facts = facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Head { title, facts, ..Head::default() })
    }
}

/// Merges the family of a session. Returns the files of its members in order.
fn family(catalog: &Catalog, key: SessionKey, home: &str) -> Result<(MergedFamily, Vec<EntryReader>)> {
    let members = catalog.family(key);
    let paths: Vec<PathBuf> = members.iter().map(|&member| catalog[member].path.clone()).collect();
    let load = |path: &PathBuf| {
        let request = LoadRequest { notes_contents: true, ..LoadRequest::new(path, home) };
        request.tree().map(Arc::new)
    };
    let trees = paths.iter().map(load).collect::<Result<Vec<Arc<Tree>>>>()?;
    let open = || paths.iter().map(|path| EntryReader::open(path)).collect::<Result<Vec<_>>>();
    let mut readers = open()?;
    let base = members.iter().position(|&member| member == key).unwrap_or_default();
    let header = Header { parent_session: None, parent_id: None, ..trees[base].header.clone() };
    let mut line = |(file, at): (usize, EntryIndex)| readers[file].line(trees[file].nodes.get(at as usize)?).ok();
    let mut is_same =
        |[a, b]: [(usize, EntryIndex); 2]| matches!((line(a), line(b)), (Some(a), Some(b)) if family::is_same(&a, &b));
    let joined = MergedFamily::new(&trees, base, header, &mut is_same);
    Ok((joined, open()?))
}
