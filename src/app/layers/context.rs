//! Model context of an entry, over the whole screen: the share of each kind of content, and the list of messages.
//! Omitted messages have a reason.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::app::layers::screen::{LayerResult, List, Screen};
use crate::app::ticket::Claim;
use crate::app::widgets::{Cursor, TerminalSize};
use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{count, dollars, thousands};
use crate::base::sort;
use crate::base::text::clean;
use crate::catalog::context_edits::{EditPlan, PlannedEdit, WantedEdit};
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::Action;
use crate::session::entry::kind::EntryKind;
use crate::session::prompt::listing::{ContextShare, Listing, ListingRow};
use crate::session::tree::{EntryIndex, Tree};

/// Rows above the list: title, facts, bar, legend, headings; on a tall terminal also a line that explains the sum.
const ABOVE: (u16, u16) = (5, 6);

/// The number of edits that the question lists, and the length of their words in UTF-16 code units.
const LISTED: usize = 6;
const LISTED_WORDS: usize = 50;

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
    /// The marked messages.
    pub marked: BTreeSet<EntryIndex>,
    /// The wanted edits, in order, also those that are still being planned.
    pub(crate) wanted: Vec<WantedEdit>,
    /// `true` while suggestions are read.
    pub(crate) suggests: bool,
    /// The planned edits.
    pub planned: Option<PlannedEdits>,
    /// The message whose text is in the editor.
    pub(crate) replaced: Option<EntryIndex>,
    /// The pending plan.
    pub(crate) edit_claim: Option<Claim>,
}

/// Edits of a model context to plan.
#[derive(Clone, Debug)]
pub struct EditRequest {
    /// The session file.
    pub path: PathBuf,
    /// Its tree.
    pub tree: Arc<Tree>,
    /// The entry with the context.
    pub at: EntryIndex,
    /// The wanted edits, in order.
    pub wanted: Vec<WantedEdit>,
    /// `true` to add suggestions.
    pub suggests: bool,
}

/// Planned edits of the context.
#[derive(Clone, Debug)]
pub struct PlannedEdits {
    /// The wanted edits, with suggestions.
    pub wanted: Vec<WantedEdit>,
    /// The plan.
    pub plan: EditPlan,
    /// The US dollars that the edits add to the next request, and those that they save with each later one; `None` if the
    /// price is unknown. In the next request, nothing from the first edit on is cached.
    pub dollars: Option<[f64; 2]>,
    /// The reason why pi may ignore the edits.
    pub problem: Option<String>,
}

impl PlannedEdits {
    /// Returns the edit of a message.
    pub fn edit(&self, at: EntryIndex) -> Option<&PlannedEdit> {
        self.plan.edits.iter().find(|edit| edit.at == at)
    }

    /// Describes the effect on one line.
    pub fn summary(&self) -> String {
        let [before, after] = self.plan.tokens.map(|tokens| thousands(tokens as usize));
        let edits = count(self.plan.edits.len(), "edit saves", "edits save");
        let dollars = self.dollars.map_or(String::new(), |[first, later]| {
            format!("; next request +{}, each later one -{}", dollars(first.max(0.0)), dollars(later))
        });
        let saved = thousands(self.plan.saved() as usize);
        format!("{edits} {saved} tokens: {before} now, ~{after} then{dollars}")
    }

    /// Describes the edits for the question.
    pub(crate) fn facts(&self, tree: &Tree) -> Vec<String> {
        let listed = self.plan.edits.iter().take(LISTED).map(|edit| {
            let words = clean(utf16_prefix(tree.nodes[edit.at as usize].words(), LISTED_WORDS)).into_owned();
            format!("{:8} {words}", edit.kind.name())
        });
        let more = self.plan.edits.len().saturating_sub(LISTED);
        let problem = self.problem.iter().map(|problem| format!("{problem}: it may ignore the edits."));
        let facts = std::iter::once(self.summary()).chain(listed);
        facts.chain((more > 0).then(|| format!("and {more} more"))).chain(problem).collect()
    }
}

