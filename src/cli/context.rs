//! `pitree context`: the model context at an entry, message by message, and edits of it.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Context, Error, Result, bail};
use serde::Serialize;

use crate::base::numbers::{count, thousands};
use crate::base::text::clean;
use crate::catalog::context_edits::{
    EditPlan, EditWish, PlannedEdit, WantedEdit, first_of_turns, is_editable, plan_edits,
};
use crate::catalog::context_suggestions::{KEPT_LINES, suggestions};
use crate::changes::Request;
use crate::cli::change::{ChangePrinter, ConfirmedArgs};
use crate::cli::output::{PathFields, object};
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::disk::{locate, prompt};
use crate::pi::running;
use crate::pi::version::obeys_context_edits;
use crate::runtime::raw_output;
use crate::runtime::secret_rules::ChosenRules;
use crate::search::qualifier::value::bound::Bound;
use crate::session::entry::EntryId;
use crate::session::prompt::listing::{Listing, row};
use crate::session::prompt::message::{SentCall, SentMessage, from, role};
use crate::session::prompt::plan::{Plan, PlannedPart};
use crate::session::tree::{EntryIndex, Tree};

/// Show the model context at an entry, or edit it
///
/// Lists the messages that pi sends. The tokens of each message are pi's estimate: one token per four characters. The
/// total is computed as in pi: the usage reported by the last answer, plus an estimate for later messages.
///
/// With --omit, --shorten, --keep-last or --suggest, plans edits that pi obeys: nothing is deleted, and `pitree undo`
/// restores the contents. A call and its result are omitted together.
#[derive(Debug, clap::Args)]
pub(super) struct ContextCommand {
    /// Session path, id, unique id prefix, or name; `.` is the newest session of this project, or pi's own session if pi runs the command; SESSION@ENTRY names the entry as well
    #[arg(add = completions::sessions())]
    session: OsString,
    /// Entry id, unique id prefix, or label; defaults to the leaf
    #[arg(add = completions::entries())]
    entry: Option<String>,
    /// Include messages that are not sent, with the reason
    #[arg(long, conflicts_with_all = ["omit", "shorten", "keep_last", "suggest"])]
    all: bool,
    /// Omit these messages: ids, unique id prefixes, or labels
    #[arg(long, value_name = "ENTRY", num_args = 1.., add = completions::entries())]
    omit: Vec<String>,
    /// Keep the first and last lines of results: of an entry, or of a tool above a size (`bash>10kB`)
    #[arg(long, value_name = "SPEC")]
    shorten: Vec<String>,
    /// Omit everything before the last N turns
    #[arg(long, value_name = "N")]
    keep_last: Option<NonZeroUsize>,
    /// Edit what is suggested: results read again later, large old outputs, failed attempts, old images, likely secrets
    #[arg(long)]
    suggest: bool,
    /// Write the edits to a fork (default)
    #[arg(long, conflicts_with = "here")]
    fork: bool,
    /// Append the edits to the session
    #[arg(long)]
    here: bool,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

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
    #[serde(skip_serializing_if = "Option::is_none")]
    images: Option<NonZeroUsize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<&'static str>,
}

