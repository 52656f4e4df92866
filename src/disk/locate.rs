//! Locates the session directories: those that pi itself uses (1.6.0), unless configured otherwise. Also locates
//! pitree's own directories. In a demo, all of them except the configuration are in the demo directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use directories::{BaseDirs, ProjectDirs};

use crate::base::paths::normalize;
use crate::base::{archive_paths, machine_paths};
use crate::disk::demo;
use crate::disk::files::children;
use crate::disk::find::name;
use crate::session::json::JsonReader;
use crate::session::json::value::Fields;

/// The session directories and their origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Located {
    /// The directories.
    pub dirs: Vec<PathBuf>,
    /// The origin, such as `--dir` or `sessionDir in ~/.pi/agent/settings.json`.
    pub origin: String,
    /// The directory with the mirrors of other machines, if their sessions are included. It can be missing.
    pub mirrors: Option<PathBuf>,
}

/// The origin of directories from the command line.
const DIR_OPTION: &str = "--dir";

/// The origin of the default directory.
const DEFAULT: &str = "pi's default";

/// The origin of the directories if a variable names pi's directory.
const AGENT_DIR: &str = "$PI_CODING_AGENT_DIR";

impl Located {
    /// Returns `true` if the directories are from the command line.
    pub fn is_named(&self) -> bool {
        self.origin == DIR_OPTION
    }

    /// Returns the directory for new sessions with a working directory. pi's own session directory has one for each
    /// project; a directory that is named in a setting has none (1.6.0), unless it is a copy of pi's own.
    pub(crate) fn project_dir(&self, cwd: &str) -> Option<PathBuf> {
        let dir = self.dirs.first()?;
        Some(if self.has_projects(dir) { dir.join(project_folder(cwd)) } else { dir.clone() })
    }

    /// Returns `true` for a session directory with a directory for each project.
    fn has_projects(&self, dir: &Path) -> bool {
        let is_project = |path: PathBuf| is_project_folder(name(&path));
        [DEFAULT, AGENT_DIR].contains(&&*self.origin) || children(dir).any(is_project)
    }

    /// Returns the path of a session file after a move to another working directory: in the directory of that project,
    /// at the same place as before. The path is the same in a session directory without such directories.
    pub(crate) fn moved(&self, path: &Path, cwd: &str) -> PathBuf {
        let known = self.dirs.iter().find(|dir| path.starts_with(dir)).map(PathBuf::as_path);
        let Some(dir) = known.or_else(|| path.parent()) else { return path.into() };
        let inside = path.strip_prefix(dir).unwrap_or(path);
        let mut below = inside.components();
        let is_in_project = below.next().is_some_and(|first| is_project_folder(first.as_os_str().as_encoded_bytes()));
        let (above, rest) = match dir.parent() {
            _ if is_in_project => (dir, below.as_path()),
            Some(above) if is_project_folder(name(dir)) => (above, inside),
            _ if self.has_projects(dir) => (dir, inside),
            _ => return path.into(),
        };
        above.join(project_folder(cwd)).join(rest)
    }

    /// Returns all directories with sessions: the session directories, their archives in a directory, and the mirrors of
    /// other machines. Archives and mirrors may be missing.
    pub(crate) fn all(&self, archive: Option<&Path>) -> Vec<PathBuf> {
        let archived = |dir: &PathBuf| archive_paths::dir_in(archive?, &std::path::absolute(dir).ok()?);
        let own = self.dirs.iter();
        own.clone().cloned().chain(own.filter_map(archived)).chain(self.mirrors.clone()).collect()
    }

    /// Like [`all`](Self::all), but only with archives and mirrors that exist.
    pub(crate) fn all_existing(&self, archive: Option<&Path>) -> Vec<PathBuf> {
        let mut dirs = self.all(archive);
        let others = dirs.split_off(self.dirs.len());
        dirs.extend(others.into_iter().filter(|dir| dir.is_dir()));
        dirs
    }

