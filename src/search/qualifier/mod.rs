//! The qualifiers of queries (`cost:>1`): their table, parsing and printing, and their conditions.

mod commit;
mod counted;
mod is;
mod lost;
mod marks;
mod on;
mod path;
mod secret;
#[cfg(test)]
pub(crate) mod test_sample;
pub mod value;

use std::fmt;
use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::base::normalize::fold;
use crate::search::candidate::{EntryScope, MatchField, MatchPlace, Test};
use crate::search::qualifier::counted::EntryTest;
use crate::search::qualifier::is::Category;
use crate::search::qualifier::marks::MarkKind;
pub(crate) use crate::search::qualifier::path::is_in_dir;
use crate::search::qualifier::value::bound::{self, Bound};
use crate::search::qualifier::value::date::{self, DateRange, DateValue};
use crate::search::qualifier::value::{QueryScope, Text, ValueList};
use crate::secrets::Rules;
use crate::session::digest::Digest;
use crate::session::digest::commits::CommitPrefix;
use crate::session::entry::kind::EntryKind;
use crate::session::entry::tool_call::Touch;
use crate::session::json::Str;

/// A row of the table.
pub(crate) struct QualifierRow {
    /// The name before the colon.
    pub(crate) name: &'static str,
    /// An example with a value.
    pub(crate) example: &'static str,
    /// The rest of the sentence "Qualifiers select sessions …", in one line.
    pub(crate) help: &'static str,
    value: ValueType,
}

