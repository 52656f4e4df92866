//! `after:` Sessions last active at or after a time.

use crate::search::qualifier::definition::{Qualifier, Test};
use crate::search::qualifier::value::date::DateValue;
use crate::search::scope::QueryScope;

pub(crate) struct After;

impl Qualifier for After {
    type Value = DateValue;

    const NAME: &'static str = "after";
    const HELP: &'static str = "that were last active then or later";
    const EXAMPLE: &'static str = "after:2w";

    fn test(when: &DateValue, here: &QueryScope) -> Test {
        let time = when.ms(here);
        Box::new(move |session| session.digest.modified.is_some_and(|modified| modified >= time).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::{Sample, here};

    #[test]
    fn the_time_itself_is_not_before_it() {
        let mut session = Sample::default();
        assert!(!session.is::<After>("2w"), "it is not known when it was active");
        session.digest.modified = Some(here().now_ms - 14 * 86_400_000);
        assert!(session.is::<After>("2w") && session.is::<After>("1970") && !session.is::<After>("13d"));
    }
}
