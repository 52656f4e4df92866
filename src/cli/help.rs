//! The help: commands by group with their examples, from `assets/help.txt`, and the names of former commands.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::cli::{Cli, exit};

/// The commands by group, each with examples.
const TABLE: &str = include_str!("../../assets/help.txt");

/// The width of names in lists of commands.
const NAME: usize = 11;

/// Former commands, and their replacements.
const FORMER: [(&[&str], &[&str]); 8] = [
    (&["pin"], &["mark", "--pin"]),
    (&["unpin"], &["mark", "--unpin"]),
    (&["tag"], &["mark", "--only=tags"]),
    (&["note"], &["mark", "--only=note"]),
    (&["marks", "export"], &["mark", "--export"]),
    (&["marks", "import"], &["mark", "--import"]),
    (&["restore"], &["trash", "restore"]),
    (&["unarchive"], &["archive", "--restore"]),
];

/// A command in the table.
struct HelpRow {
    group: &'static str,
    /// The words of the command.
    name: &'static str,
    /// `true` if the short help lists it.
    is_main: bool,
    examples: String,
}

fn rows() -> Vec<HelpRow> {
    let (mut group, mut rows) = ("", Vec::<HelpRow>::new());
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("= ") {
            group = name;
        } else if !line.starts_with(' ') {
            let name = line.trim_end_matches(" *");
            rows.push(HelpRow { group, name, is_main: name != line, examples: String::new() });
        } else if let Some(row) = rows.last_mut() {
            row.examples.extend(["\n", line]);
        }
    }
    rows
}

/// Adds the groups and the examples to the definition of the command line.
pub(super) fn with_examples(mut pitree: Command) -> Command {
    let rows = rows();
    for HelpRow { name, examples, .. } in &rows {
        let mut words = name.split(' ');
        let with_examples = |command: Command| {
            let more = command.get_after_help().map_or(String::new(), |more| format!("\n\n{more}"));
            command.after_help(format!("Examples:{examples}{more}\n\nOptions of all commands: pitree help options"))
        };
        pitree = match (words.next(), words.next()) {
            (Some(outer), Some(inner)) => {
                pitree.mut_subcommand(outer, |outer| outer.mut_subcommand(inner, with_examples))
            }
            _ => pitree.mut_subcommand(*name, with_examples),
        };
    }
    let line = |row: &HelpRow| {
        let about = pitree.find_subcommand(row.name)?.get_about()?;
        Some(format!("\n  {:NAME$}  {about}", row.name))
    };
    let short: String = rows.iter().filter(|row| row.is_main).filter_map(line).collect();
    let mut long = String::new();
    for group in rows.chunk_by(|one, next| one.group == next.group) {
        let _ = write!(long, "\n{}{}", group[0].group, group.iter().filter_map(line).collect::<String>());
    }
    pitree
        .help_template("{about}\n{usage-heading} {usage}{after-help}")
        .after_help(format!(
            "Commands:{short}\n\nAll commands: pitree --help; options of a command: pitree COMMAND --help"
        ))
        .after_long_help(format!(
            "{}\n\nOptions and exit codes: pitree help options; examples: pitree COMMAND --help",
            long.trim_start()
        ))
}

/// Hides the options of all commands, which [`options`] lists.
pub(super) fn without_global_options(pitree: Command) -> Command {
    pitree.mut_args(|arg| if arg.is_global_set() { arg.hide(true) } else { arg })
}

/// Returns the options of the browser and of all commands, and the exit codes.
pub(super) fn options(columns: usize) -> String {
    let options = Cli::command().help_template("{options}").term_width(columns).render_help();
    let codes = exit::TABLE.map(|(code, meaning)| format!("\n  {code:<7}{meaning}")).concat();
    format!("Options of the browser and of all commands:\n{options}\n\nExit codes:{codes}\n")
}

