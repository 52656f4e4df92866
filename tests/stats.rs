//! Statistics: the rows of every grouping add up to the totals of the sessions, whatever the files contain.

use std::fs;
use std::path::Path;

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use pitree::catalog::Catalog;
use pitree::catalog::stats::request::{GroupKey, StatsRow, TableRequest};
use pitree::catalog::stats::sessions::StatsSessions;
use pitree::catalog::stats::table::StatsTable;
use pitree::disk::scan::ScanSources;
use pitree::session::stats::grouping::{Calendar, Grouping};
use pitree::session::stats::prices::{ModelPrices, Prices};
use pitree::session::stats::{StatsRules, StatsSum};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::common::effort;
use crate::common::session::Session;

fn rules() -> StatsRules {
    let calendar = Calendar { zone: TimeZone::UTC, week_start: Weekday::Monday };
    StatsRules { calendar, prices: Prices::default(), pause: 300_000 }
}

fn read(dir: &Path, cache: Option<&Path>) -> Catalog {
    let dirs = [dir.to_path_buf()];
    Catalog::read(ScanSources { dirs: &dirs, home: "/home/me", cache: cache.map(Into::into) }, 0)
}

fn sums(catalog: &Catalog, groupings: &[Grouping]) -> StatsTable {
    table(catalog, &TableRequest::by(groupings))
}

fn table(catalog: &Catalog, request: &TableRequest) -> StatsTable {
    StatsTable::new(&StatsSessions::new(catalog, |_| true), &rules(), request)
}

/// Returns the rows in a fixed order, with the names of their keys.
fn named(catalog: &Catalog, groupings: &[Grouping], rows: Vec<StatsRow>) -> Vec<(Vec<Option<String>>, StatsSum)> {
    let sessions = StatsSessions::new(catalog, |_| true);
    let name = |(key, grouping): (&GroupKey, &Grouping)| key.name(*grouping, &sessions).key;
    let mut rows: Vec<_> =
        rows.into_iter().map(|(keys, sum)| (keys.iter().zip(groupings).map(name).collect::<Vec<_>>(), sum)).collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    rows
}

/// Returns the sum of the row with a key.
fn row(catalog: &Catalog, (grouping, table): (Grouping, &StatsTable), key: Option<&str>) -> StatsSum {
    let rows = named(catalog, &[grouping], table.rows.clone());
    let found = rows.iter().filter(|(keys, _)| keys[0].as_deref() == key);
    let found: Vec<_> = found.collect();
    assert_eq!(found.len(), 1, "{key:?} in {:?}", table.rows);
    found[0].1.clone()
}

/// An entry with odd values: its kind, its parent among the entries before, its time, and its numbers.
type Odd = (u8, Index, Option<String>, [f64; 3], bool);

fn odd() -> impl Strategy<Value = Odd> {
    let time = prop_oneof![
        4 => (0i64..5_000).prop_map(|second| Some(format!("{:.3}", jiff::Timestamp::from_second(1_767_600_000 + second).unwrap()))),
        1 => Just(Some("1970-01-01T00:00:00.000Z".into())),
        1 => Just(Some("9999-12-31T23:59:59.999Z".into())),
        1 => Just(Some("when".into())),
        1 => Just(None),
    ];
    let number = prop_oneof![
        4 => (0u32..1000).prop_map(f64::from),
        1 => Just(-3.5),
        1 => Just(1e300),
        1 => Just(0.0001),
    ];
    (0u8..9, any::<Index>(), time, [number.clone(), number.clone(), number], any::<bool>())
}

fn line(number: usize, id: &str, parent: Option<&str>, (kind, _, time, [input, output, cost], flag): &Odd) -> Value {
    let mut usage = json!({"input": input, "output": output, "cacheRead": 1, "cacheWrite": 0, "cost": {"total": cost}});
    if *flag {
        usage = json!({"input": "much", "cost": null, "totalTokens": input});
    }
    let message = |message: Value| json!({"type": "message", "message": message});
    let mut entry = match kind {
        0 | 1 => message(json!({"role": "user", "content": format!("prompt {number}")})),
        2 => message(json!({"role": "assistant", "content": [], "provider": "p", "model": "m", "usage": usage})),
        3 => message(
            json!({"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "bash"}], "model": "n", "usage": usage}),
        ),
        4 => message(
            json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "isError": flag, "content": [], "usage": usage}),
        ),
        5 => json!({"type": "compaction", "summary": "s", "usage": usage}),
        7 => message(json!({"role": "bashExecution", "command": "git commit -m x", "exitCode": 0,
            "output": format!("[main {number:07x}] x")})),
        6 => json!({"type": "usage", "provider": "p", "model": "m", "usage": usage}),
        _ => json!({"type": "label", "targetId": parent, "label": "l"}),
    };
    entry["id"] = id.into();
    entry["parentId"] = parent.into();
    if let Some(time) = time {
        entry["timestamp"] = time.clone().into();
    }
    entry
}

