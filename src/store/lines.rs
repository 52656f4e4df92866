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
    let mut offset = start; // of the first byte in the buffer
    let mut filled = 0;
    let mut searched = 0;
    loop {
        let mut from = 0;
        while let Some(found) = memchr::memchr(b'\n', &buffer[searched..filled]) {
            let at = searched + found;
            if offset + from as u64 >= end || !line(offset + from as u64, &buffer[from..at], true) {
                return Ok(());
            }
            from = at + 1;
            searched = from;
        }
        if offset + from as u64 >= end {
            return Ok(());
        }
        buffer.copy_within(from..filled, 0);
        offset += from as u64;
        filled -= from;
        searched = filled;
        if buffer.len() < filled + CHUNK {
            buffer.resize(filled + CHUNK, 0);
        }
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    if filled > 0 {
        line(offset, &buffer[..filled], false);
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
