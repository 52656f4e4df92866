//! The reader: one text of sections, such as the entries of a branch, or the card of a session. Only sections near the
//! visible ones are read and wrapped. The position is a section and a row in it.

mod folding;
mod hits;
mod scrolling;
pub mod sections;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sections::{ImageBox, Section, SectionText, marks};

use crate::app::ticket::Claim;
use crate::base::named::named;
use crate::base::text::{Glyphs, Span, highlight};
use crate::catalog::parents::MissingParentKey;
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::export::entry::related;
use crate::render::wrap::VerbatimStyle;
use crate::render::{DocLine, FoldedLines};
use crate::search::text_match::Words;
use crate::session::tree::context::edits_in_force;
use crate::session::tree::{EntryIndex, Tree};

/// The rows to wrap beyond the last visible one.
const AHEAD: usize = 200;

/// The sections before and after the visible ones that are read in advance.
const NEAR: usize = 24;

/// The number of sections whose texts are kept, and of their bytes.
const KEPT: usize = 400;
const KEPT_BYTES: usize = 8_000_000;

/// Milliseconds before the pane shows that it is reading; most texts arrive sooner.
pub(crate) const READING_DELAY: i64 = 150;

named! {
    /// A form in which the reader shows an entry.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum EntryForm {
        /// The conversation from the entry on.
        #[default]
        Entry = "the conversation",
        /// The differences that the entry made to files.
        Difference = "differences of changed files",
        /// The files after the entry, with marks on changed lines.
        File = "whole files after changes",
        /// The lines of the entry in the session file.
        Raw = "raw lines",
    }
}

/// The subject of the reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReaderSubject {
    /// No subject.
    #[default]
    Nothing,
    /// A project.
    Project(ProjectKey),
    /// A session.
    Session(SessionKey),
    /// The branch through an entry of the open session, at this entry.
    Entry(EntryRef),
    /// A session whose file is missing.
    MissingParent(MissingParentKey),
}

impl ReaderSubject {
    /// Returns `true` if the reader shows a card of facts instead of entries.
    pub(crate) fn has_card(self) -> bool {
        !matches!(self, Self::Nothing | Self::Entry(_))
    }
}

/// A turn in the title of the reader.
#[derive(Clone, Debug)]
pub struct Turn {
    prompt: EntryIndex,
    /// Its number on the branch.
    pub title: String,
    /// Its tools, cost, duration and changed files.
    pub facts: String,
}

/// A position: the index of a section, and a row in it.
type Position = (usize, usize);

/// The state of the pane.
#[derive(Debug, Default)]
pub struct ReaderPane {
    /// The subject.
    pub subject: ReaderSubject,
    /// The tree with the entries of the sections.
    tree: Option<Arc<Tree>>,
    /// The sections from top to bottom.
    pub(crate) sections: Vec<Section>,
    /// The context edits that are in force at the end of the branch, by their targets.
    pub(crate) edits: HashMap<EntryIndex, EntryIndex>,
    /// The section of each entry of the branch; `u32::MAX` for others.
    section_of: Vec<u32>,
    /// The texts of sections near the visible ones.
    texts: HashMap<Section, SectionText>,
    /// The first visible row.
    pub top: Position,
    /// The position that was asked for, until the user scrolls; near the end of the text, the top is above it.
    goal: Option<Position>,
    /// The index of the section that the tree selects.
    current: usize,
    /// The width of the text, and the display of long lines.
    width: usize,
    /// The display of lines that are longer than a row.
    pub style: VerbatimStyle,
    /// `true` if the terminal shows images.
    pub(crate) has_graphics: bool,
    height: usize,
    /// The first entries of unfolded runs.
    open_runs: HashSet<EntryIndex>,
    /// The only calls of unfolded runs, which are unfolded, too.
    lone_calls: HashSet<EntryIndex>,
    /// The folds that the user toggled.
    toggled: HashSet<(EntryIndex, usize)>,
    /// The tool call that the tree selects; it is shown even if its run is folded.
    opened: Option<EntryIndex>,
    /// `true` to unfold all parts.
    pub(crate) opens_all: bool,
    /// The turn of the current section.
    pub turn: Option<Turn>,
    /// The row on which `Enter` acts, if the user chose one.
    target: Option<Position>,
    /// The direction in which to search the current section for the next hit once its text is read.
    pub(crate) seeks: Option<bool>,
    /// The last hit that was gone to, as a line of a section.
    hit: Option<(Section, usize)>,
    /// The words whose first hit in the current section was shown.
    pub(crate) sought: Option<Arc<Words>>,
    /// The subject and the position before a search.
    pub(crate) from: Option<(ReaderSubject, Option<(EntryIndex, usize)>)>,
    /// The time at which reading started, in milliseconds since 1970; `None` once the text is loaded.
    pub waiting: Option<i64>,
    /// The rows that are shown until `READING_DELAY` elapses.
    held: Vec<Vec<Span>>,
    /// The claims on entries being read.
    pub(crate) claims: HashMap<EntryIndex, Claim>,
    /// The claim on another form of the entry.
    pub reading: Option<Claim>,
    /// `true` if the subject has changed since its text was read.
    pub is_stale: bool,
    /// `true` if the reader follows the selection in the list of sessions even while another pane is focused.
    pub is_of_list: bool,
}

