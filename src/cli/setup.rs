//! `pitree setup`: reports what works on this machine, and offers to install what is missing. `pitree pi` installs or removes
//! the extension and the skill without the npm package, and `pitree skill` prints the skill for agents.

use std::path::{Path, PathBuf};
use std::{env, io};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::Serialize;

use crate::base::numbers::count;
use crate::base::path_context::PathContext;
use crate::base::text::{Tone, clean};
use crate::cli::completions::Shell;
use crate::cli::output::object;
use crate::cli::{CommandContext, Exit, now, output};
use crate::disk::locate::{self, Environment};
use crate::disk::{program, startup_files};
use crate::machines::registry::Machine;
use crate::machines::state;
use crate::pi::install::{self, InstallOptions, InstalledDir, SKILL};
use crate::pi::version;
use crate::render::DocLine;
use crate::render::wrap::Wrapped;
use crate::runtime::clipboard;

/// Check the installation, and install what is missing
///
/// Reports the sessions, pi, the extension, shell completions, the shell key, the clipboard and the terminal. Before it
/// writes anything, it lists the files and asks.
#[derive(Debug, clap::Args)]
pub(super) struct SetupCommand {
    /// Install everything that is missing without asking
    #[arg(long)]
    yes: bool,
    /// Print the report as one JSON object; asks nothing
    #[arg(long)]
    json: bool,
}

/// The result of one check.
#[derive(Serialize)]
struct Check {
    name: &'static str,
    state: CheckState,
    text: String,
    #[serde(skip)]
    fix: Option<Fix>,
}

/// The state of what was checked.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum CheckState {
    /// It works.
    Ok,
    /// It is missing or outdated, and can be installed.
    Missing,
    /// It was just installed.
    Installed,
    /// It does not work here, or the user has to act.
    Note,
}

/// A way to install what is missing.
struct Fix {
    question: &'static str,
    /// The files that are written.
    files: Vec<PathBuf>,
    /// The line that is appended to them; `None` for new files.
    line: Option<&'static str>,
    apply: Box<dyn Fn() -> Result<()>>,
}

