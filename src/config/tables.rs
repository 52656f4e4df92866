//! The tables of the configuration: `[colors]`, `[glyphs]`, `[keys]` and `[queries]`, and the errors of the file by line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeString, DeValue};

use crate::base::text::{Glyphs, Tone, UNICODE, clean, is_one_column};
use crate::base::{sort, typo};
use crate::keymap::{Action, Key, KeyContext, Keymap};
use crate::search::query::Query;

/// The problems found so far.
pub(super) struct ConfigProblems {
    /// The offsets of line breaks.
    breaks: Vec<usize>,
    /// The problems with their line numbers.
    pub(super) found: Vec<(usize, String)>,
}

impl ConfigProblems {
    pub(super) fn new(text: &str) -> Self {
        Self { breaks: memchr::memchr_iter(b'\n', text.as_bytes()).collect(), found: Vec::new() }
    }

    /// Parses the value of a name, or records the problem.
    pub(super) fn parsed<'a, 'b, T>(
        &mut self,
        name: &str,
        value: &'b Spanned<DeValue<'a>>,
        parse: impl FnOnce(&'b DeValue<'a>) -> Result<T, String>,
    ) -> Option<T> {
        parse(value.get_ref()).map_err(|what| self.add(value.span(), format!("{name:?}: {what}"))).ok()
    }

    /// Returns the rows of a table, or records that `wanted` is expected.
    pub(super) fn table<'a, 'b>(
        &mut self,
        name: &str,
        value: &'b Spanned<DeValue<'a>>,
        wanted: &str,
    ) -> impl Iterator<Item = (&'b Spanned<DeString<'a>>, &'b Spanned<DeValue<'a>>)> + use<'a, 'b> {
        let table = |value: &'b DeValue<'a>| value.as_table().ok_or_else(|| wrong_type(wanted, value));
        self.parsed(name, value, table).into_iter().flatten()
    }

    /// Records a setting that is not one of the `known` ones.
    pub(super) fn unknown<'a>(&mut self, key: &Spanned<DeString<'_>>, known: impl Iterator<Item = &'a str> + Clone) {
        let name = key.get_ref().as_ref();
        self.add(key.span(), format!("unknown setting {name:?}; {}", advice(name, "settings", known)));
    }

    /// Returns the line number of a range.
    fn line(&self, piece: &Range<usize>) -> usize {
        1 + self.breaks.partition_point(|&end| end < piece.start)
    }

    /// Records a problem at a range of the text.
    pub(super) fn add(&mut self, piece: Range<usize>, what: String) {
        self.found.push((self.line(&piece), what));
    }
}

/// Returns advice for an unknown name: the most similar name, or else all `names`.
pub(super) fn advice<'a>(unknown: &str, what: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    match typo::nearest(unknown, names.clone()) {
        Some(name) => format!("did you mean {name:?}?"),
        None => format!("the {what} are {}", names.collect::<Vec<_>>().join(", ")),
    }
}

/// Reads a whole number, or describes the number `wanted`.
pub(super) fn whole<T: FromStr>(value: &DeValue<'_>, wanted: &str) -> Result<T, String> {
    let number = value.as_integer().and_then(|number| number.as_str().parse().ok());
    number.ok_or_else(|| wrong_type(wanted, value))
}

/// Reads a list of texts.
pub(super) fn strings(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let wrong = |value: &DeValue<'_>| wrong_type("a list of texts, such as [\"one\", \"two\"]", value);
    let items = value.as_array().ok_or_else(|| wrong(value))?;
    let text =
        |item: &Spanned<DeValue<'_>>| item.get_ref().as_str().map(str::to_owned).ok_or_else(|| wrong(item.get_ref()));
    items.iter().map(text).collect()
}

/// Formats names as `"a", "b" or "c"`.
pub(super) fn one_of(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Describes a type mismatch.
pub(super) fn wrong_type(wanted: &str, value: &DeValue<'_>) -> String {
    format!("must be {wanted}, but is of type {}", value.type_str())
}

/// A custom color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColorOverride {
    /// An index of the 256 terminal colors.
    Index(u8),
    /// Red, green and blue.
    Rgb([u8; 3]),
}

