//! The terminal while the browser has it, and its return to the state in which it was: at the end, for a while, and
//! on a panic.

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

/// The terminal, drawn on.
pub(super) struct Screen {
    /// Never dropped: it would complain of a terminal that is gone, on a standard error that is gone with it.
    terminal: ManuallyDrop<Terminal<Bounded<Output>>>,
    mouse: bool,
}

/// What leads to the terminal.
type Output = Box<dyn Write>;

/// Standard output, or the terminal itself where that is not one: a picker is often part of a pipe. Keys and size come
/// from the terminal as well then (crossterm 0.29).
///
/// # Errors
/// There is no terminal.
pub(super) fn output() -> io::Result<Output> {
    if io::stdout().is_terminal() {
        return Ok(Box::new(io::stdout()));
    }
    Ok(Box::new(OpenOptions::new().write(true).open(FILES[1])?))
}

/// Connects a program to the terminal where pitree itself is part of a pipe.
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
    /// Takes the terminal; with `mouse` also the mouse.
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

    /// Gives the terminal back while `pause` lasts, then draws everything anew. Returns its columns and rows, which may
    /// be others now.
    pub(super) fn pause<T>(&mut self, pause: impl FnOnce() -> T) -> io::Result<(T, (u16, u16))> {
        give_back();
        let result = pause();
        Ok((result, self.take_again()?))
    }

    /// Takes the terminal again after somebody else had it, and draws everything anew. Returns its columns and rows.
    pub(super) fn take_again(&mut self) -> io::Result<(u16, u16)> {
        take(self.mouse)?;
        // Not `clear`: it asks the terminal where the cursor is, and the answer would go to the thread that reads keys.
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
        let _ = execute!(out, EnableBracketedPaste); // a terminal that cannot mark what is pasted is a terminal all the same
        if mouse { execute!(out, EnableMouseCapture) } else { Ok(()) }
    });
    entered.inspect_err(|_| give_back())
}

/// What cannot be undone any more is left: there is nobody to tell, and the next step may still work.
fn give_back() {
    let _ = output().and_then(|mut out| {
        let _ = execute!(out, DisableBracketedPaste);
        execute!(out, DisableMouseCapture, LeaveAlternateScreen, crossterm::cursor::Show)
    });
    let _ = disable_raw_mode();
    direct::note(false);
}

/// Whether another program is about to take the place of this one.
static IS_REPLACED: AtomicBool = AtomicBool::new(false);

/// Does what lets another program take the place of this one. Meanwhile the system refuses new threads, and a worker that
/// wants one must not end the program for that.
pub(super) fn replaced<T>(replace: impl FnOnce() -> T) -> T {
    IS_REPLACED.store(true, Ordering::SeqCst);
    let result = replace();
    IS_REPLACED.store(false, Ordering::SeqCst);
    result
}

/// A panic that nobody catches gives the terminal back before it is reported, and ends the program.
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
