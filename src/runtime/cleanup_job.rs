//! Suggestions for a clean-up, and plans of slimming, for the browser and the command line. Each session is suggested by one
//! rule only.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::sort;
use crate::catalog::SessionKey;
use crate::catalog::cleanup::{CleanCandidate, CleanRequest, CleanRule, CleanSuggestion, LARGE, LeftoverFile};
use crate::catalog::relations::{EntryCounts, SharingSessions};
use crate::changes::slim::{PlannedSession, SlimOverview, SlimmingWriter};
use crate::changes::{ExpectedSession, SharedRewriter};
use crate::disk::fingerprint::Fingerprint;
use crate::disk::leftovers::leftovers;
use crate::disk::parallel::{self, StopSignal};
use crate::disk::{files, load, scan};

use crate::session::digest::listed::SharedLazySession;
use crate::session::entry::kind::EntryKind;
use crate::session::links::ById;
use crate::session::write::slim::SlimRules;

/// The maximum number of messages of an empty session: a prompt and a failed answer.
const FEW: usize = 2;

/// The directories with leftovers: the session directories, and pitree's state directory.
pub(crate) type LeftoverDirs<'a> = (&'a [PathBuf], Option<&'a Path>);

/// Returns the suggestions with sessions or files, in the order of the rules, and the plan of slimming. Returns `None` once
/// `is_wanted` returns `false`.
pub(crate) fn suggest(
    request: &CleanRequest,
    dirs: LeftoverDirs<'_>,
    is_wanted: &dyn Fn() -> bool,
) -> Option<(Vec<CleanSuggestion>, Option<SlimOverview>)> {
    let (mut taken, mut all, mut slimming) = (HashSet::new(), Vec::new(), None);
    let last = request.rules.iter().filter(|rule| **rule != CleanRule::Leftovers).max();
    for &rule in CleanRule::ALL {
        let is_chosen = request.rules.contains(&rule);
        let suggestion = match rule {
            CleanRule::Slim if is_chosen => {
                let (suggestion, overview) = slim(request, &taken, is_wanted)?;
                slimming = Some(overview);
                suggestion
            }
            CleanRule::Leftovers if is_chosen => of_files(dirs),
            CleanRule::Slim | CleanRule::Leftovers => continue,
            _ if last.is_none_or(|last| rule > *last) => continue,
            // Earlier rules take sessions even if they are not chosen, so that a session always has the same rule.
            _ => sessions(request, rule, &mut taken, is_wanted)?,
        };
        if is_chosen && suggestion.count() > 0 {
            all.push(suggestion);
        }
    }
    Some((all, slimming))
}

/// Returns the sessions for a rule that moves them to the trash.
fn sessions(
    request: &CleanRequest,
    rule: CleanRule,
    taken: &mut HashSet<SessionKey>,
    is_wanted: &dyn Fn() -> bool,
) -> Option<CleanSuggestion> {
    let mut found: Vec<&CleanCandidate> = Vec::new();
    let mut staying: HashMap<usize, EntryCounts> = HashMap::new();
    for candidate in &request.candidates {
        if !is_wanted() {
            return None;
        }
        let facts = candidate.session.facts();
        let is_found = !taken.contains(&candidate.key)
            && match rule {
                CleanRule::Empty => is_empty(candidate),
                CleanRule::Duplicates => is_duplicate(candidate),
                CleanRule::Subagents => facts.is_subagent() && facts.mtime().max(facts.order_time()) < request.old,
                CleanRule::Forks => {
                    let group = staying.entry(candidate.sharing.as_ptr().addr()).or_insert_with(|| {
                        let mut counts = EntryCounts::default();
                        let stays = candidate.sharing.iter().filter(|(other, _)| !taken.contains(other));
                        stays.for_each(|(_, session)| counts.add(session));
                        counts
                    });
                    let is_found = adds_nothing(candidate, group);
                    if is_found {
                        group.remove(&candidate.session);
                    }
                    is_found
                }
                CleanRule::Slim | CleanRule::Leftovers => false,
            };
        if is_found {
            taken.insert(candidate.key);
            found.push(candidate);
        }
    }
    // A remaining fork would lose its parent.
    loop {
        let (kept, used): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|candidate| candidate.children.iter().all(|child| taken.contains(child)));
        found = kept;
        if used.is_empty() {
            break;
        }
        for candidate in used {
            taken.remove(&candidate.key);
        }
    }
    let bytes = found.iter().map(|candidate| candidate.session.facts().bytes()).sum();
    let sessions = found.iter().map(|candidate| candidate.key).collect();
    Some(CleanSuggestion { rule, sessions, files: Vec::new(), bytes })
}

/// Returns the sessions that slimming makes much smaller.
fn slim(
    request: &CleanRequest,
    taken: &HashSet<SessionKey>,
    is_wanted: &dyn Fn() -> bool,
) -> Option<(CleanSuggestion, SlimOverview)> {
    let is_large =
        |candidate: &&CleanCandidate| candidate.session.facts().bytes() > LARGE && !taken.contains(&candidate.key);
    let large: Vec<&CleanCandidate> = request.candidates.iter().filter(is_large).collect();
    let target = |candidate: &&CleanCandidate| (candidate.session.clone(), candidate.sharing.clone());
    let targets: Vec<_> = large.iter().map(target).collect();
    let mut overview = plan_slimming(&targets, SlimRules::default(), |_| is_wanted())?;
    overview.planned.retain(|planned| planned.savings.total > LARGE);
    let saves: HashSet<&Path> = overview.planned.iter().map(|planned| &*planned.session.path).collect();
    let is_planned = |candidate: &&&CleanCandidate| saves.contains(&*candidate.session.file_path());
    let sessions = large.iter().filter(is_planned).map(|candidate| candidate.key).collect();
    let (rule, files, bytes) = (CleanRule::Slim, Vec::new(), overview.total());
    Some((CleanSuggestion { rule, sessions, files, bytes }, overview))
}

