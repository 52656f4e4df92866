//! Histories: the positions before and after jumps, the search queries, and the texts of closed input lines.

use std::collections::VecDeque;

use crate::app::layers::screen::PromptPurpose;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::KeyContext;

/// Maximum number of positions.
const MAX_POSITIONS: usize = 100;

/// A position in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpPosition {
    /// The focused pane.
    pub focus: KeyContext,
    /// The selected session.
    pub session: Option<SessionKey>,
    /// Its selected entry.
    pub entry: Option<EntryRef>,
}

/// Positions to which the user can go back or forward.
#[derive(Debug, Default)]
pub struct JumpHistory {
    back: VecDeque<JumpPosition>,
    forward: Vec<JumpPosition>,
}

impl JumpHistory {
    /// Records the position before a jump.
    pub fn leave(&mut self, here: JumpPosition) {
        self.forward.clear();
        self.push(here);
    }

    fn push(&mut self, here: JumpPosition) {
        if self.back.back() != Some(&here) {
            self.back.push_back(here);
        }
        if self.back.len() > MAX_POSITIONS {
            self.back.pop_front();
        }
    }

    /// Returns the previous or next position.
    pub fn next(&mut self, here: JumpPosition, forward: bool) -> Option<JumpPosition> {
        let mut take = || if forward { self.forward.pop() } else { self.back.pop_back() };
        // Skip a position that the user has already reached without a jump.
        let to = std::iter::from_fn(&mut take).find(|to| *to != here)?;
        match forward {
            true => self.push(here),
            false => self.forward.push(here),
        }
        Some(to)
    }
}

/// Queries, most recent last.
#[derive(Debug, Default)]
pub struct QueryHistory {
    /// All queries, most recent last.
    pub all: Vec<String>,
    /// Index of the query in the input line, and the unfinished input.
    shown: Option<(usize, String)>,
}

impl QueryHistory {
    /// Creates a history from earlier queries, most recent last.
    pub fn new(all: &[String]) -> Self {
        let mut queries = Self::default();
        all.iter().for_each(|query| queries.note(query));
        queries
    }

    /// Adds a query; a repeated one moves to the end.
    pub fn note(&mut self, query: &str) {
        self.shown = None;
        let query = query.trim();
        if query.is_empty() {
            return;
        }
        self.all.retain(|other| other != query);
        self.all.push(query.into());
        let over = self.all.len().saturating_sub(MAX_POSITIONS);
        self.all.drain(..over);
    }

    /// Returns the query before or after the one in the input line; after the last one, the unfinished input.
    pub fn next(&mut self, line: &str, forward: bool) -> Option<String> {
        let (at, typed) = self.shown.take().unwrap_or_else(|| (self.all.len(), line.into()));
        let is_same = |at: &usize| self.all.get(*at).is_some_and(|query| query == line.trim());
        let to = match forward {
            true => (at + 1..=self.all.len()).find(|at| !is_same(at)),
            false => (0..at).rev().find(|at| !is_same(at)),
        };
        let text = to.map(|to| self.all.get(to).unwrap_or(&typed).clone());
        self.shown = Some((to.unwrap_or(at), typed));
        text
    }
}

/// The texts of closed input lines, kept for the next time.
#[derive(Debug, Default)]
pub(crate) struct KeptTexts {
    /// The query of the search line.
    pub(crate) query: String,
    /// The words of the find line.
    pub(crate) find: String,
    /// The text of the last line that was closed without accepting it, and its purpose.
    pub(crate) prompt: Option<(PromptPurpose, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_back_and_forward_again() {
        let position = |at| JumpPosition {
            focus: if at == 0 { KeyContext::Sessions } else { KeyContext::Tree },
            session: None,
            entry: None,
        };
        let (list, tree) = (position(0), position(1));
        let mut jumps = JumpHistory::default();
        assert_eq!(jumps.next(list, false), None);
        jumps.leave(list);
        jumps.leave(list);
        assert_eq!(jumps.next(tree, false), Some(list));
        assert_eq!(jumps.next(list, false), None);
        assert_eq!(jumps.next(list, true), Some(tree));
        assert_eq!(jumps.next(tree, true), None);
        assert_eq!(jumps.next(list, false), None, "already at this position");
        (0..300).for_each(|at| jumps.leave(position(at % 2)));
        assert_eq!(jumps.back.len(), MAX_POSITIONS);
    }

    #[test]
    fn recalls_earlier_queries() {
        let mut queries = QueryHistory::new(&["jwt", "redis", "jwt", " "].map(String::from));
        assert_eq!(queries.all, ["redis", "jwt"]);
        let mut next = |line: &str, forward| queries.next(line, forward).unwrap_or_else(|| "none".into());
        assert_eq!(next("coo", false), "jwt");
        assert_eq!(next("jwt", false), "redis");
        assert_eq!(next("redis", false), "none");
        assert_eq!(next("redis", true), "jwt");
        assert_eq!(next("jwt", true), "coo", "the unfinished input is kept");
        assert_eq!(next("coo", true), "none");
        (0..300).for_each(|at| queries.note(&at.to_string()));
        assert_eq!((queries.all.len(), queries.all[0].as_str()), (MAX_POSITIONS, "200"));
        assert_eq!(queries.next("299", false).as_deref(), Some("298"), "the query in the line is skipped");
    }
}
