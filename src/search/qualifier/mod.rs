//! The qualifiers of queries (`cost:>1`). This file has the table of qualifiers; each is implemented in its own file.
//! To add one, add a file and a row.

mod after;
mod before;
mod cost;
pub(crate) mod definition;
mod edited;
mod entries;
mod file;
mod in_dir;
mod is;
mod label;
mod model;
#[cfg(test)]
pub(crate) mod sample;
mod size;
mod tool;
pub(crate) mod value;

use std::fmt;
use std::fmt::Write as _;

use crate::search::qualifier::after::After;
use crate::search::qualifier::before::Before;
use crate::search::qualifier::cost::Cost;
use crate::search::qualifier::definition::{EntryScope, Qualifier, Test};
use crate::search::qualifier::edited::Edited;
use crate::search::qualifier::entries::Entries;
use crate::search::qualifier::file::File;
use crate::search::qualifier::in_dir::In;
pub(crate) use crate::search::qualifier::in_dir::is_in_dir;
use crate::search::qualifier::is::Is;
use crate::search::qualifier::label::Label;
use crate::search::qualifier::model::Model;
use crate::search::qualifier::size::Size;
use crate::search::qualifier::tool::Tool;
use crate::search::qualifier::value::QualifierValue;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;

/// A row of the table.
pub(crate) struct QualifierRow {
    /// The name before the colon.
    pub(crate) name: &'static str,
    /// Parses a value. Returns `None` for an incomplete value, and an error that lists valid values.
    pub(crate) read: fn(&str) -> Result<Option<Qualified>, String>,
    /// Returns the values to suggest, the most likely first.
    pub(crate) choices: fn(ValueList<'_>) -> Vec<&str>,
    /// Describes a value that is not self-explanatory.
    pub(crate) means: fn(&str) -> &'static str,
    /// An example with a value.
    pub(crate) example: &'static str,
    pub(crate) help: &'static str,
    forms: fn() -> Vec<&'static str>,
}

macro_rules! table {
    ($($qualifier:ident,)*) => {
        /// All qualifiers in display order.
        pub(crate) static TABLE: &[QualifierRow] = &[$(QualifierRow {
            name: $qualifier::NAME,
            read: |value| Ok(<$qualifier as Qualifier>::Value::read(value)?.map(Qualified::$qualifier)),
            choices: $qualifier::choices,
            means: $qualifier::means,
            example: $qualifier::EXAMPLE,
            help: $qualifier::HELP,
            forms: <$qualifier as Qualifier>::Value::forms,
        },)*];

        /// A qualifier with its value. Its display form is its form in a query.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Qualified { $($qualifier(<$qualifier as Qualifier>::Value),)* }

        impl Qualified {
            /// Compiles the test.
            pub(crate) fn test(&self, here: &QueryScope) -> Test {
                match self { $(Self::$qualifier(value) => $qualifier::test(value, here),)* }
            }

            /// Returns the entries for which the qualifier holds.
            pub(crate) fn scope(&self, here: &QueryScope) -> EntryScope {
                match self { $(Self::$qualifier(value) => $qualifier::scope(value, here),)* }
            }

            /// Returns `true` if every session that matches this qualifier also matches `wide`.
            pub(crate) fn implies(&self, wide: &Self) -> bool {
                match (self, wide) {
                    $((Self::$qualifier(narrow), Self::$qualifier(wide)) => $qualifier::implies(narrow, wide),)*
                    _ => false,
                }
            }
        }

        impl fmt::Display for Qualified {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Self::$qualifier(value) => write!(f, "{}:{value}", $qualifier::NAME),)* }
            }
        }
    };
}

table! {
    In,
    File,
    Edited,
    Label,
    Model,
    Tool,
    Is,
    After,
    Before,
    Cost,
    Size,
    Entries,
}

/// Returns the qualifier with the given name.
pub(crate) fn named(name: &str) -> Option<&'static QualifierRow> {
    TABLE.iter().find(|row| row.name == name)
}

/// Returns `file:` with a name.
pub(crate) fn file(name: &str) -> Option<Qualified> {
    (named(File::NAME)?.read)(name).ok()?
}

/// Returns the table for a terminal: an example, its meaning, and the forms of the value.
pub(crate) fn help() -> String {
    let width = TABLE.iter().map(|row| row.example.len()).max().unwrap_or_default();
    let mut help = String::from("Qualifiers find sessions");
    for row in TABLE {
        let _ = write!(help, "\n  {:width$}  {}", row.example, row.help);
        let forms = (row.forms)();
        if !forms.is_empty() {
            let _ = write!(help, "\n  {:width$}  {}", "", forms.join(", "));
        }
    }
    help
}

/// Iterates over the rows for the help: an example and its meaning.
pub fn rows() -> impl Iterator<Item = (&'static str, String)> {
    TABLE.iter().map(|row| {
        let forms = (row.forms)();
        let forms = if forms.is_empty() { String::new() } else { format!("; values: {}", forms.join(" ")) };
        (row.example, format!("Sessions {}{forms}.", row.help))
    })
}

/// Returns the table in Markdown for `docs/guide.md`.
pub fn reference() -> String {
    let mut page = String::from("\n| qualifier | finds sessions | how its value may be written |\n|---|---|---|\n");
    for row in TABLE {
        let forms: Vec<String> = (row.forms)().iter().map(|form| format!("`{form}`")).collect();
        let _ = writeln!(page, "| `{}` | {} | {} |", row.example, row.help, forms.join(" "));
    }
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::query::Query;

    #[test]
    fn each_row_is_as_it_says() {
        for (at, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..at].iter().all(|other| other.name != row.name), "duplicate: {}", row.name);
            let (name, value) = row.example.split_once(':').unwrap();
            assert_eq!(name, row.name);
            let read = |value: &str| (row.read)(value).unwrap().unwrap().to_string();
            let is_read = Query::parse(row.example).is_ok_and(|query| query.to_string() == read(value));
            assert!(is_read, "{}", row.example);
            for value in (row.forms)().into_iter().chain((row.choices)(ValueList::default())) {
                assert_eq!(read(value), read(read(value).split_once(':').unwrap().1), "{}:{value}", row.name);
            }
        }
    }
}
