//! `cost:` The cost of a session.

use crate::search::qualifier::definition::{Qualifier, Test};
use crate::search::qualifier::value::bound::Bound;
use crate::search::scope::QueryScope;

pub(crate) struct Cost;

impl Qualifier for Cost {
    type Value = Bound;

    const NAME: &'static str = "cost";
    const HELP: &'static str = "by what they cost, in US dollars";
    const EXAMPLE: &'static str = "cost:>1";

    fn test(bound: &Bound, _: &QueryScope) -> Test {
        let bound = *bound;
        Box::new(move |session| bound.holds(session.digest.cost).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::Sample;

    #[test]
    fn compares_what_it_cost() {
        let mut session = Sample::default();
        session.digest.cost = 1.5;
        assert!(session.is::<Cost>(">1") && session.is::<Cost>("$1.5") && !session.is::<Cost>(">1.5"));
    }
}
