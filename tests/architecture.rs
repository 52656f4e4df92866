//! Layering rules: reads the `use` lines of the sources and fails on a forbidden dependency.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules that every module may use.
const FOR_ALL: &[&str] = &["base", "system"];

/// Modules and their allowed dependencies, in addition to [`FOR_ALL`].
const MAY_USE: &[(&str, &[&str])] = &[
    ("system", &[]),
    ("base", &[]),
    ("secrets", &[]),
    ("session", &[]),
    ("search", &["session", "secrets"]),
    ("render", &["session"]),
    ("export", &["session", "render"]),
    ("disk", &["session"]),
    ("pi", &["session", "disk"]),
    ("catalog", &["session", "search", "export", "disk", "pi", "secrets"]),
    ("changes", &["session", "disk", "pi"]),
    ("keymap", &[]),
    ("config", &["session", "search", "keymap", "secrets"]),
    ("machines", &["session", "disk", "pi", "changes", "config"]),
    (
        "app",
        &["session", "search", "render", "export", "disk", "pi", "catalog", "changes", "keymap", "config", "machines"],
    ),
    ("ui", &["session", "search", "render", "pi", "catalog", "keymap", "config", "app", "machines"]),
    (
        "runtime",
        &[
            "session", "search", "render", "export", "disk", "pi", "catalog", "changes", "keymap", "config", "app",
            "ui", "secrets", "machines",
        ],
    ),
    (
        "cli",
        &[
            "session", "search", "render", "export", "disk", "pi", "catalog", "changes", "keymap", "config", "app",
            "runtime", "secrets", "machines",
        ],
    ),
];

/// The maximum number of lines of each module, without tests, comments and blank lines. A capability that needs more raises
/// its limit in the same commit, so that growth is a decision.
const MAX_LINES: &[(&str, usize)] = &[
    ("system", 1200),
    // Escape sequences in texts.
    ("base", 1600),
    ("secrets", 1850),
    // Copies of messages, and the edits of contexts that are in force.
    ("session", 12195),
    ("search", 3100),
    ("render", 1440),
    // Documents have runs of tools, turns, a result and a maximum length since people publish them.
    ("export", 2290),
    // Terminals of running pis and their focus, and programs that give titles.
    ("disk", 7285),
    // The decision when to notify about a pi.
    ("pi", 920),
    // Edits of the model context and suggestions for them, copies of messages, titles, and differences in exports.
    ("catalog", 7240),
    // Copies of messages to a fork, and edited names.
    ("changes", 4075),
    ("keymap", 620),
    ("config", 990),
    ("machines", 1600),
    // The reader is a text of sections since the conversation is read as one; copies of messages, edits by pi, titles,
    // notifications.
    ("app", 13875),
    ("ui", 2650),
    // Images in the terminal, the pager of the command line, and notifications.
    ("runtime", 2730),
    // `pitree pick`, `pitree name`, `pitree next` and `pitree live --notify`.
    ("cli", 8465),
];

/// Modules that may contain platform-specific code.
const SYSTEM: [&str; 2] = ["system", "disk/trash"];

/// Restricted APIs and the modules that may use them: file system, clock, threads, environment.
const ONLY_IN: &[(&str, &[&str])] = &[
    // The terminal module opens the terminal device itself.
    ("std::fs", &["disk", "pi", "changes", "machines", "system", "runtime/terminal.rs"]),
    ("fs::", &["disk", "pi", "changes", "machines", "system", "runtime/terminal.rs"]),
    ("std::thread", &["disk", "pi", "catalog", "machines", "runtime", "system"]),
    // Completion reads the shell's request from marked environment variables.
    ("std::env", &["disk", "runtime", "cli/completions.rs", "cli/setup.rs", "system/windows/programs.rs"]),
    ("SystemTime::now", &["runtime", "cli"]),
    ("Instant::now", &["disk", "pi", "catalog", "machines", "runtime"]),
    // The names of temporary files contain the process ID.
    (
        "std::process",
        &[
            "cli",
            "machines",
            "pi",
            "runtime",
            "disk/trash/command.rs",
            "disk/git.rs",
            "disk/program.rs",
            "disk/create.rs",
            "system",
        ],
    ),
    // `dunce::canonicalize` returns paths of Windows that other programs accept.
    ("fs::canonicalize", &[]),
    (".canonicalize(", &[]),
    ("Color::", &["ui/theme.rs"]),
    // Platform differences are confined to `system` and the trash. Clipboard programs are data in a table.
    ("cfg(unix", &SYSTEM),
    ("cfg(windows", &SYSTEM),
    ("cfg(not(", &SYSTEM),
    ("cfg(any(", &SYSTEM),
    ("cfg(all(", &SYSTEM),
    ("cfg(target_os", &["system", "disk/trash", "runtime/clipboard.rs"]),
    ("cfg!(", &SYSTEM),
    ("std::os::", &SYSTEM),
    ("rustix::", &SYSTEM),
    ("signal_hook", &SYSTEM),
    ("sysinfo", &SYSTEM),
];

fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                // Test code may use any module.
                let tests = text.find("\n#[cfg(test)]").or_else(|| text.find("\n#[cfg(all(test,"));
                let code = text[..tests.unwrap_or(text.len())].to_string();
                files.push((path.strip_prefix(&root).unwrap().to_path_buf(), code));
            }
        }
    }
    files
}

fn module(path: &Path) -> String {
    path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_string()
}

fn code_lines(code: &str) -> impl Iterator<Item = &str> {
    code.lines().map(str::trim).filter(|line| !line.starts_with("//"))
}

#[test]
fn modules_depend_only_on_lower_layers() {
    for (path, code) in sources() {
        let module = module(&path);
        if ["main", "lib"].contains(&module.as_str()) {
            continue;
        }
        let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == module) else {
            panic!("{} belongs to a module that this test does not know", path.display());
        };
        for line in code_lines(&code) {
            for used in line.split("crate::").skip(1) {
                let used: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let used = used.as_str();
                let is_allowed = used == module || FOR_ALL.contains(&used) || allowed.contains(&used);
                assert!(is_allowed, "{} uses {used}: {line}", path.display());
            }
        }
    }
}

#[test]
fn modules_stay_within_their_limits() {
    let sources = sources();
    for (name, limit) in MAX_LINES {
        let codes = sources.iter().filter(|(path, _)| module(path) == *name);
        let lines: usize = codes.map(|(_, code)| code_lines(code).filter(|line| !line.is_empty()).count()).sum();
        assert!(lines <= *limit, "{name} has {lines} lines; remove some, or raise its limit of {limit} with a reason");
        assert!(lines * 10 > limit * 9, "{name} has only {lines} lines; lower its limit of {limit}");
    }
    assert!(MAY_USE.iter().all(|(name, _)| MAX_LINES.iter().any(|(limited, _)| limited == name)));
}

#[test]
fn external_apis_are_used_in_few_modules() {
    for (path, code) in sources() {
        for (what, places) in ONLY_IN {
            let is_place = places.iter().any(|place| path.starts_with(place));
            let line = code_lines(&code).find(|line| line.contains(what));
            assert!(
                is_place || line.is_none() || module(&path) == "main",
                "{} touches {what}: {line:?}",
                path.display()
            );
        }
    }
}

#[test]
fn every_file_has_a_module_comment_and_stays_small() {
    for (path, code) in sources() {
        assert!(code.starts_with("//!"), "{} does not begin with what belongs in it", path.display());
        let lines = code.lines().count();
        assert!(lines <= 500, "{} has {lines} lines: split it", path.display());
    }
}

#[test]
fn a_parent_declares_each_file_as_a_module() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files: BTreeMap<Vec<String>, PathBuf> = sources().into_iter().map(|(path, _)| (names(&path), path)).collect();
    for file in files.keys().filter(|file| !["main", "lib"].contains(&file[0].as_str())) {
        let (name, parent) = file.split_last().unwrap();
        let parent = if parent.is_empty() { vec!["lib".to_string()] } else { parent.to_vec() };
        let declaration = format!("mod {name};");
        let is_declaration = |line: &str| line.ends_with(&declaration) && !line.starts_with("//");
        // Modules of tests count as well.
        let code = files.get(&parent).map(|path| fs::read_to_string(root.join(path)).unwrap());
        assert!(code.is_some_and(|code| code.lines().any(is_declaration)), "no module declares {}", file.join("/"));
    }
}

/// Returns the module path of a file, starting at the crate root.
fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        path.iter().map(|part| part.to_str().unwrap().trim_end_matches(".rs").into()).collect();
    if names.len() > 1 {
        names.pop_if(|last| last == "mod");
    }
    names
}

/// Returns the paths that follow a keyword in the code, as lists of names. Expands braces.
fn paths_behind(code: &str, word: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for rest in code.split(word).skip(1) {
        expand(&[], rest, &mut paths);
    }
    paths
}

/// Adds the paths at the start of a text, below another path. Returns the rest of the text.
fn expand<'a>(above: &[String], text: &'a str, paths: &mut Vec<Vec<String>>) -> &'a str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || "_:".contains(c))).unwrap_or(text.len());
    let names = text[..end].split("::").filter(|name| !name.is_empty()).map(String::from);
    let path: Vec<String> = above.iter().cloned().chain(names).collect();
    let Some(mut list) = text[end..].strip_prefix('{') else {
        paths.push(path);
        return &text[end..];
    };
    loop {
        list = list.trim_start_matches([' ', ',']);
        if list.is_empty() || list.starts_with('}') {
            return list.strip_prefix('}').unwrap_or_default();
        }
        // A name after `as` is skipped.
        let rest = expand(&path, list, paths);
        list = &rest[rest.find([',', '}']).unwrap_or(rest.len())..];
    }
}

