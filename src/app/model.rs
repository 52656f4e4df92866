//! Everything that the browser knows.

use std::path::Path;
use std::sync::Arc;

use crate::app::edit::Edit;
use crate::app::help::Help;
use crate::app::layout::{Layout, PaneArea};
use crate::app::palette::Palette;
use crate::app::picker::Print;
use crate::app::preview::Subject;
use crate::app::question::Question;
use crate::app::search::Search;
use crate::app::sheet::{Sheet, largest};
use crate::app::update::say;
use crate::app::{preview, sessions, tree};
use crate::base::text::{ASCII, Glyphs, Tone, UNICODE, clean};
use crate::changes::Target;
use crate::config::{Config, SavedQuery, ThemeName};
use crate::disk::locate::Located;
use crate::keymap::{Keymap, Place};
use crate::render::plain;
use crate::search::query::complete::Lists;
use crate::session::digest::summary::Summary;
use crate::session::tree::{Index, Tree};

/// The columns of a text from a file in a question.
const SHORT: usize = 60;

/// What does not change while the browser runs.
#[derive(Debug)]
pub struct Setting {
    /// Where the sessions are, and how that was found.
    pub located: Located,
    /// The home directory, for `~`.
    pub home: String,
    /// Whether these are the sample sessions.
    pub demo: bool,
    /// The signs to draw with.
    pub glyphs: &'static Glyphs,
    /// The colours; `None` if there are to be none (`NO_COLOR`).
    pub theme: Option<ThemeName>,
    /// The keys.
    pub keymap: Keymap,
    /// The command that resumes a session.
    pub pi: Vec<String>,
    /// What Enter answers with, if pitree is a picker.
    pub picker: Option<Print>,
    /// What is searched at the start.
    pub query: String,
    /// The queries that have a name.
    pub queries: Vec<SavedQuery>,
    /// The time zone of clocks on the wall.
    pub zone: jiff::tz::TimeZone,
}

impl Setting {
    /// From a configuration.
    pub fn new(config: &Config, located: Located, home: String, demo: bool) -> Self {
        Self {
            located,
            home,
            demo,
            glyphs: if config.ascii { &ASCII } else { &UNICODE },
            theme: Some(config.theme),
            keymap: config.keymap.clone(),
            pi: config.pi.clone(),
            picker: None,
            query: String::new(),
            queries: config.queries.clone(),
            zone: jiff::tz::TimeZone::UTC,
        }
    }
}

/// What the footer says until the next key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Whether it is good or bad news.
    pub tone: Tone,
    /// On one line.
    pub text: String,
}

/// What is asked for; keys are for that alone then.
#[derive(Clone, Debug)]
pub enum Asking {
    /// A line to be typed, in the footer.
    Line(Edit),
    /// A choice, in a box.
    Question(Question),
}

/// A text in a box, until a key closes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The first line.
    pub title: String,
    /// What it says; may have several lines. The second one is a command to be copied if the first ends with a colon.
    pub text: String,
    /// The first row that is seen.
    pub top: usize,
}

impl Message {
    /// A message that is seen from its start.
    pub fn new(title: &str, text: impl Into<String>) -> Self {
        Self { title: title.into(), text: text.into(), top: 0 }
    }

    /// What the box shows on a terminal of some columns and rows.
    pub fn sheet(&self, terminal: (u16, u16)) -> Sheet {
        let mut lines = plain(Tone::Text, &self.text);
        let has_command = self.text.lines().next().is_some_and(|first| first.ends_with(':'));
        for (at, line) in lines.iter_mut().enumerate() {
            line.verbatim = has_command && at == 1;
        }
        Sheet::new(lines, largest(terminal, 88), 0)
    }
}

/// The numbers of the last requests: replies to earlier ones are dropped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Requests {
    pub(super) scan: u64,
    pub(super) open: u64,
    pub(super) split: u64,
    pub(super) read: u64,
    pub(super) list: u64,
    pub(super) find: u64,
    pub(super) search: u64,
}

