//! The terminal while the browser uses it. Restores it at the end, during external programs, and on a panic.

use std::fs::OpenOptions;
use std::io::{self, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::{Frame, Terminal};

use crate::base::catch_panic;
use crate::runtime::backend::Bounded;
use crate::system::terminal::{self as direct, FILES};

/// The terminal to draw on.
pub(super) struct Screen {
    /// Never dropped: the drop would report errors of a closed terminal to a closed standard error.
    terminal: ManuallyDrop<Terminal<Bounded<Output>>>,
    mouse: bool,
}

/// The output of the terminal.
type Output = Box<dyn Write>;

/// Opens standard output, or the terminal itself if standard output is redirected, as in a picker. Keys and size then
/// come from the terminal too (crossterm 0.29).
///
/// # Errors
/// There is no terminal.
pub(super) fn output() -> io::Result<Output> {
    if io::stdout().is_terminal() {
        return Ok(Box::new(io::stdout()));
    }
    Ok(Box::new(OpenOptions::new().write(true).open(FILES[1])?))
}

/// Connects a program to the terminal if pitree is part of a pipe.
///
/// # Errors
/// There is no terminal.
pub(super) fn connect(command: &mut Command) -> io::Result<()> {
    if !io::stdin().is_terminal() {
        command.stdin(OpenOptions::new().read(true).open(FILES[0])?);
    }
    if !io::stdout().is_terminal() {
        command.stdout(OpenOptions::new().write(true).open(FILES[1])?);
    }
    Ok(())
}

impl Screen {
    /// Sets up the terminal; `mouse` enables mouse input.
    pub(super) fn open(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        direct::restore_on_abort()?;
        take(mouse)?;
        let terminal = output().and_then(|out| Terminal::new(Bounded::new(out)));
        let terminal = terminal.inspect_err(|_| give_back())?;
        Ok(Self { terminal: ManuallyDrop::new(terminal), mouse })
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }

    /// Restores the terminal during `pause`, then redraws everything. Returns the columns and rows, which may have
    /// changed.
    pub(super) fn pause<T>(&mut self, pause: impl FnOnce() -> T) -> io::Result<(T, (u16, u16))> {
        give_back();
        let result = pause();
        Ok((result, self.take_again()?))
    }

    /// Sets up the terminal again after another program used it, and redraws everything. Returns the columns and rows.
    pub(super) fn take_again(&mut self) -> io::Result<(u16, u16)> {
        take(self.mouse)?;
        // Avoids `clear`, which queries the cursor position; the thread that reads keys would get the answer.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())?;
        Ok((size.width, size.height))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    direct::note(true);
    let entered = output().and_then(|mut out| {
        execute!(out, EnterAlternateScreen)?;
        let _ = execute!(out, EnableBracketedPaste); // a terminal without bracketed paste is supported
        if mouse { execute!(out, EnableMouseCapture) } else { Ok(()) }
    });
    entered.inspect_err(|_| give_back())
}

/// Ignores errors, because they cannot be reported, and the next step may still work.
fn give_back() {
    let _ = output().and_then(|mut out| {
        let _ = execute!(out, DisableBracketedPaste);
        execute!(out, DisableMouseCapture, LeaveAlternateScreen, crossterm::cursor::Show)
    });
    let _ = disable_raw_mode();
    direct::note(false);
}

/// `true` while another program is about to replace this one.
static IS_REPLACED: AtomicBool = AtomicBool::new(false);

/// Runs a function that replaces this process. Meanwhile the system refuses new threads, and a worker that needs one
/// must not abort the program.
pub(super) fn replaced<T>(replace: impl FnOnce() -> T) -> T {
    IS_REPLACED.store(true, Ordering::SeqCst);
    let result = replace();
    IS_REPLACED.store(false, Ordering::SeqCst);
    result
}

/// Restores the terminal before an uncaught panic is reported, and ends the program.
fn restore_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            if catch_panic::is_catching() {
                return;
            }
            while IS_REPLACED.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            give_back();
            catch_panic::report(panic);
            std::process::exit(101);
        }));
    });
}
