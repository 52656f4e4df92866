//! Results of background work, which include changes of session files and states of other machines. Replies to canceled
//! work do not arrive here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{
    attention, comparison, context, family, files, prepared_boxes, reader, search, session_facts, stats, titles, unread,
};

use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::external::TextCopy;
use crate::app::flows::{self, change, cleanup, copy, directories, names_and_marks};
use crate::app::machines::ShownMachine;
use crate::app::message::{ChangeReply, Effect, Reply, Work};
use crate::app::model::Model;
use crate::app::panes::reader::ReaderSubject;
use crate::app::panes::tree::family::FamilyTree;
use crate::base::numbers::count;
use crate::base::text::Tone;
use crate::catalog::SessionKey;
use crate::changes::change::{ArchiveChange, MoveChange};
use crate::changes::{Change, changes_of};
use crate::config::Sort;
use crate::disk::incremental::FileChanges;
use crate::keymap::KeyContext;
use crate::pi::status::PiStatus;
use crate::session::digest::{Digest, SubagentOwner};
use crate::session::entry::EntryId;
use crate::session::tree::Tree;

/// Handles a reply.
pub(super) fn on_reply(model: &mut Model, ticket: u64, reply: Reply) {
    match reply {
        Reply::FilesFound { total, unreadable, outdated, pis } => {
            model.catalog.unreadable = unreadable;
            model.catalog.mark_uncertain(&outdated);
            model.catalog.progress.total = Some(total);
            model.catalog.set_pis(pis, model.now);
        }
        Reply::Machine(name, shown) => on_machine(model, name, *shown),
        Reply::Pis(pis) => {
            attention::on_pis(model, &pis.reported);
            model.catalog.set_pis(pis, model.now);
            model.reader.is_stale |= matches!(model.reader.subject, ReaderSubject::Session(_));
            if model.sessions.shows.sort == Sort::Live {
                model.rebuild_list();
            }
        }
        Reply::Notified(result) => attention::on_sent(model, result),
        Reply::Marks(marks) => {
            if model.catalog.set_marks(marks) {
                model.reader.is_stale = true;
                model.rebuild_list();
            }
        }
        Reply::LastSeen(seen) => unread::on_last_seen(model, seen),
        Reply::Worktrees(worktrees) => {
            if model.catalog.set_worktrees(worktrees) {
                note_live(model);
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
                note_live(model);
                open_wanted(model);
            }
        }
        Reply::ScanDone => {
            model.scan.claim = None;
            model.catalog.end_reading();
            note_live(model);
            watch(model);
        }
        Reply::FilesChanged { changes, gone, .. } => {
            on_file_changes(model, changes, gone);
            open_wanted(model);
        }
        Reply::Warning(why) => model.warn(why),
        Reply::Opened(tree) => show_tree(model, tree),
        Reply::ForkPoints(forks, others) => model.tree.set_forks(forks, others),
        Reply::Joined(joined) => {
            if let Some(lost) = &joined.lost {
                model.warn(format!("not shown: {lost}"));
            }
            show_family(model, joined);
            family::fill(model);
        }
        Reply::Read(text) => reader::on_text(model, ticket, text),
        Reply::LostWorkFound(work) => (model.lost.searching, model.lost.work) = (None, work),
        Reply::SecretsCounted(session, count) => model.checked.secrets = Some((session, count)),
        Reply::TextsRead(done, total) => search::on_read(model, done, total),
        Reply::Values(values) => search::on_values(model, values),
        Reply::SessionsFound { hits, more, progress } => search::on_hits(model, hits, more, progress),
        Reply::Suggestions(found) => {
            if let Some(search) = &mut model.search {
                search.elsewhere = Some(found);
            }
        }
        Reply::EntriesFound { hits, is_first, is_last, progress } => {
            model.tree.take_hits(hits, is_first, is_last, progress);
        }
        Reply::EditsPlanned(planned) => context::on_planned(model, *planned),
        Reply::Context(listing) => context::on_listing(model, Ok(listing)),
        Reply::Text(text) => on_text(model, ticket, text),
        Reply::Counted(part) => stats::on_overview(model, part),
        Reply::Summed(sum) => (model.stats.counting_month, model.stats.month_cost) = (None, Some(sum.cost)),
        Reply::Measuring(done, all) => stats::on_progress(model, (done, all)),
        Reply::Measured(content) => stats::on_sizes(model, &content),
        Reply::SessionMeasured(measured) => session_facts::on_kinds(model, &measured),
        Reply::FinalFiles(files) => comparison::on_final_files(model, files),
        Reply::Compared(compared) => comparison::on_compared(model, compared),
        Reply::FilesListed(listed) => files::on_files(model, listed),
        Reply::States { file, states, session } => files::on_states(model, &file, states, session),
        Reply::StatesListed => files::end_states(model, ticket, None),
        Reply::FileText(facts, lines) => files::on_text(model, facts, lines),
        Reply::FileWritten(write, result) => {
            model.finish_task(ticket, flows::files::written(*write, result));
        }
        Reply::History(past) => family::on_history(model, past),
        Reply::PiAnswered(request, result) => {
            model.finish_task(ticket, names_and_marks::after_request(&request, result));
        }
        Reply::PiNavigates(goes) => {
            model.pi_can_navigate = Some(goes);
            if let Some(NextStep::AskToResume(target)) = model.end_task(ticket) {
                model.execute(Command::AskToResume(target));
            }
        }
        Reply::RelocationsFound(candidates) => {
            if let Some(NextStep::AskToResume(mut target)) = model.end_task(ticket) {
                let dirs = candidates.map(|candidates| directories::to_choose_from(model, candidates));
                target.dirs = Some(dirs.unwrap_or_default());
                model.execute(Command::AskToResume(target));
            }
        }
        Reply::Terminal(result) => match (model.end_task(ticket), result) {
            (Some(NextStep::AskToResume(mut target)), result) => {
                target.has_terminal = Some(result.is_ok());
                model.execute(Command::AskToResume(target));
            }
            // A popup would stay above the terminal.
            (_, Ok(true)) => model.effects.push(Effect::Quit),
            (_, Ok(false)) => model.show_notice(Tone::Active, "went to the terminal of pi"),
            (_, Err(why)) => model.execute(Command::note("Terminal not reached", why)),
        },
        Reply::Remembered(kept) => {
            if let Some(plan) = model.end_resuming(ticket) {
                model.execute(match kept {
                    Ok(_) => Command::Resume(plan),
                    Err(why) => Command::ShowError("Cannot remember the directory", why),
                });
            }
        }
        Reply::CompletedDir(typed, path, names) => {
            model.end_task(ticket);
            directories::complete_directory(&mut model.layers, (&typed, &path), names, &model.settings.home);
        }
        Reply::CheckedDir(dir) => {
            let then = model.end_task(ticket);
            if let Some(dir) = then.is_some().then(|| model.accept_directory("Cannot use directory", dir)).flatten() {
                model.execute(match then {
                    Some(NextStep::Move(selection)) => directories::question(model, &selection, &dir),
                    Some(NextStep::AskToResume(mut target)) => {
                        let dir = directories::dir(model, dir, "which you entered".into());
                        target.dirs.get_or_insert_default().insert(0, dir);
                        Command::AskToResume(target)
                    }
                    _ => Command::nothing(),
                });
            }
        }
        Reply::Copied(text, done) => {
            let then = model.end_resuming(ticket);
            model.execute(copy::take_copied(&text, done, then, &model.settings.glyphs));
            model.hold_notice();
        }
        Reply::SlimmingPlanned(overview) => {
            prepared_boxes::update_slimming(model, ticket, |prepared| prepared.overview = Some(Ok(*overview)));
        }
        Reply::Suggested(suggestions) => {
            if let Some(NextStep::ChooseCleanup) = model.end_task(ticket) {
                model.clear_notice();
                model.execute(cleanup::ask(suggestions));
            }
        }
        Reply::Titles(reply) => titles::on_reply(model, reply),
        Reply::SlimmingProgress(done) => {
            prepared_boxes::update_slimming(model, ticket, |prepared| prepared.done = Some(done));
        }
        Reply::Exported(result) => prepared_boxes::on_export(model, ticket, result),
        Reply::Changing(done, total) => on_progress(model, ticket, Some((done, total)), None),
        Reply::Waiting(who) => on_progress(model, ticket, None, Some(who)),
        Reply::Changed(changed) => on_changed(model, ticket, *changed),
        Reply::Failed(error) => on_failure(model, ticket, error),
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
        None => Command::All(vec![Command::Select(key), Command::Focus(KeyContext::Tree)]),
    });
}

