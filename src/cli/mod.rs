//! The command line: one file per group of subcommands. Without a subcommand, the browser opens.

/// Prints a formatted message to standard error.
macro_rules! note {
    ($($message:tt)*) => {
        $crate::cli::output::note(&format!($($message)*))
    };
}

/// Prints a formatted line. Returns an error if the output cannot be written.
macro_rules! outln {
    ($($line:tt)*) => {
        $crate::cli::output::line(format_args!($($line)*))
    };
}

mod browse;
mod change;
mod clean;
mod command_context;
mod completions;
mod config;
mod context;
mod diff;
mod doctor;
mod exit;
mod export;
mod file;
mod help;
pub mod help_pages;
mod hit_line;
mod hits;
mod index;
mod live;
mod log;
mod ls;
mod machine;
mod marks;
mod move_sessions;
mod name;
mod output;
mod pick;
mod rename;
mod resolve;
mod resume;
mod search;
mod secrets;
mod selection;
mod setup;
mod show;
mod space;
mod stats;
mod table;
mod trash;
mod undo;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use jiff::tz::TimeZone;

use crate::app::settings::PickerFormat;
use crate::base::text::clean;
use crate::base::{catch_panic, typo};
pub(crate) use crate::cli::command_context::CommandContext;
use crate::cli::command_context::{Options, refuse_demo};
use crate::cli::exit::{Exit, Stopped};
use crate::disk::{bug_log, program};
use crate::runtime::jobs::now;
use crate::system::{programs, signals};

/// Browse every session of pi: projects, forks, branches and entries in one tree
#[derive(Debug, Parser)]
#[command(
    name = "pitree",
    version,
    override_usage = "pitree [QUERY]... or pitree COMMAND",
    args_conflicts_with_subcommands = false
)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
    /// Print the selection on Enter instead of resuming it
    #[arg(long, value_name = "WHAT")]
    print: Option<PickerFormat>,
    /// Open at this session: path, id, unique id prefix, or name; also SESSION@ENTRY
    #[arg(long, value_name = "SESSION")]
    at: Option<OsString>,
    /// Select the entry with this id; requires --at
    #[arg(long, value_name = "ID", requires = "at")]
    entry: Option<String>,
    /// Open the screen of statistics first
    #[arg(long)]
    statistics: bool,
    /// Open with this search; put -- before a query that is a command name
    query: Vec<String>,
    /// Words after --
    #[arg(last = true, hide = true)]
    words: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    #[command(flatten)]
    Sessions(OnSessions),
    #[command(flatten)]
    Pitree(OnPitree),
    Demo(browse::DemoCommand),
}

/// Defines the commands for sessions.
macro_rules! session_commands {
    ($($name:ident($file:ident::$command:ident),)*) => {
        /// Commands for sessions.
        #[derive(Debug, Subcommand)]
        enum OnSessions {
            $($name($file::$command),)*
        }

        impl OnSessions {
            fn run(&self, context: &CommandContext) -> Result<Exit> {
                match self {
                    $(Self::$name(command) => command.run(context),)*
                }
            }
        }
    };
}

session_commands! {
    Ls(ls::LsCommand),
    Tree(show::TreeCommand),
    Context(context::ContextCommand),
    Labels(rename::LabelsCommand),
    Files(file::FilesCommand),
    File(file::FileCommand),
    Log(log::LogCommand),
    Blame(log::BlameCommand),
    Recover(file::RecoverCommand),
    Diff(diff::DiffCommand),
    Search(search::SearchCommand),
    Stats(stats::StatsCommand),
    Entries(stats::EntriesCommand),
    Space(space::SpaceCommand),
    Secrets(secrets::SecretsCommand),
    Doctor(doctor::DoctorCommand),
    Slim(clean::SlimCommand),
    Clean(clean::CleanCommand),
    Show(show::ShowCommand),
    Path(show::PathCommand),
    Export(export::ExportCommand),
    Resume(resume::ResumeCommand),
    Fork(resume::ForkCommand),
    Pick(pick::PickCommand),
    Import(export::ImportCommand),
    Rename(rename::RenameCommand),
    Name(name::NameCommand),
    Label(rename::LabelCommand),
    Mark(marks::MarkCommand),
    Rm(trash::RmCommand),
    Move(move_sessions::MoveCommand),
    Archive(move_sessions::ArchiveCommand),
    Trash(trash::TrashCommand),
    Undo(undo::UndoCommand),
    Redo(undo::RedoCommand),
    Index(index::IndexCommand),
    Live(live::LiveCommand),
    Next(live::NextCommand),
    Machine(machine::MachineCommand),
    Setup(setup::SetupCommand),
}