/// The type of a value, and the qualifier with such a value.
enum ValueType {
    /// Any text, with the known values.
    Text(fn(Text) -> Qualified, fn(ValueList<'_>) -> &[String]),
    Category(fn(Category) -> Qualified),
    Mark(fn(MarkKind) -> Qualified),
    Date(fn(DateValue) -> Qualified),
    Range(fn(DateRange) -> Qualified),
    Bound(fn(Bound) -> Qualified),
    Commit(fn(CommitPrefix) -> Qualified),
}

const fn row(name: &'static str, example: &'static str, help: &'static str, value: ValueType) -> QualifierRow {
    QualifierRow { name, example, help, value }
}

/// All qualifiers in display order.
pub(crate) static TABLE: &[QualifierRow] = &[
    row(
        "in",
        "in:~/code/app",
        "in this directory or below, or in its worktrees; in:app matches by name, in:../x is relative",
        ValueType::Text(Qualified::In, |values| values.dirs),
    ),
    row(
        "worktree",
        "worktree:fix-42",
        "in a git worktree with a matching name or branch",
        ValueType::Text(Qualified::Worktree, |values| values.worktrees),
    ),
    row(
        "on",
        "on:box",
        "on this machine, also as a copy; on:here selects those of the local machine",
        ValueType::Text(Qualified::On, |values| values.machines),
    ),
    row(
        "file",
        "file:index.ts",
        "that read, wrote or edited a matching file; src/ matches all files below it",
        ValueType::Text(Qualified::File, |values| &values.lists.files),
    ),
    row(
        "edited",
        "edited:src/",
        "that wrote or edited a matching file",
        ValueType::Text(Qualified::Edited, |values| &values.lists.files),
    ),
    row(
        "label",
        "label:works",
        "with a matching label",
        ValueType::Text(Qualified::Label, |values| &values.lists.labels),
    ),
    row("commit", "commit:3798c17", "with a command that printed this commit", ValueType::Commit(Qualified::Commit)),
    row("tag", "tag:release", "with a matching tag", ValueType::Text(Qualified::Tag, |values| values.tags)),
    row("note", "note:flaky", "with a matching note, also on an entry", ValueType::Text(Qualified::Note, |_| &[])),
    row("has", "has:note", "with a mark of this kind", ValueType::Mark(Qualified::Has)),
    row(
        "model",
        "model:sonnet",
        "with an answer from a matching model",
        ValueType::Text(Qualified::Model, |values| &values.lists.models),
    ),
    row(
        "provider",
        "provider:anthropic",
        "with an answer from a matching provider",
        ValueType::Text(Qualified::Provider, |_| &[]),
    ),
    row(
        "tool",
        "tool:bash",
        "with a call to a matching tool",
        ValueType::Text(Qualified::Tool, |values| &values.lists.tools),
    ),
    row(
        "program",
        "program:cargo",
        "with a shell command that runs a matching program first",
        ValueType::Text(Qualified::Program, |_| &[]),
    ),
    row(
        "secret",
        "secret:github-token",
        "with a likely secret found by a matching rule",
        ValueType::Text(Qualified::Secret, |_| rule_names()),
    ),
    row(
        "is",
        "is:abandoned",
        "with this property; abandoned means some branches do not lead to the leaf",
        ValueType::Category(Qualified::Is),
    ),
    row("after", "after:2w", "last active at or after this time", ValueType::Date(Qualified::After)),
    row("before", "before:2026-05", "last active before this time", ValueType::Date(Qualified::Before)),
    row("active", "active:2026-05", "with entries in this time", ValueType::Range(Qualified::Active)),
    row("cost", "cost:>1", "by cost in US dollars", ValueType::Bound(Qualified::Cost)),
    row("size", "size:>1M", "by file size in bytes", ValueType::Bound(Qualified::Size)),
    row("entries", "entries:<=20", "by number of entries", ValueType::Bound(Qualified::Entries)),
];

impl QualifierRow {
    /// Parses a non-empty value. Returns `None` for an incomplete value, and an error that lists valid values.
    pub(crate) fn read(&self, value: &str) -> Result<Option<Qualified>, String> {
        Ok(match self.value {
            ValueType::Text(qualified, _) => Some(qualified(Text(value.into()))),
            ValueType::Category(qualified) => Some(qualified(Category::read(value)?)),
            ValueType::Mark(qualified) => Some(qualified(MarkKind::read(value)?)),
            ValueType::Date(qualified) => Some(qualified(DateValue::read(value)?)),
            ValueType::Range(qualified) => Some(qualified(DateRange::read(value)?)),
            ValueType::Bound(qualified) => Bound::read(value)?.map(qualified),
            ValueType::Commit(qualified) => CommitPrefix::read(value)?.map(qualified),
        })
    }

    /// Returns an example of each form of a value, or none if any text is valid.
    fn forms(&self) -> Vec<&'static str> {
        match self.value {
            ValueType::Text(..) | ValueType::Commit(_) => Vec::new(),
            ValueType::Category(_) => Category::names(),
            ValueType::Mark(_) => MarkKind::names(),
            ValueType::Date(_) => date::FORMS.to_vec(),
            ValueType::Range(_) => date::RANGE_FORMS.to_vec(),
            ValueType::Bound(_) => bound::FORMS.to_vec(),
        }
    }

    /// Returns the values to suggest, the most likely first.
    pub(crate) fn choices<'a>(&self, values: ValueList<'a>) -> Vec<&'a str> {
        match self.value {
            ValueType::Text(_, known) => known(values).iter().map(String::as_str).collect(),
            ValueType::Category(_) => Category::names(),
            ValueType::Mark(_) => MarkKind::names(),
            ValueType::Date(_) | ValueType::Range(_) => date::SUGGESTED.to_vec(),
            ValueType::Bound(_) => Vec::new(),
            ValueType::Commit(_) => values.lists.commits.iter().map(String::as_str).collect(),
        }
    }

    /// Describes a value that is not self-explanatory.
    pub(crate) fn means(&self, value: &str) -> &'static str {
        match self.value {
            ValueType::Category(_) => Category::means(value),
            ValueType::Mark(_) => MarkKind::means(value),
            _ => "",
        }
    }
}

