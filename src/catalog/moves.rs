//! Plans of moves to another working directory: the sessions that move together, and their forks that stay.

use crate::base::paths::windows_form;
use std::collections::HashSet;

use crate::catalog::{Catalog, SessionKey};
use crate::session::digest::facts::SessionFacts;

/// Sessions to move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveSelection {
    /// The sessions.
    pub sessions: Vec<SessionKey>,
    /// The old directory, if a project moves.
    pub from: Option<String>,
}

/// A session that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedMove {
    /// The session.
    pub(crate) key: SessionKey,
    /// The new working directory.
    pub(crate) cwd: String,
    /// Its parent session, if that moves too and the header names it.
    pub(crate) parent: Option<SessionKey>,
}

/// Sessions that move to another working directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MovePlan {
    /// The sessions, parents before their forks.
    pub(crate) sessions: Vec<PlannedMove>,
    /// Forks that stay and name the path of a session that moves, with that session.
    pub(crate) forks: Vec<(SessionKey, SessionKey)>,
}

impl Catalog {
    /// Returns the sessions of a directory, and those of missing directories below it, which were probably moved with
    /// it. Excludes mirrored sessions, and archived ones, whose number it returns.
    pub(crate) fn sessions_of_dir(&self, dir: &str, is_missing: impl Fn(&str) -> bool) -> (Vec<SessionKey>, usize) {
        let is_of_dir = |cwd: &str| match below(cwd, dir) {
            Some(rest) => rest.is_empty() || is_missing(cwd),
            None => false,
        };
        let is_found = |facts: &SessionFacts<'_>| is_of_dir(facts.cwd()) && !facts.is_mirrored();
        let found = self.newest_first().into_iter().filter(|&key| is_found(&self[key].facts()));
        let (archived, sessions): (Vec<SessionKey>, Vec<SessionKey>) =
            found.partition(|&key| self[key].facts().is_archived());
        (sessions, archived.len())
    }

    /// Plans the move of some sessions and their subagent sessions to the directory `to`. Directories below `from` move
    /// with it; without `from`, each session moves alone.
    pub(crate) fn plan_move(&self, chosen: &[SessionKey], from: Option<&str>, to: &str) -> MovePlan {
        let named: HashSet<SessionKey> = chosen.iter().copied().collect();
        let mut moved: HashSet<SessionKey> = self.with_subagents(chosen).into_iter().collect();
        let can_move = |facts: SessionFacts<'_>| !facts.is_archived() && !facts.is_mirrored();
        moved.retain(|&key| named.contains(&key) || can_move(self[key].facts()));
        let names_parent = |key: SessionKey| self[key].facts().parent_session().is_some();
        let plan = |key: SessionKey| {
            let cwd = self[key].facts().cwd();
            let from = from.unwrap_or_else(|| self[self.started_by(key)].facts().cwd());
            // A subagent can work in another directory.
            let cwd =
                below(cwd, from).map_or_else(|| cwd.to_owned(), |rest| format!("{}{rest}", to.trim_end_matches('/')));
            let parent = self.families().parent(key).filter(|parent| moved.contains(parent) && names_parent(key));
            PlannedMove { key, cwd: if cwd.is_empty() { to.into() } else { cwd }, parent }
        };
        let order = self.families().preorder().into_iter().filter(|key| moved.contains(key));
        let sessions: Vec<PlannedMove> = order.map(plan).collect();
        let forks = sessions.iter().flat_map(|one| self.families().forks(one.key).iter().map(|&fork| (fork, one.key)));
        let stays = |fork: SessionKey| {
            let facts = self[fork].facts();
            let can_change = !facts.is_archived() && !facts.is_link() && !facts.is_mirrored();
            !moved.contains(&fork) && names_parent(fork) && can_change
        };
        let forks = forks.filter(|&(fork, _)| stays(fork)).collect();
        MovePlan { sessions, forks }
    }
}

