//! Opens the browser from the command line, also on a temporary copy of the demo sessions with `pitree demo`.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::app::settings::Settings;
use crate::cli::output::ColorWhen;
use crate::cli::{Cli, CommandContext, hits, resolve};
use crate::config::Config;
use crate::disk::locate::Environment;
use crate::runtime;

/// Opens the browser, with the words of the query as its first search if there are any.
///
/// # Errors
/// `--at` names no session, or the terminal cannot be used.
pub(super) fn browse(context: CommandContext, cli: Cli) -> Result<ExitCode> {
    let Cli { at, entry, statistics, print, options, .. } = cli;
    let query = [cli.query, cli.words].concat();
    if !query.is_empty() {
        hits::read_query(&query)?;
    }
    let is_plain = at.is_none() && query.is_empty() && !statistics;
    let at = at.map(|word| start_at(&word, entry, &context)).transpose()?;
    let filter = context.filter();
    let (machines, changes) = (context.machines(), context.changes());
    let CommandContext { config, mut located, corrected, home, cache, demo, .. } = context;
    let config = Config { filter, ..config };
    // Recorded changes must be valid for any working directory of the next run.
    for dir in &mut located.dirs {
        *dir = std::path::absolute(&*dir).unwrap_or_else(|_| dir.clone());
    }
    if let Some(folder) = at.as_ref().and_then(|(path, _)| path.parent())
        && !located.dirs.iter().any(|dir| folder.starts_with(dir))
    {
        located.dirs.push(folder.into());
    }
    let mut setting = Settings::new(&config, located, home, demo.is_some());
    if setting.located.mirrors.is_some() {
        // Without the list, the mirrors of added machines are not updated.
        match machines {
            Ok(machines) => setting.machines = machines,
            Err(error) => setting.notice = Some(format!("{error:#}")),
        }
    }
    setting.at = at;
    setting.picker = print;
    setting.opens_statistics = statistics;
    if options.color == ColorWhen::Never {
        setting.theme = None;
    }
    setting.notice = corrected.or(setting.notice);
    // `pitree .` shows the current project only.
    setting.here_only = query == ["."];
    setting.query = if setting.here_only { String::new() } else { query.join(" ") };
    setting.welcomes = is_plain && setting.picker.is_none() && Environment::current().session_file.is_none();
    if demo.is_none() {
        setting.current_dir = Environment::current().cwd.to_string_lossy().into_owned();
    }
    runtime::run(setting, cache, changes).map(ExitCode::from)
}

/// Returns the session file and the id of the entry at which the browser opens. `--entry` is an id, so the file need
/// not be read; the entry of SESSION@ENTRY can be a label or a prefix.
fn start_at(word: &OsStr, id: Option<String>, context: &CommandContext) -> Result<(PathBuf, Option<String>)> {
    let place = context.place(word, id.as_deref())?;
    let (None, Some(entry)) = (&id, &place.entry) else { return Ok((place.path, id)) };
    let tree = context.tree(&place.path)?;
    let at = resolve::entry(entry, &tree)?;
    Ok((place.path, tree.id(at).map(String::from)))
}

/// Try pitree on demo sessions; all changes are temporary
#[derive(Debug, clap::Args)]
pub(super) struct DemoCommand {}