/// Writes a session; each fork of it starts with some of its lines. Some IDs occur twice.
fn family(dir: &Path, name: usize, entries: &[Odd], forks: &[(Index, Vec<Odd>)]) {
    let write = |name: &str, lines: &[String]| {
        let head = Session::new(name).text().lines().next().unwrap().to_string();
        fs::write(dir.join(format!("{name}.jsonl")), format!("{head}\n{}\n", lines.join("\n"))).unwrap();
    };
    let add = |lines: &mut Vec<String>, ids: &mut Vec<String>, entries: &[Odd], mark: &str| {
        for (number, odd) in entries.iter().enumerate() {
            let parent = if ids.is_empty() {
                None
            } else {
                Some(ids[ids.len() - 1 - odd.1.index(ids.len()).min(3).min(ids.len() - 1)].clone())
            };
            let id = if odd.0 == 1 && number > 2 { ids[0].clone() } else { format!("{name}{mark}{number}") };
            lines.push(line(number, &id, parent.as_deref(), odd).to_string());
            ids.push(id);
        }
    };
    let (mut lines, mut ids) = (Vec::new(), Vec::new());
    add(&mut lines, &mut ids, entries, "");
    write(&format!("s{name}"), &lines);
    for (number, (from, more)) in forks.iter().enumerate() {
        let from = from.index(lines.len() + 1);
        let (mut lines, mut ids) = (lines[..from].to_vec(), ids[..from].to_vec());
        add(&mut lines, &mut ids, more, &format!("f{number}"));
        write(&format!("s{name}f{number}"), &lines);
    }
}

#[test]
fn the_rows_of_every_grouping_add_up_to_the_costs_of_the_sessions() {
    let entries = |most| proptest::collection::vec(odd(), 1..most);
    let forks = proptest::collection::vec((any::<Index>(), entries(6)), 0..3);
    let families = proptest::collection::vec((entries(20), forks), 1..4);
    let groupings = proptest::collection::vec(proptest::sample::select(Grouping::ALL), 1..=2);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: effort::rounds(64, 1000),
        ..Default::default()
    });
    runner
        .run(&(families, groupings), |(families, groupings)| {
            let dir = tempfile::tempdir().unwrap();
            for (name, (entries, forks)) in families.iter().enumerate() {
                family(dir.path(), name, entries, forks);
            }
            let catalog = read(dir.path(), None);
            let is_near = |one: f64, other: f64| (one - other).abs() <= 1e-9 * one.abs().max(1e-9) || one == other;
            let own: Vec<_> = catalog.keys().map(|key| catalog.own(key)).collect();
            let cost = own.iter().map(|own| own.cost).sum::<f64>();
            let limited = TableRequest { limit: Some(2), ..TableRequest::by(&groupings) };
            let [table, limited] = <[StatsTable; 2]>::try_from(StatsTable::all(
                &StatsSessions::new(&catalog, |_| true),
                &rules(),
                &[TableRequest::by(&groupings), limited],
            ))
            .unwrap();
            // The sums of intervals, which are used for most groupings, equal those of the entries.
            let pause = StatsRules { pause: 300_001, ..rules() };
            let by_entry =
                StatsTable::new(&StatsSessions::new(&catalog, |_| true), &pause, &TableRequest::by(&groupings));
            for ((keys, one), (other_keys, other)) in table.rows.iter().zip(&by_entry.rows) {
                let is_equal = (keys, one.entries, one.prompts, one.tool_calls, one.session_count())
                    == (other_keys, other.entries, other.prompts, other.tool_calls, other.session_count());
                prop_assert!(is_equal || one.cost == other.cost, "{:?} {:?}", one, other);
                prop_assert!(is_near(one.cost, other.cost) && is_near(one.abandoned_cost, other.abandoned_cost));
            }
            prop_assert_eq!(table.rows.len(), by_entry.rows.len());
            let rest = table.rows.len().saturating_sub(2);
            prop_assert_eq!((limited.other.0, &limited.rows[..]), (rest, &table.rows[..table.rows.len() - rest]));
            let mut sum = StatsSum::default();
            table.rows.iter().for_each(|(_, row)| sum += row);
            prop_assert!(is_near(table.total.cost, cost), "{} and {cost}", table.total.cost);
            prop_assert!(is_near(sum.cost, cost), "{} and {cost}", sum.cost);
            let entries = own.iter().map(|own| own.entries).sum::<usize>();
            prop_assert_eq!((sum.entries, table.total.entries), (entries, entries));
            prop_assert_eq!(sum.prompts, table.total.prompts);
            prop_assert_eq!(sum.working_time, table.total.working_time);
            let rows = named(&catalog, &groupings, table.rows);
            let mut keys: Vec<_> = rows.iter().map(|(keys, _)| keys).collect();
            keys.dedup();
            // IDs can occur twice in a file.
            let is_of_entries = groupings
                .iter()
                .any(|grouping| matches!(grouping, Grouping::Prompt | Grouping::Branch | Grouping::Commit));
            prop_assert!(keys.len() == rows.len() || is_of_entries);
            // The index gives the same sums.
            let cache = dir.path().join("cache");
            read(dir.path(), Some(&cache));
            let indexed = read(dir.path(), Some(&cache));
            let indexed = named(&indexed, &groupings, sums(&indexed, &groupings).rows);
            prop_assert_eq!(rows.len(), indexed.len());
            for ((keys, row), (other_keys, other)) in rows.iter().zip(&indexed) {
                prop_assert_eq!(keys, other_keys);
                prop_assert!(is_of_entries || (is_near(row.cost, other.cost) && row.entries == other.entries));
            }
            Ok(())
        })
        .unwrap();
}

