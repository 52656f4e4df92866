//! `edited:` Files written or edited by tools.

use crate::search::qualifier::definition::{EntryScope, Qualifier, Test};
use crate::search::qualifier::file::{File, touched, touching};
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;
use crate::search::value_lists::ValueList;
use crate::session::entry::tool_call::Touch;

pub(crate) struct Edited;

impl Qualifier for Edited {
    type Value = Text;

    const NAME: &'static str = "edited";
    const HELP: &'static str = "in which a tool wrote or edited such a file";
    const EXAMPLE: &'static str = "edited:src/";

    fn choices(values: ValueList<'_>) -> Vec<&str> {
        File::choices(values)
    }

    fn test(path: &Text, here: &QueryScope) -> Test {
        touched(path, here, |touch| touch != Touch::Read)
    }

    fn scope(path: &Text, here: &QueryScope) -> EntryScope {
        touching(path, here, |touch| touch != Touch::Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::Sample;

    #[test]
    fn what_was_only_read_is_not_edited() {
        let is_edited = |tool: &str| Sample::calling(tool, "src/auth.rs").is::<Edited>("src/");
        assert_eq!(["read", "write", "edit"].map(is_edited), [false, true, true]);
    }
}