impl SetupCommand {
    pub(super) fn run(&self, context: &CommandContext) -> Result<Exit> {
        context.refuse_samples()?;
        let mut checks = checks(context)?;
        if !self.json {
            for check in &checks {
                print(check)?;
            }
            output::flush()?;
        }
        let asks = !self.json && !self.yes && output::can_ask();
        for check in &mut checks {
            let Some(fix) = &check.fix else { continue };
            if asks || (self.yes && !self.json) {
                let files: String = fix.files.iter().map(|file| format!("\n  {}", context.short(file))).collect();
                output::note(&match fix.line {
                    None => format!("\n{}. This writes:{files}", fix.question),
                    Some(line) => format!("\n{}. This appends to:{files}\nthe line:\n  {line}", fix.question),
                });
            }
            if self.yes || (asks && output::is_yes(&format!("{}?", fix.question))?) {
                (fix.apply)()?;
                check.state = CheckState::Installed;
            }
        }
        if self.json {
            let checks = checks.iter().map(|check| {
                let files = check.fix.iter().flat_map(|fix| &fix.files).map(|file| file.to_string_lossy());
                object! { #[serde(flatten)] check, files: files.collect::<Vec<_>>() }
            });
            output::json(&object! { checks: checks.collect::<Vec<_>>() })?;
            return Ok(Exit::Done);
        }
        let missing = checks.iter().filter(|check| check.state == CheckState::Missing).count();
        if missing > 0 && !asks {
            output::note("\nrun `pitree setup --yes` to install what is missing");
        }
        if checks.iter().any(|check| check.name == SESSIONS && check.state != CheckState::Ok) {
            output::note("\nwithout sessions, `pitree demo` shows what pitree does");
        }
        Ok(Exit::Done)
    }
}

/// The columns before the text of a check.
const INDENT: usize = 9 + 13;

/// The name of the session check.
const SESSIONS: &str = "sessions";

/// Makes all checks, in the order of the report.
fn checks(context: &CommandContext) -> Result<Vec<Check>> {
    let this = program::this().context("cannot find the pitree program")?;
    let shell = user_shell();
    Ok([
        pitree(&this, context),
        sessions(context),
        pi(context),
        extension(&this, context)?,
        shell_part(shell, ShellPart::Completions, context)?,
        shell_part(shell, ShellPart::Key, context)?,
        clipboard_ways(),
        terminal(),
    ]
    .into_iter()
    .chain(machines(context)?)
    .collect())
}

/// Reports what the last synchronization found out about each machine.
fn machines(context: &CommandContext) -> Result<Vec<Check>> {
    let Some(state_dir) = locate::state_dir() else { return Ok(Vec::new()) };
    let one = |machine: &Machine| {
        let state = state::read(&state_dir, &machine.name).unwrap_or_default();
        let words = std::iter::once(format!("{}: {}", machine.name, state.in_words(now())));
        let words: Vec<String> = words.chain(state.abilities()).collect();
        check("machine", state.error.is_none() && state.synced.is_some(), words.join("; "))
    };
    Ok(context.machines()?.iter().map(one).collect())
}

fn print(check: &Check) -> Result<()> {
    let state = match check.state {
        CheckState::Ok | CheckState::Installed => "ok",
        CheckState::Missing => "missing",
        CheckState::Note => "note",
    };
    let room = output::columns().map_or(usize::MAX, |columns| columns.saturating_sub(INDENT).max(INDENT));
    let text = [DocLine::new(Tone::Text, &clean(&check.text))];
    let mut wrapped = Wrapped::new(room);
    wrapped.all(&text);
    let rows = (0..wrapped.len()).map(|row| wrapped.row(&text, row).into_iter().map(|(text, _)| text).collect());
    let rows: Vec<String> = rows.collect();
    outln!("{state:<9}{:<13}{}", check.name, rows.join(&format!("\n{:INDENT$}", "")))
}

fn check(name: &'static str, is_ok: bool, text: String) -> Check {
    Check { name, state: if is_ok { CheckState::Ok } else { CheckState::Note }, text, fix: None }
}

/// Checks that the shell finds this program.
fn pitree(this: &Path, context: &CommandContext) -> Check {
    let place = format!("{} ({})", env!("CARGO_PKG_VERSION"), context.short(this));
    let text = match program::find("pitree") {
        Some(found) if dunce::canonicalize(&found).ok() == dunce::canonicalize(this).ok() => {
            return check("pitree", true, place);
        }
        Some(found) => format!("{place}, but the PATH leads to {}", context.short(&found)),
        None => format!("{place}, not on the PATH: add its directory to the PATH, or move it to one of the PATH"),
    };
    check("pitree", false, text)
}

fn sessions(context: &CommandContext) -> Check {
    let mut scan = context.sources().scan();
    let _ = scan.skip_subagents();
    let found = scan.found.len();
    let dirs: Vec<String> = context.located.dirs.iter().map(|dir| context.short(dir)).collect();
    let place = format!("in {} (from {})", dirs.join(", "), context.located.origin);
    let text = match found {
        0 => format!("none {place}; specify another directory with --dir, or set dirs in config.toml"),
        found => format!("{} {place}", count(found, "session", "sessions")),
    };
    check(SESSIONS, found > 0, text)
}

fn pi(context: &CommandContext) -> Check {
    let command = context.config.pi.first().map_or("pi", String::as_str);
    let Some(found) = program::find(command) else {
        let text =
            format!("cannot find {command} on the PATH; install pi: npm install -g @earendil-works/pi-coding-agent");
        return check("pi", false, text);
    };
    let version = version::version(&context.config.pi, None);
    let place = context.short(&found);
    match version {
        Some(version) => check("pi", true, format!("{version} ({place})")),
        None => check("pi", false, format!("{place} did not report its version")),
    }
}

fn extension(this: &Path, context: &CommandContext) -> Result<Check> {
    let environment = Environment::current();
    if install::is_in_package(&environment) {
        return Ok(check("extension", true, "installed by the npm package".into()));
    }
    let Some(dirs) = install::dirs(&environment, this) else {
        bail!("cannot locate pi's directory: no home directory; set HOME")
    };
    let look = || "cannot read pi's directory";
    if dirs.iter().map(InstalledDir::is_current).collect::<io::Result<Vec<_>>>().with_context(look)? == [true; 2] {
        let text = "/pitree, exact states of running pis, and the skill are installed";
        return Ok(check("extension", true, text.into()));
    }
    let mut files = Vec::new();
    for dir in &dirs {
        files.extend(dir.to_write().with_context(look)?);
    }
    if files.is_empty() {
        return Ok(check("extension", false, "edited files are kept; see `pitree pi install --dry-run`".into()));
    }
    let text = "adds /pitree to pi, exact states of running pis, and a skill, in";
    let apply = move || {
        for dir in &dirs {
            dir.install(InstallOptions::default()).context("cannot write to pi's directory")?;
        }
        Ok(())
    };
    Ok(Check {
        name: "extension",
        state: CheckState::Missing,
        text: format!("{text} {}", context.short(&environment.agent())),
        fix: Some(Fix { question: "Install the extension", files, line: None, apply: Box::new(apply) }),
    })
}

/// A feature of pitree that a shell loads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShellPart {
    Completions,
    Key,
}