/// Writes a session with two branches and a fork, and returns its directory.
fn example() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = json!({"path": "a.rs", "content": "one\ntwo\nthree\n"});
    let main = Session::new("main")
        .cwd("/work/app")
        .user("u1", "Write it")
        .costing(1.0)
        .call("a1", "write", &write)
        .result("r1", "a1", "write", "done")
        .costing(0.5)
        .assistant("a2", "It is done.")
        .under("u1")
        .costing(4.0)
        .assistant("b1", "Another way")
        .user("u2", "Go on")
        .costing(2.0)
        .assistant("a3", "It went on.");
    fs::write(dir.path().join("main.jsonl"), main.text()).unwrap();
    // The fork keeps the branch that the session left.
    let lines: Vec<String> = main.lines().lines().map(String::from).collect();
    let fork = Session::new("fork").cwd("/work/app").parent(&dir.path().join("main.jsonl")).at(5000).text();
    let kept = lines
        .iter()
        .filter(|line| ["\"u1\"", "\"a1\"", "\"r1\""].iter().any(|id| line.contains(&format!("\"id\":{id}"))));
    let more = json!({"type": "message", "id": "f1", "parentId": "r1", "timestamp": "2026-01-06T00:00:00.000Z",
        "message": {"role": "assistant", "content": [], "provider": "p", "model": "other", "usage": {"input": 5, "output": 7, "cacheRead": 15, "cacheWrite": 0, "cost": {"total": 8.0}}}});
    let text = format!("{}\n{}\n{more}\n", fork.lines().next().unwrap(), kept.cloned().collect::<Vec<_>>().join("\n"));
    fs::write(dir.path().join("fork.jsonl"), text).unwrap();
    dir
}

#[test]
fn each_entry_belongs_to_the_row_of_its_origin() {
    let dir = example();
    let catalog = read(dir.path(), None);
    let cost =
        |grouping: Grouping, key: Option<&str>| row(&catalog, (grouping, &sums(&catalog, &[grouping])), key).cost;
    assert_eq!(sums(&catalog, &[]).total.cost, 15.5);
    // Shared entries belong to the session in which they were made.
    assert_eq!([cost(Grouping::Session, Some("main")), cost(Grouping::Session, Some("fork"))], [7.5, 8.0]);
    assert_eq!(cost(Grouping::Family, Some("main")), 15.5);
    assert_eq!(cost(Grouping::Project, Some("/work/app")), 15.5);
    // The common entries belong to the branch of the last entry.
    assert_eq!([cost(Grouping::Branch, Some("main@a3")), cost(Grouping::Branch, Some("main@a2"))], [6.0, 1.5]);
    assert_eq!([cost(Grouping::Prompt, Some("main@u1")), cost(Grouping::Prompt, Some("main@u2"))], [5.5, 2.0]);
    assert_eq!(cost(Grouping::Tool, Some("write")), 1.0);
    assert_eq!(cost(Grouping::Model, Some("other")), 8.0);
    let total = sums(&catalog, &[]).total;
    assert_eq!((total.lines_added, total.tool_calls, total.tool_failures, total.prompts), (3, 1, 0, 2));
    // The fork continues the other branch, without its last answer.
    assert_eq!(total.abandoned_cost, 0.5);
    assert_eq!(
        (
            total.session_count(),
            row(&catalog, (Grouping::Session, &sums(&catalog, &[Grouping::Session])), Some("fork")).cache_hit_rate()
        ),
        (2, Some(0.75))
    );
}

