//! Man pages generated from the definitions of the command line.

use std::collections::BTreeMap;

use clap::{Arg, Command};
use pitree::cli::help_pages::{ENVIRONMENT, EXAMPLES, EXIT_CODES, FILES, command};
use roff::{Inline, Roff, bold, italic, roman};

/// The date in the footer of all pages until the changelog has a release.
const DATE_BEFORE_RELEASES: &str = "2026-11-28";

/// Returns the date of the newest release in the changelog, whose headings are `## [VERSION] - DATE`.
fn date() -> String {
    let changelog = crate::docs::read(&crate::docs::root().join("CHANGELOG.md"));
    let release = changelog.lines().find_map(|line| line.strip_prefix("## [")?.split_once("] - "));
    release.map_or(DATE_BEFORE_RELEASES, |(_, date)| date.trim()).into()
}

/// The longest line of a page, in bytes; `mandoc -T lint` complains from 81 on.
const LINE: usize = 78;

/// Returns the pages by file name.
pub(crate) fn pages() -> BTreeMap<String, String> {
    let mut pitree = command().disable_help_subcommand(true);
    pitree.build();
    let mut pages = BTreeMap::new();
    let mut todo: Vec<(Command, Option<String>)> = vec![(pitree, None)];
    while let Some((command, parent)) = todo.pop() {
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_string();
        let children = command.get_subcommands().filter(|child| !child.is_hide_set());
        todo.extend(children.map(|child| (child.clone(), Some(name.clone()))));
        pages.insert(format!("{name}.1"), page(&command, &name, parent.as_deref()));
    }
    pages
}

fn page(command: &Command, name: &str, parent: Option<&str>) -> String {
    let mut roff = Roff::new();
    let source = format!("pitree {}", env!("CARGO_PKG_VERSION"));
    roff.control("TH", [&*name.to_uppercase(), "1", &date(), &source, "pitree manual"]);
    roff.control("SH", ["NAME"]);
    paragraph(&mut roff, &format!("{name} - {}", plain(command.get_about())));
    let is_shown = |arg: &&Arg| !arg.is_hide_set() && (parent.is_none() || !is_of_all(arg));
    synopsis(&mut roff, command, &command.get_arguments().filter(is_shown).collect::<Vec<_>>());
    roff.control("SH", ["DESCRIPTION"]);
    paragraphs(&mut roff, &plain(command.get_long_about().or_else(|| command.get_about())));
    let (positionals, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().filter(is_shown).partition(|arg| arg.is_positional());
    for (heading, args) in [("ARGUMENTS", positionals), ("OPTIONS", options)] {
        if !args.is_empty() {
            roff.control("SH", [heading]);
            args.iter().for_each(|arg| argument(&mut roff, arg));
        }
    }
    if parent.is_some() {
        roff.control("PP", []);
        paragraph(&mut roff, "The options of all commands, such as `--dir` and `--demo`, are in pitree(1).");
    }
    let children: Vec<&Command> = command.get_subcommands().filter(|child| !child.is_hide_set()).collect();
    if !children.is_empty() {
        roff.control("SH", ["COMMANDS"]);
    }
    for child in &children {
        let page = child.get_display_name().unwrap_or_else(|| child.get_name());
        item(&mut roff, vec![bold(page), roman("(1)")], &plain(child.get_about()));
    }
    let examples = if parent.is_none() { Some(EXAMPLES.into()) } else { command.get_after_help().cloned() };
    if let Some(examples) = examples {
        roff.control("SH", ["EXAMPLES"]);
        roff.control("nf", []);
        // A section of its own has the exit codes.
        let examples = examples.to_string();
        let lines = examples.split("\n\nOptions of all commands:").next().unwrap().lines();
        lines.filter(|line| !line.starts_with("Examples")).for_each(|line| {
            roff.text([roman(line.trim())]);
        });
        roff.control("fi", []);
    }
    let tables = [("EXIT STATUS", &EXIT_CODES[..]), ("FILES", &FILES[..]), ("ENVIRONMENT", &ENVIRONMENT[..])];
    // Files and variables concern all commands: they are in pitree(1) only.
    for (heading, rows) in &tables[..if parent.is_some() { 1 } else { 3 }] {
        roff.control("SH", [*heading]);
        rows.iter().for_each(|(name, what)| item(&mut roff, vec![bold(*name)], what));
    }
    let others = parent.map(String::from).into_iter();
    let others: Vec<String> =
        others.chain(children.iter().filter_map(|child| child.get_display_name()).map(String::from)).collect();
    if !others.is_empty() {
        roff.control("SH", ["SEE ALSO"]);
    }
    for (at, other) in others.iter().enumerate() {
        let end = if at + 1 < others.len() { "(1)," } else { "(1)" };
        roff.text([bold(other), roman(end)]);
    }
    roff.render()
}

/// Writes every option with the name of its value, then the positional arguments and the subcommands.
fn synopsis(roff: &mut Roff, command: &Command, shown: &[&Arg]) {
    roff.control("SH", ["SYNOPSIS"]);
    roff.text([bold(command.get_bin_name().unwrap_or_else(|| command.get_name()))]);
    for option in shown.iter().filter(|arg| !arg.is_positional()) {
        let mut words = vec![roman("[")];
        let names =
            [option.get_short().map(|short| format!("-{short}")), option.get_long().map(|it| format!("--{it}"))];
        for (at, name) in names.into_iter().flatten().enumerate() {
            words.extend((at > 0).then(|| roman("|")));
            words.push(bold(name));
        }
        words.extend(value(option).map(|value| italic(format!(" {value}"))));
        words.push(roman("]"));
        roff.text(words);
    }
    for positional in shown.iter().filter(|arg| arg.is_positional()) {
        let dots = if positional.get_num_args().is_some_and(|args| args.max_values() > 1) { "..." } else { "" };
        let (open, close) = if positional.is_required_set() { ("", "") } else { ("[", "]") };
        roff.text([roman(open), italic(value(positional).unwrap()), roman(close), roman(dots)]);
    }
    if command.has_subcommands() {
        let (open, close) = if command.is_subcommand_required_set() { ("", "") } else { ("[", "]") };
        roff.text([roman(open), italic("COMMAND"), roman(close)]);
    }
}

/// Returns `true` for options that all commands take.
fn is_of_all(arg: &Arg) -> bool {
    arg.is_global_set() || arg.get_id() == "help"
}

/// Returns the name of the value that an argument takes.
fn value(arg: &Arg) -> Option<String> {
    let takes_value = arg.get_num_args().is_some_and(|args| args.takes_values());
    let names = || arg.get_value_names().map(|names| names.join(" "));
    takes_value.then(|| names().unwrap_or_else(|| arg.get_id().as_str().to_uppercase()))
}

/// Writes an option or positional argument with its help, its default and its possible values.
fn argument(roff: &mut Roff, arg: &Arg) {
    let names = [arg.get_short().map(|short| format!("-{short}")), arg.get_long().map(|it| format!("--{it}"))];
    let names: Vec<String> = names.into_iter().flatten().collect();
    let mut words = vec![bold(names.join(", "))];
    if let Some(value) = value(arg) {
        words.extend((!names.is_empty()).then(|| roman(" ")));
        words.push(italic(value));
    }
    let mut help = plain(arg.get_long_help().or_else(|| arg.get_help()));
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if !defaults.is_empty() && arg.get_action().takes_values() {
        help += &format!(" [default: {}]", defaults.join(", "));
    }
    let values = arg.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set() && arg.get_action().takes_values());
    let values: Vec<String> = values
        .map(|value| match value.get_help() {
            Some(help) => format!("{} ({help})", value.get_name()),
            None => value.get_name().into(),
        })
        .collect();
    if !values.is_empty() {
        let stop = if help.ends_with('.') { "" } else { "." };
        help += &format!("{stop} Possible values: {}.", values.join(", "));
    }
    item(roff, words, &help);
}

