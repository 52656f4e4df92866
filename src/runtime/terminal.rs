//! The terminal while the browser uses it. Restores it at the end, during external programs, and on a panic. Detects a
//! dark or light terminal by asking for its background color (OSC 11); the answer arrives among the keys.

use std::fs::OpenOptions;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::process::Command;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::event::{DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture};
use crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};
use ratatui::{Frame, Terminal};

use crate::app::panes::layout::bounded;
use crate::base::catch_panic;
use crate::config::Palette;
use crate::disk::locate::Environment;
use crate::runtime::graphics::{self, PlacedImage, Protocol};
use crate::system::programs;
use crate::system::terminal::{self as system_terminal, FILES};

/// The terminal to draw on.
pub(super) struct Screen {
    /// Never dropped: the drop would report errors of a closed terminal to a closed standard error.
    terminal: ManuallyDrop<Terminal<Bounded<Output>>>,
    mouse: bool,
    /// `true` if keys are reported as text, `false` as codes; `None` before the first frame.
    reports_text: Option<bool>,
    /// The protocol for images.
    graphics: Option<Protocol>,
    /// The images on the screen.
    images: Vec<PlacedImage>,
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
        system_terminal::restore_on_abort()?;
        take(mouse)?;
        let terminal = output().and_then(|out| Terminal::new(Bounded::new(out)));
        let terminal = terminal.inspect_err(|_| restore())?;
        let graphics = graphics::protocol(|name| std::env::var(name).ok());
        Ok(Self { terminal: ManuallyDrop::new(terminal), mouse, reports_text: None, graphics, images: Vec::new() })
    }

    /// Sets how keys are reported: `true` if they type text, `false` for shortcuts, for which terminals with the Kitty
    /// keyboard protocol also report the key of the standard layout. Other terminals ignore this.
    pub(super) fn set_keys(&mut self, is_text: bool) -> io::Result<()> {
        if self.reports_text.replace(is_text) == Some(is_text) || !system_terminal::ANSWERS {
            return Ok(());
        }
        let mut out = output()?;
        // 1: escape codes for ambiguous keys, 4: alternate keys, 8: escape codes for all keys.
        out.write_all(if is_text { b"\x1b[=5;1u" } else { b"\x1b[=13;1u" })?;
        out.flush()
    }

    /// Draws a frame, and images over it if others are shown.
    pub(super) fn draw(&mut self, images: Vec<PlacedImage>, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let protocol = self.graphics.filter(|_| images != self.images);
        if protocol == Some(Protocol::Iterm) {
            // Cells that are written again lose their part of an image.
            let size = self.terminal.size()?;
            self.terminal.resize(size.into())?;
        }
        self.terminal.draw(draw)?;
        let Some(protocol) = protocol else { return Ok(()) };
        let mut out = output()?;
        queue!(out, BeginSynchronizedUpdate)?;
        graphics::clear(&mut out, protocol)?;
        images.iter().try_for_each(|image| graphics::write(&mut out, protocol, image))?;
        self.images = images;
        queue!(out, EndSynchronizedUpdate)?;
        out.flush()
    }

    /// Returns `true` if the terminal shows images.
    pub(super) fn has_graphics(&self) -> bool {
        self.graphics.is_some()
    }

    /// Restores the terminal during `pause`, then redraws everything. Returns the columns and rows, which may have
    /// changed.
    pub(super) fn pause<T>(&mut self, pause: impl FnOnce() -> T) -> io::Result<(T, (u16, u16))> {
        restore();
        let result = pause();
        Ok((result, self.take_again()?))
    }

    /// Sets up the terminal again after another program used it, and redraws everything. Returns the columns and rows.
    pub(super) fn take_again(&mut self) -> io::Result<(u16, u16)> {
        take(self.mouse)?;
        self.reports_text = None;
        self.images.clear();
        self.terminal.backend_mut().is_cursor_shown = None;
        // Avoids `clear`, which queries the cursor position; the thread that reads keys would get the answer.
        let size = self.terminal.size()?;
        self.terminal.resize(size.into())?;
        Ok((size.width, size.height))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn take(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    system_terminal::note(true);
    let entered = output().and_then(|mut out| {
        execute!(out, EnterAlternateScreen)?;
        if system_terminal::ANSWERS {
            out.write_all(b"\x1b[>5u")?; // the Kitty keyboard protocol
        }
        let _ = execute!(out, EnableBracketedPaste); // a terminal without bracketed paste is supported
        if mouse { execute!(out, EnableMouseCapture) } else { Ok(()) }
    });
    entered.inspect_err(|_| restore())
}

/// Ignores errors, because they cannot be reported, and the next step may still work.
fn restore() {
    let _ = output().and_then(|mut out| {
        let _ = execute!(out, DisableBracketedPaste);
        if system_terminal::ANSWERS {
            let _ = out.write_all(b"\x1b[<u");
        }
        execute!(out, DisableMouseCapture, LeaveAlternateScreen, Show)
    });
    let _ = disable_raw_mode();
    system_terminal::note(false);
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
            if catch_panic::is_caught(panic) {
                return;
            }
            while IS_REPLACED.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            restore();
            catch_panic::report(panic);
            programs::end_all_before_exit();
            std::process::exit(101);
        }));
    });
}

