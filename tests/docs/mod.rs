//! The documentation: generated pages are current, links resolve, and the README names the first commands to try.
//! `PITREE_WRITE_DOCS=1 cargo test --test all docs::` writes the generated pages.

mod errors;
#[cfg(unix)]
mod examples;
mod json_schema;
mod man;
mod samples;
mod syntaxes;
mod words;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pulldown_cmark::{Event, Parser, Tag};
use sha2::{Digest, Sha256};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).replace("\r\n", "\n")
}

fn is_current(page: &str, wanted: &str) {
    is_current_file(page, wanted.as_bytes(), |path| read(path) == wanted);
}

fn is_current_file(page: &str, wanted: &[u8], is_wanted: impl Fn(&Path) -> bool) {
    let path = root().join(page);
    let writes = std::env::var_os("PITREE_WRITE_DOCS").is_some_and(|value| value == "1");
    // Other tests read the page at the same time: a current page stays unchanged.
    if writes && !(path.exists() && is_wanted(&path)) {
        fs::write(&path, wanted).unwrap();
    }
    assert!(is_wanted(&path), "{page} is out of date: run PITREE_WRITE_DOCS=1 cargo test --test all docs::");
}

#[test]
fn the_key_reference_is_current() {
    is_current("docs/keys.md", &pitree::keymap::Keymap::default().reference());
}

#[test]
fn the_command_line_reference_is_current() {
    is_current("docs/cli.md", &pitree::cli::help_pages::page());
}

/// The browser runs the style and the script of an exported page only if the policy has their hashes.
#[test]
fn the_policy_of_exported_pages_is_current() {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    let (style, script) = pitree::export::html::style_and_script();
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'\n",
        hash(style),
        hash(&script)
    );
    is_current("assets/export.csp", &policy);
    for text in [style, &script] {
        assert!(!text.contains("</") && !text.contains("<!--") && !text.contains("://"), "no end tag, no address");
    }
}

#[test]
fn help_fits_80_columns() {
    fn check(command: &clap::Command, name: &str) {
        let mut sized = command.clone().term_width(80);
        for help in [sized.render_help().to_string(), sized.render_long_help().to_string()] {
            for line in help.lines() {
                assert!(line.chars().count() <= 80, "pitree{name} --help: {line}");
            }
        }
        for inner in command.get_subcommands() {
            check(inner, &format!("{name} {}", inner.get_name()));
        }
    }
    let mut command = pitree::cli::help_pages::command();
    command.build();
    check(&command, "");
}

#[test]
fn the_manual_is_current() {
    let pages = man::pages();
    for (name, page) in &pages {
        is_current(&format!("docs/man/{name}"), page);
    }
    let folder = fs::read_dir(root().join("docs/man")).unwrap();
    let found: BTreeSet<String> = folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(found.iter().eq(pages.keys()), "docs/man has pages of removed commands: {found:?}");
}

/// Checks the part of a page between its comments `<!-- NAME: generated from … -->` and `<!-- end of NAME -->`.
fn part_is_current(page: &str, name: &str, wanted: &str) {
    let text = read(&root().join(page));
    let (start, end) = (format!("<!-- {name}: generated from "), format!("<!-- end of {name} -->\n"));
    let from = text.find(&start).unwrap() + text[text.find(&start).unwrap()..].find("-->\n").unwrap() + "-->\n".len();
    let to = text.find(&end).unwrap();
    is_current(page, &format!("{}{wanted}{}", &text[..from], &text[to..]));
}

#[test]
fn the_qualifiers_of_the_search_page_are_current() {
    part_is_current("docs/search.md", "qualifiers", &pitree::search::qualifier::reference());
}

#[test]
fn the_json_schema_is_current() {
    let schema = json_schema::of_page(&read(&root().join("docs/json.md")));
    is_current("docs/json-schema.json", &format!("{}\n", serde_json::to_string_pretty(&schema).unwrap()));
}

#[test]
fn the_exit_codes_are_current() {
    part_is_current("docs/json.md", "exit codes", &pitree::cli::help_pages::exit_code_table());
}

/// Returns the README and every page in `docs`.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|kind| kind == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

fn targets(text: &str) -> Vec<String> {
    let target = |event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    };
    Parser::new(text).filter_map(target).collect()
}

/// Returns the anchors that GitHub gives to the headings of a page.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors = Vec::new();
    let mut heading: Option<String> = None;
    for event in Parser::new(text) {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { .. }), _) => heading = Some(String::new()),
            (Event::Text(text) | Event::Code(text), Some(heading)) => heading.push_str(&text),
            (Event::End(pulldown_cmark::TagEnd::Heading(_)), _) => anchors.extend(heading.take().map(|it| anchor(&it))),
            _ => {}
        }
    }
    anchors
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_resolve() {
    let mut broken = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let text = read(&page);
        for target in targets(&text).into_iter().filter(|target| !target.contains("://")) {
            checked += 1;
            let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if path.is_empty() { page.clone() } else { page.with_file_name("").join(path) };
            let is_there = file.exists() && (anchor.is_empty() || anchors(&read(&file)).iter().any(|it| it == anchor));
            if !is_there {
                broken.push(format!("{} -> {target}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(checked > 10, "the pages have links");
}

/// npm and crates.io show the pictures only at an absolute address, which `Cargo.toml` has once the project is published.
#[test]
fn the_pictures_of_the_readme_follow_the_repository() {
    let address = match env!("CARGO_PKG_REPOSITORY") {
        "" => String::new(),
        repository => format!("{repository}/raw/main/"),
    };
    let text = read(&root().join("README.md"));
    let parts: Vec<&str> = text.split("docs/img/").collect();
    let mut wanted = String::new();
    for (part, next) in parts.iter().zip(&parts[1..]) {
        let name = next.split(')').next().unwrap();
        assert!(root().join("docs/img").join(name).exists(), "{name} is missing");
        wanted += &format!("{}({address}docs/img/", &part[..part.rfind('(').unwrap()]);
    }
    is_current("README.md", &format!("{wanted}{}", parts.last().unwrap()));
}

#[test]
fn the_readme_starts_with_the_two_commands() {
    let text = read(&root().join("README.md"));
    let first_screen: Vec<&str> = text.lines().take(40).collect();
    for command in ["cargo run --release -- --demo", "cargo test"] {
        assert!(first_screen.iter().any(|line| line.trim_start().starts_with(command)), "{command}");
    }
}