/// Returns the shell of the user according to `SHELL`, if pitree supports it.
fn user_shell() -> Option<Shell> {
    let shell = PathBuf::from(env::var_os("SHELL")?);
    Shell::from_str(shell.file_stem()?.to_str()?, false).ok()
}

/// Checks whether the shell loads a feature of pitree.
fn shell_part(shell: Option<Shell>, part: ShellPart, context: &CommandContext) -> Result<Check> {
    let (name, question, what, command) = match part {
        ShellPart::Completions => {
            ("completions", "Add shell completions", "Tab completes commands and sessions", "pitree completions")
        }
        ShellPart::Key => ("shell key", "Add the shell key", "Alt+I opens the browser in the shell", "pitree init"),
    };
    let Some(shell) = shell else {
        let text = "for bash, zsh and fish only (SHELL names another shell or none); see `pitree completions --help`";
        return Ok(check(name, false, text.into()));
    };
    let home = locate::home();
    let dir = |name| env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    // The file that an interactive shell reads at its start, the lines that load the completions and the key if pitree is
    // installed, and the completions of the Debian package.
    let (file, completions, key, packaged) = match shell {
        Shell::Bash => (
            home.join(".bashrc"),
            "command -v pitree >/dev/null && source <(pitree completions bash)",
            "command -v pitree >/dev/null && eval \"$(pitree init bash)\"",
            "/usr/share/bash-completion/completions/pitree",
        ),
        Shell::Zsh => (
            dir("ZDOTDIR").unwrap_or(home).join(".zshrc"),
            "(( $+commands[pitree] && $+functions[compdef] )) && source <(pitree completions zsh)",
            "(( $+commands[pitree] )) && eval \"$(pitree init zsh)\"",
            "/usr/share/zsh/vendor-completions/_pitree",
        ),
        Shell::Fish => (
            dir("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("fish/config.fish"),
            "command -q pitree; and pitree completions fish | source",
            "command -q pitree; and pitree init fish | source",
            "/usr/share/fish/vendor_completions.d/pitree.fish",
        ),
    };
    let place = context.short(&file);
    let is_loaded = startup_files::contains(&file, command);
    if is_loaded.path_context("cannot read", &file)? {
        return Ok(check(name, true, format!("loaded in {place}")));
    }
    if part == ShellPart::Completions && Path::new(packaged).exists() {
        return Ok(check(name, true, "packaged".into()));
    }
    let line = if part == ShellPart::Completions { completions } else { key };
    let files = vec![file.clone()];
    let apply = move || startup_files::append_line(&file, line).path_context("cannot write", &file);
    Ok(Check {
        name,
        state: CheckState::Missing,
        text: format!("{what}; one line in {place}"),
        fix: Some(Fix { question, files, line: Some(line), apply: Box::new(apply) }),
    })
}

fn clipboard_ways() -> Check {
    let ways = clipboard::ways();
    let none = "no clipboard here: the terminal does not support OSC 52, and neither wl-copy nor xclip can run";
    check("clipboard", !ways.is_empty(), if ways.is_empty() { none.into() } else { format!("by {}", ways.join(", ")) })
}

/// Reports the colors and glyphs of the terminal, as far as the environment tells.
fn terminal() -> Check {
    let var = |name| env::var(name).unwrap_or_default();
    let term = var("TERM");
    let colors = match () {
        () if !var("NO_COLOR").is_empty() => "no colors (NO_COLOR is set)",
        () if matches!(&*term, "" | "dumb") => "no colors",
        () if matches!(&*var("COLORTERM"), "truecolor" | "24bit") => "24-bit colors",
        () if term.contains("256color") => "256 colors",
        () => "16 colors",
    };
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].map(var).into_iter().find(|value| !value.is_empty());
    let locale = locale.unwrap_or_default().to_lowercase().replace('-', "");
    let has_glyphs = locale.contains("utf8");
    let glyphs = if has_glyphs { "Unicode" } else { "the locale is not UTF-8: use --ascii, or set LANG=C.UTF-8" };
    let name = if term.is_empty() { "TERM is not set" } else { &term };
    check("terminal", has_glyphs && !term.is_empty(), format!("{name}, {colors}, {glyphs}"))
}

