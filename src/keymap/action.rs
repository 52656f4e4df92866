//! The table of actions, one row per action.
//!
//! Dispatch, footer, help, configuration and `docs/keys.md` read this table; to add an action, add a row. The state
//! machine executes actions, and [`Keymap`](crate::keymap::Keymap) has the configured keys.

use crate::base::named::named;
use crate::base::typo;

named! {
    /// The context of a key: the focused pane or the layer on top.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum KeyContext {
        /// The list of projects and sessions.
        #[default]
        Sessions = "Sessions",
        /// The entries of the selected session.
        Tree = "Tree",
        /// The selected entry in full.
        Reader = "Reader",
        /// The input line of a search over sessions.
        Search = "search line",
        /// The input line for finding text in a session.
        Find = "find line",
        /// The input line for a name, a label or a directory.
        Prompt = "name, label and directory lines",
        /// A list to choose from.
        Palette = "lists",
        /// A menu.
        Menu = "menus",
        /// The list of labels.
        Labels = "list of labels",
        /// A question box.
        Question = "questions",
        /// A message box.
        MessageBox = "messages",
        /// A comparison of two branches.
        Compare = "comparison",
        /// The model context at an entry.
        Context = "model context",
        /// Statistics.
        Stats = "statistics",
        /// The files of sessions.
        Files = "files",
        /// The content of a file, or a difference.
        FileText = "file content",
    }
}

use KeyContext as C;

/// Every pane.
const PANES: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader];
const SESSIONS: &[KeyContext] = &[C::Sessions];
const TREE: &[KeyContext] = &[C::Tree];
/// Contexts with a selected entry.
const ENTRIES: &[KeyContext] = &[C::Tree, C::Reader];
/// The same, the ends of a compared branch, and sessions, whose last messages are meant.
const ENTRIES_AND_SESSIONS: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Compare];
/// The same, and the model context.
const ENTRIES_AND_CONTEXT: &[KeyContext] = &[C::Tree, C::Reader, C::Context];
/// Contexts with marks on sessions, entries or states of files.
const MARKING: &[KeyContext] = &[C::Sessions, C::Tree, C::Files, C::Context];
const CONTEXT: &[KeyContext] = &[C::Context];
const COMPARE: &[KeyContext] = &[C::Compare];
/// Panes and layers with a menu of the selection.
const MENUS: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Compare, C::Context];
/// Panes and layers with the same keys for scrolling and selection.
const ROWS: &[KeyContext] = &[
    C::Sessions,
    C::Tree,
    C::Reader,
    C::Search,
    C::Question,
    C::MessageBox,
    C::Compare,
    C::Context,
    C::Stats,
    C::Files,
    C::FileText,
];
/// Panes and layers with the same keys for folding.
const FOLDING: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Compare];
/// The same, and layers in which each row is folded alone.
const FOLDING_ONE: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Compare, C::Files];
const PANES_AND_LONG: &[KeyContext] =
    &[C::Sessions, C::Tree, C::Reader, C::Compare, C::Context, C::Stats, C::Files, C::FileText];
/// Panes and boxes closed with the same keys.
const PANES_AND_BOXES: &[KeyContext] =
    &[C::Sessions, C::Tree, C::Reader, C::Question, C::Compare, C::Context, C::Stats, C::Files, C::FileText];
const PANES_AND_STATS: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Stats];
const PANES_AND_FILES: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Files];
const PANES_AND_TEXT: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::FileText];
/// Contexts from which something can be copied.
const COPYING: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Stats, C::Files, C::FileText];
/// Contexts in which a text is searched or filtered.
const FINDING: &[KeyContext] = &[C::Tree, C::Reader, C::Files];
const FILES: &[KeyContext] = &[C::Files];
/// The list of files, and the content of one.
const FILES_AND_TEXT: &[KeyContext] = &[C::Files, C::FileText];
const STATS: &[KeyContext] = &[C::Stats];
/// The list of sessions, also while a search is typed.
const SEARCHED: &[KeyContext] = &[C::Sessions, C::Search];
/// The same, and the model context.
const SORTED: &[KeyContext] = &[C::Sessions, C::Search, C::Context];
const PANES_AND_SEARCH: &[KeyContext] = &[C::Sessions, C::Tree, C::Reader, C::Search];
/// Contexts where the quit key quits pitree.
const LEAVING: &[KeyContext] =
    &[C::Sessions, C::Tree, C::Reader, C::Search, C::Question, C::Compare, C::Context, C::Stats, C::Files, C::FileText];
