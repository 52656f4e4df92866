//! The qualifiers of queries (`cost:>1`). This file has the table of all of them; each has a file of its own that says
//! everything about it. A new one is a file and a row.

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

/// What the table says of a qualifier.
pub(crate) struct QualifierRow {
    /// What stands before the colon.
    pub(crate) name: &'static str,
    /// Reads a value; `None` while it is unfinished. The error says what may stand there.
    pub(crate) read: fn(&str) -> Result<Option<Qualified>, String>,
    /// The values to choose from, the likeliest first.
    pub(crate) choices: fn(ValueList<'_>) -> Vec<&str>,
    /// What a value finds, in words, where it doesn't say so itself.
    pub(crate) means: fn(&str) -> &'static str,
    /// It with a value.
    pub(crate) example: &'static str,
    pub(crate) help: &'static str,
    forms: fn() -> Vec<&'static str>,
}

macro_rules! table {
    ($($qualifier:ident,)*) => {
        /// All qualifiers, in the order in which they are shown.
        pub(crate) static TABLE: &[QualifierRow] = &[$(QualifierRow {
            name: $qualifier::NAME,
            read: |value| Ok(<$qualifier as Qualifier>::Value::read(value)?.map(Qualified::$qualifier)),
            choices: $qualifier::choices,
            means: $qualifier::means,
            example: $qualifier::EXAMPLE,
            help: $qualifier::HELP,
            forms: <$qualifier as Qualifier>::Value::forms,
        },)*];

        /// A qualifier with its value. It prints as it stands in a query.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Qualified { $($qualifier(<$qualifier as Qualifier>::Value),)* }

        impl Qualified {
            /// Makes it ready to be held against many sessions.
            pub(crate) fn test(&self, here: &QueryScope) -> Test {
                match self { $(Self::$qualifier(value) => $qualifier::test(value, here),)* }
            }

            /// For which entries it holds.
            pub(crate) fn scope(&self, here: &QueryScope) -> EntryScope {
                match self { $(Self::$qualifier(value) => $qualifier::scope(value, here),)* }
            }

            /// Whether `wide` certainly holds wherever this holds.
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

/// The qualifier of this name.
pub(crate) fn named(name: &str) -> Option<&'static QualifierRow> {
    TABLE.iter().find(|row| row.name == name)
}

/// `file:` with a name.
pub(crate) fn file(name: &str) -> Option<Qualified> {
    (named(File::NAME)?.read)(name).ok()?
}

/// The table for a terminal: an example, what it finds, and how else its value may be written.
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

/// The table for the help: an example, and what it finds.
pub fn rows() -> impl Iterator<Item = (&'static str, String)> {
    TABLE.iter().map(|row| {
        let forms = (row.forms)();
        let forms = if forms.is_empty() { String::new() } else { format!("; values: {}", forms.join(" ")) };
        (row.example, format!("Sessions {}{forms}.", row.help))
    })
}

/// The table in Markdown, for `docs/guide.md`.
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
            assert!(TABLE[..at].iter().all(|other| other.name != row.name), "{} stands there twice", row.name);
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
