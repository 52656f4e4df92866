//! Row construction of the tree pane: entries that pass the filter, with their level and connectors. Follows pi's
//! `/tree` (0.87.1): only branches are indented, and chains of single children stay flat. Children of a hidden entry
//! attach to its nearest visible ancestor. The branch with the leaf comes first. Summary rows are those of pitree.

use std::collections::HashMap;
use std::ops::Range;

use crate::app::panes::tree::family::ForkedFile;
use crate::app::panes::tree::summaries::ToolRun;
use crate::base::sort;
use crate::base::text::Glyphs;
use crate::config::Filter;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{EntryIndex, Tree};

/// The index of a row.
pub type RowIndex = usize;

/// The content of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RowItem {
    /// An entry.
    Entry(EntryIndex),
    /// A fork, by index.
    Fork(usize),
    /// A run of tool calls, by index.
    Run(usize),
    /// The collapsed entries that a fork inherited.
    Inherited,
    /// A note that pi continues before the first message.
    #[default]
    Start,
}

impl RowItem {
    pub(super) fn entry(self) -> Option<EntryIndex> {
        if let Self::Entry(at) = self { Some(at) } else { None }
    }
}

/// One row of the tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct TreeRow {
    /// The content.
    pub item: RowItem,
    /// The row of the nearest visible ancestor.
    pub parent: Option<RowIndex>,
    /// The nearest ancestor row with a connector; its vertical line is drawn to the left.
    pub gutter: Option<RowIndex>,
    /// The indentation in levels of three columns.
    pub indent: u32,
    /// `true` if the row has a connector, because it has siblings.
    pub connector: bool,
    /// `true` if it is the last of its siblings.
    pub last: bool,
    /// Number of visible children.
    pub children: u32,
    /// `true` if its descendants are folded.
    pub folded: bool,
    /// `true` if the row belongs to the expanded run or the unfolded turn above it.
    pub in_run: bool,
    /// `true` if a fork inherited the entry.
    pub is_inherited: bool,
    /// `true` for the first level below a branch point.
    pub(super) branched: bool,
}

/// The rows of a tree.
#[derive(Debug, Default)]
pub struct TreeRows {
    /// The rows, top to bottom.
    pub list: Vec<TreeRow>,
    /// Number of rows that show entries.
    pub entries: usize,
    /// The row of the leaf, or of its nearest visible ancestor.
    pub leaf: Option<RowIndex>,
    /// Number of forks hidden by each folded entry.
    pub hidden_forks: HashMap<EntryIndex, usize>,
    /// The runs of tool calls shown in one row.
    pub runs: Vec<ToolRun>,
    /// Number of entries between the row nearest to the leaf and the leaf.
    pub leaf_below: usize,
    /// The row of each entry; `u32::MAX` for hidden ones.
    pub(super) row_of: Vec<u32>,
}

/// Returns `true` if an entry passes a filter.
pub fn passes(tree: &Tree, at: EntryIndex, filter: Filter) -> bool {
    let node = &tree.nodes[at as usize];
    let is_leaf = tree.leaf == Some(at);
    if node.silent && !is_leaf && filter != Filter::Outline {
        return false;
    }
    match filter {
        Filter::Default => !node.kind.is_bookkeeping(),
        Filter::NoTools => !node.kind.is_bookkeeping() && node.kind != EntryKind::ToolResult,
        Filter::UserOnly => node.kind == EntryKind::User,
        Filter::LabeledOnly => tree.labels.contains_key(&at),
        Filter::All => true,
        Filter::Turns => node.kind == EntryKind::User,
        Filter::Outline => {
            matches!(node.kind, EntryKind::Compaction | EntryKind::BranchSummary)
                || tree.labels.contains_key(&at)
                || tree.is_branch_point(at)
                || ends_branch(tree, at)
        }
    }
}

/// Returns `true` if a branch ends at an entry: only bookkeeping follows. A branch of bookkeeping alone ends at its
/// start; a stub is no branch.
fn ends_branch(tree: &Tree, at: EntryIndex) -> bool {
    let is_bookkeeping = |at: EntryIndex| tree.nodes[at as usize].kind.is_bookkeeping();
    let begins = || tree.parent(at).is_none_or(|parent| tree.is_branch_point(parent));
    if tree.is_stub(at) || (is_bookkeeping(at) && !begins()) {
        return false;
    }
    let mut here = at;
    loop {
        let mut branches = tree.branches(here);
        match (branches.next(), branches.next()) {
            (None, _) => return true,
            (Some(child), None) if is_bookkeeping(child) => here = child,
            _ => return false,
        }
    }
}