/// The same, and boxes that any key closes.
const SUSPENDING: &[KeyContext] = &[
    C::Sessions,
    C::Tree,
    C::Reader,
    C::Search,
    C::Question,
    C::MessageBox,
    C::Compare,
    C::Context,
    C::Stats,
    C::Files,
    C::FileText,
];
const EVERYWHERE: &[KeyContext] = KeyContext::ALL;
/// Input lines that end with a key.
const LINES: &[KeyContext] = &[C::Search, C::Find, C::Prompt, C::Palette, C::Labels, C::Menu];
/// Contexts for text input.
const TYPING: &[KeyContext] = &[C::Search, C::Find, C::Prompt, C::Palette, C::Labels];
const SEARCH: &[KeyContext] = &[C::Search];
const PALETTES: &[KeyContext] = &[C::Palette, C::Labels];
const PALETTES_AND_MENUS: &[KeyContext] = &[C::Palette, C::Labels, C::Menu];
/// Contexts where the quit key only closes the layer.
const CLOSED: &[KeyContext] = &[C::Find, C::Prompt, C::Palette, C::Labels];

named! {
    /// A group of actions in the help.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Group {
        /// Moving through rows and panes.
        Moving = "Navigation",
        /// Sizes of panes, and what is folded or wrapped in them.
        View = "Panes and folds",
        /// Going to search hits.
        Finding = "Search and jumps",
        /// Actions on the selected row and on pitree itself.
        Doing = "Actions",
        /// Changes of sessions, and undo.
        Changing = "Changing sessions",
        /// Edits of the model context: plans, until they are written.
        Context = "Model context",
        /// Options of the session list.
        Sessions = "Session list",
        /// The screen of statistics.
        Statistics = "Statistics",
        /// The files of sessions and their states.
        Files = "Files",
        /// Options of the tree, and jumps in it.
        Tree = "Session tree",
        /// Lists and input lines.
        Choosing = "Lists and input lines",
        /// Editing an input line. Another action with the same key comes first.
        Typing = "Text editing",
    }
}

named! {
    /// A menu; its name is the first key of the sequences that it shows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Menu {
        /// Actions on the selection or the marked rows.
        Selection = "m",
        /// Places to go to.
        GoTo = "g",
        /// Filters, sort orders and sizes.
        View = "v",
    }
}

impl Menu {
    /// Returns the title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Selection => "Selection",
            Self::GoTo => "Go to",
            Self::View => "View",
        }
    }
}

/// A row of the table.
#[derive(Debug)]
pub struct ActionRow {
    /// The name in the configuration, such as `next-filter`.
    pub name: &'static str,
    /// The default keys, the preferred one first.
    pub keys: &'static [&'static str],
    /// The contexts in which the action works.
    pub contexts: &'static [KeyContext],
    /// The group in the help.
    pub group: Group,
    /// One or two words for the footer.
    pub word: &'static str,
    /// Two to four words for the command palette.
    pub title: &'static str,
    /// A sentence for the help.
    pub help: &'static str,
}

