//! The qualifiers of queries (`cost:>1`): their table, parsing and printing.

mod categories;
mod conditions;
mod path;
pub mod value;

use std::fmt;
use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::search::candidate::Condition;
use crate::search::qualifier::categories::{Category, CategoryRow, HAS, IS, ROLES};
pub(crate) use crate::search::qualifier::path::{file_test, is_in_dir};
use crate::search::qualifier::value::bound::{self, Bound};
use crate::search::qualifier::value::date::{self, DateRange, DateValue};
use crate::search::qualifier::value::{Needs, QueryScope, Text, ValueList};
use crate::secrets::Rules;
use crate::session::digest::Digest;
use crate::session::digest::commits::CommitPrefix;
use crate::session::stats::entry_stats::EntryRole;

/// A row of the table.
pub(crate) struct QualifierRow {
    /// The name before the colon.
    pub(crate) name: &'static str,
    /// An example with a value.
    pub(crate) example: &'static str,
    /// The rest of the sentence "Qualifiers select sessions …", in one line.
    pub(crate) help: &'static str,
    needs: Needs,
    value: ValueType,
}

/// Compiles a qualifier with a text.
type TextCondition = fn(&Text, &QueryScope) -> Condition;

/// Returns the known values, the most likely first.
type KnownTexts = fn(ValueList<'_>) -> &[String];

/// The type of the value of a qualifier, with what its condition depends on.
enum ValueType {
    /// Any text.
    Text(TextCondition, KnownTexts),
    /// A part of a name: a longer part selects fewer sessions.
    Name(TextCondition, KnownTexts),
    /// A row of a table.
    Category(&'static [CategoryRow]),
    /// A time, compared with that of the last activity.
    Date(fn(i64, i64) -> bool),
    /// A time span with entries.
    Range,
    /// A bound for a number of the digest.
    Bound(fn(&Digest) -> f64),
    /// The beginning of the hash of a commit.
    Commit,
}

const fn row(
    name: &'static str,
    example: &'static str,
    help: &'static str,
    needs: Needs,
    value: ValueType,
) -> QualifierRow {
    QualifierRow { name, example, help, needs, value }
}

/// All qualifiers in display order.
pub(crate) static TABLE: &[QualifierRow] = &[
    row(
        "in",
        "in:~/code/app",
        "in this directory or below, or in its worktrees; in:app matches by name, in:../x is relative",
        Needs::WORKTREES,
        ValueType::Text(path::in_directory, |values| values.dirs),
    ),
    row(
        "worktree",
        "worktree:fix-42",
        "in a git worktree with a matching name or branch",
        Needs::WORKTREES,
        ValueType::Name(conditions::worktree, |values| values.worktrees),
    ),
    row(
        "on",
        "on:box",
        "on this machine, also as a copy; on:here selects those of the local machine",
        Needs::NOTHING,
        ValueType::Text(conditions::on, |values| values.machines),
    ),
    row(
        "file",
        "file:index.ts",
        "that read, wrote or edited a matching file; src/ matches all files below it",
        Needs::NOTHING,
        ValueType::Text(path::file, |values| &values.lists.files),
    ),
    row(
        "edited",
        "edited:src/",
        "that wrote or edited a matching file",
        Needs::NOTHING,
        ValueType::Text(path::edited, |values| &values.lists.files),
    ),
    row(
        "label",
        "label:works",
        "with a matching label",
        Needs::NOTHING,
        ValueType::Name(conditions::label, |values| &values.lists.labels),
    ),
    row("commit", "commit:3798c17", "with a command that printed this commit", Needs::NOTHING, ValueType::Commit),
    row(
        "tag",
        "tag:release",
        "with a matching tag",
        Needs::MARKS,
        ValueType::Name(conditions::tag, |values| values.tags),
    ),
    row(
        "note",
        "note:flaky",
        "with a matching note, also on an entry",
        Needs::MARKS,
        ValueType::Name(conditions::note, |_| &[]),
    ),
    row(
        "role",
        "role:user",
        "with messages of this role, in which all words must be; from:me is role:user",
        Needs::NOTHING,
        ValueType::Category(ROLES),
    ),
    row("has", "has:note", "with a mark of this kind", Needs::NOTHING, ValueType::Category(HAS)),
    row(
        "model",
        "model:sonnet",
        "with an answer from a matching model",
        Needs::NOTHING,
        ValueType::Name(conditions::model, |values| &values.lists.models),
    ),
    row(
        "provider",
        "provider:anthropic",
        "with an answer from a matching provider",
        Needs::NOTHING,
        ValueType::Name(conditions::provider, |_| &[]),
    ),
    row(
        "tool",
        "tool:bash",
        "with a call to a matching tool",
        Needs::NOTHING,
        ValueType::Name(conditions::tool, |values| &values.lists.tools),
    ),
    row(
        "program",
        "program:cargo",
        "with a shell command that runs a matching program first",
        Needs::NOTHING,
        ValueType::Name(conditions::program, |_| &[]),
    ),
    row(
        "secret",
        "secret:github-token",
        "with a likely secret found by a matching rule",
        Needs::SECRETS,
        ValueType::Name(conditions::secret, |_| rule_names()),
    ),
    row(
        "is",
        "is:abandoned",
        "with this property; abandoned means some branches do not lead to the leaf",
        Needs::NOTHING,
        ValueType::Category(IS),
    ),
    row(
        "after",
        "after:2w",
        "last active at or after this time",
        Needs::NOTHING,
        ValueType::Date(|active, time| active >= time),
    ),
    row(
        "before",
        "before:2026-05",
        "last active before this time",
        Needs::NOTHING,
        ValueType::Date(|active, time| active < time),
    ),
    row("active", "active:2026-05", "with entries in this time", Needs::NOTHING, ValueType::Range),
    row("cost", "cost:>1", "by cost in US dollars", Needs::NOTHING, ValueType::Bound(|digest| digest.cost)),
    row("size", "size:>1M", "by file size in bytes", Needs::NOTHING, ValueType::Bound(|digest| digest.bytes as f64)),
    row(
        "entries",
        "entries:<=20",
        "by number of entries",
        Needs::NOTHING,
        ValueType::Bound(|digest| digest.entry_count as f64),
    ),
];

impl QualifierRow {
    /// Parses a non-empty value. Returns `None` for an incomplete value, and an error that lists valid values.
    pub(crate) fn read(&'static self, value: &str) -> Result<Option<Qualified>, String> {
        let value = match self.value {
            ValueType::Text(..) | ValueType::Name(..) => Some(Value::Text(Text(value.into()))),
            ValueType::Category(table) => Some(Value::Category(Category::read(self.name, table, value)?)),
            ValueType::Date(_) => Some(Value::Date(DateValue::read(value)?)),
            ValueType::Range => Some(Value::Range(DateRange::read(value)?)),
            ValueType::Bound(_) => Bound::read(value)?.map(Value::Bound),
            ValueType::Commit => CommitPrefix::read(value)?.map(Value::Commit),
        };
        Ok(value.map(|value| Qualified { row: self, value }))
    }

    /// Returns an example of each form of a value, or none if any text is valid.
    fn forms(&self) -> Vec<&'static str> {
        match self.value {
            ValueType::Text(..) | ValueType::Name(..) | ValueType::Commit => Vec::new(),
            ValueType::Category(table) => categories::names(table),
            ValueType::Date(_) => date::FORMS.to_vec(),
            ValueType::Range => date::RANGE_FORMS.to_vec(),
            ValueType::Bound(_) => bound::FORMS.to_vec(),
        }
    }

    /// Returns the values to suggest, the most likely first.
    pub(crate) fn choices<'a>(&self, values: ValueList<'a>) -> Vec<&'a str> {
        let known = match self.value {
            ValueType::Text(_, known) | ValueType::Name(_, known) => known(values),
            ValueType::Category(table) => return categories::names(table),
            ValueType::Date(_) | ValueType::Range => return date::SUGGESTED.to_vec(),
            ValueType::Bound(_) => &[],
            ValueType::Commit => &values.lists.commits,
        };
        known.iter().map(String::as_str).collect()
    }

    /// Describes a value that is not self-explanatory.
    pub(crate) fn means(&self, value: &str) -> &'static str {
        if let ValueType::Category(table) = self.value { categories::means(table, value) } else { "" }
    }
}

