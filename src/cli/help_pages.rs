//! The reference of the command line: docs/cli.md, and the tables of the man pages.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::cli::{Cli, exit, help};

/// The width of the help in docs/cli.md, in columns.
const COLUMNS: usize = 100;

/// Files that pitree reads and writes, each with its purpose: for pitree(1). Paths are those of Linux.
pub const FILES: [(&str, &str); 7] = [
    ("~/.pi/agent/sessions", "pi's session files"),
    (
        "~/.config/pitree/config.toml",
        "configuration; pitree config prints the path, pitree config --default a template",
    ),
    ("~/.local/state/pitree/journal.jsonl", "journal of all changes, for undo and redo"),
    (
        "~/.local/state/pitree",
        "saved state of the browser, relocated directories, states of running pi instances, the last panic",
    ),
    (
        "~/.local/share/pitree",
        "what you made: pins, tags, notes and archived sessions; other machines, and mirrors of their sessions",
    ),
    ("~/.cache/pitree", "session index; deleting it loses nothing"),
    ("~/.local/share/Trash", "trash of the desktop, to which deleted sessions move"),
];

/// Environment variables that pitree reads, each with its purpose: for pitree(1).
pub const ENVIRONMENT: [(&str, &str); 9] = [
    ("PI_CODING_AGENT_DIR", "pi's agent directory (default: ~/.pi/agent)"),
    ("PI_CODING_AGENT_SESSION_DIR", "session directory; overrides sessionDir in pi's settings"),
    ("PI_SESSION_FILE", "session of the pi that runs this command; the SESSION argument \".\" names it"),
    ("XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, XDG_DATA_HOME", "base directories of the files above"),
    ("PITREE_LOG", "file for a log; like --log"),
    ("NO_COLOR", "if not empty, draw without colors"),
    ("COLORFGBG", "terminal colors, from which --theme auto guesses the background"),
    ("VISUAL, EDITOR", "editor for the reader"),
    ("PAGER", "pager for the reader"),
];

/// Examples for pitree(1) and docs/cli.md.
pub const EXAMPLES: &str = "  pitree                            browse the sessions that pi would list
  pitree .                          browse the sessions of this directory
  pitree demo                       try everything on demo sessions
  pitree setup                      check the installation, install what is missing
  pitree --dir ~/backup/sessions    browse another directory
  pitree jwt file:auth              open the browser with a search
  pitree search --json jwt          search, with output for scripts
  pitree ls --json | jq .path       print all session paths
  pitree tree 01a1ceea              show the tree of a session, by id prefix
  pitree context 01a1ceea jwt-works  show the model context at a label, with tokens
  pitree files --project webshop    list files touched in a project
  pitree file src/auth/refresh.ts --at 01a1ceea@jwt-works  print a file as it was
  pitree diff 01a1ceea@jwt-works @nicest  compare two branches of a session, by labels
  pitree export 01a1ceea -o a.html  export a session as a page, without likely secrets
  pitree resume 01a1ceea jwt-works  resume in pi at the entry with this label
  pitree rename 01a1ceea Auth       rename a session
  pitree rm 01a1ceea --family       move a whole family to the trash
  pitree move ~/app ~/code/app      sessions follow a moved project
  pitree archive before:6mo         compress sessions without activity for six months
  pitree undo                       undo the last change
  s=$(pitree path 01a1ceea) && pi --session \"$s\"
  pitree config --default           print the default configuration
  pitree --print path               choose a session and print its path";

/// Returns the clap definition of all commands and options.
pub fn command() -> Command {
    help::with_examples(Cli::command())
}

/// Exit codes, each with its meaning.
pub const EXIT_CODES: [(&str, &str); 6] = exit::TABLE;

/// The exit codes as a table of Markdown.
pub fn exit_code_table() -> String {
    let rows = exit::TABLE.map(|(code, meaning)| format!("| {code} | {meaning} |\n"));
    format!("| code | meaning |\n|---|---|\n{}", rows.concat())
}

/// The command line as a page of Markdown: the help of every command.
pub fn page() -> String {
    let mut page = String::from(
        "<!-- Generated from the definitions in src/cli/. Change those, not this page. -->\n\n# Command line\n\n\
         The options of all commands, and `--help`, are listed once.\n\nExit codes:\n\n",
    );
    page += &exit_code_table();
    page += "\nA closed pipe is not an error.\n";
    let options = help::options(COLUMNS);
    let options = options.split("\n\nExit codes:").next().unwrap_or_default();
    let _ =
        write!(page, "\n## Options\n\n```text\n{options}\n```\n\n## Examples\n\n```text\nExamples:\n{EXAMPLES}\n```\n");
    let mut pitree = command().term_width(COLUMNS).disable_help_subcommand(true);
    pitree.build();
    add(&mut page, &pitree, "pitree");
    page
}

/// Adds the help of a command and of its subcommands.
fn add(page: &mut String, command: &Command, name: &str) {
    let help = command.clone().render_long_help().to_string();
    let help = help.split("\n\nOptions of all commands:").next().unwrap_or_default();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for child in command.get_subcommands().filter(|child| !child.is_hide_set()) {
        let is_of_all = |arg: &Arg| arg.is_global_set() || arg.get_id() == "help";
        let child = child.clone().mut_args(|arg| if is_of_all(&arg) { arg.hide(true) } else { arg });
        add(page, &child, &format!("{name} {}", child.get_name()));
    }
}
