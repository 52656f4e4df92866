//! `on:` The machines with a session: that of its file and those of its copies.

use crate::base::machine_paths::{HERE, machine};
use crate::search::candidate::Test;
use crate::search::qualifier::value::Text;

/// Returns the test of sessions for a machine, by its whole name in any case.
pub(super) fn test(wanted: &Text) -> Test {
    let wanted = wanted.0.clone();
    Box::new(move |session| {
        let is_it = |name: Option<&str>| name.unwrap_or(HERE).eq_ignore_ascii_case(&wanted);
        (is_it(machine(&session.digest.path)) || session.copies.iter().any(|name| is_it(name.as_deref()))).into()
    })
}

#[cfg(test)]
mod tests {
    use crate::search::qualifier::test_sample::Sample;

    #[test]
    fn sessions_and_copies_match_by_machine() {
        let mut session = Sample::default();
        let on = |session: &Sample| ["on:here", "on:BOX", "on:gpu", "on:bo"].map(|query| session.is(query));
        assert_eq!(on(&session), [true, false, false, false]);
        session.copies = vec![Some("gpu".into())];
        assert_eq!(on(&session), [true, false, true, false]);
        session.digest.path = "/data/machine-mirrors/box/%2Fs/--a--/a.jsonl".into();
        assert_eq!(on(&session), [false, true, true, false]);
        session.copies.push(None);
        assert_eq!(on(&session), [true; 3].into_iter().chain([false]).collect::<Vec<_>>()[..]);
    }
}
