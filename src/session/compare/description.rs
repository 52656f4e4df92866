//! Descriptions of a comparison: facts of both sides, file uses, and file differences. The browser and the command line
//! share them. Names from files are raw; the caller escapes them.

use crate::base::numbers::{count, dollars, duration, thousands, tokens};
use crate::session::compare::files::{Difference, FileChange, SeparateChanges};
use crate::session::compare::{Comparison, Failures, SideSummary, ToolUse};
use crate::session::digest::touched_files::FileUses;

/// The names of the sides.
pub const SIDES: [&str; 2] = ["A", "B"];

/// A piece of the description of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DescriptionPart {
    /// A sentence by pitree.
    Words(String),
    /// Lines that begin with `-`, `+` or a space: a unified diff or parts of one.
    Lines(String),
}

/// Returns the facts of both sides: the name of each fact and its text for each side.
pub fn facts(comparison: &Comparison) -> Vec<(&'static str, [String; 2])> {
    let sides = [&comparison.sides[0], &comparison.sides[1]];
    let mut facts = vec![
        ("entries", sides.map(|side| thousands(side.entries))),
        ("messages", sides.map(|side| thousands(side.messages))),
        ("prompts", sides.map(|side| thousands(side.prompt_count))),
        ("cost", sides.map(|side| dollars(side.usage.cost))),
        ("tokens", sides.map(used)),
        ("time", sides.map(|side| side.duration().map_or("-".into(), long))),
        ("errors", sides.map(|side| failures(&side.failures))),
        ("models", sides.map(models)),
    ];
    let of_files = |side: usize| {
        let files = &comparison.files;
        let changed =
            files.only[side].iter().map(|(_, uses)| uses).chain(files.both.iter().map(|both| &both.uses[side]));
        let changed = changed.filter(|uses| uses.changes() > 0).count();
        format!("{} touched, {} changed", thousands(files.only[side].len() + files.both.len()), thousands(changed))
    };
    facts.push(("files", [0, 1].map(of_files)));
    facts
}

/// Returns the token usage, such as `121k: 100k in, 1k out, 20k cached`.
fn used(side: &SideSummary) -> String {
    let usage = side.usage;
    let parts = [(usage.input, "in"), (usage.output, "out"), (usage.cache_read + usage.cache_write, "cached")];
    let parts = joined(parts.map(|(count, what)| (count > 0.0).then(|| format!("{} {what}", tokens(count)))), "");
    format!("{}{}{parts}", tokens(usage.tokens), if parts.is_empty() { "" } else { ": " })
}

/// Joins the parts, or returns `none` if there are none.
fn joined(parts: impl IntoIterator<Item = Option<String>>, none: &str) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { none.into() } else { parts.join(", ") }
}

/// Formats a duration in milliseconds that may be days.
fn long(ms: i64) -> String {
    match ms as f64 / 3_600_000.0 {
        hours if hours < 2.0 => duration(ms as f64),
        hours if hours < 48.0 => format!("{hours:.1} h"),
        hours => format!("{:.0} days", hours / 24.0),
    }
}

/// Returns the failures, such as `none` or `3: 2 tool calls, 1 aborted answer`.
fn failures(failures: &Failures) -> String {
    let parts = [
        (failures.tools, "tool call", "tool calls"),
        (failures.answers, "failed answer", "failed answers"),
        (failures.aborted, "aborted answer", "aborted answers"),
        (failures.not_run, "call not run", "calls not run"),
    ];
    let parts = parts.map(|(n, one, many)| (n > 0).then(|| count(n, one, many)));
    joined(parts, "none")
}

fn models(side: &SideSummary) -> String {
    joined(side.models.iter().map(|(name, uses)| Some(format!("{name} {}", thousands(uses.answers)))), "-")
}

/// Returns the calls of a tool, such as `bash 4, 1 failed`.
pub fn tool(tool: &ToolUse) -> String {
    let failed = if tool.failed > 0 { format!(", {} failed", thousands(tool.failed)) } else { String::new() };
    format!("{} {}{failed}", tool.name, thousands(tool.calls))
}

/// Returns the uses of a file, such as `read 2, edited 1`.
pub fn uses(uses: &FileUses) -> String {
    let parts = [(uses.reads, "read"), (uses.writes, "wrote"), (uses.edits, "edited")];
    joined(parts.map(|(n, what)| (n > 0).then(|| format!("{what} {}", thousands(n)))), "")
}

/// Returns the description of a difference.
pub fn difference(difference: &Difference, uses: &[FileUses; 2]) -> Vec<DescriptionPart> {
    match difference {
        Difference::None => vec![DescriptionPart::Words("identical content on both sides".into())],
        Difference::Unified(diff) => vec![DescriptionPart::Lines(diff.clone())],
        Difference::TooLong([a, b]) => {
            let lines = |lines: &usize| count(*lines, "line", "lines");
            vec![DescriptionPart::Words(format!("too long to compare: {} in A, {} in B", lines(a), lines(b)))]
        }
        Difference::Apart(sides) => (0..2).flat_map(|side| apart(SIDES[side], &sides[side], &uses[side])).collect(),
    }
}

/// Describes the changes of one side if the whole texts cannot be compared.
fn apart(name: &str, apart: &SeparateChanges, uses: &FileUses) -> Vec<DescriptionPart> {
    let times = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("{what} once")),
        count => Some(format!("{what} {} times", thousands(count))),
    };
    let did = joined([times(uses.writes, "written"), times(uses.edits, "edited")], "");
    let known = if apart.is_whole { "full text known" } else { "full text unknown" };
    let words = DescriptionPart::Words(format!("{name}: {did}; {known}"));
    let changes: Vec<String> = apart.changes.iter().map(FileChange::lines).collect();
    vec![words, DescriptionPart::Lines(changes.join("...\n"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_facts() {
        assert_eq!([4_000, 7_199_000, 10_800_000, 400_000_000].map(long), ["4.0 s", "1 h 59 min", "3.0 h", "5 days"]);
        let wrong = Failures { tools: 2, aborted: 1, ..Failures::default() };
        assert_eq!(
            (failures(&wrong).as_str(), &*failures(&Failures::default())),
            ("2 tool calls, 1 aborted answer", "none")
        );
        assert_eq!(uses(&FileUses { reads: 2, edits: 1, ..FileUses::default() }), "read 2, edited 1");
        assert_eq!(tool(&ToolUse { name: "bash".into(), calls: 4, failed: 1 }), "bash 4, 1 failed");
    }

    #[test]
    fn reports_unknown_contents() {
        let edit = FileChange::Edit(vec![("a".into(), "b".into())]);
        let side = |is_whole| SeparateChanges { is_whole, changes: vec![edit.clone(), FileChange::Unknown] };
        let uses = FileUses { edits: 3, ..FileUses::default() };
        let said = difference(&Difference::Apart([side(false), side(true)]), &[uses, uses]);
        let DescriptionPart::Words(words) = &said[0] else { panic!("{said:?}") };
        assert_eq!(words, "A: edited 3 times; full text unknown");
        let DescriptionPart::Lines(lines) = &said[1] else { panic!("{said:?}") };
        assert!(lines.starts_with("-a\n+b\n...\n(unknown change"), "{lines}");
    }
}
