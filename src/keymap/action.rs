//! The table of actions, one row per action.
//!
//! Dispatch, footer, help, configuration and `docs/keys.md` read this table; to add an action, add a row. The state
//! machine executes actions, and [`Keymap`](crate::keymap::Keymap) has the configured keys.

use crate::base::typo;

/// The context of a key: the focused pane or the layer on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// The list of projects and sessions.
    Sessions,
    /// The entries of the selected session.
    Tree,
    /// The selected entry in full.
    Preview,
    /// The input line of a search over sessions.
    Search,
    /// The input line for finding text in a session or the preview.
    Find,
    /// The input line for a name, a label or a directory.
    Prompt,
    /// A list to choose from.
    Palette,
    /// The list of labels.
    Labels,
    /// A question box.
    Question,
    /// A message box.
    Note,
    /// A comparison of two branches.
    Compare,
    /// The list of keys.
    Help,
    /// The model context at an entry.
    Context,
}

use Place as P;

/// Every pane.
const PANES: &[Place] = &[P::Sessions, P::Tree, P::Preview];
const SESSIONS: &[Place] = &[P::Sessions];
const TREE: &[Place] = &[P::Tree];
const PREVIEW: &[Place] = &[P::Preview];
/// Places with a selected entry.
const ENTRIES: &[Place] = &[P::Tree, P::Preview];
/// The same, and the ends of a compared branch.
const ENTRIES_AND_ENDS: &[Place] = &[P::Tree, P::Preview, P::Compare];
/// The same, and the model context.
const ENTRIES_AND_CONTEXT: &[Place] = &[P::Tree, P::Preview, P::Context];
/// Places with marks on sessions or entries.
const MARKING: &[Place] = &[P::Sessions, P::Tree];
const COMPARE: &[Place] = &[P::Compare];
/// Panes and layers with the same keys for scrolling and selection.
const ROWS: &[Place] =
    &[P::Sessions, P::Tree, P::Preview, P::Search, P::Question, P::Note, P::Compare, P::Help, P::Context];
/// Panes and layers with the same keys for folding.
const FOLDING: &[Place] = &[P::Sessions, P::Tree, P::Preview, P::Compare];
const PANES_AND_LONG: &[Place] = &[P::Sessions, P::Tree, P::Preview, P::Compare, P::Help, P::Context];
/// Panes and boxes closed with the same keys.
const PANES_AND_BOXES: &[Place] = &[P::Sessions, P::Tree, P::Preview, P::Question, P::Compare, P::Help, P::Context];
/// The list of sessions, also while a search is typed.
const SEARCHED: &[Place] = &[P::Sessions, P::Search];
/// The same, and the model context.
const SORTED: &[Place] = &[P::Sessions, P::Search, P::Context];
const PANES_AND_SEARCH: &[Place] = &[P::Sessions, P::Tree, P::Preview, P::Search];
/// Places where the quit key quits pitree.
const LEAVING: &[Place] = &[P::Sessions, P::Tree, P::Preview, P::Search, P::Question, P::Compare, P::Help, P::Context];
/// The same, and boxes that any key closes.
const SUSPENDING: &[Place] =
    &[P::Sessions, P::Tree, P::Preview, P::Search, P::Question, P::Note, P::Compare, P::Help, P::Context];
const EVERYWHERE: &[Place] = &[
    P::Sessions,
    P::Tree,
    P::Preview,
    P::Search,
    P::Find,
    P::Prompt,
    P::Palette,
    P::Labels,
    P::Question,
    P::Note,
    P::Compare,
    P::Help,
    P::Context,
];
/// Input lines that end with a key.
const LINES: &[Place] = &[P::Search, P::Find, P::Prompt, P::Palette, P::Labels];
/// Places for text input.
const TYPING: &[Place] = &[P::Search, P::Find, P::Prompt, P::Palette, P::Labels, P::Help];
const SEARCH: &[Place] = &[P::Search];
const PALETTES: &[Place] = &[P::Palette, P::Labels];
/// Places where the quit key only closes the layer.
const CLOSED: &[Place] = &[P::Find, P::Prompt, P::Palette, P::Labels];

