//! The parts of a line in a repaired file: the values that stay, and the bytes that have no place in it. Both passes over a
//! file split its lines in the same way.

use std::borrow::Cow;

use crate::session::entry::parse;
use crate::session::health::TOO_LONG_FOR_PI;
use crate::session::health::pieces::{Piece, pieces};
use crate::session::write::repair::complete::complete;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// A JSON value, or a blank line.
    Value(Cow<'a, [u8]>),
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
    let (mut parts, mut is_completed) = (Vec::new(), false);
    for piece in pieces(&without_nul) {
        match piece {
            Piece::Value(value) => parts.push(Segment::Value(value.to_vec().into())),
            Piece::Torn(torn) => match complete(torn) {
                Some((value, used)) => {
                    is_completed = true;
                    parts.push(Segment::Value(value.into()));
                    let behind = &torn[used..];
                    parts.extend((!behind.is_empty()).then(|| Segment::Rest(behind.to_vec().into())));
                }
                None => parts.push(Segment::Rest(torn.to_vec().into())),
            },
        }
    }
    let values = parts.iter().filter(|part| matches!(part, Segment::Value(_))).count();
    let done = match (values, is_completed) {
        (0, _) => "moved to the rest",
        (1, true) => "completed the incomplete entry",
        (_, true) => "split into entries, and completed an incomplete one",
        (1, false) => "separated the entry from other bytes, which moved to the rest",
        (_, false) => "split into entries",
    };
    Segments { parts, done: Some(done) }
}