impl ReaderPane {
    /// Returns an empty pane that draws with the given glyphs.
    pub(crate) fn new(glyphs: &Glyphs) -> Self {
        let style = VerbatimStyle {
            continuation: glyphs.wrapped.clone(),
            more: glyphs.ellipsis.clone(),
            ..VerbatimStyle::default()
        };
        Self { style, width: 1, ..Self::default() }
    }

    /// Switches to another subject; its text is loaded later.
    pub fn turn_to(&mut self, subject: ReaderSubject, now: i64) {
        self.hold(now);
        let style = VerbatimStyle { left: 0, ..self.style.clone() };
        let (held, waiting, opens_all) = (std::mem::take(&mut self.held), self.waiting, self.opens_all);
        let (width, height, has_graphics) = (self.width, self.height, self.has_graphics);
        *self = Self { subject, style, held, waiting, width, height, has_graphics, opens_all, ..Self::default() };
    }

    /// Reads all texts again.
    pub(crate) fn forget_texts(&mut self, now: i64) {
        self.hold(now);
        self.texts.clear();
        self.claims.clear();
    }

    /// Keeps the visible rows until other ones are read.
    fn hold(&mut self, now: i64) {
        match self.waiting {
            None => (self.held, self.waiting) = (self.text_rows(None), Some(now)),
            Some(since) if now - since >= READING_DELAY => self.held.clear(),
            Some(_) => {}
        }
    }

