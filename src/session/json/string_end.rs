//! Where a string ends. Most bytes of a session file stand in strings that nobody looks into: they are checked many at a
//! time, in loops of which the compiler makes vectors.

/// The bytes of a word.
const STEP: usize = 8;

/// As many bytes are looked at together where most are as they should be. Larger blocks meet something else too often.
const BLOCK: usize = 32;

/// The same as [`of`] for what mostly ends within two words, such as a key.
#[inline(always)]
pub(super) fn soon(text: &[u8]) -> Option<(usize, bool)> {
    if let Some((words, _)) = text.as_chunks::<STEP>().0.split_first_chunk::<2>() {
        for (word, start) in words.iter().zip([0, STEP]) {
            let specials = specials(u64::from_le_bytes(*word));
            let at = (specials.trailing_zeros() / 8) as usize;
            if specials != 0 {
                return if word.get(at) == Some(&b'"') { Some((start + at, false)) } else { of(text) };
            }
        }
    }
    of(text)
}

/// Finds the quote that ends the string of which `text` is behind the first quote, and says whether there are escapes before
/// it. `None`: there is no such quote, or something before it that JSON does not allow.
pub(super) fn of(text: &[u8]) -> Option<(usize, bool)> {
    let (mut at, mut has_escapes) = (0, false);
    // Keys, ids, names and times end before.
    let (mut near, mut gap) = (4 * STEP, BLOCK);
    loop {
        let rest = text.get(at..)?;
        let specials = specials(word(rest));
        if specials == 0 {
            at += STEP;
        } else {
            let special = (specials.trailing_zeros() / 8) as usize;
            match rest.get(special)? {
                b'"' => return Some((at + special, has_escapes)),
                b'\\' => at += special + escape(&rest[special..])?,
                _ => return None,
            }
            has_escapes = true;
        }
        if at >= near {
            let (end, are_escapes) = usual(text, at);
            has_escapes |= are_escapes;
            // Where little is usual it is tried less and less often.
            gap = if end > at { BLOCK } else { 2 * gap };
            (at, near) = (end, end + gap);
        }
    }
}

/// The first bytes; behind the end stand zeros.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut word = [0; STEP];
        word[..bytes.len()].copy_from_slice(bytes);
        word
    }))
}

const ONES: u64 = u64::from_ne_bytes([1; STEP]);
const HIGH: u64 = u64::from_ne_bytes([0x80; STEP]);

/// Marks quotes, backslashes and control characters by the highest bit of their byte. The lowest bit set is exact.
#[inline]
fn specials(word: u64) -> u64 {
    // With its second bit flipped, a quote comes right behind the control characters.
    let low = word ^ (ONES * 0x02);
    let backslash = word ^ (ONES * 0x5c);
    // A borrow can only falsify the bytes above a true hit.
    (low.wrapping_sub(ONES * 0x21) | backslash.wrapping_sub(ONES)) & !word & HIGH
}

/// The length of the escape that begins here; `None` if it is none.
fn escape(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => bytes.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// Passes over blocks of text in which no string ends, nothing is wrong, and all escapes are usual ones. Where they end, and
/// whether there are escapes in them. No escape may have begun before `start`.
fn usual(bytes: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut has_escapes) = (start, false);
    if bytes.get(start).is_none_or(|&b| b == b'"' || b < b' ') {
        return (start, false);
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>())
        && let Some(behind) = bytes[at + 1..].first_chunk::<BLOCK>()
    {
        // All of it is looked at, as vectors: each byte with the one behind it.
        let (mut odd, mut escapes) = (false, false);
        for (&a, &b) in block.iter().zip(behind) {
            let (is_escape, is_quote) = (a == b'\\', b == b'"');
            let is_letter = (b == b'n') | (b == b't') | (b == b'r');
            // A backslash and a quote stand together or not at all, unless the backslash stands before a letter.
            odd |= ((is_escape ^ is_quote) & !is_letter) | (b < b' ');
            escapes |= is_escape;
        }
        if odd {
            break;
        }
        at += BLOCK;
        has_escapes |= escapes;
    }
    // The letter behind a backslash was looked at with it.
    at += usize::from(at > start && bytes[at - 1] == b'\\');
    (at, has_escapes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Byte for byte.
    fn slowly(bytes: &[u8]) -> Option<(usize, bool)> {
        let (mut at, mut has_escapes) = (0, false);
        loop {
            match bytes.get(at)? {
                b'"' => return Some((at, has_escapes)),
                b'\\' => {
                    has_escapes = true;
                    at += escape(&bytes[at..])?;
                }
                0..0x20 => return None,
                _ => at += 1,
            }
        }
    }

    proptest! {
        #[test]
        fn is_where_it_is_byte_for_byte(
            pieces in proptest::collection::vec((0..90usize, "[nt\"/u\\\\\u{1f} ~é]{0,3}"), 0..12),
            escapes in "(\\\\[nrt\"]|\\\\\\\\|[a-z]{0,20}){0,30}",
        ) {
            let plain = pieces.iter().map(|(count, piece)| "x".repeat(*count) + piece).collect::<String>();
            for text in [format!("{plain}\""), format!("{escapes}{plain}\"}}"), plain + &escapes] {
                prop_assert_eq!(of(text.as_bytes()), slowly(text.as_bytes()), "{:?}", text);
                prop_assert_eq!(soon(text.as_bytes()), slowly(text.as_bytes()), "{:?}", text);
            }
        }
    }
}
