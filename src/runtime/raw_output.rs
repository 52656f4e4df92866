//! Output for other programs, such as a path or a command.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;

use crate::base::text::clean;

/// Prints text on a line, unchanged except for unsafe characters on a terminal, which are replaced with a warning.
///
/// # Errors
/// The text cannot be written.
pub(crate) fn print(product: &OsStr) -> Result<()> {
    let mut out = io::stdout().lock();
    if !out.is_terminal() {
        out.write_all(product.as_encoded_bytes())?;
        writeln!(out)?;
        return Ok(out.flush()?);
    }
    let text = product.to_string_lossy();
    let shown = clean(&text);
    writeln!(out, "{shown}")?;
    out.flush()?;
    if shown.as_ref() != product {
        let _ = writeln!(
            io::stderr(),
            "pitree: unprintable characters replaced; redirect to a pipe or file for the exact text"
        );
    }
    Ok(())
}
