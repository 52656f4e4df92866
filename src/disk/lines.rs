//! Splits a file into lines with one buffer, for files and lines of any length.

use std::io::{self, Read};
use std::ops::Range;

use crate::session::lines::{BEGINNING, LONGEST, Line, LineCollector};

/// The number of bytes per read. Larger reads exceed the processor cache, smaller ones need more system calls.
const CHUNK: usize = 256 * 1024;

/// The length in bytes from which a line gets the maximum buffer at once. Doubling the buffer repeatedly would triple
/// the time, and unused capacity takes no memory.
const LONG: usize = 8 * 1024 * 1024;

/// Calls `line` for each line that starts before `end`, until it returns `false`. `start` is the offset of the first
/// byte of `reader`.
///
/// # Errors
/// Reading failed.
pub fn each(
    reader: &mut impl Read,
    start: u64,
    end: u64,
    buffer: &mut Vec<u8>,
    mut line: impl FnMut(Line<'_>) -> bool,
) -> io::Result<()> {
    split(reader, start, buffer, LONGEST as usize, |piece| {
        let (offset, block) = match piece {
            FileRange::Lines(offset, block) => (offset, block),
            FileRange::Cut(cut) => return cut.offset < end && line(cut),
        };
        let mut from = 0;
        while from < block.len() {
            let found = memchr::memchr(b'\n', &block[from..]);
            let at = found.map_or(block.len(), |found| from + found);
            let offset = offset + from as u64;
            let whole = Line::new(offset, &block[from..at], found.is_some());
            let mut goes_on = || match whole.parts() {
                None => line(whole),
                Some(parts) => parts.into_iter().all(&mut line),
            };
            if offset >= end || !goes_on() {
                return false;
            }
            from = at + 1;
        }
        true
    })
}

/// Calls `block` with the offset and bytes of blocks of whole lines, including line breaks, until it returns `false`.
/// Skips lines that are too long. `start` is the offset of the first byte of `reader`.
///
/// # Errors
/// Reading failed.
pub(crate) fn blocks(
    reader: &mut impl Read,
    start: u64,
    buffer: &mut Vec<u8>,
    mut block: impl FnMut(u64, &[u8]) -> bool,
) -> io::Result<()> {
    split(reader, start, buffer, LONGEST as usize, |piece| match piece {
        FileRange::Lines(offset, lines) => block(offset, lines),
        FileRange::Cut(_) => true,
    })
}

/// Reads the lines of a file up to the first valid one.
///
/// # Errors
/// Reading failed.
pub(crate) fn head(reader: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<LineCollector> {
    let mut head = LineCollector::default();
    each(reader, 0, u64::MAX, buffer, |line| {
        head.note(&line, &line.read());
        head.is_blank()
    })?;
    Ok(head)
}

/// A reader that reports the end of the file once it is canceled.
pub(crate) struct CancelableReader<R, F>(pub(crate) R, pub(crate) F);

impl<R: Read, F: Fn() -> bool> Read for CancelableReader<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.1)() { self.0.read(buffer) } else { Ok(0) }
    }
}

