//! `pitree secrets`: lists likely secrets in sessions, files or standard input, without their values.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::base::javascript::utf16_prefix;
use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::typo;
use crate::catalog::secrets::{self, FoundSecret};
use crate::cli::output::{self, PathFields, object};
use crate::cli::project::ProjectArg;
use crate::cli::scrub::ScrubCommand;
use crate::cli::table::{Column, LAST, PATH, TITLE};
use crate::cli::{CommandContext, Exit, chosen_sessions, completions, resolve};
use crate::disk::scan::Unreadable;
use crate::runtime::secret_rules::ChosenRules;
use crate::secrets::Rules;

/// Session id or file, title, entry, rule, sample, place.
const COLUMNS: [Column; 6] =
    [Column::Path(PATH), Column::Words(TITLE), Column::Whole, Column::Whole, Column::Whole, Column::Words(LAST)];

/// List likely secrets in sessions or files, such as keys, tokens and passwords
///
/// Searches prompts, answers, thinking, tool calls and their results, custom entries, labels, names and directories, but
/// not images. The output never contains a value, only its first characters: at most four. Rules cannot find every
/// secret. The exit code is 3 if something is found, so that the command can check files before a commit.
#[derive(Debug, clap::Args)]
#[command(after_help = crate::cli::exit::help("Examples:
  pitree secrets                         search all sessions
  pitree secrets 01a1ceea                search a session
  pitree secrets after:1w in:webshop     search the sessions that match a query
  pitree secrets notes.md src/*.rs       search files
  git diff --cached | pitree secrets -   search standard input
  pitree secrets --rule github-token     list what one rule finds
  pitree secrets --list                  list the rules"))]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct SecretsCommand {
    #[command(subcommand)]
    what: Option<What>,
    /// Files, sessions (path, id, or unique id prefix), `-` for standard input, or a query (see `pitree search --help`)
    #[arg(value_name = "QUERY|FILE", add = completions::sessions())]
    words: Vec<OsString>,
    /// Use only this rule (repeatable)
    #[arg(long = "rule", value_name = "ID")]
    rules: Vec<String>,
    /// List the rules instead
    #[arg(long, conflicts_with_all = ["words", "rules", "project", "json"])]
    list: bool,
    #[command(flatten)]
    project: ProjectArg,
    /// Print JSON Lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Scrub(ScrubCommand),
}

/// A session of a searched file.
struct SessionLabel {
    id: String,
    title: String,
}

impl SecretsCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        if let Some(What::Scrub(command)) = &self.what {
            return command.run(context);
        }
        let rules = ChosenRules::new(&context.config.redact)?;
        if self.list {
            return Self::list(&rules, context);
        }
        self.check_rules(&rules)?;
        let mut unreadable = Vec::new();
        let (mut found, mut searched) = (Vec::new(), 1);
        match self.target(context, &mut unreadable)? {
            None => {
                let input =
                    secrets::in_reader(&mut io::stdin().lock(), &rules).context("cannot read standard input")?;
                found.push((None, input));
            }
            Some(files) => {
                searched = files.len();
                let mut all: HashMap<PathBuf, Vec<FoundSecret>> = HashMap::new();
                secrets::each(&files, &rules, |batch, done| {
                    output::progress(&format!("{done} of {searched} files"));
                    for (path, result) in batch {
                        match result {
                            Ok(secrets) => drop(all.insert(path, secrets)),
                            Err(error) => unreadable.push(error),
                        }
                    }
                    true
                });
                output::progress("");
                found.extend(files.into_iter().filter_map(|path| all.remove(&path).map(|found| (Some(path), found))));
            }
        }
        let is_wanted =
            |secret: &FoundSecret| self.rules.is_empty() || self.rules.iter().any(|rule| rule == secret.rule.as_str());
        found.iter_mut().for_each(|(_, secrets)| secrets.retain(is_wanted));
        found.retain(|(_, secrets)| !secrets.is_empty());
        let labels = labels(&rules, found.iter().filter_map(|(path, _)| path.as_deref()));
        self.print(&found, &labels, context)?;
        let total: usize = found.iter().map(|(_, secrets)| secrets.len()).sum();
        let places = count(found.len(), "file", "files");
        let result = match total {
            0 => format!("no likely secret in {}", count(searched, "file", "files")),
            total => format!("{} in {places}", count(total, "likely secret", "likely secrets")),
        };
        note!("{result}; rules cannot find every secret");
        let end = output::end(unreadable)?;
        Ok(if total > 0 { Exit::Over } else { end })
    }

    /// Returns an error for the name of a rule that does not exist.
    fn check_rules(&self, rules: &Rules) -> Result<()> {
        let known = || rules.all().map(|(id, _)| id.as_str());
        for rule in &self.rules {
            if !known().any(|id| id == rule) {
                let similar = typo::nearest(rule, known());
                let advice = similar.map_or("list the rules with --list".into(), |id| format!("did you mean {id}?"));
                bail!("no such rule: {rule}; {advice}");
            }
        }
        Ok(())
    }

    fn list(rules: &Rules, context: &CommandContext) -> Result<Exit> {
        let rows = rules.all().map(|(id, description)| [id.to_string(), description.to_string()]);
        context.table([Column::Whole, Column::Words(LAST)], rows, "")?;
        Ok(Exit::Done)
    }

    /// Returns the files that the words mean, or `None` for standard input.
    fn target(&self, context: &CommandContext, unreadable: &mut Vec<Unreadable>) -> Result<Option<Vec<PathBuf>>> {
        if self.words.iter().any(|word| word == "-") {
            ensure!(self.words.len() == 1, "- cannot be used with other files");
            return Ok(None);
        }
        chosen_sessions::files(&self.words, &self.project, context, unreadable).map(Some)
    }

    fn print(
        &self,
        found: &[(Option<PathBuf>, Vec<FoundSecret>)],
        labels: &HashMap<PathBuf, SessionLabel>,
        context: &CommandContext,
    ) -> Result<()> {
        let ids = resolve::shortest(labels.values().map(|label| label.id.as_str()));
        let mut rows = Vec::new();
        for (path, secrets) in found {
            let label = path.as_ref().and_then(|path| labels.get(path));
            let absolute = path.as_deref().map(resolve::absolute).transpose()?;
            let path_fields = absolute
                .as_deref()
                .map_or_else(|| PathFields { path: "-".into(), path_bytes: None, remote: None }, PathFields::from);
            for FoundSecret { entry_id, place, rule, sample } in secrets {
                if self.json {
                    let line = object! {
                        id: label.map(|label| &label.id),
                        #[serde(flatten)] path_fields: &path_fields,
                        entry_id,
                        rule: rule.as_str(),
                        place,
                        sample,
                    };
                    output::json(&line)?;
                    continue;
                }
                let name = match label {
                    Some(label) => utf16_prefix(&label.id, ids).to_owned(),
                    None => shorten(&path_fields.path, &context.home).into_owned(),
                };
                let title = label.map(|label| label.title.clone()).unwrap_or_default();
                let entry = entry_id.clone().unwrap_or_default();
                rows.push([name, title, entry, rule.to_string(), format!("{sample}…"), place.clone()]);
            }
        }
        context.table(COLUMNS, rows, "")
    }
}

/// Returns the id and the masked title of the session of each file.
fn labels<'a>(rules: &Rules, files: impl Iterator<Item = &'a Path>) -> HashMap<PathBuf, SessionLabel> {
    let label = |path: &Path| {
        let digest = resolve::digest(path).ok()?;
        let title = rules.mask(digest.title()).into_owned();
        Some((path.to_path_buf(), SessionLabel { id: digest.header.id, title }))
    };
    files.filter_map(label).collect()
}
