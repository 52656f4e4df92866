//! The conditions of `is:secret` and `secret:`. The query scope has what is known of secrets.

use crate::search::candidate::{EntryScope, Test};
use crate::search::qualifier::contains;
use crate::search::qualifier::value::{QueryScope, Text};

/// Returns the test of sessions for secrets found by a matching rule, or by any rule.
pub(super) fn test(rule: Option<&Text>, here: &QueryScope) -> Test {
    let (known, is_wanted) = (here.secrets.clone(), by(rule));
    Box::new(move |session| known.as_ref().is_some_and(|known| known.is_in(&session.digest.path, &is_wanted)).into())
}

/// Returns the entries with such secrets.
pub(super) fn scope(rule: Option<&Text>, here: &QueryScope) -> EntryScope {
    let entries = here.secrets.as_ref().map(|known| known.entries(by(rule))).unwrap_or_default();
    EntryScope::Read(Box::new(move |entry| entry.id.is_some_and(|id| entries.contains(&*id.text()))))
}

fn by(rule: Option<&Text>) -> impl Fn(&str) -> bool + Send + Sync + use<> {
    let is_such = rule.map(contains);
    move |name| is_such.as_ref().is_none_or(|is_such| is_such(name))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::candidate::TestResult;
    use crate::search::known_secrets::{KnownSecret, KnownSecrets};
    use crate::search::qualifier::test_sample::{Sample, here};
    use crate::session::entry::parse;

    #[test]
    fn sessions_and_entries_match_by_the_rule() {
        let session = Sample::default();
        let secret = KnownSecret { rule: "github-token".into(), entry: Some("e".into()) };
        let known = KnownSecrets([(session.digest.path.clone(), vec![secret])].into());
        let here = QueryScope { secrets: Some(Arc::new(known)), ..here() };
        for (rule, is_found) in [(None, true), (Some("GitHub"), true), (Some("aws"), false)] {
            let rule = rule.map(|rule| Text(rule.into()));
            let found = test(rule.as_ref(), &here)(&session.candidate());
            assert_eq!(found, if is_found { TestResult::At(None) } else { TestResult::No });
            let EntryScope::Read(has_secret) = scope(rule.as_ref(), &here) else { panic!("entries are read") };
            let entry = |id: &str| format!(r#"{{"type":"custom","id":"{id}","parentId":null,"customType":"x"}}"#);
            let is_in = |id: &str| has_secret(&parse::line(entry(id).as_bytes()).unwrap().unwrap());
            assert_eq!((is_in("e"), is_in("f")), (is_found, false));
        }
        assert_eq!(test(None, &super::super::test_sample::here())(&session.candidate()), TestResult::No);
    }
}
