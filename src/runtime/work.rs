//! What the effects that read or change files do, whoever runs them: the threads of the browser, or a test without any.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use crate::app::message::{After, Changed, Effect, Failure, Fork, Msg};
use crate::app::model::Setting;
use crate::app::{find, spots};
use crate::base::fold::fold;
use crate::changes::{Changes, Done, Refusal, Request};
use crate::disk::files::Files;
use crate::disk::load;
use crate::disk::load::Bodies;
use crate::disk::{live, scan};
use crate::library::hits;
use crate::render;
use crate::render::DocLine;
use crate::runtime::finder::Finder;
use crate::session::entry::read;
use crate::session::family;
use crate::session::tree::node::Node;
use crate::session::tree::{Index, Tree};

/// Where and for whom effects are carried out.
#[derive(Clone, Debug)]
pub struct Desk {
    /// What does not change.
    pub setting: Arc<Setting>,
    /// Where bytes come from.
    pub files: Files,
    /// Who makes changes; `None` where nothing can be changed.
    pub changes: Option<Changes>,
    /// Who finds sessions.
    pub finder: Arc<Finder>,
}

impl Desk {
    /// Does what `effect` wants and passes on what comes of it, until that is all or `reply` returns false. Gives up
    /// when `is_stale` says that nobody waits for it any more. Effects that touch no file are the loop's own.
    pub fn work(&self, effect: Effect, is_stale: impl Fn() -> bool + Sync, mut reply: impl FnMut(Msg) -> bool) {
        match effect {
            Effect::Scan { scan } => self.scan(scan, is_stale, reply),
            Effect::Open { open, path } => {
                let end = load::end(self.files, &path, &self.setting.home);
                if end.is_some_and(|end| !reply(Msg::Opened { open, tree: Ok(Arc::new(end)) })) || is_stale() {
                    return;
                }
                let tree = load::tree(self.files, &path, &self.setting.home).map(Arc::new);
                reply(Msg::Opened { open, tree: tree.map_err(|error| format!("{error:#}")) });
            }
            Effect::Split { split, tree, forks } => {
                let mut found = Vec::new();
                for session in forks {
                    if is_stale() {
                        return;
                    }
                    let fork = load::tree(self.files, &session.path, &self.setting.home).ok();
                    let split = fork.and_then(|fork| family::split(&tree, &fork));
                    found.extend(split.map(|split| Fork { session, split }));
                }
                reply(Msg::Split { split, forks: found });
            }
            Effect::Read { read, path, tree, at } => {
                let doc = self.document(&path, &tree, at).map_err(|error| format!("{error:#}"));
                reply(Msg::Read { read, doc });
            }
            Effect::Find { find, path, tree, words } => {
                let has = |texts: &str| words.is_in(&fold(texts));
                let mut is_first = true;
                hits::each(self.files, &path, &tree, has, |found, is_last| {
                    if found.is_empty() && !is_last {
                        return !is_stale();
                    }
                    let hits = found.into_iter().map(|at| find::seen(&tree, at)).collect();
                    let first_last = (std::mem::take(&mut is_first), is_last);
                    reply(Msg::Hits { find, hits, first_last }) && !is_stale()
                });
            }
            Effect::List { list, wanted, paths } => {
                let spots = |path: &PathBuf, tree: Option<Tree>| {
                    (path.clone(), tree.map_or(Vec::new(), |tree| spots::of(&tree, &wanted, &self.setting.home)))
                };
                load::many(self.files, &paths, &self.setting.home, spots, |found, done| {
                    reply(Msg::Listed { list, found, done }) && !is_stale()
                });
            }
            Effect::Change { request, now, after } => {
                reply(Msg::Changed(Box::new(self.change(request, now, after))));
            }
            Effect::Text { path, tree, at, then } => {
                let text = self.line(&path, &tree, at).map(|line| {
                    let entry = read::line(&line).ok().flatten();
                    entry.map_or(String::new(), |entry| entry.text())
                });
                reply(Msg::Text { text: text.map_err(|error| format!("{error:#}")), then });
            }
            Effect::ReadTexts { sessions } => {
                self.finder
                    .read(self.files, &sessions, |done, total| !is_stale() && reply(Msg::TextsRead { done, total }));
                if !is_stale() {
                    reply(Msg::Values(Arc::new(self.finder.values(&sessions))));
                }
            }
            Effect::Search { search, query, sessions, around } if query.everything && !query.words().is_empty() => {
                let all = sessions.len();
                let told = |hits, done| {
                    let progress = (done < all).then_some((done, all));
                    reply(Msg::SessionsFound { search, hits, more: true, progress })
                };
                self.finder.find_everything((self.files, &sessions), (&query, &around), is_stale, told);
            }
            Effect::Search { search, query, sessions, around } => {
                let hits = self.finder.find(&query, &sessions, &around, is_stale);
                hits.map(|hits| reply(Msg::SessionsFound { search, hits, more: false, progress: None }));
            }
            Effect::Resume { .. } | Effect::Copy { .. } | Effect::Answer(_) | Effect::Suspend | Effect::Quit => {}
        }
    }