/// The maximum time to wait for the answer; most terminals take a few milliseconds.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// Queries the terminal.
pub(super) fn ask_background() -> io::Result<()> {
    let mut out = output()?;
    // Ended by BEL, because some terminals reply in the same way, and urxvt's other terminator is broken.
    out.write_all(b"\x1b]11;?\x07")?;
    out.flush()
}

/// Returns the palette for the background: from the answer of the terminal, `COLORFGBG`, or pi's setting; otherwise
/// dark.
pub(super) fn palette(answer: &Receiver<Palette>) -> Palette {
    // The themes of pi itself; others are unknown.
    let settings = || match Environment::current().setting("theme")?.as_str() {
        "dark" => Some(Palette::Dark),
        "light" => Some(Palette::Light),
        _ => None,
    };
    answer.recv_timeout(ANSWER_TIMEOUT).ok().or_else(palette_of_environment).or_else(settings).unwrap_or_default()
}

/// Returns the palette for the background according to `COLORFGBG`.
pub(super) fn palette_of_environment() -> Option<Palette> {
    of_colorfgbg(&std::env::var("COLORFGBG").ok()?)
}

/// Parses `COLORFGBG` like pi (1.6.0): the last field is one of the sixteen colors of the terminal.
fn of_colorfgbg(value: &str) -> Option<Palette> {
    match value.rsplit(';').next()?.trim().parse().ok()? {
        0..=6 | 8 => Some(Palette::Dark),
        7 | 9..=15 => Some(Palette::Light),
        _ => None,
    }
}

/// Parses an answer such as `11;rgb:fdfd/f6f6/e3e3`. Light if black has more contrast than white (WCAG 2.1).
pub(super) fn palette_of_answer(text: &str) -> Option<Palette> {
    let color = text.strip_prefix("11;rgb").map(|rest| rest.strip_prefix('a').unwrap_or(rest))?;
    let mut parts = color.strip_prefix(':')?.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|&most| most > 0)?;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    });
    let mut next = || parts.next().flatten();
    Some(if luminance([next()?, next()?, next()?]) > 0.179 { Palette::Light } else { Palette::Dark })
}