/// A qualifier with its value. Its display form parses to the same qualifier.
#[derive(Clone)]
pub(crate) struct Qualified {
    row: &'static QualifierRow,
    value: Value,
}

/// The value of a qualifier.
#[derive(Clone, PartialEq)]
enum Value {
    Text(Text),
    Category(Category),
    Date(DateValue),
    Range(DateRange),
    Bound(Bound),
    Commit(CommitPrefix),
}

impl PartialEq for Qualified {
    fn eq(&self, other: &Self) -> bool {
        self.row.name == other.row.name && self.value == other.value
    }
}

impl fmt::Debug for Qualified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Qualified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.row.name)?;
        match &self.value {
            Value::Text(text) => text.fmt(f),
            Value::Category(category) => category.fmt(f),
            Value::Date(date) => date.fmt(f),
            Value::Range(range) => range.fmt(f),
            Value::Bound(bound) => bound.fmt(f),
            Value::Commit(commit) => commit.fmt(f),
        }
    }
}

impl Qualified {
    /// Compiles the qualifier.
    pub(crate) fn condition(&self, scope: &QueryScope) -> Condition {
        match (&self.row.value, &self.value) {
            (ValueType::Text(condition, _) | ValueType::Name(condition, _), Value::Text(text)) => {
                condition(text, scope)
            }
            (_, Value::Category(category)) => category.condition(scope),
            (&ValueType::Date(holds), Value::Date(date)) => {
                let time = date.ms(scope);
                Condition::of_session(move |session| session.digest.modified.is_some_and(|active| holds(active, time)))
            }
            (_, Value::Range(range)) => {
                let (from, end) = range.ms(scope);
                conditions::counted(move |_, entry| entry.time.is_some_and(|time| (from..end).contains(&time)))
            }
            (&ValueType::Bound(number), &Value::Bound(bound)) => {
                Condition::of_session(move |session| bound.holds(number(session.digest)))
            }
            (_, Value::Commit(commit)) => conditions::commit(Some(commit.clone())),
            // A row reads only values of its type.
            (_, Value::Text(_) | Value::Date(_) | Value::Bound(_)) => Condition::of_session(|_| false),
        }
    }