    /// Returns `true` for pi's default directory, which pi creates with the first session.
    pub fn is_default(&self) -> bool {
        self.origin == DEFAULT
    }

    /// Replaces pi's agent directory, or its parent, by the session directory inside. Returns the replaced directories
    /// with their replacements.
    pub fn correct(&mut self) -> Vec<(PathBuf, PathBuf)> {
        let mut replaced = Vec::new();
        for dir in &mut self.dirs {
            if let Some(inside) = sessions_inside(dir) {
                replaced.push((std::mem::replace(dir, inside.clone()), inside));
            }
        }
        replaced
    }
}

/// Finds the session directory inside pi's agent directory or its parent.
fn sessions_inside(dir: &Path) -> Option<PathBuf> {
    let inside = INSIDE.iter().map(|inside| dir.join(inside)).find(|inside| inside.is_dir())?;
    let has_projects = || children(&inside).any(|path| is_project_folder(name(&path)));
    let has_settings = || AGENT_FILES.iter().any(|name| inside.with_file_name(name).is_file());
    // A directory that contains sessions is used unchanged.
    let is_own = || children(dir).any(|path| is_session_file(&path));
    ((has_projects() || has_settings()) && !is_own()).then_some(inside)
}

/// The session directory, relative to the agent directory and to its parent.
const INSIDE: [&str; 2] = ["sessions", "agent/sessions"];

/// Files in pi's agent directory besides the session directory.
const AGENT_FILES: [&str; 2] = ["settings.json", "auth.json"];

/// Returns `true` for a file name in pi's format: `<time>_<id>.jsonl`.
fn is_session_file(path: &Path) -> bool {
    let name = name(path);
    name.ends_with(b".jsonl") && name.contains(&b'_') && name.first().is_some_and(u8::is_ascii_digit)
}

/// Returns `true` for a project directory name in pi's format: `--home-me-app--`.
pub(crate) fn is_project_folder(name: &[u8]) -> bool {
    name.len() > 4 && name.starts_with(b"--") && name.ends_with(b"--")
}

/// Returns the name of the project directory for a working directory, as pi names it (1.6.0).
fn project_folder(cwd: &str) -> String {
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", inner.replace(['/', '\\', ':'], "-"))
}

/// Returns the existing directories below `root` to which pi gives this project directory. Several directories can have one.
pub(crate) fn project_dirs(folder: &Path, root: &Path) -> Vec<PathBuf> {
    /// The maximum number of results, and of visited directories.
    const MAX_DIRS: usize = 9;
    const VISITED: usize = 10_000;
    let name = folder.file_name().and_then(|name| name.to_str()).filter(|name| is_project_folder(name.as_bytes()));
    let Some(name) = name.and_then(|name| name.strip_prefix("--")?.strip_suffix("--")) else { return Vec::new() };
    let (mut found, mut open, mut visited) = (Vec::new(), vec![(root.to_path_buf(), name)], 0);
    while let Some((dir, rest)) = open.pop().filter(|_| visited < VISITED && found.len() < MAX_DIRS) {
        visited += 1;
        for child in children(&dir) {
            let Some(name) = child.file_name().and_then(|name| name.to_str()) else { continue };
            let name = name.replace(['\\', ':'], "-");
            match rest.strip_prefix(&*name) {
                Some("") if child.is_dir() => found.push(child),
                Some(rest) => open.extend(rest.strip_prefix('-').map(|rest| (child, rest))),
                None => {}
            }
        }
    }
    found.sort();
    found
}

/// The environment variables and files that pi reads.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// `PI_CODING_AGENT_SESSION_DIR`
    pub session_dir: Option<OsString>,
    /// `PI_CODING_AGENT_DIR`
    pub agent_dir: Option<OsString>,
    /// `PI_SESSION_FILE`: the session of the pi that runs a command (1.6.0).
    pub session_file: Option<OsString>,
    /// The home directory.
    pub home: PathBuf,
    /// The working directory: the base of relative paths, and the location of the project's `.pi/settings.json`.
    pub cwd: PathBuf,
}

