//! `pitree labels`: lists all labels.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::base::javascript::utf16_prefix;
use crate::base::time;
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::cli::output::{Output, PathFields};
use crate::cli::project::ProjectArg;
use crate::cli::table::{self, Column, LAST, TITLE};
use crate::cli::{CommandContext, output, resolve};
use crate::session::digest::{Digest, DigestLabel, SharedDigest};
use crate::session::entry::EntryId;

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

/// The JSON form of a label.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LabelRow {
    label: String,
    #[serde(flatten)]
    path: PathFields,
    /// The session id.
    id: String,
    title: String,
    entry_id: Option<String>,
    text: String,
    active: bool,
    labelled: Option<String>,
    /// The number of other sessions that have the same entry with the same label.
    forks: usize,
    #[serde(skip)]
    time: Option<i64>,
}

impl LabelsCommand {
    pub(super) fn run(&self, chosen: &CommandContext, out: &mut Output) -> Result<ExitCode> {
        let mut scan = chosen.sources().scan();
        let (mut sessions, mut ids) = (Vec::new(), Vec::new());
        let is_in_project = self.project.matcher(chosen);
        let is_wanted = |session: &SharedDigest| !session.labels.is_empty() && is_in_project(&session.header.cwd);
        let unreadable = crate::cli::read(&mut scan, |batch| {
            ids.extend(batch.iter().map(|session| session.header.id.clone()));
            sessions.extend(batch.into_iter().filter(is_wanted));
        });
        let _ = scan.keep(); // a failure only costs time
        let ids = resolve::shortest(ids.iter().map(String::as_str));
        sessions.sort_by(|a, b| a.age().cmp(&b.age()));
        let all = sessions.iter().enumerate().flat_map(|(number, session)| {
            session.labels.iter().map(move |label| (session.label_key(label), number, label))
        });
        let mut lines = cost_sharing::once(all)
            .into_iter()
            .map(|listed| LabelRow::new(&sessions[listed.session], &listed))
            .collect::<Result<Vec<_>>>()?;
        lines.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| (&a.path, &a.entry_id).cmp(&(&b.path, &b.entry_id))));
        if self.json {
            lines.iter().try_for_each(|line| output::json(out, line))?;
        } else {
            let now = crate::cli::now();
            let row = |line: LabelRow| {
                let age = line.time.map_or("?".into(), |then| time::age(now, then));
                let (id, forks) = (
                    utf16_prefix(&line.id, ids).to_string(),
                    cost_sharing::in_forks(line.forks).trim_start().to_string(),
                );
                [age, line.label, id, line.title, forks, line.text]
            };
            let rows: Vec<_> = lines.into_iter().map(row).collect();
            if rows.is_empty() {
                output::tell("no session has a label");
            }
            table::print(out, COLUMNS, &rows, chosen.config.signs())?;
        }
        Ok(output::end(out, unreadable)?.into())
    }
}

impl LabelRow {
    fn new(session: &Digest, listed: &ListedItem<usize, &DigestLabel>) -> Result<Self> {
        let label = listed.what;
        Ok(Self {
            label: label.text.to_string(),
            path: PathFields::from(&*resolve::absolute(&session.path)?),
            id: session.header.id.clone(),
            title: session.title().to_string(),
            entry_id: match &label.entry {
                EntryId::Id(id) => Some(id.to_string()),
                EntryId::Place(_) => None,
            },
            text: label.row.to_string(),
            active: session.is_active(label.at),
            labelled: label.time.and_then(time::iso),
            forks: listed.forks,
            time: label.time,
        })
    }
}
