//! What another program takes, such as a path or a command.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use anyhow::Result;

use crate::base::text::clean;

/// Prints it on a line: exact, but for a terminal, to which it must do nothing; what is not shown as it is then, is said.
///
/// # Errors
/// It cannot be written.
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
