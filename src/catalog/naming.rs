//! Titles of sessions by a program: it gets a digest of the conversation on standard input, and prints a title.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::base::ansi;
use crate::base::numbers::{dollars, thousands};
use crate::base::text::{UNICODE, clean};
use crate::disk::load::{self, EntryReader};
use crate::disk::locate::Environment;
use crate::disk::{files, parallel, program};
use crate::secrets::{Rules, SecretCollector};
use crate::session::activity::Activity;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::CallDescription;
use crate::session::entry::{parse, typed_prompt};
use crate::session::stats::prices::Prices;
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::line::clean_name;

/// The maximum size of a digest of a conversation in bytes.
const MAX_DIGEST: usize = 4096;

/// The maximum size of a prompt or an answer in the digest, in bytes.
const MAX_TEXT: usize = 480;

/// The number of prompts from the start, and of those from the end.
const PROMPTS: usize = 3;

/// The maximum width of a title in columns.
const MAX_TITLE: usize = 80;

/// The time limit for a title.
const LIMIT: Duration = Duration::from_secs(60);

/// The number of programs that run at the same time.
const AT_ONCE: usize = 2;

/// The estimated tokens of a request besides the digest, and those of its answer.
const OTHER_TOKENS: [usize; 2] = [150, 30];

/// The request to pi.
const PROMPT: &str = "The text is a digest of a conversation with a coding agent. Reply with a title for it: at most eight words, in the language of the prompts, without quotes. Reply with the title only.";

/// Returns the command that prints a title: `name_command`, or pi without tools, skills, context files and thinking (0.87.1,
/// 1.5.2, 1.6.0).
pub(crate) fn command(name_command: &[String], pi: &[String]) -> Vec<String> {
    if !name_command.is_empty() {
        return name_command.to_vec();
    }
    let options = ["-p", "--no-session", "--no-tools", "--no-skills", "--no-context-files", "--thinking", "off"];
    let options = options.into_iter().chain(["--system-prompt", PROMPT, PROMPT]);
    pi.iter().cloned().chain(options.map(String::from)).collect()
}

/// Describes what the titles of so many sessions cost with pi's default model, if each digest is as long as it can be.
pub(crate) fn cost_of(sessions: usize, prices: &Prices) -> String {
    let [sent, received] = [MAX_DIGEST / 4 + OTHER_TOKENS[0], OTHER_TOKENS[1]].map(|tokens| tokens * sessions);
    let settings = files::read_regular(&Environment::current().agent().join("settings.json")).unwrap_or_default();
    let settings = serde_json::from_slice::<Value>(&settings).unwrap_or_default();
    let text = |name: &str| settings[name].as_str().unwrap_or_default().to_owned();
    let (provider, model) = (text("defaultProvider"), text("defaultModel"));
    let cost = match prices.of(&provider, &model) {
        Some(price) => {
            let [input, output, ..] = price.rates;
            format!("about {} with {}", dollars((sent as f64 * input + received as f64 * output) / 1e6), clean(&model))
        }
        None if model.is_empty() => "with pi's default model".to_owned(),
        None => format!("with {}, whose price is unknown", clean(&model)),
    };
    format!("pi is asked once per session: about {} tokens in all, {cost}", thousands(sent + received))
}

/// Asks a command for the titles of sessions, two at the same time. `report` gets the number of sessions done. Once the
/// titles are no longer wanted, no more are asked for. Returns the title of each session, or the reason why it has none.
pub(crate) fn titles(
    sessions: &[SharedLazySession],
    command: &[String],
    rules: &Rules,
    is_wanted: &(dyn Fn() -> bool + Sync),
    report: &mut dyn FnMut(usize),
) -> Vec<Result<String, String>> {
    let title = |session: &SharedLazySession| {
        let digest = digest_of(session, rules).map_err(|error| format!("{error:#}"))?;
        let output = program::answer(command, digest.into_bytes(), LIMIT, is_wanted)?;
        title_of(&output).ok_or_else(|| "the command printed nothing".to_owned())
    };
    let mut titles = Vec::new();
    for some in sessions.chunks(AT_ONCE) {
        if !is_wanted() {
            break;
        }
        report(titles.len());
        titles.extend(parallel::map_waiting(some, AT_ONCE, title, || Err("internal error".into())));
    }
    report(titles.len());
    titles
}

