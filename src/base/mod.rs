//! What everything above may use, and what knows nothing of sessions: text that is safe for a terminal ([`text`]), text
//! as it is compared ([`fold`]), numbers and paths for people ([`numbers`], [`paths`]), times as files have them
//! ([`time`]), how light colours are ([`color`]), words for a shell ([`shell`]), JavaScript's notions of text ([`js`]), many
//! texts in one piece ([`strings`]), how lines differ (`diff`), mistyped names (`typo`), and work that may fail ([`guard`]).

pub mod color;
pub(crate) mod diff;
pub mod fold;
pub mod guard;
pub mod js;
pub mod numbers;
pub mod paths;
pub(crate) mod safe_json;
pub mod shell;
pub mod strings;
pub mod text;
pub mod time;
pub(crate) mod typo;
