//! Qualifiers with paths: `in:` (the working directory of a session), `file:` and `edited:` (files read, written or edited
//! by tools). Paths are normalized for comparison: folded, with `/` as separator, `~` expanded, split into components.

use crate::base::normalize::fold;
use crate::base::paths::normalize;
use crate::search::candidate::{Candidate, Condition, MatchField};
use crate::search::qualifier::value::{QueryScope, Text};
use crate::session::digest::touched_files::FileOperationCall;
use crate::session::entry::tool_call::FileOperation;

/// A path to search for.
struct Path {
    /// The whole path.
    text: String,
    /// The components in order.
    components: Vec<String>,
    /// `true` if the path is absolute.
    is_absolute: bool,
}

impl Path {
    fn new(Text(path): &Text, scope: &QueryScope) -> Self {
        let path = path.replace('\\', "/");
        let is_home = path == "~" || path.starts_with("~/");
        let text = fold(&if is_home { path.replacen('~', scope.home.trim_end_matches('/'), 1) } else { path });
        Self { components: components(&text).map(str::to_string).collect(), is_absolute: is_absolute(&text), text }
    }
}

/// Returns `true` if a normalized path is absolute.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..3) == Some(":/")
}

/// Iterates over the components of a path.
fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

/// `in:` The sessions whose working directory, or its project, is `dir` or below it.
pub(super) fn in_directory(dir: &Text, scope: &QueryScope) -> Condition {
    let (is_in, worktrees) = (directory(dir, scope), scope.worktrees.clone());
    Condition::of_session(move |session| {
        let cwd = &*session.digest.header.cwd;
        let is_project_in = || worktrees.grouped(cwd).is_some() && is_in(&fold(&worktrees.project(cwd)));
        is_in(session.titles.cwd) || is_project_in()
    })
}

/// Returns a test for folded directories that are `dir` or below it.
fn directory(dir: &Text, scope: &QueryScope) -> impl Fn(&str) -> bool + Send + Sync + use<> {
    let dir = Path::new(&from_here(dir, scope), scope);
    move |cwd| is_in(&dir, cwd)
}

/// Returns a test for directories that are `dir` or below it.
pub(crate) fn is_in_dir(dir: &str, scope: &QueryScope) -> impl Fn(&str) -> bool + use<> {
    let is_in = directory(&Text(dir.into()), scope);
    move |cwd| is_in(&fold(cwd))
}

/// Resolves a path that starts with `.` or `..` from the directory of the query.
fn from_here(dir: &Text, scope: &QueryScope) -> Text {
    let path = dir.0.replace('\\', "/");
    if scope.dir.is_empty() || !matches!(path.split('/').next(), Some("." | "..")) {
        return dir.clone();
    }
    Text(normalize(&std::path::Path::new(&scope.dir).join(path)).to_string_lossy().into_owned())
}

/// Returns `true` if a folded working directory equals `dir` or is below it. The components of a relative `dir` can
/// match anywhere in the path.
fn is_in(dir: &Path, cwd: &str) -> bool {
    let cwd: Vec<&str> = components(cwd).collect();
    let wanted = dir.components.len();
    match dir.is_absolute {
        true => cwd.len() >= wanted && cwd[..wanted] == dir.components[..],
        false => wanted > 0 && cwd.windows(wanted).any(|run| run == &dir.components[..]),
    }
}

/// `file:` The entries in which a tool read, wrote or edited a matching file.
pub(super) fn file(path: &Text, scope: &QueryScope) -> Condition {
    touched(path, scope, |_| true)
}

/// `edited:` The entries in which a tool wrote or edited a matching file.
pub(super) fn edited(path: &Text, scope: &QueryScope) -> Condition {
    touched(path, scope, |touch| touch != FileOperation::Read)
}

fn touched(path: &Text, scope: &QueryScope, is_wanted: fn(FileOperation) -> bool) -> Condition {
    let wanted = Path::new(path, scope);
    Condition::of_entries(Some(MatchField::File), move |session: &Candidate<'_>| {
        let touches = &session.digest.details_once().touches;
        // A file can be touched many times, so each path is tested once.
        let is_matching_path: Vec<bool> =
            touches.paths.iter().map(|path| is_match(&wanted, path, session.titles.cwd)).collect();
        let is_wanted_operation = |touch: &&FileOperationCall| {
            is_wanted(touch.operation) && is_matching_path.get(touch.path as usize) == Some(&true)
        };
        touches.all.iter().filter(is_wanted_operation).map(|touch| touch.entry).collect()
    })
}

/// Returns a test for paths that a session in a folded directory touched, as for `file:`.
pub(crate) fn file_test(pattern: &str, scope: &QueryScope) -> impl Fn(&str, &str) -> bool + use<> {
    let wanted = Path::new(&Text(pattern.into()), scope);
    move |path, cwd| is_match(&wanted, path, cwd)
}

