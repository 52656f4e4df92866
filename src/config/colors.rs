//! Custom colors: the table `[colors]` of the configuration.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::DeValue;

use crate::base::text::Tone;
use crate::config::reader::{ConfigProblems, advice};

/// The name of the table.
pub(super) const COLORS: &str = "colors";

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

/// Returns the table for the default configuration.
pub(super) fn default_toml() -> String {
    let names: Vec<_> = tones().map(Tone::name).collect();
    let lines: Vec<_> = names.chunks(12).map(|names| format!("# {}", names.join(", "))).collect();
    format!(
        "\n# Colors that override the theme: \"#rrggbb\" or a terminal color number from 0 to 255. Names:\n{}.\n\
         # For example: dim = \"#9a9a9a\"\n[colors]\n",
        lines.join(",\n")
    )
}

/// Reads the colors of the table.
pub(super) fn read(reader: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> HashMap<Tone, ColorOverride> {
    let mut colors = HashMap::new();
    let wanted = "a table of colors, such as [colors] and a line dim = 247";
    let Some(table) = reader.table(COLORS, value, wanted) else { return colors };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let Some(tone) = tones().find(|tone| tone.name() == name) else {
            let advice = advice(name, "names", tones().map(Tone::name));
            reader.problem(key.span(), format!("unknown name {name:?} in [{COLORS}]; {advice}"));
            continue;
        };
        match color(value.get_ref()) {
            Some(color) => drop(colors.insert(tone, color)),
            None => reader.problem(value.span(), format!("{name:?}: must be \"#rrggbb\" or a number from 0 to 255")),
        }
    }
    colors
}

fn color(value: &DeValue<'_>) -> Option<ColorOverride> {
    let Some(text) = value.as_str() else { return value.as_integer()?.as_str().parse().ok().map(ColorOverride::Index) };
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()?;
    let [_, red, green, blue] = number.to_be_bytes();
    Some(ColorOverride::Rgb([red, green, blue]))
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
