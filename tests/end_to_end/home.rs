//! pitree in a terminal at home, and the sessions that are looked at there.

use std::path::Path;

pub(crate) use crate::common::home::Home;
pub(crate) use crate::common::session::Session;
use crate::terminal::{Launch, Terminal};

impl Home {
    /// pitree at home here.
    pub(crate) fn launch(&self, args: &[&str]) -> Launch {
        Launch::new(env!("CARGO_BIN_EXE_pitree"), self).args(args.iter().copied())
    }

    /// pitree in a terminal of 100 columns and 30 rows.
    pub(crate) fn open(&self, args: &[&str]) -> Terminal {
        self.launch(args).open()
    }
}

/// A session of a prompt, `u1`, and an answer, `a2`.
pub(crate) fn session(id: &str, cwd: &Path, prompt: &str) -> Session {
    Session::new(id).cwd(cwd).asked(prompt, &[&format!("answer to {prompt}")])
}
