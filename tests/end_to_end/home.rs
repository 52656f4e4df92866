//! pitree in a terminal with its own home directory, and test sessions.

use std::path::Path;

pub(crate) use crate::common::home::Home;
pub(crate) use crate::common::session::Session;
use crate::end_to_end::terminal::{Launch, Terminal};

impl Home {
    /// Prepares to run pitree in this home, in which it has welcomed the user before.
    pub(crate) fn launch(&self, args: &[&str]) -> Launch {
        Launch::new(env!("CARGO_BIN_EXE_pitree"), self).args(args.iter().copied())
    }

    /// Prepares the first run of pitree in this home.
    pub(crate) fn launch_first(&self, args: &[&str]) -> Launch {
        Launch::first(env!("CARGO_BIN_EXE_pitree"), self).args(args.iter().copied())
    }

    /// Starts pitree in a terminal of 100 columns and 30 rows.
    pub(crate) fn open(&self, args: &[&str]) -> Terminal {
        self.launch(args).open()
    }
}

/// Creates a session with a prompt, `u1`, and an answer, `a2`.
pub(crate) fn session(id: &str, cwd: &Path, prompt: &str) -> Session {
    Session::new(id).cwd(cwd).asked(prompt, &[&format!("answer to {prompt}")])
}
