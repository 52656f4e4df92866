//! The texts follow one style: no banned phrases, doc comments that open with a noun or a verb, short pages, and one
//! glossary.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::docs::{read, root};

/// Phrases that no text uses, as regular expressions, and what to write instead.
const BANNED: &[(&str, &str)] = &[
    (r"nobody|whoever|whence", "name the actor: the user, the caller, pitree"),
    (r"held against|holds? .{1,30} against", "compared with, matched against"),
    (r"(is|are|be|was) told( of)?|tells? of|it is said|says? of itself", "reports, notifies, describes"),
    (r"as far as can be seen|in sight|be looked at|(is|are) looked at", "visible, found, checked, read"),
    (r"not there any ?more|is not so any more|that was left", "missing, removed, unchanged"),
    (r"anew|of its own accord|as often as|on and on", "again, by itself"),
    (r"stands? (there|behind|over|below|in the way)|lies? (over|beside)", "is, follows, precedes"),
    (r"takes? it back|given back|what goes|come(s)? of it|goes? in:", "undoes, returned, removed"),
    (r"knows? (of|nothing)|by what it|what outlives|who asks|goes on like", "has, detects, persists"),
    (r"mend(s|ed)?", "fix"),
];

/// First words of a doc comment that hide its subject.
const OPENINGS: &str = "^(What|Who|Whether|Where|Nothing|Nobody|As|By|They|That|How|So|But|And|Also|Or|Neither)\\b";

/// Pages with their greatest number of lines.
const LENGTHS: &[(&str, usize)] =
    &[("README.md", 100), ("docs/browser.md", 400), ("docs/tutorial.md", 200), ("docs/architecture.md", 200)];

/// The greatest number of lines of a release in the changelog.
const LINES_OF_A_RELEASE: usize = 40;

static IDIOM: LazyLock<Regex> = LazyLock::new(|| {
    let banned: Vec<&str> = BANNED.iter().map(|(phrase, _)| *phrase).collect();
    Regex::new(&format!(r"(?i)\b({})\b", banned.join("|"))).unwrap()
});

/// A piece of text that a person reads: its line, its words, and `true` if it is a doc comment.
struct Text {
    line: usize,
    words: String,
    is_doc: bool,
}

/// Folders with texts written by hand, besides the pages in the top folder.
const FOLDERS: &[&str] = &["src", "tests", "benches", "examples", "docs", "scripts", "npm", "skills"];

/// Returns the Rust files and pages that are written by hand.
pub(crate) fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    let is_text = |path: &Path| path.extension().is_some_and(|extension| extension == "rs" || extension == "md");
    let top = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    files.extend(top.filter(|path| path.is_file() && is_text(path)));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_foreign =
                path.ends_with("node_modules") || path.ends_with("target") || path.ends_with("docs/cli.md");
            match path.is_dir() {
                _ if is_foreign => {}
                true => folders.push(path),
                false if is_text(&path) => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    files
}

/// Returns the comments and the string literals of a Rust file. A literal counts if it has at least three words.
fn texts_of_code(code: &str) -> Vec<Text> {
    static COMMENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^\s*//([/!]?) ?(.*)$").unwrap());
    static LITERAL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)""#).unwrap());
    let mut texts: Vec<Text> = Vec::new();
    let mut is_open = false;
    for (line, content) in code.lines().enumerate() {
        if let Some(comment) = COMMENT.captures(content) {
            match texts.last_mut().filter(|_| is_open) {
                Some(text) => text.words += &format!(" {}", &comment[2]),
                None => {
                    texts.push(Text { line: line + 1, words: comment[2].into(), is_doc: !comment[1].is_empty() });
                }
            }
            is_open = true;
            continue;
        }
        is_open = false;
        let literals = LITERAL.captures_iter(content).map(|literal| literal[1].to_string());
        let literals = literals.filter(|literal| literal.split_whitespace().count() >= 3);
        texts.extend(literals.map(|words| Text { line: line + 1, words, is_doc: false }));
    }
    texts
}

