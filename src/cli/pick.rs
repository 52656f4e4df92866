//! `pitree pick`: a fork with the messages of another branch.

use std::ffi::OsString;

use anyhow::{Context, Result};

use crate::base::numbers::count;
use crate::catalog::pick::plan_pick;
use crate::changes::Request;
use crate::cli::change::{ChangeArgs, ChangePrinter};
use crate::cli::{CommandContext, Exit, completions, output, resolve};
use crate::session::compare::BranchPath;
use crate::session::entry::EntryId;
use crate::session::tree::{EntryIndex, Tree};

/// Copy messages of another branch to a fork and print the new path
///
/// Copies the messages that A lacks, in order and with new ids. Calls come with their results, and edits of the copied
/// contents are copied too. Settings, names, labels and summaries of compactions are not. No model is asked, and the
/// copies cost nothing.
#[derive(Debug, clap::Args)]
pub(super) struct PickCommand {
    /// Session to fork: SESSION, or SESSION@ENTRY to fork at an entry
    #[arg(add = completions::sessions())]
    a: OsString,
    /// Branch to copy from: SESSION, SESSION@ENTRY for one message, or SESSION@FROM..TO; without FROM from the start, without TO to the leaf
    #[arg(add = completions::sessions())]
    b: OsString,
    #[command(flatten)]
    args: ChangeArgs,
}

impl PickCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = ChangePrinter::new(context, &self.args)?;
        let onto = context.place(&self.a, None)?;
        let tree = context.tree(&onto.path)?;
        let end = onto.entry_in(&tree)?.or(tree.leaf).context("the session has no entries to append to")?;
        let source = context.place(&self.b, None)?;
        let others = context.tree(&source.path)?;
        let range = source.entry.as_deref().map_or(Ok([None; 2]), |word| range(word, &others))?;
        let plan = plan_pick(BranchPath { tree: &tree, end }, &others, range)?;
        for (at, reason) in &plan.skipped {
            output::note(&format!("skipped {}: {reason}", others.id(*at).unwrap_or_default()));
        }
        let done = changer.make(&Request::Pick {
            path: onto.path,
            at: EntryId::of(&tree, end),
            from: source.path,
            entries: plan.entries.iter().map(|&at| EntryId::of(&others, at)).collect(),
        })?;
        let copied = if self.args.dry_run { "would copy" } else { "copied" };
        output::note(&format!("{copied} {}", count(plan.messages, "message", "messages")));
        changer.print_made(&done)
    }
}

/// Returns the ends of a range: `FROM..TO`, or one entry.
fn range(word: &str, tree: &Tree) -> Result<[Option<EntryIndex>; 2]> {
    let (whole, range) = (resolve::entry(word, tree), word.split_once(".."));
    let (Err(_), Some((from, to))) = (&whole, range) else { return whole.map(|at| [Some(at); 2]) };
    let end = |word: &str| (!word.is_empty()).then(|| resolve::entry(word, tree)).transpose();
    Ok([end(from)?, end(to)?])
}
