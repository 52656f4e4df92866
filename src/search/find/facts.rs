//! Qualifiers held against a session: what its summary says, and what was read of its text.

use crate::base::fold::fold;
use crate::search::find::matcher::{Candidate, Field, Place};
use crate::search::query::value::{Around, Bound};
use crate::search::query::{Kind, What};
use crate::session::digest::searchable::Searchable;
use crate::session::entry::call::Touch;

/// A qualifier, its value made ready.
pub(crate) enum Fact {
    In(Dir),
    File {
        path: FilePath,
        is_edited: bool,
    },
    Label(String),
    Model(String),
    Tool(String),
    Is(Kind),
    /// At this time or later, in milliseconds since 1970.
    After(i64),
    Before(i64),
    Cost(Bound),
    Size(Bound),
    Entries(Bound),
}

/// Whether a fact holds.
pub(crate) enum Holds {
    No,
    /// It does, and this is where.
    At(Option<Place>),
    /// The text was not read yet.
    Unknown,
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Self::At(None) } else { Self::No }
    }
}

impl Fact {
    /// What a term asks; `None` if it looks for text, or is unfinished.
    pub(crate) fn of(what: &What, around: &Around) -> Option<Self> {
        Some(match what {
            What::In(dir) => Self::In(Dir::new(dir, around)),
            What::File(path) => Self::File { path: FilePath::new(path, around), is_edited: false },
            What::Edited(path) => Self::File { path: FilePath::new(path, around), is_edited: true },
            What::Label(label) => Self::Label(fold(label)),
            What::Model(model) => Self::Model(fold(model)),
            What::Tool(tool) => Self::Tool(fold(tool)),
            What::Is(kind) => Self::Is(*kind),
            What::After(when) => Self::After(when.ms(around)),
            What::Before(when) => Self::Before(when.ms(around)),
            What::Cost(bound) => Self::Cost(*bound),
            What::Size(bound) => Self::Size(*bound),
            What::Entries(bound) => Self::Entries(*bound),
            What::Word(_) | What::Phrase(_) | What::Pattern(_) | What::Unfinished(_) => return None,
        })
    }

    /// Whether the text of a session must have been read to tell.
    pub(crate) fn needs_text(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Label(_) | Self::Model(_) | Self::Tool(_))
    }

    pub(crate) fn holds(&self, session: &Candidate<'_>) -> Holds {
        let summary = session.summary;
        match self {
            Self::In(dir) => dir.has(&session.titles.cwd).into(),
            Self::Is(kind) => is(*kind, session).into(),
            Self::After(time) => summary.modified.is_some_and(|modified| modified >= *time).into(),
            Self::Before(time) => summary.modified.is_some_and(|modified| modified < *time).into(),
            Self::Cost(bound) => bound.holds(summary.cost).into(),
            Self::Size(bound) => bound.holds(summary.bytes as f64).into(),
            Self::Entries(bound) => bound.holds(summary.entry_count as f64).into(),
            Self::Label(_) if summary.labels == 0 => Holds::No,
            _ => session.text.map_or(Holds::Unknown, |text| self.holds_in(text, &session.titles.cwd)),
        }
    }

    fn holds_in(&self, text: &Searchable, cwd: &str) -> Holds {
        match self {
            Self::File { path, is_edited } => {
                let is_it =
                    |touch: Touch, touched: &str| (!is_edited || touch != Touch::Read) && path.has(touched, cwd);
                let found = text.files.iter().find(|file| is_it(file.touch, &file.path));
                let place = |entry| Some(Place { field: Field::File, entry: Some(entry), at: 0..0 });
                found.map_or(Holds::No, |file| Holds::At(place(file.entry)))
            }
            Self::Label(wanted) => {
                let found = text.labels.iter().find_map(|(entry, label)| {
                    let at = fold(label).find(wanted)?;
                    Some(Place { field: Field::Label, entry: Some(*entry), at: at..at + wanted.len() })
                });
                found.map_or(Holds::No, |place| Holds::At(Some(place)))
            }
            Self::Model(wanted) => text.models.iter().any(|model| fold(model).contains(wanted)).into(),
            Self::Tool(wanted) => text.tools.keys().any(|tool| fold(tool).contains(wanted)).into(),
            _ => Holds::No,
        }
    }
}

