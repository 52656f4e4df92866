//! The table of actions: one row says everything about an action.
//!
//! Dispatch, footer, help, the configuration file and `docs/keys.md` all read this table; to add an action, add a row.
//! What an action does belongs to the state machine, which keys a user gave it to [`Keymap`](crate::keymap::Keymap).

/// A pane that has the keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The list of projects and sessions.
    Sessions,
    /// The entries of the selected session.
    Tree,
    /// The selected entry in full.
    Preview,
}

/// Every place: an action that works wherever the keyboard is.
const EVERYWHERE: &[Place] = &[Place::Sessions, Place::Tree, Place::Preview];
const SESSIONS: &[Place] = &[Place::Sessions];
const TREE: &[Place] = &[Place::Tree];
/// Where an entry is selected or shown.
const ENTRIES: &[Place] = &[Place::Tree, Place::Preview];

/// A heading that actions stand under in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Moving through rows and panes.
    Moving,
    /// Going to what is looked for.
    Finding,
    /// What is done with the selected row, and with pitree itself.
    Doing,
    /// What changes sessions, and takes it back.
    Changing,
    /// What the session list shows.
    Sessions,
    /// What the tree shows, and jumps in it.
    Tree,
}

impl Group {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Moving => "Moving around",
            Self::Finding => "Finding things",
            Self::Doing => "Doing things",
            Self::Changing => "Changing sessions",
            Self::Sessions => "Session list",
            Self::Tree => "Session tree",
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
    pub(super) places: &'static [Place],
    pub(super) group: Group,
    pub(super) word: &'static str,
    pub(super) help: &'static str,
}

macro_rules! actions {
    ($($action:ident, $name:literal, $keys:expr, $places:expr, $group:ident, $word:literal, $help:literal;)*) => {
        /// Something the user can do with a key.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        impl Action {
            /// Every action, in the order of the help.
            pub const ALL: &'static [Self] = &[$(Self::$action,)*];

            pub(super) fn row(self) -> &'static Row {
                match self {
                    $(Self::$action => &Row {
                        name: $name,
                        keys: &$keys,
                        places: $places,
                        group: Group::$group,
                        word: $word,
                        help: $help,
                    },)*
                }
            }
        }
    };
}