/// Replaces the name of a former command in the arguments of the program.
pub(super) fn with_current_name(given: Vec<OsString>) -> Vec<OsString> {
    let mut at = 1;
    while let Some(word) = given.get(at).and_then(|word| word.to_str()).filter(|word| word.starts_with("--")) {
        if word == "--" {
            return given;
        }
        at += if has_value(word) { 2 } else { 1 };
    }
    let rest = given.get(at..).unwrap_or_default();
    let is_named =
        |former: &[&str]| rest.len() >= former.len() && rest.iter().zip(former).all(|(word, name)| word == name);
    let Some((former, current)) = FORMER.iter().find(|(former, _)| is_named(former)) else { return given };
    let rest = rest[former.len()..].iter().cloned();
    let rest: Vec<OsString> = if former == &["tag"] { rest.map(as_tag_option).collect() } else { rest.collect() };
    given[..at].iter().cloned().chain(current.iter().map(OsString::from)).chain(rest).collect()
}

/// Returns `true` for an option before a command whose value is the next word.
fn has_value(option: &str) -> bool {
    let pitree = Cli::command();
    let mut options = pitree.get_arguments().filter(|arg| arg.get_action().takes_values());
    options.any(|arg| arg.get_long().is_some() && arg.get_long() == option.strip_prefix("--"))
}

/// Replaces `+release` by `--tag=release`, and `-draft` by `--untag=draft`.
fn as_tag_option(word: OsString) -> OsString {
    let tag = |sign| word.to_str()?.strip_prefix(sign).filter(|tag| !tag.is_empty());
    match (tag('+'), tag('-')) {
        (Some(tag), _) => format!("--tag={tag}").into(),
        (_, Some(tag)) if !tag.starts_with('-') && tag != "h" => format!("--untag={tag}").into(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_in_one_group_with_two_examples() {
        let mut pitree = Cli::command();
        pitree.build();
        let mut todo: Vec<(String, &Command)> = vec![(String::new(), &pitree)];
        let mut names = Vec::new();
        while let Some((before, command)) = todo.pop() {
            let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
            todo.extend(inner.map(|inner| (format!("{before} {}", inner.get_name()).trim().to_owned(), inner)));
            names.extend(Some(before).filter(|name| !name.is_empty()));
        }
        let mut listed: Vec<&str> = rows().iter().map(|row| row.name).collect();
        names.sort();
        listed.sort_unstable();
        assert_eq!(names, listed);
        for row in rows() {
            let examples: Vec<&str> = row.examples.trim_start_matches('\n').lines().collect();
            assert!(examples.len() == 2 && examples.iter().all(|line| line.starts_with("  pitree ")), "{}", row.name);
        }
        assert_eq!(rows().iter().filter(|row| row.is_main).count(), 12);
    }

    #[test]
    fn the_help_is_short() {
        let mut pitree = with_examples(Cli::command()).term_width(80);
        let [short, long] = [pitree.render_help(), pitree.render_long_help()].map(|help| help.to_string());
        assert!(short.lines().count() <= 30 && long.lines().count() <= 59, "{short}\n{long}");
        assert!(long.lines().all(|line| line.len() <= 80) && long.contains("\nClean up\n  rm "), "{long}");
        let mut ls = without_global_options(with_examples(Cli::command()));
        ls.build();
        let ls = ls.find_subcommand_mut("ls").unwrap().render_long_help().to_string();
        assert!(ls.contains("--limit") && !ls.contains("--theme") && ls.contains("Examples:\n  pitree ls "), "{ls}");
        assert!(options(80).contains("--theme <THEME>") && options(80).contains("--at <SESSION>"));
    }

    #[test]
    fn former_commands_have_current_names() {
        for (former, current) in [
            ("pin a b --json", "mark --pin a b --json"),
            ("--dir pin unpin a", "--dir pin mark --unpin a"),
            ("tag a +b -c --remove d -h", "mark --only=tags a --tag=b --untag=c --remove d -h"),
            ("note a text", "mark --only=note a text"),
            ("marks export f", "mark --export f"),
            ("--demo marks import f --dry-run", "--demo mark --import f --dry-run"),
            ("restore 1", "trash restore 1"),
            ("unarchive is:archived --yes", "archive --restore is:archived --yes"),
            ("search note", "search note"),
            ("jwt tag", "jwt tag"),
            ("-- pin", "-- pin"),
            ("marks", "marks"),
        ] {
            let words = |line: &str| ["pitree"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            let wanted: Vec<OsString> = words(current);
            assert_eq!(with_current_name(words(former)), wanted, "{former}");
        }
    }
}
