//! The terminal while the browser has it, and its return to the state in which it was: at the end, for a while, and
//! on a panic.

use std::io::{self, Stdout};
use std::sync::Once;

use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};

/// The terminal, drawn on.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    mouse: bool,
}

impl Screen {
    /// Takes the terminal; with `mouse` also the mouse.
    pub(super) fn open(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        take(mouse)?;
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()));
        let terminal = terminal.inspect_err(|_| give_back())?;
        Ok(Self { terminal, mouse })
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Gives the terminal back.
    pub(super) fn close(&mut self) {
        give_back();
    }

    /// Gives the terminal back while `pause` lasts, then draws everything anew.
    pub(super) fn suspend<T>(&mut self, pause: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        give_back();
        let result = pause();
        take(self.mouse)?;
        // Not `clear`: it asks the terminal where the cursor is, and the answer would go to the thread that reads keys.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())?;
        result
    }
}

fn take(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    let mut out = io::stdout();
    let entered = execute!(out, EnterAlternateScreen)
        .and_then(|()| if mouse { execute!(out, EnableMouseCapture) } else { Ok(()) });
    entered.inspect_err(|_| give_back())
}

/// What can't be undone any more is left: there is nobody to tell, and the next step may still work.
fn give_back() {
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, crossterm::cursor::Show);
    let _ = disable_raw_mode();
}

/// A panic in any thread gives the terminal back before it is reported, and ends the program.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            give_back();
            report(panic);
            std::process::exit(101);
        }));
    });
}
