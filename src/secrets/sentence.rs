//! Passwords in sentences, such as "the password for the staging server is …". They can be weak.

use std::ops::Range;

use super::value::{self, Classes, ValueLists};

/// The most words between "password" and its value.
const MAX_WORDS: usize = 8;

/// The most bytes of a sentence after "password".
const LONGEST: usize = 160;

/// The lengths of a password in a sentence.
const LENGTHS: Range<usize> = 6..41;

/// Words after which the password follows.
const BEFORE_VALUE: [&str; 6] = ["is", "it's", "was", "be", "to", "now"];

/// Words between one of [`BEFORE_VALUE`] and the password.
const FILLERS: [&str; 7] = ["now", "just", "still", "to", "set", "simply", "currently"];

/// Parts of technical terms with digits, as in `SHA-256`, `base64-encoded` and `8-character`.
const TECHNICAL: [&str; 44] = [
    "aes",
    "aes128",
    "aes256",
    "argon2",
    "argon2id",
    "base32",
    "base64",
    "bcrypt",
    "bit",
    "byte",
    "bytes",
    "char",
    "character",
    "characters",
    "chars",
    "day",
    "days",
    "digit",
    "digits",
    "ed25519",
    "hash",
    "hex",
    "hour",
    "hours",
    "http",
    "https",
    "issue",
    "letters",
    "md5",
    "oauth2",
    "pbkdf2",
    "pkcs8",
    "pkcs12",
    "rc4",
    "rfc",
    "rsa",
    "scrypt",
    "sha",
    "sha1",
    "sha256",
    "sha512",
    "times",
    "utf",
    "x509",
];

/// Returns the password in the sentence in which it is mentioned. `mention` is the place of the word.
pub(super) fn password(text: &str, mention: &Range<usize>, lists: &ValueLists) -> Option<Range<usize>> {
    let line = &text.as_bytes()[mention.end..];
    let line = &line[..line.len().min(LONGEST)];
    let len = memchr::memchr2(b'\n', b'\r', line).unwrap_or(line.len());
    if line.first() != Some(&b' ') {
        return None;
    }
    let (mut is_expected, mut at, mut count) = (false, mention.end, 0);
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    for word in line[..len].split(is_blank) {
        let start = at;
        at += word.len() + 1;
        if word.is_empty() {
            continue;
        }
        let word = trimmed(text.get(start..start + word.len())?, start);
        let name = text.get(word.clone())?;
        let is_direct = count == 0;
        if (is_expected || is_direct) && is_password(name, is_direct, lists) {
            return Some(word);
        }
        if is_expected && FILLERS.contains(&name) {
            continue;
        }
        is_expected = BEFORE_VALUE.contains(&name);
        let is_plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || b"'-".contains(&byte));
        count += 1;
        if count > MAX_WORDS || !is_plain {
            return None;
        }
    }
    None
}

/// Returns the place of a word without quotes and punctuation.
fn trimmed(word: &str, start: usize) -> Range<usize> {
    let inner = word.trim_start_matches(['"', '\'', '`', '(', '“', '*']);
    let from = start + word.len() - inner.len();
    let inner = inner.trim_end_matches(['"', '\'', '`', ')', '”', '*', '.', ',', ';', ':', '?']);
    from..from + inner.len()
}

/// Returns `true` if a word is a password rather than a technical term. One that follows "password" directly must have
/// more kinds of characters.
fn is_password(word: &str, is_direct: bool, lists: &ValueLists) -> bool {
    let classes = Classes::of(word);
    let Classes { digits, lower, upper, other, .. } = classes;
    if !LENGTHS.contains(&word.len()) || lower + upper < 3 || !word.bytes().all(|byte| byte.is_ascii_graphic()) {
        return false;
    }
    let has_form = match is_direct {
        true => classes.count() == 4 || digits > 1 && classes.count() == 3,
        false => digits > 0 && (upper > 0 || other > 0 || digits > 1),
    };
    let mut parts = word.split(|c: char| !c.is_ascii_alphanumeric());
    let is_technical = parts.any(|part| TECHNICAL.contains(&&*part.to_ascii_lowercase()));
    (has_form || value::is_scrambled(word))
        && !is_technical
        && !word.contains(['/', '\\', '<', '>', '(', ')', '{', '}', '[', ']', '$', '=', '|', '"'])
        && !lists.is_placeholder(word)
        && !lists.is_stopped(word)
        && !value::is_plain_data(word)
        && !value::is_template(word)
        && (classes.count() == 4 || !value::is_reference(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_differ_from_technical_terms() {
        let lists = ValueLists::default();
        let found = |text: &str| {
            let at = text.find("password").unwrap();
            password(text, &(at..at + "password".len()), &lists).map(|range| text[range].to_owned())
        };
        for (text, wanted) in [
            ("the password for the box is %, ok", "red-Panda-31"),
            ("the password is now \"%\".", "lantern88"),
            ("log in with password %.", "Summer-2031-x"),
            ("password changed, it's now %", "Elk#Moss9"),
        ] {
            assert_eq!(found(&text.replace('%', wanted)).as_deref(), Some(wanted), "{text}");
        }
        for text in [
            "the password is hashed with SHA-256",
            "the password is base64-encoded",
            "the password is 12-character long",
            "the password is required",
            "password field-2 is empty",
            "the password for v2.0 is read from config.db2",
            "the password is in /etc/app2",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