impl ContextCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let place = context.place(&self.session, self.entry.as_deref())?;
        let tree = context.tree(&place.path)?;
        let at = place.entry_in(&tree)?.or(tree.leaf);
        if self.is_edit() {
            return self.edit(&tree, at.context("the context is empty: no messages")?, &place.path, context);
        }
        if self.fork || self.here {
            bail!("name what to edit: --omit, --shorten, --keep-last or --suggest");
        }
        let plan = Plan::new(&tree, at);
        let printed = match self.confirmed.args.json {
            true => self.print_json(&tree, &plan, &place.path),
            false => self.print(&tree, &plan, &place.path, context),
        };
        printed.map(|()| Exit::Done)
    }

    fn print_json(&self, tree: &Tree, plan: &Plan, path: &Path) -> Result<()> {
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
        output::json(&object! {
            model: context.model.as_ref().map(|(provider, model_id)| object! { provider, model_id }),
            thinking_level: &context.thinking_level,
            tokens: output::number(sum.tokens(plan)),
            tools: sum.tools().collect::<Vec<_>>(),
        })
    }

    fn print(&self, tree: &Tree, plan: &Plan, path: &Path, context: &CommandContext) -> Result<()> {
        let (mut rows, mut listing) = (Vec::new(), Listing::default());
        let sum = prompt::each(path, (tree, plan), |part, messages| {
            let why = part.why().map(|why| why.text().to_string()).unwrap_or_default();
            let node = &tree[part.at];
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
        context.table("tokens> role left-out~40 text~100", rows, "")?;
        if listing.messages == 0 {
            output::note("the context is empty: no messages");
        }
        output::line(clean(&listing.summary(&context.config.glyphs().dot)))
    }

    fn is_edit(&self) -> bool {
        !self.omit.is_empty() || !self.shorten.is_empty() || self.keep_last.is_some() || self.suggest
    }

    fn edit(&self, tree: &Tree, at: EntryIndex, path: &Path, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.confirmed.args)?;
        if self.here {
            refuse_open(path)?;
        }
        let plan = plan_edits(path, tree, at, &self.wanted(tree, at, path, context)?)?;
        if plan.edits.is_empty() {
            return output::nothing("nothing to edit");
        }
        let is_json = self.confirmed.args.json;
        if !is_json {
            print_plan(&plan, tree, context)?;
        }
        warn_of_old_pi(context);
        let place = if self.here { "in this session" } else { "in a fork" };
        if !self.confirmed.yes && !self.confirmed.args.dry_run {
            let question = format!("Write {} {place}?", count(plan.edits.len(), "edit", "edits"));
            if !output::can_ask() {
                return output::nothing("not confirmed: use --yes without a terminal; nothing was written");
            }
            if !output::is_yes(&question)? {
                return output::nothing("nothing was written");
            }
        }
        let done = changer.make(&Request::EditContext {
            path: path.to_path_buf(),
            at: EntryId::of(tree, at),
            edits: plan.new_edits(tree),
            in_fork: !self.here,
        })?;
        let made = done.made.clone().unwrap_or_else(|| path.to_path_buf());
        if is_json {
            for edit in &plan.edits {
                let [tokens_before, tokens_after] = edit.tokens;
                let entry_id = tree.id(edit.at);
                output::json(&object! { entry_id, edit: edit.kind.name(), tokens_before, tokens_after })?;
            }
            let [tokens_before, tokens_after] = plan.tokens.map(output::number);
            let path = PathFields::from(&*made);
            output::json(&object! { #[serde(flatten)] path, tokens_before, tokens_after })?;
            output::flush()?;
        } else if !self.confirmed.args.dry_run {
            changer.print_result_as_note(&done);
            raw_output::print(made.as_os_str()).with_context(|| changer.unprinted(&done))?;
        }
        Ok(Exit::Done)
    }

    /// Returns the edits that the options name.
    fn wanted(&self, tree: &Tree, at: EntryIndex, path: &Path, context: &CommandContext) -> Result<Vec<WantedEdit>> {
        let sent: Vec<EntryIndex> = Plan::new(tree, Some(at)).sent().map(|part| part.at).collect();
        let mut wanted = Vec::new();
        if self.suggest {
            let rules = ChosenRules::new(&context.config.redact)?;
            wanted = suggestions(path, tree, at, &rules)?;
        }
        if let Some(turns) = self.keep_last {
            let before = sent[..first_of_turns(tree, &sent, turns.get())].iter().copied();
            let messages = before.filter(|&at| is_editable(tree.node(at).kind));
            wanted.extend(messages.map(|at| WantedEdit { at, wish: EditWish::Omit }));
        }
        for spec in &self.shorten {
            let wish = || EditWish::Shorten(KEPT_LINES);
            match spec.find('>').map(|sign| spec.split_at(sign)) {
                Some((tool, size)) => {
                    let size = Bound::read(size).map_err(Error::msg)?;
                    let size = size.with_context(|| format!("{spec} lacks a size, such as 10kB"))?;
                    let is_large = |at: &EntryIndex| {
                        let node = tree.node(*at);
                        size.holds(node.len as f64) && node.called.as_ref().is_some_and(|called| *called.name == *tool)
                    };
                    wanted.extend(sent.iter().copied().filter(is_large).map(|at| WantedEdit { at, wish: wish() }));
                }
                None => wanted.push(WantedEdit { at: resolve::entry(spec, tree)?, wish: wish() }),
            }
        }
        for id in &self.omit {
            wanted.push(WantedEdit { at: resolve::entry(id, tree)?, wish: EditWish::Omit });
        }
        Ok(wanted)
    }
}

/// Refuses to edit a session that a pi has open, because that pi would not see the edits.
fn refuse_open(path: &Path) -> Result<()> {
    if running::pi_with(&running::reported(locate::state_dir().as_deref()), path).is_some() {
        bail!("a pi has {} open and would not see the edits; omit --here to edit a fork", path.display());
    }
    Ok(())
}

/// Warns if the installed pi ignores context edits.
pub(super) fn warn_of_old_pi(context: &CommandContext) {
    if let Err(reason) = obeys_context_edits(&context.config.pi, locate::state_dir().as_deref()) {
        output::note(&format!("{reason}: it may ignore the edits"));
    }
}

fn print_plan(plan: &EditPlan, tree: &Tree, context: &CommandContext) -> Result<()> {
    let row = |edit: &PlannedEdit| {
        let node = &tree[edit.at];
        let [before, after] = edit.tokens.map(|tokens| thousands(tokens as usize));
        [
            edit.kind.name().to_owned(),
            node.id.as_deref().unwrap_or_default().to_owned(),
            before,
            after,
            node.words().to_owned(),
        ]
    };
    context.table(
        "edit entry before> after> text~100",
        plan.edits.iter().map(row).collect::<Vec<[String; 5]>>(),
        "",
    )?;
    let [before, after] = plan.tokens.map(|tokens| thousands(tokens as usize));
    let saved = thousands(plan.saved() as usize);
    output::line(format!("saves {saved} tokens: {before} now, ~{after} then"))
}

/// Returns the JSON form of a message, or of an omitted one that was not read, with its row as text.
fn line<'a>(tree: &'a Tree, part: &PlannedPart, message: Option<&'a SentMessage>) -> MessageLine<'a> {
    let node = &tree[part.at];
    MessageLine {
        entry_id: node.id.as_deref(),
        role: message.map_or(role(node.kind), |message| message.role).name(),
        from: message.map_or(from(node.kind), |message| message.from).name(),
        text: message.map_or(&node.text, |message| &message.text),
        tokens: message.map(|message| message.tokens),
        tool_calls: message.map_or(&[], |message| &message.calls),
        tool_call_id: message.and_then(|message| message.answers.as_deref()),
        images: message.and_then(|message| NonZeroUsize::new(message.images)),
        left_out: part.why().map(|why| why.text()),
    }
}