fn is(kind: Kind, session: &Candidate<'_>) -> bool {
    let summary = session.summary;
    match kind {
        Kind::Named => summary.name.is_some(),
        Kind::Labelled => summary.labels > 0,
        Kind::Forked => session.has_forks,
        Kind::Fork => session.is_fork,
        Kind::Branched => summary.branch_points > 0,
        Kind::Abandoned => summary.leaves > 1,
        Kind::Live => session.is_live,
        Kind::Damaged => !summary.problems.is_empty(),
        Kind::Empty => summary.first_message.is_none(),
    }
}

/// A path as it is compared: folded, with `/`, `~` expanded.
fn normal(path: &str, around: &Around) -> String {
    let path = path.replace('\\', "/");
    let is_home = path == "~" || path.starts_with("~/");
    fold(&if is_home { path.replacen('~', around.home.trim_end_matches('/'), 1) } else { path })
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.get(1..3) == Some(":/")
}

fn components(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".")
}

/// A project directory: from the root on, or some directories in a row anywhere on the way to the project's.
pub(crate) struct Dir {
    components: Vec<String>,
    is_absolute: bool,
}

impl Dir {
    fn new(text: &str, around: &Around) -> Self {
        let path = normal(text, around);
        Self { components: components(&path).map(str::to_string).collect(), is_absolute: is_absolute(&path) }
    }

    /// Whether a folded working directory is it or below it.
    fn has(&self, cwd: &str) -> bool {
        let cwd: Vec<&str> = components(cwd).collect();
        let wanted = self.components.len();
        match self.is_absolute {
            true => cwd.len() >= wanted && cwd[..wanted] == self.components[..],
            false => wanted == 0 || cwd.windows(wanted).any(|run| run == &self.components[..]),
        }
    }
}

/// A file: by a piece of its path without `/`; by its last components; by its directory, if it ends with `/`; or from
/// the root on.
pub(crate) struct FilePath {
    text: String,
    components: Vec<String>,
    is_absolute: bool,
    is_dir: bool,
}

impl FilePath {
    fn new(text: &str, around: &Around) -> Self {
        let text = normal(text, around);
        let components = components(&text).map(str::to_string).collect();
        Self { components, is_absolute: is_absolute(&text), is_dir: text.ends_with('/'), text }
    }

    /// Whether a path that a tool was given is such a file; `cwd` is the folded directory that it starts from.
    fn has(&self, path: &str, cwd: &str) -> bool {
        let path = fold(path);
        if !self.text.contains('/') {
            return path.contains(&self.text);
        }
        let from_root = path.starts_with(['/', '\\', '~']) || is_absolute(&path.replace('\\', "/"));
        let base = if from_root { "" } else { cwd };
        let parts: Vec<&str> = components(base).chain(components(&path)).collect();
        let wanted = self.components.len();
        match (self.is_absolute, self.is_dir) {
            (true, false) => parts == self.components,
            (true, true) => parts.len() > wanted && parts[..wanted] == self.components[..],
            (false, false) => parts.len() >= wanted && parts[parts.len() - wanted..] == self.components[..],
            (false, true) => {
                // Below the project: its own directory is no part of the answer.
                let own: Vec<&str> = components(&path).collect();
                wanted == 0 || own[..own.len().saturating_sub(1)].windows(wanted).any(|run| run == &self.components[..])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn around() -> Around {
        Around { now_ms: 0, home: "/home/Dev".into(), zone: TimeZone::UTC }
    }

    #[test]
    fn projects_match_by_components() {
        let has = |dir: &str, cwd: &str| Dir::new(dir, &around()).has(&fold(cwd));
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

    #[test]
    fn files_match_by_ending_or_piece() {
        let has = |file: &str, path: &str| FilePath::new(file, &around()).has(path, "/home/dev/app");
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
