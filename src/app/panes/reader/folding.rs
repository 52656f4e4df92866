//! The rows of the reader on which `Enter` acts: parts and runs that fold, and other branches.

use std::collections::HashSet;

use crate::app::panes::reader::sections::{self, Section, Target};
use crate::app::panes::reader::{NEAR, Position, ReaderPane};
use crate::base::text::Glyphs;
use crate::session::tree::EntryIndex;

impl ReaderPane {
    /// Returns the row on which `Enter` acts, and what it does: the chosen one, or the first visible one.
    pub fn target(&self) -> Option<(usize, Position, Target)> {
        let visible = self.visible().enumerate().filter_map(|(row, at)| Some((row, at, self.target_at(at)?)));
        let mut first = None;
        for found in visible {
            if Some(found.1) == self.target {
                return Some(found);
            }
            if found.1.0 >= self.current || self.goal.is_none() {
                first = first.or(Some(found));
            }
        }
        first
    }

    /// Returns what `Enter` does in a row.
    fn target_at(&self, (section, row): Position) -> Option<Target> {
        let item = self.sections.get(section)?;
        let text = self.texts.get(item)?;
        let (line, byte) = text.wrapped.place(&text.lines, row)?;
        if byte > 0 {
            return None;
        }
        match item {
            Section::Text => None,
            Section::Entry(at) if text.images.contains_key(&line) => Some(Target::Images(*at)),
            Section::Entry(at) => text.titles.get(&line).map(|&fold| Target::Fold(*at, fold)),
            Section::Run { first, .. } => (line == 0).then_some(Target::Run(*first)),
            Section::Branch(at) => (line == 0).then_some(Target::Branch(*at)),
        }
    }

    /// Returns what a click on a visible row does, and chooses the row.
    pub(crate) fn click(&mut self, row: usize) -> Option<Target> {
        let at = self.visible().nth(row)?;
        let target = self.target_at(at)?;
        self.target = Some(at);
        Some(target)
    }

    /// Chooses the next or previous row on which `Enter` acts. Returns `false` if there is none nearby.
    pub(crate) fn next_target(&mut self, forward: bool) -> bool {
        let here = self.target().map(|(_, at, _)| at).unwrap_or(self.top);
        let near = here.0.saturating_sub(NEAR)..(here.0 + NEAR).min(self.sections.len());
        for section in near.clone() {
            self.len(section, usize::MAX);
        }
        let all = near.flat_map(|section| {
            let len = self.texts.get(&self.sections[section]).map_or(0, |text| text.wrapped.len());
            (0..len).map(move |row| (section, row))
        });
        let is_target = |at: &Position| self.target_at(*at).is_some();
        let found = match forward {
            true => all.filter(|at| *at > here).find(is_target),
            false => all.rev().filter(|at| *at < here).find(is_target),
        };
        let Some(found) = found else { return false };
        if !self.visible().any(|at| at == found) {
            (self.top, self.goal) = (found, None);
            self.up(self.height / 3);
            self.current = found.0;
        }
        self.target = Some(found);
        true
    }

    /// Folds or unfolds a part.
    pub(crate) fn toggle(&mut self, target: Target, glyphs: &Glyphs) {
        self.hit = None;
        match target {
            Target::Fold(at, fold) => {
                if !self.toggled.remove(&(at, fold)) {
                    self.toggled.insert((at, fold));
                }
                let text = self.texts.get(&Section::Entry(at));
                let text = text.map(|text| ((*text.whole).clone(), text.before.clone()));
                if let (Some((mut text, before)), Some(place)) = (text, self.section_of(at)) {
                    text.lines.pop_if(|line| line.spans.is_empty());
                    self.take(place, text, before, glyphs);
                }
            }
            Target::Run(first) => {
                let is_it = |run: &&Section| matches!(run, Section::Run { first: other, .. } if *other == first);
                if let (Some(run), Some(tree)) = (self.sections.iter().find(is_it), &self.tree) {
                    let mut calls = Vec::new();
                    run.each_entry(tree, &mut |at| calls.extend(sections::is_result(tree, at).then_some(at)));
                    self.lone_calls.extend(calls.pop().filter(|_| calls.is_empty()));
                }
                self.toggle_run(first);
            }
            Target::Branch(_) | Target::Images(_) => {}
        }
    }

    /// Folds or unfolds a run.
    pub(super) fn toggle_run(&mut self, first: EntryIndex) {
        if !self.open_runs.remove(&first) {
            self.open_runs.insert(first);
        }
        self.rebuild_runs(first);
    }

    pub(super) fn rebuild_runs(&mut self, at: EntryIndex) {
        let (current, top) = (self.current_entry(), self.anchor());
        self.texts.retain(|section, _| matches!(section, Section::Entry(_)));
        self.build(at);
        self.current = current.and_then(|at| self.section_with(at)).unwrap_or_default();
        self.return_to_anchor(top);
    }

    /// Folds all thinking and tool calls, or unfolds them.
    pub(crate) fn fold_all(&mut self, fold: bool) {
        self.opens_all = !fold;
        (self.toggled, self.open_runs) = (HashSet::new(), HashSet::new());
        if let Some(at) = self.current_entry() {
            self.rebuild_runs(at);
        }
        self.texts.retain(|section, _| *section == Section::Text);
    }
}
