//! `tool:` The tools that were called.

use crate::base::fold::fold;
use crate::search::here::HereAndNow;
use crate::search::lists::Values;
use crate::search::qualifier::shape::{Qualifier, Test};
use crate::search::qualifier::value::text::Text;

pub(crate) struct Tool;

impl Qualifier for Tool {
    type Value = Text;

    const NAME: &'static str = "tool";
    const HELP: &'static str = "in which such a tool was called";
    const EXAMPLE: &'static str = "tool:bash";

    fn choices(values: Values<'_>) -> Vec<&str> {
        values.tools.iter().map(String::as_str).collect()
    }

    fn implies(narrow: &Text, wide: &Text) -> bool {
        narrow.has_piece(wide)
    }

    fn test(tool: &Text, _: &HereAndNow) -> Test {
        let wanted = tool.folded();
        Box::new(move |session| session.digest.tools.keys().any(|tool| fold(tool).contains(&wanted)).into())
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
