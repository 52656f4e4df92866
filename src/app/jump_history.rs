//! Positions before and after jumps.

use std::collections::VecDeque;

use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Place;

/// Maximum number of positions.
const MOST: usize = 100;

/// A position in the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JumpPosition {
    /// The focused pane.
    pub focus: Place,
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
        if self.back.len() > MOST {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_back_and_forward_again() {
        let position = |at| JumpPosition {
            focus: if at == 0 { Place::Sessions } else { Place::Tree },
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
        assert_eq!(jumps.back.len(), MOST);
    }
}
