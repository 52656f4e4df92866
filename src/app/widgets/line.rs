//! A single-line text input: text, cursor and visible part.

use tui_input::{Input, InputRequest};
use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::{clean, truncate_to_width, width};
use crate::keymap::{Action, Key};

/// The maximum length in characters, slightly above the limit for names, so that a longer name is rejected with that
/// limit.
const LONGEST: usize = 10_100;

/// A single-line text input.
#[derive(Clone, Debug, Default)]
pub struct LineEdit {
    input: Input,
}

impl LineEdit {
    /// Returns a line that contains `value`, with the cursor at the end.
    pub fn new(value: &str) -> Self {
        Self { input: Input::new(value.into()) }
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
        self.input.handle(request).is_some_and(|changed| changed.value)
    }

    /// Inserts pasted text as one line.
    pub fn paste(&mut self, text: &str) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::{KeyContext, Keymap};

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
