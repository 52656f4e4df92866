//! The parts of a line in a repaired file: the values that stay, and the bytes that have no place in it. Both passes over a
//! file split its lines in the same way.

use std::borrow::Cow;

use crate::session::entry::parse;
use crate::session::health::TOO_LONG_FOR_PI;
use crate::session::health::pieces::{Piece, is_of_pi, pieces};
use crate::session::write::repair::complete::complete;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// A JSON value, or a blank line.
    Value(Cow<'a, [u8]>),
    /// A completed entry.
    Completed {
        /// The entry.
        value: Vec<u8>,
        /// The incomplete one.
        torn: Vec<u8>,
        /// The number of its bytes in the entry. The following ones have no place in the file.
        used: usize,
    },
    /// Bytes without a place in the file.
    Rest(Cow<'a, [u8]>),
}

/// The parts of a line.
#[derive(Debug)]
pub(super) struct Segments<'a> {
    pub(super) parts: Vec<Segment<'a>>,
    /// The step of the repair for people, if the line is changed.
    pub(super) done: Option<&'static str>,
}

/// Splits a line without its line break.
pub(super) fn segments(line: &[u8]) -> Segments<'_> {
    let one = |part, done| Segments { parts: vec![part], done };
    if line.len() as u64 > TOO_LONG_FOR_PI {
        return one(Segment::Rest(line.into()), Some("moved to the rest: too long for pi"));
    }
    if parse::line(line).is_ok() {
        return one(Segment::Value(line.into()), None);
    }
    let without_nul: Cow<'_, [u8]> = match memchr::memchr(0, line) {
        Some(_) => line.iter().copied().filter(|byte| *byte != 0).collect::<Vec<u8>>().into(),
        None => line.into(),
    };
    if without_nul.trim_ascii().is_empty() {
        return Segments { parts: Vec::new(), done: Some("removed NUL bytes") };
    }
    if parse::line(&without_nul).is_ok() {
        return one(Segment::Value(without_nul), Some("removed NUL bytes"));
    }
    if let Some(value) = escaped(&without_nul) {
        return one(Segment::Value(value.into()), Some("escaped raw control characters"));
    }
    let (mut parts, mut is_completed) = (Vec::new(), false);
    for piece in pieces(&without_nul) {
        match piece {
            Piece::Value(value) => parts.push(Segment::Value(value.to_vec().into())),
            Piece::Torn(torn) => match complete(torn) {
                Some((value, used)) => {
                    is_completed = true;
                    parts.push(Segment::Completed { value, torn: torn.to_vec(), used });
                }
                None => parts.push(Segment::Rest(torn.to_vec().into())),
            },
        }
    }
    let values = parts.iter().filter(|part| !matches!(part, Segment::Rest(_))).count();
    let done = match (values, is_completed) {
        (0, _) => "moved to the rest",
        (1, true) => "completed the incomplete entry",
        (_, true) => "split into entries, and completed an incomplete one",
        (1, false) => "separated the entry from other bytes, which moved to the rest",
        (_, false) => "split into entries",
    };
    Segments { parts, done: Some(done) }
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
