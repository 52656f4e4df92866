//! Words for a command line that bash, zsh, dash and fish (from 3.4 on) read alike, and that a terminal shows whole.

use std::ffi::OsStr;

use crate::base::text::is_unsafe;

/// A word so that a shell takes it for what it is. Of ASCII characters that can be seen, if a terminal would not show it
/// as it is: but for line breaks at its end.
pub(crate) fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    match word.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(is_plain) => text.into(),
        Some(text) if !text.contains(is_unsafe) => in_quotes(text),
        _ => substituted(word.as_encoded_bytes()),
    }
}

/// Whether no shell takes a character for anything else, wherever it stands in a word.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./:@+,".contains(&byte)
}

/// Text in single quotes. Between them fish takes a backslash for a sign: that stands outside, as a quote must.
fn in_quotes(text: &str) -> String {
    let mut quoted = String::from("'");
    for c in text.chars() {
        if matches!(c, '\'' | '\\') {
            quoted.extend(["'\\", c.encode_utf8(&mut [0; 4]), "'"]);
        } else {
            quoted.push(c);
        }
    }
    quoted + "'"
}

/// What `printf` makes of a word. It would lose line breaks at the end: they stand behind it.
fn substituted(word: &[u8]) -> String {
    let end = word.iter().rposition(|&byte| byte != b'\n').map_or(0, |at| at + 1);
    let (word, breaks) = word.split_at(end);
    let mut quoted = String::from("\"$(printf '");
    for (at, &byte) in word.iter().enumerate() {
        match byte {
            b'%' => quoted += "%%",
            byte if is_plain(byte) && (at, byte) != (0, b'-') => quoted.push(byte.into()),
            byte => quoted += &format!("\\{byte:03o}"),
        }
    }
    quoted += "')\"";
    if !breaks.is_empty() {
        quoted += &format!("'{}'", "\n".repeat(breaks.len()));
    }
    quoted
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_for_more() {
        for (word, quoted) in [
            (&b"/a-b_c/d.jsonl"[..], "/a-b_c/d.jsonl"),
            (b"", "''"),
            (b"a b ", "'a b '"),
            (b"=ls", "'=ls'"),
            (b"~", "'~'"),
            (b"it's", r"'it'\''s'"),
            (b"a\\b!$`\"", r#"'a'\\'b!$`"'"#),
            ("é漢".as_bytes(), "'é漢'"),
            (b"a\n%'!b", r#""$(printf 'a\012%%\047\041b')""#),
            (b"-\xff\x1b1", r#""$(printf '\055\377\0331')""#),
            ("a\u{202e}".as_bytes(), r#""$(printf 'a\342\200\256')""#),
            (b"a\nb\n\n", "\"$(printf 'a\\012b')\"'\n\n'"),
        ] {
            assert_eq!(quote(OsStr::from_bytes(word)), quoted);
        }
    }
}
