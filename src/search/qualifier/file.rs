//! `file:` and `edited:`: Files read, written or edited by tools.

use crate::base::normalize::fold;
use crate::search::candidate::{Candidate, MatchField, MatchPlace};
use crate::search::qualifier::condition::{EntryScope, Test};
use crate::search::qualifier::value::path::{Path, components, is_absolute};
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;
use crate::session::digest::touched_files::FileTouch;
use crate::session::entry::tool_call::Touch;
use crate::session::links::Index;

/// Returns the place where a tool touched a matching file in one of the requested ways.
pub(super) fn test(path: &Text, here: &QueryScope, is_wanted: fn(Touch) -> bool) -> Test {
    let wanted = Path::new(path, here);
    let place = |&entry: &Index| MatchPlace { field: MatchField::File, entry: Some(entry), at: 0..0 };
    Box::new(move |session| touching(&wanted, session, is_wanted).first().map(place).into())
}

/// Returns the entries in which a tool touched a matching file.
pub(super) fn scope(path: &Text, here: &QueryScope, is_wanted: fn(Touch) -> bool) -> EntryScope {
    let wanted = Path::new(path, here);
    EntryScope::Known(Box::new(move |session| touching(&wanted, session, is_wanted)))
}

/// Returns the entries of all touches of matching files.
fn touching(wanted: &Path, session: &Candidate<'_>, is_wanted: fn(Touch) -> bool) -> Vec<Index> {
    let touches = &session.digest.details_once().touches;
    // A file can be touched many times, so each path is tested once.
    let is_such: Vec<bool> = touches.paths.iter().map(|path| is_match(wanted, path, session.titles.cwd)).collect();
    let is_it = |touch: &&FileTouch| is_wanted(touch.touch) && is_such.get(touch.path as usize) == Some(&true);
    touches.all.iter().filter(is_it).map(|touch| touch.entry).collect()
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
    use crate::search::qualifier::condition::TestResult;
    use crate::search::qualifier::sample::{Sample, here};

    #[test]
    fn file_matches_have_an_entry() {
        let session = Sample::calling("read", "src/auth.rs");
        let place = MatchPlace { field: MatchField::File, entry: Some(1), at: 0..0 };
        assert_eq!(session.test("file:auth"), TestResult::At(Some(place)));
        assert_eq!(session.test("file:main"), TestResult::No);
    }

    #[test]
    fn files_match_by_suffix_or_substring() {
        let has = |file: &str, path: &str| is_match(&Path::new(&Text(file.into()), &here()), path, "/home/dev/app");
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
}