fn on_text(model: &mut Model, ticket: u64, text: Result<String, String>) {
    let command = match (model.end_task(ticket), text) {
        (Some(NextStep::Open(_)), Ok(text)) if text.is_empty() => {
            Command::Notice(Tone::Active, "opened in the image viewer of the system".into())
        }
        (Some(NextStep::Open(with)), Ok(text)) => {
            return model.effects.push(Effect::Open(TextCopy { with, name: "entry.txt".into(), text }));
        }
        (Some(NextStep::Open(_)), Err(error)) => Command::Notice(Tone::Error, error),
        (Some(NextStep::Resume(plan)), Ok(text)) => {
            let text = Some(text).filter(|text| !text.is_empty());
            Command::Resume(ResumePlan { text, ..*plan })
        }
        (_, text) => copy::take_text(text),
    };
    model.execute(command);
}

fn on_progress(model: &mut Model, ticket: u64, progress: Option<(usize, usize)>, waits: Option<String>) {
    let Some(pending) = model.changes.iter_mut().find(|pending| pending.claim.number == ticket) else { return };
    pending.progress = progress.or(pending.progress);
    pending.waits = waits;
    model.clear_notice();
}

fn on_changed(model: &mut Model, ticket: u64, changed: ChangeReply) {
    let Some(at) = model.changes.iter().position(|pending| pending.claim.number == ticket) else { return };
    let Some(pending) = model.changes.remove(at) else { return };
    let ChangeReply { request, result, mut read, gone } = changed;
    keep_owners(model, changes_of(&result), &mut read);
    let is_open = read.iter().any(|session| is_open(model, &session.path));
    let is_changed = !read.is_empty() || !gone.is_empty();
    let new = is_changed.then(|| update_list(model, read, &gone)).flatten();
    if is_open {
        model.read_tree();
    }
    model.notice = None;
    model.execute(change::take(model, (request, result), new, pending.then));
    model.hold_notice();
}

