//! Where pi goes on when an entry is chosen, as in pi's `/tree` (0.87.1): at the entry itself; for a message of the user
//! or of an extension at its parent, and its text goes back to the user, who may send it again in other words.

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
    if tree.is_tip(chosen) {
        return Resume { at: Some(chosen), text_of: None, is_here: true };
    }
    if tree.nodes[chosen as usize].kind.goes_back_to_user() {
        let at = tree.parent(chosen);
        return Resume { at, text_of: Some(chosen), is_here: tree.goes_on_at(at) };
    }
    Resume { at: Some(chosen), text_of: None, is_here: false }
}
