//! What everything above may use, and what knows nothing of sessions: text that is safe for a terminal ([`text`]), text
//! as it is compared ([`fold`]), numbers for people ([`numbers`]) and times as files have them ([`time`]).

pub mod fold;
pub mod numbers;
pub mod text;
pub mod time;