/// A qualifier with its value. Its display form parses to the same qualifier.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Qualified {
    /// The working directory of a session.
    In(Text),
    /// The git worktree of the working directory.
    Worktree(Text),
    /// The machines with the session.
    On(Text),
    /// Files read, written or edited by tools.
    File(Text),
    /// Files written or edited by tools.
    Edited(Text),
    /// The labels of entries.
    Label(Text),
    /// The commits that commands printed.
    Commit(CommitPrefix),
    /// The tags of a session.
    Tag(Text),
    /// The notes of a session and its entries.
    Note(Text),
    /// Kinds of marks.
    Has(MarkKind),
    /// The models that answered.
    Model(Text),
    /// The providers of models that answered.
    Provider(Text),
    /// The tools that were called.
    Tool(Text),
    /// The programs that shell commands ran.
    Program(Text),
    /// The rules that find likely secrets.
    Secret(Text),
    /// Categories of sessions.
    Is(Category),
    /// Sessions last active at or after a time.
    After(DateValue),
    /// Sessions last active before a time.
    Before(DateValue),
    /// Sessions with entries in a time span.
    Active(DateRange),
    /// The cost of a session.
    Cost(Bound),
    /// The file size of a session.
    Size(Bound),
    /// The number of entries of a session.
    Entries(Bound),
}

impl fmt::Display for Qualified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::In(dir) => write!(f, "in:{dir}"),
            Self::Worktree(name) => write!(f, "worktree:{name}"),
            Self::On(machine) => write!(f, "on:{machine}"),
            Self::File(path) => write!(f, "file:{path}"),
            Self::Edited(path) => write!(f, "edited:{path}"),
            Self::Label(label) => write!(f, "label:{label}"),
            Self::Commit(commit) => write!(f, "commit:{commit}"),
            Self::Tag(tag) => write!(f, "tag:{tag}"),
            Self::Note(note) => write!(f, "note:{note}"),
            Self::Has(kind) => write!(f, "has:{kind}"),
            Self::Model(model) => write!(f, "model:{model}"),
            Self::Provider(provider) => write!(f, "provider:{provider}"),
            Self::Tool(tool) => write!(f, "tool:{tool}"),
            Self::Program(program) => write!(f, "program:{program}"),
            Self::Secret(rule) => write!(f, "secret:{rule}"),
            Self::Is(category) => write!(f, "is:{category}"),
            Self::After(date) => write!(f, "after:{date}"),
            Self::Before(date) => write!(f, "before:{date}"),
            Self::Active(range) => write!(f, "active:{range}"),
            Self::Cost(bound) => write!(f, "cost:{bound}"),
            Self::Size(bound) => write!(f, "size:{bound}"),
            Self::Entries(bound) => write!(f, "entries:{bound}"),
        }
    }
}

