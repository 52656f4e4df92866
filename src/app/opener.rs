//! Texts for a pager or an editor.

/// A text for an external program.
#[derive(Clone, Debug)]
pub struct TextCopy {
    /// The program.
    pub with: Opener,
    /// Name of the file.
    pub name: String,
    /// The text, safe for a terminal.
    pub text: String,
}

/// A program that shows a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// `$PAGER`.
    Pager,
    /// `$VISUAL` or `$EDITOR`.
    Editor,
}
