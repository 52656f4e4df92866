//! `pitree stats`: output, sums and the budget.

use std::fs;

use serde_json::Value;

use crate::command_line::pitree::{Pitree, samples};
use crate::common::session::{START, Session};

fn number(object: &Value, field: &str) -> f64 {
    object[field].as_f64().unwrap_or_else(|| panic!("{field} of {object}"))
}

#[test]
fn the_rows_of_each_grouping_add_up_to_the_own_costs_of_ls() {
    let pitree = Pitree::new();
    let ls = pitree.objects(&["ls", "--json", "--subagents", "--dir", samples()]);
    let own: f64 = ls.iter().map(|session| number(session, "ownCost")).sum();
    let entries: f64 = ls.iter().map(|session| number(session, "ownEntries")).sum();
    assert!(own > 20.0 && entries > 1000.0);
    let groupings = [
        "day", "week", "month", "hour", "model", "provider", "project", "family", "session", "branch", "tool", "prompt",
    ];
    let crosses = [("project", "model"), ("model", "hour"), ("tool", "prompt")];
    let runs = groupings.map(|by| vec!["--by", by]).into_iter();
    for by in runs.chain(crosses.map(|(one, other)| vec!["--by", one, "--by", other])) {
        for limit in [&[][..], &["--limit", "3"]] {
            let args = [&["stats", "--json", "--dir", samples()], &by[..], limit].concat();
            let mut rows = pitree.objects(&args);
            let total = rows.pop().unwrap();
            assert_eq!(total["type"], "total");
            assert!(rows.iter().all(|row| row["type"] == "row"), "{by:?}");
            for (field, expected) in [("cost", own), ("entries", entries), ("share", 1.0)] {
                let sum: f64 = rows.iter().map(|row| number(row, field)).sum();
                for sum in [sum, number(&total, field)] {
                    assert!((sum - expected).abs() <= 1e-9 * expected, "{by:?} {field}: {sum}, not {expected}");
                }
            }
            for field in ["prompts", "toolCalls", "output", "abandonedCost"] {
                let sum: f64 = rows.iter().map(|row| number(row, field)).sum();
                assert!((sum - number(&total, field)).abs() < 1e-6, "{by:?} {field}");
            }
            if !limit.is_empty() && rows.len() > 3 {
                let other = rows.last().unwrap();
                assert_eq!((rows.len(), other["title"].is_string()), (4, true));
                assert!(number(other, "sessions") <= number(&total, "sessions"));
            }
        }
    }
}

#[test]
fn sessions_queries_and_subagents_narrow_the_sum() {
    let pitree = Pitree::new();
    let sessions = |args: &[&str]| {
        let args = [&["stats", "--json", "--by", "session", "--dir", samples()], args].concat();
        let mut rows = pitree.objects(&args);
        number(&rows.pop().unwrap(), "sessions")
    };
    let all = sessions(&[]);
    assert_eq!(sessions(&["--subagents", "without"]) + sessions(&["--subagents", "only"]), all);
    assert_eq!(sessions(&["01a1ceea"]), 1.0);
    let found = sessions(&["is:abandoned"]);
    assert!(found > 0.0 && found < all);
    assert!(sessions(&["--project", "/home/demo/code/webshop"]) < all);
    assert_eq!(sessions(&["--until", "2000"]), 0.0);
    let outcome = pitree.run(&["stats", "--dir", samples(), "--by", "day", "--by", "model", "--by", "tool"]);
    assert_eq!((outcome.code, &*outcome.err), (2, "pitree: too many groupings: use --by once or twice\n"));
    assert!(pitree.refuse(&["stats", "--by", "year"]).contains("use one of project, model"));
}