    fn change(&self, request: Request, now: i64, after: After) -> Changed {
        let result = match &self.changes {
            Some(changes) => changes.make(&request, now),
            None => Err(anyhow!("there is no home directory to keep the journal of changes in")),
        };
        let mut touched: Vec<PathBuf> = match &request {
            Request::Rename { path, .. }
            | Request::Label { path, .. }
            | Request::MoveLeaf { path, .. }
            | Request::Fork { path, .. } => vec![path.clone()],
            Request::Trash { files } | Request::Delete { files } => {
                files.iter().map(|file| file.path.clone()).collect()
            }
            Request::Undo { .. } | Request::Redo => Vec::new(),
        };
        if let Ok(Done { changes, made, .. }) = &result {
            let changed = changes.iter().map(|change| change.path()).chain(made.as_deref());
            // Undo may reach files that are not browsed now.
            let is_browsed = |path: &&Path| self.setting.located.dirs.iter().any(|dir| path.starts_with(dir));
            touched.extend(changed.filter(is_browsed).map(Path::to_path_buf));
        }
        touched.sort();
        touched.dedup();
        let (mut read, mut gone) = (Vec::new(), Vec::new());
        for path in touched {
            match scan::again(&path, None) {
                Ok(Some(mut summary)) => {
                    summary.first_message.as_mut().map(shorten);
                    read.push(summary);
                }
                Ok(None) => gone.push(path),
                Err(_) => {} // the list keeps what it knows
            }
        }
        let result = result.map_err(|error| match error.downcast_ref::<Refusal>() {
            Some(refusal) => Failure::Refused(refusal.clone()),
            None => Failure::Failed(format!("{error:#}")),
        });
        Changed { request, result, read, gone, after }
    }

    /// The line of an entry, as long as it is still that.
    fn line(&self, path: &Path, tree: &Tree, at: Index) -> Result<Vec<u8>> {
        let line = Bodies::open(self.files, path)?.line(&tree.nodes[at as usize])?;
        if !is_line_of(&line, &tree.nodes[at as usize]) {
            bail!("{} changed since it was opened; reload to see it as it is now", path.display());
        }
        Ok(line)
    }

    fn document(&self, path: &Path, tree: &Tree, at: Index) -> Result<Vec<DocLine>> {
        let line = self.line(path, tree, at)?;
        let mut bodies = Bodies::open(self.files, path)?;
        let related = render::entry::related(tree, at).into_iter();
        let related: Result<Vec<Vec<u8>>> = related.map(|at| bodies.line(&tree.nodes[at as usize])).collect();
        Ok(render::entry::document(tree, at, &line, &related?, &self.setting.zone))
    }

    fn scan(&self, scan: u64, is_stale: impl Fn() -> bool, mut reply: impl FnMut(Msg) -> bool) {
        let finds = scan::find(self.files, &self.setting.located.dirs);
        let found = Msg::Found { scan, total: finds.files.len(), unreadable: finds.unreadable };
        if !reply(found) || !reply(Msg::Live(live::working_dirs())) {
            return;
        }
        let mut known = HashSet::new();
        scan::read(self.files, &finds.files, |mut batch| {
            for first in batch.sessions.iter_mut().filter_map(|session| session.first_message.as_mut()) {
                shorten(first);
            }
            let fresh = batch.sessions.iter().map(|session| &session.header.cwd);
            let fresh: HashSet<String> = fresh.filter(|cwd| !known.contains(*cwd)).cloned().collect();
            let is_gone = |cwd: &&String| !cwd.is_empty() && !self.files.is_dir(Path::new(cwd.as_str()));
            let gone = fresh.iter().filter(is_gone).cloned().collect();
            known.extend(fresh);
            !is_stale() && reply(Msg::Scanned { scan, batch, gone })
        });
        reply(Msg::ScanDone { scan });
    }
}

/// Whether a line is still that of an entry: pi rewrites old files when it opens them.
fn is_line_of(line: &[u8], node: &Node) -> bool {
    match (read::line(line), &node.id) {
        (Ok(Some(entry)), Some(id)) => entry.id.is_some_and(|now| now.is(id)),
        (Ok(Some(_)), None) => true,
        _ => false,
    }
}

/// The first message is shown as a title and in a card: of a pasted file only the beginning is kept for that.
fn shorten(first_message: &mut String) {
    const KEPT: usize = 2000;
    if let Some((end, _)) = first_message.char_indices().nth(KEPT) {
        first_message.truncate(end);
        first_message.shrink_to_fit();
    }
}