fn item(roff: &mut Roff, name: Vec<Inline>, text: &str) {
    roff.control("TP", []);
    roff.text(name);
    paragraphs(roff, text);
}

fn plain(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

fn paragraphs(roff: &mut Roff, text: &str) {
    for (at, part) in text.split("\n\n").enumerate() {
        if at > 0 {
            roff.control("PP", []);
        }
        paragraph(roff, part);
    }
}

/// Writes a paragraph in lines of at most [`LINE`] bytes; each sentence begins a line, as roff requires. Words between
/// backticks are bold.
fn paragraph(roff: &mut Roff, text: &str) {
    let (mut line, mut is_bold) = (String::new(), false);
    let mut write = |line: &str| {
        let mut words = Vec::new();
        for (at, part) in line.split('`').enumerate() {
            is_bold ^= at > 0;
            words.extend((!part.is_empty()).then(|| if is_bold { bold(part) } else { roman(part) }));
        }
        roff.text(words);
    };
    for word in text.split_whitespace() {
        let is_full = escaped_length(&line) + 1 + escaped_length(word) > LINE;
        if is_full || line.ends_with('.') && !line.ends_with("e.g.") {
            write(&std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    if !line.is_empty() {
        write(&line);
    }
}

/// Returns the bytes of a text with its escapes: `\-`, `\fB`, and `\[u2026]` for a character beyond ASCII.
fn escaped_length(text: &str) -> usize {
    text.chars()
        .map(|char| match char {
            '-' => 2,
            // A change of the font.
            '`' => 3,
            '\'' => 5,
            _ if char.is_ascii() => 1,
            _ => 8,
        })
        .sum()
}
