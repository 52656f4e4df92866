//! Splits a file into lines with one buffer, however long the file.

use std::io::{self, Read};

/// How much is read at once, in bytes. Larger ones leave the processor's cache, smaller ones cost system calls.
const CHUNK: usize = 256 * 1024;

/// Calls `line` with the offset, the bytes without the line break, and whether a line break follows, for each line that
/// starts before `end`. `start` is the offset of the first byte that `reader` gives. Stops when `line` returns false.
///
/// # Errors
/// Reading failed.
pub fn each(
    reader: &mut impl Read,
    start: u64,
    end: u64,
    buffer: &mut Vec<u8>,
    mut line: impl FnMut(u64, &[u8], bool) -> bool,
) -> io::Result<()> {
    blocks(reader, start, buffer, |offset, block| {
        let mut from = 0;
        while from < block.len() {
            let found = memchr::memchr(b'\n', &block[from..]);
            let at = found.map_or(block.len(), |found| from + found);
            let offset = offset + from as u64;
            if offset >= end || !line(offset, &block[from..at], found.is_some()) {
                return false;
            }
            from = at + 1;
        }
        true
    })
}

/// Calls `block` with the offset and the bytes of some whole lines, line breaks included, until all were passed on or it
/// returns false. `start` is the offset of the first byte that `reader` gives.
///
/// # Errors
/// Reading failed.
pub(crate) fn blocks(
    reader: &mut impl Read,
    start: u64,
    buffer: &mut Vec<u8>,
    mut block: impl FnMut(u64, &[u8]) -> bool,
) -> io::Result<()> {
    let mut offset = start; // of the first byte in the buffer
    let mut filled = 0;
    loop {
        if buffer.len() < filled + CHUNK {
            buffer.resize(filled + CHUNK, 0);
        }
        let count = match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let before = filled;
        filled += count;
        if let Some(last) = memchr::memrchr(b'\n', &buffer[before..filled]) {
            let end = before + last + 1;
            if !block(offset, &buffer[..end]) {
                return Ok(());
            }
            buffer.copy_within(end..filled, 0);
            offset += end as u64;
            filled -= end;
        }
    }
    if filled > 0 {
        block(offset, &buffer[..filled]);
    }
    // One huge line must not keep its memory for the rest of the scan.
    if buffer.len() > 16 * CHUNK {
        *buffer = Vec::new();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(bytes: &[u8], start: u64, end: u64) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = Vec::new();
        let mut reader = &bytes[start as usize..];
        each(&mut reader, start, end, &mut Vec::new(), |offset, line, ended| {
            lines.push((offset, line.to_vec(), ended));
            true
        })
        .unwrap();
        lines
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
