//! Values that a terminal wrapped over several lines.

use std::ops::Range;

use super::value::{self, Classes};

/// The most line breaks in a value.
const MAX_BREAKS: usize = 6;

/// The fewest bytes of a value before its first line break.
const SHORTEST_START: usize = 12;

/// The fewest bytes of a line that continues a value which could be complete.
const SHORTEST_LINE: usize = 7;

/// The most bytes of a value with its line breaks.
const LONGEST: usize = 1024;

/// The state of the first line of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstLine {
    /// It is too short.
    Incomplete,
    /// It is long enough, so that the next lines must look random.
    Complete,
}

/// A part of a text without the line breaks in its first value.
pub(super) struct Unwrapped {
    pub text: String,
    /// The ends of the joined lines, in `text` and in the original text.
    lines: Vec<(usize, usize)>,
    start: usize,
}

impl Unwrapped {
    /// Joins the lines of the value that contains the position `at`. The result starts at `start`. Returns `None` if no
    /// line is continued.
    pub(super) fn new(text: &str, start: usize, at: usize, first: FirstLine) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut joined = Self { text: String::new(), lines: Vec::new(), start };
        let (mut from, mut end) = (start, token_end(bytes, at));
        while joined.lines.len() < MAX_BREAKS && end - start < LONGEST {
            let shortest = if joined.lines.is_empty() { SHORTEST_START } else { 1 };
            let line = text.get(from.max(at)..end)?;
            let Some(next) = next_line(bytes, end).filter(|_| line.len() >= shortest) else { break };
            let next_end = token_end(bytes, next);
            let is_whole =
                matches!(bytes.get(next_end), None | Some(b'\r' | b'\n' | b' ' | b'"' | b'\'' | b'`' | b',' | b';'));
            let part = text.get(next..next_end)?;
            let is_random = part.len() >= SHORTEST_LINE && is_alone(bytes, next_end) && is_mixed(part);
            if part.is_empty() || !is_whole || (first == FirstLine::Complete && !is_random) {
                break;
            }
            joined.text.push_str(text.get(from..end)?);
            joined.lines.push((joined.text.len(), next));
            (from, end) = (next, next_end);
        }
        if joined.lines.is_empty() {
            return None;
        }
        // The text after the value decides where it ends.
        joined.text.push_str(text.get(from..end)?);
        joined.text.push_str(text[end..].get(..1).unwrap_or_default());
        Some(joined)
    }

    /// Returns the place of a part of the joined text in the original text, if it contains a line break.
    pub(super) fn original(&self, range: Range<usize>) -> Option<Range<usize>> {
        let is_wrapped = self.lines.iter().any(|(at, _)| range.start < *at && *at < range.end);
        is_wrapped.then(|| self.place(range.start)..self.place(range.end - 1) + 1)
    }

    fn place(&self, at: usize) -> usize {
        match self.lines.iter().rev().find(|(line, _)| *line <= at) {
            Some((line, original)) => original + (at - line),
            None => self.start + at,
        }
    }
}

/// Returns the value that starts at `start` without its line breaks, and its place, if further lines continue it.
pub(super) fn continued(text: &str, start: usize) -> Option<(String, Range<usize>)> {
    let unwrapped = Unwrapped::new(text, start, start, FirstLine::Complete)?;
    let value = &unwrapped.text[..token_end(unwrapped.text.as_bytes(), 0)];
    Some((value.to_owned(), unwrapped.original(0..value.len())?))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/.~%".contains(&byte)
}

/// Returns the end of the token at a position, with the padding of Base64.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let len = bytes[at..].iter().take_while(|byte| is_token(**byte)).count();
    at + len + bytes[at + len..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// Skips a line break with the frame around it. Returns the start of the next line's token.
fn next_line(bytes: &[u8], at: usize) -> Option<usize> {
    let at = skip_frame(bytes, at);
    let at = at + usize::from(bytes.get(at) == Some(&b'\r'));
    (bytes.get(at) == Some(&b'\n')).then(|| skip_frame(bytes, at + 1))
}

/// Skips blanks and a vertical line, such as around the output of a program.
fn skip_frame(bytes: &[u8], mut at: usize) -> usize {
    const LINES: [&str; 3] = ["│", "┃", "|"];
    for _ in 0..2 {
        at += bytes[at..].iter().take(160).take_while(|byte| **byte == b' ').count();
        let line = LINES.iter().find(|line| bytes[at..].starts_with(line.as_bytes()));
        at += line.map_or(0, |line| line.len());
    }
    at
}

/// Returns `true` if nothing but a quote or a frame follows on the line.
fn is_alone(bytes: &[u8], at: usize) -> bool {
    let at = at + bytes[at..].iter().take(3).take_while(|byte| b"\"'`,;".contains(byte)).count();
    matches!(bytes.get(skip_frame(bytes, at)), None | Some(b'\r' | b'\n'))
}

/// Returns `true` if a text is no word: it mixes digits or cases.
fn is_mixed(part: &str) -> bool {
    let Classes { digits, lower, upper, .. } = Classes::of(part);
    let is_mixed = digits > 0 && lower + upper > 0 || lower > 1 && upper > 1;
    is_mixed && !value::is_words(part) && !value::is_plain_data(part) && !value::is_reference(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_value_are_joined() {
        let text = "a: ghp_q7Xw2mPq9\n  Zt4Lk8R2\nb";
        let unwrapped = Unwrapped::new(text, 3, 3, FirstLine::Complete).unwrap();
        assert_eq!(unwrapped.text, "ghp_q7Xw2mPq9Zt4Lk8R2\n");
        assert_eq!(&text[unwrapped.original(0..21).unwrap()], "ghp_q7Xw2mPq9\n  Zt4Lk8R2");
        assert_eq!(unwrapped.original(0..5), None);
        let text = "│ ghp_q7Xw2mPq9  │\n│ Zt4Lk8R2       │";
        assert_eq!(Unwrapped::new(text, 4, 4, FirstLine::Incomplete).unwrap().text, "ghp_q7Xw2mPq9Zt4Lk8R2 ");
        for other in
            ["ghp_q7Xw2mPq9\nThanks a lot", "ghp_q7Xw2mPq9\nNAME=1", "ghp_\nq7Xw2mPq9", "ghp_q7Xw2mPq9 q7Xw2mPq9"]
        {
            assert!(Unwrapped::new(other, 0, 0, FirstLine::Complete).is_none(), "{other}");
        }
    }
}
