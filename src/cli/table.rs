//! Tables. Numbers and ids are never truncated. On a terminal, tables have a header, and the other columns share the width
//! by what they need: paths keep their end and words their beginning, and columns that become too narrow are dropped. In a
//! pipe, only words are truncated.

use std::array;
use std::borrow::Cow;

use anyhow::Result;
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::text::{Glyphs, Tone, clean, width};
use crate::base::time;
use crate::cli::{CommandContext, now, output};

/// The maximum width of the last column with words in a pipe.
pub(super) const LAST: usize = 100;

/// The maximum width of other columns with words in a pipe, such as titles.
pub(super) const TITLE: usize = 40;

/// The maximum width of a bar.
pub(super) const BAR: usize = 16;

/// The minimum width of a truncated column, and of the last one in two steps.
const MIN_WIDTHS: (usize, [usize; 2]) = (8, [20, 8]);

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// Never truncated, right-aligned.
    Number,
    /// Never truncated, such as an id.
    Whole,
    /// A path.
    Path,
    /// Words with a maximum width in a pipe.
    Words(usize),
}

/// Parses the columns of a table: the header of each on a terminal, which also defines the tone of its cells, and its type.
/// `age>` is a number, `file/` a path, `title~40` words with a maximum width in a pipe, and `id` is never truncated.
fn parsed<const COLUMNS: usize>(text: &'static str) -> [(&'static str, Column); COLUMNS] {
    let mut words = text.split(' ');
    array::from_fn(|_| {
        let word = words.next().unwrap_or_default();
        match (word.strip_suffix('>'), word.strip_suffix('/'), word.split_once('~')) {
            (Some(header), ..) => (header, Column::Number),
            (_, Some(header), _) => (header, Column::Path),
            (.., Some((header, most))) => (header, Column::Words(most.parse().unwrap_or(LAST))),
            _ => (word, Column::Whole),
        }
    })
}

impl Column {
    fn may_be_cut(self) -> bool {
        matches!(self, Self::Path | Self::Words(_))
    }
}

/// Returns the tone of the cells below a header.
fn tone(header: &str) -> Tone {
    match header {
        "id" | "session" | "entry" | "commit" => Tone::Dim,
        "title" => Tone::Strong,
        "label" => Tone::Label,
        "cost" => Tone::Cost,
        _ => Tone::Text,
    }
}

/// Truncates a text to a width, safe for a terminal.
pub(super) fn words(text: &str, most: usize, glyphs: &Glyphs) -> String {
    // A first message can be very long.
    glyphs.cut(&clean(utf16_prefix(text, 8 * most)), most).into_owned()
}

impl CommandContext {
    /// Prints a table, safe for a terminal, or the note `none` if it is empty. Empty columns are omitted.
    pub(super) fn table<const COLUMNS: usize>(
        &self,
        columns: &'static str,
        rows: impl IntoIterator<Item = [String; COLUMNS]>,
        none: &str,
    ) -> Result<()> {
        print(columns, rows, none, self.config.glyphs())
    }

    /// Prints items as JSON Lines, or as a table.
    pub(super) fn list<'i, T, Line: Serialize, const COLUMNS: usize>(
        &self,
        is_json: bool,
        items: &'i [T],
        line: impl FnMut(&'i T) -> Line,
        (columns, row): (&'static str, impl FnMut(&'i T) -> [String; COLUMNS]),
        none: &str,
    ) -> Result<()> {
        match is_json {
            true => items.iter().map(line).try_for_each(|line| output::json(&line)),
            false => self.table(columns, items.iter().map(row), none),
        }
    }

    /// Prints a table with a header line, a total and a colored bar in each other line, if it has them.
    pub(super) fn styled_table<const COLUMNS: usize>(
        &self,
        columns: [Column; COLUMNS],
        rows: &[[String; COLUMNS]],
        (has_header, has_total): (bool, bool),
    ) -> Result<()> {
        for (at, line) in
            lines(columns.map(|column| ("", column)), rows, output::columns(), self.config.glyphs()).enumerate()
        {
            output::line(match at {
                0 if has_header => output::paint(Tone::Dim, &line),
                at if has_total && at + 1 == rows.len() => output::paint(Tone::Strong, &line),
                _ => with_colored_bar(&line, self.bar_glyph()),
            })?;
        }
        Ok(())
    }

    fn bar_glyph(&self) -> &'static str {
        if self.config.ascii { "#" } else { "█" }
    }

    /// Returns the bar for a part of the largest value.
    pub(super) fn bar(&self, part: f64, most: f64) -> String {
        let width = if most > 0.0 { (BAR as f64 * (part / most).max(0.0)).round() as usize } else { 0 };
        self.bar_glyph().repeat(width)
    }
}

