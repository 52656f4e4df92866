//! Building blocks of panes and layers: the [`Cursor`] of a list, an input line ([`LineEdit`]) and a scrollable [`TextBox`].

use std::ops::Range;

use ratatui::layout::Rect;
use tui_input::{Input, InputRequest};
use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::{clean, truncate_to_width, width};
use crate::keymap::{Action, Key};
use crate::render::DocLine;
use crate::render::wrap::Wrapped;

/// Columns and rows of the terminal.
pub type TerminalSize = (u16, u16);

/// The selection and scroll position of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The selected row.
    pub at: usize,
    /// The first visible row.
    pub top: usize,
}

impl Cursor {
    /// Moves the selection down by `by` rows, or up if negative, within a list of `len` rows.
    pub fn go(&mut self, by: isize, len: usize) {
        self.at = self.at.saturating_add_signed(by).min(len.saturating_sub(1));
    }

    /// Scrolls by a number of rows and keeps the selection visible.
    pub(crate) fn scroll(&mut self, by: isize, len: usize, height: usize) {
        self.scroll_tall(by, len, height, |_| 1);
    }

    /// Scrolls a list whose rows have several `lines`.
    pub(crate) fn scroll_tall(&mut self, by: isize, len: usize, height: usize, lines: impl Fn(usize) -> usize) {
        self.top = self.top.saturating_add_signed(by).min(top_of(len, height, &lines));
        let last = self.seen(len, height, &lines).end.saturating_sub(1).max(self.top);
        self.at = self.at.clamp(self.top, last).min(len.saturating_sub(1));
    }

    /// Returns the completely visible rows.
    pub fn seen(&self, len: usize, height: usize, lines: impl Fn(usize) -> usize) -> Range<usize> {
        let mut room = height;
        let fits = |row: &usize| {
            let fits = lines(*row) <= room;
            room = room.saturating_sub(lines(*row));
            fits
        };
        let count = (self.top..len).take_while(fits).count();
        self.top..self.top + count
    }

    /// Moves the selection to another row after the list changed, at the same height on the screen.
    pub(crate) fn follow(&mut self, at: usize) {
        self.top = (self.top + at).saturating_sub(self.at);
        self.at = at;
    }

    /// Scrolls to make the selection visible.
    pub fn fit(&mut self, len: usize, height: usize) {
        self.fit_tall(len, height, |_| 1);
    }

    /// Scrolls to make the selection visible, in a list whose rows have several `lines`.
    pub(crate) fn fit_tall(&mut self, len: usize, height: usize, lines: impl Fn(usize) -> usize) {
        self.at = self.at.min(len.saturating_sub(1));
        self.top = self.top.min(self.at).max(top_of((self.at + 1).min(len), height, &lines));
        self.top = self.top.min(top_of(len, height, &lines));
    }
}

/// Returns the first visible row when the list is scrolled to its end. A row taller than the list is shown alone.
fn top_of(len: usize, height: usize, lines: impl Fn(usize) -> usize) -> usize {
    let mut room = height;
    let fits = |row: &usize| {
        let fits = lines(*row) <= room || *row + 1 == len;
        room = room.saturating_sub(lines(*row));
        fits
    };
    len - (0..len).rev().take_while(fits).count()
}

/// The maximum length in characters, slightly above the limit for names, so that a longer name is rejected with that
/// limit.
const LONGEST: usize = 10_100;

/// A single-line text input.
#[derive(Clone, Debug, Default)]
pub struct LineEdit {
    input: Input,
    /// `true` for the text of the time before: the first typed character replaces it.
    pub is_kept: bool,
}

impl LineEdit {
    /// Returns a line that contains `value`, with the cursor at the end.
    pub fn new(value: &str) -> Self {
        Self { input: Input::new(value.into()), is_kept: false }
    }

    /// Returns a line with the text of the time before.
    pub(crate) fn kept(value: &str) -> Self {
        Self { is_kept: !value.is_empty(), ..Self::new(value) }
    }

    /// Returns the text.
    pub fn value(&self) -> &str {
        self.input.value()
    }

    /// Returns the cursor position in characters.
    pub fn cursor(&self) -> usize {
        self.input.cursor()
    }

    /// Returns `true` if the cursor is at the end.
    pub(crate) fn is_at_end(&self) -> bool {
        self.cursor() == self.value().chars().count()
    }

    /// Moves the cursor to a position in characters.
    pub(crate) fn go_to(&mut self, cursor: usize) {
        self.input.handle(InputRequest::SetCursor(cursor));
    }

