//! The entire browser without a terminal or threads: takes keys and returns the screen. Effects run immediately.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pitree::app::layers::Layer;
use pitree::app::layers::palette::Palette;
use pitree::app::message::{ChangeReply, Effect, Msg, Reply, Work};
use pitree::app::model::Model;
use pitree::app::panes::sessions::SessionRow;
use pitree::app::settings::{PickerFormat, Settings};
use pitree::app::update::{start, update};
use pitree::catalog::SessionKey;
use pitree::changes::{ChangeResult, Request};
use pitree::config::Config;
use pitree::disk::demo;
use pitree::disk::locate::Located;
use pitree::pi::running::RunningPis;
use pitree::runtime::jobs::JobContext;
use pitree::session::digest::listed::SharedLazySession;
use pitree::ui;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use crate::common::by_hand;

/// Defines a test that compares the demo's screen after some keys with a snapshot.
macro_rules! snapshot {
    ($name:ident, ($columns:literal, $rows:literal), $keys:literal) => {
        #[test]
        fn $name() {
            let mut browser = Browser::demo($columns, $rows);
            browser.press($keys);
            insta::assert_snapshot!(stringify!($name), browser.screen());
        }
    };
}

/// Asserts that a text is on the screen.
#[track_caller]
pub(crate) fn shows(browser: &Browser, text: &str) {
    let screen = browser.screen();
    assert!(screen.contains(text), "no {text:?}\n{screen}");
}

/// 2026-11-21T08:00:00Z: the demo's newest session is a few hours old.
pub(crate) const NOW: i64 = 1_795_248_000_000;

/// Writes the demo sessions to a directory, with fixed times, and returns the settings to open them.
pub(crate) fn demo_setting(config: &Config, dir: &Path) -> Settings {
    let sessions = dir.join("sessions");
    demo::write(&sessions, &sessions, None).unwrap();
    let located = Located { dirs: vec![sessions], origin: "--demo".into(), ..Default::default() };
    Settings::new(config, located, demo::HOME.into(), true)
}

pub(crate) struct Browser {
    pub(crate) model: Model,
    /// Effects for the caller: resume, quit, print an answer.
    pub(crate) wants: Vec<Effect>,
    /// Texts copied to the clipboard.
    pub(crate) copied: Vec<String>,
    /// `true` if a clipboard is available.
    pub(crate) has_clipboard: bool,
    pub(crate) context: JobContext,
    /// Directory of the journal, the trash and the demo sessions; removed on drop.
    state: tempfile::TempDir,
}

impl Browser {
    /// Opens the demo sessions.
    pub(crate) fn demo(columns: u16, rows: u16) -> Self {
        Self::configured(&Config::default(), columns, rows)
    }

    /// Opens the demo sessions with a configuration.
    pub(crate) fn configured(config: &Config, columns: u16, rows: u16) -> Self {
        let state = tempfile::tempdir().unwrap();
        let setting = demo_setting(config, state.path());
        Self::in_state(setting, (columns, rows), state)
    }

    /// Opens session directories.
    pub(crate) fn on(dirs: &[&std::path::Path], columns: u16, rows: u16) -> Self {
        let located = Located {
            dirs: dirs.iter().map(|dir| dir.to_path_buf()).collect(),
            origin: "--dir".into(),
            ..Default::default()
        };
        Self::new(&Config::default(), located, (columns, rows))
    }

    /// Opens session directories at a session or one of its entries.
    pub(crate) fn at(dirs: &[&std::path::Path], at: Option<(PathBuf, Option<String>)>, size: (u16, u16)) -> Self {
        let located = Located {
            dirs: dirs.iter().map(|dir| dir.to_path_buf()).collect(),
            origin: "--dir".into(),
            ..Default::default()
        };
        let config = Config::default();
        let setting = Settings { at, ..Settings::new(&config, located, demo::HOME.into(), false) };
        Self::with(setting, size)
    }

    /// Opens a session directory from a working directory.
    pub(crate) fn started_in(here: &str, sessions: &std::path::Path, size: (u16, u16)) -> Self {
        let located = Located { dirs: vec![sessions.into()], origin: "--dir".into(), ..Default::default() };
        let config = Config::default();
        let setting =
            Settings { current_dir: here.into(), ..Settings::new(&config, located, demo::HOME.into(), false) };
        Self::with(setting, size)
    }

