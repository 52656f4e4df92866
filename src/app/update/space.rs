//! The screen of the space that sessions take, and the kinds in the card of a session.

use std::sync::Arc;

use super::{search, stats};
use crate::app::command::Command;
use crate::app::layers::Layer;
use crate::app::layers::space::SpaceView;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::preview::PreviewSubject;
use crate::catalog::space::{SessionKinds, SpaceContent, SpaceGrouping, SpaceKey};
use crate::catalog::stats::sessions::StatsSessions;
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::{Action, Place};
use crate::search::qualifier::value::in_quotes;
use crate::session::space::SessionSpace;

/// The size in bytes up to which the file of a shown session is measured for its card.
const CHEAP: u64 = 32 * 1024 * 1024;

/// Opens the screen: in the list over the listed sessions, in the other panes over the open one.
pub(super) fn open(model: &mut Model) {
    let one = model.meant_session().filter(|_| model.focus != Place::Sessions).map(|(key, _)| key);
    let mut view = match one {
        Some(key) => {
            let sessions = StatsSessions::new(&model.catalog, |other| other == key);
            SpaceView::new(model.short_title(key), String::new(), Arc::new(sessions))
        }
        None => {
            let (query, scope) = stats::scope(model);
            let sessions = StatsSessions::new(&model.catalog, |key| stats::is_listed(model, key));
            SpaceView::new(scope, query, Arc::new(sessions))
        }
    };
    model.space.left = None;
    view.claim = Some(model.ask_or(Work::Measure(view.sessions.clone()), |model, _, error| {
        model.layers.update(|view: &mut SpaceView| (view.claim, view.problem) = (None, Some(error.into())));
    }));
    model.layers.push(view);
}

/// Takes the progress.
pub(super) fn take_progress(model: &mut Model, progress: (usize, usize)) {
    model.layers.update(|view: &mut SpaceView| view.progress = progress);
}

/// Takes the content.
pub(super) fn take(model: &mut Model, content: Arc<SpaceContent>) {
    // The content is newer.
    model.space.kinds.retain(|key, _| !content.kinds.contains_key(key));
    model.space.content = Some(content.clone());
    model.layers.update(|view: &mut SpaceView| (view.content, view.claim) = (Some(content), None));
}

/// Takes the kinds of a session for its card.
pub(super) fn take_session(model: &mut Model, space: &SessionSpace) {
    if let Some((key, _)) = model.space.measuring_session.take() {
        model.space.kinds.insert(key, SessionKinds::new(space, listed(model, key)));
    }
}

/// Returns the length of the file of a session as listed.
fn listed(model: &Model, key: SessionKey) -> u64 {
    model.catalog.get(key).map_or(0, |session| session.facts().bytes())
}

/// Does an action of the screen.
pub(super) fn act(model: &mut Model, action: Action) {
    if action != Action::Confirm {
        return;
    }
    let Some(view) = model.layers.top_as::<SpaceView>() else { return };
    match target(view) {
        Ok(target) => {
            if let Some(Layer::Space(view)) = model.layers.0.pop() {
                model.space.left = Some(view);
            }
            match target {
                SpaceTarget::Session(key) => {
                    model.execute(Command::All(vec![Command::Select(key), Command::Focus(Place::Sessions)]));
                }
                SpaceTarget::Entry(entry) => model.execute(Command::GoTo(entry)),
                SpaceTarget::Query(query) => search::open(model, &query),
            }
        }
        Err(why) => model.hint(why),
    }
}

/// The target of a row.
enum SpaceTarget {
    Session(SessionKey),
    Entry(EntryRef),
    Query(String),
}

/// Returns where the selected row leads.
fn target(view: &SpaceView) -> Result<SpaceTarget, &'static str> {
    let row = view.selected().ok_or("no row is selected")?;
    let (name, text) = match (&row.key, view.grouping) {
        (&SpaceKey::Session(key), _) => return Ok(SpaceTarget::Session(key)),
        (&SpaceKey::Entry(session, at), _) => return Ok(SpaceTarget::Entry(EntryRef { session, at })),
        (SpaceKey::Kind(_), _) => return Err("there is no search for kinds"),
        (SpaceKey::Text(text), _) if text.is_empty() => return Err("there is no search for a missing name"),
        (SpaceKey::Text(text), SpaceGrouping::Project) => ("in", text),
        (SpaceKey::Text(text), SpaceGrouping::Tool) => ("tool", text),
        (SpaceKey::Text(_), _) => return Err("there is no search for types of extension entries"),
    };
    let query = format!("{name}:{} {}", in_quotes(text), view.query);
    Ok(SpaceTarget::Query(query.trim_end().into()))
}

/// Returns to the screen, if the user left it for a row. Returns `true` if so.
pub(super) fn go_back(model: &mut Model) -> bool {
    let Some(view) = model.space.left.take() else { return false };
    search::restore(model, &view.query);
    model.layers.0.push(Layer::Space(view));
    true
}

/// Cancels the measurement of a closed screen, and measures the session whose card is shown.
pub(super) fn sync(model: &mut Model) {
    let shown = match model.preview.subject {
        PreviewSubject::Session(key) => Some(key),
        _ => None,
    };
    model.space.measuring_session.take_if(|(key, _)| shown != Some(*key));
    // The tree of the session is more important.
    let is_waiting = shown == model.tree.session && model.tree.own().is_none_or(|tree| tree.is_partial);
    let Some(key) = shown.filter(|_| !is_waiting) else { return };
    let Some(session) = model.catalog.get(key) else { return };
    let bytes = session.facts().bytes();
    // An archived session does not change, and its file is shorter than its content.
    let is_archived = session.facts().is_archived();
    let is_known = model.space.kinds_of(key).is_some_and(|kinds| is_archived || kinds.is_close_to(bytes));
    if is_known || bytes > CHEAP || model.space.measuring_session.is_some() {
        return;
    }
    let path = session.path.clone();
    // After a failure, the card shows no kinds. The session is not measured again before its file has grown.
    let claim = model.ask_or(Work::MeasureSession(path), |model, _, _| take_session(model, &SessionSpace::default()));
    model.space.measuring_session = Some((key, claim));
}
