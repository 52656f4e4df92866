//! `model:` The models that answered.

use crate::base::normalize::fold;
use crate::search::qualifier::definition::{EntryScope, Qualifier, Test};
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;
use crate::session::entry::kind::EntryKind;

pub(crate) struct Model;

impl Qualifier for Model {
    type Value = Text;

    const NAME: &'static str = "model";
    const HELP: &'static str = "in which such a model answered";
    const EXAMPLE: &'static str = "model:sonnet";

    fn choices(values: ValueList<'_>) -> Vec<&str> {
        values.models.iter().map(String::as_str).collect()
    }

    fn implies(narrow: &Text, wide: &Text) -> bool {
        narrow.has_piece(wide)
    }

    fn test(model: &Text, _: &QueryScope) -> Test {
        let wanted = model.folded();
        Box::new(move |session| {
            session.digest.details_once().model_names().any(|model| fold(model).contains(&wanted)).into()
        })
    }

    fn scope(model: &Text, _: &QueryScope) -> EntryScope {
        let wanted = model.folded();
        EntryScope::Read(Box::new(move |entry| {
            let answer = entry.message.as_ref().filter(|_| entry.kind == EntryKind::Assistant);
            let names = answer.into_iter().flat_map(|answer| [answer.model, answer.response_model]).flatten();
            names.into_iter().any(|name| fold(&name.text()).contains(&wanted))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::Sample;

    #[test]
    fn a_piece_of_its_name_is_enough() {
        let session = Sample::calling("read", "a");
        assert!(session.is::<Model>("sonnet") && session.is::<Model>("Claude") && !session.is::<Model>("opus"));
    }
}
