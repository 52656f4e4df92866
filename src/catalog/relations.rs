//! Relations between sessions: families, shared entries, and missing parents. Also finds the session files that pi's
//! list omits: those directly in its default session directory, which should only contain project folders (1.6.0). They
//! are shown as one project.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::machine_paths;
use crate::catalog::parents::{MissingParent, MissingParentKey};
use crate::catalog::{Catalog, ProjectKey, SessionKey};
use crate::disk::locate::is_project_folder;
use crate::session::digest::joined_path::JoinedPath;
use crate::session::digest::listed::SharedLazySession;
use crate::session::links::{ById, IdHash};

/// The files that pi's list omits.
#[derive(Debug, Default)]
pub(super) struct UnlistedFiles {
    /// The project of each file.
    projects: HashMap<SessionKey, ProjectKey>,
    /// The projects by session directory.
    by_dir: HashMap<String, ProjectKey>,
}

/// Splits a path into directory and name. Works on bytes, because parsing paths is slow.
fn split(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memrchr(std::path::MAIN_SEPARATOR as u8, path)?;
    Some((&path[..at], &path[at + 1..]))
}

impl Catalog {
    /// Returns the family of a session, including itself, parents before forks. Excludes subagent sessions.
    pub(crate) fn family(&self, key: SessionKey) -> Vec<SessionKey> {
        let root = self.families.line(key).last().unwrap_or(key);
        let family = self.families.below_all(&[root]);
        family.into_iter().filter(|&member| member == key || !self[member].facts().is_subagent()).collect()
    }

    /// Returns sessions with all their subagent sessions.
    pub(crate) fn with_subagents(&self, sessions: &[SessionKey]) -> Vec<SessionKey> {
        let mut seen: HashSet<SessionKey> = sessions.iter().copied().collect();
        let mut all = sessions.to_vec();
        let mut next = 0;
        while let Some(&key) = all.get(next) {
            let below = self.families.forks(key).iter().copied();
            all.extend(below.filter(|&below| self[below].facts().is_subagent() && seen.insert(below)));
            next += 1;
        }
        all
    }

    /// Returns the session that started a subagent session, directly or through other subagents, or the session itself.
    pub(crate) fn started_by(&self, key: SessionKey) -> SessionKey {
        self.families.line(key).find(|&above| !self[above].facts().is_subagent()).unwrap_or(key)
    }

    /// Returns `true` if a session is a fork or has forks.
    pub(crate) fn has_family(&self, key: SessionKey) -> bool {
        self.families.parent(key).is_some() || self.forks(key).next().is_some()
    }

    /// Returns the sessions outside the family that share entries with a session: copies, and forks of a missing
    /// parent. Oldest first.
    pub(crate) fn same_origin(&self, key: SessionKey) -> Vec<SessionKey> {
        let family: HashSet<SessionKey> = self.family(key).into_iter().collect();
        let members = self.shares.members(key.index()).map(SessionKey::new);
        members.filter(|member| !family.contains(member) && !self[*member].facts().is_subagent()).collect()
    }

    /// Returns all sessions that share entries with a session, including itself, oldest first.
    pub(crate) fn sharing_sessions(&self, key: SessionKey) -> Vec<(SessionKey, SharedLazySession)> {
        let members = self.shares.members(key.index()).map(SessionKey::new);
        members.map(|member| (member, self[member].clone())).collect()
    }

    /// Returns the sessions that share entries with a session, including itself. `known` keeps the groups of a loop.
    pub(crate) fn sharing_group(&self, key: SessionKey, known: &mut HashMap<u32, SharingSessions>) -> SharingSessions {
        let Some(group) = self.shares.group_of(key.index()) else { return SharingSessions::default() };
        known.entry(group).or_insert_with(|| self.sharing_sessions(key).into()).clone()
    }

    /// Returns a missing parent.
    pub fn missing_parent(&self, key: MissingParentKey) -> Option<&MissingParent> {
        self.missing_parents.get(&key.0)
    }

    /// Returns the missing parent of a fork if it has several forks. Returns `None` until the scan is complete.
    pub fn missing_parent_of(&self, fork: SessionKey) -> Option<MissingParentKey> {
        self.lost_parent(fork).filter(|_| self.is_parent_missing(fork))
    }

    /// Returns the missing parent of a fork as far as the scan has progressed.
    fn lost_parent(&self, fork: SessionKey) -> Option<MissingParentKey> {
        if !self.orphans.contains(&fork) {
            return None;
        }
        let key = MissingParentKey::new(self.get(fork)?.parent_path.as_deref()?);
        self.missing_parent(key).map(|_| key)
    }

    /// Returns the session whose project contains a family: its root, or the oldest of those with a missing parent.
    pub(crate) fn first_of(&self, root: SessionKey) -> SessionKey {
        let parent = self.lost_parent(root).and_then(|key| self.missing_parent(key));
        parent.and_then(|parent| parent.forks.first().copied()).unwrap_or(root)
    }