/// Returns `true` if a path matches. A query without `/` matches any part of the path. A query that ends with `/`
/// matches a directory. An absolute path matches completely, and other queries match the last components. `cwd` is the
/// folded directory of relative paths.
fn is_match(wanted: &Path, path: &str, cwd: &str) -> bool {
    let path = fold(path);
    if !wanted.text.contains('/') {
        return path.contains(&wanted.text);
    }
    let from_root = path.starts_with(['/', '\\', '~']) || is_absolute(&path.replace('\\', "/"));
    let base = if from_root { "" } else { cwd };
    let parts: Vec<&str> = components(base).chain(components(&path)).collect();
    let (names, count) = (&wanted.components[..], wanted.components.len());
    match (wanted.is_absolute, wanted.text.ends_with('/')) {
        (true, false) => parts == names,
        (true, true) => parts.len() > count && parts[..count] == *names,
        (false, false) => parts.len() >= count && parts[parts.len() - count..] == *names,
        (false, true) => {
            // Only the path below the project counts, not the path of the project itself.
            let own: Vec<&str> = components(&path).collect();
            count == 0 || own[..own.len().saturating_sub(1)].windows(count).any(|run| run == names)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::candidate::{MatchPlace, TestResult};
    use crate::search::qualifier::test_sample::{Sample, query_scope};

    #[test]
    fn file_matches_have_an_entry() {
        let session = Sample::calling("read", "src/auth.rs");
        let place = MatchPlace { field: MatchField::File, entry: Some(1), at: 0..0 };
        assert_eq!(session.test("file:auth"), TestResult::At(Some(place)));
        assert_eq!(session.test("file:main"), TestResult::No);
    }

    #[test]
    fn files_match_by_suffix_or_substring() {
        let has =
            |file: &str, path: &str| is_match(&Path::new(&Text(file.into()), &query_scope()), path, "/home/dev/app");
        for (file, path) in [
            ("src/auth.rs", "src/auth.rs"),
            ("src/auth.rs", "/x/src/Auth.rs"),
            ("./src/auth.rs", "./src/auth.rs"),
            ("app/src/auth.rs", "src/auth.rs"),
            ("auth", "src/oauth.rs"),
            ("auth.rs", "auth.rs"),
            ("~/app/src/auth.rs", "src/auth.rs"),
            ("/home/dev/app/a", "/home/dev/app/a"),
            ("src/", "src/auth.rs"),
            ("src/", "/x/src/deep/a.rs"),
            ("~/app/src/", "src/auth.rs"),
            (r"src\auth.rs", "src/auth.rs"),
            ("src/auth.rs", r"C:\x\src\auth.rs"),
        ] {
            assert!(has(file, path), "{file} {path}");
        }
        for (file, path) in [
            ("rc/auth.rs", "src/auth.rs"),
            ("src/auth", "src/auth.rs"),
            ("/src/auth.rs", "src/auth.rs"),
            ("auth", "src/main.rs"),
            ("app/", "src/auth.rs"),
            ("src/", "src"),
            ("~/app/src/auth.rs", "~/src/auth.rs"),
        ] {
            assert!(!has(file, path), "{file} {path}");
        }
    }

    #[test]
    fn projects_match_by_components() {
        let has = |dir: &str, cwd: &str| is_in_dir(dir, &query_scope())(cwd);
        for (dir, cwd) in [
            ("~/code/app", "/home/Dev/code/app"),
            ("~/code/", "/home/Dev/code/app"),
            ("~", "/home/Dev"),
            ("/", "/x"),
            ("app", "/home/Dev/code/app"),
            ("Code/App", "/home/Dev/code/app/sub"),
            (r"C:\Work", r"c:\work\x"),
            (".", "/home/Dev/code/app"),
            ("./", "/home/Dev/code/app/sub"),
            ("./sub", "/home/Dev/code/app/sub"),
            ("..", "/home/Dev/code/other"),
            ("../other", "/home/Dev/code/other/x"),
            (r"..\other", "/home/Dev/code/other"),
            ("../../../../../..", "/srv"),
            ("work", r"C:\Work"),
        ] {
            assert!(has(dir, cwd), "{dir} {cwd}");
        }
        for (dir, cwd) in [
            (".", "/home/Dev/code"),
            ("..", "/home/Dev"),
            ("./app", "/home/Dev/code/app"),
            ("../ap", "/home/Dev/code/app"),
            ("~/code/app", "/home/Dev/code/app2"),
            ("/code", "/home/Dev/code"),
            ("ap", "/home/app"),
            ("app", ""),
        ] {
            assert!(!has(dir, cwd), "{dir} {cwd}");
        }
    }

    #[test]
    fn expands_and_folds_paths() {
        let path = |text: &str| Path::new(&Text(text.into()), &query_scope());
        assert_eq!((path("~/Code/./app/").text.as_str(), path("~").is_absolute), ("/home/dev/code/./app/", true));
        assert_eq!(path("~/Code//./app/").components, ["home", "dev", "code", "app"]);
        assert!(path(r"C:\Work").is_absolute && !path("~x/y").is_absolute && !path("a/b").is_absolute);
    }
}
