//! What was changed, as the journal keeps it: enough to tell it, to undo it and to do it again. What each kind does is
//! said in `kinds`. A path is text, or an object where its name is none: to an older pitree that is a form which it does
//! not know, so that it keeps the change and leaves it alone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::paths::exact_json;

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A session's name was set, or cleared.
    Name(NameChange),
    /// An entry's label was set, or cleared.
    Label(LabelChange),
    /// The leaf was moved.
    Leaf(LeafMove),
    /// A new session file was made.
    Fork(ForkChange),
    /// A file was moved to the trash.
    Trash(TrashChange),
    /// A file of an old version was brought into the form of version 3.
    Migrate(Migration),
    /// Something that only a newer pitree knows of.
    #[serde(untagged)]
    Unknown(UnknownChange),
}

/// A session's name was set, or cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameChange {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The id of the line that did it.
    pub entry: String,
    /// The name before.
    pub before: Option<String>,
    /// The name after.
    pub after: Option<String>,
}

/// An entry's label was set, or cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelChange {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The id of the line that did it.
    pub entry: String,
    /// The labelled entry.
    pub target: String,
    /// The label before.
    pub before: Option<String>,
    /// The label after.
    pub after: Option<String>,
}

/// The leaf was moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeafMove {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The id of the line that did it.
    pub entry: String,
    /// The leaf before.
    pub before: Option<String>,
    /// The entry that it was moved to.
    pub after: Option<String>,
}

/// A new session file was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkChange {
    /// The new file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// Its length when it was made, in bytes: a longer one was used since.
    pub bytes: u64,
}

/// A file was moved to the trash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashChange {
    /// Where it was.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// Its length in bytes; of a symbolic link, its own.
    pub bytes: u64,
    /// Whether it is a symbolic link: then what it points at stays.
    pub link: bool,
}

/// A file of an old version was brought into the form of version 3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Migration {
    /// The session file.
    #[serde(with = "exact_json")]
    pub path: PathBuf,
    /// The length of the new form when it was made, in bytes.
    pub bytes: u64,
    /// The version before.
    pub version: u32,
}

/// A change of a kind, or of a form, that only a newer pitree knows: as it stands in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnknownChange(pub Map<String, Value>);