impl Qualified {
    /// Compiles the qualifier into a test of sessions.
    pub(crate) fn test(&self, here: &QueryScope) -> Test {
        match self {
            Self::In(dir) => path::in_directory(dir, here),
            Self::Worktree(name) => {
                let (is_such, worktrees) = (contains(name), here.worktrees.clone());
                Box::new(move |session| {
                    let worktree = worktrees.of(&session.digest.header.cwd);
                    let mut names = worktree.into_iter().flat_map(|tree| tree.branch.iter().chain([&tree.name]));
                    names.any(|name| is_such(name)).into()
                })
            }
            Self::On(machine) => on::test(machine),
            Self::File(path) => path::file(path, here, |_| true),
            Self::Edited(path) => path::file(path, here, |touch| touch != Touch::Read),
            Self::Label(label) => {
                let wanted = label.folded();
                let place = move |(entry, label): (_, &str)| {
                    let at = label.find(&wanted)?;
                    Some(MatchPlace { field: MatchField::Label, entry: Some(entry), at: at..at + wanted.len() })
                };
                Box::new(move |session| session.titles.labels.each().find_map(&place).into())
            }
            Self::Model(model) => {
                let is_such = contains(model);
                Box::new(move |session| session.digest.details_once().model_names().any(&is_such).into())
            }
            Self::Tool(tool) => {
                let is_such = contains(tool);
                Box::new(move |session| session.digest.details_once().tools.keys().any(|tool| is_such(tool)).into())
            }
            Self::Provider(_) | Self::Program(_) | Self::Active(_) => counted::test(self.counted(here)),
            Self::Commit(commit) => commit::test(Some(commit)),
            Self::Tag(tag) => marks::tag(tag, here),
            Self::Note(note) => marks::note(Some(note), here),
            Self::Has(kind) => marks::has(*kind, here),
            Self::Secret(rule) => secret::test(Some(rule), here),
            Self::Is(category) if category.is_secret() => secret::test(None, here),
            Self::Is(category) if category.is_lost() => lost::test(here),
            Self::Is(category) if category.is_pinned() => marks::pinned(here),
            Self::Is(category) if category.is_unread() => {
                let seen = here.last_seen.clone();
                Box::new(move |session| {
                    seen.is_unread(|| session.digest.header.marks_key(), session.digest.modified).into()
                })
            }
            Self::Is(category) => {
                let holds = category.holds();
                Box::new(move |session| holds(session).into())
            }
            Self::After(date) => {
                let time = date.ms(here);
                Box::new(move |session| session.digest.modified.is_some_and(|modified| modified >= time).into())
            }
            Self::Before(date) => {
                let time = date.ms(here);
                Box::new(move |session| session.digest.modified.is_some_and(|modified| modified < time).into())
            }
            Self::Cost(bound) => number(*bound, |digest| digest.cost),
            Self::Size(bound) => number(*bound, |digest| digest.bytes as f64),
            Self::Entries(bound) => number(*bound, |digest| digest.entry_count as f64),
        }
    }

    /// Returns the entries for which the qualifier holds.
    pub(crate) fn scope(&self, here: &QueryScope) -> EntryScope {
        match self {
            Self::File(path) => path::file_scope(path, here, |_| true),
            Self::Edited(path) => path::file_scope(path, here, |touch| touch != Touch::Read),
            Self::Label(label) => {
                let wanted = label.folded();
                EntryScope::Known(Box::new(move |session| {
                    let labels = session.titles.labels.each();
                    labels.filter(|(_, label)| label.contains(&wanted)).map(|(entry, _)| entry).collect()
                }))
            }
            Self::Model(model) => {
                let is_such = contains(model);
                EntryScope::Read(Box::new(move |entry| {
                    let answer = entry.message.as_ref().filter(|_| entry.kind == EntryKind::Assistant);
                    let names = answer.into_iter().flat_map(|answer| [answer.model, answer.response_model]).flatten();
                    names.into_iter().any(|name| is_such(&name.text()))
                }))
            }
            // A call counts at the entry of its result.
            Self::Tool(tool) => {
                let is_such = contains(tool);
                EntryScope::Read(Box::new(move |entry| {
                    let result = entry.message.as_ref().filter(|_| entry.kind == EntryKind::ToolResult);
                    let is_it = |name: Str<'_>| is_such(&name.text());
                    result.is_some_and(|result| {
                        result.tool_name.is_some_and(is_it)
                            || result.nested_calls().any(|nested| is_it(nested.call.name))
                    })
                }))
            }
            Self::Provider(_) | Self::Program(_) | Self::Active(_) => counted::scope(self.counted(here)),
            Self::Secret(rule) => secret::scope(Some(rule), here),
            Self::Commit(commit) => commit::scope(Some(commit)),
            Self::Is(category) if category.is_secret() => secret::scope(None, here),
            Self::Is(category) if category.is_lost() => lost::scope(here),
            Self::Is(category) if category.is_committed() => commit::scope(None),
            Self::Is(category) => category.feature().map_or(EntryScope::Session, EntryScope::Tree),
            _ => EntryScope::Session,
        }
    }

