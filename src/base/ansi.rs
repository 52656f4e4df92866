//! Escape sequences of terminals in texts: colors become tones, links become their text with the address in brackets, and
//! all other sequences are removed (ECMA-48; OSC 8 as in its specification of 2017).

use std::borrow::Cow;

use crate::base::text::Tone;

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';

/// Removes the escape sequences of a text. An unfinished one stays, as characters.
pub fn strip(text: &str) -> Cow<'_, str> {
    if !has_sequences(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(styled(text, Tone::Text).into_iter().map(|(_, text)| text).collect())
}

/// Returns `true` if a text can contain escape sequences.
pub fn has_sequences(text: &str) -> bool {
    text.contains([ESC, '\u{9b}', '\u{9d}'])
}

/// Splits a text into parts of one tone; `tone` is that of text without a color.
pub fn styled(text: &str, tone: Tone) -> Vec<(Tone, Cow<'_, str>)> {
    let mut parts: Vec<(Tone, Cow<'_, str>)> = Vec::new();
    let (mut rest, mut shown, mut link) = (text, tone, String::new());
    while let Some(at) = rest.find([ESC, '\u{9b}', '\u{9d}']) {
        let (before, from) = rest.split_at(at);
        let Some(sequence) = sequence(from) else {
            let kept = at + from.chars().next().map_or(0, char::len_utf8);
            parts.push((shown, Cow::Borrowed(&rest[..kept])));
            rest = &rest[kept..];
            continue;
        };
        parts.push((shown, Cow::Borrowed(before)));
        match sequence.content {
            Content::Colors(numbers) => shown = colored(numbers, shown, tone),
            Content::Link(address) => {
                let old = std::mem::replace(&mut link, address.to_owned());
                if !old.is_empty() {
                    parts.push((shown, Cow::Owned(format!(" [{old}]"))));
                }
            }
            Content::Other => {}
        }
        rest = &from[sequence.len..];
    }
    parts.push((shown, Cow::Borrowed(rest)));
    if !link.is_empty() {
        parts.push((shown, Cow::Owned(format!(" [{link}]"))));
    }
    parts.retain(|(_, text)| !text.is_empty());
    parts
}

/// An escape sequence at the start of a text.
struct Sequence<'a> {
    len: usize,
    content: Content<'a>,
}

enum Content<'a> {
    /// Select graphic rendition, with its numbers.
    Colors(&'a str),
    /// The address of a link; empty at its end.
    Link(&'a str),
    Other,
}

/// Returns the sequence at the start of a text, or `None` if it is not finished.
fn sequence(text: &str) -> Option<Sequence<'_>> {
    let mut chars = text.chars();
    let (introducer, start) = match (chars.next()?, chars.next()) {
        (ESC, next) => (next?, ESC.len_utf8() + next?.len_utf8()),
        (c1, _) => (if c1 == '\u{9b}' { '[' } else { ']' }, c1.len_utf8()),
    };
    let body = &text[start..];
    match introducer {
        '[' => {
            let end = body.find(|c: char| !(' '..='?').contains(&c))?;
            let end_char = body[end..].chars().next().filter(|c| ('@'..='~').contains(c))?;
            let content = if end_char == 'm' { Content::Colors(&body[..end]) } else { Content::Other };
            Some(Sequence { len: start + end + 1, content })
        }
        // Strings end at BEL or ST.
        ']' | 'P' | 'X' | '^' | '_' => {
            let end = body.find([BEL, ESC, '\u{9c}'])?;
            let last = match &body[end..] {
                st if st.starts_with("\u{1b}\\") => 2,
                other => other.chars().next().filter(|&c| c != ESC)?.len_utf8(),
            };
            let address = body[..end].strip_prefix("8;").and_then(|link| link.split_once(';'));
            let content =
                address.filter(|_| introducer == ']').map_or(Content::Other, |(_, address)| Content::Link(address));
            Some(Sequence { len: start + end + last, content })
        }
        ' '..='/' => {
            let end = body.find(|c: char| !(' '..='/').contains(&c))?;
            Some(Sequence { len: start + end + body[end..].chars().next()?.len_utf8(), content: Content::Other })
        }
        '0'..='~' => Some(Sequence { len: start, content: Content::Other }),
        _ => None,
    }
}

