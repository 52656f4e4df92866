//! The trash: where removed sessions go, and whence they come back.

/// How files get into the trash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trash {
    /// A program and its arguments, which gets the path of the file as its last one; none for the system's trash.
    pub command: Vec<String>,
}