impl TreeRows {
    /// Builds rows for entries accepted by `shows` and not hidden by `folds`. The result must still be
    /// [laid out](Self::layout). Expanded forks get a row where their unique entries begin.
    pub fn new(
        tree: &Tree,
        shows: impl Fn(EntryIndex) -> bool,
        folds: impl IntoIterator<Item = EntryIndex>,
        forks: &[ForkedFile],
    ) -> Self {
        const NONE: u32 = u32::MAX;
        let count = tree.nodes.len();
        // The visible entries in drawing order, and the nearest visible entry at or above each entry.
        let mut list: Vec<TreeRow> = Vec::with_capacity(count);
        let mut row_of = vec![NONE; count];
        let mut nearest = vec![NONE; count];
        let mut buried = vec![false; count];
        let mut is_folded = vec![false; count];
        folds.into_iter().for_each(|at| is_folded[at as usize] = true);
        let starts: HashMap<EntryIndex, usize> =
            forks.iter().enumerate().filter_map(|(place, fork)| Some((fork.start?, place))).collect();
        let (mut entries, mut hidden_forks) = (0, HashMap::new());
        for &at in &tree.order {
            let parent = tree.parent(at);
            let mut above = parent.map_or(NONE, |parent| nearest[parent as usize]);
            let hidden = parent.is_some_and(|parent| {
                buried[parent as usize] || (row_of[parent as usize] != NONE && is_folded[parent as usize])
            });
            buried[at as usize] = hidden;
            if let Some(&fork) = starts.get(&at) {
                if hidden {
                    let folded = list.get(above as usize).map(|row| row.item);
                    let folded = folded.and_then(RowItem::entry);
                    folded.into_iter().for_each(|at| *hidden_forks.entry(at).or_default() += 1);
                } else {
                    let parent = (above != NONE).then_some(above as usize);
                    above = list.len() as u32;
                    list.push(TreeRow::new(RowItem::Fork(fork), parent, false));
                }
            }
            nearest[at as usize] = above;
            if hidden || !shows(at) {
                continue;
            }
            let row = list.len() as u32;
            (row_of[at as usize], nearest[at as usize]) = (row, row);
            let parent = (above != NONE).then_some(above as usize);
            list.push(TreeRow::new(RowItem::Entry(at), parent, is_folded[at as usize]));
            entries += 1;
        }
        if forks.len() > starts.len() {
            let mut anchors = Vec::with_capacity(forks.len());
            for (fork, one) in forks.iter().enumerate().filter(|(_, fork)| fork.start.is_none()) {
                let at = one.split.and_then(|at| nearest.get(at as usize));
                let Some((row, at)) = at.and_then(|&at| Some((list.get(at as usize)?, at))) else { continue };
                match row.item {
                    RowItem::Entry(entry) if row.folded => *hidden_forks.entry(entry).or_default() += 1,
                    _ => anchors.push((at as RowIndex, fork, !one.is_open)),
                }
            }
            list = with_forks(&list, &anchors);
            for (row, one) in list.iter().enumerate() {
                if let RowItem::Entry(at) = one.item {
                    row_of[at as usize] = row as u32;
                }
            }
        }
        count_children(&mut list);
        let mut rows = Self { list, entries, leaf: None, hidden_forks, runs: Vec::new(), leaf_below: 0, row_of };
        rows.leaf = tree.leaf.filter(|_| entries > 0).map(|leaf| rows.nearest(tree, leaf));
        rows
    }

    /// Computes level and connector of each row once all rows exist. Parents precede their children.
    #[must_use]
    pub fn layout(mut self) -> Self {
        let list = &mut self.list;
        let is_root = |row: &TreeRow| row.parent.is_none() && row.item != RowItem::Start;
        let roots = list.iter().filter(|row| is_root(row)).count();
        let mut has_later = vec![false; list.len() + 1];
        for row in list.iter_mut().rev() {
            // Index 0 is an invisible parent of all roots.
            let above = row.parent.map_or(0, |parent| parent + 1);
            row.last = !(row.item == RowItem::Start || std::mem::replace(&mut has_later[above], true));
        }
        for row in 0..list.len() {
            let (indent, branched, connector, gutter) = match list[row].parent {
                // Several roots are branches of an invisible parent, but are not indented.
                None => (0, roots > 1, false, None),
                Some(parent) => {
                    let above = &list[parent];
                    let branched = above.children > 1;
                    // pi places several roots one level deeper and draws all levels one further left.
                    let is_deep = above.indent > 0 || (roots > 1 && above.parent.is_none());
                    let indent = above.indent + u32::from(branched || (above.branched && is_deep));
                    let gutter = if above.connector { Some(parent) } else { above.gutter };
                    (indent, branched, branched, gutter)
                }
            };
            let one = &mut list[row];
            (one.indent, one.branched, one.connector, one.gutter) = (indent, branched, connector, gutter);
        }
        self
    }

