//! pitree in a pseudo-terminal with a terminal emulator. Tests wait for expected output and never sleep.

use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
pub(crate) use vt100::Screen;
use vt100::{Color, MouseProtocolMode, Parser};

use crate::common::home::Home;
use crate::common::signals;

/// A timeout long enough that no test fails on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) const ENTER: &str = "\r";
pub(crate) const ESC: &str = "\x1b";
pub(crate) const TAB: &str = "\t";
pub(crate) const RIGHT: &str = "\x1b[C";
pub(crate) const HOME: &str = "\x1b[H";
pub(crate) const F5: &str = "\x1b[15~";

/// Returns Ctrl and a letter.
pub(crate) fn ctrl(letter: char) -> String {
    char::from(letter as u8 & 0x1f).to_string()
}

/// A command to run, with its working directory and terminal size.
pub(crate) struct Launch {
    command: CommandBuilder,
    size: (u16, u16),
}

impl Launch {
    /// Prepares a program, isolated from the environment of the user who runs the tests. If it runs pitree, it has welcomed
    /// the user before.
    pub(crate) fn new(program: &str, home: &Home) -> Self {
        let state = home.path().join(".local/state/pitree/remembered.json");
        if !state.exists() {
            home.write(state, r#"{"version":1,"welcomed":true}"#);
        }
        Self::first(program, home)
    }

    /// Prepares a program in a home without any state of pitree.
    pub(crate) fn first(program: &str, home: &Home) -> Self {
        let mut command = CommandBuilder::new(program);
        command.env_clear();
        command.cwd(home.path());
        for (name, value) in home.environment() {
            command.env(name, value);
        }
        for (name, below) in [("XDG_STATE_HOME", ".local/state"), ("XDG_DATA_HOME", ".local/share"), ("PATH", "bin")] {
            command.env(name, home.path().join(below));
        }
        for (name, value) in [("TERM", "xterm-256color"), ("LANG", "C.UTF-8")] {
            command.env(name, value);
        }
        Self { command, size: (100, 30) }
    }

    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets the working directory.
    pub(crate) fn cwd(mut self, dir: &std::path::Path) -> Self {
        self.command.cwd(dir);
        self
    }

    /// Sets the columns and rows.
    pub(crate) fn size(mut self, columns: u16, rows: u16) -> Self {
        self.size = (columns, rows);
        self
    }

    pub(crate) fn open(self) -> Terminal {
        let pty = native_pty_system().openpty(pty_size(self.size)).unwrap();
        let mut reader = pty.master.try_clone_reader().unwrap();
        let input = pty.master.take_writer().unwrap();
        let settings = format!("{:?}", pty.master.get_termios());
        let child = pty.slave.spawn_command(self.command).unwrap();
        drop(pty.slave); // the output ends when the program does
        let (columns, rows) = non_zero(self.size);
        let seen =
            Seen { parser: Parser::new(rows, columns, 0), raw: Vec::new(), whole: true, ended: false, paused: false };
        let output = Arc::new(Output { seen: Mutex::new(seen), changed: Condvar::new() });
        let to = output.clone();
        let reading = thread::spawn(move || {
            let mut buffer = [0; 64 * 1024];
            loop {
                // Linux returns EIO at the end, possibly while the last bytes are still in transit.
                let read = reader.read(&mut buffer).or_else(|_| {
                    thread::sleep(Duration::from_millis(20));
                    reader.read(&mut buffer)
                });
                let read = read.unwrap_or(0);
                let seen = to.seen.lock().unwrap();
                let mut seen = to.changed.wait_while(seen, |seen| seen.paused).unwrap();
                seen.take(&buffer[..read]);
                seen.ended = read == 0;
                to.changed.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
        Terminal { child, master: pty.master, input, output, reading: Some(reading), settings }
    }
}

fn pty_size((cols, rows): (u16, u16)) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

fn non_zero((columns, rows): (u16, u16)) -> (NonZeroU16, NonZeroU16) {
    (columns.try_into().unwrap(), rows.try_into().unwrap())
}

/// Output of the program.
struct Output {
    seen: Mutex<Seen>,
    changed: Condvar,
}

struct Seen {
    parser: Parser,
    raw: Vec<u8>,
    /// `true` if the last frame is complete.
    whole: bool,
    ended: bool,
    /// `true` while reading is paused.
    paused: bool,
}

impl Seen {
    fn take(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
        self.raw.extend_from_slice(bytes);
        self.whole = self.raw.ends_with(b"\x1b[?2026l") || !self.parser.screen().alternate_screen();
    }
}

/// A program in its terminal; killed on drop.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    input: Box<dyn Write + Send>,
    output: Arc<Output>,
    reading: Option<JoinHandle<()>>,
    /// Original terminal settings.
    settings: String,
}

impl Terminal {
    /// Types keys. The next key after a lone `ESC` has to wait: together they would be another key.
    pub(crate) fn send(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Pastes text in bracketed paste mode.
    pub(crate) fn paste(&mut self, text: &str) {
        self.wait_until("pastes to be marked", Screen::bracketed_paste);
        self.send(&format!("\x1b[200~{text}\x1b[201~"));
    }

    /// Presses the left button of the mouse.
    pub(crate) fn click(&mut self, (column, row): (u16, u16)) {
        let (column, row) = (column + 1, row + 1);
        self.send(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
    }

    /// Turns the wheel down.
    pub(crate) fn wheel_down(&mut self, (column, row): (u16, u16)) {
        self.send(&format!("\x1b[<65;{};{}M", column + 1, row + 1));
    }

    /// Waits until the text is on the screen.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait_until(&format!("{text:?} on the screen"), |screen| screen.contents().contains(text));
    }

    /// Waits until the text is on the screen of a program other than pitree, which has no frame marks.
    pub(crate) fn wait_for_final(&self, text: &str) {
        let end = Instant::now() + TIMEOUT;
        while !self.contents().contains(text) {
            assert!(Instant::now() < end, "no {text:?} on the screen:\n{}", self.contents());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the text is not on the screen.
    pub(crate) fn wait_without(&self, text: &str) {
        self.wait_until(&format!("no {text:?} on the screen"), |screen| !screen.contents().contains(text));
    }

    /// Waits until the selected row contains the text.
    pub(crate) fn wait_selected(&self, text: &str) {
        self.wait_until(&format!("{text:?} in the selected row"), |screen| selected(screen).contains(text));
    }

    /// Waits until the screen matches a condition.
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&Screen) -> bool) {
        self.wait_seen(what, |seen| is_so(seen.parser.screen()));
    }

    fn wait_seen(&self, what: &str, is_so: impl Fn(&Seen) -> bool) {
        let end = Instant::now() + TIMEOUT;
        let mut seen = self.output.seen.lock().unwrap();
        while !seen.whole || !is_so(&seen) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || seen.ended {
                let why = if seen.ended { "the program ended" } else { "time is up" };
                let contents = seen.parser.screen().contents();
                drop(seen); // releases the lock so that the terminal can still be closed
                panic!("{why} without {what}; the screen:\n{contents}");
            }
            seen = self.output.changed.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Waits for bytes in the output, including those before the first frame.
    pub(crate) fn wait_raw(&self, bytes: &[u8]) {
        let is_missing = |seen: &mut Seen| !seen.ended && !seen.raw.windows(bytes.len()).any(|part| part == bytes);
        let seen = self.output.seen.lock().unwrap();
        drop(self.output.changed.wait_timeout_while(seen, TIMEOUT, is_missing).unwrap());
    }

    /// Calls a function with the current screen.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(self.output.seen.lock().unwrap().parser.screen())
    }

    /// Returns all text on the screen.
    pub(crate) fn contents(&self) -> String {
        self.look(Screen::contents)
    }

    /// Returns all output so far.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.output.seen.lock().unwrap().raw.clone()
    }

    /// Returns the column and row of a text.
    pub(crate) fn place(&self, text: &str) -> (u16, u16) {
        self.wait_for(text);
        self.look(|screen| find(screen, text)).unwrap_or_else(|| panic!("{text:?} is gone:\n{}", self.contents()))
    }

    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        let (to_columns, to_rows) = non_zero((columns, rows));
        let mut seen = self.output.seen.lock().unwrap();
        seen.parser.set_size(to_rows, to_columns);
        seen.whole = false; // until pitree has redrawn
        drop(seen);
        self.master.resize(pty_size((columns, rows))).unwrap();
    }

    /// Resizes like [`resize`](Self::resize), but does not wait for the new frame.
    pub(crate) fn resize_unseen(&self, columns: u16, rows: u16) {
        self.master.resize(pty_size((columns, rows))).unwrap();
    }

    /// Returns the process ID.
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Sends a signal, such as `TERM`.
    pub(crate) fn signal(&self, name: &str) {
        signals::send(self.pid(), name);
    }

    /// Pauses reading, as a terminal does after Ctrl+S, or resumes it.
    pub(crate) fn pause(&self, paused: bool) {
        self.output.seen.lock().unwrap().paused = paused;
        self.output.changed.notify_all();
    }

    /// Waits until the program has ended and all of its output is read; returns its exit code.
    pub(crate) fn wait_exit(&mut self) -> u32 {
        let status = self.wait_end();
        assert_eq!(status.signal(), None, "ended by a signal");
        status.exit_code()
    }

    /// Waits until the program has ended in any way and all of its output is read.
    pub(crate) fn wait_end(&mut self) -> ExitStatus {
        let end = Instant::now() + TIMEOUT;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < end, "still running; the screen:\n{}", self.contents());
            thread::sleep(Duration::from_millis(5));
        };
        self.pause(false);
        self.reading.take().unwrap().join().unwrap();
        status
    }