impl Environment {
    /// Returns the environment of this process.
    pub fn current() -> Self {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let demo = demo::entered();
        Self {
            session_dir: set("PI_CODING_AGENT_SESSION_DIR").filter(|_| demo.is_none()),
            agent_dir: demo.map_or_else(|| set("PI_CODING_AGENT_DIR"), |root| Some(demo::agent(root).into())),
            session_file: set("PI_SESSION_FILE"),
            home: home(),
            cwd: env::current_dir().unwrap_or_default(),
        }
    }

    fn resolve(&self, dir: &Path) -> PathBuf {
        self.cwd.join(of_url(dir).unwrap_or_else(|| expand(dir, &self.home)))
    }

    /// Returns the directory of pi's settings and sessions.
    pub(crate) fn agent(&self) -> PathBuf {
        let asked = self.agent_dir.as_ref().map(|dir| self.resolve(dir.as_ref()));
        asked.unwrap_or_else(|| self.home.join(".pi/agent"))
    }

    /// Returns pi's settings files by precedence. pi reads those of the project before it asks whether to trust the
    /// project.
    fn settings(&self) -> [PathBuf; 2] {
        [self.cwd.join(".pi"), self.agent()].map(|dir| dir.join("settings.json"))
    }

    /// Returns a value in pi's settings: `theme`, or `treeFilterMode`, the filter of pi's `/tree` (0.87.1, 1.6.0). Empty
    /// if the value is not text. Settings are parsed like `JSON.parse` after an optional byte order mark, and unreadable
    /// settings are ignored.
    pub(crate) fn setting(&self, name: &str) -> Option<String> {
        self.settings().iter().find_map(|settings| setting(settings, name))
    }
}

/// Returns the home directory; empty if there is none.
pub fn home() -> PathBuf {
    if demo::entered().is_some() {
        return demo::HOME.into();
    }
    BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()).unwrap_or_default()
}

/// Explains that pi's default directory cannot exist, or returns `None` if the home directory exists.
pub(crate) fn missing_home(home: &str) -> Option<String> {
    let advice = "set HOME, or name the session directory with --dir";
    match home {
        "" => Some(format!("no home directory; {advice}")),
        home if Path::new(home).is_dir() => None,
        home => Some(format!("home directory {home} not found; {advice}")),
    }
}

/// Returns the path of `config.toml` if there is a home directory.
pub(crate) fn config_file() -> Option<PathBuf> {
    project().map(|dirs| dirs.config_dir().join("config.toml"))
}

/// Returns the directory of the journal if there is a home directory: `~/.local/state/pitree` on Linux.
pub(crate) fn state_dir() -> Option<PathBuf> {
    of_demo_or("state", user_state_dir)
}

/// Returns a directory in the demo directory, or else that of the user.
fn of_demo_or(name: &str, of_user: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    demo::entered().map(|root| root.join(name)).or_else(of_user)
}

/// Returns pitree's directories of the user if there is a home directory.
fn project() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "pitree")
}

/// Returns the directory of the journal of the user, even in a demo.
pub(crate) fn user_state_dir() -> Option<PathBuf> {
    let dirs = project()?;
    Some(dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_path_buf())
}

/// Returns the directory of the user's lasting marks if there is a home directory: `~/.local/share/pitree` on Linux.
pub(crate) fn data_dir() -> Option<PathBuf> {
    of_demo_or("data", || project().map(|dirs| dirs.data_local_dir().to_path_buf()))
}

/// Returns pitree's directory for sockets, if the system has a runtime directory: `/run/user/1000/pitree` on Linux.
pub(crate) fn runtime_dir() -> Option<PathBuf> {
    let dirs = project()?;
    dirs.runtime_dir().filter(|dir| dir.parent().is_some_and(Path::is_dir)).map(Path::to_path_buf)
}

