//! `pitree setup`: reports what works on this machine, and offers to install what is missing.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use serde::Serialize;

use crate::base::numbers::count;
use crate::base::paths::shorten;
use crate::base::text::{Tone, clean};
use crate::cli::completions::Shell;
use crate::cli::output::object;
use crate::cli::{CommandContext, Exit, machine_context, now, output};
use crate::disk::locate::{self, Environment};
use crate::disk::{program, startup_files};
use crate::machines::registry::Machine;
use crate::machines::state;
use crate::pi::install::{self, InstallOptions, InstalledDir};
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
    action: FixAction,
}

enum FixAction {
    /// Install these directories in pi's directory.
    Install([InstalledDir; 2]),
    /// Append this line to the file.
    Append(&'static str),
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
                let files = fix.files.iter().map(|file| format!("\n  {}", shown(file, context)));
                let files: String = files.collect();
                output::note(&match fix.action {
                    FixAction::Install(_) => format!("\n{}. This writes:{files}", fix.question),
                    FixAction::Append(line) => {
                        format!("\n{}. This appends to:{files}\nthe line:\n  {line}", fix.question)
                    }
                });
            }
            if self.yes || (asks && output::is_yes(&format!("{}?", fix.question))?) {
                fix.apply()?;
                check.state = CheckState::Installed;
            }
        }
        if self.json {
            let files = |fix: &Fix| fix.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
            let checks = checks.iter().map(|check| {
                let files: Vec<String> = check.fix.as_ref().map(files).unwrap_or_default();
                object! { #[serde(flatten)] check, files }
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
    Ok(machine_context::machines(&context.config)?.iter().map(one).collect())
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

fn shown(path: &Path, context: &CommandContext) -> String {
    shorten(&path.to_string_lossy(), &context.home).into_owned()
}

fn check(name: &'static str, is_ok: bool, text: String) -> Check {
    Check { name, state: if is_ok { CheckState::Ok } else { CheckState::Note }, text, fix: None }
}

/// Checks that the shell finds this program.
fn pitree(this: &Path, context: &CommandContext) -> Check {
    let place = format!("{} ({})", env!("CARGO_PKG_VERSION"), shown(this, context));
    let text = match program::find("pitree") {
        Some(found) if dunce::canonicalize(&found).ok() == dunce::canonicalize(this).ok() => {
            return check("pitree", true, place);
        }
        Some(found) => format!("{place}, but the PATH leads to {}", shown(&found, context)),
        None => format!("{place}, not on the PATH: add its directory to the PATH, or move it to one of the PATH"),
    };
    check("pitree", false, text)
}

fn sessions(context: &CommandContext) -> Check {
    let mut scan = context.sources().scan();
    let _ = scan.skip_subagents();
    let found = scan.found.len();
    let dirs: Vec<String> = context.located.dirs.iter().map(|dir| shown(dir, context)).collect();
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
    let place = shown(&found, context);
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
    if dirs.iter().map(InstalledDir::is_current).collect::<std::io::Result<Vec<_>>>().with_context(look)? == [true; 2] {
        return Ok(check(
            "extension",
            true,
            "/pitree, exact states of running pis, and the skill are installed".into(),
        ));
    }
    let mut files = Vec::new();
    for dir in &dirs {
        files.extend(dir.to_write().with_context(look)?);
    }
    if files.is_empty() {
        return Ok(check("extension", false, "edited files are kept; see `pitree pi install --dry-run`".into()));
    }
    let dir = shown(&environment.agent(), context);
    Ok(Check {
        name: "extension",
        state: CheckState::Missing,
        text: format!("adds /pitree to pi, exact states of running pis, and a skill, in {dir}"),
        fix: Some(Fix { question: "Install the extension", files, action: FixAction::Install(dirs) }),
    })
}

impl Fix {
    fn apply(&self) -> Result<()> {
        match &self.action {
            FixAction::Install(dirs) => {
                for dir in dirs {
                    dir.install(InstallOptions::default()).context("cannot write to pi's directory")?;
                }
            }
            FixAction::Append(line) => {
                for file in &self.files {
                    startup_files::append_line(file, line)
                        .with_context(|| format!("cannot write {}", file.display()))?;
                }
            }
        }
        Ok(())
    }
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

/// Returns the file that an interactive shell reads at its start.
fn startup_file(shell: Shell) -> PathBuf {
    let home = locate::home();
    let dir = |name| env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    match shell {
        Shell::Bash => home.join(".bashrc"),
        Shell::Zsh => dir("ZDOTDIR").unwrap_or(home).join(".zshrc"),
        Shell::Fish => dir("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("fish/config.fish"),
    }
}

/// Returns the line that loads a feature if pitree is installed.
fn startup_line(shell: Shell, part: ShellPart) -> &'static str {
    match (shell, part) {
        (Shell::Bash, ShellPart::Completions) => "command -v pitree >/dev/null && source <(pitree completions bash)",
        (Shell::Bash, ShellPart::Key) => "command -v pitree >/dev/null && eval \"$(pitree init bash)\"",
        (Shell::Zsh, ShellPart::Completions) => {
            "(( $+commands[pitree] && $+functions[compdef] )) && source <(pitree completions zsh)"
        }
        (Shell::Zsh, ShellPart::Key) => "(( $+commands[pitree] )) && eval \"$(pitree init zsh)\"",
        (Shell::Fish, ShellPart::Completions) => "command -q pitree; and pitree completions fish | source",
        (Shell::Fish, ShellPart::Key) => "command -q pitree; and pitree init fish | source",
    }
}

/// Returns the file of the completions in the Debian package.
fn packaged_completions(shell: Shell) -> &'static Path {
    Path::new(match shell {
        Shell::Bash => "/usr/share/bash-completion/completions/pitree",
        Shell::Zsh => "/usr/share/zsh/vendor-completions/_pitree",
        Shell::Fish => "/usr/share/fish/vendor_completions.d/pitree.fish",
    })
}

fn shell_part(shell: Option<Shell>, part: ShellPart, context: &CommandContext) -> Result<Check> {
    let (name, question, what, command) = match part {
        ShellPart::Completions => {
            ("completions", "Add shell completions", "Tab completes commands and sessions", "pitree completions")
        }
        ShellPart::Key => ("shell key", "Add the shell key", "Alt+I opens the browser in the shell", "pitree init"),
    };
    let Some(shell) = shell else {
        return Ok(check(
            name,
            false,
            "for bash, zsh and fish only (SHELL names another shell or none); see `pitree completions --help`".into(),
        ));
    };
    let file = startup_file(shell);
    let place = shown(&file, context);
    let is_loaded = startup_files::contains(&file, command);
    if is_loaded.with_context(|| format!("cannot read {}", file.display()))? {
        return Ok(check(name, true, format!("loaded in {place}")));
    }
    if part == ShellPart::Completions && packaged_completions(shell).exists() {
        return Ok(check(name, true, "packaged".into()));
    }
    Ok(Check {
        name,
        state: CheckState::Missing,
        text: format!("{what}; one line in {place}"),
        fix: Some(Fix { question, files: vec![file], action: FixAction::Append(startup_line(shell, part)) }),
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