#[test]
fn tables_and_comma_separated_values_have_a_header() {
    let pitree = Pitree::new();
    let print = |args: &[&str]| {
        let outcome = pitree.run(&[&["stats", "--dir", samples()], args].concat());
        assert_eq!(outcome.code, 0, "{}", outcome.err);
        assert!(
            outcome.err.starts_with("the listed cost omits ") && outcome.err.contains("k of ollama/qwen3-coder:30b")
        );
        outcome.out
    };
    let table = print(&["--by", "model"]);
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[0].ends_with(" model") && lines[1].ends_with("█  claude-opus-4-5"), "{table}");
    assert!(lines.last().unwrap().ends_with(" total"), "{table}");
    let long = "/home/me/a long directory name/with many/levels/of/folders/app";
    pitree.write_session(&Session::new("long").cwd(long).user("a", "Hello").assistant("b", "Yes"));
    let projects = pitree.print(&["stats", "--by", "project", "--by", "model"]);
    assert!(projects.contains("  …ry name/with many/levels/of/folders/app  "), "{projects}");
    let prompts = print(&["--by", "prompt", "--limit", "2"]);
    assert!(prompts.lines().rev().nth(1).unwrap().contains("other ("), "{prompts}");
    assert!(print(&["--ascii", "--by", "model"]).is_ascii());
    let csv = pitree.print(&["stats", "--dir", samples(), "--by", "project", "--by", "model", "--csv"]);
    let fields = csv.lines().next().unwrap().split(',').count();
    assert!(csv.starts_with("project,model,sessions,prompts,"), "{csv}");
    assert!(csv.lines().all(|line| line.split(',').count() == fields), "{csv}");
}

#[test]
fn the_check_compares_this_month_with_the_budget() {
    let pitree = Pitree::new();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let session = |id: &str, at: u64| Session::new(id).at(at as i64 - crate::common::session::START);
    pitree.write_session(&session("new", now).costing(7.0).user("a", "Hello").assistant("b", "Yes"));
    pitree.write_session(&session("old", now - 40 * 24 * 3600).costing(100.0).user("c", "Hi").assistant("d", "Yes"));
    let check = |budget: &str| {
        let config = pitree.home().join("c.toml");
        fs::write(&config, budget).unwrap();
        pitree.run(&["stats", "--check", "--config", config.to_str().unwrap()])
    };
    let over = check("stats.budget.month = 6.5");
    assert_eq!((over.code, &*over.out), (3, "$7.00 of $6.50 this month\n"));
    assert_eq!(check("stats.budget.month = 7").code, 0);
    let none = check("");
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no budget is set"), "{}", none.err);
}

#[test]
fn times_are_in_the_time_zone_of_the_user() {
    // 2026-11-01T03:30Z, one hour before the next day in New York, and two hours before its clocks go back.
    let texts = |session: Session| session.user("u1", "x").assistant("a1", "x");
    let session = texts(Session::new("s-one").at(1_793_503_800 - START));
    for (zone, hour, day) in [
        ("UTC", "03", "2026-11-01"),
        ("America/New_York", "23", "2026-10-31"),
        (":America/New_York", "23", "2026-10-31"),
        ("EST5EDT,M3.2.0,M11.1.0", "23", "2026-10-31"),
        ("Asia/Kolkata", "09", "2026-11-01"),
        ("<+0330>-3:30", "07", "2026-11-01"),
        ("", "03", "2026-11-01"),
    ] {
        let pitree = Pitree::new().variable("TZ", zone);
        pitree.write_session(&session);
        for (by, key) in [("hour", hour), ("day", day), ("month", &day[..7])] {
            let rows = pitree.objects(&["stats", "--json", "--by", by]);
            assert_eq!(rows[0][by], key, "{zone}: {}", rows[0]);
        }
        let outcome = pitree.run(&["ls", &format!("active:{day}")]);
        assert_eq!((outcome.out.lines().count(), outcome.err.as_str()), (1, ""), "{zone}");
    }
    let pitree = Pitree::new().variable("TZ", "Nowhere/At_All");
    pitree.write_session(&session);
    let outcome = pitree.run(&["stats", "--by", "hour"]);
    assert!(outcome.out.contains(" 03"), "{}", outcome.out);
    assert_eq!(outcome.err, "unknown time zone TZ=Nowhere/At_All; times are in UTC\n");
}
