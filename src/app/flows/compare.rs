//! Comparison of two branches: their choice, and actions on the chosen side.

use std::sync::Arc;

use crate::app::command::Command;
use crate::app::flows::{NO_SESSION, name, resume};
use crate::app::layers::compare::CompareView;
use crate::app::model::Model;
use crate::catalog::compare::{BranchEnd, CompareRequest};
use crate::catalog::{EntryRef, SessionKey};
use crate::keymap::{Action, Place};
use crate::session::tree::{Index, Tree};

/// An end of a branch: a session, its tree if that is loaded, and an entry; the leaf without one.
#[derive(Clone, Debug)]
struct ChosenBranch {
    session: SessionKey,
    tree: Option<Arc<Tree>>,
    at: Option<Index>,
}

impl ChosenBranch {
    fn leaf(session: SessionKey) -> Self {
        Self { session, tree: None, at: None }
    }

    /// Chooses an entry of any session.
    fn entry(model: &Model, EntryRef { session, at }: EntryRef) -> Self {
        let tree = model.tree.file(session).filter(|tree| !tree.is_partial).cloned();
        Self { session, tree, at: Some(at) }
    }

    /// Chooses the selected entry or fork.
    fn selected(model: &Model) -> Result<Self, String> {
        if let (Place::Tree, Some(fork)) = (model.focus, model.tree.selected_fork()) {
            return Ok(Self::leaf(fork.key));
        }
        let (session, tree, at) = model.whole_entry()?;
        Ok(Self { session, tree: Some(tree), at: Some(at) })
    }

    fn asked(&self, model: &Model) -> Result<CompareRequest, String> {
        let session = model.catalog.get(self.session).ok_or("a marked session no longer exists")?;
        Ok(CompareRequest { path: session.path.clone(), tree: self.tree.clone(), at: self.at })
    }
}

/// Returns the view and the two branches to compare.
///
/// # Errors
/// There are not exactly two branches; the message says what to do.
pub(crate) fn ask(model: &Model) -> Result<(CompareView, [CompareRequest; 2]), String> {
    let meant = if model.focus == Place::Sessions { sessions(model)? } else { entries(model)? };
    let sessions = meant.each_ref().map(|meant| meant.session);
    let asked = [meant[0].asked(model)?, meant[1].asked(model)?];
    Ok((CompareView::new(sessions, sessions.map(|session| model.short_title(session))), asked))
}

/// Returns the marked sessions, oldest first; with one mark, the marked and the selected session.
fn sessions(model: &Model) -> Result<[ChosenBranch; 2], String> {
    let (mut marked, _) = model.sessions.marked(&model.catalog);
    model.catalog.sort_oldest_first(&mut marked);
    match (&marked[..], &model.marks.0[..]) {
        (&[a, b], _) => Ok([ChosenBranch::leaf(a), ChosenBranch::leaf(b)]),
        (&[a], _) => match model.sessions.selected_session() {
            Some(b) if a != b => Ok([ChosenBranch::leaf(a), ChosenBranch::leaf(b)]),
            Some(_) => Err("this session is already marked; select or mark another one of its family".into()),
            None => Err(NO_SESSION.into()),
        },
        (&[], &[a, b]) => Ok([ChosenBranch::entry(model, a), ChosenBranch::entry(model, b)]),
        (&[], _) => {
            let mark = model.setting.key(Action::Mark);
            Err(format!("no sessions marked; press {mark} to mark two of one family"))
        }
        (several, _) => Err(format!("cannot compare {} sessions; mark exactly two", several.len())),
    }
}

/// Returns two marked entries, the marked and the selected one, or the selected one and the leaf.
fn entries(model: &Model) -> Result<[ChosenBranch; 2], String> {
    match model.marks.0[..] {
        [a, b] => Ok([ChosenBranch::entry(model, a), ChosenBranch::entry(model, b)]),
        [a, ..] => {
            let here = ChosenBranch::selected(model)?;
            if here.at == Some(a.at) && here.session == a.session {
                return Err("this entry is already marked; select or mark another one".into());
            }
            Ok([ChosenBranch::entry(model, a), here])
        }
        [] => {
            let here = ChosenBranch::selected(model)?;
            let session = model.tree.session.ok_or(NO_SESSION)?;
            let is_tip = here.tree.as_ref().zip(here.at).is_some_and(|(tree, at)| tree.is_tip(at));
            if is_tip && here.session == session {
                let mark = model.setting.key(Action::Mark);
                return Err(format!("cannot compare the leaf with itself; select another entry or mark two ({mark})"));
            }
            // The tree of the open session is loaded.
            let leaf = model.tree.own().and_then(|tree| tree.leaf);
            let leaf = leaf.map(|at| ChosenBranch::entry(model, EntryRef { session, at }));
            Ok([here, leaf.unwrap_or_else(|| ChosenBranch::leaf(session))])
        }
    }
}

/// Returns the branches for a new comparison if one of the files has grown, because its leaf may have moved.
pub(crate) fn again(model: &Model, compare: &CompareView) -> Option<[CompareRequest; 2]> {
    let ends = &compare.compared.as_ref()?.ends;
    let has_grown = |(key, end): (&SessionKey, &BranchEnd)| {
        model.catalog.get(*key).is_some_and(|session| session.entry_count > end.tree.nodes.len())
    };
    let asked = |end: &BranchEnd| CompareRequest { path: end.path.clone(), tree: None, at: Some(end.at) };
    compare.sessions.iter().zip(ends).any(has_grown).then(|| ends.each_ref().map(asked))
}

/// Returns the command for an action on the chosen side: resume, label or go to the common entry.
pub(crate) fn act(model: &Model, compare: &CompareView, action: Action) -> Command {
    let (Some((session, tree, at)), Some(common)) = (compare.end(), compare.common()) else {
        return Command::warn("the sessions are still being read");
    };
    match action {
        _ if !model.catalog.has(session) => Command::warn("this session no longer exists"),
        Action::Label => name::label_at(model, session, tree, at),
        Action::GoToCommon => Command::GoTo(common),
        _ => resume::at_entry(model, session, tree, at),
    }
}
