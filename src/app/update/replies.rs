//! Results of background work. Replies to canceled work do not arrive here.

use std::path::PathBuf;
use std::sync::Arc;

use super::{family, file_changes, search};
use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{change, context_view, copy, missing_directory, name, resume};
use crate::app::message::{Changed, Effect, Reply, TextCopy};
use crate::app::model::Model;
use crate::app::panes::preview::PreviewSubject;
use crate::app::ticket::Claim;
use crate::base::text::{Span, Tone};
use crate::catalog::SessionKey;
use crate::changes::history::HistoryEntry;
use crate::config::Sort;
use crate::keymap::Place;
use crate::render::DocLine;
use crate::session::digest::Digest;
use crate::session::entry::EntryId;
use crate::session::prompt::listing::Listing;

/// Handles a reply.
pub(super) fn take(model: &mut Model, ticket: u64, reply: Reply) {
    match reply {
        Reply::FilesFound { total, unreadable, outdated, pis } => {
            model.catalog.unreadable = unreadable;
            model.catalog.mark_uncertain(&outdated);
            model.catalog.progress.total = Some(total);
            model.catalog.set_pis(pis, model.now);
        }
        Reply::Pis(pis) => {
            model.catalog.set_pis(pis, model.now);
            model.preview.is_stale |= matches!(model.preview.subject, PreviewSubject::Session(_));
            if model.sessions.shows.sort == Sort::Live {
                model.sessions.rebuild(&model.catalog, &model.setting.glyphs);
            }
        }
        Reply::Scanned { mut batch, gone, held: _held } => {
            if !model.scan.changed.is_empty() {
                batch.sessions.retain(|session| !model.scan.changed.contains(&session.path));
            }
            model.catalog.progress.done = batch.done;
            model.catalog.unreadable.extend(batch.unreadable);
            model.catalog.gone_dirs.extend(gone);
            if !batch.sessions.is_empty() {
                model.catalog.add(batch.sessions);
                file_changes::rebuild_list(model);
                open_wanted(model);
            }
        }
        Reply::ScanDone => {
            model.scan.claim = None;
            model.catalog.end_reading();
            file_changes::rebuild_list(model);
            file_changes::watch(model);
        }
        Reply::News { news, gone, .. } => {
            file_changes::take(model, news, gone);
            open_wanted(model);
        }
        Reply::Polls(why) => {
            model.say(Tone::Warning, format!("{why}; checking for changes every few seconds"));
        }
        Reply::Opened(tree) => file_changes::show(model, tree),
        Reply::Split(forks, others) => model.tree.set_forks(forks, others),
        Reply::Joined(joined) => {
            if let Some(lost) = &joined.lost {
                model.say(Tone::Warning, format!("not shown: {lost}"));
            }
            file_changes::show_family(model, joined);
            family::fill(model);
        }
        Reply::Read(doc) => model.preview.take(doc),
        Reply::TextsRead(done, total) => search::take_read(model, done, total),
        Reply::Values(values) => search::take_values(model, values),
        Reply::SessionsFound { hits, more, progress } => search::take_hits(model, hits, more, progress),
        Reply::Elsewhere(found) => model.search.iter_mut().for_each(|search| search.elsewhere = Some(found)),
        Reply::Seen(hits, hidden_hits) => model.preview.take_hits(hits, hidden_hits),
        Reply::EntriesFound { hits, first_last, progress } => model.tree.take_hits(hits, first_last, progress),
        Reply::Context(listing) => take_context(model, Ok(listing)),
        Reply::Text(text) => take_text(model, ticket, text),
        Reply::Compared(compared) => {
            model.comparing = None;
            model.layers.comparisons_mut().for_each(|compare| compare.take(compared.clone()));
        }
        Reply::Past(past) => take_past(model, past),
        Reply::PiTold(request, result) => {
            model.end_errand(ticket);
            model.execute(name::after_request(&request, result));
            model.hold_notice();
        }
        Reply::PiGoes(goes) => {
            model.pi_goes = Some(goes);
            if let Some((_, Command::AskPi(session, tree, at))) = model.asking_pi.take() {
                model.execute(resume::entry(model, session, &tree, at));
            }
        }
        Reply::MayBe(candidates) => {
            if let Some(go_on) = model.end_going_on(ticket) {
                model.execute(missing_directory::ask(model, &go_on, &candidates));
            }
        }
        Reply::Remembered(kept) => {
            if let Some(go_on) = model.end_going_on(ticket) {
                let command = missing_directory::go(&mut model.layers, go_on, kept);
                model.execute(command);
            }
        }
        Reply::CompletedDir(typed, path, names) => {
            model.end_errand(ticket);
            missing_directory::complete(&mut model.layers, (&typed, &path), names, &model.setting.home);
        }
        Reply::Copied(text, done) => {
            let then = model.end_going_on(ticket);
            model.execute(copy::take_copied(&text, done, then, &model.setting.glyphs));
            model.hold_notice();
        }
        Reply::Changing(done, total) => take_progress(model, ticket, Some((done, total)), None),
        Reply::Waiting(who) => take_progress(model, ticket, None, Some(who)),
        Reply::Changed(changed) => take_changed(model, ticket, *changed),
        Reply::Failed(error) => take_failure(model, ticket, error),
    }
}

