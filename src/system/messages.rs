//! What any system says, in one form.

/// What the system wants of the program.
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has signals"))]
pub(crate) enum Signal {
    /// End; the number of the signal.
    Stop(i32),
    /// Stop until continued.
    Suspend,
    /// Go on after a stop that was not announced: the terminal may have changed.
    Continued,
    /// Take the new size of the terminal.
    Resized,
}

/// Input from the terminal.
pub(crate) enum Input {
    /// A key, a paste, the mouse, or a new size where no signal reports it.
    Event(crossterm::event::Event),
    /// The content of a control string: the answer to a question.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix terminals answer"))]
    Answer(String),
}

/// What a file system says of a file.
pub(crate) struct FileFacts {
    /// The file system and its number for the file, where there are such.
    pub(crate) file: Option<(u64, u64)>,
    /// Its length in bytes.
    pub(crate) bytes: u64,
    /// When it was written, in nanoseconds since 1970.
    pub(crate) written: i64,
    /// When anything about it changed: unlike the time before, nobody can set it.
    pub(crate) changed: i64,
}
