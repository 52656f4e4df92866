//! Texts for other programs: for an editor or a pager, and requests for titles of sessions.

use crate::changes::ExpectedSession;
use crate::session::digest::listed::SharedLazySession;

/// Sessions to which a program gives titles.
#[derive(Clone, Debug)]
pub struct TitleRequest {
    /// The sessions.
    pub sessions: Vec<SharedLazySession>,
    /// `true` if the user agreed to the cost.
    pub is_confirmed: bool,
}

/// Titles of sessions, or the cost or progress of finding them.
#[derive(Clone, Debug)]
pub enum TitlesReply {
    /// The cost, before pi is asked.
    Cost(TitleRequest, String),
    /// The number of sessions done, and of all.
    Progress(usize, usize),
    /// The title of each session, or the reason why it has none.
    Done(Vec<(ExpectedSession, Result<String, String>)>),
}

/// A text for an external program.
#[derive(Clone, Debug)]
pub struct TextCopy {
    /// The program.
    pub with: Opener,
    /// Name of the file.
    pub name: String,
    /// The text, safe for a terminal.
    pub text: String,
}

/// A program that shows a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// `$PAGER`.
    Pager,
    /// `$VISUAL` or `$EDITOR`.
    Editor,
    /// The same, for new names of the marked sessions: see [`Msg::Names`](crate::app::message::Msg::Names).
    NameEditor,
    /// The same, for titles that a program found.
    TitleEditor,
    /// The same, for the text of a message of the model context: see [`Msg::Edited`](crate::app::message::Msg::Edited).
    MessageEditor,
}
