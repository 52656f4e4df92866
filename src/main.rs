//! pitree: see the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    pitree::cli::run()
}
