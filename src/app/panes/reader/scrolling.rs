//! Scrolling and wrapping of the reader's text. Cost grows with the visible rows.

use crate::app::panes::reader::{AHEAD, Position, ReaderPane};
use crate::render::wrap::{VerbatimStyle, Wrapped};

impl ReaderPane {
    /// Sets the size, wraps the visible text, and keeps the position in it. A text that ends above the lower edge moves
    /// down.
    pub fn fit(&mut self, width: usize, height: usize) {
        if (self.width, self.height) != (width, height) {
            let place = self.place();
            (self.width, self.height) = (width, height);
            self.return_to(place);
        }
        if let Some(goal) = self.goal {
            self.top = goal;
        }
        if let Some(rows) = self.rows_to_end(height).filter(|&rows| rows < height) {
            self.up(height - rows);
        }
        let len = self.len(self.top.0, self.top.1 + 1);
        self.top.1 = self.top.1.min(len.saturating_sub(1));
        let _ = self.rows_to_end(height + AHEAD);
    }

    /// Returns the top as a line and a byte in its section.
    pub(super) fn place(&self) -> Option<(usize, usize)> {
        let (section, row) = self.top;
        let text = self.texts.get(self.sections.get(section)?)?;
        text.wrapped.place(&text.lines, row)
    }

    pub(super) fn return_to(&mut self, place: Option<(usize, usize)>) {
        let Some((line, byte)) = place else { return };
        self.len(self.top.0, 0);
        let Some(text) = self.sections.get(self.top.0).and_then(|section| self.texts.get_mut(section)) else { return };
        text.wrapped.ensure_place(&text.lines, line, byte);
        self.top.1 = text.wrapped.row_at(&text.lines, line, byte).unwrap_or_default();
    }

    /// Wraps a section until it has some rows, and returns their number; 1 if it is not read.
    pub(super) fn len(&mut self, section: usize, rows: usize) -> usize {
        let Some(text) = self.sections.get(section).and_then(|section| self.texts.get_mut(section)) else { return 1 };
        if text.wrapped.width != self.width.max(1) || text.wrapped.style != self.style {
            text.wrapped = Wrapped::with_style(self.width, self.style.clone());
        }
        text.wrapped.ensure(&text.lines, rows);
        text.wrapped.len()
    }

    /// Returns the number of rows from the top to the end, if that is less than `most` and all of it is read.
    fn rows_to_end(&mut self, most: usize) -> Option<usize> {
        let mut rows = 0;
        for section in self.top.0..self.sections.len() {
            let skipped = if section == self.top.0 { self.top.1 } else { 0 };
            rows += self.len(section, (most + skipped).saturating_sub(rows)).saturating_sub(skipped);
            if rows >= most || !self.is_read(section) {
                return None;
            }
        }
        Some(rows)
    }

    /// Moves the top up, at most to a section that is not read.
    pub(super) fn up(&mut self, mut rows: usize) {
        while rows > self.top.1 {
            if self.top.0 == 0 || !self.is_read(self.top.0) {
                return self.top.1 = 0;
            }
            rows -= self.top.1;
            self.top.0 -= 1;
            self.top.1 = self.len(self.top.0, usize::MAX);
        }
        self.top.1 -= rows;
    }

    /// Moves the top down, at most to a section that is not read: its rows are not skipped.
    fn down(&mut self, rows: usize) {
        let mut wanted = self.top.1.saturating_add(rows);
        while self.top.0 < self.sections.len() {
            let len = self.len(self.top.0, wanted.saturating_add(1));
            if wanted < len || self.top.0 + 1 == self.sections.len() || !self.is_read(self.top.0) {
                self.top.1 = wanted.min(len.saturating_sub(1));
                return;
            }
            wanted -= len;
            self.top = (self.top.0 + 1, 0);
        }
    }

    /// Scrolls by a number of rows. The section at the top becomes the current one.
    pub(crate) fn scroll(&mut self, by: isize, now: i64) {
        (self.target, self.goal, self.hit) = (None, None, None);
        let before = self.top;
        if by == isize::MIN {
            self.top = (0, 0);
        } else if by == isize::MAX {
            let last = self.sections.len().saturating_sub(1);
            self.top = (last, self.len(last, usize::MAX).saturating_sub(1));
        } else if by < 0 {
            self.up(by.unsigned_abs());
        } else {
            self.down(by.unsigned_abs());
        }
        self.current = self.top.0;
        if let Some(rows) = self.rows_to_end(self.height).filter(|_| by > 0) {
            self.up(self.height.saturating_sub(rows));
            // At the end, the last section is read, too.
            self.current = if self.top <= before { self.sections.len().saturating_sub(1) } else { self.top.0 };
        }
        if !self.is_read(self.top.0) {
            // The rows before stay until it is read.
            let top = std::mem::replace(&mut self.top, before);
            self.hold(now);
            self.top = top;
        }
    }

    /// Moves to the next or previous prompt. Returns `true` if there is one.
    pub(crate) fn prompt(&mut self, forward: bool, now: i64) -> bool {
        let Some(tree) = self.tree.clone() else { return false };
        let is_prompt = |at: &usize| self.sections[*at].is_prompt(&tree);
        let found = match forward {
            true => (self.current + 1..self.sections.len()).find(is_prompt),
            false if self.top.1 > 0 && is_prompt(&self.top.0) => Some(self.top.0),
            false => (0..self.current.min(self.sections.len())).rev().find(is_prompt),
        };
        found.into_iter().for_each(|section| self.go_to(section, now));
        found.is_some()
    }

    /// Toggles wrapping of long code lines. Returns `true` if they are now wrapped.
    pub(crate) fn toggle_wrap(&mut self) -> bool {
        let place = self.place();
        let is_scrolled = !self.style.is_scrolled;
        self.style = VerbatimStyle { is_scrolled, left: 0, ..self.style.clone() };
        self.return_to(place);
        !is_scrolled
    }

    /// Scrolls half the width to the side. Returns `true` if the position changed.
    pub(crate) fn scroll_sideways(&mut self, to_right: bool) -> bool {
        let (left, half) = (self.style.left, self.width.div_ceil(2));
        let is_cut = |(section, row): Position| {
            let text = self.texts.get(&self.sections[section]);
            text.and_then(|text| text.wrapped.shown(&text.lines, row)).is_some_and(|shown| shown.is_cut)
        };
        let next = match to_right {
            true if self.visible().any(is_cut) => left + half,
            true => return false,
            false => left.saturating_sub(half),
        };
        self.style.left = next;
        next != left
    }
}