/// A group of actions in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Group {
    /// Moving through rows and panes.
    Moving,
    /// Sizes of panes, and what is folded or wrapped in them.
    View,
    /// Going to search hits.
    Finding,
    /// Actions on the selected row and on pitree itself.
    Doing,
    /// Changes of sessions, and undo.
    Changing,
    /// Options of the session list.
    Sessions,
    /// Options of the tree, and jumps in it.
    Tree,
    /// Lists and input lines.
    Choosing,
    /// Editing an input line. Another action with the same key comes first.
    Typing,
}

impl Group {
    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Moving => "Moving around",
            Self::View => "Panes and folds",
            Self::Finding => "Finding things",
            Self::Doing => "Doing things",
            Self::Changing => "Changing sessions",
            Self::Sessions => "Session list",
            Self::Tree => "Session tree",
            Self::Choosing => "Lists and lines",
            Self::Typing => "Typing a line",
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct ActionRow {
    pub(super) name: &'static str,
    pub(super) keys: &'static [&'static str],
    pub(super) places: &'static [Place],
    pub(super) group: Group,
    pub(super) word: &'static str,
    pub(super) title: &'static str,
    pub(super) help: &'static str,
}

macro_rules! actions {
    ($($action:ident, $name:literal, $keys:expr, $places:expr, $group:ident, $word:literal, $title:literal, $help:literal;)*) => {
        /// An action that a key can trigger.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        impl Action {
            /// Every action, in the order of the help.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$action,)*];

            pub(super) fn row(self) -> &'static ActionRow {
                match self {
                    $(Self::$action => &ActionRow {
                        name: $name,
                        keys: &$keys,
                        places: $places,
                        group: Group::$group,
                        word: $word,
                        title: $title,
                        help: $help,
                    },)*
                }
            }
        }
    };
}

