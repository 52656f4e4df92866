//! Search for the end of a string. Most bytes of a session file are in strings that are not needed. Such strings are checked
//! several bytes at a time, in loops that the compiler vectorizes.

/// The number of bytes in a word.
const STEP: usize = 8;

/// The number of bytes checked together in usual text. Larger blocks contain exceptions too often.
const BLOCK: usize = 32;

/// Works like [`of`], optimized for strings shorter than two words, such as keys.
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

/// Returns the position of the closing quote, and `true` if there are escapes before it. `text` starts after the
/// opening quote. Returns `None` if there is no closing quote or an invalid byte before it.
pub(super) fn of(text: &[u8]) -> Option<(usize, bool)> {
    let (mut at, mut has_escapes) = (0, false);
    // Keys, IDs, names and times are shorter.
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
            // In unusual text, the fast path is tried less and less often.
            gap = if end > at { BLOCK } else { 2 * gap };
            (at, near) = (end, end + gap);
        }
    }
}

/// Returns the first bytes, padded with zeros.
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

/// Sets the highest bit of bytes that are quotes, backslashes or control characters. The lowest bit set is exact.
#[inline]
fn specials(word: u64) -> u64 {
    // With its second bit flipped, a quote follows the control characters.
    let low = word ^ (ONES * 0x02);
    let backslash = word ^ (ONES * 0x5c);
    // A borrow can only falsify bytes above a true hit.
    (low.wrapping_sub(ONES * 0x21) | backslash.wrapping_sub(ONES)) & !word & HIGH
}

/// Returns the length of a valid escape.
fn escape(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => bytes.get(2..6)?.iter().all(u8::is_ascii_hexdigit).then_some(6),
        _ => None,
    }
}

/// Skips blocks of text with common escapes only, without the end of the string or errors. Returns the position after
/// them, and `true` if they contain escapes. No escape may start before `start`.
fn usual(bytes: &[u8], start: usize) -> (usize, bool) {
    let (mut at, mut has_escapes) = (start, false);
    if bytes.get(start).is_none_or(|&b| b == b'"' || b < b' ') {
        return (start, false);
    }
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK>())
        && let Some(behind) = bytes[at + 1..].first_chunk::<BLOCK>()
    {
        // Compares each byte with the next one, as vectors. Without LTO, `zip` would call functions of other units.
        let (mut odd, mut escapes) = (false, false);
        #[allow(clippy::needless_range_loop, reason = "the fastest form, see above")]
        for i in 0..BLOCK {
            let (a, b) = (block[i], behind[i]);
            let (is_escape, is_quote) = (a == b'\\', b == b'"');
            let is_letter = (b == b'n') | (b == b't') | (b == b'r');
            // A backslash and a quote occur together or not at all, unless a letter follows the backslash.
            odd |= ((is_escape ^ is_quote) & !is_letter) | (b < b' ');
            escapes |= is_escape;
        }
        if odd {
            break;
        }
        at += BLOCK;
        has_escapes |= escapes;
    }
    // The letter after a backslash was checked with it.
    at += usize::from(at > start && bytes[at - 1] == b'\\');
    (at, has_escapes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reference implementation, byte by byte.
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
        fn matches_the_reference_implementation(
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