    /// Returns the test of the statistics of entries; no entry passes that of other qualifiers.
    fn counted(&self, here: &QueryScope) -> EntryTest {
        match self {
            Self::Provider(provider) => {
                let is_such = contains(provider);
                Box::new(move |stats, entry| stats.model_of(entry).is_some_and(|(provider, _)| is_such(provider)))
            }
            Self::Program(program) => {
                let is_such = contains(program);
                Box::new(move |stats, entry| {
                    let program = entry.program.and_then(|program| stats.programs.get(program as usize));
                    program.is_some_and(|program| is_such(program))
                })
            }
            Self::Active(range) => {
                let (from, end) = range.ms(here);
                Box::new(move |_, entry| entry.time.is_some_and(|time| (from..end).contains(&time)))
            }
            _ => Box::new(|_, _| false),
        }
    }

    /// Returns `true` if the scope must have what is known of secrets.
    pub(crate) fn needs_secrets(&self) -> bool {
        match self {
            Self::Secret(_) => true,
            Self::Is(category) => category.is_secret(),
            _ => false,
        }
    }

    /// Returns `true` if the scope must have what is known of lost work.
    pub(crate) fn needs_lost_work(&self) -> bool {
        matches!(self, Self::Is(category) if category.is_lost())
    }

    /// Returns `true` if the scope must have the lasting marks.
    pub(crate) fn needs_marks(&self) -> bool {
        match self {
            Self::Tag(_) | Self::Note(_) | Self::Has(_) => true,
            Self::Is(category) => category.is_pinned(),
            _ => false,
        }
    }

    /// Returns `true` if the scope must have the shown messages.
    pub(crate) fn needs_last_seen(&self) -> bool {
        matches!(self, Self::Is(category) if category.is_unread())
    }

    /// Returns `true` if the scope must have the worktrees.
    pub(crate) fn needs_worktrees(&self) -> bool {
        matches!(self, Self::In(_) | Self::Worktree(_))
    }

    /// Returns `true` if sessions must be related to each other and to running pis.
    pub(crate) fn needs_relations(&self) -> bool {
        matches!(self, Self::Is(category) if category.needs_relations())
    }

    /// Returns `true` if every session that matches this qualifier also matches `wide`.
    pub(crate) fn implies(&self, wide: &Self) -> bool {
        match (self, wide) {
            (Self::Label(narrow), Self::Label(wide))
            | (Self::Model(narrow), Self::Model(wide))
            | (Self::Provider(narrow), Self::Provider(wide))
            | (Self::Tool(narrow), Self::Tool(wide))
            | (Self::Secret(narrow), Self::Secret(wide))
            | (Self::Tag(narrow), Self::Tag(wide))
            | (Self::Worktree(narrow), Self::Worktree(wide))
            | (Self::Note(narrow), Self::Note(wide))
            | (Self::Program(narrow), Self::Program(wide)) => narrow.has_piece(wide),
            (Self::Commit(narrow), Self::Commit(wide)) => narrow.extends(wide),
            _ => self == wide,
        }
    }
}

/// Returns the names of the built-in rules.
fn rule_names() -> &'static [String] {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| Rules::built_in().all().map(|(id, _)| id.to_string()).collect());
    &NAMES
}

/// Returns a test for names that contain a text.
fn contains(text: &Text) -> impl Fn(&str) -> bool + Send + Sync + use<> {
    let wanted = text.folded();
    move |name| fold(name).contains(&wanted)
}

/// Returns a test that compares a number of the digest.
fn number(bound: Bound, of: fn(&Digest) -> f64) -> Test {
    Box::new(move |session| bound.holds(of(session.digest)).into())
}

/// Returns the qualifier with this name.
pub(crate) fn named(name: &str) -> Option<&'static QualifierRow> {
    TABLE.iter().find(|row| row.name == name)
}

