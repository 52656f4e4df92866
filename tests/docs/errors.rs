//! The table of errors in `docs/errors.md`: each error in the source has a row with its cause and what to do, and each
//! row belongs to an error in the source.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::words::files;
use super::{read, root};

/// The macros and functions that make an error from a text of its own.
const MAKERS: &[&str] = &["bail!(", "ensure!(", "anyhow!(", ".context("];

/// Returns the files of the source.
fn sources() -> impl Iterator<Item = PathBuf> {
    files().into_iter().filter(|path| path.starts_with(root().join("src")) && !path.ends_with("tests.rs"))
}

/// Returns the errors in the source without its tests.
fn errors() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in sources() {
        let source = read(&path);
        let code = source.split("#[cfg(test)]").next().unwrap();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        for maker in MAKERS {
            let ends = code.match_indices(maker).map(|(at, _)| at + maker.len());
            ends.for_each(|end| found.extend(literals(&code[end..])));
        }
    }
    found
}

/// Returns the messages among the arguments of a call: string literals with a space.
fn literals(arguments: &str) -> Vec<String> {
    let (mut depth, mut literals, mut chars) = (1, Vec::new(), arguments.chars());
    while let Some(char) = chars.next().filter(|_| depth > 0) {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            '"' => {
                let mut literal = String::new();
                while let Some(char) = chars.next().filter(|&char| char != '"') {
                    match char {
                        '\\' => literal.extend(chars.next().map(|char| if char == 'n' { ' ' } else { char })),
                        _ => literal.push(char),
                    }
                }
                literals.push(with_ellipses(&literal));
            }
            _ => {}
        }
    }
    literals.retain(|literal| literal.contains(' '));
    literals
}

/// Replaces the parameters of a format string.
fn with_ellipses(text: &str) -> String {
    let mut parts = text.split('{');
    let mut result = parts.next().unwrap().to_owned();
    for part in parts {
        result.push('…');
        result.push_str(part.split_once('}').unwrap().1);
    }
    result
}

/// Replaces the named parameters of a message in the table, such as `<file>`.
fn without_names(message: &str) -> String {
    with_ellipses(&message.replace('<', "{").replace('>', "}"))
}

#[test]
fn the_table_of_errors_is_complete() {
    let page = read(&root().join("docs/errors.md"));
    let mut listed = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [message, cause, remedy] = cells[..] else { panic!("{row} needs three cells") };
        assert!(cause.ends_with('.') && remedy.ends_with('.'), "{row} needs a cause and what to do");
        assert!(!message.contains('…'), "{row}: name the variable part, such as <file>");
        let message = without_names(message.trim_matches('`').trim());
        assert!(listed.insert(message), "{row} is listed twice");
    }
    let found = errors();
    assert!(found.len() > 50, "the errors in the source are not found");
    let missing: Vec<&String> = found.difference(&listed).collect();
    assert!(missing.is_empty(), "add to docs/errors.md: {missing:#?}");
    // Not all errors are made by these macros.
    let sources: Vec<String> = sources().map(|path| read(&path)).collect();
    let is_in = |message: &str, source: &String| message.split('…').all(|part| source.contains(part));
    let is_outdated = |message: &&String| !sources.iter().any(|source| is_in(message, source));
    let outdated: Vec<&String> = listed.difference(&found).filter(is_outdated).collect();
    assert!(outdated.is_empty(), "remove from docs/errors.md: {outdated:#?}");
}