/// Commands for pitree itself.
#[derive(Debug, Subcommand)]
enum OnPitree {
    Config(config::ConfigCommand),
    Pi(setup::PiCommand),
    Completions(completions::Completions),
    Init(completions::InitCommand),
    Skill(setup::SkillCommand),
}

/// Runs the program and returns its exit code.
pub fn run() -> ExitCode {
    catch_panic::install_hook(bug_log::save_panic);
    completions::answer();
    // If this fails, exceeding the limit ends the program without a message.
    let _ = signals::survive_file_size_limit();
    if program::arguments().skip(1).eq(["help", "options"]) {
        // A closed pipe is not an error.
        let _ = output::write(help::options(output::columns().unwrap_or(80).min(100)).as_bytes());
        let _ = output::flush();
        return ExitCode::SUCCESS;
    }
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() {
                // The message quotes typed text, which can contain anything.
                output::error(error.render().to_string().trim_end());
                return Exit::Failed.into();
            }
            // Help and version; a closed pipe is not an error.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
    };
    let done = dispatch(cli);
    programs::end_all_before_exit();
    match done {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            bug_log::error(&error);
            output::error(&format!("{error:#}"));
            error.downcast_ref().map_or(Exit::Failed, |Stopped(exit, _)| *exit).into()
        }
    }
}

/// Parses the arguments, which can have the name of a former command.
fn parse() -> Result<Cli, clap::Error> {
    let given = help::with_current_name(program::arguments().collect());
    let pitree = help::without_global_options(help::with_examples(Cli::command()));
    Cli::from_arg_matches(&pitree.try_get_matches_from(given)?)
}

fn dispatch(mut cli: Cli) -> Result<ExitCode> {
    bug_log::start(cli.options.log.as_deref())?;
    let name = match &cli.command {
        Some(Command::Sessions(command)) => bug_log::variant(command),
        Some(Command::Pitree(command)) => bug_log::variant(command),
        Some(Command::Demo(_)) | None => "browser".into(),
    };
    bug_log::note(format_args!("command {name}"));
    if let Some(Command::Demo(_)) = cli.command {
        (cli.command, cli.options.demo) = (None, true);
    }
    if let Some(Command::Pitree(command)) = &cli.command {
        match command {
            OnPitree::Config(command) => command.run(cli.options.config.as_deref())?,
            OnPitree::Pi(_) if cli.options.demo => refuse_demo()?,
            OnPitree::Pi(command) => command.run()?,
            OnPitree::Completions(command) => command.run()?,
            OnPitree::Init(command) => command.run()?,
            OnPitree::Skill(_) => setup::SkillCommand::run()?,
        }
        output::flush()?;
        return Ok(ExitCode::SUCCESS);
    }
    // clap only detects this conflict if both options are on the same side of the command name.
    if cli.options.demo && !cli.options.dir.is_empty() {
        bail!("--demo cannot be used with --dir");
    }
    if cli.statistics && cli.command.is_some() {
        bail!("--statistics cannot be used with a command; see `pitree stats --help`");
    }
    if cli.print.is_some() && cli.command.is_some() {
        bail!("--print cannot be used with a command");
    }
    if let (None, Some(word)) = (&cli.command, cli.query.first())
        && let Some(name) = typo::likely_typo_of(word, Cli::command().get_subcommands().map(clap::Command::get_name))
    {
        let search = format!("to search for the word, run: pitree -- {word}");
        bail!("unknown command {word}; did you mean {name}?\n{search}");
    }
    if let Some(zone) = program::variable("TZ")
        && TimeZone::try_system().is_err()
    {
        note!("unknown time zone TZ={}; times are in UTC", clean(&zone));
    }
    let context = CommandContext::read(&cli.options)?;
    let Some(Command::Sessions(command)) = &cli.command else {
        return browse::browse(context, cli);
    };
    if let Some(corrected) = &context.corrected {
        output::note(corrected);
    }
    let exit = command.run(&context);
    // The lines before an error are printed too.
    let flushed = output::flush();
    let exit = exit?;
    flushed?;
    Ok(exit.into())
}

/// Parses a number.
fn number(text: &str) -> Result<u64, &'static str> {
    text.parse().map_err(|_| "expected a number")
}

/// Parses a number of at least one.
fn some(text: &str) -> Result<usize, &'static str> {
    text.parse().map(NonZeroUsize::get).map_err(|_| "expected a number of at least 1")
}
