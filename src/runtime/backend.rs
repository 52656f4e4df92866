//! A terminal with a maximum size (see [`bounded`]) that shows complete frames only.

use std::io::{self, BufWriter, Write};

use crossterm::queue;
use crossterm::terminal::{BeginSynchronizedUpdate, EndSynchronizedUpdate};
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::Cell;
use ratatui::layout::{Position, Size};

use crate::app::model::bounded;

/// A backend that limits the reported size of the terminal.
pub(super) struct Bounded<W: Write> {
    inner: CrosstermBackend<BufWriter<W>>,
    /// `true` while a frame is drawn. Terminals without synchronized output show it as it comes.
    is_drawing: bool,
}

impl<W: Write> Bounded<W> {
    pub(super) fn new(out: W) -> Self {
        Self { inner: CrosstermBackend::new(BufWriter::new(out)), is_drawing: false }
    }
}

impl<W: Write> Backend for Bounded<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        let mut content = content.peekable();
        if content.peek().is_some() && !self.is_drawing {
            queue!(self.inner, BeginSynchronizedUpdate)?;
            self.is_drawing = true;
        }
        self.inner.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.inner.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.inner.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        self.inner.get_cursor_position()
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.inner.set_cursor_position(position)
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
