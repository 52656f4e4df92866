//! Repair of damaged sessions: a box with their problems.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::command::Command;
use crate::app::flows::{Choice, Flow, cancel, delete, hidden_note, marked_or_selected};
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::catalog::SessionKey;
use crate::catalog::doctor::known_of;
use crate::changes::change::RewritePurpose;
use crate::changes::repair::RepairWriter;
use crate::changes::{ExpectedSession, Request, SharedRewriter};
use crate::render::DocLine;
use crate::session::problem::Problem;
use crate::session::write::repair::KnownHeader;

/// The maximum number of listed problems.
const LISTED: usize = 8;

/// Asks whether to repair the damaged ones of the marked sessions, or else the selected session.
///
/// # Errors
/// No session is selected, or none has a problem that pitree can repair.
pub fn ask(model: &Model) -> Flow {
    let catalog = &model.catalog;
    let mut sessions: Vec<SessionKey> = marked_or_selected(model)?;
    sessions.retain(|&key| {
        let problems = catalog.get(key).filter(|session| !session.header.is_newer()).map(|session| &session.problems);
        problems.is_some_and(|problems| problems.iter().any(Problem::is_damage))
    });
    if sessions.is_empty() {
        return Err("no problem known; `pitree doctor` checks each line");
    }
    let mut lines: Vec<DocLine> = hidden_note(model).map(|hidden| DocLine::warning(&hidden)).into_iter().collect();
    let before = lines.len();
    for (&key, problem) in sessions.iter().flat_map(|key| catalog[*key].problems.iter().map(move |one| (key, one))) {
        let title = if sessions.len() > 1 { format!("{}: ", catalog[key].title()) } else { String::new() };
        lines.push(DocLine::warning(&model.short(&format!("{title}{problem}"))));
    }
    let more = (lines.len() - before).saturating_sub(LISTED);
    lines.truncate(before + LISTED);
    if more > 0 {
        lines.push(DocLine::dim(&format!("and {more} more")));
    }
    let note = "The repaired file replaces the original, which goes to the trash. Bytes without a place go to a file next to it.";
    lines.push(DocLine::dim(note));
    lines.extend(delete::running_pi_signs(model, &sessions, None));
    let files = count(sessions.len(), "session", "sessions");
    let repair = Command::ChangeFiles(request(model, &sessions));
    let choices = vec![Choice::new('r', "Repair", files, repair), cancel()];
    Ok(Command::ask_about_files("Repair?", lines, choices))
}

fn request(model: &Model, keys: &[SessionKey]) -> Request {
    let (mut sessions, mut known) = (Vec::new(), HashMap::<PathBuf, KnownHeader>::new());
    for &key in keys {
        let session = &model.catalog[key];
        let facts = known_of(session);
        // The change replaces the target of a link.
        known.insert(session.path.clone(), facts.clone());
        known.insert(session.real_path().clone(), facts);
        sessions.push(ExpectedSession::of(&session.facts()));
    }
    let by = SharedRewriter(Arc::new(RepairWriter { known }));
    Request::Rewrite { purpose: RewritePurpose::Repair, sessions, by }
}