/// Returns the tone after a change of colors. Tones keep their contrast in each palette.
fn colored(numbers: &str, mut shown: Tone, tone: Tone) -> Tone {
    let mut numbers = numbers.split([';', ':']).map(|number| number.parse::<u16>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        shown = match number {
            0 | 39 => tone,
            1 if shown == tone => Tone::Strong,
            2 => Tone::Dim,
            22 if matches!(shown, Tone::Strong | Tone::Dim) => tone,
            30..=37 => of_color(number - 30, tone),
            90..=97 => of_color(number - 90, tone),
            38 | 48 | 58 => {
                let color = match numbers.next() {
                    Some(5) => numbers.next().filter(|color| *color < 16).map(|color| color % 8),
                    Some(2) => {
                        let rgb = [numbers.next(), numbers.next(), numbers.next()].map(Option::unwrap_or_default);
                        let bit = |at: usize| u16::from(rgb[at] > rgb.iter().sum::<u16>() / 3) << at;
                        Some(bit(0) | bit(1) | bit(2))
                    }
                    _ => None,
                };
                color.filter(|_| number == 38).map_or(shown, |color| of_color(color, tone))
            }
            _ => shown,
        };
    }
    shown
}

/// Returns the tone for one of the eight colors: black, red, green, yellow, blue, magenta, cyan, white.
fn of_color(color: u16, tone: Tone) -> Tone {
    [Tone::Dim, Tone::Error, Tone::Str, Tone::Number, Tone::Function, Tone::Keyword, Tone::Type, tone]
        [usize::from(color % 8)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_removed_and_links_keep_their_address() {
        for (text, expected) in [
            ("plain", "plain"),
            ("\u{1b}[1;31mred\u{1b}[0m and \u{1b}[38;5;2mgreen\u{1b}[m", "red and green"),
            ("\u{1b}]0;title\u{7}text\u{1b}]0;title\u{1b}\\!", "text!"),
            ("\u{1b}]8;;https://a.b/c\u{1b}\\here\u{1b}]8;;\u{1b}\\ too", "here [https://a.b/c] too"),
            ("\u{1b}[2K\u{1b}[1A\u{1b}(Bx\u{1b}7y\u{9b}31mz", "xyz"),
            ("\u{1b}P1;2|data\u{1b}\\end", "end"),
            ("cut \u{1b}[31", "cut \u{1b}[31"),
            ("cut \u{1b}]8;;https://never", "cut \u{1b}]8;;https://never"),
            ("\u{1b}", "\u{1b}"),
        ] {
            assert_eq!(strip(text), expected, "{text:?}");
        }
    }

    #[test]
    fn colors_are_tones() {
        let tones = |text| styled(text, Tone::Text).into_iter().map(|(tone, _)| tone).collect::<Vec<_>>();
        assert_eq!(
            tones("a\u{1b}[31mb\u{1b}[1mc\u{1b}[39md\u{1b}[38;2;10;200;10me\u{1b}[48;5;1mf\u{1b}[0mg"),
            [Tone::Text, Tone::Error, Tone::Error, Tone::Text, Tone::Str, Tone::Str, Tone::Text]
        );
        assert_eq!(tones("\u{1b}[1mbold\u{1b}[22mnot"), [Tone::Strong, Tone::Text]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_split_without_losing_characters(text in "(\u{1b}|\\[|\\]|[0-9;:mK]|8;;|\u{7}|\u{9b}|\u{9d}|\\\\|[a-zé ]){0,40}") {
            let all: String = styled(&text, Tone::Text).into_iter().map(|(_, text)| text).collect();
            proptest::prop_assert!(all.len() <= text.len() + 3 * text.matches("8;").count());
            if !has_sequences(&text) {
                proptest::prop_assert_eq!(all, text);
            }
        }
    }
}
