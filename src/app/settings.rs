//! Settings that stay constant while the browser runs, and the output of a picker.

use std::path::PathBuf;
use std::sync::Arc;

use crate::base::text::Glyphs;
use crate::base::time;
use crate::config::{Config, Palette, SecretCells, TimeForm};
use crate::disk::locate::Located;
use crate::keymap::Action;
use crate::machines::registry::Machine;
use crate::pi::launch::Start;
use crate::session::tree::{EntryIndex, Tree};

/// Settings that stay constant while the browser runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The configuration.
    pub config: Config,
    /// The session directories and their origin.
    pub located: Located,
    /// The home directory, for `~`.
    pub home: String,
    /// The directory in which pitree was started; empty if irrelevant.
    pub current_dir: String,
    /// `true` to show only sessions of that directory at first.
    pub here_only: bool,
    /// `true` if the sessions are the built-in samples.
    pub demo: bool,
    /// `true` to welcome the user, unless an earlier browser did.
    pub welcomes: bool,
    /// Symbols.
    pub glyphs: Glyphs,
    /// Colors; `None` without color (`NO_COLOR`). For `auto`, dark until the terminal reports its background.
    pub theme: Option<Palette>,
    /// Output format of a picker.
    pub picker: Option<PickerFormat>,
    /// The session file to open first, and the ID of the entry to select.
    pub at: Option<(PathBuf, Option<String>)>,
    /// A message for the footer at the start.
    pub notice: Option<String>,
    /// The first search.
    pub query: String,
    /// `true` to open the screen of statistics first.
    pub opens_statistics: bool,
    /// Time zone of displayed times.
    pub zone: jiff::tz::TimeZone,
    /// The other machines.
    pub machines: Vec<Machine>,
    /// The rules that hide secrets in lists.
    pub secret_cells: SecretCells,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(&Config::default(), Located::default(), String::new(), false)
    }
}

impl Settings {
    /// Converts a time in milliseconds since 1970 to the time zone of the user.
    pub(crate) fn zoned(&self, ms: i64) -> Option<jiff::ZonedDateTime> {
        jiff::Timestamp::from_millisecond(ms).ok().map(|time| time.to_zoned_datetime(self.zone.clone()))
    }

    /// Formats a time in milliseconds since 1970 with its date.
    pub(crate) fn date(&self, ms: i64) -> Option<String> {
        self.zoned(ms).map(|time| time.strftime("%Y-%m-%d %H:%M").to_string())
    }

    /// Creates the settings from the configuration.
    pub fn new(config: &Config, located: Located, home: String, demo: bool) -> Self {
        Self {
            config: config.clone(),
            located,
            home,
            current_dir: String::new(),
            here_only: false,
            demo,
            welcomes: false,
            glyphs: config.glyphs().clone(),
            theme: Some(config.theme.palette().unwrap_or_default()),
            picker: None,
            at: None,
            notice: None,
            query: String::new(),
            opens_statistics: false,
            zone: jiff::tz::TimeZone::UTC,
            machines: Vec::new(),
            secret_cells: SecretCells::default(),
        }
    }

    /// Returns a text for the cell of a list, without likely secrets.
    pub fn cell(&self, text: &str) -> String {
        self.secret_cells.hide(text, &self.config.redact).into_owned()
    }

    /// Formats a time for a list, in milliseconds since 1970.
    pub fn when(&self, now: i64, then: Option<i64>) -> String {
        match (then, self.config.times) {
            (None, _) => "?".into(),
            (Some(then), TimeForm::Date) => time::when(now, then, &self.zone),
            (Some(then), TimeForm::Age) => time::age(now, then),
        }
    }

    /// Returns the first key of an action for a message, as written in `config.toml`; the action's name if it has no
    /// key.
    pub fn key(&self, action: Action) -> String {
        self.config.keymap.keys(action).first().map_or_else(|| action.row().name.into(), ToString::to_string)
    }

    /// Returns the first key of an action that works in an input line, where character keys insert text.
    pub(crate) fn key_in_line(&self, action: Action) -> String {
        let key = self.config.keymap.keys(action).iter().find(|key| key.typed().is_none());
        key.map_or_else(|| action.row().name.into(), ToString::to_string)
    }
}

/// Output format of a picker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PickerFormat {
    /// Path of the session file.
    #[value(help = "the path of the session's file")]
    Path,
    /// ID of the session.
    #[value(help = "the id of the session")]
    Id,
    /// ID of the entry; in the list, of the leaf.
    #[value(help = "the id of the entry; in the list, of the leaf")]
    Entry,
    /// The shell command that resumes the session there.
    #[value(help = "shell command that resumes at the selection")]
    Command,
    /// All of these as JSON.
    #[value(help = "all of the above as JSON")]
    Json,
}

/// A session and one of its entries, chosen in a picker.
#[derive(Clone, Debug)]
pub struct PickedEntry {
    /// The session file.
    pub path: PathBuf,
    /// ID of the session.
    pub id: String,
    /// Its working directory; empty if unknown.
    pub cwd: String,
    /// Its name.
    pub name: Option<String>,
    /// The entry, in its tree; `None` for an empty session.
    pub entry: Option<(Arc<Tree>, EntryIndex)>,
    /// Text for pi's editor, if different from the text of the entry.
    pub draft: Option<String>,
}

/// Output of a picker.
#[derive(Clone, Debug)]
pub enum PickerOutput {
    /// Path of a session file.
    Path(PathBuf),
    /// ID of a session or an entry.
    Id(String),
    /// A session and one of its entries as JSON.
    Json(Box<PickedEntry>),
    /// The shell command that resumes a session.
    Command(Start),
}
