//! `label:` The labels of entries.

use crate::search::candidate::{MatchField, MatchPlace};
use crate::search::qualifier::definition::{EntryScope, Qualifier, Test};
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;

pub(crate) struct Label;

impl Qualifier for Label {
    type Value = Text;

    const NAME: &'static str = "label";
    const HELP: &'static str = "with such a label";
    const EXAMPLE: &'static str = "label:works";

    fn choices(values: ValueList<'_>) -> Vec<&str> {
        values.labels.iter().map(String::as_str).collect()
    }

    fn implies(narrow: &Text, wide: &Text) -> bool {
        narrow.has_piece(wide)
    }

    fn test(label: &Text, _: &QueryScope) -> Test {
        let wanted = label.folded();
        let place = move |(entry, label): (_, &str)| {
            let at = label.find(&wanted)?;
            Some(MatchPlace { field: MatchField::Label, entry: Some(entry), at: at..at + wanted.len() })
        };
        Box::new(move |session| session.titles.labels.each().find_map(&place).into())
    }

    fn scope(label: &Text, _: &QueryScope) -> EntryScope {
        let wanted = label.folded();
        EntryScope::Known(Box::new(move |session| {
            let labels = session.titles.labels.each();
            labels.filter(|(_, label)| label.contains(&wanted)).map(|(entry, _)| entry).collect()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::definition::TestResult;
    use crate::search::qualifier::sample::Sample;

    #[test]
    fn says_at_which_entry_and_where_in_the_label() {
        let session = Sample::of(&[
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"x"}}"#,
            r#"{"type":"label","id":"2","parentId":"1","targetId":"1","label":"It Works"}"#,
        ]);
        let place = MatchPlace { field: MatchField::Label, entry: Some(0), at: 3..7 };
        assert_eq!(session.test::<Label>("work"), TestResult::At(Some(place)));
        assert_eq!(session.test::<Label>("broke"), TestResult::No);
    }
}
