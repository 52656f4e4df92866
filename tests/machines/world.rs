//! A home directory with sessions of this machine and mirrors of others.

use std::ffi::OsStr;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::home::{Home, Outcome, json_lines};
use crate::common::session::Session;

/// The session directory on the other machines.
pub(crate) const REMOTE: &str = "/home/ann/.pi/agent/sessions";

/// The home directory.
pub(crate) struct World {
    pub(crate) home: Home,
}

impl World {
    pub(crate) fn new() -> Self {
        Self { home: Home::new() }
    }

    /// Writes a session of this machine.
    pub(crate) fn here(&self, session: &Session) -> PathBuf {
        self.home.session(session)
    }

    /// Writes a session to the mirror of a machine. As usual, its path is before those of this machine.
    pub(crate) fn on(&self, machine: &str, session: &Session) -> PathBuf {
        let dir = REMOTE.replace('/', "%2F");
        let file = format!(".data/pitree/machine-mirrors/{machine}/{dir}/--project--/{}.jsonl", session.id);
        self.home.write(file, session.text())
    }

    /// Returns the path of a session on its machine.
    pub(crate) fn remote(id: &str) -> String {
        format!("{REMOTE}/--project--/{id}.jsonl")
    }

    pub(crate) fn run(&self, args: &[impl AsRef<OsStr>]) -> Outcome {
        Outcome::of(self.home.command(args).env("XDG_DATA_HOME", self.home.path().join(".data")))
    }

    /// Returns the output of a run that ends with an exit code.
    #[track_caller]
    pub(crate) fn print(&self, args: &[&str], code: i32) -> String {
        let outcome = self.run(args);
        assert_eq!(outcome.code, code, "{args:?}: {} {}", outcome.out, outcome.err);
        outcome.out
    }

    /// Returns the objects that a command prints.
    #[track_caller]
    pub(crate) fn objects(&self, args: &[&str]) -> Vec<Value> {
        json_lines(&self.print(args, 0))
    }

    /// Returns a field of the objects that a command prints, sorted.
    #[track_caller]
    pub(crate) fn fields(&self, args: &[&str], field: &str) -> Vec<String> {
        let text = |object: &Value| object[field].as_str().map(String::from);
        let mut fields: Vec<String> = self.objects(args).iter().filter_map(text).collect();
        fields.sort();
        fields
    }
}
