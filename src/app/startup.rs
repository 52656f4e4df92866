//! What does not change while the browser runs.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::base::text::{Glyphs, Tone};
use crate::config::{AfterPi, ColorOverride, Config, GoBy, Palette, SavedQuery};
use crate::disk::locate::Located;
use crate::keymap::{Action, Keymap};

/// What does not change while the browser runs.
#[derive(Clone, Debug)]
pub struct Startup {
    /// Where the sessions are, and how that was found.
    pub located: Located,
    /// The home directory, for `~`.
    pub home: String,
    /// The directory in which pitree was started; empty if that is of no matter.
    pub here: String,
    /// Whether only sessions that worked there are shown at the start.
    pub here_only: bool,
    /// Whether these are the sample sessions.
    pub demo: bool,
    /// The signs to draw with.
    pub glyphs: Glyphs,
    /// The colours; `None` if there are to be none (`NO_COLOR`). Until the terminal was asked, those of `auto` are dark.
    pub theme: Option<Palette>,
    /// Colours over those of the theme.
    pub colors: HashMap<Tone, ColorOverride>,
    /// The keys.
    pub keymap: Keymap,
    /// The command that resumes a session.
    pub pi: Vec<String>,
    /// What follows when pi ends.
    pub after_pi: AfterPi,
    /// How pi gets to an entry.
    pub go_by: GoBy,
    /// What Enter answers with, if pitree is a picker.
    pub picker: Option<PickerFormat>,
    /// The session that is open at the start, by its file, and the entry that is selected, by its id.
    pub at: Option<(PathBuf, Option<String>)>,
    /// A message for the footer at the start.
    pub notice: Option<String>,
    /// What is searched at the start.
    pub query: String,
    /// The queries that have a name.
    pub queries: Vec<SavedQuery>,
    /// The time zone of clocks on the wall.
    pub zone: jiff::tz::TimeZone,
}

impl Startup {
    /// A time, in milliseconds since 1970, as clocks on the wall show it.
    pub(crate) fn zoned(&self, ms: i64) -> Option<jiff::ZonedDateTime> {
        jiff::Timestamp::from_millisecond(ms).ok().map(|time| time.to_zoned_datetime(self.zone.clone()))
    }

    /// From a configuration.
    pub fn new(config: &Config, located: Located, home: String, demo: bool) -> Self {
        Self {
            located,
            home,
            here: String::new(),
            here_only: false,
            demo,
            glyphs: config.signs().clone(),
            theme: Some(config.theme.palette().unwrap_or_default()),
            colors: config.colors.clone(),
            keymap: config.keymap.clone(),
            pi: config.pi.clone(),
            after_pi: config.after_pi,
            go_by: config.go_by,
            picker: None,
            at: None,
            notice: None,
            query: String::new(),
            queries: config.queries.clone(),
            zone: jiff::tz::TimeZone::UTC,
        }
    }

    /// The first key of an action as it is written in `config.toml`, for sentences; its name if it has none.
    pub fn key(&self, action: Action) -> String {
        self.keymap.keys(action).first().map_or_else(|| action.name().into(), ToString::to_string)
    }

    /// The same for a line that is typed, where a key that types a character does nothing else.
    pub(crate) fn key_in_line(&self, action: Action) -> String {
        let key = self.keymap.keys(action).iter().find(|key| key.typed().is_none());
        key.map_or_else(|| action.name().into(), ToString::to_string)
    }
}

/// What is printed of the chosen session or entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerFormat {
    /// The path of the session's file.
    Path,
    /// The id of the session.
    Id,
    /// The id of the entry; in the list, of the leaf.
    Entry,
    /// The command that goes on there, for a shell.
    Command,
    /// All of that, for a program.
    Json,
}

impl PickerFormat {
    /// All of them.
    pub(crate) const ALL: &'static [Self] = &[Self::Path, Self::Id, Self::Entry, Self::Command, Self::Json];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::Id => "id",
            Self::Entry => "entry",
            Self::Command => "command",
            Self::Json => "json",
        }
    }
}