/// Returns the leftovers.
fn of_files((dirs, state): LeftoverDirs<'_>) -> CleanSuggestion {
    let file = |path: PathBuf| {
        let (bytes, mtime) = scan::one(&path, None)?.version();
        Some(LeftoverFile { path, bytes, mtime })
    };
    let files: Vec<LeftoverFile> = leftovers(dirs, state).into_iter().filter_map(file).collect();
    let bytes = files.iter().map(|file| file.bytes).sum();
    CleanSuggestion { rule: CleanRule::Leftovers, sessions: Vec::new(), files, bytes }
}

/// Returns `true` for an unnamed session without a prompt, or without an answer to the only one.
fn is_empty(candidate: &CleanCandidate) -> bool {
    let facts = candidate.session.facts();
    if facts.is_named() || candidate.is_fork {
        return false;
    }
    let digest = candidate.session.uncached_digest();
    if digest.message_count > FEW || !digest.problems.is_empty() {
        return false;
    }
    let details = digest.details_once();
    details.prompts.is_empty() || (details.prompts.len() == 1 && details.last_answer.is_none())
}

/// Returns `true` if another file has the same content and is kept: one with forks, or else the one with the first path.
fn is_duplicate(candidate: &CleanCandidate) -> bool {
    let path = candidate.session.file_path();
    let is_kept = |(other, is_parent): &&(PathBuf, bool)| *is_parent || *other < path;
    let mut kept = candidate.same.iter().filter(is_kept).peekable();
    if !candidate.children.is_empty() || kept.peek().is_none() {
        return false;
    }
    let Ok(own) = Fingerprint::of(&path) else { return false };
    kept.any(|(other, _)| Fingerprint::of(other).is_ok_and(|other| other == own))
}

/// Returns `true` for a fork whose entries are all in other sessions of those that stay, besides settings that pi writes.
fn adds_nothing(candidate: &CleanCandidate, staying: &EntryCounts) -> bool {
    if !candidate.is_fork || staying.sessions < 2 {
        return false;
    }
    let digest = candidate.session.uncached_digest();
    let details = digest.details_once();
    let own = (0..).zip(details.entries.ids.iter()).filter(|(_, id)| !staying.is_shared(**id));
    let own: Vec<usize> = own.map(|(at, _)| at).collect();
    let is_setting = |kind: EntryKind| matches!(kind, EntryKind::ModelChange | EntryKind::ThinkingLevel);
    own.is_empty()
        || load::tree(&digest.path, "")
            .is_ok_and(|tree| own.iter().all(|&at| tree.nodes.get(at).is_some_and(|node| is_setting(node.kind))))
}

/// A session, and its group.
pub(crate) type SlimTarget = (SharedLazySession, SharingSessions);

/// Plans what to remove from sessions. `report` gets their number so far, and returns `false` to cancel. Returns `None` if it
/// was canceled.
pub(crate) fn plan_slimming(
    targets: &[SlimTarget],
    rules: SlimRules,
    mut report: impl FnMut(usize) -> bool,
) -> Option<SlimOverview> {
    type Planned = Result<(PlannedSession, PathBuf, Arc<ById<()>>), (PathBuf, String)>;
    let mut groups: HashMap<usize, Arc<ById<()>>> = HashMap::new();
    for (_, group) in targets {
        groups.entry(group.as_ptr().addr()).or_insert_with(|| {
            let mut counts = EntryCounts::default();
            group.iter().for_each(|(_, session)| counts.add(session));
            counts.shared().into()
        });
    }
    let work = |(session, group): &SlimTarget, (): &mut (), stop: StopSignal<'_>| -> Option<Planned> {
        let path = session.path.clone();
        let real = files::resolved(&path);
        let shared = groups.get(&group.as_ptr().addr()).cloned().unwrap_or_default();
        let writer = SlimmingWriter { rules: rules.clone(), shared: HashMap::from([(real.clone(), shared.clone())]) };
        Some(match writer.plan(&path, || !stop()) {
            Ok(plan) => {
                let expected = ExpectedSession::of(&session.facts());
                let planned =
                    PlannedSession { session: expected, bytes: session.facts().bytes(), savings: plan.savings };
                Ok((planned, real, shared))
            }
            Err(error) => Err((path, format!("{error:#}"))),
        })
    };
    let lost = |(session, _): &SlimTarget, reason| Some(Err((session.path.clone(), reason)));
    let (mut planned, mut failed, mut shared) = (Vec::new(), Vec::new(), HashMap::new());
    let mut is_complete = true;
    parallel::each(targets, (work, lost), |batch: Vec<Planned>, done| {
        for result in batch {
            match result {
                Ok((session, real, entries)) => {
                    planned.push(session);
                    shared.insert(real, entries);
                }
                Err(failure) => failed.push(failure),
            }
        }
        is_complete = report(done);
        is_complete
    });
    sort::by_key(&mut planned, |planned| (std::cmp::Reverse(planned.savings.total), planned.session.path.clone()));
    failed.sort();
    let writer = SharedRewriter(Arc::new(SlimmingWriter { rules: rules.clone(), shared }));
    is_complete.then_some(SlimOverview { rules, planned, failed, writer })
}