/// Returns the rest of a directory path below another one, with its separator; empty for the same directory.
fn below<'a>(cwd: &'a str, dir: &str) -> Option<&'a str> {
    let form = windows_form(dir);
    let rest = windows_form(cwd).strip_prefix(form.trim_end_matches(['/', '\\']))?.len();
    let rest = &cwd[cwd.len() - rest..];
    (rest.is_empty() || rest.starts_with(['/', '\\'])).then_some(rest)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::session::digest::{Digest, SubagentOwner};

    fn digest(path: &str, cwd: &str, parent: Option<&str>) -> Digest {
        let mut digest = Digest { path: path.into(), parent_path: parent.map(Into::into), ..Digest::default() };
        digest.header.id = path.into();
        digest.header.cwd = cwd.into();
        digest.header.parent_session = parent.map(Into::into);
        digest
    }

    #[test]
    fn all_forms_of_a_windows_directory_move_together() {
        let mut catalog = Catalog::default();
        let dirs = ["C:\\w", "c:/w/sub", "c:\\w\\sub", "C:\\ww"];
        catalog.add(dirs.iter().map(|dir| digest(&format!("/s/{dir}"), dir, None)).collect());
        let (chosen, _) = catalog.sessions_of_dir("c:/w", |_| true);
        let plan = catalog.plan_move(&chosen, Some("c:/w"), "/new");
        let mut moves: Vec<&str> = plan.sessions.iter().map(|one| &*one.cwd).collect();
        moves.sort_unstable();
        assert_eq!(moves, ["/new", "/new/sub", "/new\\sub"]);
        let projects: std::collections::HashSet<_> = catalog.keys().map(|key| catalog.project(key)).collect();
        assert_eq!(projects.len(), 3);
    }

    #[test]
    fn families_subagents_and_missing_directories_below_move_together() {
        let owned = |path: &str, cwd: &str, owner: &str| {
            let owner = Some(SubagentOwner { path: Some(PathBuf::from(owner)) });
            Digest { owner, ..digest(path, cwd, None) }
        };
        let mut catalog = Catalog::default();
        catalog.add(vec![
            digest("/s/fork", "/w", Some("/s/root")),
            digest("/s/root", "/w", None),
            owned("/s/agent", "/w/deep", "/s/root"),
            owned("/s/other agent", "/tmp", "/s/root"),
            digest("/s/away", "/other", Some("/s/root")),
            digest("/s/below", "/w/gone", None),
            digest("/s/there", "/w/there", None),
            digest("/s/like", "/www", None),
        ]);
        let (chosen, archived) = catalog.sessions_of_dir("/w/", |dir| dir == "/w/gone");
        assert_eq!(archived, 0);
        let plan = catalog.plan_move(&chosen, Some("/w/"), "/new/");
        let name = |key: SessionKey| catalog[key].path.to_str().unwrap();
        let mut moves: Vec<_> =
            plan.sessions.iter().map(|one| (name(one.key), &*one.cwd, one.parent.map(name))).collect();
        let place = |path: &str| moves.iter().position(|(moved, ..)| *moved == path).unwrap();
        assert!(place("/s/root") < place("/s/fork"));
        moves.sort_unstable();
        let expected = [
            ("/s/agent", "/new/deep", None),
            ("/s/below", "/new/gone", None),
            ("/s/fork", "/new", Some("/s/root")),
            ("/s/other agent", "/tmp", None),
            ("/s/root", "/new", None),
        ];
        assert_eq!(moves, expected);
        let forks = |plan: &MovePlan| plan.forks.iter().map(|&(fork, _)| name(fork).to_owned()).collect::<Vec<_>>();
        assert_eq!(forks(&plan), ["/s/away"]);
        // One session alone leaves its forks.
        let root = catalog.key_of("/s/root".as_ref()).unwrap();
        let plan = catalog.plan_move(&[root], None, "/new");
        assert_eq!((plan.sessions.len(), forks(&plan).len()), (3, 2));
    }
}
