//! The parts of a line in a repaired file: the values that stay, and the bytes that have no place in it. Both passes over a
//! file split its lines in the same way.

use crate::session::entry::parse;
use crate::session::health::{Piece, TOO_LONG_FOR_PI, is_of_pi, pieces};

/// Calls `each` with the parts of a line without its line break, and with `true` if the line is damaged. Values that stay are
/// JSON values and blank lines. Returns the step of the repair for people if the line is changed.
pub(super) fn split(line: &[u8], each: &mut dyn FnMut(Piece<'_>, bool)) -> Option<&'static str> {
    if line.len() as u64 > TOO_LONG_FOR_PI {
        each(Piece::Torn(line), true);
        return Some("moved to the rest: too long for pi");
    }
    if parse::line(line).is_ok() {
        each(Piece::Value(line), false);
        return None;
    }
    let without_nul: Vec<u8> = line.iter().copied().filter(|byte| *byte != 0).collect();
    if parse::line(&without_nul).is_ok() {
        if !without_nul.trim_ascii().is_empty() {
            each(Piece::Value(&without_nul), true);
        }
        return Some("removed NUL bytes");
    }
    if let Some(value) = escaped(&without_nul) {
        each(Piece::Value(&value), true);
        return Some("escaped raw control characters");
    }
    let pieces = pieces(&without_nul);
    pieces.iter().for_each(|piece| each(*piece, true));
    Some(match pieces.iter().filter(|piece| matches!(piece, Piece::Value(_))).count() {
        0 => "moved to the rest",
        1 => "separated the entry from other bytes, which moved to the rest",
        _ => "split into entries",
    })
}

/// Replaces the control characters in the strings of an entry by escapes, and line breaks between its values by spaces.
/// Returns `None` if the result is not an entry.
fn escaped(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut new, mut in_string, mut is_escaped) = (Vec::with_capacity(bytes.len() + 64), false, false);
    for &byte in bytes {
        match byte {
            b'\n' if in_string => new.extend(b"\\n"),
            b'\r' if in_string => new.extend(b"\\r"),
            b'\t' if in_string => new.extend(b"\\t"),
            0..0x20 if in_string => new.extend(format!("\\u{byte:04x}").bytes()),
            b'\n' => new.push(b' '),
            _ => new.push(byte),
        }
        in_string ^= byte == b'"' && !is_escaped;
        is_escaped = in_string && byte == b'\\' && !is_escaped;
    }
    parse::line(&new).is_ok_and(|entry| entry.is_some_and(|entry| is_of_pi(&entry))).then_some(new)
}

/// The limits for an entry on several lines: their number, and the number of attempts to read them as one.
const JOINED: usize = 10_000;
const TRIES: usize = 100;

/// Joins the lines of an entry that has raw line breaks.
#[derive(Debug, Default)]
pub(super) struct LineJoiner {
    held: Vec<u8>,
    /// The ends of the held lines.
    ends: Vec<usize>,
    tries: usize,
}

impl LineJoiner {
    /// Adds the next line, and calls `each` with those that are not held: a line, or an entry and the number of its lines.
    pub(super) fn line(&mut self, line: &[u8], each: &mut dyn FnMut(&[u8], u64)) {
        let read = parse::line(line);
        let is_entry = || matches!(&read, Ok(Some(entry)) if is_of_pi(entry));
        if self.ends.is_empty() {
            if read.is_ok() || !line.trim_ascii_start().starts_with(b"{") {
                return each(line, 1);
            }
        } else if is_entry() || self.ends.len() == JOINED || (self.held.len() + line.len()) as u64 > TOO_LONG_FOR_PI {
            self.finish(each);
            return self.line(line, each);
        } else {
            self.held.push(b'\n');
        }
        self.held.extend_from_slice(line);
        self.ends.push(self.held.len());
        if self.ends.len() > 1 && self.tries < TRIES && line.trim_ascii_end().ends_with(b"}") {
            self.tries += 1;
            if let Some(entry) = escaped(&self.held) {
                each(&entry, self.ends.len() as u64);
                *self = Self::default();
            }
        }
    }

    /// Calls `each` with the held lines, which are not one entry.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(&[u8], u64)) {
        let Self { held, ends, .. } = std::mem::take(self);
        let mut start = 0;
        for end in ends {
            each(&held[start..end], 1);
            start = end + 1;
        }
    }
}