/// Returns the directory with the mirrors of other machines, if there is a home directory.
pub(crate) fn mirrors_dir() -> Option<PathBuf> {
    data_dir().map(|data| machine_paths::mirrors_in(&data))
}

/// Returns the directory of the index if there is a home directory: `~/.cache/pitree` on Linux.
pub(crate) fn index_dir() -> Option<PathBuf> {
    cache_dir().map(|dir| dir.join("index"))
}

/// Returns the cache directory if there is a home directory.
pub(crate) fn cache_dir() -> Option<PathBuf> {
    of_demo_or("cache", || project().map(|dirs| dirs.cache_dir().to_path_buf()))
}

/// Returns the directory of archived sessions: the configured one, or else `~/.local/share/pitree/archive` on Linux if
/// there is a home directory.
pub(crate) fn archive_dir(configured: &str, home: &Path) -> Option<PathBuf> {
    of_demo_or("archive", || match configured {
        "" => data_dir().map(|data| data.join("archive")),
        configured => std::path::absolute(expand(configured, home)).ok(),
    })
}

/// Reads a text file edited by users.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub(crate) fn read_text(path: &Path) -> std::io::Result<String> {
    fs::read_to_string(path)
}

/// Expands `~` and `~/…` to the home directory.
pub(crate) fn expand(path: impl AsRef<Path>, home: &Path) -> PathBuf {
    let path = path.as_ref();
    path.strip_prefix("~").map_or_else(|_| path.to_path_buf(), |rest| normalize(&home.join(rest)))
}

/// Returns the session directories: from the command line, or else from the configuration, or else those of pi.
pub fn sessions(asked: &[PathBuf], configured: &[String], environment: &Environment) -> Located {
    if !asked.is_empty() {
        return located(asked.iter().map(|dir| expand(dir, &environment.home)), DIR_OPTION);
    }
    if !configured.is_empty() {
        let of_setting = |dir: &String| match dir.as_str() {
            OF_PI => of_pi(environment).dirs,
            dir => vec![expand(dir, &environment.home)],
        };
        return located(configured.iter().flat_map(of_setting), "dirs in config.toml");
    }
    of_pi(environment)
}

fn located(dirs: impl IntoIterator<Item = PathBuf>, origin: &str) -> Located {
    Located { dirs: dirs.into_iter().collect(), origin: origin.into(), mirrors: None }
}

/// The value of the setting `dirs` that means pi's own directories.
const OF_PI: &str = "pi";

/// Returns the directories that pi itself uses.
fn of_pi(environment: &Environment) -> Located {
    let resolve = |dir: &Path| environment.resolve(dir);
    if let Some(dir) = &environment.session_dir {
        return located([resolve(dir.as_ref())], "$PI_CODING_AGENT_SESSION_DIR");
    }
    let origin = if environment.agent_dir.is_some() { AGENT_DIR } else { DEFAULT };
    let settings = environment.settings();
    let dir = settings.iter().find_map(|settings| Some((settings, setting(settings, "sessionDir")?)));
    match dir {
        // An empty value in the project's settings overrides the agent's.
        Some((settings, dir)) if !dir.is_empty() => {
            located([resolve(dir.as_ref())], &format!("sessionDir in {}", settings.display()))
        }
        _ => located([environment.agent().join("sessions")], origin),
    }
}

fn setting(settings: &Path, name: &str) -> Option<String> {
    let text = fs::read(settings).ok()?;
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&text);
    let mut reader = JsonReader::new(text);
    let settings = reader.skip().ok()?;
    reader.end().ok()?;
    let value = Fields::new(settings).get(name)?;
    Some(value.str().unwrap_or_default().text().into_owned())
}