macro_rules! actions {
    ($($action:ident, $name:literal, $keys:expr, $contexts:expr, $group:ident, $word:literal, $title:literal, $help:literal;)*) => {
        /// An action that a key can trigger.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action {
            $(#[doc = $help] $action,)*
        }

        impl Action {
            /// Every action, in the order of the help.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$action,)*];

            /// Returns the row of the action.
            pub fn row(self) -> &'static ActionRow {
                match self {
                    $(Self::$action => &ActionRow {
                        name: $name,
                        keys: &$keys,
                        contexts: $contexts,
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
    Up, "up", ["k", "up"], ROWS, Moving, "up", "Move up", "Move up one row.";
    Down, "down", ["j", "down"], ROWS, Moving, "down", "Move down", "Move down one row.";
    PageUp, "page-up", ["pageup", "ctrl+b"], ROWS, Moving, "page up", "Page up", "Move up one page.";
    PageDown, "page-down", ["pagedown", "ctrl+f"], ROWS, Moving, "page down", "Page down", "Move down one page.";
    First, "first", ["home", "g g"], PANES_AND_LONG, Moving, "first", "First row", "Go to the first row.";
    Last, "last", ["end", "G"], PANES_AND_LONG, Moving, "last", "Last row", "Go to the last row.";
    Fold, "fold", ["h", "left"], FOLDING_ONE, Moving, "fold", "Fold or go out", "Fold the row, or go to its parent or the previous pane.";
    Unfold, "unfold", ["l", "right"], FOLDING_ONE, Moving, "unfold", "Unfold or go in", "Unfold the row, or go to its first child or the next pane.";
    NextPane, "next-pane", ["tab"], PANES, Moving, "pane", "Next pane", "Go to the next pane.";
    PreviousPane, "previous-pane", ["shift+tab"], PANES, Moving, "pane", "Previous pane", "Go to the previous pane.";
    PreviousPrompt, "previous-prompt", ["{"], ENTRIES, Moving, "prompt", "Previous prompt", "Go to the previous prompt.";
    NextPrompt, "next-prompt", ["}"], ENTRIES, Moving, "prompt", "Next prompt", "Go to the next prompt.";
    NextEntry, "next-entry", ["]"], PANES_AND_TEXT, Moving, "next entry", "Next entry", "Select and read the next entry, or the next session in the list; in the reader, select the next part that folds or leads elsewhere; in file content, show the next state in the list.";
    PreviousEntry, "previous-entry", ["["], PANES_AND_TEXT, Moving, "previous entry", "Previous entry", "Select and read the previous entry, or the previous session in the list; in the reader, select the previous part; in file content, show the previous state in the list.";
    ReaderUp, "reader-up", [], PANES, Moving, "reader up", "Scroll reader up", "Scroll the reader up from any pane.";
    ReaderDown, "reader-down", [], PANES, Moving, "reader down", "Scroll reader down", "Scroll the reader down from any pane.";

    FoldAll, "fold-all", ["v c"], FOLDING, View, "fold all", "Fold all", "Fold all rows; in the reader, thinking and tool calls.";
    UnfoldAll, "unfold-all", ["v x"], FOLDING, View, "unfold all", "Unfold all", "Unfold all rows; in the reader, thinking and tool calls.";
    Zoom, "zoom", ["z", "v z"], PANES, View, "zoom", "Toggle full screen", "Toggle full screen for the focused pane.";
    Larger, "larger", ["v >"], PANES, View, "larger", "Enlarge pane", "Enlarge the focused pane.";
    Smaller, "smaller", ["v <"], PANES, View, "smaller", "Shrink pane", "Shrink the focused pane.";
    ShowReader, "show-reader", ["v v"], PANES, View, "with reader", "Toggle reader", "Show or hide the reader below the tree or the search results.";
    Wrap, "wrap", ["v w"], ENTRIES, View, "wrap", "Toggle line wrap", "Wrap long lines of code in the reader, or scroll them horizontally.";
    NextForm, "next-form", ["v e"], ENTRIES, View, "form", "Next reader form", "Show the conversation, the differences of the entry, the whole files after it, or its raw lines.";

    Search, "search", ["/"], SESSIONS, Finding, "search", "Search all sessions", "Search all sessions; see Query syntax in the help (?).";
    SearchEverything, "search-everything", ["ctrl+x", "v e"], SEARCHED, Finding, "everything", "Search all text", "While searching, include or exclude tool output, thinking, arguments and custom entries.";
    Find, "find", ["/"], FINDING, Finding, "find", "Find in session", "Find text in the session or the reader; tab hides entries without a hit. In the files view, filter the files.";
    NextHit, "next-hit", ["n"], ENTRIES, Finding, "next", "Next hit", "Go to the next hit.";
    PreviousHit, "previous-hit", ["N"], ENTRIES, Finding, "previous", "Previous hit", "Go to the previous hit.";
    JumpBack, "jump-back", ["g j"], PANES, Finding, "jump back", "Jump back", "Return to the position before the last jump.";
    JumpForward, "jump-forward", ["g J"], PANES, Finding, "jump forward", "Jump forward", "Go to the next position in the jump history.";
    Labels, "labels", ["'", "g l"], PANES, Finding, "labels", "List labels and commits", "List labels and commits of all sessions; go to one, or rename or clear a label.";
    Projects, "projects", ["g p"], PANES, Finding, "projects", "List projects", "List all projects, most recent first; go to one.";
    Files, "files", ["g f", "m F"], PANES_AND_FILES, Finding, "files", "List touched files", "List files that the session or project read or changed, with their states at the entries that did it.";
    Terminal, "go-to-terminal", ["g t"], PANES, Finding, "terminal", "Go to terminal", "Select the pane of tmux, WezTerm or kitty in which a pi has the session open.";
    MenuSelection, "menu", ["m"], MENUS, Finding, "menu", "Menu of the selection", "Open the menu of actions on the selection or the marked rows.";
    MenuGoTo, "menu-go-to", ["g"], PANES_AND_LONG, Finding, "go", "Go-to menu", "Open the menu of places to go to.";
    MenuView, "menu-view", ["v"], MENUS, Finding, "view", "View menu", "Open the menu of filters, sort orders and sizes.";
    Palette, "palette", [":"], PANES, Finding, "commands", "Command palette", "Open the command palette; recent actions come first.";

    Confirm, "confirm", ["enter"], PANES_AND_BOXES, Doing, "resume", "Resume in pi", "Resume the session, in the tree from the selected entry; on a project row, fold or unfold it.";
    Back, "back", ["esc"], PANES_AND_BOXES, Doing, "back", "Go back", "Go back one step: end a search, close a box, clear marks or leave the pane.";
    Context, "context", ["c", "m c"], ENTRIES_AND_CONTEXT, Doing, "context", "Show model context", "Show the context sent to the model at this entry: messages, token counts and omissions.";
    ResumeHere, "resume-here", ["m h"], &[C::Context], Doing, "resume here", "Resume from context", "Resume the session from the entry whose context is shown.";
    Copy, "copy", ["y", "m y"], COPYING, Doing, "copy", "Copy to clipboard", "Copy the entry text, an ID, the session path or the resume command; in statistics, the table as Markdown; in the files view, a path or the content.";
    Export, "export", ["m e"], PANES, Doing, "export", "Export to share", "Export the marked sessions or the branch to the selected entry as a file for others, without likely secrets.";
    Slim, "shrink", ["m s"], PANES, Doing, "shrink", "Shrink sessions", "Make the files of the marked sessions or the selected session smaller: old snapshots of extensions, results that no model receives.";
    Repair, "repair", ["m R"], PANES, Doing, "repair", "Repair sessions", "Repair the files of the marked sessions or the selected session, if they are damaged.";
    Pager, "pager", ["m v"], PANES, Doing, "pager", "Open in pager", "Open the shown item as source text in $PAGER.";
    Editor, "editor", ["m E"], PANES, Doing, "editor", "Open in editor", "Open a copy of the shown item in $VISUAL or $EDITOR, or its images in the viewer of the system; the session is unchanged.";
    Compare, "compare", ["=", "m ="], PANES, Doing, "compare", "Compare branches", "Compare two branches from where they diverge: two marks, a mark and the selection, or the selected entry and the leaf.";
    Pick, "pick", ["m i"], ENTRIES_AND_SESSIONS, Doing, "copy branch", "Copy branch messages", "In a comparison, append the messages of the other branch to a fork of the chosen one; elsewhere, compare first.";
    SideA, "side-a", ["a"], COMPARE, Doing, "choose A", "Choose branch A", "In a comparison, choose branch A to resume or label.";
    SideB, "side-b", ["b"], COMPARE, Doing, "choose B", "Choose branch B", "In a comparison, choose branch B to resume or label.";
    FileDifference, "file-difference", ["d"], COMPARE, Doing, "file difference", "Show file difference", "In a comparison, show the difference of the selected file at the two ends.";
    GoToCommon, "go-to-common", ["o"], COMPARE, Doing, "common entry", "Go to common entry", "In a comparison, go to the last common entry in the chosen branch's session.";
    Stats, "statistics", ["g c"], PANES_AND_STATS, Doing, "statistics", "Show statistics", "Show costs, tokens and working time of the listed sessions, by project, model, day and others.";
    Space, "space", ["g s"], PANES_AND_STATS, Doing, "space", "Show space", "Show the size of the listed sessions or the open session as statistics, by kind, project, tool and others.";
    Machines, "machines", ["g m"], PANES, Doing, "machines", "Show other machines", "Show the other machines, when their sessions were copied, and what failed.";
    Reload, "reload", ["f5"], PANES, Doing, "reload", "Reload sessions", "Reload all sessions from disk.";
    Help, "help", ["?", "f1"], EVERYWHERE, Doing, "help", "Show help", "Show the keys of this place, all keys, the query syntax and the symbols.";
    UnreadableFiles, "unreadable-files", ["g u"], PANES, Doing, "unreadable", "Show unreadable files", "List the files that could not be read, with the reason and what to do.";
    Welcome, "welcome", [], PANES, Doing, "welcome", "Show the welcome", "Show the most important keys, as on the first start.";
    Suspend, "suspend", ["ctrl+z"], SUSPENDING, Doing, "suspend", "Suspend pitree", "Suspend pitree; run fg in the shell to continue.";
    Quit, "quit", ["q", "ctrl+c"], LEAVING, Doing, "quit", "Quit pitree", "Quit pitree.";

    Fork, "fork", ["m f"], ENTRIES_AND_CONTEXT, Changing, "fork", "Fork at entry", "Fork the session: copy the path to this entry into a new session.";
    Rename, "rename", ["ctrl+r", "m r"], PANES_AND_SEARCH, Changing, "rename", "Rename session", "Rename the marked sessions or the selected session; an empty name clears it.";
    FindTitles, "find-titles", ["m S"], PANES, Changing, "find names", "Name by pi", "Ask pi, or the program of the configuration, for names of the marked sessions or the selected one. They can be edited first.";
    Label, "label", ["m l"], ENTRIES_AND_SESSIONS, Changing, "label", "Label entry", "Set the label of the entry, or of the last message of the marked sessions; an empty label clears it.";
    Tags, "tags", ["m t"], PANES, Changing, "tags", "Edit tags", "Edit the tags of the marked sessions or the selected session.";
    Pin, "pin", ["m p"], PANES, Changing, "pin", "Pin or unpin", "Pin the marked sessions or the selected session above the others of the project; press again to unpin.";
    Annotate, "annotate", ["m n"], PANES, Changing, "note", "Edit note", "Edit the note on the selected session or entry; an empty note removes it.";
    MarkRead, "mark-read", ["m k"], PANES, Changing, "read", "Mark as read", "Mark the marked sessions, the selected session or a project's sessions as read.";
    Archive, "archive", ["m a"], PANES, Changing, "archive", "Move to archive", "Move the marked sessions, the selected session or a project's sessions to the compressed archive, or bring archived ones back.";
    Move, "move", ["m m"], PANES, Changing, "move", "Move to directory", "Move the marked sessions, the selected session or a project's sessions to another working directory.";
    Delete, "delete", ["ctrl+d", "delete", "m x"], SEARCHED, Changing, "trash", "Move to trash", "Move the marked sessions, the selected session or a project's sessions to the trash.";
    Mark, "mark", ["space"], MARKING, Changing, "mark", "Mark or unmark", "Mark or unmark the session or all sessions of the project; in the tree, mark up to two entries to compare; in the files view, mark a state to compare with; in the model context, mark messages to edit.";
    MarkAll, "mark-all", ["m A", "alt+*"], SEARCHED, Changing, "mark all", "Mark all sessions", "Mark all listed sessions, or unmark them; in a search, all hits.";
    CleanUp, "clean-up", ["g a"], PANES, Changing, "clean up", "Clean up sessions", "List suggestions of sessions that are probably not needed: empty ones, duplicates, unused forks and others.";
    Undo, "undo", ["u"], PANES, Changing, "undo", "Undo last change", "Undo the last change; asks first if another run of pitree made it.";
    Redo, "redo", ["U"], PANES, Changing, "redo", "Redo change", "Redo the change that was last undone.";
    Trash, "show-trash", ["g x"], PANES, Changing, "trash", "Show trash", "List sessions in pitree's trash and restore one.";
    History, "history", ["g h"], PANES, Changing, "history", "Show change history", "List all changes, most recent first, and undo one.";

    MarkUp, "mark-up", ["shift+up"], CONTEXT, Context, "mark up", "Mark upward", "Mark the message and the one above it.";
    MarkDown, "mark-down", ["shift+down"], CONTEXT, Context, "mark down", "Mark downward", "Mark the message and the one below it.";
    MarkTurn, "mark-turn", ["t"], CONTEXT, Context, "turn", "Mark turn", "Mark or unmark all messages of the turn.";
    MarkTool, "mark-tool", ["="], CONTEXT, Context, "tool", "Mark results of tool", "Mark or unmark all results of the same tool.";
    OmitMessage, "omit-message", ["d"], CONTEXT, Context, "omit", "Omit messages", "Plan to omit the marked messages or the selected one: a call with its result, and a result with its call.";
    ShortenMessage, "shorten-message", ["s"], CONTEXT, Context, "shorten", "Shorten messages", "Plan to keep only the first and last lines of the marked messages or the selected one; asks how many.";
    ReplaceMessage, "replace-message", ["r"], CONTEXT, Context, "replace", "Replace text", "Edit the text of the message in $EDITOR, and plan to send that instead.";
    RestoreMessage, "restore-message", ["o"], CONTEXT, Context, "restore", "Restore original", "Plan to send the original contents of the marked messages or the selected one.";
    SuggestEdits, "suggest-edits", ["a"], CONTEXT, Context, "suggest", "Take suggestions", "Plan the suggested edits: results read again later, large old outputs, failed attempts, old images, likely secrets.";

    NextSort, "next-sort", ["ctrl+s", "v s"], SORTED, Sessions, "sort", "Next sort order", "Change the sort order (model context: by size).";
    WaitingFirst, "waiting-first", ["v w"], SESSIONS, Sessions, "waiting first", "Waiting sessions first", "Put sessions whose pi waits for you at the top; press again to restore the order.";
    NamedOnly, "named-only", ["ctrl+n", "v n"], SEARCHED, Sessions, "named", "Toggle unnamed sessions", "Show or hide sessions without a name.";
    HereOnly, "here-only", ["v h"], SESSIONS, Sessions, "here", "Start directory only", "Show only sessions of the project in which pitree was started, or all.";
    ShowPaths, "show-paths", ["ctrl+p", "v p"], SEARCHED, Sessions, "paths", "Toggle session paths", "Show or hide the paths of session files.";
    ShowSubagents, "show-subagents", ["ctrl+g", "v g"], SEARCHED, Sessions, "subagents", "Toggle subagent sessions", "Show or hide subagent sessions.";
    MarkedOnly, "marked-only", ["v m"], SEARCHED, Sessions, "marked", "Marked sessions only", "Show only marked sessions, or all.";
    ShowArchived, "show-archived", ["v a"], SEARCHED, Sessions, "archived", "Toggle archived sessions", "Show or hide archived sessions.";

    NextGrouping, "next-grouping", ["tab"], STATS, Statistics, "grouping", "Next grouping", "Group by the next property: project, model, tool, day and others; of sizes, kind, project, session, tool, type or entry.";
    PreviousGrouping, "previous-grouping", ["shift+tab"], STATS, Statistics, "grouping", "Previous grouping", "Group by the previous property.";
    PreviousPeriod, "previous-period", ["left", "h"], STATS, Statistics, "earlier", "Previous period", "Show the period before.";
    NextPeriod, "next-period", ["right", "l"], STATS, Statistics, "later", "Next period", "Show the period after.";
    LongerPeriod, "longer-period", [">", "+"], STATS, Statistics, "longer", "Longer period", "Show a longer period: a week, a month, a year, or all time.";
    ShorterPeriod, "shorter-period", ["<", "-"], STATS, Statistics, "shorter", "Shorter period", "Show a shorter period: a year, a month, a week, or a day.";
    NextColumn, "next-column", ["c"], STATS, Statistics, "column", "Next column", "Show another column as bars and in the calendar: cost, tokens, prompts, time, size and others.";

    ShowContent, "show-content", ["v"], FILES_AND_TEXT, Files, "content", "Show file content", "Show the content of the file at the selected state; lines that the entry changed are marked.";
    DiffState, "diff-state", ["="], FILES_AND_TEXT, Files, "difference", "Compare file states", "Show the difference from the marked state, or else from the state before.";
    DiffDisk, "diff-disk", ["d"], FILES_AND_TEXT, Files, "disk", "Compare with disk", "Show the difference from the selected state to the file on the disk.";
    WriteFile, "write-file", ["s"], FILES_AND_TEXT, Files, "write", "Write file state", "Write the content at the selected state to a file; asks for its path, and again before it replaces a file.";
    AllSessions, "all-sessions", ["a"], FILES, Files, "all sessions", "Files of all sessions", "List the files of all sessions, or of the session or project again.";

    NextFilter, "next-filter", ["ctrl+o"], TREE, Tree, "filter", "Next tree filter", "Switch to the next tree filter.";
    PreviousFilter, "previous-filter", ["alt+o", "ctrl+shift+o"], TREE, Tree, "filter", "Previous tree filter", "Switch to the previous tree filter.";
    FilterDefault, "filter-default", ["ctrl+d", "v d"], TREE, Tree, "default", "Filter: default", "Show the entries that pi shows by default.";
    FilterNoTools, "filter-no-tools", ["ctrl+t", "v n"], TREE, Tree, "no tools", "Filter: no tools", "Hide tool calls and results; press again for the default filter.";
    FilterUserOnly, "filter-user-only", ["ctrl+u", "v u"], TREE, Tree, "user only", "Filter: user only", "Show only user messages; press again for the default filter.";
    FilterLabeledOnly, "filter-labeled-only", ["ctrl+l", "v l"], TREE, Tree, "labeled", "Filter: labeled only", "Show only labeled entries; press again for the default filter.";
    FilterAll, "filter-all", ["ctrl+a", "v a"], TREE, Tree, "all", "Filter: all entries", "Show all entries, including settings and labels; press again for the default filter.";
    FilterOutline, "filter-outline", ["v o"], TREE, Tree, "outline", "Filter: outline", "Show only branch points, branch ends, labels, compactions and branch summaries; press again for the default filter.";
    FilterTurns, "filter-turns", ["v t"], TREE, Tree, "turns", "Filter: turns", "Show one row per prompt with a summary of its turn; press again for the default filter.";
    ToolRuns, "fold-tools", ["v r"], TREE, Tree, "tool runs", "Toggle tool runs", "Collapse runs of tool calls, or show each call.";
    SegmentUp, "segment-up", ["ctrl+left", "alt+left"], TREE, Tree, "segment up", "Fold or branch start", "Fold the branch, or go to its start.";
    SegmentDown, "segment-down", ["ctrl+right", "alt+right"], TREE, Tree, "segment down", "Unfold or branch end", "Unfold the branch, or go to its end.";
    PreviousBranchPoint, "previous-branch-point", ["g B"], TREE, Tree, "branch point", "Previous branch point", "Go to the previous branch point.";
    NextBranchPoint, "next-branch-point", ["g b"], TREE, Tree, "branch point", "Next branch point", "Go to the next branch point.";
    GoToLeaf, "go-to-leaf", [".", "g e"], TREE, Tree, "leaf", "Go to leaf", "Go to the leaf, the entry from which pi continues.";
    Follow, "follow", ["v f"], TREE, Tree, "follow", "Follow leaf", "Follow the leaf as pi writes; press again or move to stop.";
    Family, "family", ["v m"], TREE, Tree, "family", "Toggle family tree", "Show the whole family as one tree with shared entries merged, or only this session.";
    FamilyFiles, "family-files", ["v s"], TREE, Tree, "files of the family", "List family sessions", "List the family's sessions and show or hide each in the tree.";
    GoOver, "go-over", ["g o"], ENTRIES, Tree, "go over", "Go to other session", "Go to the row's session, or to another session that contains the entry.";
    LabelTimes, "label-times", ["v i"], TREE, Tree, "label times", "Toggle label times", "Show or hide label timestamps.";

    Accept, "accept", ["enter"], LINES, Choosing, "accept", "Accept input", "Accept the input or the selected item.";
    Cancel, "cancel", ["esc"], LINES, Choosing, "cancel", "Close input", "Close the input line or the list; the text is kept for the next time.";
    Close, "close", ["ctrl+c"], CLOSED, Choosing, "close", "Close input", "Close the input line or all open lists.";
    ListUp, "list-up", ["up", "ctrl+p"], PALETTES_AND_MENUS, Choosing, "up", "List up", "Move up one row in a list.";
    ListDown, "list-down", ["down", "ctrl+n"], PALETTES_AND_MENUS, Choosing, "down", "List down", "Move down one row in a list.";
    ListPageUp, "list-page-up", ["pageup"], PALETTES, Choosing, "page up", "List page up", "Move up one page in a list.";
    ListPageDown, "list-page-down", ["pagedown"], PALETTES, Choosing, "page down", "List page down", "Move down one page in a list.";
    CopyPath, "copy-path", ["alt+y"], &[C::Palette], Choosing, "copy path", "Copy path", "Copy the path of the selected file, or of the selected session in the trash.";
    RenameLabel, "rename-label", ["ctrl+r"], &[C::Labels], Choosing, "rename", "Rename label", "Rename the selected label.";
    OnlyHits, "only-hits", ["tab"], &[C::Find], Choosing, "only hits", "Toggle only hits", "Show only hits, or all entries.";
    Complete, "complete", ["tab"], &[C::Search, C::Prompt], Choosing, "complete", "Complete input", "Complete a qualifier, its value or a directory path; press again for the next candidate.";
    CompleteBack, "complete-back", ["shift+tab"], SEARCH, Choosing, "previous", "Previous completion", "Go to the previous completion candidate.";
    PreviousQuery, "previous-query", ["alt+up", "alt+p"], SEARCH, Choosing, "query before", "Previous query", "Recall the previous query from the history.";
    NextQuery, "next-query", ["alt+down", "alt+n"], SEARCH, Choosing, "next query", "Next query", "Recall the next query from the history, or your unfinished input.";

    CharLeft, "char-left", ["left", "ctrl+b"], TYPING, Typing, "left", "Character left", "Move left one character.";
    CharRight, "char-right", ["right", "ctrl+f"], TYPING, Typing, "right", "Character right", "Move right one character.";
    WordLeft, "word-left", ["ctrl+left", "alt+left", "alt+b"], TYPING, Typing, "word left", "Word left", "Move left one word.";
    WordRight, "word-right", ["ctrl+right", "alt+right", "alt+f"], TYPING, Typing, "word right", "Word right", "Move right one word.";
    LineStart, "line-start", ["home", "ctrl+a"], TYPING, Typing, "start", "Line start", "Move to the start of the line.";
    LineEnd, "line-end", ["end", "ctrl+e"], TYPING, Typing, "end", "Line end", "Move to the end of the line.";
    DeleteBack, "delete-back", ["backspace", "ctrl+h"], TYPING, Typing, "delete back", "Delete previous character", "Delete the character before the cursor.";
    DeleteForward, "delete-forward", ["delete", "ctrl+d"], TYPING, Typing, "delete", "Delete character", "Delete the character under the cursor.";
    DeleteWordBack, "delete-word-back", ["ctrl+w", "alt+backspace"], TYPING, Typing, "delete word", "Delete previous word", "Delete the word before the cursor.";
    DeleteWordForward, "delete-word-forward", ["alt+d"], TYPING, Typing, "delete word", "Delete next word", "Delete the word after the cursor.";
    DeleteToStart, "delete-to-start", ["ctrl+u"], TYPING, Typing, "delete to start", "Delete to start", "Delete from the cursor to the start of the line.";
    DeleteToEnd, "delete-to-end", ["ctrl+k"], TYPING, Typing, "delete to end", "Delete to end", "Delete from the cursor to the end of the line.";
    Yank, "yank", ["ctrl+y"], TYPING, Typing, "yank", "Yank deleted text", "Insert the most recently deleted text.";
}

impl KeyContext {
    /// Every pane.
    pub(crate) const PANES: &'static [Self] = PANES;

    /// Returns `true` for text input, where a key that types a character does nothing else.
    pub fn takes_text(self) -> bool {
        TYPING.contains(&self)
    }
}

impl Action {
    /// Returns the action with this name in the configuration.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|action| action.row().name == name)
    }

    /// Returns the action that a mistyped name may mean.
    pub fn nearest(name: &str) -> Option<Self> {
        Self::from_name(typo::nearest(name, Self::ALL.iter().map(|action| action.row().name))?)
    }
}