    /// Opens pi's session directory in a home directory.
    pub(crate) fn at_home(home: &std::path::Path, size: (u16, u16)) -> Self {
        let located = Located {
            dirs: vec![home.join(".pi/agent/sessions")],
            origin: "pi's default".into(),
            ..Default::default()
        };
        let config = Config::default();
        let setting = Settings::new(&config, located, home.to_str().unwrap().into(), false);
        Self::with(setting, size)
    }

    pub(crate) fn new(config: &Config, located: Located, size: (u16, u16)) -> Self {
        Self::with(Settings::new(config, located, demo::HOME.into(), false), size)
    }

    pub(crate) fn with(settings: Settings, size: (u16, u16)) -> Self {
        Self::in_state(settings, size, tempfile::tempdir().unwrap())
    }

    fn in_state(settings: Settings, size: (u16, u16), state: tempfile::TempDir) -> Self {
        let setting = Arc::new(settings);
        let model = Model::new(setting.clone(), size, NOW);
        let context = by_hand::context(setting, state.path());
        let mut browser = Self { model, wants: Vec::new(), copied: Vec::new(), has_clipboard: true, context, state };
        let effects = start(&mut browser.model);
        browser.perform(effects);
        browser
    }

    pub(crate) fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.model, by_hand::without_pis(msg));
        self.perform(effects);
    }

    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let is_outside = matches!(
                effect,
                Effect::Resume(_)
                    | Effect::Open(_)
                    | Effect::Notify(_)
                    | Effect::Suspend
                    | Effect::Quit
                    | Effect::Answer(_)
                    | Effect::Welcome
            );
            if is_outside {
                self.wants.push(effect);
                continue;
            }
            if let Effect::Ask(ticket, Work::Copy(clip)) = effect {
                let text = by_hand::text_of(clip);
                self.copied.extend(self.has_clipboard.then(|| text.clone()));
                self.send(Msg::Reply(ticket, Reply::Copied(text, self.has_clipboard)));
                continue;
            }
            for reply in self.replies(effect) {
                self.send(reply);
            }
        }
    }

    /// Runs an effect and returns the resulting messages.
    pub(crate) fn replies(&self, effect: Effect) -> Vec<Msg> {
        let Effect::Ask(ticket, work) = effect else { return Vec::new() };
        by_hand::replies(&self.context, &ticket, work)
    }

    /// Requests a change and applies it with the given result.
    pub(crate) fn change_goes(&mut self, request: Request, result: anyhow::Result<ChangeResult>) {
        let wanted = self.take(Msg::Key("U".parse().unwrap()));
        let ticket = wanted.into_iter().find_map(|effect| match effect {
            Effect::Ask(ticket, Work::Change { .. }) => Some(ticket),
            _ => None,
        });
        let changed = ChangeReply { request, result, read: Vec::new(), gone: Vec::new() };
        self.send(Msg::Reply(ticket.unwrap(), Reply::Changed(Box::new(changed))));
    }

    /// Changes a setting.
    pub(crate) fn set(&mut self, set: impl FnOnce(&mut Settings)) {
        let config = Config::default();
        let old = &self.model.settings;
        let mut setting = Settings::new(&config, old.located.clone(), old.home.clone(), old.demo);
        set(&mut setting);
        self.model.settings = Arc::new(setting);
    }

    /// Turns the browser into a picker.
    pub(crate) fn pick(&mut self, print: PickerFormat) {
        self.set(|setting| setting.picker = Some(print));
    }

    /// Restarts pitree with an empty undo history.
    pub(crate) fn restarted(&mut self) {
        self.context = by_hand::context(self.model.settings.clone(), self.state.path());
    }

    /// Returns the names of the files in the trash.
    pub(crate) fn trashed(&self) -> Vec<String> {
        let files = std::fs::read_dir(self.state.path().join("trash")).unwrap();
        let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    /// Returns the text of the footer.
    pub(crate) fn footer(&self) -> String {
        self.screen().lines().last().unwrap_or_default().trim().to_string()
    }

    /// Types text as consecutive key presses.
    pub(crate) fn type_text(&mut self, text: &str) -> &mut Self {
        for letter in text.chars() {
            self.press(if letter == ' ' { "space".into() } else { letter.to_string() }.as_str());
        }
        self
    }

    /// Handles a message and returns its effects without running them.
    pub(crate) fn take(&mut self, msg: Msg) -> Vec<Effect> {
        update(&mut self.model, msg)
    }

    /// Presses keys, given by their configuration names and separated by spaces.
    pub(crate) fn press(&mut self, keys: &str) -> &mut Self {
        for key in keys.split_whitespace() {
            self.send(Msg::Key(key.parse().unwrap()));
        }
        self
    }

    pub(crate) fn buffer(&self) -> Buffer {
        self.buffer_of(self.model.size)
    }

    /// Draws on a terminal of a size that the model may not have received yet.
    pub(crate) fn buffer_of(&self, (columns, rows): (u16, u16)) -> Buffer {
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        terminal.draw(|frame| ui::draw(frame, &self.model)).unwrap();
        terminal.backend().buffer().clone()
    }

    /// Returns the screen as text, one line per row.
    pub(crate) fn screen(&self) -> String {
        let buffer = self.buffer();
        let width = usize::from(buffer.area.width);
        let mut screen = String::new();
        for row in buffer.content.chunks(width) {
            let mut line = String::new();
            let mut hidden = 0;
            for cell in row {
                if hidden > 0 {
                    hidden -= 1;
                    continue;
                }
                line.push_str(cell.symbol());
                hidden = pitree::base::text::width(cell.symbol()).saturating_sub(1);
            }
            screen.push_str(line.trim_end());
            screen.push('\n');
        }
        screen
    }

    /// Returns the selected session.
    pub(crate) fn session(&self) -> Option<&SharedLazySession> {
        self.model.sessions.selected_session().map(|key| &self.model.catalog[key])
    }

    /// Returns all sessions.
    pub(crate) fn all(&self) -> impl Iterator<Item = &SharedLazySession> {
        self.model.catalog.keys().map(|key| &self.model.catalog[key])
    }

    /// Returns the session of a row.
    pub(crate) fn session_in(&self, row: usize) -> Option<SessionKey> {
        match self.model.sessions.rows.get(row)? {
            SessionRow::Session { key, .. } => Some(*key),
            SessionRow::Project(_) | SessionRow::MissingParent(..) => None,
        }
    }

    /// Returns `true` if a prompt or a dialog is open.
    pub(crate) fn asks(&self) -> bool {
        matches!(self.model.layers.top(), Some(Layer::Prompt(_) | Layer::Find(_) | Layer::Question(_)))
    }

    /// Returns `true` if a notice covers the screen.
    pub(crate) fn has_note(&self) -> bool {
        matches!(self.model.layers.top(), Some(Layer::MessageBox(_)))
    }

    /// Returns the open palettes, the topmost last.
    pub(crate) fn palettes(&self) -> Vec<&Palette> {
        let layers = self.model.layers.0.iter();
        layers.filter_map(|layer| if let Layer::Palette(palette) = layer { Some(&**palette) } else { None }).collect()
    }

    /// Returns the text of the selected row of the focused list.
    pub(crate) fn selected(&self) -> String {
        use pitree::keymap::KeyContext;
        match self.model.focus {
            KeyContext::Sessions => match self.model.sessions.selected_row() {
                Some(SessionRow::Project(at)) => self.model.sessions.projects[*at].cwd.to_string(),
                Some(SessionRow::Session { key, .. }) => self.model.catalog[*key].title().into(),
                Some(SessionRow::MissingParent(key, _)) => {
                    self.model.catalog.missing_parent(*key).unwrap().path.display().to_string()
                }
                None => String::new(),
            },
            _ => match (self.model.tree.selected_entry(), &self.model.tree.tree) {
                (Some(at), Some(tree)) => tree.nodes[at as usize].text.to_string(),
                _ => self
                    .model
                    .tree
                    .selected_fork()
                    .map_or(String::new(), |fork| self.model.catalog[fork.key].title().into()),
            },
        }
    }
}

/// Creates a number of pis in a directory, none of which reports its state.
pub(crate) fn pis(dir: &str, count: usize) -> RunningPis {
    RunningPis { by_dir: [(dir.into(), count)].into(), ..RunningPis::default() }
}
