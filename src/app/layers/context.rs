//! Model context of an entry, over the whole screen: the share of each kind of content, and the list of messages.
//! Omitted messages have a reason.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::screen::{LayerResult, List, Screen};
use crate::app::ticket::Claim;
use crate::app::widgets::{Cursor, TerminalSize};
use crate::base::sort;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Action;
use crate::session::prompt::listing::{ContextShare, Listing, ListingRow};
use crate::session::tree::{EntryIndex, Tree};

/// Rows above the list: title, facts, bar, legend, headings; on a tall terminal also a line that explains the sum.
const ABOVE: (u16, u16) = (5, 6);

/// Rows of a terminal from which on the sum is explained.
const TALL: u16 = 16;

/// Returns the number of rows above the list.
pub fn above(rows: u16) -> u16 {
    if rows < TALL { ABOVE.0 } else { ABOVE.1 }
}

/// The entry whose context is shown.
#[derive(Clone, Debug)]
pub struct ContextTarget {
    /// The session.
    pub session: SessionKey,
    /// The session file.
    pub path: PathBuf,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// The selected entry.
    pub chosen: EntryIndex,
    /// The entry after which pi resumes; `None` for an empty conversation.
    pub at: Option<EntryIndex>,
}

/// The model context of an entry.
#[derive(Clone, Debug)]
pub struct ContextView {
    /// The entry.
    pub target: ContextTarget,
    /// The title, cleaned: session and entry.
    pub title: String,
    /// The messages, or the error; `None` while they are read.
    pub listing: Option<Result<Arc<Listing>, String>>,
    /// The selected row.
    pub cursor: Cursor,
    /// A line that explains the sum.
    pub sum: String,
    /// Sort by size instead of by place in the context.
    pub by_size: bool,
    /// The rows in the chosen order.
    pub rows: Vec<ListingRow>,
    /// The initially selected row.
    first: usize,
    /// The pending reading.
    pub(crate) claim: Option<Claim>,
}

impl ContextView {
    /// Creates a view whose context is being read.
    pub fn new(target: ContextTarget, title: String) -> Self {
        let (cursor, sum) = Default::default();
        Self { target, title, listing: None, cursor, sum, by_size: false, rows: Vec::new(), first: 0, claim: None }
    }

    /// Takes the context and the line that explains its sum. Selects the first sent message.
    pub(crate) fn on_listing(&mut self, listing: Result<Arc<Listing>, String>, sum: String) {
        self.listing = Some(listing);
        self.sum = sum;
        self.make_rows();
    }

    /// Lists the rows in order and selects the first sent message.
    fn make_rows(&mut self) {
        self.rows = if let Some(Ok(listing)) = &self.listing { listing.rows.clone() } else { Vec::new() };
        if self.by_size {
            sort::by_key(&mut self.rows, |row| Reverse(row.tokens.filter(|_| row.why.is_none())));
        }
        self.first = self.rows.iter().position(|row| row.why.is_none()).unwrap_or(0);
        // Some omitted rows are visible above.
        self.cursor = Cursor { at: self.first, top: self.first.saturating_sub(3) };
    }

    /// Switches between order by size and original order. Keeps a row selected that the user has selected.
    fn sort(&mut self) {
        let is_moved = self.cursor.at != self.first;
        let selected = self.rows.get(self.cursor.at).filter(|_| is_moved).cloned();
        self.by_size = !self.by_size;
        self.make_rows();
        let is_same_row =
            |row: &ListingRow| selected.as_ref().is_some_and(|it| it.at == row.at && Arc::ptr_eq(&it.text, &row.text));
        if let Some(at) = self.rows.iter().position(is_same_row) {
            self.cursor.at = at;
        }
    }

    /// Returns the entry of the selected row.
    pub(crate) fn selected(&self) -> Option<EntryRef> {
        let row = self.rows.get(self.cursor.at)?;
        Some(EntryRef { session: self.target.session, at: row.at })
    }
}

impl Screen for ContextView {
    fn list(&mut self, (width, rows): TerminalSize) -> Option<List<'_>> {
        let area = Rect { x: 0, y: above(rows), width, height: rows.saturating_sub(above(rows) + 1) };
        Some(List { cursor: &mut self.cursor, len: self.rows.len(), area })
    }

    fn act(&mut self, action: Action, _terminal: TerminalSize) -> LayerResult {
        match action {
            Action::NextSort => self.sort(),
            Action::Back | Action::Context => return LayerResult::Close,
            action => return LayerResult::Act(action),
        }
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[A::Help, A::Confirm, A::ResumeHere, A::Fork, A::NextSort, A::Back, A::Down, A::Up, A::PageDown, A::Quit]
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::Confirm => Some("go to entry"),
            Action::Fork => Some("fork here"),
            _ => None,
        }
    }
}

/// Distributes columns among the shares. Each nonzero share gets at least one column, if there are enough.
pub fn bar(shares: &[u64; ContextShare::ALL.len()], columns: usize) -> [usize; ContextShare::ALL.len()] {
    let all = shares.iter().sum::<u64>();
    let there = shares.iter().filter(|&&share| share > 0).count();
    let mut cells = [0; ContextShare::ALL.len()];
    if there == 0 || columns < there {
        return cells;
    }
    // Each nonzero share gets one column, and the rest is distributed. The largest share gets the rounding remainder.
    let rest = (columns - there) as u128;
    for (cell, &share) in cells.iter_mut().zip(shares).filter(|(_, share)| **share > 0) {
        *cell = 1 + (rest * u128::from(share) / u128::from(all)) as usize;
    }
    let over = columns - cells.iter().sum::<usize>();
    if let Some(largest) = (0..cells.len()).max_by_key(|&at| shares[at]) {
        cells[largest] += over;
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_bar_is_full_and_shows_each_nonzero_share(
            shares in proptest::array::uniform6(proptest::prop_oneof![proptest::strategy::Just(0), 0u64..1_000_000_000]),
            columns in 6usize..300,
        ) {
            let cells = bar(&shares, columns);
            let is_empty = shares.iter().all(|&share| share == 0);
            proptest::prop_assert_eq!(cells.iter().sum::<usize>(), if is_empty { 0 } else { columns });
            for (cell, share) in cells.iter().zip(&shares) {
                proptest::prop_assert_eq!(*cell > 0, *share > 0);
            }
        }
    }
}
