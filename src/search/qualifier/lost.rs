//! The conditions of `is:lost`. The query scope has what is known of lost work.

use crate::search::candidate::{EntryScope, Test};
use crate::search::qualifier::value::QueryScope;

/// Returns the test of sessions for lost work.
pub(super) fn test(here: &QueryScope) -> Test {
    let known = here.lost.clone();
    Box::new(move |session| known.as_ref().is_some_and(|known| !known.ends(&session.digest.path).is_empty()).into())
}

/// Returns the ends of the branches with lost work.
pub(super) fn scope(here: &QueryScope) -> EntryScope {
    let known = here.lost.clone();
    EntryScope::Known(Box::new(move |session| {
        known.as_ref().map_or(Vec::new(), |known| known.ends(&session.digest.path).to_vec())
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::candidate::TestResult;
    use crate::search::lost_work::{LostSessions, LostWork};
    use crate::search::qualifier::test_sample;

    #[test]
    fn sessions_and_branch_ends_match() {
        let session = test_sample::Sample::default();
        let lost = LostWork { ends: vec![7, 3], files: Vec::new() };
        let known = LostSessions([(session.digest.path.clone(), lost)].into());
        let here = QueryScope { lost: Some(Arc::new(known)), ..test_sample::here() };
        assert_eq!(test(&here)(&session.candidate()), TestResult::At(None));
        let EntryScope::Known(ends) = scope(&here) else { panic!("entries are known") };
        assert_eq!(ends(&session.candidate()), [7, 3]);
        assert_eq!(test(&test_sample::here())(&session.candidate()), TestResult::No);
    }
}
