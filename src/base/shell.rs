//! Shell quoting that bash, zsh, dash and fish (3.4 and newer) parse alike and that contains only printable characters.
//! Commands for the user's shell can also be for those of Windows.

use std::ffi::{OsStr, OsString};

use crate::base::text::{clean, is_unsafe};

/// A kind of shell, for which commands are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, clippy::enum_variant_names, reason = "each system has some of them; PowerShell is a name")]
pub(crate) enum Shell {
    Posix,
    PowerShell,
    Cmd,
}

impl Shell {
    /// Returns a command line that runs a program. With `dir`, it first changes to this directory, and ends if that fails.
    pub(crate) fn command_line(self, dir: Option<&OsStr>, words: &[OsString]) -> String {
        let line = words.iter().map(|word| self.quote(word)).collect::<Vec<_>>().join(" ");
        let dir = dir.map(|dir| self.quote(dir));
        match (self, dir) {
            // A quoted word alone would be an expression.
            (Self::PowerShell, None) => format!("& {line}"),
            (Self::PowerShell, Some(dir)) => format!("Set-Location -ErrorAction Stop -LiteralPath {dir}; & {line}"),
            (Self::Posix, Some(dir)) => format!("cd {dir} && {line}"),
            (Self::Cmd, Some(dir)) => format!("cd /d {dir} && {line}"),
            (_, None) => line,
        }
    }

    /// Quotes a word. In the shells of Windows, unsafe characters are replaced, which its file names cannot contain.
    fn quote(self, word: &OsStr) -> String {
        let text = || clean(&word.to_string_lossy()).into_owned();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:\\".contains(&byte);
        match self {
            Self::Posix => quote(word),
            _ if !word.is_empty() && text().bytes().all(is_plain) => text(),
            // PowerShell takes typographic quotes for quotes, too.
            Self::PowerShell => {
                let doubled = |c: char| if "'‘’‚‛".contains(c) { format!("{c}{c}") } else { c.into() };
                format!("'{}'", text().chars().map(doubled).collect::<String>())
            }
            Self::Cmd => format!("\"{}\"", text().replace('"', "\"\"")),
        }
    }
}

/// Quotes a word for a shell. A word with unsafe characters becomes a `printf` substitution of printable ASCII, apart from
/// trailing line breaks.
pub(crate) fn quote(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    match word.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(is_plain) => text.into(),
        Some(text) if !text.contains(is_unsafe) => in_quotes(text),
        _ => substituted(word.as_encoded_bytes()),
    }
}

/// Returns `true` if the character has no special meaning to any of the shells, anywhere in a word.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_./:@+,".contains(&byte)
}

/// Puts text in single quotes. Backslashes, which fish interprets inside quotes, are escaped outside them, as quotes are.
fn in_quotes(text: &str) -> String {
    let escaped = |c: char| if matches!(c, '\'' | '\\') { format!("'\\{c}'") } else { c.into() };
    format!("'{}'", text.chars().map(escaped).collect::<String>())
}

/// Quotes a word as a `printf` substitution. Trailing line breaks follow it in quotes, because the shell would strip them.
fn substituted(word: &[u8]) -> String {
    let end = word.iter().rposition(|&byte| byte != b'\n').map_or(0, |at| at + 1);
    let (word, breaks) = word.split_at(end);
    let escaped = |(at, &byte): (usize, &u8)| match byte {
        b'%' => "%%".into(),
        byte if is_plain(byte) && (at, byte) != (0, b'-') => char::from(byte).into(),
        byte => format!("\\{byte:03o}"),
    };
    let escaped: String = word.iter().enumerate().map(escaped).collect();
    let breaks = if breaks.is_empty() { String::new() } else { format!("'{}'", "\n".repeat(breaks.len())) };
    format!("\"$(printf '{escaped}')\"{breaks}")
}

/// The maximum number of bytes of a command in which its program is searched.
const COMMAND_START: usize = 2000;

/// Commands before the one that matters, such as `cd app && make`.
const PREPARATIONS: [&str; 6] = ["cd", "export", "set", "source", ".", "pushd"];

/// Returns the program that a shell command runs, without its directory. Skips assignments, `cd` and similar commands.
pub(crate) fn program(command: &str) -> Option<&str> {
    let end = command.floor_char_boundary(COMMAND_START);
    let parts = command[..end].split(['\n', ';', '|', '&']);
    let mut programs = parts.filter_map(|part| {
        let word = part
            .split_whitespace()
            .find(|word| !word.contains('='))?
            .trim_matches(['(', ')', '{', '}', '"', '\'', '!']);
        let name = word.rsplit_once('/').map_or(word, |(_, name)| name);
        let is_name = name.contains(|c: char| !c.is_ascii_digit()) && !name.starts_with('#');
        is_name.then_some(name)
    });
    let first = programs.next()?;
    let is_preparation = |name: &&str| PREPARATIONS.contains(name);
    Some(first)
        .filter(|name| !is_preparation(name))
        .or_else(|| programs.find(|name| !is_preparation(name)))
        .or(Some(first))
}

#[cfg(test)]
mod program_tests {
    use super::*;

    #[test]
    fn command_lines_are_for_a_shell() {
        let words = ["pi", "--session", r"C:\Users\it's me\a & b.jsonl"].map(OsString::from);
        let line = |shell: Shell, dir: Option<&str>| shell.command_line(dir.map(OsStr::new), &words);
        let dir = Some(r"C:\1 ’2’");
        assert_eq!(line(Shell::PowerShell, None), r"& pi --session 'C:\Users\it''s me\a & b.jsonl'");
        assert_eq!(
            line(Shell::PowerShell, dir),
            r"Set-Location -ErrorAction Stop -LiteralPath 'C:\1 ’’2’’'; & pi --session 'C:\Users\it''s me\a & b.jsonl'"
        );
        assert_eq!(line(Shell::Cmd, None), r#"pi --session "C:\Users\it's me\a & b.jsonl""#);
        assert_eq!(line(Shell::Cmd, Some(r"C:\app")), r#"cd /d C:\app && pi --session "C:\Users\it's me\a & b.jsonl""#);
        let quoted =
            |shell: Shell| ["", "@(x)", "$a,b", "%A%", "a\u{1b}[\n\"b"].map(|word| shell.quote(OsStr::new(word)));
        assert_eq!(quoted(Shell::PowerShell), ["''", "'@(x)'", "'$a,b'", "'%A%'", "'a␛[ \"b'"]);
        assert_eq!(quoted(Shell::Cmd), ["\"\"", "\"@(x)\"", "\"$a,b\"", "\"%A%\"", "\"a␛[ \"\"b\""]);
        assert_eq!(quoted(Shell::Posix)[..2], ["''", "'@(x)'"]);
    }

    #[test]
    fn the_program_of_a_command_is_found() {
        for (command, name) in [
            ("git status", Some("git")),
            ("cd /work/app && RUST_LOG=debug cargo test 2>&1 | tail", Some("cargo")),
            ("/usr/bin/env python3 x.py", Some("env")),
            ("(make -j2)", Some("make")),
            ("# a comment\nls -la", Some("ls")),
            ("cd .. 2>&1; make", Some("make")),
            ("cd ..", Some("cd")),
            ("A=1 B=2", None),
            (" \n ", None),
        ] {
            assert_eq!(program(command), name, "{command}");
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted() {
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