/// Returns the relative luminance of a color (WCAG 2.1). Components and result are between 0 and 1.
pub(crate) fn luminance(rgb: [f64; 3]) -> f64 {
    let [red, green, blue] =
        rgb.map(|part| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// A backend that limits the reported size of the terminal.
struct Bounded<W: Write> {
    inner: CrosstermBackend<BufWriter<W>>,
    /// `true` while a frame is drawn. Terminals without synchronized output show it as it comes.
    is_drawing: bool,
    /// `true` if the cursor is shown; `None` if another program used the terminal.
    is_cursor_shown: Option<bool>,
    cursor: Option<Position>,
}

impl<W: Write> Bounded<W> {
    fn new(out: W) -> Self {
        let inner = CrosstermBackend::new(BufWriter::new(out));
        Self { inner, is_drawing: false, is_cursor_shown: None, cursor: None }
    }

    /// Begins a frame.
    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_drawing, true) {
            queue!(self.inner, BeginSynchronizedUpdate)?;
        }
        Ok(())
    }

    fn set_cursor_shown(&mut self, is_shown: bool) -> io::Result<()> {
        if self.is_cursor_shown.replace(is_shown) == Some(is_shown) {
            return Ok(());
        }
        self.begin()?;
        if is_shown { queue!(self.inner, Show) } else { queue!(self.inner, Hide) }
    }
}

impl<W: Write> Backend for Bounded<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let mut content = content.peekable();
        if content.peek().is_none() {
            return Ok(()); // writes nothing where nothing changed
        }
        self.begin()?;
        self.cursor = None; // drawing moves it
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.set_cursor_shown(false)
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.set_cursor_shown(true)
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let position = position.into();
        if self.cursor.replace(position) == Some(position) {
            return Ok(());
        }
        self.begin()?;
        queue!(self.inner, MoveTo(position.x, position.y))
    }

    fn clear(&mut self) -> io::Result<()> {
        self.inner.clear()
    }

    fn clear_region(&mut self, clear_type: ClearType) -> io::Result<()> {
        self.inner.clear_region(clear_type)
    }

    fn size(&self) -> io::Result<Size> {
        let Size { width, height } = self.inner.size()?;
        let (width, height) = bounded((width, height));
        Ok(Size { width, height })
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        self.inner.window_size()
    }

    fn flush(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_drawing) {
            queue!(self.inner, EndSynchronizedUpdate)?;
        }
        Backend::flush(&mut self.inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backgrounds_are_dark_or_light() {
        let dark = ["11;rgb:0/0/0", "11;rgb:1e/1e/1e", "11;rgb:0000/2b2b/3636", "11;rgba:28/2c/34/ff"];
        assert!(dark.iter().all(|text| palette_of_answer(text) == Some(Palette::Dark)));
        assert!(
            ["11;rgb:f/f/f", "11;rgb:fdfd/f6f6/e3e3"]
                .iter()
                .all(|text| palette_of_answer(text) == Some(Palette::Light))
        );
        assert!(
            ["", "11;rgb:", "11;rgb:1/2", "11;rgb:/1/2", "11;#fff"]
                .iter()
                .all(|text| palette_of_answer(text).is_none())
        );
        let said = ["15;0", "0;15", "0;default;7", "7;8", "0;default", "", "0;16", "x"].map(of_colorfgbg);
        let (dark, light) = (Some(Palette::Dark), Some(Palette::Light));
        assert_eq!(said, [dark, light, light, dark, None, None, None, None]);
    }

    #[test]
    fn a_frame_is_shown_when_it_is_whole_and_nothing_is_said_where_nothing_changed() {
        let (begin, end) = ("\x1b[?2026h", "\x1b[?2026l");
        let mut written = Vec::new();
        let mut bounded = Bounded::new(&mut written);
        let cell = Cell::new("x");
        bounded.draw([(0, 0, &cell)].into_iter()).unwrap();
        bounded.draw([(1, 0, &cell)].into_iter()).unwrap();
        bounded.flush().unwrap();
        bounded.draw(std::iter::empty()).unwrap();
        bounded.flush().unwrap();
        drop(bounded);
        let written = String::from_utf8(written).unwrap();
        assert!(written.starts_with(begin) && written.matches(begin).count() == 1, "{written:?}");
        let (frame, behind) = written.split_once(end).unwrap();
        assert!(frame.matches('x').count() == 2 && !behind.contains('x') && !behind.contains("2026"), "{written:?}");
    }
}