/// Sets the owners of subagent sessions with another path, because only a scan of their directories finds them.
fn keep_owners(model: &Model, changes: &[Change], read: &mut [Digest]) {
    let paths = changes.iter().filter_map(|change| match change {
        Change::Move(MoveChange { path, to, .. }) => Some([path, to]),
        _ => change.archive().map(|ArchiveChange { path, archived, .. }| [path, archived]),
    });
    // Undo takes the other direction.
    let other: HashMap<&PathBuf, &PathBuf> = paths.flat_map(|[one, other]| [(one, other), (other, one)]).collect();
    for digest in read {
        let before = other.get(&digest.path).and_then(|path| model.catalog.key_of(path));
        let owner = before.and_then(|before| model.catalog.get(before)?.owner.as_ref());
        digest.owner = digest.owner.take().or_else(|| {
            let path = owner?.path.as_ref().map(|path| other.get(path).map_or(path, |other| *other).clone());
            Some(SubagentOwner { path })
        });
    }
}

/// Handles work that failed, in the place that waits for it.
fn on_failure(model: &mut Model, ticket: u64, error: String) {
    if let Some(at) = model.failures.iter().position(|(failed, _)| failed.number == ticket) {
        return model.failures.swap_remove(at).1(model, ticket, &error);
    }
    model.changes.retain(|pending| pending.claim.number != ticket);
    model.end_task(ticket);
    model.show_failure(error);
}

/// Starts watching for changes once all sessions are read.
fn watch(model: &mut Model) {
    if model.watching.is_none() {
        let known = model.catalog.keys().map(|key| model.catalog[key].clone()).collect();
        model.watching = Some(model.ask_or(Work::Watch(known), |model, _, error| {
            model.watching = None;
            model.show_failure(error);
        }));
        model.ask_until_next(Work::FollowPis);
        model.ask_until_next(Work::FollowMarks);
    }
}