    /// Waits until the terminal is restored: main screen, cursor, mouse and line editing.
    pub(crate) fn wait_restored(&self) {
        self.wait_seen("the terminal restored", |seen| is_restored(seen.parser.screen()));
        if self.master.get_termios().is_some() {
            let end = Instant::now() + TIMEOUT;
            while format!("{:?}", self.master.get_termios()) != self.settings {
                assert!(Instant::now() < end, "the terminal is set otherwise than before");
                thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Quits pitree; checks that the terminal is restored and the exit code is 0.
    pub(crate) fn quit(mut self) {
        self.send("q");
        assert_eq!(self.wait_exit(), 0);
        self.assert_restored();
    }

    /// Asserts the same as [`wait_restored`](Self::wait_restored) once all output is read.
    pub(crate) fn assert_restored(&self) {
        assert!(self.look(is_restored), "the terminal is not restored");
        if let Some(settings) = self.master.get_termios() {
            assert_eq!(format!("{:?}", Some(settings)), self.settings, "how the terminal is set");
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn is_restored(screen: &Screen) -> bool {
    !screen.alternate_screen()
        && !screen.hide_cursor()
        && !screen.bracketed_paste()
        && screen.mouse_protocol_mode() == MouseProtocolMode::None
}

/// Returns `true` if pitree controls the terminal.
pub(crate) fn is_taken(screen: &Screen) -> bool {
    screen.alternate_screen() && screen.hide_cursor() && screen.mouse_protocol_mode() != MouseProtocolMode::None
}

/// Returns the text of the selected row in the focused pane, in any theme or without colors.
pub(crate) fn selected(screen: &Screen) -> String {
    selected_where(screen, |cell| cell.inverse() || [Color::Idx(18), Color::Idx(189)].contains(&cell.bgcolor()))
}

/// Returns the text of the matching cells in the first row that has any.
pub(crate) fn selected_where(screen: &Screen, is_selected: impl Fn(&vt100::Cell) -> bool) -> String {
    let (rows, columns) = screen.size();
    let text = |row| {
        let cells = (0..columns.get()).filter_map(|column| screen.cell(row, column));
        let cells = cells.filter(|cell| is_selected(cell) && !cell.is_wide_continuation());
        cells.map(|cell| if cell.has_contents() { cell.contents() } else { " " }).collect::<String>()
    };
    let found = (0..rows.get()).map(text).find(|text| !text.is_empty());
    found.unwrap_or_default().trim().to_string()
}

/// Returns the text of a row of the screen.
pub(crate) fn row(screen: &Screen, at: u16) -> String {
    screen.rows(0, screen.size().1.get()).nth(at.into()).unwrap_or_default()
}

fn find(screen: &Screen, text: &str) -> Option<(u16, u16)> {
    let (rows, columns) = screen.size();
    let places = (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (column, row)));
    let is_there = |&(column, row): &(u16, u16)| {
        let mut rest = text;
        for column in column..columns.get() {
            let Some(cell) = screen.cell(row, column) else { return false };
            if cell.is_wide_continuation() {
                continue;
            }
            let contents = if cell.has_contents() { cell.contents() } else { " " };
            match rest.strip_prefix(contents) {
                Some("") => return true,
                Some(left) => rest = left,
                None => return false,
            }
        }
        false
    };
    places.into_iter().find(is_there)
}
