//! The line editor in the footer: what is typed, for what, and the part of it that is seen. Keys as in a shell.

use std::path::PathBuf;

use crossterm::event::{KeyCode, KeyModifiers};
use tui_input::{Input, InputRequest};
use unicode_segmentation::UnicodeSegmentation;

use crate::base::text::{clean, fit, width};
use crate::changes::{Seen, Target};
use crate::keymap::Key;

/// A little more than a name may have, in characters: what is longer is refused, with the limit.
const LONGEST: usize = 10_100;

/// What the line is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The name of a session.
    Name {
        /// The file.
        path: PathBuf,
    },
    /// The label of an entry.
    Label {
        /// The file.
        path: PathBuf,
        /// The entry.
        target: Target,
    },
    /// A query over sessions.
    Search,
    /// Something to look for: taken while it is typed.
    Query,
    /// The word without which nothing is deleted for good.
    Word {
        /// What goes then.
        files: Vec<Seen>,
    },
}

/// A line that is being edited.
#[derive(Clone, Debug)]
pub struct Edit {
    /// What it is for.
    pub purpose: Purpose,
    /// What stands in front of it.
    pub prompt: String,
    input: Input,
}

/// What a key did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// The line is as it shall be.
    Accepted,
    /// It is of no interest any more.
    Cancelled,
    /// One goes on editing.
    Editing,
}

/// What is seen of a line: all clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeing {
    /// In front of the cursor.
    pub before: String,
    /// Under the cursor; a blank at the end of the line.
    pub under: String,
    /// Behind it.
    pub after: String,
}

impl Edit {
    /// A line that begins with `value`, the cursor at its end.
    pub fn new(purpose: Purpose, prompt: impl Into<String>, value: &str) -> Self {
        Self { purpose, prompt: prompt.into(), input: Input::new(value.into()) }
    }

    /// The line as it is.
    pub fn value(&self) -> &str {
        self.input.value()
    }

    /// Where the cursor is, in characters.
    pub fn cursor(&self) -> usize {
        self.input.cursor()
    }

    /// Whether the cursor is behind the last character.
    pub fn is_at_end(&self) -> bool {
        self.cursor() == self.value().chars().count()
    }

    /// Puts the cursor behind so many characters.
    pub fn go_to(&mut self, cursor: usize) {
        self.input.handle(InputRequest::SetCursor(cursor));
    }

    /// Takes a key.
    pub fn press(&mut self, key: Key) -> Pressed {
        use InputRequest as R;
        let control = key.modifiers().contains(KeyModifiers::CONTROL);
        let alt = key.modifiers().contains(KeyModifiers::ALT);
        let request = match (key.code(), control, alt) {
            (KeyCode::Enter, ..) => return Pressed::Accepted,
            (KeyCode::Esc, ..) | (KeyCode::Char('c'), true, _) => return Pressed::Cancelled,
            (KeyCode::Left, true, _) | (KeyCode::Left | KeyCode::Char('b'), _, true) => R::GoToPrevWord,
            (KeyCode::Right, true, _) | (KeyCode::Right | KeyCode::Char('f'), _, true) => R::GoToNextWord,
            (KeyCode::Left, ..) | (KeyCode::Char('b'), true, _) => R::GoToPrevChar,
            (KeyCode::Right, ..) | (KeyCode::Char('f'), true, _) => R::GoToNextChar,
            (KeyCode::Home, ..) | (KeyCode::Char('a'), true, _) => R::GoToStart,
            (KeyCode::End, ..) | (KeyCode::Char('e'), true, _) => R::GoToEnd,
            (KeyCode::Char('w'), true, _) | (KeyCode::Backspace, _, true) => R::DeletePrevWord,
            (KeyCode::Char('d'), _, true) => R::DeleteNextWord,
            (KeyCode::Backspace, ..) | (KeyCode::Char('h'), true, _) => R::DeletePrevChar,
            (KeyCode::Delete, ..) | (KeyCode::Char('d'), true, _) => R::DeleteNextChar,
            (KeyCode::Char('u'), true, _) => R::DeleteFromStart,
            (KeyCode::Char('k'), true, _) => R::DeleteTillEnd,
            (KeyCode::Char('y'), true, _) => R::Yank,
            (KeyCode::Char(c), false, false) if self.value().chars().count() < LONGEST => R::InsertChar(c),
            _ => return Pressed::Editing,
        };
        self.input.handle(request);
        Pressed::Editing
    }