    /// Returns `true` if the qualifier has one of these needs.
    pub(crate) fn needs(&self, needs: Needs) -> bool {
        let of_category = matches!(self.value, Value::Category(category) if category.needs().meets(needs));
        of_category || self.row.needs.meets(needs)
    }

    /// Returns the role of entries, if the qualifier selects one.
    pub(crate) fn role(&self) -> Option<EntryRole> {
        if let Value::Category(category) = self.value { category.role() } else { None }
    }

    /// Returns `true` if every session that matches this qualifier also matches `wide`.
    pub(crate) fn implies(&self, wide: &Self) -> bool {
        let is_name =
            self.row.name == wide.row.name && matches!(self.row.value, ValueType::Name(..) | ValueType::Commit);
        match (&self.value, &wide.value) {
            (Value::Text(narrow), Value::Text(wide)) if is_name => narrow.has_piece(wide),
            (Value::Commit(narrow), Value::Commit(wide)) if is_name => narrow.extends(wide),
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

/// Returns the qualifier with this name; `from` is another name of `role`.
pub(crate) fn named(name: &str) -> Option<&'static QualifierRow> {
    let name = if name == "from" { "role" } else { name };
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
pub(crate) mod test_sample;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::search::candidate::{EntryScope, MatchField, MatchPlace, TestResult};
    use crate::search::qualifier::test_sample::{Sample, query_scope};
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
        session.digest.modified = Some(query_scope().now_ms - 14 * 86_400_000);
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
            let scope = QueryScope { last_seen: Arc::new(seen.clone()), ..query_scope() };
            let test = named("is").unwrap().read("unread").unwrap().unwrap().condition(&scope).test;
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
        let scope = QueryScope { worktrees: Arc::new(worktrees), ..query_scope() };
        let holds = |query: &str| {
            let (name, value) = query.split_once(':').unwrap();
            let test = named(name).unwrap().read(value).unwrap().unwrap().condition(&scope).test;
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
        let scope = |text: &str| match named("active")
            .unwrap()
            .read(text)
            .unwrap()
            .unwrap()
            .condition(&query_scope())
            .entries
        {
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
