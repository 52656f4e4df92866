//! `pitree name`: titles for sessions without a name, by pi or another program.

use std::ffi::OsString;

use anyhow::{Error, Result, bail};

use crate::base::numbers::count;
use crate::catalog::naming;
use crate::catalog::{Catalog, SessionKey};
use crate::changes::{ExpectedSession, NamedSessions, Request, edited_names, names_to_edit};
use crate::cli::change::{ChangePrinter, ConfirmedArgs};
use crate::cli::output::{PathFields, object};
use crate::cli::selection::sessions_to_change;
use crate::cli::{CommandContext, Exit, completions, output};
use crate::config::Config;
use crate::config::stats::price_table;
use crate::disk::locate;
use crate::pi::warnings::is_open;
use crate::pi::{prices, running};
use crate::runtime::external;
use crate::runtime::secret_rules::ChosenRules;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;
use crate::system::signals;

/// Name sessions that have no name, by pi or another program
///
/// Asks pi, or the `name-command` of the configuration, for a title of each session. The program gets a digest of the
/// conversation, without likely secrets: prompts, answers in brief, files and commits. Before anything is written, the
/// titles are listed; they can be accepted or edited. Skips sessions that a pi has open.
#[derive(Debug, clap::Args)]
pub(super) struct NameCommand {
    /// Sessions (path, id, or unique id prefix), or a query (see `pitree search --help`)
    #[arg(value_name = "SESSION|QUERY", add = completions::sessions())]
    words: Vec<OsString>,
    /// Name all sessions without a name, except those of subagents
    #[arg(long, conflicts_with = "words")]
    all_unnamed: bool,
    #[command(flatten)]
    confirmed: ConfirmedArgs,
}