    /// Handles a key and its action. Returns `true` if the text changed.
    pub fn press(&mut self, key: Key, action: Option<Action>) -> bool {
        let request = match action {
            None => match key.typed() {
                Some(typed) if self.value().chars().count() < LONGEST => InputRequest::InsertChar(typed),
                _ => return false,
            },
            Some(action) => match request(action) {
                Some(request) => request,
                None => return false,
            },
        };
        if std::mem::take(&mut self.is_kept)
            && matches!(request, InputRequest::InsertChar(_) | InputRequest::DeletePrevChar)
        {
            self.input = Input::default();
            self.input.handle(request);
            return true;
        }
        self.input.handle(request).is_some_and(|changed| changed.value)
    }

    /// Inserts pasted text as one line.
    pub fn paste(&mut self, text: &str) {
        if std::mem::take(&mut self.is_kept) {
            self.input = Input::default();
        }
        let one_line = text.replace("\r\n", " ").replace(char::is_control, " ");
        let cursor = self.input.cursor();
        let room = LONGEST.saturating_sub(self.value().chars().count());
        let mut value: String = self.value().chars().take(cursor).collect();
        value.extend(one_line.chars().take(room));
        let after = value.chars().count();
        value.extend(self.value().chars().skip(cursor));
        self.input = Input::new(value).with_cursor(after);
    }

    /// Returns the visible part of the line for `columns`, free of control characters: the text before the cursor, the
    /// character under the cursor (a space at the end of the line), and the text after it.
    pub(crate) fn visible_parts(&self, columns: usize) -> [String; 3] {
        let at = self.value().char_indices().nth(self.input.cursor()).map_or(self.value().len(), |(at, _)| at);
        let (before, rest) = self.value().split_at(at);
        let (before, rest) = (clean(before), clean(rest));
        let (under, after) = match rest.graphemes(true).next() {
            // A character of zero width cannot show the cursor.
            Some(first) if width(first) > 0 && width(first) <= columns => (first, &rest[first.len()..]),
            Some(first) => (" ", &rest[first.len()..]),
            None => (" ", ""),
        };
        let mut left = columns.saturating_sub(width(under));
        let mut start = before.len();
        for (at, cluster) in before.grapheme_indices(true).rev() {
            let Some(less) = left.checked_sub(width(cluster)) else { break };
            (left, start) = (less, at);
        }
        [&before[start..], under, truncate_to_width(after, left)].map(String::from)
    }
}

/// Maps an action to an input request.
fn request(action: Action) -> Option<InputRequest> {
    use Action as A;
    use InputRequest as R;
    Some(match action {
        A::CharLeft => R::GoToPrevChar,
        A::CharRight => R::GoToNextChar,
        A::WordLeft => R::GoToPrevWord,
        A::WordRight => R::GoToNextWord,
        A::LineStart => R::GoToStart,
        A::LineEnd => R::GoToEnd,
        A::DeleteBack => R::DeletePrevChar,
        A::DeleteForward => R::DeleteNextChar,
        A::DeleteWordBack => R::DeletePrevWord,
        A::DeleteWordForward => R::DeleteNextWord,
        A::DeleteToStart => R::DeleteFromStart,
        A::DeleteToEnd => R::DeleteTillEnd,
        A::Yank => R::Yank,
        _ => return None,
    })
}

/// Columns and rows of the frame.
const FRAME: (u16, u16) = (4, 2);

/// Returns the maximum size of a box, frame included, for a terminal size.
pub(crate) fn largest((columns, rows): (u16, u16), widest: u16) -> (u16, u16) {
    (columns.saturating_sub(2).min(widest), rows.saturating_sub(2))
}

/// Returns the area of a box centered in the terminal.
pub fn middle((columns, rows): (u16, u16), (width, height): (u16, u16)) -> Rect {
    let (width, height) = (width.min(columns), height.min(rows));
    Rect::new((columns - width) / 2, (rows - height) / 2, width, height)
}

/// A text wrapped to the inside of a box.
#[derive(Debug)]
pub struct TextBox {
    /// The lines.
    pub lines: Vec<DocLine>,
    /// The wrapped lines.
    pub wrapped: Wrapped,
    /// Columns and rows of the box, frame included.
    pub size: (u16, u16),
    /// Number of visible text rows.
    pub height: usize,
}

impl TextBox {
    /// Wraps `lines` into a box of at most `largest`; `extra` rows are reserved for other content.
    pub fn new(lines: Vec<DocLine>, largest: (u16, u16), extra: u16) -> Self {
        let mut wrapped = Wrapped::new(largest.0.saturating_sub(FRAME.0).into());
        wrapped.all(&lines);
        let room = largest.1.saturating_sub(FRAME.1 + extra);
        let height = u16::try_from(wrapped.len()).unwrap_or(u16::MAX).min(room);
        Self { lines, wrapped, size: (largest.0, height + FRAME.1 + extra), height: height.into() }
    }

    /// Returns the first visible row after scrolling `by` rows from `top`.
    pub fn scrolled(&self, top: usize, by: isize) -> usize {
        top.saturating_add_signed(by).min(self.wrapped.len().saturating_sub(self.height))
    }

