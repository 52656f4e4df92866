//! Hits of the search in the open session, in the text of the reader.

use std::sync::Arc;

use crate::app::panes::reader::ReaderPane;
use crate::app::panes::reader::sections::{Section, Target, marks};
use crate::base::text::{spans_text, width};
use crate::render::Fold;
use crate::search::text_match::Words;
use crate::session::tree::{EntryIndex, Tree};

/// Context rows shown above a hit after a jump.
const ABOVE: usize = 3;

impl ReaderPane {
    /// Moves to the next or previous line with the words in the current section. Returns `true` if there is one.
    pub(crate) fn next_hit(&mut self, words: &Words, forward: bool) -> bool {
        let here = if self.top.0 == self.current { self.place_below_top() } else { None };
        self.hit_from(words, here, forward)
    }

    /// Returns the line at which the next hit is searched: that below the context rows.
    fn place_below_top(&self) -> Option<usize> {
        let text = self.texts.get(self.sections.get(self.top.0)?)?;
        text.wrapped.place(&text.lines, self.top.1 + ABOVE).map(|(line, _)| line)
    }

    /// Goes to an entry that has hits, and to its first or last one once it is read.
    pub(crate) fn go_to_hit(&mut self, tree: &Arc<Tree>, at: EntryIndex, forward: bool, now: i64) {
        let run = self.section_with(at).and_then(|section| match self.sections[section] {
            Section::Run { first, .. } => Some(first),
            _ => None,
        });
        if let Some(first) = run {
            self.open_runs.insert(first);
            self.rebuild_runs(at);
        }
        self.show_branch(tree, at, true, now);
        self.seeks = Some(forward);
    }

    /// Returns the direction of a search in the current section that waited for its text.
    pub(crate) fn seeks(&mut self) -> Option<bool> {
        let is_read = self.sections.get(self.current).is_some_and(|at| self.texts.contains_key(at));
        self.seeks.take_if(|_| is_read)
    }

    /// Goes to the first or last line with the words in the current section, and unfolds it.
    pub(crate) fn hit_from(&mut self, words: &Words, from: Option<usize>, forward: bool) -> bool {
        let Some(&section) = self.sections.get(self.current) else { return false };
        self.len(self.current, usize::MAX);
        let Some(text) = self.texts.get_mut(&section) else { return false };
        let is_hit = |line: &usize| !marks(&text.lines[*line], words).is_empty();
        let found = match (forward, from) {
            (true, from) => (from.map_or(0, |from| from + 1)..text.lines.len()).find(is_hit),
            (false, from) => (0..from.unwrap_or(text.lines.len()).min(text.lines.len())).rev().find(is_hit),
        };
        let Some(line) = found else { return false };
        let hit = marks(&text.lines[line], words).swap_remove(0);
        let row = text.wrapped.row_at(&text.lines, line, hit.start).unwrap_or_default();
        if self.style.is_scrolled {
            let shown = spans_text(&text.lines[line].spans);
            let (before, columns) = (width(&shown[..hit.start]), width(&shown[hit]));
            if !(self.style.left..self.style.left + self.width).contains(&(before + columns)) {
                self.style.left = if before + columns <= self.width { 0 } else { before - self.width / 2 };
            }
        }
        (self.top, self.goal) = ((self.current, row), None);
        self.up(ABOVE.min(row));
        true
    }

    /// Returns the first fold of the current section that hides the words.
    pub(crate) fn hiding_fold(&self, words: &Words) -> Option<Target> {
        let section = self.sections.get(self.current)?;
        let (Section::Entry(at), text) = (section, self.texts.get(section)?) else { return None };
        let hides =
            |fold: &Fold| text.whole.lines[fold.title + 1..fold.end].iter().any(|line| !marks(line, words).is_empty());
        let is_closed = |place: &usize| text.closed.contains(place);
        (0..text.whole.folds.len())
            .filter(is_closed)
            .find(|&at| hides(&text.whole.folds[at]))
            .map(|fold| Target::Fold(*at, fold))
    }
}