/// Everything that the browser knows.
#[derive(Debug)]
pub struct Model {
    /// What does not change.
    pub setting: Arc<Setting>,
    /// Milliseconds since 1970.
    pub now: i64,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The pane that has the keyboard.
    pub focus: Place,
    /// The sessions pane.
    pub sessions: sessions::Pane,
    /// The tree pane.
    pub tree: tree::Pane,
    /// The preview pane.
    pub preview: preview::Pane,
    /// The help, if it is open.
    pub help: Option<Help>,
    /// A box with a message, if it is open.
    pub message: Option<Message>,
    /// The palettes that are open: the last one is seen, the others are gone back to.
    pub palettes: Vec<Palette>,
    /// What is asked for.
    pub asking: Option<Asking>,
    /// A search over sessions, if there is one.
    pub search: Option<Search>,
    /// What the sessions have that qualifiers may ask for.
    pub(super) values: Arc<Lists>,
    /// What the footer says.
    pub notice: Option<Notice>,
    pub(super) requests: Requests,
    /// The files of the scan under way.
    pub(super) scanned: std::collections::HashSet<std::path::PathBuf>,
    /// The files that were changed here since the scan began: what it read of them may be older.
    pub(super) changed: std::collections::HashSet<std::path::PathBuf>,
    /// The forks whose split points were asked for.
    pub(super) asked_forks: Vec<std::path::PathBuf>,
}

impl Model {
    /// A browser that has read nothing yet.
    pub fn new(setting: Arc<Setting>, config: &Config, size: (u16, u16), now: i64) -> Self {
        Self {
            setting,
            now,
            size,
            focus: Place::Sessions,
            sessions: sessions::Pane::new(config.sort),
            tree: tree::Pane::new(config.filter),
            preview: preview::Pane::default(),
            help: None,
            message: None,
            palettes: Vec::new(),
            asking: None,
            search: None,
            values: Arc::default(),
            notice: None,
            requests: Requests::default(),
            scanned: std::collections::HashSet::new(),
            changed: std::collections::HashSet::new(),
            asked_forks: Vec::new(),
        }
    }

    /// Where the panes are; `None` if the terminal is too small.
    pub fn layout(&self) -> Option<Layout> {
        Layout::new(self.size, self.focus)
    }

    /// The area of a pane, if it is seen.
    pub fn area(&self, place: Place) -> Option<PaneArea> {
        self.layout()?.pane(place)
    }

    /// Asks something in a box.
    pub(super) fn ask(&mut self, question: Question) {
        self.asking = Some(Asking::Question(question));
    }

    /// Asks for a line, unless nothing can be changed anyway.
    pub(super) fn edit(&mut self, edit: Edit) {
        if !crate::app::change::is_refused_in_demo(self) {
            self.asking = Some(Asking::Line(edit));
        }
    }

    /// The start of a text from a file, clean, as a question shows it.
    pub(super) fn short(&self, text: &str) -> String {
        self.setting.glyphs.cut(&clean(crate::base::js::cut(text, 200)), SHORT).into_owned()
    }

    /// The session that an action is about: the selected one, whose tree is open.
    pub(super) fn meant_session(&self) -> Option<&Summary> {
        self.sessions.selected_session().map(Arc::as_ref)
    }

    /// The entry that an action is about: the selected one in the tree, in the preview the one that it shows.
    pub(super) fn meant_entry(&self) -> Option<Index> {
        match (self.focus, &self.preview.subject) {
            (Place::Sessions, _) => None,
            (Place::Preview, Subject::Entry(path, at)) if self.tree.path.as_ref() == Some(path) => Some(*at),
            (Place::Preview, _) => None,
            (Place::Tree, _) => self.tree.selected_entry(),
        }
    }

    /// The entry that an action is about, in a tree that is read as a whole; else says what is in the way.
    pub(super) fn whole_entry(&mut self) -> Option<(Arc<Tree>, Index)> {
        let tree = self.tree.tree.clone().filter(|tree| !tree.is_partial);
        let why = match (tree, self.meant_entry()) {
            (Some(tree), Some(at)) => return Some((tree, at)),
            (Some(_), None) if self.tree.selected_fork().is_some() => "this row is another session: Enter goes there",
            (Some(_), None) => "choose an entry in the tree",
            (None, _) => "the session is still being read",
        };
        say(self, Tone::Warning, why.into());
        None
    }

    /// Goes to an entry of any session, whatever hides it; as soon as its tree is open.
    pub(super) fn go_to_entry(&mut self, path: &Path, entry: Target) {
        if self.sessions.select(path, self.setting.glyphs) {
            self.focus = Place::Tree;
            self.tree.go_to_entry(path, entry);
        } else {
            say(self, Tone::Warning, "this session is not there any more".into());
        }
    }

    /// The rows of a pane's body; 1 if it is not seen.
    pub(super) fn height(&self, place: Place) -> usize {
        self.area(place).map_or(1, |area| area.body.height.max(1).into())
    }
}