    /// Returns `true` if the text does not fit and scrolls.
    pub(crate) fn scrolls(&self) -> bool {
        self.wrapped.len() > self.height
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::{KeyContext, Keymap};

    proptest::proptest! {
        #[test]
        fn the_selection_stays_in_the_list_and_in_sight(
            steps in proptest::collection::vec((0..3, -50isize..50), 0..20),
            tall in proptest::collection::vec(1usize..3, 0..40),
            height in 2usize..20,
        ) {
            let (mut cursor, len) = (Cursor::default(), tall.len());
            let lines = |row: usize| tall[row];
            for (what, by) in steps {
                match what {
                    0 => cursor.go(by, len),
                    1 => cursor.scroll_tall(by, len, height, lines),
                    _ => cursor.follow(by.unsigned_abs() % len.max(1)),
                }
                cursor.fit_tall(len, height, lines);
                proptest::prop_assert!(cursor.at < len.max(1));
                proptest::prop_assert!(len == 0 || cursor.seen(len, height, lines).contains(&cursor.at));
                let below: usize = (cursor.top..len).map(lines).sum();
                let is_room = cursor.top > 0 && below + lines(cursor.top - 1) <= height;
                proptest::prop_assert!(!is_room, "no empty rows while some are hidden");
            }
        }
    }

    fn press(line: &mut LineEdit, keys: &str) {
        let keymap = Keymap::default();
        for key in keys.split(' ').map(|key| key.parse().unwrap()) {
            line.press(key, keymap.resolve(KeyContext::Prompt, key));
        }
    }

    /// Renders the line with a bar at the cursor.
    fn shown(line: &LineEdit) -> String {
        let at = line.input.cursor();
        let (before, after): (Vec<_>, Vec<_>) = line.value().chars().enumerate().partition(|(place, _)| *place < at);
        let text = |part: Vec<(usize, char)>| part.into_iter().map(|(_, c)| c).collect::<String>();
        format!("{}|{}", text(before), text(after))
    }

    #[test]
    fn edits_as_a_shell_does() {
        let mut line = LineEdit::new("one two three");
        for (keys, expected) in [
            ("alt+b", "one two |three"),
            ("ctrl+left left", "one| two three"),
            ("ctrl+k", "one|"),
            ("ctrl+y", "one two three|"),
            ("ctrl+w x", "one two x|"),
            ("ctrl+a delete ctrl+d N", "N|e two x"),
            ("alt+f ctrl+right", "Ne two |x"),
            ("ctrl+u end backspace", "|"),
            ("q ? space ctrl+o f5 tab", "q? |"),
            ("home ctrl+f ctrl+b right ctrl+e ctrl+h", "q?|"),
        ] {
            press(&mut line, keys);
            assert_eq!(shown(&line), expected, "after {keys}");
        }
        let keymap = Keymap::default();
        for (key, changes) in [("x", true), ("left", false), ("delete", true), ("delete", false)] {
            let key = key.parse().unwrap();
            assert_eq!(line.press(key, keymap.resolve(KeyContext::Prompt, key)), changes, "{key}");
        }
    }

    #[test]
    fn what_is_pasted_is_one_line() {
        let mut line = LineEdit::new("ab");
        press(&mut line, "left");
        line.paste("1\r\n2\t3\x1b[m\n");
        assert_eq!(shown(&line), "a1 2 3 [m |b");
        line.paste(&"x".repeat(1_000_000));
        assert_eq!(line.value().chars().count(), LONGEST);
    }

    #[test]
    fn wide_characters_and_long_lines_keep_the_cursor_in_sight() {
        let seen = |line: &LineEdit, columns| {
            let [before, under, after] = line.visible_parts(columns);
            format!("{before}[{under}]{after}")
        };
        let mut line = LineEdit::new("漢字ab");
        assert_eq!(seen(&line, 10), "漢字ab[ ]");
        assert_eq!(seen(&line, 6), "字ab[ ]", "half a character is not shown");
        press(&mut line, "home right");
        assert_eq!(seen(&line, 10), "漢[字]ab");
        assert_eq!(seen(&line, 4), "漢[字]");
        assert_eq!(seen(&line, 3), "[字]a");
        assert_eq!(LineEdit::new("a\u{1b}b").visible_parts(9)[0], "a␛b");
    }

    proptest::proptest! {
        #[test]
        fn what_is_seen_fits(value in "[a漢é\u{301}👩‍🚀\u{1b} ]{0,20}", back in 0usize..20, columns in 1usize..12) {
            let mut line = LineEdit::new(&value);
            for _ in 0..back {
                press(&mut line, "left");
            }
            let [before, under, after] = line.visible_parts(columns);
            proptest::prop_assert!(width(&before) + width(&under) + width(&after) <= columns);
            proptest::prop_assert!(width(&under) > 0);
        }
    }
}
