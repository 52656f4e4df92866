//! The ends of a token: characters around it that cannot belong to it.

/// Returns `true` if a byte can be part of a token's name or value.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns `true` if a token can start at this position: no letter, digit or underscore precedes it.
///
/// An escape such as `\n`, `\u0022` or `%3D` also separates it from earlier text.
pub(super) fn starts(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    match before.last() {
        None => true,
        Some(b'+' | b'/') => !ends_with_base64(before),
        Some(byte) => !is_word(*byte) || ends_with_escape(before),
    }
}

/// Returns `true` if a token can end at this position.
pub(super) fn ends(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| !is_word(*byte) && *byte != b'-')
}

/// Returns `true` if a text ends with Base64 data, which can contain anything.
fn ends_with_base64(before: &[u8]) -> bool {
    const LEN: usize = 24;
    let Some(tail) = before.len().checked_sub(LEN).map(|start| &before[start..]) else { return false };
    let has = |is_in: fn(&u8) -> bool| tail.iter().any(is_in);
    tail.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_uppercase)
}

/// Returns `true` if a text ends with an escape sequence that is written out.
fn ends_with_escape(before: &[u8]) -> bool {
    let tail = &before[before.len().saturating_sub(16)..];
    let len = tail.len();
    let hex = |from: usize| tail[from..].iter().all(u8::is_ascii_hexdigit);
    if len >= 2 && tail[len - 2] == b'\\' && matches!(tail[len - 1], b'n' | b'r' | b't' | b'b' | b'f' | b'v' | b'0') {
        return true;
    }
    if len >= 3 && tail[len - 3] == b'%' && hex(len - 2) {
        return true;
    }
    if len >= 4 && (&tail[len - 4..len - 2] == b"\\x") && hex(len - 2) {
        return true;
    }
    len >= 6 && &tail[len - 6..len - 4] == b"\\u" && hex(len - 4)
}

/// Returns the nearest boundary between characters at or before `at`.
pub(super) fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_boundaries() {
        for before in ["", " ", "\"", "=", "-", "\\n", "\\\\n", "\\t", "\\u0022", "%3D", "\\x22"] {
            assert!(starts(before.as_bytes(), before.len()), "{before:?}");
        }
        for before in ["a", "0", "_", "n", "u0022", "[32m", "m", "3D"] {
            assert!(!starts(before.as_bytes(), before.len()), "{before:?}");
        }
        assert!(ends(b"a b", 1) && ends(b"a", 1) && ends(b"a\\n", 1) && ends(b"a.", 1));
        assert!(!ends(b"ab", 1) && !ends(b"a-", 1));
    }

    #[test]
    fn characters_are_not_split() {
        assert_eq!([0, 1, 2, 3, 9].map(|at| floor("aä", at)), [0, 1, 1, 3, 3]);
    }
}
