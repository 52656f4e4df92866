//! Utilities without knowledge of sessions. [`text`] is terminal-safe text, [`normalize`] prepares it for comparison.
//! [`numbers`], [`paths`] and [`time`] format values. [`shell`] quotes words, and [`javascript`] mirrors JavaScript
//! semantics, and `named` defines enums with names. `safe_json` is printed JSON. The rest are paths of archived sessions
//! (`archive_paths`) and of those of other machines (`machine_paths`), line diffs (`diff`), sorting (`sort`), typo
//! suggestions (`typo`) and panic handling ([`catch_panic`]).

pub mod ansi;
pub(crate) mod archive_paths;
pub mod catch_panic;
pub(crate) mod diff;
pub mod javascript;
pub(crate) mod machine_paths;
pub(crate) mod named;
pub mod normalize;
pub mod numbers;
pub(crate) mod path_context;
pub mod paths;
pub(crate) mod safe_json;
pub mod shell;
pub(crate) mod sort;
pub mod string_pool;
pub mod text;
pub mod time;
pub(crate) mod typo;