// Action, name in the configuration, default keys, where it works, group, word for the footer, title in the palette, help.
// Rows of a group stand together.
#[rustfmt::skip]
actions! {
    Up, "up", ["k", "up"], ROWS, Moving, "up", "Move up", "Go one row up.";
    Down, "down", ["j", "down"], ROWS, Moving, "down", "Move down", "Go one row down.";
    PageUp, "page-up", ["pageup", "ctrl+b"], ROWS, Moving, "page up", "Page up", "Go one page up.";
    PageDown, "page-down", ["pagedown", "ctrl+f"], ROWS, Moving, "page down", "Page down", "Go one page down.";
    HalfPageUp, "half-page-up", ["ctrl+u"], PREVIEW, Moving, "half up", "Half page up", "Go half a page up in the preview.";
    HalfPageDown, "half-page-down", ["ctrl+d"], PREVIEW, Moving, "half down", "Half page down", "Go half a page down in the preview.";
    First, "first", ["g", "home"], PANES_AND_LONG, Moving, "first", "First row", "Go to the first row.";
    Last, "last", ["G", "end"], PANES_AND_LONG, Moving, "last", "Last row", "Go to the last row.";
    Fold, "fold", ["h", "left"], FOLDING, Moving, "fold", "Fold or go out", "Fold the row; when there is nothing to fold, go to its parent, or back a pane.";
    Unfold, "unfold", ["l", "right"], FOLDING, Moving, "unfold", "Unfold or go in", "Unfold the row; when there is nothing to unfold, go in.";
    NextPane, "next-pane", ["tab"], PANES, Moving, "pane", "Next pane", "Go to the next pane.";
    PreviousPane, "previous-pane", ["shift+tab"], PANES, Moving, "pane", "Previous pane", "Go to the previous pane.";
    NextEntry, "next-entry", ["]"], PANES, Moving, "next entry", "Next entry", "Go to the next entry, or the next session in the list, and show it in the preview.";
    PreviousEntry, "previous-entry", ["["], PANES, Moving, "previous entry", "Previous entry", "Go to the previous entry, or the previous session in the list, and show it in the preview.";
    PreviewUp, "preview-up", ["K"], PANES, Moving, "preview up", "Scroll preview up", "Scroll the preview up, from any pane.";
    PreviewDown, "preview-down", ["J"], PANES, Moving, "preview down", "Scroll preview down", "Scroll the preview down, from any pane.";

    FoldAll, "fold-all", ["-"], FOLDING, View, "fold all", "Fold all", "Fold every row.";
    UnfoldAll, "unfold-all", ["+"], FOLDING, View, "unfold all", "Unfold all", "Unfold every row.";
    Zoom, "zoom", ["z"], PANES, View, "zoom", "Toggle full screen", "Give the pane the whole screen, or its share again.";
    Larger, "larger", [">"], PANES, View, "larger", "Enlarge pane", "Make the pane larger.";
    Smaller, "smaller", ["<"], PANES, View, "smaller", "Shrink pane", "Make the pane smaller.";
    SharePreview, "share-preview", ["p"], PANES, View, "with preview", "Toggle preview", "Show the preview below the tree, or below what a search found; or these alone.";
    Wrap, "wrap", ["w"], PANES, View, "wrap", "Toggle line wrap", "Wrap long lines of code in the preview, or scroll to the side.";

    Search, "search", ["/"], SESSIONS, Finding, "search", "Search all sessions", "Search the sessions; ? has the language, under Queries.";
    SearchEverything, "search-everything", ["ctrl+x"], SEARCHED, Finding, "everything", "Search all text", "While searching: search tool output, thinking and arguments as well, or the conversation only.";
    Find, "find", ["/"], ENTRIES, Finding, "find", "Find in session", "Look for words in the whole session, or in the preview; tab hides the rest of the tree.";
    NextHit, "next-hit", ["n"], ENTRIES, Finding, "next", "Next hit", "Go to the next hit.";
    PreviousHit, "previous-hit", ["N"], ENTRIES, Finding, "previous", "Previous hit", "Go to the previous hit.";
    JumpBack, "jump-back", ["backspace", "b"], PANES, Finding, "jump back", "Jump back", "Go back to where you were before a hit, a label or a file was gone to.";
    JumpForward, "jump-forward", ["B"], PANES, Finding, "jump forward", "Jump forward", "Go forward again after going back.";
    Labels, "labels", ["'"], PANES, Finding, "labels", "List labels", "List the labels of all sessions: go to one, rename or clear it.";
    Files, "files", ["F"], PANES, Finding, "files", "List touched files", "List the files that the session, or the project, read and changed, and which entries did it.";
    Palette, "palette", [":"], PANES, Finding, "commands", "Command palette", "Open the command palette; recent actions come first.";

    Confirm, "confirm", ["enter"], PANES_AND_BOXES, Doing, "resume", "Resume in pi", "Resume the session, in the tree from any entry on; fold or unfold a project.";
    Back, "back", ["esc"], PANES_AND_BOXES, Doing, "back", "Go back", "Go one step back: clear the query, close the box, take the marks away, leave the pane.";
    Context, "context", ["c"], ENTRIES_AND_CONTEXT, Doing, "context", "Show model context", "Show what the model sees at the entry: each message, what takes the room, and what is left out.";
    ResumeHere, "resume-here", ["r"], &[P::Context], Doing, "resume here", "Resume from context", "Resume the session at the entry whose context is shown.";
    Copy, "copy", ["y"], PANES, Doing, "copy", "Copy to clipboard", "Copy the text or id of the entry, the path or id of the session, or the command that resumes it.";
    Pager, "pager", ["v"], PANES, Doing, "pager", "Open in pager", "Show what the preview is about in a pager ($PAGER), as it was written.";
    Editor, "editor", ["E"], PANES, Doing, "editor", "Open in editor", "Open a copy of what the preview is about in an editor ($VISUAL or $EDITOR).";
    Compare, "compare", ["="], PANES, Doing, "compare", "Compare branches", "Compare what two ways led to from their last common entry on: two marked sessions or entries of one family, the marked entry and the selected one, or the selected one and the leaf.";
    SideA, "side-a", ["a"], COMPARE, Doing, "choose A", "Choose branch A", "While comparing: choose the first way, to be resumed or labelled.";
    SideB, "side-b", ["b"], COMPARE, Doing, "choose B", "Choose branch B", "While comparing: choose the second way.";
    GoToCommon, "go-to-common", ["o"], COMPARE, Doing, "common point", "Go to common entry", "While comparing: go to the last entry that both have, in the tree of the chosen way.";
    Reload, "reload", ["f5"], PANES, Doing, "reload", "Reload sessions", "Read the sessions again.";
    Help, "help", ["?", "f1"], EVERYWHERE, Doing, "help", "Show help", "Show all keys.";
    Suspend, "suspend", ["ctrl+z"], SUSPENDING, Doing, "suspend", "Suspend pitree", "Suspend pitree and go to the shell; fg brings it back.";
    Quit, "quit", ["q", "ctrl+c"], LEAVING, Doing, "quit", "Quit pitree", "Leave pitree.";

    Rename, "rename", ["ctrl+r", "R"], PANES_AND_SEARCH, Changing, "rename", "Rename session", "Give the session a name; an empty one clears it.";
    Label, "label", ["L"], ENTRIES_AND_ENDS, Changing, "label", "Label entry", "Label the entry; an empty label clears it.";
    Fork, "fork", ["f"], ENTRIES_AND_CONTEXT, Changing, "fork", "Fork at entry", "Make a new session of the path to the entry.";
    Delete, "delete", ["ctrl+d", "delete"], SEARCHED, Changing, "delete", "Move to trash", "Move the session to the trash, or all marked ones, or a project's.";
    Mark, "mark", ["space"], MARKING, Changing, "mark", "Mark or unmark", "Mark the session or take its mark away, and go down; on a project, for all of its sessions. In the tree, mark the entry: two at most, to be compared.";
    MarkAll, "mark-all", ["*", "alt+*"], SEARCHED, Changing, "mark all", "Mark all sessions", "Mark all listed sessions, or unmark them; in a search, all hits.";
    Undo, "undo", ["u"], PANES, Changing, "undo", "Undo last change", "Take the last change back; what an earlier pitree did is asked about.";
    Redo, "redo", ["U"], PANES, Changing, "redo", "Redo change", "Make the change again that was taken back.";
    Trash, "show-trash", ["X"], PANES, Changing, "trash", "Show trash", "List the sessions in the trash: bring one back.";
    History, "history", ["Z"], PANES, Changing, "history", "Show change history", "List all that was changed, the newest first: take one back.";

    NextSort, "next-sort", ["ctrl+s"], SORTED, Sessions, "sort", "Next sort order", "Change the sort order (model context: by size).";
    WaitingFirst, "waiting-first", ["W"], SESSIONS, Sessions, "waiting first", "Waiting sessions first", "Sort the sessions in which a pi waits for you first; again: as before.";
    NamedOnly, "named-only", ["ctrl+n"], SEARCHED, Sessions, "named", "Toggle unnamed sessions", "Show only sessions that have a name, or all.";
    HereOnly, "here-only", ["H"], SESSIONS, Sessions, "here", "Current project only", "Show only sessions that worked where pitree was started, or all.";
    ShowPaths, "show-paths", ["ctrl+p"], SEARCHED, Sessions, "paths", "Toggle session paths", "Show or hide the paths of the sessions.";
    ShowSubagents, "show-subagents", ["ctrl+g"], SEARCHED, Sessions, "subagents", "Toggle subagent sessions", "Show or hide the sessions of subagents.";

    NextFilter, "next-filter", ["ctrl+o"], TREE, Tree, "filter", "Next tree filter", "Show the tree through the next filter.";
    PreviousFilter, "previous-filter", ["alt+o", "ctrl+shift+o"], TREE, Tree, "filter", "Previous tree filter", "Show the tree through the previous filter.";
    FilterDefault, "filter-default", ["1", "ctrl+d"], TREE, Tree, "default", "Filter: default", "Show what pi shows by default.";
    FilterNoTools, "filter-no-tools", ["2", "ctrl+t"], TREE, Tree, "no tools", "Filter: no tools", "Hide tool calls and their results; again: back to the default.";
    FilterUserOnly, "filter-user-only", ["3", "ctrl+u"], TREE, Tree, "user only", "Filter: user only", "Show only what the user wrote; again: back to the default.";
    FilterLabeledOnly, "filter-labeled-only", ["4", "ctrl+l"], TREE, Tree, "labelled", "Filter: labeled only", "Show only labelled entries; again: back to the default.";
    FilterAll, "filter-all", ["5", "ctrl+a"], TREE, Tree, "all", "Filter: all entries", "Show every entry, also settings and labels; again: back to the default.";
    FilterOutline, "filter-outline", ["6"], TREE, Tree, "outline", "Filter: outline", "Show only branch points, labels, compactions and leaves.";
    FilterTurns, "filter-turns", ["7"], TREE, Tree, "turns", "Filter: turns", "Show a row for each prompt, with what was done because of it; again: back to the default.";
    ToolRuns, "fold-tools", ["t"], TREE, Tree, "tool runs", "Toggle tool runs", "Tell each run of tool calls in one row, or show them all.";
    SegmentUp, "segment-up", ["ctrl+left", "alt+left"], TREE, Tree, "segment up", "Fold or branch start", "Fold the branch, or go up to where it begins.";
    SegmentDown, "segment-down", ["ctrl+right", "alt+right"], TREE, Tree, "segment down", "Unfold or branch end", "Unfold the branch, or go down to where it ends.";
    PreviousBranchPoint, "previous-branch-point", ["{"], TREE, Tree, "branch point", "Previous branch point", "Go to the previous branch point.";
    NextBranchPoint, "next-branch-point", ["}"], TREE, Tree, "branch point", "Next branch point", "Go to the next branch point.";
    GoToLeaf, "go-to-leaf", ["."], TREE, Tree, "leaf", "Go to leaf", "Go to the leaf, the entry where pi goes on.";
    Follow, "follow", ["W"], TREE, Tree, "follow", "Follow leaf", "Stay at the leaf as pi writes; again, or any move: stay where you are.";
    Family, "family", ["m"], TREE, Tree, "family", "Toggle family tree", "Show the whole family of the session as one tree, shared entries once; again: the session alone.";
    FamilyFiles, "family-files", ["M"], TREE, Tree, "files of the family", "List family sessions", "List the sessions of the family: hide one in the tree, or show it again.";
    GoOver, "go-over", ["o"], ENTRIES, Tree, "go over", "Go to other session", "Go to the session of the row, or to another session that has the entry.";
    LabelTimes, "label-times", ["T"], TREE, Tree, "label times", "Toggle label times", "Show or hide when a label was set.";

    Accept, "accept", ["enter"], LINES, Choosing, "accept", "Accept input", "Take what is typed, or what is selected.";
    Cancel, "cancel", ["esc"], LINES, Choosing, "cancel", "Clear or close", "Clear what is typed; when nothing is, close.";
    Close, "close", ["ctrl+c"], CLOSED, Choosing, "close", "Close input", "Close the line, or all lists.";
    ListUp, "list-up", ["up", "ctrl+p"], PALETTES, Choosing, "up", "List up", "Go one row up in a list.";
    ListDown, "list-down", ["down", "ctrl+n"], PALETTES, Choosing, "down", "List down", "Go one row down in a list.";
    ListPageUp, "list-page-up", ["pageup"], PALETTES, Choosing, "page up", "List page up", "Go one page up in a list.";
    ListPageDown, "list-page-down", ["pagedown"], PALETTES, Choosing, "page down", "List page down", "Go one page down in a list.";
    CopyPath, "copy-path", ["alt+y"], &[P::Palette], Choosing, "copy path", "Copy path", "Copy the path of the selected file, or of the selected session in the trash.";
    RenameLabel, "rename-label", ["ctrl+r"], &[P::Labels], Choosing, "rename", "Rename label", "Rename the selected label.";
    ClearLabel, "clear-label", ["ctrl+d"], &[P::Labels], Choosing, "clear", "Clear label", "Clear the selected label.";
    OnlyHits, "only-hits", ["tab"], &[P::Find], Choosing, "only hits", "Toggle only hits", "Hide all but the hits, or show all again.";
    Complete, "complete", ["tab"], &[P::Search, P::Prompt], Choosing, "complete", "Complete input", "Complete the qualifier, or its value; again: the next one; the path of a directory.";
    CompleteBack, "complete-back", ["shift+tab"], SEARCH, Choosing, "previous", "Previous completion", "Complete the qualifier, or its value, with the one before.";
    PreviousQuery, "previous-query", ["alt+up", "alt+p"], SEARCH, Choosing, "query before", "Previous query", "Put the query that was typed before into the line.";
    NextQuery, "next-query", ["alt+down", "alt+n"], SEARCH, Choosing, "next query", "Next query", "Put the query that was typed next into the line, or what was being typed.";

    CharLeft, "char-left", ["left", "ctrl+b"], TYPING, Typing, "left", "Character left", "Go one character to the left.";
    CharRight, "char-right", ["right", "ctrl+f"], TYPING, Typing, "right", "Character right", "Go one character to the right.";
    WordLeft, "word-left", ["ctrl+left", "alt+left", "alt+b"], TYPING, Typing, "word left", "Word left", "Go one word to the left.";
    WordRight, "word-right", ["ctrl+right", "alt+right", "alt+f"], TYPING, Typing, "word right", "Word right", "Go one word to the right.";
    LineStart, "line-start", ["home", "ctrl+a"], TYPING, Typing, "start", "Line start", "Go to the start of the line.";
    LineEnd, "line-end", ["end", "ctrl+e"], TYPING, Typing, "end", "Line end", "Go to the end of the line.";
    DeleteBack, "delete-back", ["backspace", "ctrl+h"], TYPING, Typing, "delete back", "Delete previous character", "Delete the character before the cursor.";
    DeleteForward, "delete-forward", ["delete", "ctrl+d"], TYPING, Typing, "delete", "Delete character", "Delete the character under the cursor.";
    DeleteWordBack, "delete-word-back", ["ctrl+w", "alt+backspace"], TYPING, Typing, "delete word", "Delete previous word", "Delete the word before the cursor.";
    DeleteWordForward, "delete-word-forward", ["alt+d"], TYPING, Typing, "delete word", "Delete next word", "Delete the word behind the cursor.";
    DeleteToStart, "delete-to-start", ["ctrl+u"], TYPING, Typing, "delete to start", "Delete to start", "Delete all before the cursor.";
    DeleteToEnd, "delete-to-end", ["ctrl+k"], TYPING, Typing, "delete to end", "Delete to end", "Delete all behind the cursor.";
    Yank, "yank", ["ctrl+y"], TYPING, Typing, "yank", "Yank deleted text", "Put back what was deleted last.";
}

