//! `pitree labels`: every label in every session.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use crate::base::text::{UNICODE, clean};
use crate::base::time;
use crate::cli::output::PathFields;
use crate::cli::{Chosen, output, resolve};
use crate::disk::scan;
use crate::session::digest::{Digest, Label};
use crate::session::entry::EntryId;

/// The widest that a label or a title gets in the table.
const COLUMN: usize = 40;

/// List the labels of all sessions, those set last first
#[derive(Debug, clap::Args)]
pub(super) struct Labels {
    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

/// A label as a script sees it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LabelLine {
    label: String,
    #[serde(flatten)]
    path: PathFields,
    /// Of the session.
    id: String,
    title: String,
    entry_id: Option<String>,
    text: String,
    active: bool,
    labelled: Option<String>,
    #[serde(skip)]
    time: Option<i64>,
}

impl Labels {
    pub(super) fn run(&self, chosen: &Chosen) -> Result<ExitCode> {
        let found = scan::find(chosen.files, &chosen.located.dirs);
        let (mut sessions, mut unreadable) = (Vec::new(), found.unreadable);
        scan::read(chosen.files, &found.files, &chosen.home, |batch| {
            sessions.extend(batch.sessions.into_iter().filter(|session| !session.labels.is_empty()));
            unreadable.extend(batch.unreadable);
            true
        });
        let mut lines = Vec::new();
        for session in &sessions {
            lines.extend(labels(session)?);
        }
        lines.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| (&a.path, &a.entry_id).cmp(&(&b.path, &b.entry_id))));
        let mut out = output::stdout();
        if self.json {
            lines.iter().try_for_each(|line| output::json(&mut out, line))?;
        } else {
            let now = crate::cli::now();
            let row = |line: LabelLine| {
                let age = line.time.map_or("?".into(), |then| time::age(now, then));
                let cut = |text: &str| UNICODE.cut(&clean(text), COLUMN).into_owned();
                [age, cut(&line.label), line.entry_id.unwrap_or_default(), cut(&line.title), line.text]
            };
            output::table(&mut out, &lines.into_iter().map(row).collect::<Vec<_>>(), 1)?;
        }
        out.flush()?;
        Ok(output::end(unreadable))
    }
}

fn labels(session: &Digest) -> Result<Vec<LabelLine>> {
    let path = PathFields::from(&*resolve::absolute(&session.path)?);
    let line = |label: &Label| LabelLine {
        label: label.text.to_string(),
        path: path.clone(),
        id: session.header.id.clone(),
        title: session.title().to_string(),
        entry_id: match &label.entry {
            EntryId::Id(id) => Some(id.to_string()),
            EntryId::Place(_) => None,
        },
        text: label.row.to_string(),
        active: session.is_active(label.at),
        labelled: label.time.and_then(time::iso),
        time: label.time,
    };
    Ok(session.labels.iter().map(line).collect())
}
