//! `in:` The working directory of a session.

use crate::base::normalize::fold;
use crate::base::paths::normalize;
use crate::search::qualifier::value::path::{Path, components};
use crate::search::qualifier::value::text::Text;
use crate::search::scope::QueryScope;

/// Returns a test for sessions whose folded working directory is `dir` or below it.
pub(super) fn matcher(dir: &Text, here: &QueryScope) -> impl Fn(&str) -> bool + Send + Sync + use<> {
    let dir = Path::new(&from_here(dir, here), here);
    move |cwd| is_in(&dir, cwd)
}

/// Returns a test for sessions whose working directory is `dir` or below it.
pub(crate) fn is_in_dir(dir: &str, here: &QueryScope) -> impl Fn(&str) -> bool + use<> {
    let is_in = matcher(&Text(dir.into()), here);
    move |cwd| is_in(&fold(cwd))
}

/// Resolves a path that starts with `.` or `..` from the directory of the query.
fn from_here(dir: &Text, here: &QueryScope) -> Text {
    let path = dir.0.replace('\\', "/");
    if here.dir.is_empty() || !matches!(path.split('/').next(), Some("." | "..")) {
        return dir.clone();
    }
    Text(normalize(&std::path::Path::new(&here.dir).join(path)).to_string_lossy().into_owned())
}

/// Returns `true` if a folded working directory equals `dir` or is below it. The components of a relative `dir` can
/// match anywhere in the path.
fn is_in(dir: &Path, cwd: &str) -> bool {
    let cwd: Vec<&str> = components(cwd).collect();
    let wanted = dir.components.len();
    match dir.is_absolute {
        true => cwd.len() >= wanted && cwd[..wanted] == dir.components[..],
        false => wanted == 0 || cwd.windows(wanted).any(|run| run == &dir.components[..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::sample::here;

    #[test]
    fn projects_match_by_components() {
        let has = |dir: &str, cwd: &str| is_in_dir(dir, &here())(cwd);
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
}
