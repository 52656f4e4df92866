//! Plans of slimming, for the browser and the command line.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::sort;
use crate::catalog::relations::{EntryCounts, SharingSessions};
use crate::changes::slim::{PlannedSession, SlimOverview, SlimmingWriter};
use crate::changes::{ExpectedSession, SharedRewriter};
use crate::disk::files;
use crate::disk::parallel::{self, StopSignal};
use crate::session::digest::listed::SharedSession;
use crate::session::links::ById;
use crate::session::write::slim::SlimRules;

/// A session, and its group.
pub(crate) type SlimTarget = (SharedSession, SharingSessions);

/// Plans what to remove from sessions. `report` gets their number so far, and returns `false` to cancel. Returns `None` if it
/// was canceled.
pub(crate) fn plan(
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