/// Returns the lines of a page outside of code blocks.
fn texts_of_page(page: &str) -> Vec<Text> {
    let mut is_code = false;
    let prose = page.lines().enumerate().filter(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    prose.map(|(line, words)| Text { line: line + 1, words: words.into(), is_doc: false }).collect()
}

fn texts() -> Vec<(PathBuf, Text)> {
    let mut texts = Vec::new();
    for path in files() {
        let content = read(&path);
        let found = match path.extension().is_some_and(|extension| extension == "rs") {
            true => texts_of_code(&content),
            false => texts_of_page(&content),
        };
        texts.extend(found.into_iter().map(|text| (path.clone(), text)));
    }
    texts
}

fn place(path: &Path, line: usize) -> String {
    format!("{}:{line}", path.strip_prefix(root()).unwrap().display())
}

#[test]
fn texts_have_no_banned_phrases() {
    static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("`[^`]*`").unwrap());
    let is_this_file = |path: &Path| path.ends_with("docs/words.rs");
    let found: Vec<String> = texts()
        .iter()
        .filter(|(path, _)| !is_this_file(path))
        .filter_map(|(path, text)| {
            let words = CODE.replace_all(&text.words, "x");
            let found = IDIOM.find(&words)?;
            Some(format!("{}: {:?} in {words:?}", place(path, text.line), found.as_str()))
        })
        .collect();
    assert!(found.is_empty(), "{} banned phrases, see BANNED for better ones:\n{}", found.len(), found.join("\n"));
}

#[test]
fn doc_comments_open_with_their_subject() {
    let opening = Regex::new(OPENINGS).unwrap();
    let found: Vec<String> = texts()
        .iter()
        .filter(|(_, text)| text.is_doc && opening.is_match(&text.words))
        .map(|(path, text)| format!("{}: {}", place(path, text.line), text.words))
        .collect();
    assert!(found.is_empty(), "{} doc comments hide their subject:\n{}", found.len(), found.join("\n"));
}

#[test]
fn banned_phrases_and_openings_are_found() {
    let texts = texts_of_code("//! Whether it is\n//! told of.\nlet x = \"nobody is here\"; // no block\n");
    let words: Vec<(usize, &str, bool)> = texts.iter().map(|text| (text.line, &*text.words, text.is_doc)).collect();
    assert_eq!(words, [(1, "Whether it is told of.", true), (3, "nobody is here", false)]);
    assert!(texts.iter().all(|text| IDIOM.is_match(&text.words)));
    assert_eq!(texts_of_page("a\n```\nb\n```\nc").len(), 2);
}

#[test]
fn pages_are_short() {
    for (page, most) in LENGTHS {
        let lines = read(&root().join(page)).lines().count();
        assert!(lines <= *most, "{page} has {lines} lines, more than {most}");
    }
    let changelog = read(&root().join("CHANGELOG.md"));
    for release in changelog.split("\n## ").skip(1) {
        let lines = release.lines().count();
        let title = release.lines().next().unwrap_or_default();
        assert!(lines <= LINES_OF_A_RELEASE, "{title} in CHANGELOG.md has {lines} lines");
    }
}

/// Terms that the interface, the code and the pages share.
const TERMS: &[&str] = &[
    "session",
    "entry",
    "leaf",
    "branch",
    "branch point",
    "fork",
    "family",
    "project",
    "label",
    "mark",
    "hit",
    "fold",
    "outline",
    "turn",
    "change",
    "journal",
    "trash",
    "index",
    "segment",
    "fingerprint",
    "pane",
    "layer",
    "palette",
    "picker",
    "request",
    "worker",
    "reply",
    "catalog",
    "digest",
    "qualifier",
];

#[test]
fn the_glossary_defines_each_term_once() {
    let page = read(&root().join("docs/architecture.md"));
    let (_, glossary) = page.split_once("\n## Glossary\n").unwrap();
    let glossary = glossary.split("\n## ").next().unwrap_or_default();
    let defined = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let defined: Vec<&str> = defined.flat_map(|terms| terms.split(", ")).collect();
    for term in TERMS {
        assert_eq!(defined.iter().filter(|found| *found == term).count(), 1, "{term} in {defined:?}");
    }
}

/// Old names of modules, which a newcomer could not guess.
const OLD_MODULES: &[&str] = &[
    "guard",
    "crew",
    "beside",
    "aside",
    "reach",
    "stamp",
    "news",
    "moved",
    "goto",
    "in_pi",
    "told",
    "lying",
    "volume",
    "over",
    "kept",
    "shelves",
    "kin",
    "ghosts",
    "others",
    "shares",
    "gather",
    "elsewhere",
    "here",
    "book",
    "past",
    "act",
    "carry",
    "settle",
    "typing",
    "finding",
    "deeds",
    "telling",
    "words",
    "lead",
    "spot",
    "going",
    "gone",
    "sight",
    "ghost",
    "remembered",
    "lanes",
    "away",
    "product",
    "shape",
    "frame",
    "spoken",
    "touches",
    "said",
    "sense",
    "fulfil",
    "slip",
    "by_pi",
    "library",
];

#[test]
fn modules_have_plain_names() {
    let mut folders = vec![root().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(!OLD_MODULES.contains(&name.as_str()), "{} needs a plain name", path.display());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
}