impl Place {
    /// Every place.
    pub(crate) const ALL: &'static [Self] = EVERYWHERE;

    /// Every pane.
    pub(crate) const PANES: &'static [Self] = PANES;

    /// Returns the name of the place.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Tree => "Tree",
            Self::Preview => "Preview",
            Self::Search => "search line",
            Self::Find => "find line",
            Self::Prompt => "name and label lines",
            Self::Palette => "lists",
            Self::Labels => "list of labels",
            Self::Question => "questions",
            Self::Note => "messages",
            Self::Compare => "comparison",
            Self::Help => "help",
            Self::Context => "what the model sees",
        }
    }

    /// Returns `true` for text input, where a key that types a character does nothing else.
    pub(crate) fn takes_text(self) -> bool {
        TYPING.contains(&self)
    }
}

impl Action {
    /// Returns the action with this name in the configuration.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.name() == name)
    }

    /// Returns the action that a mistyped name may mean.
    pub fn nearest(name: &str) -> Option<Self> {
        Self::from_name(typo::nearest(name, Self::ALL.iter().map(|action| action.name()))?)
    }

    /// Returns the name in the configuration, such as `next-filter`.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the places in which the action works.
    pub fn places(self) -> &'static [Place] {
        self.row().places
    }

    /// Returns the group in the help.
    pub fn group(self) -> Group {
        self.row().group
    }

    /// Returns one or two words for the footer.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// Returns two to four words for the command palette.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Returns a sentence for the help.
    pub fn help(self) -> &'static str {
        self.row().help
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_is_near() {
        assert_eq!(Action::nearest("filter-nxet"), Some(Action::NextFilter));
        assert_eq!(Action::nearest("prevew_up"), Some(Action::PreviewUp));
        assert_eq!(Action::nearest("zzzzzz"), None);
    }
}
