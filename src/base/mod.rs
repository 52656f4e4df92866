//! What everything above may use, and what knows nothing of sessions: text that is safe for a terminal ([`text`]), text
//! as it is compared ([`normalize`]), numbers and paths for people ([`numbers`], [`paths`]), times as files have them
//! ([`time`]), how light colours are ([`color`]), words for a shell ([`shell`]), JavaScript's notions of text ([`javascript`]), many
//! texts in one piece ([`string_pool`]), how lines differ (`diff`), mistyped names (`typo`), and work that may fail ([`catch_panic`]).

pub mod catch_panic;
pub mod color;
pub(crate) mod diff;
pub mod javascript;
pub mod normalize;
pub mod numbers;
pub mod paths;
pub(crate) mod safe_json;
pub mod shell;
pub mod string_pool;
pub mod text;
pub mod time;
pub(crate) mod typo;
