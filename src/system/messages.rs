//! Platform-independent messages of the system.

use serde::{Deserialize, Serialize};

/// A signal to the program.
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has signals"))]
pub(crate) enum Signal {
    /// End the program; the number of the signal.
    Stop(i32),
    /// Stop until continued.
    Suspend,
    /// Continue after an unannounced stop: the terminal may have changed.
    Continued,
    /// The terminal was resized.
    Resized,
}

/// Input from the terminal.
pub(crate) enum Input {
    /// A key, a paste, the mouse, or a new size on systems without a signal for it.
    Event(crossterm::event::Event),
    /// The content of a control string: the answer to a query.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix terminals answer"))]
    Answer(String),
}

/// File system metadata. If it is equal, the file is unchanged, unless it was written again within the granularity of
/// its timestamps: see [`FileMetadata::is_settled`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct FileMetadata {
    /// The device and inode number, or a hash of the path.
    pub(crate) file: (u64, u64),
    /// The length in bytes.
    pub(crate) bytes: u64,
    /// The modification time in nanoseconds since 1970.
    pub(crate) written: i64,
    /// The change time. Unlike the modification time, programs cannot set it, and a replaced file has another one.
    pub(crate) changed: i64,
}
