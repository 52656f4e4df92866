//! What everything above may use, and what knows nothing of sessions: text that is safe for a terminal ([`text`]), text
//! as it is compared ([`fold`]), numbers and paths for people ([`numbers`], [`paths`]), times as files have them ([`time`])
//! and JavaScript's notions of text ([`js`]).

pub mod fold;
pub mod js;
pub mod numbers;
pub mod paths;
pub mod text;
pub mod time;
