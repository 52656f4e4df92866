//! Changes of session files: they update the list and the open tree.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::preview::PreviewSubject;
use crate::app::panes::tree::family::FamilyTree;
use crate::catalog::SessionKey;
use crate::disk::incremental::FileChanges;
use crate::render::entry;
use crate::session::digest::Digest;
use crate::session::tree::{Index, Tree};

/// Starts watching for changes once all sessions are read.
pub(super) fn watch(model: &mut Model) {
    if model.watching.is_none() && !model.setting.demo {
        let known = model.catalog.keys().map(|key| model.catalog[key].clone()).collect();
        model.watching = Some(model.ask(Work::Watch(known)));
        model.following_pis = Some(model.ask(Work::FollowPis));
    }
}

/// Takes changes of files. Ignores changes already known because pitree made them.
pub(super) fn take(model: &mut Model, news: FileChanges, gone_dirs: Vec<String>) {
    let FileChanges { mut read, unreadable, mut gone } = news;
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
        search.put_off(&model.catalog);
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
pub(super) fn is_open(model: &Model, path: &Path) -> bool {
    model.tree.session.is_some() && model.catalog.key_of(path) == model.tree.session
}

/// Updates the list with changed files. Returns the first session that is new in it.
pub(super) fn update_list(model: &mut Model, read: Vec<Digest>, gone: &[PathBuf]) -> Option<SessionKey> {
    if model.scan.claim.is_some() {
        // A running scan may have older versions of them.
        model.scan.changed.extend(read.iter().map(|session| &session.path).chain(gone).cloned());
    }
    let new = model.catalog.update(read, gone);
    model.tree.renew_forks(&model.catalog);
    rebuild_list(model);
    new
}

/// Rebuilds the list of sessions.
pub(super) fn rebuild_list(model: &mut Model) {
    model.catalog.note_live(model.now);
    model.sessions.rebuild(&model.catalog, &model.setting.glyphs);
}

/// Shows the tree of the open session.
pub(super) fn show(model: &mut Model, tree: Arc<Tree>) {
    if !tree.is_partial {
        model.tree.opening = None;
    } else if model.tree.tree.is_some() {
        return; // who has seen all of it does not want to see less for a moment
    }
    match (model.tree.own().filter(|before| tree.extends(before)), model.preview.subject) {
        (Some(_), PreviewSubject::Entry(entry)) if Some(entry.session) != model.tree.session => {}
        (Some(before), PreviewSubject::Entry(entry)) => {
            model.preview.is_stale |= !is_shown_alike(before, &tree, entry.at);
        }
        (Some(_), _) => {}
        // Card and preview depend on the tree.
        (None, _) => model.preview.subject = PreviewSubject::Nothing,
    }
    model.tree.show(tree);
}

/// Shows the tree of several sessions. Reads the preview again if it shows an entry differently now.
pub(super) fn show_family(model: &mut Model, family: Arc<FamilyTree>) {
    let entry = match model.preview.subject {
        PreviewSubject::Entry(entry) => Some(entry),
        _ => None,
    };
    let file = |model: &Model| entry.and_then(|entry| model.tree.file(entry.session).cloned());
    let before = file(model);
    model.tree.show_family(family);
    if let (Some(entry), Some(before), Some(now)) = (entry, before, file(model)) {
        let is_there = |tree: &Tree| (entry.at as usize) < tree.nodes.len();
        let is_alike = is_there(&before) && is_there(&now) && is_shown_alike(&before, &now, entry.at);
        model.preview.is_stale |= !is_alike;
    }
}

/// Returns `true` if an entry is shown as before: with the same related entries and label.
fn is_shown_alike(before: &Tree, now: &Tree, at: Index) -> bool {
    before.labels.get(&at) == now.labels.get(&at) && entry::related(before, at) == entry::related(now, at)
}
