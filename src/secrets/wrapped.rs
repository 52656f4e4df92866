//! Values that a terminal wrapped over several lines.

use std::ops::Range;

use super::value::{self, Classes};

/// The most line breaks in a value.
const MAX_BREAKS: usize = 6;

/// The fewest bytes of a value before its first line break.
const SHORTEST_START: usize = 12;

/// The fewest bytes of a line that continues a value.
const SHORTEST_LINE: usize = 7;

/// Returns the value that starts at `start` without its line breaks, and its place, if further lines continue it.
pub(super) fn continued(text: &str, start: usize) -> Option<(String, Range<usize>)> {
    let bytes = text.as_bytes();
    let first = token_end(bytes, start);
    let (mut value, mut end) = (text.get(start..first)?.to_owned(), first);
    for _ in 0..MAX_BREAKS {
        let Some(next) = next_line(bytes, end).filter(|_| value.len() >= SHORTEST_START) else { break };
        let next_end = token_end(bytes, next);
        let part = text.get(next..next_end)?;
        if part.len() < SHORTEST_LINE || !is_alone(bytes, next_end) || !is_mixed(part) {
            break;
        }
        value.push_str(part);
        end = next_end;
    }
    (end > first).then_some((value, start..end))
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
        for (text, start) in
            [("a: ghp_q7Xw2mPq9\n  Zt4Lk8R2\nb", 3), ("│ ghp_q7Xw2mPq9  │\n│ Zt4Lk8R2       │", "│ ".len())]
        {
            let (value, place) = continued(text, start).unwrap();
            assert_eq!(value, "ghp_q7Xw2mPq9Zt4Lk8R2");
            assert!(text[place.clone()].starts_with("ghp") && text[place].ends_with("Zt4Lk8R2"), "{text}");
        }
        for other in
            ["ghp_q7Xw2mPq9\nThanks a lot", "ghp_q7Xw2mPq9\nNAME=1", "ghp_\nq7Xw2mPq9", "ghp_q7Xw2mPq9 q7Xw2mPq9"]
        {
            assert_eq!(continued(other, 0), None, "{other}");
        }
    }
}
