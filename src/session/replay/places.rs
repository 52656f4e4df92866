//! Places for recovered files below a directory. A place has plain names only, so that no file gets outside.

use std::collections::BTreeSet;

/// The directory for files outside of the working directory.
const OUTSIDE: &str = "_outside";

/// The directory for files whose name is taken by another one.
const CONFLICTS: &str = "_conflicts";

/// The maximum length of a name in bytes, and of a whole place.
const LONGEST: (usize, usize) = (200, 1500);

/// Names of files and directories from which version control, shells, editors, agents and package managers run programs
/// as soon as they are used in that directory. A file `HEAD` can turn its directory into a bare git repository.
const RUN_BY_THEMSELVES: &str = "head .git git~1 .hg .jj \
    .envrc .mise mise.toml .mise.toml .mise.local.toml .tool-versions .rtx.toml desktop.ini \
    .vscode .idea .vs .zed .helix .devcontainer .dir-locals.el .dir-locals-2.el .exrc .vimrc .nvimrc .nvim.lua .lvimrc \
    .gdbinit .rprofile .ghci .pi .claude .codex .cursor .husky .cargo .npmrc .yarnrc.yml";

/// Returns `true` if a path has a name from which programs run without a question, also in a form that file systems of
/// macOS and Windows take for it, as git's `is_hfs_dotgit` and `is_ntfs_dotgit` do.
pub(crate) fn runs_by_itself<'a>(names: impl IntoIterator<Item = &'a str>) -> bool {
    let is_ignored =
        |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    names.into_iter().flat_map(|name| name.split(['/', '\\'])).any(|name| {
        let name: String = name.split(':').next().unwrap_or_default().chars().filter(|&c| !is_ignored(c)).collect();
        // Only upper case maps the long s.
        let name = name.to_uppercase().to_lowercase();
        RUN_BY_THEMSELVES.split(' ').any(|runs| runs == name.trim_end_matches(['.', ' ']))
    })
}

/// Returns the place of each absolute path: the names of its directories and its file. Names that differ only by case get
/// different places, because some file systems do not distinguish them.
pub(crate) fn places<'a>(paths: impl IntoIterator<Item = &'a str>, cwd: &str) -> Vec<Vec<String>> {
    let (mut files, mut dirs): (BTreeSet<String>, BTreeSet<String>) = Default::default();
    let mut number = 0;
    let mut place = |path: &str| {
        let mut place = names(path, cwd);
        let key = |place: &[String]| place.join("/").to_lowercase();
        let is_taken = |place: &[String]| {
            let above = (1..place.len()).any(|end| files.contains(&key(&place[..end])));
            above || files.contains(&key(place)) || dirs.contains(&key(place))
        };
        while is_taken(&place) {
            number += 1;
            let name = place.pop().unwrap_or_default();
            place = vec![CONFLICTS.into(), format!("{number}"), name];
        }
        dirs.extend((1..place.len()).map(|end| key(&place[..end])));
        files.insert(key(&place));
        place
    };
    paths.into_iter().map(&mut place).collect()
}

/// Returns the safe names of a path.
fn names(path: &str, cwd: &str) -> Vec<String> {
    let cwd = cwd.trim_end_matches('/');
    let inside = path.strip_prefix(cwd).filter(|rest| rest.starts_with('/') && !cwd.is_empty());
    let mut names: Vec<String> = inside.is_none().then(|| OUTSIDE.into()).into_iter().collect();
    names.extend(inside.unwrap_or(path).split('/').filter(|name| !matches!(*name, "" | ".")).map(safe_name));
    if names.len() == usize::from(inside.is_none()) {
        names.push("_".into());
    }
    let length: usize = names.iter().map(|name| name.len() + 1).sum();
    if length > LONGEST.1 {
        let name = names.pop().unwrap_or_default();
        return vec![OUTSIDE.into(), name];
    }
    names
}

/// Returns a name that is a plain file name on all systems.
pub(crate) fn safe_name(name: &str) -> String {
    let is_safe = |c: char| !c.is_control() && !matches!(c, '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|');
    let mut safe: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
    let mut end = safe.len().min(LONGEST.0);
    while !safe.is_char_boundary(end) {
        end -= 1;
    }
    safe.truncate(end);
    if safe.chars().all(|c| c == '.') {
        return "_".repeat(safe.len().max(1));
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(paths: &[&str]) -> Vec<String> {
        places(paths.iter().copied(), "/w").into_iter().map(|place| place.join("/")).collect()
    }

    #[test]
    fn files_stay_below_the_directory() {
        let long = format!("/w/{}", "x".repeat(4000));
        let deep = format!("/w/{}", "d/".repeat(2000));
        assert_eq!(
            of(&[
                "/w/src/a.rs",
                "/etc/passwd",
                "../../etc/passwd",
                "/w2/a",
                "C:\\x\\y",
                "/w/a\u{1b}[31m\nb",
                "/w",
                "/"
            ]),
            [
                "src/a.rs",
                "_outside/etc/passwd",
                "_outside/__/__/etc/passwd",
                "_outside/w2/a",
                "_outside/C__x_y",
                "a_[31m_b",
                "_outside/w",
                "_outside/_"
            ]
        );
        assert_eq!(of(&[&long])[0].len(), LONGEST.0);
        assert_eq!(of(&[&deep]), ["_outside/d"]);
    }

    #[test]
    fn names_that_collide_get_their_own_places() {
        assert_eq!(
            of(&["/w/a", "/w/A", "/w/a/b", "/w/x/y", "/w/x"]),
            ["a", "_conflicts/1/A", "_conflicts/2/b", "x/y", "_conflicts/3/x"]
        );
        assert_eq!(of(&["/etc/x", "/w/_outside/etc/x"]), ["_outside/etc/x", "_conflicts/1/x"]);
    }

    #[test]
    fn names_from_which_programs_run_are_found_in_each_form() {
        for path in [
            ".git/config",
            "a/.GIT/x",
            ".git. ./x",
            ".git...",
            ".g\u{200c}it\u{feff}",
            "git~1/config",
            "GIT~1",
            ".git::$INDEX_ALLOCATION/config",
            ".git ",
            "a\\.git\\config",
            "bare/HEAD",
            ".envrc",
            ".vſcode/tasks.json",
            ".hus\u{212a}y/pre-commit",
            "a/.Dir-Locals.el",
            ".pi/extensions/a.ts",
        ] {
            assert!(runs_by_itself([path]) && runs_by_itself(path.split('/')), "{path}");
        }
        for path in ["git/config", ".gitignore", ".github/workflows/a.yml", "src/head.rs", "a.git", "", "git~2", "env"]
        {
            assert!(!runs_by_itself([path]), "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_path_has_a_plain_place(paths in proptest::collection::vec("[./\\\\a\u{0}-\u{20}é:]{0,30}", 1..6)) {
            let places = places(paths.iter().map(String::as_str), "/w");
            for name in places.iter().flatten() {
                proptest::prop_assert!(!name.is_empty() && name != "." && name != ".." && !name.contains(['/', '\\', '\0']), "{places:?}");
            }
            let distinct: BTreeSet<String> = places.iter().map(|place| place.join("/")).collect();
            proptest::prop_assert_eq!(distinct.len(), places.len());
        }
    }
}