impl NameCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        if self.words.is_empty() && !self.all_unnamed {
            bail!("name the sessions: SESSION or QUERY, or --all-unnamed");
        }
        let changer = ChangePrinter::new(context, &self.confirmed.args)?;
        let asks = self.confirmed.asks()?;
        let catalog = context.catalog();
        let sessions = self.sessions(catalog, context)?;
        if sessions.is_empty() {
            return output::nothing("no session without a name");
        }
        if self.confirmed.args.dry_run {
            return self.list(catalog, &sessions, context);
        }
        let counted = count(sessions.len(), "session", "sessions");
        let config = &context.config;
        let command = naming::command(&config.name_command, &config.pi);
        if asks && uses_pi(config) {
            output::note(&cost(sessions.len(), config));
            if !output::is_yes(&format!("Ask pi for titles of {counted}?"))? {
                return output::nothing("nothing was asked or written");
            }
        }
        let rules = ChosenRules::new(&context.config.redact)?;
        let is_wanted = || signals::pending_signal().is_none();
        let mut report = |done: usize| {
            output::progress_of(done, sessions.len(), "titles");
        };
        let listed: Vec<SharedLazySession> = sessions.iter().map(|&key| catalog[key].clone()).collect();
        let titles = naming::titles(&listed, &command, &rules, &is_wanted, &mut report);
        if !is_wanted() {
            return output::nothing("stopped; nothing was written");
        }
        let mut named: NamedSessions = Vec::new();
        for (session, title) in listed.iter().zip(titles) {
            match title {
                Ok(title) => named.push((ExpectedSession::of(&session.facts()), title)),
                Err(why) => self.print_failed(session, &why)?,
            }
        }
        let reported = running::reported(locate::state_dir().as_deref());
        named.retain(|(session, _)| running::pi_with(&reported, &session.path).is_none());
        if named.is_empty() {
            return output::nothing("no title was found; nothing was written");
        }
        if asks {
            named = match accepted(named, catalog, context)? {
                Some(named) => named,
                None => return output::nothing("nothing was written"),
            };
        }
        changer.finish(&Request::RenameAll { sessions: named, keeps_names: true })
    }

    /// Returns the chosen sessions without a name that can be named.
    fn sessions(&self, catalog: &Catalog, context: &CommandContext) -> Result<Vec<SessionKey>> {
        let mut chosen = if self.all_unnamed {
            let mut all: Vec<SessionKey> = catalog.keys().filter(|&key| !catalog[key].facts().is_subagent()).collect();
            catalog.sort_newest_first(&mut all);
            all
        } else {
            sessions_to_change(&self.words, false, catalog, context)?
        };
        let pis = running::running(locate::state_dir().as_deref());
        let (mut open, mut others) = (0, 0);
        chosen.retain(|&key| {
            let session = &catalog[key];
            let is_other = session.facts().is_mirrored() || session.facts().is_archived();
            let is_named = session.name.is_some() || session.message_count == 0;
            let is_open = !is_named && !is_other && is_open(session, &pis);
            open += usize::from(is_open);
            others += usize::from(is_other && !is_named);
            !is_named && !is_other && !is_open
        });
        if open > 0 {
            output::note(&format!("skipped {} that a pi has open", count(open, "session", "sessions")));
        }
        if others > 0 {
            output::note(&format!(
                "skipped {} in the archive or on other machines",
                count(others, "session", "sessions")
            ));
        }
        Ok(chosen)
    }

    /// Lists the sessions that would be named.
    fn list(&self, catalog: &Catalog, sessions: &[SessionKey], context: &CommandContext) -> Result<Exit> {
        if uses_pi(&context.config) {
            output::note(&cost(sessions.len(), &context.config));
        }
        if self.confirmed.args.json {
            for &key in sessions {
                let session = &catalog[key];
                let path = PathFields::from(&*session.path);
                output::json(&object! { #[serde(flatten)] path, id: &session.header.id, title: session.title() })?;
            }
            return Ok(Exit::Done);
        }
        let row = |&key: &SessionKey| [catalog[key].header.id.clone(), catalog[key].title().to_owned()];
        context.table("id~8 title~100", sessions.iter().map(row), "")?;
        Ok(Exit::Done)
    }

    fn print_failed(&self, session: &Digest, error: &str) -> Result<()> {
        let id = &session.header.id;
        if self.confirmed.args.json {
            return output::json(&object! { #[serde(flatten)] path: PathFields::from(&*session.path), id, error });
        }
        output::note(&format!("unnamed: {id}: {error}"));
        Ok(())
    }
}

fn uses_pi(config: &Config) -> bool {
    config.name_command.is_empty()
}

fn cost(sessions: usize, config: &Config) -> String {
    naming::cost_of(sessions, &prices::all(price_table(), &config.stats.prices))
}

/// Shows the titles, and lets the user accept, edit or decline them.
fn accepted(named: NamedSessions, catalog: &Catalog, context: &CommandContext) -> Result<Option<NamedSessions>> {
    let title = |session: &ExpectedSession| {
        let key = catalog.key_of(&session.path);
        key.map_or_else(String::new, |key| catalog[key].title().to_owned())
    };
    let rows = named.iter().map(|(session, name)| [session.id.clone(), name.clone(), title(session)]);
    context.table("id~8 name first-prompt~60", rows.collect::<Vec<_>>(), "")?;
    let names = count(named.len(), "name", "names");
    output::flush()?;
    loop {
        match &*output::ask(&format!("Write {names}? y: yes, e: edit them first, n: no"))?.to_lowercase() {
            "y" | "yes" => return Ok(Some(named)),
            "e" => {
                // All names are new, so that unchanged lines count too.
                let unnamed: NamedSessions =
                    named.iter().map(|(session, _)| (session.clone(), String::new())).collect();
                let edited = external::edit("names.txt", &names_to_edit(&named));
                match edited.and_then(|text| edited_names(&text, &unnamed).map_err(Error::msg)) {
                    Ok(edited) => return Ok(Some(edited)),
                    Err(error) => output::error(&format!("{error:#}")), // the titles are not lost
                }
            }
            _ => return Ok(None),
        }
    }
}
