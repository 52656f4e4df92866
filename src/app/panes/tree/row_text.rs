//! Text of an entry's row. In the browser: words first, Markdown syntax removed, paths relative to the session's working
//! directory. `pitree tree` prints rows as pi does. Also the facts about runs, turns and folds.

use std::borrow::Cow;

use crate::app::settings::Settings;
use crate::base::numbers::{count, nonzero_dollars};
use crate::base::paths::relative_to;
use crate::base::text::{Glyphs, Span, Tone, spans_width};
use crate::base::time;
use crate::render::markdown;
use crate::session::activity::Activity;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::CallDescription;
use crate::session::tree::node::{EntryOutcome, Node};
use crate::session::tree::{EntryIndex, SubtreeStats, Tree};

/// The minimum width of a shortened path.
const PATH: usize = 12;

/// Returns the row of an entry for about `room` columns, without likely secrets. Paths are shortened in the middle.
pub fn entry(tree: &Tree, at: EntryIndex, settings: &Settings, room: usize) -> Vec<Span> {
    let mut spans = marks(tree, at, &settings.glyphs);
    let room = room.saturating_sub(spans_width(&spans));
    spans.extend(content(tree, at, settings, room));
    spans
}

/// Returns the row of an entry without the marks before it.
pub(crate) fn content(tree: &Tree, at: EntryIndex, settings: &Settings, room: usize) -> Vec<Span> {
    let (node, cwd) = (&tree.nodes[at as usize], &tree.header.cwd);
    let Settings { home, glyphs, .. } = settings;
    let mut spans = Vec::new();
    // No message text reports the failure.
    match node.outcome {
        EntryOutcome::Failed if matches!(node.kind, EntryKind::ToolResult | EntryKind::Bash) => {
            spans.push(Span::new(Tone::Error, "failed "));
        }
        EntryOutcome::NotRun => spans.push(Span::new(Tone::Warning, "not run ")),
        _ => {}
    }
    let room = room.saturating_sub(spans_width(&spans));
    let text: Cow<'_, str> = match (node.kind, &node.called) {
        (EntryKind::User, _) => markdown::strip(node.words()),
        (EntryKind::Assistant | EntryKind::BranchSummary, _) => markdown::strip(&node.text),
        (EntryKind::Bash, _) => without_cd(&node.text, cwd).into(),
        (EntryKind::ToolResult, Some(called)) => call(called, cwd, home, room, glyphs).into(),
        _ => (&*node.text).into(),
    };
    let ([word, _], tone) = kind(node.kind);
    spans.extend([Span::new(tone, word), Span::new(content_tone(node, tone), settings.cell(&text))]);
    spans
}

/// Returns the row of an entry as in pi's `/tree`.
pub fn pi_entry(tree: &Tree, at: EntryIndex, glyphs: &Glyphs) -> Vec<Span> {
    let node = &tree.nodes[at as usize];
    let mut spans = marks(tree, at, glyphs);
    let ([_, word], tone) = kind(node.kind);
    spans.extend([Span::new(tone, word), Span::new(content_tone(node, tone), &*node.text)]);
    spans
}

