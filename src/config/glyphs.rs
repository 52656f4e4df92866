//! Symbols: the table `[glyphs]` of the configuration.

use std::fmt::Write as _;

use toml::Spanned;
use toml::de::DeValue;

use crate::base::text::{Glyphs, UNICODE, is_one_column};
use crate::config::reader::{ConfigProblems, advice, wrong_type};

/// The name of the table.
pub(super) const GLYPHS: &str = "glyphs";

/// Returns the table for the default configuration, commented out.
pub(super) fn default_toml() -> String {
    let mut text = "\n# Symbols; each must be one character that is one column wide. Uncomment a line to change it, for example if the\n\
                    # font lacks a symbol. With ascii = true, the symbols are ASCII.\n[glyphs]\n"
        .to_owned();
    for (name, means, sign) in UNICODE.all() {
        let _ = write!(text, "\n# {means}\n# {name} = {sign:?}\n");
    }
    text
}

/// Returns the symbols with the changes of the table.
pub(super) fn read(reader: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> Glyphs {
    let mut glyphs = UNICODE.clone();
    let wanted = "a table of symbols, such as [glyphs] and a line fork = \"Y\"";
    let Some(table) = reader.table(GLYPHS, value, wanted) else { return glyphs };
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        let Some(glyph) = glyphs.named(name) else {
            let advice = advice(name, "signs", Glyphs::ALL.iter().map(|(name, _)| *name));
            reader.problem(key.span(), format!("unknown symbol {name:?} in [{GLYPHS}]; {advice}"));
            continue;
        };
        match value.get_ref().as_str() {
            Some(text) if is_one_column(text) => *glyph = text.to_owned().into(),
            Some(_) => {
                reader.problem(value.span(), format!("{name:?}: expected one character that is one column wide"));
            }
            None => {
                let what = wrong_type("one character in quotes", value.get_ref());
                reader.problem(value.span(), format!("{name:?}: {what}"));
            }
        }
    }
    glyphs
}
