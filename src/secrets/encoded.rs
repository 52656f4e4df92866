//! Files of variables in Base64, such as a whole `.env` file: they are decoded and searched.

use std::ops::Range;

use super::value;

/// Parts of the Base64 forms of `PASSWORD`, `SECRET`, `TOKEN` and `_KEY=` at the three possible alignments.
pub(super) const KEYWORDS: [&str; 12] = [
    "UEFTU1dPUk",
    "BBU1NXT1JE",
    "QVNTV09SR",
    "U0VDUkVU",
    "NFQ1JF",
    "TRUNSRV",
    "VE9LRU",
    "RPS0VO",
    "UT0tFT",
    "X0tFWT",
    "9LRVk9",
    "fS0VZP",
];

/// The most bytes of an encoded file.
const LONGEST: usize = 64 * 1024;

/// The fewest characters of a line that the next one continues.
const LINE: usize = 60;

/// Returns the place of the Base64 text around a keyword.
pub(super) fn around(text: &str, keyword: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let first = |end: usize| end - bytes[end.saturating_sub(LONGEST)..end].iter().rev().take_while(is_part).count();
    let last = |start: usize| start + bytes[start..].iter().take(LONGEST).take_while(is_part).count();
    let (mut start, mut end) = (first(keyword.start), last(keyword.end));
    while start > 0 && bytes[start - 1] == b'\n' && keyword.start - start < LONGEST {
        let line = first(start - 1);
        let is_whole = line == 0 || bytes[line - 1].is_ascii_whitespace() || b"\"'`".contains(&bytes[line - 1]);
        if start - 1 - line < LINE || !is_whole {
            break;
        }
        start = line;
    }
    let mut line = first(end);
    while end - line >= LINE && bytes.get(end) == Some(&b'\n') && end - keyword.end < LONGEST {
        let next = last(end + 1);
        if next == end + 1 || !matches!(bytes.get(next), None | Some(b'=' | b'\n' | b'\r' | b'"' | b'\'')) {
            break;
        }
        (line, end) = (end + 1, next);
    }
    start..end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// Returns what a Base64 text says, if that is a shorter text with a variable.
pub(super) fn decoded(encoded: &str) -> Option<String> {
    let encoded: String = encoded.split('\n').collect();
    let decoded = String::from_utf8(value::decode(&encoded)?).ok()?;
    (decoded.contains('=') && !decoded.contains('\0')).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn lines_of_base64_are_decoded() {
        let file = ["MODE=production\nREGION=eu-central-1\nSESSION_SEC", "RET=thunderstorm\nPORT=587\n"].concat();
        let whole = STANDARD.encode(&file);
        let lines = format!("{}\n{}", &whole[..76], &whole[76..]);
        for text in [whole.clone(), lines.clone(), format!("$ base64 .env\n{lines}\n$ ls")] {
            let at = text.find("9TRUNSRV").unwrap();
            let encoded = &text[around(&text, &(at..at + 8))];
            assert_eq!((encoded.replace('\n', ""), decoded(encoded)), (whole.clone(), Some(file.clone())));
        }
        assert_eq!(decoded(&format!("x{whole}")), None);
    }
}
