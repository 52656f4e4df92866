//! `in:` The directory in which a session worked.

use crate::search::here::HereAndNow;
use crate::search::lists::Values;
use crate::search::qualifier::shape::{Qualifier, Test};
use crate::search::qualifier::value::path::{Path, components};
use crate::search::qualifier::value::text::Text;

pub(crate) struct In;

impl Qualifier for In {
    type Value = Text;

    const NAME: &'static str = "in";
    const HELP: &'static str = "that worked in this directory or below it; in:app means any directory of that name";
    const EXAMPLE: &'static str = "in:~/code/app";

    fn choices(values: Values<'_>) -> Vec<&str> {
        values.dirs.iter().map(String::as_str).collect()
    }

    fn test(dir: &Text, here: &HereAndNow) -> Test {
        let dir = Path::new(dir, here);
        Box::new(move |session| is_in(&dir, session.titles.cwd).into())
    }
}

/// Whether a folded working directory is this one or below it. If it is not named from the root on, its names may stand
/// in a row anywhere on the way.
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
    use crate::base::fold::fold;
    use crate::search::qualifier::sample::here;

    #[test]
    fn projects_match_by_components() {
        let has = |dir: &str, cwd: &str| is_in(&Path::new(&Text(dir.into()), &here()), &fold(cwd));
        for (dir, cwd) in [
            ("~/code/app", "/home/Dev/code/app"),
            ("~/code/", "/home/Dev/code/app"),
            ("~", "/home/Dev"),
            ("/", "/x"),
            ("app", "/home/Dev/code/app"),
            ("Code/App", "/home/Dev/code/app/sub"),
            (r"C:\Work", r"c:\work\x"),
            ("work", r"C:\Work"),
        ] {
            assert!(has(dir, cwd), "{dir} {cwd}");
        }
        for (dir, cwd) in
            [("~/code/app", "/home/Dev/code/app2"), ("/code", "/home/Dev/code"), ("ap", "/home/app"), ("app", "")]
        {
            assert!(!has(dir, cwd), "{dir} {cwd}");
        }
    }
}
