//! `pitree import`: adds a session from a file of another person or machine.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::ValueHint;

use crate::base::machine_paths;
use crate::base::numbers::{count, thousands};
use crate::changes::{ImportRequest, Request};
use crate::cli::change::{ChangeArgs, Changer};
use crate::cli::{CommandContext, Exit, resolve};
use crate::disk::load::Bodies;
use crate::disk::relocations;
use crate::session::write::import::{self, ImportedHeader};

/// The maximum number of listed line numbers.
const LISTED: usize = 10;

/// Import a session from a file or another machine and print the new path
///
/// Adds a session file, such as one written by `pitree export --format jsonl`, or a copy of a session of another machine,
/// to the sessions of a project. Nothing in it is executed, and its link to a parent session is removed. Invalid lines are omitted. The session keeps its id
/// unless another session of this machine has it. `pitree undo` moves it to the trash.
#[derive(Debug, clap::Args)]
pub(super) struct ImportCommand {
    /// The session file, or the id, unique id prefix or name of a session of another machine; `-` reads standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: PathBuf,
    /// Working directory of the imported session; defaults to the current directory
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<PathBuf>,
    #[command(flatten)]
    switches: ChangeArgs,
}

impl ImportCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let changer = Changer::new(context, &self.switches)?;
        let cwd = self.cwd()?;
        let bytes = self.bytes(context)?;
        // The same checks as when it is written, for the id and the omitted lines.
        let header = ImportedHeader { new_id: "", replace_id: false, cwd: &cwd, time_ms: 0 };
        let checked = import::import(&bytes, &header, &mut || 0);
        let checked = checked.with_context(|| format!("cannot import {}", self.name()))?;
        let new_id = context.is_here(&checked.id);
        let into = context.located.project_dir(&cwd).context("there is no session directory; name one with --dir")?;
        let done = changer.make(&Request::Import(ImportRequest { bytes, into, cwd, new_id }))?;
        if !checked.omitted.is_empty() {
            let lines = count(checked.omitted.len(), "invalid line", "invalid lines");
            let first: Vec<String> = checked.omitted.iter().take(LISTED).map(|line| thousands(*line)).collect();
            let more = if checked.omitted.len() > LISTED { ", …" } else { "" };
            note!("omitted {lines}: {}{more}", first.join(", "));
        }
        if new_id {
            note!("another session has the id {}; the imported session gets a new one", checked.id);
        }
        changer.say_made(&done)
    }

    fn is_stdin(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    fn name(&self) -> String {
        if self.is_stdin() { "standard input".into() } else { self.file.display().to_string() }
    }

    fn bytes(&self, context: &CommandContext) -> Result<Vec<u8>> {
        if !self.is_stdin() {
            // Sessions of this machine are forked, not imported.
            let there = || context.file(self.file.as_os_str()).ok().filter(|path| machine_paths::is_mirrored(path));
            let there = if self.file.exists() { None } else { there() };
            return Bodies::open(there.as_ref().unwrap_or(&self.file))?.whole();
        }
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        Ok(bytes)
    }

    /// Returns the working directory of the imported session.
    fn cwd(&self) -> Result<String> {
        let dir = resolve::absolute(self.cwd.as_deref().unwrap_or(Path::new(".")))?;
        relocations::directory(&dir).context("--cwd names the project of the imported session")
    }
}