/// Returns the tones with a configurable color: all but the cursor, which is the last.
fn tones() -> impl Iterator<Item = Tone> + Clone {
    Tone::ALL.iter().copied().filter(|tone| *tone != Tone::Cursor)
}

/// Returns the table `[colors]` for the default configuration.
pub(super) fn default_colors() -> String {
    let names: Vec<_> = tones().map(Tone::name).collect();
    let lines: Vec<_> = names.chunks(12).map(|names| format!("# {}", names.join(", "))).collect();
    format!(
        "\n# Colors that override the theme: \"#rrggbb\" or a terminal color number from 0 to 255. Names:\n{}.\n\
         # For example: dim = \"#9a9a9a\"\n[colors]\n",
        lines.join(",\n")
    )
}

/// Reads the table `[colors]`.
pub(super) fn colors(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> HashMap<Tone, ColorOverride> {
    let mut colors = HashMap::new();
    for (key, value) in problems.table("colors", value, "a table of colors, such as [colors] and a line dim = 247") {
        let name = key.get_ref().as_ref();
        if let Some(tone) = tones().find(|tone| tone.name() == name) {
            colors.extend(problems.parsed(name, value, color).map(|color| (tone, color)));
        } else {
            let advice = advice(name, "names", tones().map(Tone::name));
            problems.add(key.span(), format!("unknown name {name:?} in [colors]; {advice}"));
        }
    }
    colors
}

fn color(value: &DeValue<'_>) -> Result<ColorOverride, String> {
    let rgb = |text: &str| {
        let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
        let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()?;
        let [_, red, green, blue] = number.to_be_bytes();
        Some(ColorOverride::Rgb([red, green, blue]))
    };
    let color = match value.as_str() {
        Some(text) => rgb(text),
        None => value.as_integer().and_then(|number| number.as_str().parse().ok().map(ColorOverride::Index)),
    };
    color.ok_or_else(|| "must be \"#rrggbb\" or a number from 0 to 255".into())
}

/// Returns the table `[glyphs]` for the default configuration, commented out.
pub(super) fn default_glyphs() -> String {
    let mut text = "\n# Symbols; each must be one character that is one column wide. Uncomment a line to change it, for example if the\n\
                    # font lacks a symbol. With ascii = true, the symbols are ASCII.\n[glyphs]\n"
        .to_owned();
    for (name, means, sign) in UNICODE.all() {
        let _ = write!(text, "\n# {means}\n# {name} = {sign:?}\n");
    }
    text
}

/// Returns the symbols with the changes of the table `[glyphs]`.
pub(super) fn glyphs(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> Glyphs {
    let mut glyphs = UNICODE.clone();
    let wanted = "a table of symbols, such as [glyphs] and a line fork = \"Y\"";
    for (key, value) in problems.table("glyphs", value, wanted) {
        let name = key.get_ref().as_ref();
        if let Some(glyph) = glyphs.named(name) {
            *glyph = problems.parsed(name, value, symbol).unwrap_or_else(|| glyph.clone());
        } else {
            let advice = advice(name, "signs", Glyphs::ALL.iter().map(|(name, _)| *name));
            problems.add(key.span(), format!("unknown symbol {name:?} in [glyphs]; {advice}"));
        }
    }
    glyphs
}

fn symbol(value: &DeValue<'_>) -> Result<Cow<'static, str>, String> {
    let text = value.as_str().ok_or_else(|| wrong_type("one character in quotes", value))?;
    if is_one_column(text) {
        Ok(text.to_owned().into())
    } else {
        Err("expected one character that is one column wide".into())
    }
}

/// The keys of pi's tree and lists where they are not the default (pi 1.6.0, `docs/keybindings.md`), for the preset `pi`.
/// pi copies with `ctrl+x`; another key then searches all text.
const KEYS_OF_PI: &[(Action, &[&str])] = &[
    (Action::Label, &["L", "m l"]),
    (Action::LabelTimes, &["T", "v i"]),
    (Action::Copy, &["y", "ctrl+x", "m y"]),
    (Action::SearchEverything, &["alt+x", "v e"]),
    (Action::Delete, &["ctrl+d", "ctrl+backspace", "delete", "m x"]),
    (Action::PageUp, &["pageup", "left", "ctrl+b"]),
    (Action::PageDown, &["pagedown", "right", "ctrl+f"]),
    (Action::PreviousPeriod, &["h"]),
    (Action::NextPeriod, &["l"]),
    (Action::Fold, &["h"]),
    (Action::Unfold, &["l"]),
];

/// Returns the keymap with the changes of the table `[keys]`, or the default if they are in conflict. `is_of_pi` adds the
/// keys of pi.
pub(super) fn keymap(problems: &mut ConfigProblems, value: Option<&Spanned<DeValue<'_>>>, is_of_pi: bool) -> Keymap {
    let (mut overrides, mut lines) = (Vec::new(), HashMap::new());
    if is_of_pi {
        let parsed = |keys: &&[&str]| keys.iter().filter_map(|key| key.parse().ok()).collect::<Vec<Key>>();
        overrides.extend(KEYS_OF_PI.iter().map(|(action, keys)| (*action, parsed(keys))));
    }
    let wanted = "a table of actions, such as [keys] and a line quit = [\"q\"]";
    let rows: Vec<_> = value.into_iter().flat_map(|value| problems.table("keys", value, wanted)).collect();
    for (key, value) in rows {
        let name = key.get_ref().as_ref();
        let Some(action) = Action::from_name(name) else {
            let hint = match Action::nearest(name) {
                Some(action) => format!("did you mean {:?}?", action.row().name),
                None => "pitree config --default lists all".to_owned(),
            };
            problems.add(key.span(), format!("unknown action {name:?} in [keys]; {hint}"));
            continue;
        };
        if let Some(keys) = keys(problems, name, value) {
            lines.insert(action, problems.line(&key.span()));
            overrides.retain(|(other, _)| *other != action);
            overrides.push((action, keys));
        }
    }
    Keymap::new(&overrides).unwrap_or_else(|errors| {
        for (actions, what) in errors {
            // At least one of two actions in conflict was configured, because the defaults have no conflicts.
            let line = actions.iter().filter_map(|action| lines.get(action)).max();
            problems.found.push((line.copied().unwrap_or(1), what));
        }
        Keymap::default()
    })
}

/// Returns the valid keys of a list, or `None` if the list is not empty and all keys are invalid.
fn keys(problems: &mut ConfigProblems, name: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<Key>> {
    let items = value.get_ref().as_array().map_or_else(|| vec![value], |items| items.iter().collect());
    let mut keys = Vec::new();
    for &item in &items {
        let wrong = || wrong_type("a list of keys, such as [\"q\", \"ctrl+c\"]", item.get_ref());
        let key = problems.parsed(name, item, |item| item.as_str().ok_or_else(wrong)?.parse::<Key>());
        keys.extend(key.filter(|key| !keys.contains(key)));
    }
    (items.is_empty() || !keys.is_empty()).then_some(keys)
}

/// A saved query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedQuery {
    /// The name.
    pub name: String,
    /// The query, which is valid.
    pub query: String,
    /// The key that runs the query.
    pub key: Option<Key>,
}

/// Reads the table `[queries]` in line order. The keys must not be bound to actions.
pub(super) fn queries(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>, keymap: &Keymap) -> Vec<SavedQuery> {
    let wanted = "a table of queries, such as [queries] and a line expensive = \"cost:>1\"";
    let mut rows: Vec<_> = problems.table("queries", value, wanted).collect();
    sort::by_key(&mut rows, |(name, _)| name.span().start);
    let mut queries = Vec::new();
    for (name, value) in rows {
        queries.extend(one(problems, (name.get_ref(), value), keymap, &queries));
    }
    queries
}

/// Reads one row. Its key must not be bound to an action or to an earlier one of the `queries`.
fn one(
    problems: &mut ConfigProblems,
    (name, value): (&str, &Spanned<DeValue<'_>>),
    keymap: &Keymap,
    queries: &[SavedQuery],
) -> Option<SavedQuery> {
    let (mut query, mut key) = (None, None);
    match value.get_ref() {
        DeValue::String(_) => query = text(problems, name, value, |text| read_query(name, text)),
        DeValue::Table(fields) => {
            for (field, value) in fields {
                match &**field.get_ref() {
                    "query" => query = text(problems, name, value, |text| read_query(name, text)),
                    "key" => key = text(problems, name, value, |key| read_key(name, key, keymap, queries)),
                    other => {
                        let advice = advice(other, "fields", ["query", "key"].into_iter());
                        problems.add(field.span(), format!("{name:?}: unknown field {other:?}; {advice}"));
                    }
                }
            }
            if !fields.iter().any(|(field, _)| field.get_ref() == "query") {
                problems.add(value.span(), format!("{name:?} has no query; add query = \"...\""));
            }
        }
        other => {
            let what = wrong_type("a query in quotes, or { query = \"cost:>1\", key = \"f2\" }", other);
            problems.add(value.span(), format!("{name:?}: {what}"));
        }
    }
    Some(SavedQuery { name: name.into(), query: query?, key })
}

/// Parses a string, and records a problem if it fails.
fn text<T>(
    problems: &mut ConfigProblems,
    name: &str,
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Option<T> {
    let read = match value.get_ref().as_str() {
        Some(text) => read(text),
        None => Err(format!("{name:?}: {}", wrong_type("a text in quotes", value.get_ref()))),
    };
    read.map_err(|what| problems.add(value.span(), clean(&what).into_owned())).ok()
}

fn read_query(name: &str, text: &str) -> Result<String, String> {
    match Query::parse(text) {
        Ok(query) if query.is_empty() => Err(format!("{name:?}: the query is empty")),
        Ok(_) => Ok(text.to_owned()),
        Err(problem) => Err(format!("{name:?}: {problem}")),
    }
}

/// Parses an unbound key.
fn read_key(name: &str, text: &str, keymap: &Keymap, queries: &[SavedQuery]) -> Result<Key, String> {
    let key: Key = text.parse().map_err(|error| format!("{name:?}: {error}"))?;
    let action = KeyContext::PANES.iter().find_map(|&place| keymap.resolve(place, key));
    let query = queries.iter().find(|other| other.key == Some(key));
    let owner = match (action, query) {
        (Some(action), _) => format!("{:?}", action.row().name),
        (None, Some(other)) => format!("the query {:?}", other.name),
        (None, None) => return Ok(key),
    };
    let key = key.to_string();
    Err(format!("key {key:?} is bound to both {owner} and the query {name:?}; give one of them another key"))
}

#[cfg(test)]
mod tests {
    use super::tones;
    use crate::base::text::Tone;
    use crate::config::{ColorOverride, Config};

    #[test]
    fn every_meaning_of_text_has_a_name() {
        assert_eq!(tones().count(), Tone::Cursor as usize, "all but the cursor, which is the last");
    }

    #[test]
    fn reads_colors_and_says_what_is_wrong_with_them() {
        let config = Config::parse("[colors]\ndim = '#0aF0ff'\nstring = 247\n", "c").unwrap();
        assert_eq!(config.colors.get(&Tone::Dim), Some(&ColorOverride::Rgb([10, 240, 255])));
        assert_eq!(config.colors.get(&Tone::Str), Some(&ColorOverride::Index(247)));
        let text = "[colors]\ndimm = 1\ndim = 256\ntext = '#12345'\nlink = '#+12345'\nuser = true\n";
        let error = Config::parse(text, "c").unwrap_err();
        let lines: Vec<_> = error.lines().collect();
        assert!(lines[0].starts_with("c:2: unknown name \"dimm\" in [colors]; did you mean \"dim\"?"), "{error}");
        let wrong = ["3: \"dim\"", "4: \"text\"", "5: \"link\"", "6: \"user\""];
        assert_eq!(lines[1..], wrong.map(|at| format!("c:{at}: must be \"#rrggbb\" or a number from 0 to 255")));
        let error = Config::parse("colors = 3", "c").unwrap_err();
        assert!(error.starts_with("c:1: \"colors\": must be a table of colors"), "{error}");
    }
}
