//! The sessions that are shown first if there are many.

use crate::session::digest::listed::SharedSession;

/// Returns the newest of some sessions.
pub(super) fn newest_sessions(sessions: &[SharedSession], count: usize) -> Vec<SharedSession> {
    // Forks belong to their parents, which may be old.
    let facts = sessions.iter().map(|session| session.facts()).enumerate();
    let timed = facts.filter(|(_, facts)| !facts.is_fork()).map(|(at, facts)| (facts.order_time(), at));
    let mut timed: Vec<(i64, usize)> = timed.collect();
    if timed.len() > count {
        timed.select_nth_unstable_by(count, |one, other| other.cmp(one));
        timed.truncate(count);
    }
    timed.into_iter().map(|(_, at)| sessions[at].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::digest::Digest;

    #[test]
    fn the_newest_sessions_without_forks_come_first() {
        let session = |modified: i64, parent: Option<&str>| {
            let mut digest = Digest { modified: Some(modified), ..Digest::default() };
            digest.header.parent_session = parent.map(String::from);
            SharedSession::from(digest)
        };
        let all = [session(1, None), session(5, Some("/a")), session(3, None), session(2, None)];
        let times = |count| {
            let mut times: Vec<i64> = newest_sessions(&all, count).iter().map(|one| one.facts().order_time()).collect();
            times.sort();
            times
        };
        assert_eq!([times(0), times(2), times(9)], [vec![], vec![2, 3], vec![1, 2, 3]]);
    }
}