// Action, name in the configuration, default keys, where it works, group, word for the footer, help.
// Rows of a group stand together.
#[rustfmt::skip]
actions! {
    Up, "up", ["k", "up"], EVERYWHERE, Moving, "up", "Go one row up.";
    Down, "down", ["j", "down"], EVERYWHERE, Moving, "down", "Go one row down.";
    PageUp, "page-up", ["pageup", "ctrl+b"], EVERYWHERE, Moving, "page up", "Go one page up.";
    PageDown, "page-down", ["pagedown", "ctrl+f"], EVERYWHERE, Moving, "page down", "Go one page down.";
    First, "first", ["g", "home"], EVERYWHERE, Moving, "first", "Go to the first row.";
    Last, "last", ["G", "end"], EVERYWHERE, Moving, "last", "Go to the last row.";
    Fold, "fold", ["h", "left"], EVERYWHERE, Moving, "fold", "Fold the row; when there is nothing to fold, go to its parent, or back a pane.";
    Unfold, "unfold", ["l", "right"], EVERYWHERE, Moving, "unfold", "Unfold the row; when there is nothing to unfold, go in.";
    FoldAll, "fold-all", ["-"], EVERYWHERE, Moving, "fold all", "Fold every row.";
    UnfoldAll, "unfold-all", ["+", "="], EVERYWHERE, Moving, "unfold all", "Unfold every row.";
    NextPane, "next-pane", ["tab"], EVERYWHERE, Moving, "pane", "Go to the next pane.";
    PreviousPane, "previous-pane", ["shift+tab"], EVERYWHERE, Moving, "pane", "Go to the previous pane.";
    PreviewUp, "preview-up", ["K"], EVERYWHERE, Moving, "preview up", "Scroll the preview up, from any pane.";
    PreviewDown, "preview-down", ["J"], EVERYWHERE, Moving, "preview down", "Scroll the preview down, from any pane.";

    Search, "search", ["/"], SESSIONS, Finding, "search", "Search the sessions; the guide has the language.";
    SearchEverything, "search-everything", ["ctrl+x"], SESSIONS, Finding, "everything", "While searching: search tool output, thinking and arguments as well, or the conversation only.";
    Find, "find", ["/"], ENTRIES, Finding, "find", "Look for words in the whole session, or in the preview; tab hides the rest of the tree.";
    NextHit, "next-hit", ["n"], ENTRIES, Finding, "next", "Go to the next hit.";
    PreviousHit, "previous-hit", ["N"], ENTRIES, Finding, "previous", "Go to the previous hit.";
    Labels, "labels", ["'"], EVERYWHERE, Finding, "labels", "List the labels of all sessions: go to one, rename or clear it.";
    Files, "files", ["F"], EVERYWHERE, Finding, "files", "List the files that the session, or the project, read and changed, and which entries did it.";
    Palette, "palette", [":"], EVERYWHERE, Finding, "actions", "List all that can be done here, and do it.";

    Confirm, "confirm", ["enter"], EVERYWHERE, Doing, "resume", "Resume the session, in the tree from any entry on; fold or unfold a project.";
    Back, "back", ["esc"], EVERYWHERE, Doing, "back", "Go one step back: clear the query, close the box, take the marks away, leave the pane.";
    Copy, "copy", ["y"], EVERYWHERE, Doing, "copy", "Copy the text or id of the entry, the path or id of the session, or the command that resumes it.";
    Reload, "reload", ["f5"], EVERYWHERE, Doing, "reload", "Read the sessions again.";
    Help, "help", ["?", "f1"], EVERYWHERE, Doing, "help", "Show all keys.";
    Suspend, "suspend", ["ctrl+z"], EVERYWHERE, Doing, "suspend", "Suspend pitree and go to the shell; fg brings it back.";
    Quit, "quit", ["q", "ctrl+c"], EVERYWHERE, Doing, "quit", "Leave pitree.";

    Rename, "rename", ["ctrl+r", "R"], EVERYWHERE, Changing, "rename", "Give the session a name; an empty one clears it.";
    Label, "label", ["L"], ENTRIES, Changing, "label", "Label the entry; an empty label clears it.";
    Fork, "fork", ["f"], ENTRIES, Changing, "fork", "Make a new session of the path to the entry.";
    Delete, "delete", ["ctrl+d", "delete"], EVERYWHERE, Changing, "delete", "Move the session to the trash, or all marked ones, or a project's.";
    Mark, "mark", ["space"], SESSIONS, Changing, "mark", "Mark the session or take its mark away, and go down; on a project, for all of its sessions.";
    MarkAll, "mark-all", ["*"], SESSIONS, Changing, "mark all", "Mark all sessions in the list, or none.";
    Undo, "undo", ["u"], EVERYWHERE, Changing, "undo", "Take the last change back.";
    Redo, "redo", ["U"], EVERYWHERE, Changing, "redo", "Make the change again that was taken back.";

    NextSort, "next-sort", ["ctrl+s"], SESSIONS, Sessions, "sort", "Sort the sessions in the next way.";
    NamedOnly, "named-only", ["ctrl+n"], SESSIONS, Sessions, "named", "Show only sessions that have a name, or all.";
    ShowPaths, "show-paths", ["ctrl+p"], SESSIONS, Sessions, "paths", "Show or hide the paths of the sessions.";
    ShowSubagents, "show-subagents", ["ctrl+g"], SESSIONS, Sessions, "subagents", "Show or hide the sessions of subagents.";

    NextFilter, "next-filter", ["ctrl+o"], TREE, Tree, "filter", "Show the tree through the next filter.";
    PreviousFilter, "previous-filter", ["alt+o", "ctrl+shift+o"], TREE, Tree, "filter", "Show the tree through the previous filter.";
    FilterDefault, "filter-default", ["1"], TREE, Tree, "default", "Show what pi shows by default.";
    FilterNoTools, "filter-no-tools", ["2", "ctrl+t"], TREE, Tree, "no tools", "Hide tool calls and their results; again: back to the default.";
    FilterUserOnly, "filter-user-only", ["3", "ctrl+u"], TREE, Tree, "user only", "Show only what the user wrote; again: back to the default.";
    FilterLabeledOnly, "filter-labeled-only", ["4", "ctrl+l"], TREE, Tree, "labelled", "Show only labelled entries; again: back to the default.";
    FilterAll, "filter-all", ["5", "ctrl+a"], TREE, Tree, "all", "Show every entry, also settings and labels; again: back to the default.";
    FilterOutline, "filter-outline", ["6"], TREE, Tree, "outline", "Show only branch points, labels, compactions and leaves.";
    SegmentUp, "segment-up", ["ctrl+left", "alt+left"], TREE, Tree, "segment up", "Fold the branch, or go up to where it begins.";
    SegmentDown, "segment-down", ["ctrl+right", "alt+right"], TREE, Tree, "segment down", "Unfold the branch, or go down to where it ends.";
    PreviousBranchPoint, "previous-branch-point", ["{"], TREE, Tree, "branch point", "Go to the previous branch point.";
    NextBranchPoint, "next-branch-point", ["}"], TREE, Tree, "branch point", "Go to the next branch point.";
    GoToLeaf, "go-to-leaf", ["."], TREE, Tree, "leaf", "Go to the leaf, the entry where pi goes on.";
    LabelTimes, "label-times", ["T"], TREE, Tree, "label times", "Show or hide when a label was set.";
}

impl Place {
    /// Every place.
    pub const ALL: &'static [Self] = EVERYWHERE;

    /// The name of the pane.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Tree => "Tree",
            Self::Preview => "Preview",
        }
    }
}

impl Action {
    /// The action with this name in the configuration.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// The action that a mistyped name may mean.
    pub fn nearest(name: &str) -> Option<Self> {
        let nearest = Self::ALL.iter().copied().min_by_key(|action| distance(name, action.name()))?;
        (distance(name, nearest.name()) <= 2.max(nearest.name().len() / 3)).then_some(nearest)
    }

    /// The name in the configuration, such as `next-filter`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The panes in which the action works.
    pub fn places(self) -> &'static [Place] {
        self.row().places
    }

    /// The heading it stands under in the help.
    pub fn group(self) -> Group {
        self.row().group
    }

    /// One or two words for the footer.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// A sentence that says what it does.
    pub fn help(self) -> &'static str {
        self.row().help
    }
}

/// How many edits apart two names are; their words may be in another order.
fn distance(a: &str, b: &str) -> usize {
    let sorted = |name: &str| {
        let mut words: Vec<_> = name.split(['-', '_']).collect();
        words.sort_unstable();
        words.join("-")
    };
    edits(a, b).min(edits(&sorted(a), &sorted(b)))
}

fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits_and_forgives_word_order() {
        assert_eq!((edits("kitten", "sitting"), edits("", "abc"), edits("abc", "")), (3, 3, 3));
        assert_eq!(distance("filter-next", "next-filter"), 0);
    }

    #[test]
    fn nearest_is_near() {
        assert_eq!(Action::nearest("filter-nxet"), Some(Action::NextFilter));
        assert_eq!(Action::nearest("prevew_up"), Some(Action::PreviewUp));
        assert_eq!(Action::nearest("zzzzzz"), None);
    }
}