/// Takes changes of files. Ignores changes already known because pitree made them.
fn on_file_changes(model: &mut Model, changes: FileChanges, gone_dirs: Vec<String>) {
    let FileChanges { mut read, unreadable, mut gone } = changes;
    read.retain(|digest| !is_known(model, digest));
    model.catalog.unreadable.retain(|one| !gone.contains(&one.path));
    for one in unreadable {
        gone.extend(one.is_headless.then(|| one.path.clone()));
        model.catalog.unreadable.retain(|other| other.path != one.path);
        model.catalog.unreadable.push(one);
    }
    gone.retain(|path| model.catalog.key_of(path).is_some_and(|key| model.catalog.has(key)));
    if read.is_empty() && gone.is_empty() {
        return;
    }
    model.catalog.gone_dirs.extend(gone_dirs);
    // Changes do not move the selection.
    model.sessions.touched |= !model.sessions.rows.is_empty();
    let is_open = read.iter().any(|digest| is_open(model, &digest.path));
    let is_searched = model.search.as_ref().is_some_and(|search| !search.is_outdated(&model.catalog));
    update_list(model, read, &gone);
    if let Some(search) = model.search.as_mut().filter(|_| is_searched) {
        // Not every line that pi writes starts a search.
        (search.catalog_version, search.is_put_off) = (Some(model.catalog.version()), true);
    }
    model.tree.is_outdated |= is_open;
}

fn is_known(model: &Model, digest: &Digest) -> bool {
    let known = model.catalog.key_of(&digest.path).and_then(|key| model.catalog.get(key));
    known.is_some_and(|known| {
        (known.bytes, known.mtime) == (digest.bytes, digest.mtime) && known.problems == digest.problems
    })
}

/// Returns `true` if a file is that of the open session.
fn is_open(model: &Model, path: &Path) -> bool {
    model.tree.session.is_some() && model.catalog.key_of(path) == model.tree.session
}

/// Updates the list with changed files. Returns the first session that is new in it.
fn update_list(model: &mut Model, read: Vec<Digest>, gone: &[PathBuf]) -> Option<SessionKey> {
    if model.scan.claim.is_some() {
        // A running scan may have older versions of them.
        model.scan.changed.extend(read.iter().map(|session| &session.path).chain(gone).cloned());
    }
    let new = model.catalog.update(read, gone);
    note_live(model);
    new
}

/// Rebuilds the list of sessions.
fn note_live(model: &mut Model) {
    model.catalog.note_live(model.now);
    model.rebuild_list();
}

/// Shows the tree of the open session.
fn show_tree(model: &mut Model, tree: Arc<Tree>) {
    if !tree.is_partial {
        model.tree.opening = None;
    } else if model.tree.tree.is_some() {
        return; // who has seen all of it does not want to see less for a moment
    }
    // Card and text depend on the tree.
    if model.tree.own().is_none_or(|before| !tree.extends(before)) {
        model.reader.subject = ReaderSubject::Nothing;
    }
    model.tree.show(tree);
}

/// Shows the tree of several sessions. Reads the reader again if it shows an entry differently now.
fn show_family(model: &mut Model, family: Arc<FamilyTree>) {
    model.tree.show_family(family);
}

/// Starts work with other machines, if there are some.
pub(super) fn ask_machines(model: &mut Model, work: Work) {
    if model.settings.located.mirrors.is_some() && !model.settings.machines.is_empty() {
        model.ask_until_next(work);
    }
}

/// Takes the state of a machine. Explains once that sessions are gone there.
pub(super) fn on_machine(model: &mut Model, name: String, shown: ShownMachine) {
    let before = model.machines.known.get(&name).map_or(0, |known| known.state.gone);
    let gone = shown.state.gone;
    if gone > 0 && before == 0 && !shown.is_syncing {
        let sessions = count(usize::try_from(gone).unwrap_or(usize::MAX), "session is", "sessions are");
        model.warn(format!("{sessions} gone on {name} and kept here; to decide, run: pitree machine sync {name}"));
    }
    model.machines.known.insert(name, shown);
    let Some(mirrors) = model.settings.located.mirrors.clone() else { return };
    let pis: Vec<PiStatus> =
        model.machines.known.iter().flat_map(|(name, shown)| shown.state.pis_in(name, &mirrors)).collect();
    if model.catalog.set_remote_pis(pis, model.now) {
        model.reader.is_stale = true;
        model.rebuild_list();
    }
}