/// Install or remove the /pitree extension
///
/// Installs the extension in `extensions/pitree` of pi's directory, and in `skills/pitree` a skill that teaches agents to
/// search earlier sessions. Keeps files that you edited. With the npm package, `pi install npm:pitree`
/// does the same.
#[derive(Debug, clap::Args)]
pub(super) struct PiCommand {
    #[command(subcommand)]
    what: PiAction,
}

#[derive(Debug, clap::Subcommand)]
enum PiAction {
    /// Install or update the extension and the skill
    Install(InstallOptions),
    /// Remove what install wrote
    Remove(InstallOptions),
}

impl PiCommand {
    pub(super) fn run(&self) -> Result<()> {
        let program = program::this().context("cannot find the pitree program")?;
        let dirs = install::dirs(&Environment::current(), &program)
            .context("cannot locate pi's directory: no home directory; set HOME")?;
        let (how, done, failure, verb, forced) = match self.what {
            PiAction::Install(how) => (
                how,
                dirs.each_ref().map(|dir| dir.install(how)),
                "cannot write to pi's directory",
                ["wrote", "would write"],
                "replaces",
            ),
            PiAction::Remove(how) => (
                how,
                dirs.each_ref().map(|dir| dir.remove(how)),
                "cannot remove files from pi's directory",
                ["removed", "would remove"],
                "deletes",
            ),
        };
        let outcomes = done.into_iter().collect::<io::Result<Vec<_>>>().context(failure)?.concat();
        if outcomes.is_empty() {
            output::note("pitree is not installed in pi");
        }
        for (file, kept) in outcomes {
            output::note(&match kept {
                None => format!("{} {}", verb[usize::from(how.dry_run)], file.display()),
                Some(reason) => format!("kept {}: {reason}; --force {forced} it", file.display()),
            });
        }
        Ok(())
    }
}

/// Print the agent skill for searching earlier sessions
///
/// The npm package and `pitree pi install` add the skill to pi. For another agent, save it in that agent's skills
/// directory.
#[derive(Debug, clap::Args)]
pub(super) struct SkillCommand {}

impl SkillCommand {
    pub(super) fn run() -> Result<()> {
        Ok(output::write(SKILL.as_bytes())?)
    }
}