    /// Takes what was pasted: on one line.
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

    /// What is seen of the line in `columns`: the cursor always is.
    pub fn seeing(&self, columns: usize) -> Seeing {
        let at = self.value().char_indices().nth(self.input.cursor()).map_or(self.value().len(), |(at, _)| at);
        let (before, rest) = self.value().split_at(at);
        let (before, rest) = (clean(before), clean(rest));
        let (under, after) = match rest.graphemes(true).next() {
            // What has no width of its own could not be seen to be under the cursor.
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
        Seeing { before: before[start..].into(), under: under.into(), after: fit(after, left).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(value: &str) -> Edit {
        Edit::new(Purpose::Name { path: "s".into() }, "name: ", value)
    }

    fn press(edit: &mut Edit, keys: &str) {
        for key in keys.split(' ') {
            assert_eq!(edit.press(key.parse().unwrap()), Pressed::Editing, "{key}");
        }
    }

    /// The line with a bar where the cursor is.
    fn shown(edit: &Edit) -> String {
        let at = edit.input.cursor();
        let (before, after): (Vec<_>, Vec<_>) = edit.value().chars().enumerate().partition(|(place, _)| *place < at);
        let text = |part: Vec<(usize, char)>| part.into_iter().map(|(_, c)| c).collect::<String>();
        format!("{}|{}", text(before), text(after))
    }

    #[test]
    fn edits_as_a_shell_does() {
        let mut line = edit("one two three");
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
        assert_eq!(line.press("enter".parse().unwrap()), Pressed::Accepted);
        for key in ["esc", "ctrl+c"] {
            assert_eq!(line.press(key.parse().unwrap()), Pressed::Cancelled);
        }
    }

    #[test]
    fn what_is_pasted_is_one_line() {
        let mut line = edit("ab");
        press(&mut line, "left");
        line.paste("1\r\n2\t3\x1b[m\n");
        assert_eq!(shown(&line), "a1 2 3 [m |b");
        line.paste(&"x".repeat(1_000_000));
        assert_eq!(line.value().chars().count(), LONGEST);
    }

    #[test]
    fn wide_characters_and_long_lines_keep_the_cursor_in_sight() {
        let seen = |line: &Edit, columns| {
            let Seeing { before, under, after } = line.seeing(columns);
            format!("{before}[{under}]{after}")
        };
        let mut line = edit("漢字ab");
        assert_eq!(seen(&line, 10), "漢字ab[ ]");
        assert_eq!(seen(&line, 6), "字ab[ ]", "half a character is not shown");
        press(&mut line, "home right");
        assert_eq!(seen(&line, 10), "漢[字]ab");
        assert_eq!(seen(&line, 4), "漢[字]");
        assert_eq!(seen(&line, 3), "[字]a");
        assert_eq!(edit("a\u{1b}b").seeing(9).before, "a␛b");
    }

    proptest::proptest! {
        #[test]
        fn what_is_seen_fits(value in "[a漢é\u{301}👩‍🚀\u{1b} ]{0,20}", back in 0usize..20, columns in 1usize..12) {
            let mut line = edit(&value);
            for _ in 0..back {
                press(&mut line, "left");
            }
            let Seeing { before, under, after } = line.seeing(columns);
            proptest::prop_assert!(width(&before) + width(&under) + width(&after) <= columns);
            proptest::prop_assert!(width(&under) > 0);
        }
    }
}