/// Returns the words for a kind of entry, in the browser and in pi, and their tone.
fn kind(kind: EntryKind) -> ([&'static str; 2], Tone) {
    match kind {
        EntryKind::User => (["user  ", "user: "], Tone::User),
        EntryKind::Assistant => (["asst  ", "assistant: "], Tone::Assistant),
        EntryKind::Bash => (["! ", "[bash]: "], Tone::Tool),
        EntryKind::BranchSummary => (["summary  ", "[branch summary]: "], Tone::Summary),
        EntryKind::Compaction => ([""; 2], Tone::Summary),
        EntryKind::ToolResult => ([""; 2], Tone::Tool),
        EntryKind::SystemRole
        | EntryKind::CustomRole
        | EntryKind::SummaryRole
        | EntryKind::OtherMessage
        | EntryKind::CustomMessage => ([""; 2], Tone::Text),
        _ => ([""; 2], Tone::Meta),
    }
}

/// Returns the prefix of an entry's text: active path mark, damage flag and label.
fn marks(tree: &Tree, at: EntryIndex, glyphs: &Glyphs) -> Vec<Span> {
    let mut spans = Vec::new();
    if tree.is_active(at) {
        spans.push(Span::new(Tone::Active, format!("{} ", glyphs.active)));
    }
    if tree.flagged.contains(&at) {
        spans.push(Span::new(Tone::Warning, format!("{} ", glyphs.warning)));
    }
    if let Some(label) = tree.labels.get(&at) {
        spans.push(Span::clean(Tone::Label, &format!("[{}] ", label.text)));
    }
    spans
}

/// Returns the tone of an entry's content; `word` is the tone of the word for its kind.
fn content_tone(node: &Node, word: Tone) -> Tone {
    match (node.kind, node.outcome) {
        (EntryKind::Assistant, EntryOutcome::Aborted) => Tone::Warning,
        (_, EntryOutcome::Failed) => Tone::Error,
        (EntryKind::User | EntryKind::Assistant | EntryKind::BranchSummary, _) => Tone::Text,
        _ => word,
    }
}

/// Lists the facts about a fold: `37 entries`, `2 branches`, `1 fork`, `$1.20`, `3d`. `below` includes the folded
/// entry.
pub fn hidden(below: SubtreeStats, forks: usize, now: i64) -> Vec<String> {
    let mut facts = vec![count(below.entries as usize - 1, "entry", "entries")];
    facts.extend((below.leaves > 1).then(|| count(below.leaves as usize, "branch", "branches")));
    facts.extend((forks > 0).then(|| count(forks, "fork", "forks")));
    facts.extend(nonzero_dollars(below.cost));
    facts.extend(below.latest.map(|latest| time::age(now, latest)));
    facts
}

/// Formats a tool call: `[read: src/auth.rs:10-40]`.
fn call(called: &CallDescription, cwd: &str, home: &str, room: usize, glyphs: &Glyphs) -> String {
    let CallDescription { name, path, about } = called;
    let path = relative_to(cwd, path, home);
    // Includes the brackets, the colon and the space.
    let least = |rest: usize| room.saturating_sub(name.len() + rest + 4).max(PATH);
    let cut = |rest: usize| glyphs.cut_path(&path, least(rest));
    match &**name {
        "read" => format!("[{name}: {}{about}]", cut(about.len())),
        "write" | "edit" | "ls" => format!("[{name}: {}]", cut(0)),
        "bash" => format!("[{name}: {}]", without_cd(about, cwd)),
        "grep" | "find" if path.is_empty() || path == "." => format!("[{name}: {about}]"),
        "grep" | "find" => format!("[{name}: {about} in {}]", cut((about.len() + 4).min(room / 2))),
        _ if path.is_empty() => format!("[{name}: {about}]"),
        _ => format!("[{name}: {}]", cut(0)),
    }
}

/// Removes a leading `cd` to the working directory from a command.
fn without_cd<'a>(command: &'a str, cwd: &str) -> &'a str {
    let there = || {
        let rest = command.strip_prefix("cd ")?.trim_start();
        let quote = |sign: char| rest.strip_prefix(sign)?.strip_prefix(cwd)?.strip_prefix(sign);
        let rest = quote('"').or_else(|| quote('\'')).or_else(|| rest.strip_prefix(cwd))?;
        let rest = rest.strip_prefix('/').unwrap_or(rest).trim_start();
        Some(rest.strip_prefix("&&").or_else(|| rest.strip_prefix(';'))?.trim_start())
    };
    there().filter(|rest| !cwd.is_empty() && !rest.is_empty()).unwrap_or(command)
}

/// Formats the summary of a run of tool calls: `9 tools · 1 failed  read 4 · bash 2 · edited hooks.ts, hooks.md`.
pub fn run(activity: &Activity, glyphs: &Glyphs) -> Vec<Span> {
    let dot = format!(" {} ", glyphs.dot);
    let mut spans = vec![Span::new(Tone::Tool, count(activity.calls, "tool", "tools"))];
    // Comes first, because the end is cut in narrow panes.
    if activity.failed > 0 {
        spans.push(Span::new(Tone::Error, format!("{dot}{} failed", activity.failed)));
    }
    spans.push(Span::dim(format!("  {}", activity.tool_facts().join(&dot))));
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::UNICODE;

    #[test]
    fn a_command_does_not_go_where_it_is() {
        for (command, expected) in [
            ("cd /home/me/app && npm test", "npm test"),
            ("cd /home/me/app/ && npm test", "npm test"),
            ("cd \"/home/me/app\"; npm test", "npm test"),
            ("cd '/home/me/app' &&npm test", "npm test"),
            ("cd /home/me/app2 && npm test", "cd /home/me/app2 && npm test"),
            ("cd /home/me/app", "cd /home/me/app"),
            ("cd /home/me/app && ", "cd /home/me/app && "),
            ("npm test", "npm test"),
        ] {
            assert_eq!(without_cd(command, "/home/me/app"), expected);
        }
    }

    #[test]
    fn a_long_path_is_cut_in_the_middle() {
        let called = CallDescription {
            name: "read".into(),
            path: "/w/packages/coding-agent/src/core/hooks.ts".into(),
            about: ":1-9".into(),
        };
        assert_eq!(
            call(&called, "/w", "/home/me", 80, &UNICODE),
            "[read: packages/coding-agent/src/core/hooks.ts:1-9]"
        );
        let text = call(&called, "/w", "/home/me", 40, &UNICODE);
        assert!(
            text.starts_with("[read: pack") && text.ends_with("core/hooks.ts:1-9]") && text.contains('…'),
            "{text}"
        );
    }
}