/// A part of a file.
enum FileRange<'a> {
    /// The offset and bytes of whole lines, including line breaks.
    Lines(u64, &'a [u8]),
    /// An overlong line.
    Cut(Line<'a>),
}

/// Reads, and retries after an interrupt.
fn read(reader: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Calls `piece` with the parts of a file until it returns `false`. Of lines longer than `longest` bytes, only the
/// beginning is kept.
fn split(
    reader: &mut impl Read,
    start: u64,
    buffer: &mut Vec<u8>,
    longest: usize,
    mut piece: impl FnMut(FileRange<'_>) -> bool,
) -> io::Result<()> {
    let mut offset = start; // the offset of the first byte in the buffer
    let mut filled = 0;
    loop {
        if buffer.len() < filled + CHUNK {
            if filled > LONG {
                buffer.reserve_exact((longest + 2 * CHUNK).saturating_sub(buffer.len()));
            }
            buffer.resize(filled + CHUNK, 0);
        }
        let count = read(reader, &mut buffer[filled..])?;
        if count == 0 {
            break;
        }
        let before = filled;
        filled += count;
        if let Some(last) = memchr::memrchr(b'\n', &buffer[before..filled]) {
            let end = before + last + 1;
            if !piece(FileRange::Lines(offset, &buffer[..end])) {
                return Ok(());
            }
            buffer.copy_within(end..filled, 0);
            offset += end as u64;
            filled -= end;
        } else if filled > longest {
            let (len, rest) = skip(reader, buffer, filled)?;
            let (bytes, ended) = (&buffer[..longest.min(BEGINNING)], rest.is_some());
            if !piece(FileRange::Cut(Line { offset, len, bytes, ended, behind: 0 })) {
                return Ok(());
            }
            let Some(rest) = rest else { return Ok(()) };
            filled = rest.len();
            buffer.copy_within(rest, 0);
            offset += len + 1;
        }
    }
    if filled > 0 {
        piece(FileRange::Lines(offset, &buffer[..filled]));
    }
    // Releases the memory of a huge line for the rest of the scan.
    if buffer.len() > 16 * CHUNK {
        *buffer = Vec::new();
    }
    Ok(())
}

/// Skips the rest of a line, and keeps its `filled` bytes that are in the buffer. Returns the length of the line without
/// its line break. Also returns where in the buffer the bytes after the line are, or `None` at the end of the file.
fn skip(reader: &mut impl Read, buffer: &mut Vec<u8>, filled: usize) -> io::Result<(u64, Option<Range<usize>>)> {
    let kept = filled.min(BEGINNING);
    buffer.truncate(kept + CHUNK);
    buffer.shrink_to_fit();
    buffer.resize(kept + CHUNK, 0);
    let mut len = filled as u64;
    loop {
        let count = read(reader, &mut buffer[kept..])?;
        if count == 0 {
            return Ok((len, None));
        }
        if let Some(found) = memchr::memchr(b'\n', &buffer[kept..kept + count]) {
            return Ok((len + found as u64, Some(kept + found + 1..kept + count)));
        }
        len += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(bytes: &[u8], start: u64, end: u64) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = Vec::new();
        let mut reader = &bytes[start as usize..];
        each(&mut reader, start, end, &mut Vec::new(), |line| {
            assert!(!line.is_cut());
            lines.push((line.offset, line.bytes.to_vec(), line.ended));
            true
        })
        .unwrap();
        lines
    }

    #[test]
    fn of_a_line_that_is_too_long_the_beginning_is_kept() {
        let (long, longest) = (vec![b'x'; 3 * CHUNK], CHUNK + 5);
        for (between, end) in [("\n", ""), ("\n", "\n"), ("\nab\n", "\nc"), ("\n\n", "\n\n\n")] {
            let file = [b"head", between.as_bytes(), &long, end.as_bytes()].concat();
            let (mut buffer, mut found, mut covered) = (Vec::new(), Vec::new(), 0);
            super::split(&mut &file[..], 7, &mut buffer, longest, |piece| {
                let (offset, len) = match piece {
                    FileRange::Lines(offset, lines) => (offset, lines.len() as u64),
                    FileRange::Cut(line) => {
                        found.push((line.offset, line.len, line.bytes.len(), line.ended));
                        (line.offset, line.len + u64::from(line.ended))
                    }
                };
                assert_eq!(offset, 7 + covered);
                covered += len;
                true
            })
            .unwrap();
            let at = 7 + 4 + between.len() as u64;
            assert_eq!(found, [(at, long.len() as u64, BEGINNING, !end.is_empty())]);
            assert_eq!(covered, file.len() as u64);
            assert!(buffer.capacity() < 3 * CHUNK, "{}", buffer.capacity());
        }
    }

    #[test]
    fn what_nobody_waits_for_is_at_its_end() {
        let (mut lines, left) = (0, std::cell::Cell::new(3));
        let is_wanted = || left.replace(left.get() - 1) > 0;
        let endless = std::io::repeat(b'x');
        each(&mut CancelableReader(endless, is_wanted), 0, u64::MAX, &mut Vec::new(), |line| {
            lines += 1;
            assert_eq!(line.len, 3 * CHUNK as u64);
            true
        })
        .unwrap();
        assert_eq!(lines, 1);
    }

    proptest! {
        #[test]
        fn gives_every_byte_once(parts in proptest::collection::vec(("[ab]{0,5}", 0usize..3), 0..20)) {
            let text: String = parts.iter().map(|(text, breaks)| text.repeat(60_000 * usize::from(*breaks == 2) + 1) + &"\n".repeat(*breaks)).collect();
            let bytes = text.as_bytes();
            let mut joined = Vec::new();
            for (offset, line, ended) in split(bytes, 0, u64::MAX) {
                prop_assert_eq!(offset as usize, joined.len());
                joined.extend(line);
                if ended { joined.push(b'\n'); }
            }
            prop_assert_eq!(joined, bytes);
        }
    }

    #[test]
    fn a_part_ends_with_the_line_that_starts_in_it() {
        assert_eq!(split(b"ab\ncd\nef", 3, 4), [(3, b"cd".to_vec(), true)]);
        assert_eq!(split(b"ab\ncd\nef", 3, 7), [(3, b"cd".to_vec(), true), (6, b"ef".to_vec(), false)]);
    }
}
