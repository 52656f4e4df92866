//! `size:` The size of a session file.

use crate::search::qualifier::definition::{Qualifier, Test};
use crate::search::qualifier::value::bound::Bound;
use crate::search::scope::QueryScope;

pub(crate) struct Size;

impl Qualifier for Size {
    type Value = Bound;

    const NAME: &'static str = "size";
    const HELP: &'static str = "by how long the file is, in bytes";
    const EXAMPLE: &'static str = "size:>1M";

    fn test(bound: &Bound, _: &QueryScope) -> Test {
        let bound = *bound;
        Box::new(move |session| bound.holds(session.digest.bytes as f64).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::Sample;

    #[test]
    fn compares_the_length_of_the_file() {
        let mut session = Sample::default();
        session.digest.bytes = 1_000_000;
        assert!(session.is::<Size>("1M") && session.is::<Size>("=1000k") && !session.is::<Size>(">1MB"));
    }
}
