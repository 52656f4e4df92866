//! `pitree blame`: shows the session and the prompt that brought each line of a file.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context, Result, bail};

use crate::base::paths::full_path;
use crate::base::time;
use crate::catalog::file_history::FileVersion;
use crate::cli::log::{LoggedEntry, each_state};
use crate::cli::output::object;
use crate::cli::table::{Column, LAST, words};
use crate::cli::{CommandContext, Exit, output, resolve};
use crate::disk::files::read_regular;
use crate::disk::locate::Environment;

/// The maximum width of a prompt.
const PROMPT: usize = 30;

/// Show which session and prompt wrote each line of a file
///
/// Compares the file on disk with its exact states in all sessions, most recent first. Lines that no exact state added are
/// blank.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree blame src/auth/index.ts      all lines
  pitree blame src/auth/index.ts:42   one line"))]
pub(super) struct BlameCommand {
    /// File on the disk, or one line of it
    #[arg(value_name = "PATH[:LINE]")]
    path: String,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

impl BlameCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        let (path, line) = match self.path.rsplit_once(':') {
            Some((path, line)) if !Path::new(&self.path).is_file() && line.parse::<usize>().is_ok() => {
                (path, line.parse().ok())
            }
            _ => (&*self.path, None),
        };
        let here = Environment::current().cwd;
        let file = full_path(path, &here.to_string_lossy(), &context.home);
        let bytes = read_regular(Path::new(&file)).with_context(|| format!("cannot read {file}"))?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        if line.is_some_and(|line: usize| line == 0 || line > lines.len()) {
            bail!("{file} has {} lines", lines.len());
        }
        // The newest entry that brought each line.
        let mut origins: Vec<Option<Rc<LoggedEntry>>> = vec![None; lines.len()];
        let visit = |entry: LoggedEntry, version: &FileVersion| {
            let entry = Rc::new(entry);
            for (origin, _) in origins.iter_mut().zip(version.brought(&lines)).filter(|(_, brought)| *brought) {
                if origin.as_ref().is_none_or(|known| known.age() < entry.age()) {
                    *origin = Some(entry.clone());
                }
            }
        };
        let unreadable = each_state(&file, &|_| true, context, visit, |(), _| {})?;
        let is_wanted = |at: usize| line.is_none_or(|line| line == at + 1);
        let wanted = (0..lines.len()).filter(|&at| is_wanted(at)).map(|at| (at, lines[at], origins[at].as_deref()));
        let length = resolve::shortest(origins.iter().flatten().map(|origin| origin.session_id.as_str()));
        let mut rows = Vec::new();
        for (at, text, origin) in wanted {
            let text = text.trim_end_matches(['\n', '\r']);
            if self.json {
                let id = origin.map(|origin| &origin.session_id);
                let entry = origin.and_then(|origin| origin.id.as_ref());
                let timestamp = origin.and_then(|origin| origin.time).and_then(time::iso);
                let prompt = origin.map(|origin| &origin.prompt);
                let line = at + 1;
                output::json(&object! { line, text, id, entry, timestamp, prompt })?;
                continue;
            }
            let glyphs = context.config.signs();
            let place = origin.map_or(String::new(), |origin| origin.place(length));
            let prompt = origin.map_or(String::new(), |origin| words(&origin.prompt, PROMPT, glyphs));
            rows.push([place, prompt, format!("{}", at + 1), text.replace('\t', "    ")]);
        }
        context.table([Column::Whole, Column::Whole, Column::Number, Column::Words(LAST)], rows, "")?;
        output::flush()?;
        let end = output::end(unreadable)?;
        let is_found = origins.iter().enumerate().any(|(at, origin)| is_wanted(at) && origin.is_some());
        Ok(end.found(is_found))
    }
}
