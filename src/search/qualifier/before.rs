//! `before:` Sessions last active before a time.

use crate::search::qualifier::definition::{Qualifier, Test};
use crate::search::qualifier::value::date::DateValue;
use crate::search::scope::QueryScope;

pub(crate) struct Before;

impl Qualifier for Before {
    type Value = DateValue;

    const NAME: &'static str = "before";
    const HELP: &'static str = "that were last active before then";
    const EXAMPLE: &'static str = "before:2026-05";

    fn test(when: &DateValue, here: &QueryScope) -> Test {
        let time = when.ms(here);
        Box::new(move |session| session.digest.modified.is_some_and(|modified| modified < time).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::{Sample, here};

    #[test]
    fn the_time_itself_is_not_before_it() {
        let mut session = Sample::default();
        assert!(!session.is::<Before>("2w"), "it is not known when it was active");
        session.digest.modified = Some(here().now_ms - 14 * 86_400_000);
        assert!(session.is::<Before>("13d") && session.is::<Before>("2026-05") && !session.is::<Before>("2w"));
    }
}