    /// Shows the branch through an entry, at this entry if `goes_there`. The texts of entries that look the same stay.
    pub(crate) fn show_branch(&mut self, tree: &Arc<Tree>, at: EntryIndex, goes_there: bool, now: i64) {
        let is_on_branch = self.section_of.get(at as usize).is_some_and(|&section| section != u32::MAX);
        let is_same = self.tree.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, tree));
        if !is_same || !is_on_branch {
            let top = self.anchor();
            let old = self.tree.replace(tree.clone()).filter(|old| tree.extends(old));
            match old {
                Some(old) if !is_same => {
                    // An empty line may follow it now.
                    self.sections.last().and_then(|last| self.texts.remove(last));
                    self.texts.retain(|section, _| section.entry().is_some_and(|at| is_shown_alike(&old, tree, at)));
                    self.claims.clear();
                }
                Some(_) => {}
                None => (self.texts, self.claims, self.top) = (HashMap::new(), HashMap::new(), (0, 0)),
            }
            self.build(at);
            self.turn = None;
            self.current = self.section_with(at).unwrap_or_default();
            self.return_to_anchor(top);
        }
        let Some(section) = self.section_with(at) else { return };
        self.current = section;
        if goes_there {
            self.go_to(section, now);
        }
    }

    /// Shows a section from its first row on.
    fn go_to(&mut self, section: usize, now: i64) {
        (self.target, self.hit) = (None, None);
        if !self.is_read(section) {
            self.hold(now);
        }
        (self.current, self.goal) = (section, Some((section, 0)));
    }

    /// Returns `true` if the text of a section is read.
    fn is_read(&self, section: usize) -> bool {
        self.sections.get(section).is_some_and(|section| self.texts.contains_key(section))
    }

    /// Unfolds the tool call that the tree selects, and folds the one before it.
    pub(crate) fn open_call(&mut self, at: Option<EntryIndex>) {
        if self.opened == at {
            return;
        }
        for at in [std::mem::replace(&mut self.opened, at), at].into_iter().flatten() {
            self.texts.remove(&Section::Entry(at));
            if self.has(at) {
                self.rebuild_runs(at);
            }
        }
    }

    /// Builds the sections of the branch through an entry.
    fn build(&mut self, at: EntryIndex) {
        let Some(tree) = self.tree.clone() else { return };
        let branch = tree.branch(at);
        let edits = edits_in_force(&tree, branch.last().copied());
        if edits != self.edits {
            (self.texts, self.claims, self.edits) = (HashMap::new(), HashMap::new(), edits);
        }
        self.sections = sections::of_branch(&tree, &branch, (at, self.opened), &|first| self.is_open_run(first));
        self.section_of = vec![u32::MAX; tree.nodes.len()];
        for (place, section) in self.sections.iter().enumerate() {
            section.each_entry(&tree, &mut |at| self.section_of[at as usize] = place as u32);
        }
    }

    /// Returns the entry at or above the top, and the row if the entry is at the top itself.
    fn anchor(&self) -> Option<(EntryIndex, usize)> {
        let above = self.sections.get(..=self.top.0)?.iter().enumerate().rev();
        let mut entries = above.filter(|(_, section)| !matches!(section, Section::Branch(_)));
        let (place, section) = entries.next()?;
        Some((section.entry()?, if place == self.top.0 { self.top.1 } else { 0 }))
    }

    /// Notes the position before a search.
    pub(crate) fn begin_search(&mut self) {
        self.from = Some((self.subject, self.anchor()));
    }

    /// Returns to the position before a search.
    pub(crate) fn cancel_search(&mut self) {
        let Some((subject, anchor)) = self.from.take() else { return };
        (self.subject, self.goal) = (subject, None);
        self.return_to_anchor(anchor);
        self.current = self.top.0;
    }

    fn return_to_anchor(&mut self, anchor: Option<(EntryIndex, usize)>) {
        let goal = self.goal.take();
        self.top = anchor.and_then(|(at, row)| Some((self.section_with(at)?, row))).unwrap_or_default();
        self.goal = goal.map(|_| (self.current, 0));
    }

    /// Returns `true` if an entry is on the branch.
    pub(crate) fn has(&self, at: EntryIndex) -> bool {
        self.section_with(at).is_some()
    }

    /// Returns `true` if a run of tool calls is unfolded.
    pub(crate) fn is_open_run(&self, first: EntryIndex) -> bool {
        self.open_runs.contains(&first) != self.opens_all
    }

    /// Returns the section with an entry: its own, or that of its run.
    fn section_with(&self, at: EntryIndex) -> Option<usize> {
        self.section_of.get(at as usize).map(|&section| section as usize).filter(|&at| at < self.sections.len())
    }

    /// Shows a single text and keeps the scroll position, so that a growing text does not jump.
    pub fn show(&mut self, lines: Vec<DocLine>) {
        (self.waiting, self.tree, self.sections) = (None, None, vec![Section::Text]);
        self.section_of.clear();
        self.reading = None;
        if self.texts.get(&Section::Text).is_none_or(|text| *text.whole.lines != lines) {
            let text = SectionText::new(lines.into(), Vec::new(), &|_| false, ("", ""), false);
            self.texts = HashMap::from([(Section::Text, text)]);
        }
    }

    /// Returns the sections near the visible ones whose texts are missing.
    pub(crate) fn missing(&mut self) -> Vec<usize> {
        let (at, len) = (self.top.0, self.sections.len());
        let mut near = at.saturating_sub(NEAR)..(at + NEAR).min(len);
        let mut rows = 0;
        let mut last = at;
        // Short sections fill a screen by the hundred.
        while last < len && rows < 2 * self.height {
            rows += self.texts.get(&self.sections[last]).map_or(1, |text| text.wrapped.len().max(1));
            last += 1;
        }
        near.end = near.end.max((last + NEAR).min(len));
        let shown: HashSet<Section> = self.sections[near.clone()].iter().copied().collect();
        self.claims.retain(|&at, _| shown.contains(&Section::Entry(at)));
        let bytes: usize = self.texts.values().map(|text| text.bytes).sum();
        if self.texts.len() > KEPT.max(2 * near.len()) || bytes > KEPT_BYTES {
            self.texts.retain(|section, _| shown.contains(section));
        }
        // The visible ones come first.
        let order = (at..near.end).chain((near.start..at).rev());
        order.filter(|&at| !self.texts.contains_key(&self.sections[at])).collect()
    }

    /// Returns the section of an entry with a text of its own.
    pub(crate) fn section_of(&self, at: EntryIndex) -> Option<usize> {
        self.section_with(at).filter(|&place| self.sections[place] == Section::Entry(at))
    }

    /// Takes the text of a section. `before` is shown above it.
    pub(crate) fn take(&mut self, place: usize, mut text: FoldedLines, before: Vec<DocLine>, glyphs: &Glyphs) {
        let (Some(&section), Some(tree)) = (self.sections.get(place), self.tree.clone()) else { return };
        let is_tight = |section: Option<&Section>| section.is_some_and(|section| section.is_tight(&tree));
        let next = self.sections.get(place + 1);
        if next.is_some() && !(is_tight(Some(&section)) && is_tight(next)) {
            text.lines.push(DocLine::default());
        }
        let folds = text.folds.clone();
        let is_open = |fold: usize| {
            let Section::Entry(at) = section else { return false };
            let is_chosen = self.opened == Some(at) || self.lone_calls.contains(&at);
            (folds[fold].is_open || self.opens_all || is_chosen) != self.toggled.contains(&(at, fold))
        };
        let text = SectionText::new(text, before, &is_open, (&glyphs.closed, &glyphs.open), self.has_graphics);
        self.texts.insert(section, text);
        if place == self.top.0 {
            (self.waiting, self.held) = (None, Vec::new());
        }
    }

    /// Returns the lines that are read and not folded, from the top of the branch on.
    pub fn lines(&self) -> Vec<&DocLine> {
        let texts = self.sections.iter().filter_map(|section| self.texts.get(section));
        texts.flat_map(|text| text.lines.iter()).collect()
    }

    /// Returns the entry of the current section.
    pub fn current_entry(&self) -> Option<EntryIndex> {
        self.sections.get(self.current)?.entry()
    }

    /// Returns the prompt of the current turn, unless its facts are known.
    pub(crate) fn unknown_turn(&self) -> Option<EntryIndex> {
        let tree = self.tree.as_ref()?;
        let above = self.sections.get(..=self.current)?.iter().rev();
        let prompt = above.copied().find(|section| section.is_prompt(tree))?.entry()?;
        (self.turn.as_ref().map(|turn| turn.prompt) != Some(prompt)).then_some(prompt)
    }

    /// Takes the facts about the current turn.
    pub(crate) fn take_turn(&mut self, prompt: EntryIndex, facts: String) {
        let Some(tree) = self.tree.as_ref() else { return };
        let is_prompt = |section: &&Section| section.is_prompt(tree);
        let number = self.sections[..=self.current].iter().filter(is_prompt).count();
        let all = self.sections.iter().filter(is_prompt).count();
        self.turn = Some(Turn { prompt, title: format!("turn {number} of {all}"), facts });
    }

    /// Returns the time at which the pane starts to show that it is reading.
    pub(crate) fn changes_at(&self, now: i64) -> Option<i64> {
        self.waiting.map(|since| since + READING_DELAY).filter(|&at| now < at)
    }

    /// Returns `true` if the text is still missing after `READING_DELAY`.
    pub fn is_late(&self, now: i64) -> bool {
        self.waiting.is_some() && self.changes_at(now).is_none()
    }

    /// Returns the first visible section or row, the number of them, and `true` if all are counted.
    pub fn seen(&self) -> (usize, usize, bool) {
        match self.texts.get(&Section::Text) {
            Some(text) => (self.top.1, text.wrapped.len(), text.wrapped.complete(&text.lines)),
            None => (self.top.0, self.sections.len(), true),
        }
    }

    /// Returns the index of the section after the last visible one.
    pub fn seen_to(&self) -> usize {
        self.visible().last().map_or(0, |(section, _)| section + 1)
    }

    /// Returns the positions of the visible rows.
    fn visible(&self) -> impl Iterator<Item = Position> {
        let rows = (self.top.0..self.sections.len()).flat_map(|section| {
            let len = self.texts.get(&self.sections[section]).map_or(1, |text| text.wrapped.len());
            let first = if section == self.top.0 { self.top.1 } else { 0 };
            (first..len).map(move |row| (section, row))
        });
        rows.take(self.height)
    }

    /// Returns the visible rows. The words are highlighted.
    pub fn rows(&self, words: Option<&Words>, now: i64) -> Vec<Vec<Span>> {
        if self.changes_at(now).is_some() { self.held.clone() } else { self.text_rows(words) }
    }

    fn text_rows(&self, words: Option<&Words>) -> Vec<Vec<Span>> {
        self.visible().map(|position| self.row(position, words).unwrap_or_default()).collect()
    }

    /// Returns the images that are visible as a whole, with the visible row of the line above each.
    pub fn images(&self, now: i64) -> Vec<(usize, &ImageBox)> {
        let visible = self.visible().enumerate().filter(|_| self.changes_at(now).is_none());
        let images = visible.filter_map(|(at, (section, row))| {
            let text = self.texts.get(&self.sections[section]).filter(|text| !text.images.is_empty())?;
            let (line, _) = text.wrapped.place(&text.lines, row)?;
            Some((at, text.images.get(&line).filter(|image| image.rows > 0)?))
        });
        images.filter(|(at, image)| at + usize::from(image.rows) < self.height).collect()
    }

    fn row(&self, (section, row): Position, words: Option<&Words>) -> Option<Vec<Span>> {
        let text = self.texts.get(&self.sections[section])?;
        let shown = text.wrapped.shown(&text.lines, row)?;
        let (line, start, lead) = (shown.line, shown.byte, shown.lead);
        let spans: Vec<Span> = shown.pieces.into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
        let Some(words) = words else { return Some(spans) };
        let end = start + spans.iter().map(|span| span.text.len()).sum::<usize>();
        let marks = marks(&text.lines[line], words);
        let marks = marks.into_iter().filter(|hit| hit.end > start && hit.start < end);
        let marks: Vec<_> = marks.map(|hit| hit.start.saturating_sub(start) + lead..hit.end - start + lead).collect();
        Some(highlight(&spans, &marks))
    }
}

/// Returns `true` if an entry looks the same in a tree that has grown: with the same related entries and label.
fn is_shown_alike(before: &Tree, now: &Tree, at: EntryIndex) -> bool {
    before.labels.get(&at) == now.labels.get(&at) && related(before, at) == related(now, at)
}
