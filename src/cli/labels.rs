//! `pitree labels`: lists all labels.

use std::cmp::Reverse;

use anyhow::Result;

use crate::base::javascript::utf16_prefix;
use crate::base::{sort, time};
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::cli::output::{PathFields, object};
use crate::cli::project::ProjectArg;
use crate::cli::table::{self, Column, LAST, TITLE};
use crate::cli::{CommandContext, Exit, output, resolve};
use crate::session::digest::DigestLabel;

/// List labels, most recent first
#[derive(Debug, clap::Args)]
pub(super) struct LabelsCommand {
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

/// Age, label, session id and title, number of forks, entry.
const COLUMNS: [Column; 6] =
    [Column::Number, Column::Words(TITLE), Column::Whole, Column::Words(TITLE), Column::Whole, Column::Words(LAST)];

impl LabelsCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let mut ids = Vec::new();
        let is_in_project = self.project.matcher(context);
        let (mut sessions, unreadable) = context.read_sessions(context.sources().scan(), |facts| {
            ids.push(facts.id().to_string());
            facts.is_labeled() && is_in_project(facts)
        });
        let ids = resolve::shortest(ids.iter().map(String::as_str));
        sort::by(&mut sessions, |a, b| a.facts().compare_age(&b.facts()));
        let all = sessions.iter().enumerate().flat_map(|(number, session)| {
            session.labels.iter().map(move |label| (session.label_key(label), number, label))
        });
        let entry_id = |label: &DigestLabel| label.entry.id().map(String::from);
        let path = |session: usize| resolve::absolute(&sessions[session].path).map(|path| PathFields::from(&*path));
        let labels = cost_sharing::once(all).into_iter().map(|listed| Ok((path(listed.session)?, listed)));
        let mut labels = labels.collect::<Result<Vec<_>>>()?;
        sort::by_cached_key(&mut labels, |(path, listed)| {
            (Reverse(listed.what.time), path.clone(), entry_id(listed.what))
        });
        if self.json {
            for (path, ListedItem { session, what: label, forks }) in &labels {
                let session = &sessions[*session];
                let line = object! {
                    label: &*label.text,
                    #[serde(flatten)] path,
                    id: &session.header.id,
                    title: session.title(),
                    entry_id: entry_id(label),
                    text: &*label.row,
                    active: session.is_active(label.at),
                    labelled: label.time.and_then(time::iso),
                    forks,
                };
                output::json(&line)?;
            }
        } else {
            let row = |(_, listed): &(PathFields, ListedItem<usize, &DigestLabel>)| {
                let (session, label) = (&sessions[listed.session], listed.what);
                let id = utf16_prefix(&session.header.id, ids).to_string();
                let forks = cost_sharing::in_forks(listed.forks).trim_start().to_string();
                [
                    table::age(label.time),
                    label.text.to_string(),
                    id,
                    session.title().to_string(),
                    forks,
                    label.row.to_string(),
                ]
            };
            context.table(COLUMNS, labels.iter().map(row), "no session has a label")?;
        }
        output::end(unreadable)
    }
}
