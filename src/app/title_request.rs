//! Titles of sessions that a program finds.

use crate::changes::ExpectedSession;

/// Sessions to which a program gives titles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleRequest {
    /// The sessions.
    pub sessions: Vec<ExpectedSession>,
    /// `true` if the user agreed to the cost.
    pub is_confirmed: bool,
}

/// What is known of the titles of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TitlesReply {
    /// The cost, before pi is asked.
    Cost(TitleRequest, String),
    /// The number of sessions done, and of all.
    Progress(usize, usize),
    /// The title of each session, or the reason why it has none.
    Done(Vec<(ExpectedSession, Result<String, String>)>),
}