/// Opens the requested session once it is read: pi may still be writing its file.
fn open_wanted(model: &mut Model) {
    let key = model.to_open.as_ref().and_then(|(path, _)| model.catalog.key_of(path));
    let Some(key) = key.filter(|&key| model.catalog.has(key)) else { return };
    let entry = model.to_open.take().and_then(|(_, entry)| entry);
    model.sessions.touched = true;
    model.execute(match entry {
        Some(entry) => Command::GoToId(key, EntryId::Id(entry)),
        None => Command::All(vec![Command::Select(key), Command::Focus(Place::Tree)]),
    });
}

fn take_text(model: &mut Model, ticket: u64, text: Result<String, String>) {
    let command = match (model.end_errand(ticket), text) {
        (Some(NextStep::Open(with)), Ok(text)) => {
            return model.effects.push(Effect::Open(TextCopy { with, name: "entry.txt".into(), text }));
        }
        (Some(NextStep::Open(_)), Err(error)) => Command::Say(Tone::Error, error),
        (Some(NextStep::Resume(go_on)), Ok(text)) => {
            let text = Some(text).filter(|text| !text.is_empty());
            Command::Resume(ResumePlan { text, ..go_on })
        }
        (_, text) => copy::take_text(text),
    };
    model.execute(command);
}

/// Passes a model context to its view.
fn take_context(model: &mut Model, listing: Result<Arc<Listing>, String>) {
    let mut layers = std::mem::take(&mut model.layers);
    if let Some(view) = layers.context_mut() {
        let explain = |listing: &Arc<Listing>| context_view::explain(model, &view.place.tree, listing);
        let sum = listing.as_ref().map(explain).unwrap_or_default();
        view.take(listing, sum, model.size);
    }
    model.layers = layers;
}

fn take_past(model: &mut Model, past: Vec<HistoryEntry>) {
    model.looking_back = None;
    model.past = Some(past);
    family::fill(model);
}

fn take_progress(model: &mut Model, ticket: u64, progress: Option<(usize, usize)>, waits: Option<String>) {
    let Some(pending) = model.changes.iter_mut().find(|pending| pending.claim.number == ticket) else { return };
    pending.progress = progress.or(pending.progress);
    pending.waits = waits;
}

fn take_changed(model: &mut Model, ticket: u64, changed: Changed) {
    let Some(at) = model.changes.iter().position(|pending| pending.claim.number == ticket) else { return };
    let Some(pending) = model.changes.remove(at) else { return };
    let Changed { request, result, read, gone } = changed;
    let new = take_files(model, read, &gone);
    model.notice = None;
    model.execute(change::take(model, (request, result), new, pending.after));
    model.hold_notice();
}

/// Updates the list with touched files. Returns the first session that is new in it. Reads the open tree again if it is
/// one of them.
fn take_files(model: &mut Model, read: Vec<Digest>, gone: &[PathBuf]) -> Option<SessionKey> {
    if read.is_empty() && gone.is_empty() {
        return None;
    }
    let is_open = read.iter().any(|session| file_changes::is_open(model, &session.path));
    let new = file_changes::update_list(model, read, gone);
    if is_open {
        model.read_tree();
    }
    new
}

/// Handles work that failed, in the place that waits for it.
fn take_failure(model: &mut Model, ticket: u64, error: String) {
    let is_it = |claim: &Option<Claim>| claim.as_ref().is_some_and(|claim| claim.number == ticket);
    if is_it(&model.tree.opening) {
        model.tree.fail(error);
    } else if is_it(&model.tree.joining) {
        model.tree.fail_to_join();
        model.say(Tone::Error, error);
    } else if is_it(&model.preview.reading) {
        model.preview.take(vec![DocLine { spans: vec![Span::clean(Tone::Error, &error)], ..DocLine::default() }]);
    } else if is_it(&model.seeing) {
        take_context(model, Err(error));
    } else if is_it(&model.looking_back) {
        model.say(Tone::Error, error);
        take_past(model, Vec::new());
    } else if is_it(&model.comparing) {
        model.comparing = None;
        model.layers.close(Place::Compare);
        model.execute(Command::ShowError("Cannot compare", error));
    } else {
        if is_it(&model.scan.claim) {
            model.scan.claim = None;
            model.catalog.progress.finished = true;
        }
        if is_it(&model.watching) {
            model.watching = None;
        }
        model.changes.retain(|pending| pending.claim.number != ticket);
        model.end_errand(ticket);
        model.say(Tone::Error, error);
        model.hold_notice();
    }
}