    /// Returns the entry of a row; for a run the last one.
    pub(super) fn last_of(&self, row: RowIndex) -> Option<EntryIndex> {
        match self.list.get(row)?.item {
            RowItem::Entry(at) => Some(at),
            RowItem::Run(run) => Some(self.runs[run].last()),
            RowItem::Fork(_) | RowItem::Inherited | RowItem::Start => None,
        }
    }

    /// Returns the row of an entry, if it is visible.
    pub(crate) fn row_of(&self, at: EntryIndex) -> Option<RowIndex> {
        self.row_of.get(at as usize).filter(|&&row| row != u32::MAX).map(|&row| row as usize)
    }

    /// Returns the row of an entry or of its nearest visible ancestor, else the last row; pi selects the same.
    pub fn nearest(&self, tree: &Tree, at: EntryIndex) -> RowIndex {
        tree.to_root(at).find_map(|at| self.row_of(at)).unwrap_or(self.list.len().saturating_sub(1))
    }

    /// Returns `true` if a row can be folded: it has children, and is a root or the start of a branch.
    pub(crate) fn is_foldable(&self, row: RowIndex) -> bool {
        let one = &self.list[row];
        one.folded || (one.children > 0 && one.parent.is_none_or(|parent| self.list[parent].children > 1))
    }

    /// Returns the row at which the branch of a row starts, above the row itself (pi's jump up).
    pub fn segment_up(&self, row: RowIndex) -> RowIndex {
        let mut at = row;
        while let Some(parent) = self.list[at].parent {
            if self.list[parent].children > 1 && at < row {
                return at;
            }
            at = parent;
        }
        at
    }

    /// Returns the start of the first branch below a row, or the end of its chain (pi's jump down).
    pub(crate) fn segment_down(&self, row: RowIndex) -> RowIndex {
        let mut at = row;
        loop {
            // The first child of a row is the next row.
            match self.list[at].children {
                0 => return at,
                1 => at += 1,
                _ => return at + 1,
            }
        }
    }

    /// Returns the next row with several children in a direction.
    pub(crate) fn branch_point(&self, row: RowIndex, forward: bool) -> Option<RowIndex> {
        let is_branch_point = |row: &RowIndex| self.list[*row].children > 1;
        if forward { (row + 1..self.list.len()).find(is_branch_point) } else { (0..row).rev().find(is_branch_point) }
    }

    /// Returns the width of the tree lines of a row: three columns per level.
    pub(crate) fn prefix_width(&self, row: RowIndex) -> usize {
        self.list[row].indent as usize * 3
    }

    /// Returns the part of a row's tree lines inside `window`, with an ellipsis if it `is_cut`.
    pub(crate) fn lead(&self, row: RowIndex, window: Range<usize>, is_cut: bool, glyphs: &Glyphs) -> String {
        let prefix = self.prefix(row, window.clone(), glyphs);
        if is_cut { glyphs.cut_start(&(prefix + " "), window.len()).into_owned() } else { prefix }
    }

    /// Returns the part of a row's lines and connector inside `window`. A vertical line continues where an ancestor has
    /// later siblings.
    fn prefix(&self, row: RowIndex, window: Range<usize>, glyphs: &Glyphs) -> String {
        let one = &self.list[row];
        let end = window.end.min(self.prefix_width(row));
        let mut levels = vec![' '; end.saturating_sub(window.start)];
        let mut put = |level: u32, at: usize, sign: &str| {
            let cell = (level as usize * 3 + at).checked_sub(window.start).and_then(|at| levels.get_mut(at));
            if let (Some(cell), Some(sign)) = (cell, sign.chars().next()) {
                *cell = sign;
            }
        };
        let mut gutter = one.gutter;
        // Lines of higher ancestors are further left.
        while let Some(ancestor) = gutter.map(|at| &self.list[at]).filter(|it| it.indent as usize * 3 > window.start) {
            if !ancestor.last {
                put(ancestor.indent - 1, 0, &glyphs.bar);
            }
            gutter = ancestor.gutter;
        }
        if one.connector {
            let level = one.indent - 1;
            put(level, 0, if one.last { &glyphs.corner } else { &glyphs.tee });
            let fold = if one.folded {
                &glyphs.folded
            } else if self.is_foldable(row) {
                &glyphs.unfolded
            } else {
                &glyphs.dash
            };
            put(level, 1, fold);
        }
        levels.into_iter().collect()
    }
}

