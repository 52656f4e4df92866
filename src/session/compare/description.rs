//! Descriptions of a comparison: facts of both sides, and file uses. The browser and the command line
//! share them. Names from files are raw; the caller escapes them.

use crate::base::numbers::{count, dollars, duration, thousands, tokens};
use crate::session::compare::{Comparison, Failures, SideSummary, ToolUse};
use crate::session::digest::touched_files::FileUses;

/// The names of the sides.
pub const SIDES: [&str; 2] = ["A", "B"];

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
    let of_files = |side: &SideSummary| {
        let changed = side.files.values().filter(|uses| uses.changes() > 0).count();
        format!("{} touched, {} changed", thousands(side.files.len()), thousands(changed))
    };
    facts.push(("files", sides.map(of_files)));
    let edits = sides.map(|side| side.edits.text("replaced"));
    if edits.iter().any(Option::is_some) {
        facts.push(("context edits", edits.map(|edits| edits.unwrap_or("none".into()))));
    }
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

/// Returns the uses of a file by both sides.
pub fn uses_of_both([a, b]: [&FileUses; 2]) -> String {
    format!("A: {}; B: {}", uses(a), uses(b))
}

/// Returns the uses of a file, such as `read 2, edited 1`.
pub fn uses(uses: &FileUses) -> String {
    let parts = [(uses.reads, "read"), (uses.writes, "wrote"), (uses.edits, "edited")];
    joined(parts.map(|(n, what)| (n > 0).then(|| format!("{what} {}", thousands(n)))), "")
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
}
