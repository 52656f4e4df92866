//! `entries:` The number of entries of a session.

use crate::search::qualifier::definition::{Qualifier, Test};
use crate::search::qualifier::value::bound::Bound;
use crate::search::scope::QueryScope;

pub(crate) struct Entries;

impl Qualifier for Entries {
    type Value = Bound;

    const NAME: &'static str = "entries";
    const HELP: &'static str = "by how many entries they have";
    const EXAMPLE: &'static str = "entries:<=20";

    fn test(bound: &Bound, _: &QueryScope) -> Test {
        let bound = *bound;
        Box::new(move |session| bound.holds(session.digest.entry_count as f64).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::Sample;

    #[test]
    fn compares_the_number_of_entries() {
        let mut session = Sample::default();
        session.digest.entry_count = 20;
        assert!(session.is::<Entries>("<=20") && session.is::<Entries>("20") && !session.is::<Entries>("<20"));
    }
}
