//! Rows that summarize several entries: a run of tool calls, and the entries that a fork inherited. They are added to
//! the rows that pi would draw.

use crate::app::panes::tree::activity::ToolRun;
use crate::app::panes::tree::rows::{RowIndex, RowItem, TreeRow, TreeRows, count_children};
use crate::session::tree::{Index, Tree};

/// The fewest tool calls that are collapsed.
const SHORTEST: usize = 2;

impl TreeRows {
    /// Adds a row for the inherited entries, which end at `last`. The entries themselves are hidden unless it is `open`
    /// or no other rows exist.
    pub(super) fn push_inherited_row(&mut self, tree: &Tree, last: Index, open: bool) {
        let mut on_path = vec![false; tree.nodes.len()];
        tree.path(last).into_iter().for_each(|at| on_path[at as usize] = true);
        let is_inherited = |row: &TreeRow| matches!(row.item, RowItem::Entry(at) if on_path[at as usize]);
        // The fork's unique entries follow the last inherited row.
        let Some(end) = self.list.iter().rposition(is_inherited) else { return };
        let open = open || self.list.iter().all(is_inherited);
        let old = std::mem::take(&mut self.list);
        self.list.reserve(old.len() + 1);
        let mut moved: Vec<RowIndex> = Vec::with_capacity(old.len());
        let mut head = None;
        for (at, row) in old.iter().enumerate() {
            let is_hidden = !open && is_inherited(row);
            if head.is_none() && (is_hidden || at > end) {
                head = Some(self.list.len());
                let parent = open.then(|| moved[end]);
                self.list.push(TreeRow::new(RowItem::Inherited, parent, !open));
            }
            if is_hidden {
                moved.extend(head);
                continue;
            }
            moved.push(self.list.len());
            let parent = match row.parent {
                Some(parent) if open && parent == end => head,
                parent => parent.map(|parent| moved[parent]),
            };
            self.list.push(TreeRow { parent, is_inherited: is_inherited(row), ..*row });
        }
        if head.is_none() {
            self.list.push(TreeRow::new(RowItem::Inherited, Some(moved[end]), false));
        }
        self.settle(&moved);
    }

    /// Collapses runs of tool calls into one row each. `is_part` selects the entries; `is_open` returns `true` for the
    /// first entry of an expanded run.
    pub(super) fn push_run_rows(
        &mut self,
        tree: &Tree,
        is_part: impl Fn(Index) -> bool,
        is_open: impl Fn(Index) -> bool,
    ) {
        let old = std::mem::take(&mut self.list);
        self.list.reserve(old.len());
        let mut moved: Vec<RowIndex> = Vec::with_capacity(old.len());
        let mut at = 0;
        while at < old.len() {
            let entries = run(&old, at, &is_part);
            let parent = old[at].parent.map(|parent| moved[parent]);
            if entries.len() < SHORTEST {
                moved.push(self.list.len());
                self.list.push(TreeRow { parent, ..old[at] });
                at += 1;
                continue;
            }
            let head = self.list.len();
            self.list.push(TreeRow::new(RowItem::Run(self.runs.len()), parent, false));
            let above = old[at].parent.map(|parent| old[parent].item);
            let above = above.and_then(RowItem::entry);
            let is_open = is_open(entries[0]);
            let run = ToolRun::new(tree, entries, above, is_open);
            for (place, row) in old[at..at + run.entries.len()].iter().enumerate() {
                if run.is_open {
                    moved.push(self.list.len());
                    self.list.push(TreeRow { parent: Some(head + place), in_run: true, ..*row });
                } else {
                    moved.push(head);
                }
            }
            at += run.entries.len();
            self.runs.push(run);
        }
        // Without a run, no row has moved.
        if !self.runs.is_empty() {
            self.settle(&moved);
        }
    }

    /// Adds a note at the top that pi continues before the first message.
    pub(super) fn push_start_row(&mut self) {
        let moved: Vec<RowIndex> = (1..=self.list.len()).collect();
        for row in &mut self.list {
            row.parent = row.parent.map(|parent| parent + 1);
        }
        self.list.insert(0, TreeRow::new(RowItem::Start, None, false));
        self.settle(&moved);
        self.leaf = None;
    }

    /// Updates all row indices after rows have moved.
    fn settle(&mut self, moved: &[RowIndex]) {
        for row in self.row_of.iter_mut().filter(|row| **row != u32::MAX) {
            *row = moved[*row as usize] as u32;
        }
        self.leaf = self.leaf.map(|row| moved[row]);
        count_children(&mut self.list);
    }
}

/// Returns the run that starts at a row: consecutive rows, each the only child of the previous one.
fn run(list: &[TreeRow], first: RowIndex, is_part: impl Fn(Index) -> bool) -> Vec<Index> {
    let mut entries = Vec::new();
    for (at, row) in list.iter().enumerate().skip(first) {
        match row.item {
            RowItem::Entry(entry) if !row.folded && is_part(entry) && (at == first || row.parent == Some(at - 1)) => {
                entries.push(entry);
            }
            _ => break,
        }
        if row.children != 1 {
            break;
        }
    }
    entries
}