/// Returns the paths below the crate root that the code of a module uses.
fn used(code: &str, module: &[String]) -> Vec<Vec<String>> {
    let code: String = code_lines(code).map(|line| format!("{line} ")).collect();
    let below = |module: &[String], path: Vec<String>| module.iter().cloned().chain(path).collect();
    let mut used = paths_behind(&code, "crate::");
    for path in paths_behind(&code.replace("super::super::", "super::up::"), "super::") {
        let up = 1 + path.iter().take_while(|name| *name == "up").count();
        let path = path.into_iter().skip_while(|name| name == "up").collect();
        used.push(below(&module[..module.len().saturating_sub(up)], path));
    }
    // A path that begins with a child module.
    used.extend(paths_behind(&code, "use ").into_iter().map(|path| below(module, path)));
    used
}

/// Returns the dependencies between the files and folders of each folder. A dot stands for the folder's `mod.rs`.
fn uses() -> BTreeMap<String, BTreeMap<String, BTreeSet<String>>> {
    let sources = sources();
    let modules: BTreeSet<Vec<String>> = sources.iter().map(|(path, _)| names(path)).collect();
    let mut uses: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (path, code) in &sources {
        let from = names(path);
        for used in used(code, &from) {
            // The file that defines the name is the longest path that is a file.
            let Some(to) = (1..=used.len()).rev().map(|len| used[..len].to_vec()).find(|to| modules.contains(to))
            else {
                continue;
            };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            let unit = |names: &[String]| names.get(common).cloned().unwrap_or_else(|| ".".into());
            let (from, to) = (unit(&from), unit(&to));
            if from != to && common > 0 {
                uses.entry(used[..common].join("/")).or_default().entry(from).or_default().insert(to);
            }
        }
    }
    uses
}

/// Returns all units that a unit depends on, directly or indirectly.
fn reached<'a>(uses: &'a BTreeMap<String, BTreeSet<String>>, from: &'a String) -> BTreeSet<&'a String> {
    let (mut seen, mut todo) = (BTreeSet::new(), vec![from]);
    while let Some(at) = todo.pop() {
        todo.extend(uses.get(at).into_iter().flatten().filter(|to| seen.insert(*to)));
    }
    seen
}

/// Returns the groups of units with cyclic dependencies.
fn circles(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let mut circles: Vec<Vec<String>> = Vec::new();
    for unit in uses.keys().filter(|unit| reached(uses, unit).contains(unit)) {
        let back = |other: &&&String| reached(uses, other).contains(unit);
        let circle: Vec<String> = reached(uses, unit).iter().filter(back).map(|unit| unit.to_string()).collect();
        if !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

#[test]
fn files_of_a_folder_have_no_cyclic_dependencies() {
    let uses = uses();
    assert!(uses.len() > 20 && uses["app/update"]["keys"].contains("actions"), "{uses:?}");
    let found: Vec<(&str, Vec<String>)> = uses
        .iter()
        .flat_map(|(folder, uses)| circles(uses).into_iter().map(move |circle| (folder.as_str(), circle)))
        .collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn cycles_are_detected() {
    let uses = [("a", "b"), ("b", "c"), ("c", "b"), ("d", "a")];
    let mut map: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in uses {
        map.entry(from.into()).or_default().insert(to.into());
    }
    assert_eq!(circles(&map), [["b".to_string(), "c".to_string()]]);
    let code = "use crate::a::{B, c::{D, E as F, g::{self, H}}, i::J};\nuse super::e;\nuse f::G;\nlet x = super::super::h::i(y);";
    let paths = used(code, &["m".into(), "n".into()]);
    let paths: Vec<String> = paths.iter().map(|path| path.join("::")).collect();
    for path in ["a::B", "a::c::D", "a::c::E", "a::c::g::self", "a::c::g::H", "a::i::J", "m::e", "m::n::f::G", "h::i"] {
        assert!(paths.iter().any(|found| found == path), "{path} is not in {paths:?}");
    }
}

#[test]
fn the_rules_name_existing_modules() {
    let sources = sources();
    let is_there = |place: &str| sources.iter().any(|(path, _)| path.starts_with(place));
    let modules = MAY_USE.iter().flat_map(|(module, used)| used.iter().chain([module])).chain(FOR_ALL);
    let places = ONLY_IN.iter().flat_map(|(_, places)| *places);
    let gone: Vec<_> =
        modules.filter(|module| !is_there(module)).chain(places.filter(|place| !is_there(place))).collect();
    assert!(gone.is_empty(), "{gone:?}");
}
