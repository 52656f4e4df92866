//! Hits of the search in the open session, in the text of the reader.

use std::sync::Arc;

use crate::app::panes::reader::ReaderPane;
use crate::app::panes::reader::sections::{Section, Target, marks};
use crate::base::text::{Glyphs, spans_text, width};
use crate::render::Fold;
use crate::search::text_match::Words;
use crate::session::tree::{EntryIndex, Tree};

/// Context rows shown above a hit after a jump.
const ABOVE: usize = 3;

impl ReaderPane {
    /// Moves to the next or previous line with the words in the current section, and unfolds parts that have them.
    /// Returns `true` if there is one.
    pub(crate) fn next_hit(&mut self, words: &Words, forward: bool, glyphs: &Glyphs) -> bool {
        let current = self.sections.get(self.current).copied();
        let from = match self.hit {
            Some((section, line)) if current == Some(section) => Some(line),
            _ if self.top.0 != self.current => None,
            // After scrolling, the visible lines come first.
            _ => self.place().and_then(|(line, _)| line.checked_sub(usize::from(forward))),
        };
        self.hit_from(words, from, forward) || forward && self.unfold_hit(words, glyphs)
    }

    /// Goes to an entry that has hits, and to its first or last one once it is read.
    pub(crate) fn go_to_hit(&mut self, tree: &Arc<Tree>, at: EntryIndex, forward: bool, now: i64) {
        let run = self.section_with(at).and_then(|section| match self.sections[section] {
            Section::Run { first, .. } => Some(first),
            _ => None,
        });
        // Its own section is not shown, so that the run is folded.
        if let Some(first) = run {
            self.toggle_run(first);
        }
        self.show_branch(tree, at, true, now);
        self.seeks = Some(forward);
    }

    /// Goes to the first or last hit in the current section, if that was asked for and its text is read.
    pub(crate) fn seek(&mut self, words: &Words, glyphs: &Glyphs) {
        let is_read = self.is_read(self.current);
        if let Some(forward) = self.seeks.take_if(|_| is_read)
            && !self.hit_from(words, None, forward)
        {
            self.unfold_hit(words, glyphs);
        }
    }

    /// Unfolds the parts of the current section that hide the words, and goes to the first hit.
    fn unfold_hit(&mut self, words: &Words, glyphs: &Glyphs) -> bool {
        while let Some((title, fold)) = self.hiding_fold(words) {
            self.toggle(fold, glyphs);
            if self.hit_from(words, Some(title), true) {
                return true;
            }
        }
        false
    }

    /// Goes to the first or last line with the words in the current section, after or before a line.
    fn hit_from(&mut self, words: &Words, from: Option<usize>, forward: bool) -> bool {
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
        (self.top, self.goal, self.hit) = ((self.current, row), None, Some((section, line)));
        self.up(ABOVE.min(row));
        true
    }

    /// Returns the first fold of the current section that hides the words, with the line of its title.
    fn hiding_fold(&self, words: &Words) -> Option<(usize, Target)> {
        let section = self.sections.get(self.current)?;
        let (Section::Entry(at), text) = (section, self.texts.get(section)?) else { return None };
        let hides = |fold: &usize| {
            let Fold { title, end, .. } = text.whole.folds[*fold];
            text.closed.contains(fold)
                && text.whole.lines[title + 1..end].iter().any(|line| !marks(line, words).is_empty())
        };
        let (line, fold) = text.titles.iter().filter(|(_, fold)| hides(fold)).min()?;
        Some((*line, Target::Fold(*at, *fold)))
    }
}