#[test]
fn a_session_of_version_1_counts_once_beside_its_migrated_copy() {
    let dir = tempfile::tempdir().unwrap();
    let session = Session::new("s").user("u1", "Write it").costing(1.0).assistant("a1", "It is done.");
    let old = session.clone().version(1).text().replace("\"id\":\"u1\",", "").replace("\"id\":\"a1\",", "");
    fs::write(dir.path().join("old.jsonl"), old).unwrap();
    assert_eq!(sums(&read(dir.path(), None), &[]).total.cost, 1.0);
    fs::write(dir.path().join("migrated.jsonl"), session.text()).unwrap();
    let catalog = read(dir.path(), None);
    assert_eq!(sums(&catalog, &[]).total.cost, 1.0);
    let row = row(&catalog, (Grouping::Session, &sums(&catalog, &[Grouping::Session])), Some("s"));
    assert_eq!((row.session_count(), row.prompts), (1, 1));
}

/// Adds a command that printed a commit.
fn commit(session: Session, id: &str, sha: &str) -> Session {
    session.tool(id, "bash", &json!({"command": "git commit -m x"}), &format!("[main {sha}] x"))
}

#[test]
fn work_belongs_to_the_next_commit_on_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let main = Session::new("main").user("u1", "Start").costing(1.0).assistant("a1", "Shared").assistant("a2", "More");
    let path = dir.path().join("main.jsonl");
    fs::write(&path, main.text()).unwrap();
    // A fork commits what its parent did not, twice, then goes on; another branch commits nothing.
    let fork = commit(main.forked("fork", &path, 100).costing(2.0).assistant("a3", "Fork"), "c1", "1a2b3c4");
    let fork = commit(fork.user("u2", "Again").costing(4.0).assistant("a4", "Again"), "c2", "1a2b3c5");
    let fork = fork.costing(8.0).assistant("a5", "After").under("a1").costing(16.0).assistant("b1", "Other");
    // A later fork of the fork has the same commits.
    let second = fork.clone().forked("second", &dir.path().join("fork.jsonl"), 200).under("c2r").costing(32.0);
    let second = commit(second.assistant("a6", "Second"), "c3", "1a2b3c6");
    fs::write(dir.path().join("fork.jsonl"), fork.text()).unwrap();
    fs::write(dir.path().join("second.jsonl"), second.text()).unwrap();
    let catalog = read(dir.path(), None);
    let sums = sums(&catalog, &[Grouping::Commit]);
    let row = |key: Option<&str>| {
        let sum = row(&catalog, (Grouping::Commit, &sums), key);
        (sum.cost, sum.prompts)
    };
    // The calls that commit cost as much as the answers before them.
    assert_eq!(row(Some("1a2b3c4")), (1.0 + 1.0 + 2.0 + 2.0, 1), "work of the parent included");
    assert_eq!(row(Some("1a2b3c5")), (4.0 + 4.0, 1));
    assert_eq!(row(Some("1a2b3c6")), (32.0 + 32.0, 0));
    assert_eq!(row(None), (8.0 + 16.0, 0));
    assert_eq!(sums.total.cost, 6.0 + 8.0 + 64.0 + 24.0);
}

