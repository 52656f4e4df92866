//! Strips Markdown syntax from a line, for compact rows.

use std::borrow::Cow;

/// Removes the syntax of headings, quotations, emphasis and code, and replaces links by their text.
pub fn strip(line: &str) -> Cow<'_, str> {
    if !line.contains(['*', '`', '#', '[', '>']) {
        return line.into();
    }
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let begins = out.is_empty() || out.ends_with(' ');
        let skipped =
            if begins { heading(rest).or_else(|| quotation(rest, &out)).or_else(|| fence(rest)) } else { None };
        let skipped = skipped.or_else(|| code(rest)).or_else(|| emphasis(rest, &out));
        if let Some(bytes) = skipped {
            rest = &rest[bytes..];
        } else if let Some((text, bytes)) = link(rest) {
            out.push_str(text);
            rest = &rest[bytes..];
        } else {
            // Asterisks without meaning in Markdown are kept as one run.
            let end = rest.find(|other| other != c || c != '*').unwrap_or(rest.len()).max(c.len_utf8());
            out.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }
    if out.trim().is_empty() { line.into() } else { out.into() }
}

/// Returns the length of `## ` before a heading. A single `#` is kept, because it can precede a number.
fn heading(rest: &str) -> Option<usize> {
    let signs = rest.bytes().take_while(|&byte| byte == b'#').count();
    ((1..=6).contains(&signs) && rest[signs..].starts_with(' ')).then_some(signs + 1)
}

/// Returns the length of `> ` before a quotation.
fn quotation(rest: &str, before: &str) -> Option<usize> {
    (rest.starts_with("> ") && (before.is_empty() || before.ends_with("  "))).then_some(2)
}

/// Returns the length of a code fence with its language.
fn fence(rest: &str) -> Option<usize> {
    let language = rest.strip_prefix("```")?;
    let name = language.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"+-#".contains(byte)).count();
    Some(3 + name + usize::from(language[name..].starts_with(' ')))
}

fn code(rest: &str) -> Option<usize> {
    let signs = rest.bytes().take_while(|&byte| byte == b'`').count();
    (signs > 0).then_some(signs)
}

/// Returns the length of the asterisks or underscores that start or end an emphasis. Those between words or spaces do not.
fn emphasis(rest: &str, before: &str) -> Option<usize> {
    let signs = rest.bytes().take_while(|&byte| byte == b'*').count();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
    let (left, right) = (before.chars().next_back(), rest[signs..].chars().next());
    // Keeps `2*3`, `2 * 3`, `src/**/*.ts`, and names with underscores.
    let is_between = signs == 1 && is_word(left) && is_word(right);
    let is_alone = is_blank(left) && is_blank(right);
    let is_path = left == Some('/') || right == Some('/') || (is_blank(left) && right == Some('.'));
    ((1..=3).contains(&signs) && !is_between && !is_alone && !is_path).then_some(signs)
}

/// Parses `[text](address)` and returns the text and the total length.
fn link(rest: &str) -> Option<(&str, usize)> {
    let inside = rest.strip_prefix('[')?;
    let end = inside.find(']').filter(|&end| end > 0 && !inside[..end].contains('['))?;
    let address = inside[end..].strip_prefix("](")?;
    let close = address.find(')').filter(|&close| !address[..close].contains(' '))?;
    Some((&inside[..end], 1 + end + 2 + close + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syntax_is_removed_and_words_are_kept() {
        for (line, said) in [
            ("plain words", "plain words"),
            ("## Goal Several logins.  ## Tried on", "Goal Several logins.  Tried on"),
            ("**One** and *two*, `three`", "One and two, three"),
            ("the total stays at **€ 9.00**, so the", "the total stays at € 9.00, so the"),
            ("use the [Web Locks API](https://developer.mozilla.org/x) here", "use the Web Locks API here"),
            ("Much shorter:  ```ts if (a * b) { c() }  ```", "Much shorter:  if (a * b) { c() }  "),
            ("snake_case and __init__.py and 2*3 and a * b", "snake_case and __init__.py and 2*3 and a * b"),
            ("src/**/*.ts and *.rs stay", "src/**/*.ts and *.rs stay"),
            ("**10 of 10.** A slow **one**.", "10 of 10. A slow one."),
            ("#4 is an issue, C# is none", "#4 is an issue, C# is none"),
            ("> said so", "said so"),
            ("a > b", "a > b"),
            ("[x] done [read: a]", "[x] done [read: a]"),
            ("** **", "** **"),
            ("", ""),
        ] {
            assert_eq!(strip(line), said, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_keeps_its_letters(line in "[a-c*`#>\\[\\]() ]{0,40}") {
            let letters = |text: &str| text.chars().filter(|c| c.is_alphabetic()).count();
            let said = strip(&line);
            // The name of a language and an address may go.
            proptest::prop_assert!(letters(&said) <= letters(&line));
            if !line.contains("```") && !line.contains("](") {
                proptest::prop_assert_eq!(letters(&said), letters(&line));
            }
        }
    }
}
