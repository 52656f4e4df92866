//! Runs the browser: waits for events, updates the state, performs effects, and draws once.

pub(crate) mod cleanup_job;
pub mod clipboard;
pub(crate) mod colors;
mod context_job;
pub(crate) mod external;
mod family;
mod files_job;
mod graphics;
mod image_viewer;
mod input;
pub mod jobs;
pub(crate) mod machines_job;
pub(crate) mod notify;
pub(crate) mod raw_output;
mod scan_job;
mod search_jobs;
pub(crate) mod secret_rules;
pub(crate) mod terminal;
mod workers;

use std::convert::Infallible;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use crossterm::event::{Event as Input, MouseButton, MouseEventKind};

use crate::app::message::{Clip, Effect, Msg, Work};
use crate::app::model::Model;
use crate::app::saved_state::SavedState;
use crate::app::settings::{PickerOutput, Settings};
use crate::app::update::{self, WHEEL, update};
use crate::base::sort;
use crate::base::text::{self, Tone};
use crate::changes::Changes;
use crate::config::{AfterPi, Palette};
use crate::disk::{last_seen, locate, state};
use crate::keymap::Key;
use crate::pi::launch::Start;
use crate::system::{Signal, signals, terminal as system_terminal};
use crate::ui;
use input::{Event, InputGate};
use jobs::{JobContext, now};
use terminal::Screen;
use workers::Workers;

/// The time after which a slow exit is explained.
const SLOW_EXIT: Duration = Duration::from_millis(300);

/// The time for pending changes after a signal. The rest of the second granted by `system/signals` is for the change in
/// progress.
const TIME_AFTER_SIGNAL: Duration = Duration::from_millis(500);

/// The maximum time for processing events before the next frame.
const MAX_BEFORE_FRAME: Duration = Duration::from_millis(50);

/// The maximum time between two clicks of a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