/// Converts a `file:` URL on this machine to a path. pi accepts such URLs as paths.
fn of_url(path: &Path) -> Option<PathBuf> {
    let url = path.to_str()?.strip_prefix("file://")?;
    let url = url.strip_prefix("localhost").unwrap_or(url).split(['?', '#']).next()?;
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    path.has_root().then(|| normalize(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_of_a_project_folder_exist() {
        let root = tempfile::tempdir().unwrap();
        let dirs = |name: &str| project_dirs(&Path::new("/s").join(name), root.path());
        let at = |path: &str| root.path().join(path);
        assert!(dirs("--home-dev-my-proj--").is_empty());
        fs::create_dir_all(at("home/dev/my-proj")).unwrap();
        assert_eq!(dirs("--home-dev-my-proj--"), [at("home/dev/my-proj")]);
        assert!(dirs("--home-dev-my--").is_empty() && dirs("home-dev-my-proj").is_empty());
        fs::create_dir_all(at("home-dev/my/proj")).unwrap();
        fs::write(at("home-dev-my-proj"), "a file").unwrap();
        assert_eq!(dirs("--home-dev-my-proj--"), [at("home/dev/my-proj"), at("home-dev/my/proj")]);
        #[cfg(unix)]
        {
            fs::create_dir_all(at("a:b")).unwrap();
            assert_eq!(dirs("--a-b--"), [at("a:b")]);
        }
    }

    #[test]
    fn looks_where_pi_would() {
        let home = tempfile::tempdir().unwrap();
        let mut environment =
            Environment { home: home.path().into(), cwd: home.path().join("p"), ..Environment::default() };
        let dirs = |environment: &Environment| sessions(&[], &[], environment).dirs;
        assert_eq!(dirs(&environment), [home.path().join(".pi/agent/sessions")]);

        fs::create_dir_all(home.path().join(".pi/agent")).unwrap();
        fs::write(home.path().join(".pi/agent/settings.json"), r#"{"sessionDir":"~/s","theme":"dark"}"#).unwrap();
        assert_eq!(dirs(&environment), [home.path().join("s")]);
        let project = home.path().join("p/.pi/settings.json");
        fs::create_dir_all(project.parent().unwrap()).unwrap();
        fs::write(&project, r#"{"sessionDir":"own"}"#).unwrap();
        let own = Located {
            dirs: vec![home.path().join("p/own")],
            origin: format!("sessionDir in {}", project.display()),
            ..Located::default()
        };
        assert_eq!(sessions(&[], &[], &environment), own);

        environment.agent_dir = Some("~/other".into());
        assert_eq!(sessions(&[], &[], &environment), own);
        environment.cwd = home.path().join("q");
        assert_eq!(dirs(&environment), [home.path().join("other/sessions")]);
        environment.agent_dir = Some("other".into());
        assert_eq!(dirs(&environment), [home.path().join("q/other/sessions")]);
        environment.session_dir = Some("/flat".into());
        assert_eq!(dirs(&environment), [PathBuf::from("/flat")]);
        assert_eq!(sessions(&[], &["~".into()], &environment).dirs, [home.path()]);
        let both = sessions(&[], &["pi".into(), "~/b".into(), "./pi".into()], &environment).dirs;
        assert_eq!(both, [PathBuf::from("/flat"), home.path().join("b"), "./pi".into()], "pi's own, and others");
        assert_eq!(sessions(&["a".into()], &["b".into()], &environment).dirs, [PathBuf::from("a")]);
        assert_eq!(sessions(&["~/a".into()], &[], &environment).dirs, [home.path().join("a")]);
    }

    #[test]
    fn uses_the_session_directory_inside_an_agent_directory() {
        let home = tempfile::tempdir().unwrap();
        let corrected = |name: &str| {
            let mut located =
                Located { dirs: vec![home.path().join(name)], origin: "--dir".into(), ..Located::default() };
            let replaced = located.correct();
            assert_eq!(replaced.is_empty(), located.dirs[0] == home.path().join(name));
            located.dirs[0].strip_prefix(home.path()).unwrap().to_str().unwrap().to_owned()
        };
        for dir in [
            "pi/agent/sessions/--home-me--/0/run-0",
            "empty/sessions",
            "flat/sessions",
            "project/sessions",
            "own/sessions/--home-me--",
        ] {
            fs::create_dir_all(home.path().join(dir)).unwrap();
        }
        for file in [
            "empty/settings.json",
            "flat/sessions/x.jsonl",
            "flat/auth.json",
            "own/2026_x.jsonl",
            "pi/agent/history.jsonl",
        ] {
            fs::write(home.path().join(file), "").unwrap();
        }
        for (dir, wanted) in [
            ("pi/agent", "pi/agent/sessions"),
            ("pi", "pi/agent/sessions"),
            ("pi/agent/sessions", "pi/agent/sessions"),
            ("empty", "empty/sessions"),
            ("flat", "flat/sessions"),
            ("project", "project"),
            ("own", "own"),
            ("missing", "missing"),
        ] {
            assert_eq!(corrected(dir), wanted);
        }
    }

    /// Each case as read by pi 1.6.0, together with `{"sessionDir":"~/agents"}` in the agent's settings.
    #[test]
    fn reads_the_settings_of_a_project_as_pi_does() {
        let home = tempfile::tempdir().unwrap();
        let cwd = home.path().join("p");
        fs::create_dir_all(home.path().join(".pi/agent")).unwrap();
        fs::create_dir_all(cwd.join(".pi")).unwrap();
        fs::write(home.path().join(".pi/agent/settings.json"), "\u{feff}{\"sessionDir\":\"~/agents\"}").unwrap();
        let environment = Environment { home: home.path().into(), cwd: cwd.clone(), ..Environment::default() };
        let (agents, default) = (home.path().join("agents"), home.path().join(".pi/agent/sessions"));
        for (settings, dir) in [
            (&br#"{"sessionDir":""}"#[..], default.clone()),
            (br#"{"sessionDir":null}"#, default.clone()),
            (br#"{"sessionDir":false}"#, default),
            (br#"{"sessionDirs":"x"}"#, agents.clone()),
            (br#"["sessionDir"]"#, agents.clone()),
            (br#"{"sessionDir":"x",}"#, agents.clone()),
            (b"// x\n{\"sessionDir\":\"x\"}", agents.clone()),
            (br#"{"sessionDir":"x"} x"#, agents.clone()),
            (b"", agents.clone()),
            (b"\xef\xbb\xbf{\"sessionDir\":\"x\"}", cwd.join("x")),
            (b"\xef\xbb\xbf\xef\xbb\xbf{\"sessionDir\":\"x\"}", agents),
            (br#"{"sessionDir":"x","sessionDir":"y"}"#, cwd.join("y")),
            (br#"{"a":"\ud83d","sessionDir":"y"}"#, cwd.join("y")),
            (b"{\"sessionDir\":\"y\xff\"}", cwd.join("y\u{fffd}")),
            (br#"{"sessionDir":"~ann/x"}"#, cwd.join("~ann/x")),
            (br#"{"sessionDir":"~"}"#, home.path().into()),
            (br#"{"sessionDir":"~//x/../y"}"#, home.path().join("y")),
            (br#"{"sessionDir":"~/../y"}"#, home.path().parent().unwrap().join("y")),
            (br#"{"sessionDir":"../y"}"#, cwd.join("../y")),
            (br#"{"sessionDir":" y "}"#, cwd.join(" y ")),
            (br#"{"sessionDir":"$HOME/y"}"#, cwd.join("$HOME/y")),
            (br#"{"sessionDir":"file:///a%20b/../c%20?q#h"}"#, "/c ".into()),
            (br#"{"sessionDir":"file://localhost/c"}"#, "/c".into()),
        ] {
            fs::write(cwd.join(".pi/settings.json"), settings).unwrap();
            let found = sessions(&[], &[], &environment).dirs;
            assert_eq!(found, [dir], "{}", String::from_utf8_lossy(settings));
        }
    }
}
