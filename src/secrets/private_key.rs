//! Private keys in PEM and PuTTY format, also cut off, indented, escaped or with line numbers.

use std::ops::Range;

use super::value::is_base64;

/// The texts at which a private key begins.
pub(super) const KEYWORDS: [&str; 3] = ["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----", "Private-Lines:"];

/// The most bytes of a private key.
const LONGEST: usize = 64 * 1024;

/// The fewest characters of Base64 of a private key.
const SHORTEST: usize = 32;

/// Headers between the first line and the Base64 text.
const HEADERS: [&str; 7] = ["Proc-Type:", "DEK-Info:", "Version:", "Comment:", "Hash:", "Charset:", "MessageID:"];

/// Returns the private key that begins at a keyword.
pub(super) fn at_keyword(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    if text[keyword.clone()].starts_with("Private-Lines") {
        let body = keyword.end + text[keyword.end..].find('\n')?;
        return end_of_body(text, body).map(|end| body + 1..end);
    }
    let before = &text[..keyword.start];
    let kind = before.trim_end_matches(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ');
    let start = kind.strip_suffix("-----").map(str::len)?;
    before[start + 5..].starts_with("BEGIN ").then_some(())?;
    end_of_body(text, keyword.end).map(|end| start..end)
}

/// Returns the end of the lines of Base64 text, with the last line `-----END …-----` if there is one.
fn end_of_body(text: &str, start: usize) -> Option<usize> {
    let (mut at, mut end, mut count) = (start, start, 0);
    while at < text.len() && at - start < LONGEST {
        let (line, next) = next_line(text, at);
        if line.contains("-----END ") {
            let tail = text[at..].find("-----END ").map(|found| at + found + 9)?;
            // A key on one line.
            let body = line[..tail - 9 - at].split_ascii_whitespace();
            count += body.filter(|part| is_base64(part)).map(str::len).sum::<usize>();
            let close = text[tail..next].find("-----").map_or(tail, |found| tail + found + 5);
            return (count >= SHORTEST).then_some(close);
        }
        let base64 = without_gutter(line);
        if is_base64(base64) {
            count += base64.len();
        } else if !HEADERS.iter().any(|header| base64.starts_with(header)) {
            break;
        }
        if !base64.is_empty() {
            end = at + line.trim_end().len();
        }
        at = next;
    }
    (count >= SHORTEST).then_some(end)
}

/// Returns a line and the start of the next one. A line also ends at `\n` and `\r` that are written out.
fn next_line(text: &str, at: usize) -> (&str, usize) {
    let rest = &text[at..];
    let len = rest.find(['\n', '\\']).unwrap_or(rest.len());
    let separator = rest[len..].bytes().take_while(|byte| *byte == b'\\').count();
    let after = &rest[len + separator..];
    let separator = separator + usize::from(after.starts_with(['\n', 'n', 'r']));
    (&rest[..len], at + len + separator.max(usize::from(len < rest.len())))
}

/// Removes indentation, quotes, line numbers and the marks of a diff around a line.
fn without_gutter(line: &str) -> &str {
    let line = line.trim_matches(|c: char| c.is_whitespace() || "\"'`,;>|".contains(c));
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &line[digits..];
    let is_number = digits > 0 && rest.starts_with(['\t', '|', '→', ':', ' ']);
    let line = if is_number { rest.trim_start_matches(['\t', '|', '→', ':', ' ']) } else { line };
    let marks = line.trim_start_matches(['+', '-', '#', '*']);
    // A plus sign is also a character of Base64.
    if marks.starts_with(' ') { marks.trim_start() } else { line }.trim_start_matches(['-', '#']).trim_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str) -> Option<&str> {
        let at = KEYWORDS.iter().find_map(|keyword| text.find(keyword).map(|at| at..at + keyword.len()))?;
        at_keyword(text, at).map(|range| &text[range])
    }

    fn key(separator: &str) -> String {
        let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
        [
            "-----BEGIN RSA PRIVATE",
            " KEY-----",
            separator,
            line,
            separator,
            line,
            separator,
            "-----END RSA PRIVATE KEY-----",
        ]
        .concat()
    }

    #[test]
    fn whole_keys_are_found() {
        for separator in
            ["\n", "\\n", "\r\n", "\n   12\t", "\n12: ", "\n3|", "\n+ ", "\n    ", "\\\\n", "\",\n\"", "\\r\\n", " "]
        {
            let key = key(separator);
            let text = format!("x = \"{key}\" and more");
            assert_eq!(find(&text), Some(&*key), "{separator:?}");
        }
    }

    #[test]
    fn cut_keys_are_found_to_their_last_line() {
        let key = key("\n").replace("\n-----END RSA PRIVATE KEY-----", "");
        assert_eq!(find(&format!("{key}\n[truncated]\nmore")), Some(&*key));
        assert_eq!(find(&key), Some(&*key));
    }

    #[test]
    fn descriptions_are_no_keys() {
        let (begin, end) = (["-----BEGIN PRIVATE", " KEY-----"].concat(), "-----END PRIVATE KEY-----");
        for text in [
            format!("grep -r '{begin}' ."),
            format!("{begin}\n...\n{end}"),
            format!("{begin}\nMIIEv...\n{end}"),
            format!("The file starts with {begin} and ends with {end}"),
            "the PRIVATE KEY----- is AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".into(),
        ] {
            assert_eq!(find(&text), None, "{text}");
        }
    }
}