/// The reason for the end of the loop. As an error, it ends all that the loop does.
enum LoopEnd {
    Quit,
    /// A choice in the picker.
    Answer(PickerOutput),
    /// A signal with this number.
    Killed(i32),
    Failed(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for LoopEnd {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Returns `true` unless the environment asks for no colors (`NO_COLOR`, `TERM=dumb`).
pub(crate) fn has_colors() -> bool {
    let is_set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_set && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Runs the browser until the user quits and returns the exit code. As a picker, prints the selection. Draws on the
/// terminal even if standard output is redirected.
///
/// # Errors
/// There is no terminal to draw on.
pub fn run(mut settings: Settings, cache: Option<PathBuf>, changes: Option<Changes>) -> Result<u8> {
    if settings.picker.is_some() {
        terminal::output().context("no terminal to show the browser on")?;
    } else if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!(
            "the browser requires a terminal; in scripts, use `pitree ls --json`, `pitree tree --json` or `pitree search --json`"
        );
    }
    settings.zone = jiff::tz::TimeZone::system();
    let state_dir = locate::state_dir();
    // The state of a demo is new in each run.
    let is_welcomed = || settings.demo && SavedStateFile::is_user_welcomed();
    settings.welcomes &= state_dir.is_some() && !is_welcomed();
    if !has_colors() {
        settings.theme = None;
    }
    let (sender, events) = mpsc::channel();
    let signal_sender = sender.clone();
    let reported = signals::watch(move |signal| signal_sender.send(Event::Signal(signal)).is_ok());
    reported.context("cannot handle signals")?;
    let mut screen = Screen::open(settings.config.mouse).context("cannot draw on this terminal")?;
    let wants_palette = settings.theme.is_some() && settings.config.theme.palette().is_none();
    let (palette_sender, answer) = mpsc::channel();
    let is_asked = wants_palette && system_terminal::ANSWERS && terminal::ask_background().is_ok();
    let gate =
        input::watch(sender.clone(), is_asked.then_some(palette_sender)).context("cannot read from this terminal")?;
    let setting = Arc::new(settings);
    let size = crossterm::terminal::size().context("cannot determine the size of the terminal")?;
    let mut model = Model::new(setting.clone(), size, now());
    model.reader.has_graphics = screen.has_graphics();
    let saved_state = SavedStateFile::restored(state_dir.as_deref(), &mut model);
    let context = JobContext { cache, changes, state_dir, ..JobContext::new(setting.clone()) };
    let workers = Workers::new(context, sender);
    let mut browser = Browser { model, workers, saved_state, clicked: None, gate };
    // Sessions are read while the terminal is queried.
    let palette = || wants_palette.then(|| terminal::palette(&answer));
    let Err(end) = browser.run(&mut screen, &events, palette);
    drop(screen);
    browser.finish(&events, matches!(end, LoopEnd::Killed(_) | LoopEnd::Failed(_)));
    browser.keep_state();
    match end {
        LoopEnd::Answer(answer) => raw_output::print_choice(&setting, &answer).map(|()| 0),
        LoopEnd::Quit => Ok(u8::from(setting.picker.is_some())),
        LoopEnd::Killed(signal) => Ok(u8::try_from(128 + signal).unwrap_or(1)),
        LoopEnd::Failed(error) => Err(error),
    }
}

/// The saved state of the browser and its file.
struct SavedStateFile {
    path: Option<PathBuf>,
    before: SavedState,
}

impl SavedStateFile {
    /// Returns `true` if a browser without `--demo` has welcomed the user, or if there is no home directory to record it.
    fn is_user_welcomed() -> bool {
        let Some(dir) = locate::user_state_dir() else { return true };
        state::read(&state::remembered(&dir)).is_ok_and(|saved: SavedState| saved.is_welcomed())
    }

    /// Restores the saved state of the browser.
    fn restored(state_dir: Option<&Path>, model: &mut Model) -> Self {
        let path = state_dir.map(state::remembered);
        let loaded = path.as_deref().map_or_else(|| Ok(SavedState::default()), state::load);
        let before = loaded.unwrap_or_else(|error| {
            model.show_notice(Tone::Error, format!("cannot restore the UI state: {error}"));
            SavedState::default()
        });
        before.restore(model);
        Self { path, before }
    }

    /// Records the welcome, so that it is shown once. Returns `false` if that cannot be saved.
    fn note_welcome(&mut self) -> bool {
        let Some(path) = &self.path else { return true };
        let is_saved = state::update(path, SavedState::note_welcome).is_ok();
        self.before.note_welcome();
        is_saved
    }

    /// Saves the state of the browser if it has changed.
    fn keep(&mut self, model: &Model) {
        let Some(path) = &self.path else { return };
        let left = SavedState::of(model, &self.before);
        let write = || state::update(path, |others: &mut SavedState| others.merge(&self.before, &left));
        // If it cannot be written, the next browser starts with the earlier state. A file of a newer pitree is
        // unchanged.
        if left != self.before && write().is_ok() {
            self.before = left;
        }
    }
}

struct Browser {
    model: Model,
    workers: Workers,
    saved_state: SavedStateFile,
    clicked: Option<(Instant, u16, u16)>,
    /// The gate that pauses key input while another program uses the terminal.
    gate: InputGate,
}

impl Browser {
    /// Runs the browser; `palette` returns the detected background before the first frame.
    fn run(
        &mut self,
        screen: &mut Screen,
        events: &Receiver<Event>,
        palette: impl FnOnce() -> Option<Palette>,
    ) -> Result<Infallible, LoopEnd> {
        let effects = update::start(&mut self.model);
        self.perform(effects, screen)?;
        if let Some(palette) = palette() {
            Arc::make_mut(&mut self.model.settings).theme = Some(palette);
        }
        loop {
            let is_text = self.model.key_context().takes_text();
            let images = ui::images(&self.model);
            match screen.set_keys(is_text).and_then(|()| screen.draw(images, |frame| ui::draw(frame, &self.model))) {
                Err(error) if system_terminal::is_hung_up(&error) => return Err(LoopEnd::Killed(1)), // the signal follows
                drawn => drawn.context("cannot draw on the terminal")?,
            }
            // All pending events go into one frame, up to a time limit.
            let first = self.wait(events)?;
            let begun = Instant::now();
            let more =
                std::iter::from_fn(|| if begun.elapsed() < MAX_BEFORE_FRAME { events.try_recv().ok() } else { None });
            self.send(Msg::Now(now()), screen)?;
            let mut keys = Vec::new();
            for event in first.into_iter().chain(more) {
                self.take(event, &mut keys, screen)?;
            }
            self.press(&mut keys, screen)?;
        }
    }

    /// Waits for the next event, at most until the screen changes by itself.
    fn wait(&self, events: &Receiver<Event>) -> Result<Option<Event>> {
        const LEFT: &str = "no event source left";
        let Some(at) = self.model.changes_at() else { return events.recv().map(Some).context(LEFT) };
        // The clock can be set meanwhile.
        let left = (at - now()).clamp(1, 1000).unsigned_abs();
        match events.recv_timeout(Duration::from_millis(left)) {
            Err(RecvTimeoutError::Timeout) => Ok(None),
            event => event.map(Some).context(LEFT),
        }
    }

    /// Handles an event. Keys are collected, so that those of several reads are pressed together.
    fn take(&mut self, event: Event, keys: &mut Vec<Key>, screen: &mut Screen) -> Result<(), LoopEnd> {
        if !matches!(event, Event::Inputs(_)) {
            self.press(keys, screen)?;
        }
        let (columns, rows) = match event {
            Event::Signal(Signal::Stop(signal)) => return Err(LoopEnd::Killed(signal)),
            Event::Signal(Signal::Suspend) => {
                let (stopped, size) = screen.pause(signals::suspend)?;
                stopped?;
                size
            }
            Event::Signal(Signal::Resized) => crossterm::terminal::size().unwrap_or(self.model.size),
            Event::Signal(Signal::Continued) => screen.take_again()?,
            Event::InputEnded => return Err(LoopEnd::Killed(1)), // as if the terminal had hung up
            Event::Msg(msg) => return self.send(msg, screen),
            Event::Inputs(inputs) => {
                for input in inputs {
                    if let Input::Key(key) = input {
                        keys.extend(Key::from_event(key));
                        continue;
                    }
                    self.press(keys, screen)?;
                    if let Some(msg) = self.translate(&input) {
                        self.send(msg, screen)?;
                    }
                }
                return Ok(());
            }
        };
        self.send(Msg::Resized(columns, rows), screen)
    }

    /// Updates the state with a message and performs the effects.
    fn send(&mut self, msg: Msg, screen: &mut Screen) -> Result<(), LoopEnd> {
        let effects = update(&mut self.model, msg);
        self.perform(effects, screen)
    }

    /// Presses the collected keys.
    fn press(&mut self, keys: &mut Vec<Key>, screen: &mut Screen) -> Result<(), LoopEnd> {
        let keys = std::mem::take(keys);
        let mut rest = keys.as_slice();
        while let Some((msg, count)) = update::message(&self.model, rest) {
            rest = &rest[count..];
            self.send(msg, screen)?;
        }
        Ok(())
    }

    /// Saves the state of the browser before it ends. A failure must not keep it from ending.
    fn keep_state(&mut self) {
        self.saved_state.keep(&self.model);
        let shown = self.model.unread.unwritten();
        if let (Some(state), false) = (&self.workers.context.state_dir, shown.is_empty()) {
            let _ = last_seen::write(state, &shown); // the sessions stay unread
        }
    }

    fn translate(&mut self, input: &Input) -> Option<Msg> {
        match input {
            Input::Paste(text) => Some(Msg::Paste(text.clone())),
            Input::Resize(columns, rows) => Some(Msg::Resized(*columns, *rows)),
            Input::Mouse(mouse) => {
                let (column, row) = (mouse.column, mouse.row);
                match mouse.kind {
                    MouseEventKind::Down(MouseButton::Left) => {
                        let last = self.clicked.replace((Instant::now(), column, row));
                        let double = last.is_some_and(|(then, at_column, at_row)| {
                            then.elapsed() < DOUBLE_CLICK && (at_column, at_row) == (column, row)
                        });
                        if double {
                            self.clicked = None; // a third click starts again
                        }
                        Some(Msg::Click { column, row, double })
                    }
                    MouseEventKind::ScrollDown => Some(Msg::Wheel { column, row, by: WHEEL }),
                    MouseEventKind::ScrollUp => Some(Msg::Wheel { column, row, by: -WHEEL }),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn perform(&mut self, mut effects: Vec<Effect>, screen: &mut Screen) -> Result<(), LoopEnd> {
        // Work that quitting would interrupt is not started.
        sort::by_key(&mut effects, |effect| !matches!(effect, Effect::Resume(_)));
        for effect in effects {
            match effect {
                Effect::Quit => return Err(LoopEnd::Quit),
                Effect::Suspend => {
                    let (stopped, (columns, rows)) = screen.pause(signals::suspend_job)?;
                    stopped?;
                    self.send(Msg::Resized(columns, rows), screen)?;
                }
                Effect::Welcome if self.saved_state.note_welcome() => self.send(Msg::Welcome, screen)?,
                Effect::Welcome => {}
                Effect::Answer(answer) => return Err(LoopEnd::Answer(answer)),
                // The event loop writes to the terminal, so that nothing interrupts a frame.
                Effect::Ask(ticket, Work::Copy(clip)) => {
                    let text = clipboard::clean(&match clip {
                        Clip::Text(text) => text,
                        Clip::Command(start) => self.command_line(&start),
                    });
                    let is_sent = clipboard::give_to_terminal(&text);
                    self.workers.start(ticket, Work::CopyToDesktop { text, is_sent });
                }
                Effect::Notify(sequences) => drop(notify::write(&sequences)), // the next frame fails as well
                Effect::Ask(ticket, work) => self.workers.start(ticket, work),
                Effect::Resume(start) if self.model.settings.demo => {
                    let line = self.command_line(&start);
                    self.send(Msg::DemoResumed(line), screen)?;
                }
                Effect::Resume(start) => {
                    self.keep_state();
                    let setting = self.model.settings.clone();
                    let returns = (setting.config.after_pi == AfterPi::Return).then_some(&self.gate);
                    let msg = external::resume(
                        (&setting, start),
                        self.workers.context.state_dir.as_deref(),
                        (screen, returns),
                    )?;
                    self.return_from_program(msg, screen)?;
                }
                Effect::Open(copy) => {
                    let msg = external::show(&copy, &self.gate, screen)?;
                    self.return_from_program(msg, screen)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the shell command that resumes a session.
    fn command_line(&self, start: &Start) -> String {
        external::command_line_of(&self.model.settings, start, self.workers.context.state_dir.as_deref())
    }

    /// Another program may have used the terminal for long, and its size may have changed.
    fn return_from_program(&mut self, msg: Msg, screen: &mut Screen) -> Result<(), LoopEnd> {
        let (columns, rows) = crossterm::terminal::size().unwrap_or(self.model.size);
        for msg in [Msg::Now(now()), Msg::Resized(columns, rows), msg] {
            self.send(msg, screen)?;
        }
        Ok(())
    }

    /// Waits until all requested changes are made, so that quitting interrupts none. Explains a long wait. A signal
    /// stops between two files; if a signal caused the exit, a little later.
    fn finish(&mut self, events: &Receiver<Event>, is_killed: bool) {
        let mut is_reported = is_killed && !self.model.changes.is_empty();
        let mut stop_at = is_killed.then(|| Instant::now() + TIME_AFTER_SIGNAL);
        while !self.model.changes.is_empty() {
            let left = stop_at.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                self.model.changes.iter().for_each(|pending| pending.claim.stop());
            }
            let wait = left.filter(|left| !left.is_zero()).map_or(SLOW_EXIT, |left| left.min(SLOW_EXIT));
            match events.recv_timeout(wait) {
                Ok(Event::Msg(msg)) => drop(update(&mut self.model, msg)),
                Ok(Event::Signal(Signal::Stop(_))) => stop_at = Some(Instant::now()),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if is_reported => {}
                Err(RecvTimeoutError::Timeout) => {
                    is_reported = true;
                    let done = self.model.changes.iter().find_map(|pending| pending.progress);
                    let done = done.map_or(String::new(), |(done, all)| format!(" ({done} of {all})"));
                    let waits = self.model.changes.iter().find_map(|pending| pending.waits.as_ref());
                    match waits {
                        Some(who) => print_after_exit(&format!("waiting for {who}{done}; press Ctrl+C to cancel")),
                        None => {
                            print_after_exit(&format!(
                                "finishing the current change{done}; press Ctrl+C to stop after this file"
                            ));
                        }
                    }
                }
            }
        }
        if let Some(notice) = self.model.notice.as_ref().filter(|_| is_reported) {
            print_after_exit(&notice.text);
        }
    }
}

/// Prints a message after the screen was restored.
fn print_after_exit(text: &str) {
    let _ = writeln!(io::stderr(), "pitree: {}", text::clean(text)); // standard error may be closed
}
