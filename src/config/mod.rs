//! Configuration: the settings of `config.toml`, their defaults, and the errors in the file.
//!
//! Pure: converts text to settings or errors. Callers locate and read the file; [`keymap`](crate::keymap) defines key
//! bindings.

pub(crate) mod machines;
mod redact;
pub(crate) mod stats;
mod tables;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::str::FromStr;

use clap::builder::PossibleValue;
pub use machines::{Address, SyncConfig};
pub use redact::{RedactConfig, SecretCells, ValueSource};
pub use stats::StatsConfig;
pub use tables::{ColorOverride, SavedQuery};
use tables::{ConfigProblems, one_of, strings, whole, wrong_type};
use toml::de::{DeTable, DeValue};

use crate::base::named::named;
use crate::base::sort;
use crate::base::text::{ASCII, Glyphs, Tone, UNICODE};
use crate::keymap::{Action, Keymap};

/// Defines an enum of named choices.
macro_rules! choices {
    ($(#[$doc:meta])* $choice:ident { $($(#[$variant_doc:meta])* $variant:ident = $name:literal,)* }) => {
        named! {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
            pub enum $choice { $($(#[$variant_doc])* $variant = $name,)* }
        }

        impl $choice {
            /// Returns the next choice, and the first after the last.
            #[must_use]
            pub fn next(self) -> Self {
                self.step(1)
            }

            /// Returns the previous choice, and the last before the first.
            #[must_use]
            pub fn previous(self) -> Self {
                self.step(Self::ALL.len() - 1)
            }

            fn step(self, by: usize) -> Self {
                Self::ALL[(self as usize + by) % Self::ALL.len()]
            }
        }

        impl FromStr for $choice {
            type Err = String;

            /// Returns the choice with this name, or a message with the valid names.
            fn from_str(name: &str) -> Result<Self, String> {
                let found = Self::ALL.iter().copied().find(|choice| choice.name() == name);
                found.ok_or_else(|| format!("unknown value {name:?}; use {}", one_of(&[$($name,)*])))
            }
        }

        impl clap::ValueEnum for $choice {
            fn value_variants<'a>() -> &'a [Self] {
                Self::ALL
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                Some(self.name().into())
            }
        }
    };
}

choices! {
    /// The color theme setting.
    ThemeName {
        /// Follows the background of the terminal.
        #[default]
        Auto = "auto",
        /// For a dark background.
        Dark = "dark",
        /// For a light background.
        Light = "light",
        /// The palette of the terminal.
        Terminal = "terminal",
    }
}

choices! {
    /// A set of colors.
    Palette {
        /// For a dark background.
        #[default]
        Dark = "dark",
        /// For a light background.
        Light = "light",
        /// The palette of the terminal.
        Terminal = "terminal",
    }
}

impl ThemeName {
    /// Returns the palette, or `None` if it depends on the terminal.
    pub(crate) fn palette(self) -> Option<Palette> {
        self.name().parse().ok()
    }
}

choices! {
    /// The sort order of the sessions.
    Sort {
        /// Forks below their parents; the family with the newest member comes first.
        #[default]
        Threaded = "threaded",
        /// Most recent first.
        Recent = "recent",
        /// Alphabetical by name.
        Name = "name",
        /// Largest file first.
        Size = "size",
        /// Most expensive first.
        Cost = "cost",
        /// Sessions with a waiting pi first, then those with another pi, then the most recent.
        Live = "live",
        /// Alphabetical by tags; sessions without tags come last.
        Tags = "tags",
    }
}

choices! {
    /// The filter of the tree.
    Filter {
        /// The entries that pi shows by default.
        #[default]
        Default = "default",
        /// Without tool calls and results.
        NoTools = "no-tools",
        /// User messages.
        UserOnly = "user-only",
        /// Labeled entries.
        LabeledOnly = "labeled-only",
        /// All entries.
        All = "all",
        /// Branch points, labels, compactions and leaves.
        Outline = "outline",
        /// User messages, each with a summary of its turn.
        Turns = "turns",
    }
}

impl Filter {
    /// Returns `true` if rows of prompts show a summary of their turn.
    pub fn has_turns(self) -> bool {
        matches!(self, Self::Turns | Self::Outline)
    }
}

choices! {
    /// The behavior after starting pi.
    AfterPi {
        /// pi replaces pitree.
        #[default]
        Exit = "exit",
        /// pitree returns when pi exits.
        Return = "return",
    }
}

choices! {
    /// The way in which pi gets to an entry.
    GoBy {
        /// pi navigates there itself if it is recent enough; otherwise a line moves the leaf.
        #[default]
        Itself = "itself",
        /// A line in the session file moves the leaf.
        Line = "line",
    }
}

choices! {
    /// A set of keys in addition to the default ones.
    KeyPreset {
        /// None.
        #[default]
        Default = "default",
        /// Those of pi's tree and lists.
        Pi = "pi",
    }
}

choices! {
    /// The form of times in lists.
    TimeForm {
        /// `14:02`, `Tue 14:02`, `19 Nov` or `Nov 2025`.
        #[default]
        Date = "date",
        /// `5m`, `3h`, `2d`, `1w`, `3mo` or `1y`.
        Age = "age",
    }
}

/// The settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The color theme.
    pub theme: ThemeName,
    /// `true` to draw with ASCII characters only.
    pub ascii: bool,
    /// `true` to handle clicks and the wheel.
    pub mouse: bool,
    /// The initial sort order of the sessions.
    pub sort: Sort,
    /// The form of times in lists.
    pub times: TimeForm,
    /// The initial filter of the tree.
    pub filter: Filter,
    /// `true` to use pi's setting `treeFilterMode` as the initial filter, if it is set.
    pub filter_of_pi: bool,
    /// `true` to collapse runs of tool calls at startup.
    pub tool_runs: bool,
    /// `true` if the worktrees of a git repository are one project.
    pub group_worktrees: bool,
    /// `true` if forks that pitree creates get the tags of their parents.
    pub forks_inherit_tags: bool,
    /// The command of pi: a program and its arguments.
    pub pi: Vec<String>,
    /// The command that prints a title: a program and its arguments; empty for pi.
    pub name_command: Vec<String>,
    /// The behavior after starting pi.
    pub after_pi: AfterPi,
    /// The way in which pi gets to an entry.
    pub go_by: GoBy,
    /// The command that moves a file to the trash: a program and its arguments; empty for the system trash.
    pub trash: Vec<String>,
    /// The timeout of this command per file, in seconds.
    pub trash_seconds: u64,
    /// The maximum size of the index of a directory in megabytes; 0 for no index.
    pub index_megabytes: u64,
    /// The directory of archived sessions; empty for the one in pitree's data directory. `~` is not expanded yet.
    pub archive_dir: String,
    /// The notifications about pis that want the user: `None` for none, or a program and its arguments, or empty to choose
    /// automatically.
    pub notify: Option<Vec<String>>,
    /// The settings of statistics.
    pub stats: StatsConfig,
    /// The settings of the search for secrets.
    pub redact: RedactConfig,
    /// The names and addresses of other machines.
    pub machines: Vec<(String, Address)>,
    /// The settings of the synchronization with other machines.
    pub sync: SyncConfig,
    /// Session directories to read instead of pi's; `~` is not expanded yet.
    pub dirs: Vec<String>,
    /// The symbols, unless ASCII is set.
    pub glyphs: Glyphs,
    /// Colors that override the theme.
    pub colors: HashMap<Tone, ColorOverride>,
    /// The saved queries in the order of the file.
    pub queries: Vec<SavedQuery>,
    /// The key bindings: the defaults with the user's changes.
    pub keymap: Keymap,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            theme: ThemeName::default(),
            ascii: false,
            mouse: true,
            sort: Sort::default(),
            times: TimeForm::default(),
            filter: Filter::default(),
            filter_of_pi: true,
            tool_runs: true,
            pi: vec!["pi".to_owned()],
            name_command: Vec::new(),
            after_pi: AfterPi::default(),
            go_by: GoBy::default(),
            trash: Vec::new(),
            trash_seconds: 60,
            index_megabytes: 4000,
            archive_dir: String::new(),
            group_worktrees: true,
            forks_inherit_tags: false,
            notify: None,
            stats: StatsConfig::default(),
            redact: RedactConfig::default(),
            machines: Vec::new(),
            sync: SyncConfig::default(),
            dirs: Vec::new(),
            glyphs: UNICODE.clone(),
            colors: HashMap::new(),
            queries: Vec::new(),
            keymap: Keymap::default(),
        }
    }
}

/// A function that reads the value of a setting, or returns the problem.
type SettingReader = fn(&mut Config, &DeValue<'_>) -> Result<(), String>;

/// Reads a command: a program and its arguments. `empty` is the problem of an empty name.
fn command(value: &DeValue<'_>, empty: &str) -> Result<Vec<String>, String> {
    strings(value)
        .and_then(|words| if words.first().is_some_and(String::is_empty) { Err(empty.into()) } else { Ok(words) })
}

/// All settings except keys: their names and readers. `assets/config.toml` explains each.
const SETTINGS: &[(&str, SettingReader)] = &[
    ("theme", |config, value| choice(value).map(|theme| config.theme = theme)),
    ("ascii", |config, value| boolean(value).map(|ascii| config.ascii = ascii)),
    ("mouse", |config, value| boolean(value).map(|mouse| config.mouse = mouse)),
    ("sort", |config, value| choice(value).map(|sort| config.sort = sort)),
    ("times", |config, value| choice(value).map(|times| config.times = times)),
    ("filter", |config, value| {
        config.filter_of_pi = value.as_str() == Some("pi");
        if config.filter_of_pi {
            return Ok(());
        }
        let filter = choice(value).map_err(|error| error.replacen("; use ", "; use \"pi\", ", 1))?;
        config.filter = filter;
        Ok(())
    }),
    ("tool-runs", |config, value| boolean(value).map(|tool_runs| config.tool_runs = tool_runs)),
    ("group-worktrees", |config, value| boolean(value).map(|groups| config.group_worktrees = groups)),
    ("forks-inherit-tags", |config, value| boolean(value).map(|inherits| config.forks_inherit_tags = inherits)),
    ("pi", |config, value| {
        config.pi = command(value, "must not be empty; use [\"pi\"]")?;
        if config.pi.is_empty() { Err("must not be empty; use [\"pi\"]".to_owned()) } else { Ok(()) }
    }),
    ("name-command", |config, value| {
        let words = value.as_str().map(|program| vec![program.to_owned()]);
        let words = words.map_or_else(|| command(value, "program name is empty; use [] for pi"), Ok);
        words.map(|words| config.name_command = words)
    }),
    ("after-pi", |config, value| choice(value).map(|after_pi| config.after_pi = after_pi)),
    ("go-by", |config, value| choice(value).map(|go_by| config.go_by = go_by)),
    ("trash", |config, value| {
        let empty = "program name is empty; use [\"trash-put\"], or [] for the system trash";
        command(value, empty).map(|words| config.trash = words)
    }),
    ("trash-seconds", |config, value| {
        whole(value, "a number of seconds, from 1").map(|seconds: NonZeroU64| config.trash_seconds = seconds.get())
    }),
    ("index-megabytes", |config, value| {
        whole(value, "a number of megabytes, from 0").map(|megabytes| config.index_megabytes = megabytes)
    }),
    ("archive-dir", |config, value| {
        config.archive_dir = value.as_str().ok_or("must be a string")?.to_owned();
        Ok(())
    }),
    ("notify", |config, value| {
        let empty = "program name is empty; use true to choose one";
        config.notify = match value.as_bool() {
            Some(is_on) => is_on.then(Vec::new),
            None if value.is_array() => Some(command(value, empty)?),
            None => return Err(wrong_type("true, false or a list [\"program\", \"argument\"]", value)),
        };
        if config.notify == Some(Vec::new()) && !value.is_bool() { Err(empty.to_owned()) } else { Ok(()) }
    }),
    ("dirs", |config, value| {
        config.dirs = strings(value)?;
        let empty = config.dirs.iter().any(String::is_empty);
        (!empty).then_some(()).ok_or_else(|| "has an empty path; remove it".to_owned())
    }),
];

impl Config {
    /// Returns the maximum size of the index of a directory in bytes.
    pub(crate) fn index_bytes(&self) -> u64 {
        self.index_megabytes.saturating_mul(1_000_000)
    }

    /// Returns the symbols to draw with.
    pub(crate) fn glyphs(&self) -> &Glyphs {
        if self.ascii { &ASCII } else { &self.glyphs }
    }

    /// Parses settings; `file` is the file name for error messages.
    ///
    /// # Errors
    /// All problems in line order, or only the syntax errors if the text is not valid TOML: a line each,
    /// `FILE:LINE: problem and fix`.
    pub fn parse(text: &str, file: &str) -> Result<Self, String> {
        let mut problems = ConfigProblems::new(text);
        let mut config = Self::default();
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            let what = error.message().lines().collect::<Vec<_>>().join(", ");
            problems.add(error.span().unwrap_or_default(), format!("not valid TOML: {what}"));
        }
        if errors.is_empty() {
            read(&mut problems, table.get_ref(), &mut config);
        }
        let mut problems = problems.found;
        sort::by_key(&mut problems, |(line, _)| *line);
        if !errors.is_empty() {
            // Errors after the first one on a line are mostly noise.
            problems.dedup_by_key(|(line, _)| *line);
        }
        let lines: Vec<_> = problems.iter().map(|(line, what)| format!("{file}:{line}: {what}")).collect();
        if lines.is_empty() { Ok(config) } else { Err(lines.join("\n")) }
    }
}

/// Reads a parsed file.
fn read(problems: &mut ConfigProblems, table: &DeTable<'_>, config: &mut Config) {
    let (mut saved, mut keys, mut preset) = (None, None, KeyPreset::Default);
    for (key, value) in table {
        let name = key.get_ref().as_ref();
        match name {
            "keys" => keys = Some(value),
            "key-preset" => preset = problems.parsed(name, value, choice).unwrap_or_default(),
            "glyphs" => config.glyphs = tables::glyphs(problems, value),
            "colors" => config.colors = tables::colors(problems, value),
            "queries" => saved = Some(value),
            "stats" => config.stats = stats::stats(problems, value),
            "redact" => config.redact = redact::redact(problems, value),
            "machines" => config.machines = machines::machines(problems, value),
            "sync" => config.sync = machines::sync(problems, value),
            _ => match SETTINGS.iter().find(|(known, _)| *known == name) {
                Some((_, set)) => drop(problems.parsed(name, value, |value| set(config, value))),
                None => {
                    let names = SETTINGS.iter().map(|(known, _)| *known).chain([
                        "glyphs",
                        "colors",
                        "queries",
                        "stats",
                        "redact",
                        "machines",
                        "sync",
                        "keys",
                        "key-preset",
                    ]);
                    problems.unknown(key, names);
                }
            },
        }
    }
    if keys.is_some() || preset != KeyPreset::Default {
        config.keymap = tables::keymap(problems, keys, preset == KeyPreset::Pi);
    }
    // Their keys must not be bound to actions.
    if let Some(saved) = saved {
        config.queries = tables::queries(problems, saved, &config.keymap);
    }
}

fn choice<T: FromStr<Err = String>>(value: &DeValue<'_>) -> Result<T, String> {
    value.as_str().ok_or_else(|| wrong_type("a name in quotes", value))?.parse()
}

fn boolean(value: &DeValue<'_>) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| wrong_type("true or false", value))
}

/// Returns a configuration file with all defaults and explanations.
///
/// Symbols and keys are commented out, so that users get the defaults of later versions.
pub(crate) fn default_toml() -> String {
    let mut text = include_str!("../../assets/config.toml").to_owned();
    let keymap = Keymap::default();
    for &action in Action::ALL {
        let keys: Vec<_> = keymap.keys(action).iter().map(|key| format!("{:?}", key.to_string())).collect();
        let _ = write!(text, "\n# {}\n# {} = [{}]\n", action.row().help, action.row().name, keys.join(", "));
    }
    text + &tables::default_glyphs() + &tables::default_colors()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::KeyContext;
    use proptest::prelude::*;

    fn parse(text: &str) -> Config {
        Config::parse(text, "config.toml").unwrap()
    }

    fn errors(text: &str) -> String {
        Config::parse(text, "config.toml").unwrap_err()
    }

    #[test]
    fn nothing_said_is_the_default() {
        assert_eq!(parse(""), Config::default());
        assert_eq!(parse("[keys]\n"), Config::default());
    }

    #[test]
    fn the_default_file_is_the_default() {
        assert_eq!(parse(&default_toml()), Config::default());
    }

    #[test]
    fn every_line_of_the_default_file_can_be_used() {
        let text = default_toml();
        let (settings, glyphs) = text.split_once("[glyphs]").unwrap();
        assert!(Glyphs::ALL.iter().all(|(name, _)| glyphs.contains(&format!("\n# {name} = "))));
        for name in SETTINGS.iter().map(|(name, _)| *name).chain(Action::ALL.iter().map(|action| action.row().name)) {
            let said = |line: &&str| line.trim_start_matches("# ").starts_with(&format!("{name} = "));
            assert_eq!(settings.lines().filter(said).count(), 1, "{name}");
        }
        let names = Action::ALL.iter().map(|action| action.row().name).chain(Glyphs::ALL.iter().map(|(name, _)| *name));
        let names: Vec<_> = names.map(|name| format!("# {name} = ")).collect();
        let is_commented = |line: &str| names.iter().any(|name| line.starts_with(name));
        let active: Vec<_> = text.lines().map(|line| if is_commented(line) { &line[2..] } else { line }).collect();
        assert_eq!(parse(&active.join("\n")), Config::default());
        let names = ThemeName::ALL.iter().map(|it| it.name()).chain(Sort::ALL.iter().map(|it| it.name()));
        let names = names.chain(AfterPi::ALL.iter().map(|it| it.name()));
        for name in names.chain(Filter::ALL.iter().map(|it| it.name())) {
            assert!(text.contains(&format!("{name:?}")), "{name} is explained");
        }
    }

    #[test]
    fn reads_every_setting() {
        let text = "theme = 'light'\nascii = true\nmouse = false\nsort = 'cost'\nfilter = 'no-tools'\n\
                    pi = ['nix', 'run', 'pi']\ndirs = ['~/a', '/b']\nkeys.quit = 'Q'\nkeys.reload = []\n";
        let config = parse(text);
        assert_eq!((config.theme, config.ascii, config.mouse), (ThemeName::Light, true, false));
        assert_eq!((config.sort, config.filter), (Sort::Cost, Filter::NoTools));
        assert_eq!((config.pi.join(" ").as_str(), config.dirs.join(" ").as_str()), ("nix run pi", "~/a /b"));
        assert_eq!(config.keymap.resolve(KeyContext::Tree, "Q".parse().unwrap()), Some(Action::Quit));
        assert_eq!(config.keymap.keys(Action::Reload), []);
    }

    #[test]
    fn notifications_are_off_automatic_or_a_program() {
        let words = ["notify-send", "-u", "low"].map(str::to_owned);
        for (value, wanted) in
            [("false", None), ("true", Some(vec![])), ("['notify-send', '-u', 'low']", Some(words.into()))]
        {
            assert_eq!(parse(&format!("notify = {value}")).notify, wanted);
        }
        let wrong =
            "config.toml:1: \"notify\": must be true, false or a list [\"program\", \"argument\"], but is of type";
        assert_eq!(errors("notify = 'x'"), format!("{wrong} string"));
        assert!(errors("notify = [1]").ends_with("but is of type integer"));
        for empty in ["[]", "['', 'x']"] {
            let what = "config.toml:1: \"notify\": program name is empty; use true to choose one";
            assert_eq!(errors(&format!("notify = {empty}")), what);
        }
    }

    #[test]
    fn the_keys_of_pi_have_no_conflict_and_give_way_to_own_ones() {
        let config = parse("key-preset = 'pi'\n");
        let of = |config: &Config, key: &str| config.keymap.resolve(KeyContext::Tree, key.parse().unwrap());
        assert_eq!((of(&config, "left"), of(&config, "T")), (Some(Action::PageUp), Some(Action::LabelTimes)));
        let config = parse("key-preset = 'pi'\n[keys]\nlabel-times = 'i'\n");
        assert_eq!((of(&config, "T"), of(&config, "i")), (None, Some(Action::LabelTimes)));
        assert!(errors("key-preset = 'pi'\n[keys]\nlabel = 'T'\n").contains("is bound to both"));
    }

    #[test]
    fn every_problem_is_reported_with_its_line() {
        let text = "theme = 'drak'\nmouse = 1\ntehme = 'dark'\npi = []\ndirs = ['a', 2]\n\n[keys]\n\
                    filter-nxet = ['n']\nup = [\n  'Q',\n  'ctrl+shfit+x',\n]\nfold = 7\nquit = []\nhelp = ['.']\n";
        assert_eq!(
            errors(text),
            "config.toml:1: \"theme\": unknown value \"drak\"; use \"auto\", \"dark\", \"light\" or \"terminal\"\n\
             config.toml:2: \"mouse\": must be true or false, but is of type integer\n\
             config.toml:3: unknown setting \"tehme\"; did you mean \"theme\"?\n\
             config.toml:4: \"pi\": must not be empty; use [\"pi\"]\n\
             config.toml:5: \"dirs\": must be a list of texts, such as [\"one\", \"two\"], but is of type integer\n\
             config.toml:8: unknown action \"filter-nxet\" in [keys]; did you mean \"next-filter\"?\n\
             config.toml:11: \"up\": unknown modifier \"shfit\"; the modifiers are ctrl, alt, super, shift\n\
             config.toml:13: \"fold\": must be a list of keys, such as [\"q\", \"ctrl+c\"], but is of type integer\n\
             config.toml:14: \"quit\" needs at least one key\n\
             config.toml:15: key \".\" is bound to both \"help\" and \"go-to-leaf\"; give one of them other keys"
        );
    }

    #[test]
    fn reads_signs_and_says_what_is_wrong_with_them() {
        let config = parse("glyphs.fork = 'ψ'");
        assert_eq!((&*config.glyphs().fork, &*config.glyphs().tee), ("ψ", "├"));
        assert_eq!(parse("ascii = true\nglyphs.fork = 'ψ'").glyphs(), &ASCII);
        assert_eq!(
            errors("[glyphs]\nforks = 'x'\nfork = 'ab'\nleaf = '漢'\ndot = \"\\u001b\"\nbar = 1\n"),
            "config.toml:2: unknown symbol \"forks\" in [glyphs]; did you mean \"fork\"?\n\
                 config.toml:3: \"fork\": expected one character that is one column wide\n\
                 config.toml:4: \"leaf\": expected one character that is one column wide\n\
                 config.toml:5: \"dot\": expected one character that is one column wide\n\
                 config.toml:6: \"bar\": must be one character in quotes, but is of type integer"
        );
        assert!(errors("glyphs = 3").starts_with("config.toml:1: \"glyphs\": must be a table of symbols"));
    }

    #[test]
    fn reads_queries_with_and_without_a_key() {
        let text = "keys.help = []\n[queries]\nz = { query = 'cost:>1 after:1w', key = 'f1' }\n\"a b\" = 'x'\n";
        let saved = |name: &str, query: &str, key: Option<&str>| SavedQuery {
            name: name.into(),
            query: query.into(),
            key: key.map(|key| key.parse().unwrap()),
        };
        assert_eq!(parse(text).queries, [saved("z", "cost:>1 after:1w", Some("f1")), saved("a b", "x", None)]);
    }

    #[test]
    fn what_is_wrong_with_a_query_is_reported_with_its_line() {
        let text = "[queries]\na = 'cost:much'\nb = 3\nc = { query = 'x', kye = 'f2' }\nd = { key = 'f3' }\n\
                    e = { query = 'x', key = 'f1' }\nf = { query = 'x', key = 'f4' }\ng = { query = 'x', key = 'f4' }\n\
                    h = ''\ni = { query = 'x', key = 'hyper+x' }\n";
        let errors = errors(text);
        let lines: Vec<&str> = errors.lines().collect();
        assert!(lines[0].starts_with("config.toml:2: \"a\": ") && lines[0].contains("much"), "{errors}");
        assert!(lines[7].starts_with("config.toml:10: \"i\": "), "{errors}");
        assert_eq!(
            lines[1..7],
            [
                "config.toml:3: \"b\": must be a query in quotes, or { query = \"cost:>1\", key = \"f2\" }, but is of type integer",
                "config.toml:4: \"c\": unknown field \"kye\"; did you mean \"key\"?",
                "config.toml:5: \"d\" has no query; add query = \"...\"",
                "config.toml:6: key \"f1\" is bound to both \"help\" and the query \"e\"; give one of them another key",
                "config.toml:8: key \"f4\" is bound to both the query \"f\" and the query \"g\"; give one of them another key",
                "config.toml:9: \"h\": the query is empty",
            ]
        );
        assert!(super::Config::parse("queries = 3", "c").unwrap_err().contains("must be a table of queries"));
    }

    #[test]
    fn a_conflict_points_at_the_later_line() {
        let what = "key \"x\" is bound to both \"up\" and \"down\"; give one of them other keys";
        assert_eq!(errors("[keys]\ndown = ['x']\nup = ['x']\n"), format!("config.toml:3: {what}"));
    }

    #[test]
    fn a_mistyped_key_of_quit_is_one_problem() {
        assert_eq!(errors("keys.quit = ['ctrl+']").lines().count(), 1);
    }

    #[test]
    fn wrong_syntax_is_all_that_is_said() {
        let text = errors("theme = 'drak'\nsort = \nmouse = true\nascii = yes\n[keys\n");
        let lines: Vec<_> = text.lines().map(|line| line.split(": ").take(2).collect::<Vec<_>>().join(": ")).collect();
        assert_eq!(lines, [2, 4, 5].map(|line| format!("config.toml:{line}: not valid TOML")), "{text}");
        assert!(errors("mouse = true\nmouse = false").starts_with("config.toml:2: not valid TOML: duplicate key"));
        assert!(errors("keys = 3").starts_with("config.toml:1: \"keys\": must be a table of actions"));
    }

    #[test]
    fn one_syntax_error_a_line_is_enough() {
        let text = errors("[keys]\nquit = ['q\nup=['x']\n");
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn what_the_file_says_is_made_safe_to_print() {
        let text = errors("'\u{202e}x' = 1\nsort = \"\\u001b[31m\"\n");
        assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_gives_settings_or_errors(text in any::<String>(), key in any::<String>()) {
            for text in [text, format!("[keys]\nup = [{key:?}]")] {
                if let Err(error) = Config::parse(&text, "config.toml") {
                    prop_assert!(error.to_string().starts_with("config.toml:"));
                }
            }
        }
    }

    #[test]
    fn many_mistakes_are_told_as_fast_as_they_are_found() {
        let said = errors(&"theme = 1\n".repeat(50_000));
        assert!(said.ends_with("50000: not valid TOML: duplicate key"), "{}", &said[said.len() - 80..]);
    }

    #[test]
    fn far_off_names_get_no_guess() {
        let what = "unknown action \"zzzzzz\" in [keys]; pitree config --default lists all";
        assert_eq!(errors("keys.zzzzzz = 1"), format!("config.toml:1: {what}"));
    }

    #[test]
    fn choices_cycle_both_ways() {
        assert_eq!(Filter::Turns.next(), Filter::Default);
        assert_eq!(Filter::Default.previous(), Filter::Turns);
        for &sort in Sort::ALL {
            assert_eq!(sort.next().previous(), sort);
            assert_eq!(sort.name().parse(), Ok(sort));
        }
        assert_eq!(
            "x".parse::<ThemeName>().unwrap_err(),
            "unknown value \"x\"; use \"auto\", \"dark\", \"light\" or \"terminal\""
        );
    }
}