    /// Finds the files that pi's list omits.
    pub(super) fn find_unlisted(&mut self, keys: &[SessionKey]) {
        // Consecutive sessions are mostly in the same directory.
        let mut runs: Vec<(Vec<u8>, &[SessionKey])> = Vec::new();
        let (mut start, mut first) = (0, None);
        for (at, &key) in keys.iter().enumerate() {
            let path = self[key].facts().path();
            if first.is_none_or(|first: JoinedPath<'_>| !first.is_beside(path)) {
                runs.extend(first.map(|first| (first.folder(), &keys[start..at])));
                (start, first) = (at, Some(path));
            }
        }
        runs.extend(first.map(|first| (first.folder(), &keys[start..])));
        let with_projects: HashSet<&[u8]> = runs
            .iter()
            .filter_map(|(folder, _)| split(folder))
            .filter(|(_, name)| is_project_folder(name))
            .map(|(dir, _)| dir)
            .collect();
        let unlisted = runs.iter().filter(|(folder, _)| with_projects.contains(&**folder)).flat_map(|(_, run)| *run);
        let unlisted: Vec<SessionKey> = unlisted.copied().filter(|&key| !self[key].facts().is_subagent()).collect();
        self.unlisted.projects.clear();
        for key in unlisted {
            let dir = self[key].path.parent().unwrap_or(&self[key].path);
            let dir = machine_paths::shown(dir);
            let next = ProjectKey::new(self.dirs.len());
            let project = *self.unlisted.by_dir.entry(dir.clone()).or_insert(next);
            if project == next {
                self.dirs.push(Arc::from(dir));
            }
            self.unlisted.projects.insert(key, project);
        }
    }

    /// Returns the project of a family, by its root.
    pub(crate) fn project_of_family(&self, root: SessionKey) -> ProjectKey {
        let first = self.first_of(root);
        self.unlisted.projects.get(&first).copied().unwrap_or_else(|| self.project(first))
    }

    /// Returns `true` if a project holds the files that pi's list omits.
    pub(crate) fn is_unlisted(&self, project: ProjectKey) -> bool {
        self.unlisted.by_dir.values().any(|&unlisted| unlisted == project)
    }
}

/// Sessions that share entries, oldest first; one list for all of them. Empty for a session that shares none.
pub(crate) type SharingSessions = Arc<[(SessionKey, SharedLazySession)]>;

/// The entries of some sessions, with the number of sessions that contain each.
#[derive(Debug, Default)]
pub(crate) struct EntryCounts {
    /// The number of sessions.
    pub(crate) sessions: usize,
    entries: ById<u32>,
}

impl EntryCounts {
    pub(crate) fn add(&mut self, session: &SharedLazySession) {
        self.sessions += 1;
        unique_ids(session).for_each(|id| *self.entries.entry(id).or_default() += 1);
    }

    /// Removes a session that was added.
    pub(crate) fn remove(&mut self, session: &SharedLazySession) {
        self.sessions -= 1;
        unique_ids(session).for_each(|id| _ = self.entries.entry(id).and_modify(|count| *count -= 1));
    }

    /// Returns `true` for an entry that several sessions contain.
    pub(crate) fn is_shared(&self, id: IdHash) -> bool {
        self.entries.get(&id).is_some_and(|count| *count > 1)
    }

    /// Returns the entries that several sessions contain.
    pub(crate) fn shared(self) -> ById<()> {
        self.entries.into_iter().filter(|(_, count)| *count > 1).map(|(id, _)| (id, ())).collect()
    }
}

/// Returns the hashes of the IDs of a session. A damaged session can have an ID twice.
fn unique_ids(session: &SharedLazySession) -> impl Iterator<Item = IdHash> {
    let ids: ById<()> = session.uncached_digest().details_once().entries.ids.iter().map(|&id| (id, ())).collect();
    ids.into_keys()
}

#[cfg(test)]
mod tests {
    use crate::catalog::tests::catalog;

    #[test]
    fn finds_files_outside_project_folders() {
        let all = ["/s/--p--/a.jsonl", "/s/stray.jsonl", "/flat/b.jsonl", "/flat/x/c.jsonl", "/s/--p--/d/e.jsonl"];
        let catalog = catalog(&all.map(|path| (path, None, 1)));
        let unlisted = |path: &str| {
            let key = catalog.key_of(path.as_ref()).unwrap();
            let project = catalog.project_of_family(key);
            catalog.is_unlisted(project).then(|| catalog.dir(project).to_string())
        };
        assert_eq!(all.map(unlisted), [None, Some("/s".into()), None, None, None]);
    }

    #[test]
    fn projects_of_files_outside_project_folders_name_their_machine() {
        let mirror = "/data/machine-mirrors/box/%2Fs";
        let [inside, outside] = ["--p--/a.jsonl", "stray.jsonl"].map(|name| format!("{mirror}/{name}"));
        let catalog = catalog(&[(&inside, None, 1), (&outside, None, 1)]);
        let key = catalog.key_of(outside.as_ref()).unwrap();
        assert_eq!(&**catalog.dir(catalog.project_of_family(key)), "box:/s");
    }
}