/// Returns the title in the output of a command: its first line that is not empty, without quotes around it.
fn title_of(output: &str) -> Option<String> {
    let clean = |line: &str| clean_name(unquoted(&clean(line))).ok();
    let title = ansi::strip(output).lines().filter_map(clean).find(|title| !title.is_empty())?;
    Some(UNICODE.cut(&title, MAX_TITLE).into_owned())
}

/// Returns a line without pairs of quotes or stars around it, and without the sign of a heading.
fn unquoted(line: &str) -> &str {
    let mut line = line.trim().trim_start_matches(['#', ' ']);
    for sign in ["**", "\"", "`"] {
        line = line.strip_prefix(sign).and_then(|line| line.strip_suffix(sign)).unwrap_or(line).trim();
    }
    line
}

/// Returns a digest of a conversation: the directory, prompts, answers in brief, files and commits. Likely secrets are
/// redacted.
///
/// # Errors
/// The session cannot be read.
fn digest_of(session: &Digest, rules: &Rules) -> Result<String> {
    let tree = load::tree(&session.path, "")?;
    let mut reader = EntryReader::open(&session.path)?;
    let branch = tree.leaf.map_or_else(Vec::new, |leaf| tree.path(leaf));
    let of_kind = |kind: EntryKind| -> Vec<EntryIndex> {
        branch.iter().copied().filter(|&at| tree.node(at).kind == kind).collect()
    };
    let (prompts, answers) = (of_kind(EntryKind::User), of_kind(EntryKind::Assistant));
    let answers: Vec<EntryIndex> = answers.into_iter().filter(|&at| !tree.node(at).silent).collect();
    let (first, last) = prompts.split_at(prompts.len().min(PROMPTS));
    let last = &last[last.len().saturating_sub(PROMPTS)..];
    let last_answer = answers.get(1..).and_then(<[_]>::last).map_or(&[][..], std::slice::from_ref);
    let commits = session.commits.iter().map(|commit| commit.title.to_string());
    let name = |called: &Arc<CallDescription>| called.file_name().to_owned();
    let parts = [
        ("Directory", vec![session.header.cwd.clone()]),
        ("First prompts", texts(&tree, first, &mut reader)?),
        ("First answer", texts(&tree, &answers[..answers.len().min(1)], &mut reader)?),
        ("Last prompts", texts(&tree, last, &mut reader)?),
        ("Last answer", texts(&tree, last_answer, &mut reader)?),
        ("Changed files", Activity::of(&tree, branch.iter().copied()).changed.iter().map(name).collect()),
        ("Commits", commits.collect()),
    ];
    let mut secrets = SecretCollector::new(rules);
    parts.iter().flat_map(|(_, texts)| texts).for_each(|text| secrets.collect(text));
    let secrets = secrets.finish();
    let mut out = String::new();
    for (name, texts) in parts.iter().filter(|(_, texts)| !texts.is_empty()) {
        let _ = writeln!(out, "{name}:"); // writing to a string does not fail
        for text in texts {
            let text = secrets.apply(text);
            let _ = writeln!(out, "- {}", start(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_TEXT));
        }
    }
    Ok(start(&out, MAX_DIGEST).to_owned())
}

/// Returns the texts of some entries: of prompts, the typed words.
fn texts(tree: &Tree, entries: &[EntryIndex], reader: &mut EntryReader) -> Result<Vec<String>> {
    let text = |&at: &EntryIndex| {
        let line = reader.known(tree.node(at))?;
        let entry = parse::entry(&line);
        Ok(typed_prompt::typed(&entry).unwrap_or_else(|| entry.text()))
    };
    entries.iter().map(text).collect()
}

/// Returns the start of a text with at most `most` bytes.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_is_the_first_line_that_is_not_empty() {
        assert_eq!(title_of("\n \n\"Fix the \u{1b}[31mcache\"\nmore").as_deref(), Some("Fix the cache"));
        assert_eq!(title_of("** Retire the API **").as_deref(), Some("Retire the API"));
        assert_eq!(title_of("# Port the parser to C#").as_deref(), Some("Port the parser to C#"));
        assert_eq!(title_of("Fix the `foo`").as_deref(), Some("Fix the `foo`"));
        assert_eq!(title_of(&"漢".repeat(100)).map(|title| UNICODE.cut(&title, 80).into_owned() == title), Some(true));
        assert_eq!([title_of(""), title_of(" \n\"\"\n")], [None, None]);
    }
}
