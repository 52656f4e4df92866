//! `pitree context`: prints the model context at an entry, message by message.

use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::base::numbers::thousands;
use crate::base::text::clean;
use crate::cli::output::object;
use crate::cli::table::{self, Column, LAST};
use crate::cli::{CommandContext, Exit, completions, output};
use crate::disk::prompt;
use crate::session::prompt::listing::{Listing, row};
use crate::session::prompt::message::{SentCall, SentMessage, from, role};
use crate::session::prompt::plan::{Plan, PlannedPart};
use crate::session::tree::Tree;

/// Show the model context at an entry
///
/// Lists the messages that pi sends. The tokens of each message are pi's estimate: one token per four characters. The
/// total is computed as in pi: the usage reported by the last answer, plus an estimate for later messages.
#[derive(Debug, clap::Args)]
pub(super) struct ContextCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Entry id, unique id prefix, or label; defaults to the leaf
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// Include messages that are not sent, with the reason
    #[arg(long)]
    all: bool,
    /// Print full messages as JSON Lines; the last line is a summary
    #[arg(long)]
    json: bool,
}

/// Tokens, role, reason of omission, and the beginning of the text.
const COLUMNS: [Column; 4] = [Column::Number, Column::Whole, Column::Words(table::TITLE), Column::Words(LAST)];

/// The JSON form of a message.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageLine<'a> {
    entry_id: Option<&'a str>,
    role: &'static str,
    from: &'static str,
    text: &'a str,
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tool_calls: &'a [SentCall],
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "is_none")]
    images: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'static str>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

impl ContextCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let place = context.place(&self.session, self.entry.as_deref())?;
        let tree = context.tree(&place.path)?;
        let plan = Plan::new(&tree, place.entry_in(&tree)?.or(tree.leaf));
        let parts = (&tree, &plan);
        match self.json {
            true => self.json(parts, &place.path)?,
            false => self.text(parts, (context, &place.path))?,
        }
        Ok(Exit::Done)
    }

    fn json(&self, (tree, plan): (&Tree, &Plan), path: &Path) -> Result<()> {
        let take = |part: &PlannedPart, messages: Vec<SentMessage>| {
            if self.all || part.why().is_none() {
                if messages.is_empty() {
                    output::json(&line(tree, part, None))?;
                }
                messages.iter().try_for_each(|message| output::json(&line(tree, part, Some(message))))?;
            }
            Ok(true)
        };
        let sum = prompt::each(path, (tree, plan), take)?.unwrap_or_default();
        let context = &plan.context;
        let summary = object! {
            model: context.model.as_ref().map(|(provider, model_id)| object! { provider, model_id }),
            thinking_level: &context.thinking_level,
            tokens: output::number(sum.tokens(plan)),
            tools: sum.tools().collect::<Vec<_>>(),
        };
        output::json(&summary)
    }

    fn text(&self, (tree, plan): (&Tree, &Plan), (context, path): (&CommandContext, &Path)) -> Result<()> {
        let (mut rows, mut listing) = (Vec::new(), Listing::default());
        let sum = prompt::each(path, (tree, plan), |part, messages| {
            let why = part.why().map(|why| why.text().to_string()).unwrap_or_default();
            let node = &tree.nodes[part.at as usize];
            if self.all && messages.is_empty() {
                rows.push([String::new(), role(node.kind).name().into(), why.clone(), node.text.to_string()]);
            }
            for message in messages.iter().filter(|_| self.all || why.is_empty()) {
                let text = row(message, node);
                rows.push([thousands(message.tokens as usize), message.role.name().into(), why.clone(), text]);
            }
            listing.count(part, &messages);
            Ok(true)
        })?;
        listing.end(plan, &sum.unwrap_or_default());
        context.table(COLUMNS, rows, "")?;
        if listing.messages == 0 {
            output::note("the context is empty: no messages");
        }
        output::line(clean(&listing.summary(&context.config.signs().dot)))
    }
}

/// Returns the JSON form of a message, or of an omitted one that was not read, with its row as text.
fn line<'a>(tree: &'a Tree, part: &PlannedPart, message: Option<&'a SentMessage>) -> MessageLine<'a> {
    let node = &tree.nodes[part.at as usize];
    MessageLine {
        entry_id: node.id.as_deref(),
        role: message.map_or(role(node.kind), |message| message.role).name(),
        from: message.map_or(from(node.kind), |message| message.from).name(),
        text: message.map_or(&node.text, |message| &message.text),
        tokens: message.map(|message| message.tokens),
        tool_calls: message.map_or(&[], |message| &message.calls),
        tool_call_id: message.and_then(|message| message.answers.as_deref()),
        images: message.map_or(0, |message| message.images),
        left_out: part.why().map(|why| why.text()),
    }
}
