//! Where pi goes on when an entry is chosen, as in pi's `/tree` (1.5.2): at the entry itself; for a message of the user
//! or of an extension at its parent, and its text goes back to the user, who may send it again in other words. Only
//! where such a message is the last line of the file pi stays at it.

use crate::session::tree::{Index, Tree};

/// Where pi goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// After this entry; `None`: with an empty conversation.
    pub at: Option<Index>,
    /// The entry whose text goes back to the user.
    pub text_of: Option<Index>,
    /// Whether the session is there already: nothing needs to be written.
    pub is_here: bool,
}

/// Where pi goes on if the entry `chosen` is.
pub fn at(tree: &Tree, chosen: Index) -> Resume {
    if tree.nodes[chosen as usize].kind.goes_back_to_user() && tree.leaf != Some(chosen) {
        let at = tree.parent(chosen);
        return Resume { at, text_of: Some(chosen), is_here: tree.goes_on_at(at) };
    }
    Resume { at: Some(chosen), text_of: None, is_here: tree.is_tip(chosen) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tree::tests::tree;

    #[test]
    fn a_last_message_with_a_label_behind_it_goes_back_to_the_user() {
        let message = |id: &str, parent: &str, role: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":"x"}}}}"#
            )
        };
        let label = |parent: &str| format!(r#"{{"type":"label","id":"l","parentId":"{parent}","targetId":"u"}}"#);
        let said = [message("a", "", "assistant"), message("u", "a", "user")];
        assert_eq!(at(&tree(&said), 1), Resume { at: Some(1), text_of: None, is_here: true });
        let mut labelled = said.to_vec();
        labelled.push(label("u"));
        assert_eq!(at(&tree(&labelled), 1), Resume { at: Some(0), text_of: Some(1), is_here: false });
        assert_eq!(at(&tree(&labelled), 2), Resume { at: Some(2), text_of: None, is_here: true });
        let answered = [said[0].clone(), label("a")];
        assert_eq!(at(&tree(&answered), 0), Resume { at: Some(0), text_of: None, is_here: true });
        // The leaf stands before the message: going on there means its text.
        labelled[2] = label("a");
        assert_eq!(at(&tree(&labelled), 1), Resume { at: Some(0), text_of: Some(1), is_here: true });
    }
}