impl ContextView {
    /// Creates a view whose context is being read.
    pub fn new(target: ContextTarget, title: String) -> Self {
        Self {
            target,
            title,
            listing: None,
            cursor: Cursor::default(),
            sum: String::new(),
            by_size: false,
            rows: Vec::new(),
            first: 0,
            claim: None,
            marked: BTreeSet::new(),
            wanted: Vec::new(),
            suggests: false,
            planned: None,
            replaced: None,
            edit_claim: None,
        }
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

    /// Takes planned edits.
    pub(crate) fn on_planned(&mut self, planned: PlannedEdits) {
        self.wanted.clone_from(&planned.wanted);
        self.suggests = false;
        self.planned = Some(planned).filter(|planned| !planned.plan.edits.is_empty());
        self.marked.clear();
        self.edit_claim = None;
    }

    /// Goes back to the last plan, because a wanted edit is not possible.
    pub(crate) fn on_refused(&mut self) {
        self.wanted = self.planned.as_ref().map_or_else(Vec::new, |planned| planned.wanted.clone());
        self.suggests = false;
        self.edit_claim = None;
    }

    /// Returns the messages to edit: the marked ones, or the selected one.
    pub(crate) fn targets(&self) -> Vec<EntryIndex> {
        match self.marked.is_empty() {
            true => self.selected_entry().into_iter().collect(),
            false => self.marked.iter().copied().collect(),
        }
    }

    /// Marks messages, or unmarks them if all are marked.
    fn mark(&mut self, messages: Vec<EntryIndex>) {
        let all = messages.iter().all(|at| self.marked.contains(at));
        for at in messages {
            if all {
                self.marked.remove(&at);
            } else {
                self.marked.insert(at);
            }
        }
    }

    /// Marks the selected message, goes to the next or previous row, and marks that too.
    fn mark_range(&mut self, by: isize) {
        self.marked.extend(self.selected_entry());
        self.cursor.go(by, self.rows.len());
        self.marked.extend(self.selected_entry());
    }

    /// Returns the sent messages of the turn of the selected one.
    fn turn(&self) -> Vec<EntryIndex> {
        let tree = &self.target.tree;
        let is_prompt = |row: &ListingRow| tree.is_prompt(row.at);
        let rows = &self.rows;
        let start = rows[..(self.cursor.at + 1).min(rows.len())].iter().rposition(is_prompt).unwrap_or_default();
        let len = rows.iter().skip(start + 1).take_while(|row| !is_prompt(row)).count() + 1;
        rows.iter().skip(start).take(len).filter(|row| row.why.is_none()).map(|row| row.at).collect()
    }

    /// Returns the results of the tool of the selected one.
    fn of_tool(&self) -> Vec<EntryIndex> {
        let tool = |row: &ListingRow| {
            let node = &self.target.tree.nodes[row.at as usize];
            node.called.as_ref().filter(|_| node.kind == EntryKind::ToolResult).map(|called| called.name.clone())
        };
        let Some(name) = self.rows.get(self.cursor.at).and_then(tool) else { return Vec::new() };
        self.rows
            .iter()
            .filter(|row| row.why.is_none() && tool(row).as_ref() == Some(&name))
            .map(|row| row.at)
            .collect()
    }

    /// Returns the index of the entry of the selected row.
    fn selected_entry(&self) -> Option<EntryIndex> {
        self.rows.get(self.cursor.at).map(|row| row.at)
    }

    /// Returns the entry of the selected row.
    pub(crate) fn selected(&self) -> Option<EntryRef> {
        Some(EntryRef { session: self.target.session, at: self.selected_entry()? })
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
            Action::Mark => {
                self.mark(self.selected_entry().into_iter().collect());
                self.cursor.go(1, self.rows.len());
            }
            Action::MarkUp => self.mark_range(-1),
            Action::MarkDown => self.mark_range(1),
            Action::MarkTurn => self.mark(self.turn()),
            Action::MarkTool => self.mark(self.of_tool()),
            Action::Back if !self.marked.is_empty() => self.marked.clear(),
            Action::Back | Action::Context if self.planned.is_some() => return LayerResult::Act(Action::Back),
            Action::Back | Action::Context => return LayerResult::Close,
            action => return LayerResult::Act(action),
        }
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        use Action as A;
        &[
            A::Help,
            A::Confirm,
            A::Mark,
            A::OmitMessage,
            A::ShortenMessage,
            A::SuggestEdits,
            A::RestoreMessage,
            A::MenuSelection,
            A::Back,
            A::Quit,
        ]
    }

    fn word(&self, action: Action) -> Option<&'static str> {
        match action {
            Action::Confirm if self.planned.is_some() => Some("write edits"),
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
