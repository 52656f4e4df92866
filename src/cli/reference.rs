//! The command line as a page of Markdown: the help of every command.

use std::fmt::Write as _;

use clap::Command;

/// The columns that the help is wrapped to.
const COLUMNS: usize = 100;

/// The commands as a page of Markdown.
pub(super) fn page(pitree: Command) -> String {
    let mut page = String::from(
        "<!-- Generated from the definitions in src/cli/. Change those, not this page. -->\n\n# Command line\n\n\
         Exit codes: 0 done, 1 failed, 2 wrong usage. A closed pipe is no error.\n",
    );
    let mut pitree = pitree.term_width(COLUMNS);
    pitree.build();
    add(&mut page, &mut pitree.clone(), "pitree");
    let is_ours = |command: &&mut Command| !command.is_hide_set() && command.get_name() != "help";
    for command in pitree.get_subcommands_mut().filter(is_ours) {
        let name = format!("pitree {}", command.get_name());
        add(&mut page, command, &name);
    }
    page
}

fn add(page: &mut String, command: &mut Command, name: &str) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
}