/// Writes a session with an answer for each model that answered, requested model and usage.
fn answered(answers: &[(&str, &str, Value)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut text = Session::new("models").cwd("/work/app").user("u1", "Go on").text();
    for (number, (answered, requested, usage)) in answers.iter().enumerate() {
        let message = json!({"role": "assistant", "content": [], "provider": "p", "model": requested,
            "responseModel": Some(answered).filter(|answered| *answered != requested), "usage": usage});
        let entry = json!({"type": "message", "id": format!("a{number}"), "parentId": "u1", "message": message});
        text += &format!("{entry}\n");
    }
    fs::write(dir.path().join("models.jsonl"), text).unwrap();
    dir
}

#[test]
fn the_size_of_a_request_and_the_model_that_answered_decide_its_price() {
    let mut priced = rules();
    let models = priced.prices.providers.entry("p".into()).or_default();
    let tiers = vec![(2000.0, [100.0, 200.0, 50.0, 300.0]), (1000.0, [10.0, 20.0, 5.0, 30.0])];
    models.insert("big".into(), ModelPrices { rates: [1.0, 2.0, 0.5, 3.0], tiers });
    models.insert("flat".into(), ModelPrices { rates: [1.0, 1.0, 1.0, 4.0], tiers: Vec::new() });
    let usage = |input: u32, read: u32, write: u32, long: u32| json!({"input": input, "output": 10, "cacheRead": read, "cacheWrite": write, "cacheWrite1h": long});
    // The sum of the first two requests is above both tiers.
    let small = [("big", "auto", usage(400, 600, 0, 0)), ("big", "big", usage(1000, 0, 0, 0))];
    let first = 400.0 + 10.0 * 2.0 + 600.0 * 0.5 + 1000.0 + 10.0 * 2.0;
    let large = [("big", "auto", usage(500, 500, 1, 0)), ("big", "big", usage(1, 0, 2000, 0))];
    let second = 5000.0 + 10.0 * 20.0 + 2500.0 + 30.0 + 100.0 + 10.0 * 200.0 + 2000.0 * 300.0;
    let [small, large]: [Vec<_>; 2] = [small.to_vec(), [small, large].concat()];
    for (answers, listed) in [(small, first), (large, first + second)] {
        let dir = answered(&answers);
        let catalog = read(dir.path(), None);
        let sessions = StatsSessions::new(&catalog, |_| true);
        // Sums of the session are kept for the first groupings, but not for tools.
        for grouping in [Grouping::Model, Grouping::Provider, Grouping::Tool] {
            let table = StatsTable::new(&sessions, &priced, &TableRequest::by(&[grouping]));
            let sum = table.total;
            assert!((sum.listed_cost - listed / 1e6).abs() < 1e-12, "{grouping:?}: {} {listed}", sum.listed_cost);
            assert_eq!(sum.unpriced_tokens, 0.0);
        }
        let table = StatsTable::new(&sessions, &priced, &TableRequest::by(&[Grouping::Model]));
        let sum = row(&catalog, (Grouping::Model, &table), Some("big"));
        assert_eq!((sum.entries, sum.prompts), (answers.len() + 1, 1), "a prompt belongs to the model that answered");
    }
    // A written cache of one hour costs twice the input. A reported name without a price is that of the requested model.
    let dir = answered(&[("flat-2026", "flat", usage(1, 0, 100, 40)), ("flat-2026", "unknown", usage(5, 0, 0, 0))]);
    let catalog = read(dir.path(), None);
    let sessions = StatsSessions::new(&catalog, |_| true);
    for grouping in [Grouping::Model, Grouping::Tool] {
        let total = StatsTable::new(&sessions, &priced, &TableRequest::by(&[grouping])).total;
        let listed = 1.0 + 10.0 + 60.0 * 4.0 + 40.0 * 2.0;
        assert!((total.listed_cost - listed / 1e6).abs() < 1e-12, "{grouping:?}: {}", total.listed_cost);
        assert_eq!(total.unpriced_tokens, 15.0);
    }
}

#[test]
fn times_and_prices_decide_what_is_counted() {
    let dir = example();
    let catalog = read(dir.path(), None);
    let day = |day: &str| format!("{day}T00:00:00Z").parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let sixth = TableRequest { since: Some(day("2026-01-06")), ..TableRequest::by(&[Grouping::Day]) };
    let sixth = table(&catalog, &sixth);
    assert_eq!((sixth.total.cost, row(&catalog, (Grouping::Day, &sixth), Some("2026-01-06")).cost), (8.0, 8.0));
    let until = TableRequest { until: Some(day("2026-01-06")), ..TableRequest::by(&[]) };
    assert_eq!(table(&catalog, &until).total.cost, 7.5);
    let mut priced = rules();
    let prices = ModelPrices { rates: [1.0, 2.0, 0.5, 0.0], tiers: Vec::new() };
    priced.prices.providers.entry("p".into()).or_default().insert("other".into(), prices);
    let sessions = StatsSessions::new(&catalog, |_| true);
    let models = StatsTable::new(&sessions, &priced, &TableRequest::by(&[Grouping::Model]));
    let other = row(&catalog, (Grouping::Model, &models), Some("other"));
    assert!((other.listed_cost - 26.5e-6).abs() < 1e-12 && other.unpriced_tokens == 0.0);
    // Sessions that are not wanted keep what they share.
    let fork = catalog.keys().find(|key| catalog.get(*key).unwrap().facts().id() == "fork").unwrap();
    let sessions = StatsSessions::new(&catalog, |key| key == fork);
    assert_eq!(StatsTable::new(&sessions, &rules(), &TableRequest::by(&[])).total.cost, 8.0);
}
