//! Opens images of entries in the image viewer of the system.

use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::disk::create::TempCopy;
use crate::disk::program;

/// The programs that open a file in the viewer of the system, on Linux, macOS and Windows.
const VIEWERS: [&str; 3] = ["xdg-open", "open", "explorer"];

/// Opens images in the viewer of the system. Their temporary copies stay for it.
///
/// # Errors
/// There is no viewer, or it cannot be started.
pub(super) fn open_images(images: &[(&str, Vec<u8>)]) -> Result<()> {
    let viewer =
        VIEWERS.iter().find_map(|name| program::find(name)).context("no image viewer found: install xdg-open")?;
    for (extension, data) in images {
        let file = TempCopy::new(&format!("image.{extension}"), data).context("cannot create a temporary copy")?.keep();
        let mut command = Command::new(&viewer);
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().with_context(|| format!("cannot start {}", viewer.display()))?;
    }
    Ok(())
}