/// Returns the table for a terminal: an example, its meaning, and the forms of the value.
pub(crate) fn help() -> String {
    let width = TABLE.iter().map(|row| row.example.len()).max().unwrap_or_default();
    let mut help = String::from("Qualifiers select sessions");
    for row in TABLE {
        let _ = write!(help, "\n  {:width$}  {}", row.example, row.help);
        let forms = row.forms();
        if !forms.is_empty() {
            let _ = write!(help, "\n  {:width$}  {}", "", forms.join(", "));
        }
    }
    help
}

/// Iterates over the rows for the help: an example and its meaning.
pub fn rows() -> impl Iterator<Item = (&'static str, String)> {
    TABLE.iter().map(|row| {
        let forms = row.forms();
        let forms = if forms.is_empty() { String::new() } else { format!("; values: {}", forms.join(" ")) };
        (row.example, format!("Sessions {}{forms}.", row.help))
    })
}

/// Returns the table in Markdown for `docs/search.md`.
pub fn reference() -> String {
    let mut page = String::from("\n| Qualifier | Selects sessions | Forms of the value |\n|---|---|---|\n");
    for row in TABLE {
        let forms: Vec<String> = row.forms().iter().map(|form| format!("`{form}`")).collect();
        let _ = writeln!(page, "| `{}` | {} | {} |", row.example, row.help, forms.join(" "));
    }
    page.push('\n');
    page
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::candidate::TestResult;
    use crate::search::qualifier::test_sample::{Sample, here};
    use crate::search::qualifier::value::ValueLists;
    use crate::search::query::Query;
    use crate::session::last_seen::LastSeen;
    use crate::session::worktrees::{Worktree, Worktrees};

    #[test]
    fn examples_and_forms_of_each_row_are_valid() {
        for (at, row) in TABLE.iter().enumerate() {
            assert!(TABLE[..at].iter().all(|other| other.name != row.name), "duplicate: {}", row.name);
            let (name, value) = row.example.split_once(':').unwrap();
            assert_eq!(name, row.name);
            let read = |value: &str| row.read(value).unwrap().unwrap().to_string();
            let is_read = Query::parse(row.example).is_ok_and(|query| query.to_string() == read(value));
            assert!(is_read, "{}", row.example);
            for value in row.forms().into_iter().chain(row.choices(ValueList {
                dirs: &[],
                tags: &[],
                worktrees: &[],
                machines: &[],
                lists: &ValueLists::default(),
            })) {
                assert_eq!(read(value), read(read(value).split_once(':').unwrap().1), "{}:{value}", row.name);
            }
        }
    }

    #[test]
    fn after_includes_and_before_excludes_the_time() {
        let mut session = Sample::default();
        assert!(!session.is("after:2w") && !session.is("before:2w"), "the time of the last activity is unknown");
        session.digest.modified = Some(here().now_ms - 14 * 86_400_000);
        assert!(session.is("after:2w") && session.is("after:1970") && !session.is("after:13d"));
        assert!(session.is("before:13d") && session.is("before:2026-05") && !session.is("before:2w"));
    }

    #[test]
    fn sessions_with_messages_that_were_not_shown_are_unread() {
        let mut session = Sample::default();
        session.digest.modified = Some(9);
        let mut seen = LastSeen::default();
        seen.begin(5);
        let holds = |seen: &LastSeen| {
            let scope = QueryScope { last_seen: Arc::new(seen.clone()), ..here() };
            let test = named("is").unwrap().read("unread").unwrap().unwrap().test(&scope);
            test(&session.candidate()) != TestResult::No
        };
        assert!(!session.is("is:unread") && holds(&seen));
        seen.note("", 9);
        assert!(!holds(&seen));
    }

    #[test]
    fn worktrees_match_by_name_branch_and_project() {
        let session = Sample::of(&[]);
        let (dir, main, name) = ("/home/Dev/app".into(), "/srv/Main".into(), "app".into());
        let tree = Arc::new(Worktree { dir, main, name, branch: Some("Fix-42".into()) });
        let mut worktrees = Worktrees::default();
        worktrees.insert("/home/Dev/app", &tree);
        let scope = QueryScope { worktrees: Arc::new(worktrees), ..here() };
        let holds = |query: &str| {
            let (name, value) = query.split_once(':').unwrap();
            let test = named(name).unwrap().read(value).unwrap().unwrap().test(&scope);
            test(&session.candidate()) != TestResult::No
        };
        let queries =
            ["worktree:app", "worktree:fix", "worktree:fixed", "in:/srv/main", "in:~/app", "in:main", "in:/srv/x"];
        assert_eq!(queries.map(holds), [true, true, false, true, true, true, false]);
        assert!(!session.is("worktree:app") && !session.is("in:main"));
    }

    #[test]
    fn numbers_of_the_digest_are_compared() {
        let mut session = Sample::default();
        (session.digest.cost, session.digest.bytes, session.digest.entry_count) = (1.5, 1_000_000, 20);
        assert!(session.is("cost:>1") && session.is("cost:$1.5") && !session.is("cost:>1.5"));
        assert!(session.is("size:1M") && session.is("size:=1000k") && !session.is("size:>1MB"));
        assert!(session.is("entries:<=20") && session.is("entries:20") && !session.is("entries:<20"));
    }

    #[test]
    fn read_files_are_not_edited() {
        let is_edited = |tool: &str| Sample::calling(tool, "src/auth.rs").is("edited:src/");
        assert_eq!(["read", "write", "edit"].map(is_edited), [false, true, true]);
    }

    #[test]
    fn models_and_tools_match_by_a_part_of_the_name() {
        let session = Sample::calling("read", "a");
        assert!(session.is("model:sonnet") && session.is("model:Claude") && !session.is("model:opus"));
        assert!(session.is("tool:READ") && session.is("tool:ea") && !session.is("tool:edit"));
    }

    #[test]
    fn statistics_of_entries_are_tested() {
        let session = Sample::of(&[
            r#"{"type":"message","id":"1","parentId":null,"timestamp":"1970-04-01T10:00:00Z","message":{"role":"user","content":"x"}}"#,
            r#"{"type":"message","id":"2","parentId":"1","timestamp":"1970-04-03T10:00:00Z","message":{"role":"assistant","provider":"Anthropic","model":"m","usage":{"input":1},"content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"cd app && cargo test"}}]}}"#,
        ]);
        assert!(session.is("provider:anthropic") && !session.is("provider:openai"));
        assert!(session.is("program:cargo") && !session.is("program:cd"));
        assert!(session.is("active:1970-04-01") && !session.is("active:1970-04-02") && session.is("active:1970-04"));
        assert!(session.is("active:1970-04-02..1970-04-05") && !session.is("active:1970-03..1970-03-31"));
        let scope = |text: &str| match named("active").unwrap().read(text).unwrap().unwrap().scope(&here()) {
            EntryScope::Known(known) => known(&session.candidate()),
            _ => panic!("entries are known"),
        };
        assert_eq!([scope("1970-04-03"), scope("1970-04")], [vec![1], vec![0, 1]]);
    }

    #[test]
    fn label_matches_have_an_entry_and_a_place_in_the_label() {
        let session = Sample::of(&[
            r#"{"type":"message","id":"1","parentId":null,"message":{"role":"user","content":"x"}}"#,
            r#"{"type":"label","id":"2","parentId":"1","targetId":"1","label":"It Works"}"#,
        ]);
        let place = MatchPlace { field: MatchField::Label, entry: Some(0), at: 3..7 };
        assert_eq!(session.test("label:work"), TestResult::At(Some(place)));
        assert_eq!(session.test("label:broke"), TestResult::No);
    }
}