impl TreeRow {
    pub(super) fn new(item: RowItem, parent: Option<RowIndex>, folded: bool) -> Self {
        Self { item, parent, folded, ..Self::default() }
    }
}

/// Inserts each fork after the last descendant of its anchor row.
fn with_forks(list: &[TreeRow], anchors: &[(RowIndex, usize, bool)]) -> Vec<TreeRow> {
    // The end of each row's descendants, which follow it without a gap.
    let mut ends: Vec<RowIndex> = (1..=list.len()).collect();
    for (at, row) in list.iter().enumerate().rev() {
        if let Some(parent) = row.parent {
            ends[parent] = ends[parent].max(ends[at]);
        }
    }
    let mut places: Vec<(RowIndex, RowIndex, usize, bool)> =
        anchors.iter().map(|&(anchor, fork, folded)| (ends[anchor], anchor, fork, folded)).collect();
    sort::by_key(&mut places, |&(end, anchor, fork, _)| (end, std::cmp::Reverse(anchor), fork));
    let mut merged: Vec<TreeRow> = Vec::with_capacity(list.len() + places.len());
    let mut moved = Vec::with_capacity(list.len());
    let mut places = places.into_iter().peekable();
    for (at, row) in list.iter().enumerate() {
        while let Some((_, anchor, fork, folded)) = places.next_if(|(end, ..)| *end == at) {
            merged.push(TreeRow::new(RowItem::Fork(fork), Some(moved[anchor]), folded));
        }
        moved.push(merged.len());
        merged.push(TreeRow { parent: row.parent.map(|parent| moved[parent]), ..*row });
    }
    merged
        .extend(places.map(|(_, anchor, fork, folded)| TreeRow::new(RowItem::Fork(fork), Some(moved[anchor]), folded)));
    merged
}

/// Counts the children of each row.
fn count_children(list: &mut [TreeRow]) {
    list.iter_mut().for_each(|row| row.children = 0);
    for row in 0..list.len() {
        if let Some(parent) = list[row].parent {
            list[parent].children += 1;
        }
    }
}

/// The fewest tool calls that are collapsed.
const SHORTEST: usize = 2;

impl TreeRows {
    /// Adds a row for the inherited entries, which end at `last`. The entries themselves are hidden unless it is `open`
    /// or no other rows exist.
    pub(super) fn push_inherited_row(&mut self, tree: &Tree, last: EntryIndex, open: bool) {
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
        self.update_row_indexes(&moved);
    }

    /// Collapses runs of tool calls into one row each. `is_part` selects the entries; `is_open` returns `true` for the
    /// first entry of an expanded run.
    pub(super) fn push_run_rows(
        &mut self,
        tree: &Tree,
        is_part: impl Fn(EntryIndex) -> bool,
        is_open: impl Fn(EntryIndex) -> bool,
    ) {
        let old = std::mem::take(&mut self.list);
        self.list.reserve(old.len());
        let mut moved: Vec<RowIndex> = Vec::with_capacity(old.len());
        let mut at = 0;
        while at < old.len() {
            let entries = run_at(&old, at, &is_part);
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
            self.update_row_indexes(&moved);
        }
    }

    /// Adds a note at the top that pi continues before the first message.
    pub(super) fn push_start_row(&mut self) {
        let moved: Vec<RowIndex> = (1..=self.list.len()).collect();
        for row in &mut self.list {
            row.parent = row.parent.map(|parent| parent + 1);
        }
        self.list.insert(0, TreeRow::new(RowItem::Start, None, false));
        self.update_row_indexes(&moved);
        self.leaf = None;
    }

    /// Updates all row indices after rows have moved.
    fn update_row_indexes(&mut self, moved: &[RowIndex]) {
        for row in self.row_of.iter_mut().filter(|row| **row != u32::MAX) {
            *row = moved[*row as usize] as u32;
        }
        self.leaf = self.leaf.map(|row| moved[row]);
        count_children(&mut self.list);
    }
}

/// Returns the run that starts at a row: consecutive rows, each the only child of the previous one.
fn run_at(list: &[TreeRow], first: RowIndex, is_part: impl Fn(EntryIndex) -> bool) -> Vec<EntryIndex> {
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
