//! `tool:` The tools that were called.

use crate::base::normalize::fold;
use crate::search::qualifier::definition::{EntryScope, Qualifier, Test};
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;
use crate::session::entry::kind::EntryKind;
use crate::session::json::Str;

pub(crate) struct Tool;

impl Qualifier for Tool {
    type Value = Text;

    const NAME: &'static str = "tool";
    const HELP: &'static str = "in which such a tool was called";
    const EXAMPLE: &'static str = "tool:bash";

    fn choices(values: ValueList<'_>) -> Vec<&str> {
        values.tools.iter().map(String::as_str).collect()
    }

    fn implies(narrow: &Text, wide: &Text) -> bool {
        narrow.has_piece(wide)
    }

    fn test(tool: &Text, _: &QueryScope) -> Test {
        let wanted = tool.folded();
        Box::new(move |session| {
            session.digest.details_once().tools.keys().any(|tool| fold(tool).contains(&wanted)).into()
        })
    }

    /// A call counts at the entry of its result.
    fn scope(tool: &Text, _: &QueryScope) -> EntryScope {
        let wanted = tool.folded();
        EntryScope::Read(Box::new(move |entry| {
            let answer = entry.message.as_ref().filter(|_| entry.kind == EntryKind::ToolResult);
            let is_it = |name: Str<'_>| fold(&name.text()).contains(&wanted);
            answer.is_some_and(|answer| {
                answer.tool_name.is_some_and(is_it) || answer.nested_calls().any(|nested| is_it(nested.call.name))
            })
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
        assert!(session.is::<Tool>("READ") && session.is::<Tool>("ea") && !session.is::<Tool>("edit"));
    }
}