/// Prints a table, or the note `none` if it is empty and the note is not.
pub(super) fn print<const COLUMNS: usize>(
    columns: &'static str,
    rows: impl IntoIterator<Item = [String; COLUMNS]>,
    none: &str,
    glyphs: &Glyphs,
) -> Result<()> {
    let rows: Vec<[String; COLUMNS]> = rows.into_iter().collect();
    if rows.is_empty() && !none.is_empty() {
        output::note(none);
    }
    for line in lines(parsed(columns), &rows, output::columns(), glyphs) {
        output::line(line)?;
    }
    Ok(())
}

/// Returns the age of a time, or a question mark.
pub(super) fn age(time: Option<i64>) -> String {
    time.map_or("?".into(), |time| time::age(now(), time))
}

/// Returns the lines of a table for the width of a terminal, with a header if there is one, or for a pipe.
fn lines<const COLUMNS: usize>(
    columns: [(&'static str, Column); COLUMNS],
    rows: &[[String; COLUMNS]],
    room: Option<usize>,
    glyphs: &Glyphs,
) -> impl Iterator<Item = String> {
    let (headers, columns) = (columns.map(|(header, _)| header), columns.map(|(_, column)| column));
    let cells = |row: &[String; COLUMNS]| -> [String; COLUMNS] {
        array::from_fn(|at| match columns[at] {
            Column::Number | Column::Whole | Column::Path => clean(&row[at]).into_owned(),
            Column::Words(most) => words(&row[at], room.unwrap_or(most), glyphs),
        })
    };
    let mut rows: Vec<[String; COLUMNS]> = rows.iter().map(cells).collect();
    let has_header = room.is_some() && !rows.is_empty() && !headers[0].is_empty();
    if has_header {
        let is_used = |at: usize| rows.iter().any(|row| !row[at].is_empty());
        rows.insert(0, array::from_fn(|at| if is_used(at) { headers[at].into() } else { String::new() }));
    }
    let widths = widths(columns, &rows, room);
    rows.into_iter().enumerate().map(move |(number, row)| {
        let (mut line, mut gap) = (String::new(), 0);
        for at in (0..COLUMNS).filter(|&at| widths[at] > 0) {
            let cell = match columns[at] {
                Column::Number | Column::Whole => Cow::Borrowed(&*row[at]),
                Column::Path => glyphs.cut_start(&row[at], widths[at]),
                Column::Words(_) => glyphs.cut(row[at].trim_end(), widths[at]),
            };
            let space = widths[at].saturating_sub(width(&cell));
            let (before, after) = if columns[at] == Column::Number { (space, 0) } else { (0, space) };
            gap += before;
            if !cell.is_empty() {
                let tone = if has_header && number == 0 { Tone::Dim } else { tone(headers[at]) };
                line += &" ".repeat(std::mem::take(&mut gap));
                line += &output::paint(tone, &cell);
            }
            gap += after + 2;
        }
        line
    })
}

/// Colors the bar of a line.
fn with_colored_bar(line: &str, bar: &str) -> String {
    let Some(start) = line.find(bar) else { return line.into() };
    let rest = line[start..].trim_start_matches(bar);
    let end = line.len() - rest.len();
    format!("{}{}{rest}", &line[..start], output::paint(Tone::Cost, &line[start..end]))
}

/// Returns the widths of the columns. Columns without space are dropped from the right, and the last column at last.
fn widths<const COLUMNS: usize>(
    columns: [Column; COLUMNS],
    rows: &[[String; COLUMNS]],
    room: Option<usize>,
) -> [usize; COLUMNS] {
    let mut widths = array::from_fn(|at| rows.iter().map(|row| width(&row[at])).max().unwrap_or(0));
    let Some(room) = room else { return widths };
    let may_be_cut = |&at: &usize| columns[at].may_be_cut();
    let mut left_out = (0..COLUMNS).rev().skip(1).chain([COLUMNS - 1]).filter(may_be_cut);
    loop {
        let fitted = MIN_WIDTHS.1.iter().find_map(|&last| fitted(columns, widths, room, last));
        if let Some(fitted) = fitted {
            return fitted;
        }
        let Some(at) = left_out.next() else { return widths };
        widths[at] = 0;
    }
}

/// Shrinks widths to fit: the widest truncatable column first, the last one half as fast and down to `last`.
fn fitted<const COLUMNS: usize>(
    columns: [Column; COLUMNS],
    mut widths: [usize; COLUMNS],
    room: usize,
    last: usize,
) -> Option<[usize; COLUMNS]> {
    let gaps = 2 * widths.iter().filter(|&&columns| columns > 0).count().saturating_sub(1);
    let is_last = |at: usize| at + 1 == COLUMNS;
    for _ in room..widths.iter().sum::<usize>() + gaps {
        let may_be_cut =
            |&at: &usize| columns[at].may_be_cut() && widths[at] > if is_last(at) { last } else { MIN_WIDTHS.0 };
        let widest = (0..COLUMNS).filter(may_be_cut).max_by_key(|&at| widths[at] * if is_last(at) { 1 } else { 2 })?;
        widths[widest] -= 1;
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::{ASCII, UNICODE};

    /// Returns columns without headers.
    fn columns() -> [(&'static str, Column); 5] {
        parsed("age> id label directory/ title~100").map(|(_, column)| ("", column))
    }

    fn rows() -> [[String; 5]; 2] {
        let deep = "~/work/clients/acme-corporation/backend/services/token-refresher";
        let (long, short) = ("Why do all tokens expire twice? ".repeat(9), "Fix it");
        [["2d", "0199f2c1", "", deep, &long], ["12mo", "01a", "", "~/a", short]].map(|row| row.map(String::from))
    }

    fn fitted(room: Option<usize>) -> Vec<String> {
        lines(columns(), &rows(), room, &UNICODE).collect()
    }

    #[test]
    fn lines_fit_the_terminal() {
        for room in [60, 80, 100, 160] {
            let lines = fitted(Some(room));
            assert!(lines.iter().all(|line| width(line) <= room), "{room}: {lines:?}");
            assert!(lines[0].starts_with("  2d  0199f2c1  …") && lines[0].contains("refresher  Why"), "{lines:?}");
            assert!(lines[0].ends_with('…') && lines[1].starts_with("12mo  01a       ~/a "), "{lines:?}");
            let words = |line: &str, start| line.find(start).map(|at| width(&line[..at]));
            assert_eq!(words(&lines[0], "Why"), words(&lines[1], "Fix"));
        }
        assert_eq!(fitted(Some(5)), ["  2d  0199f2c1", "12mo  01a"], "what is whole stays so");
        let wide = fitted(Some(1000));
        assert_eq!(width(&wide[0]), 4 + 2 + 8 + 2 + width(&rows()[0][3]) + 2 + 9 * 32 - 1, "all have what they need");
        let named: Vec<String> =
            lines(parsed("age> id label directory/ title~100"), &rows(), Some(80), &UNICODE).collect();
        assert!(named[0].starts_with(" age  id        directory ") && named[0].ends_with("  title"), "{named:?}");
        assert_eq!((named.len(), &named[1..]), (3, &fitted(Some(80))[..]), "no header of an empty column");
        let ascii: Vec<String> = lines(columns(), &rows(), Some(80), &ASCII).collect();
        assert!(ascii[0].is_ascii() && ascii[0].ends_with("..."), "{ascii:?}");
    }

    #[test]
    fn what_has_no_room_is_left_out() {
        let id = "0199f2c1-aaaa-7000-8000-000000000001";
        let wide = rows().map(|mut row| {
            row[1] = id.into();
            row
        });
        for room in 42..100 {
            let lines: Vec<String> = lines(columns(), &wide, Some(room), &UNICODE).collect();
            assert!(lines.iter().all(|line| width(line) <= room && line.contains(id)), "{room}: {lines:?}");
            assert_eq!(lines[0].contains("  Why"), room >= 4 + 2 + 36 + 2 + 8, "{room}: {lines:?}");
            assert_eq!(lines[0].contains("  …"), room >= 4 + 2 + 36 + 2 + 8 + 2 + 8, "{room}: {lines:?}");
        }
    }

    #[test]
    fn a_pipe_gets_paths_whole() {
        let lines = fitted(None);
        assert!(
            lines[0].contains("  ~/work/clients/acme-corporation/backend/services/token-refresher  Why"),
            "{lines:?}"
        );
        assert_eq!((width(lines[0].split_once("Why").unwrap().1), lines[1].ends_with("  Fix it")), (LAST - 3, true));
        assert_eq!(super::lines(columns(), &[], None, &UNICODE).count(), 0);
    }

    #[test]
    fn a_cell_tells_the_terminal_nothing() {
        let row = ["\u{1b}[31m", "a\tb", "c\nd", "/\u{202e}", "\u{9b}7\r"].map(String::from);
        let line = lines(columns(), &[row], None, &UNICODE).next().unwrap();
        assert!(!line.contains(crate::base::text::is_unsafe), "{line:?}");
    }
}
