//! The screen of statistics.

use std::fs;

use pitree::app::layers::Layer;
use pitree::app::layers::stats::StatsView;
use pitree::app::message::{Effect, Msg, Work};
use pitree::config::Config;
use pitree::keymap::KeyContext;
use pitree::session::stats::StatsSum;
use pitree::session::stats::columns::StatsColumn;
use pitree::session::stats::grouping::Grouping;
use pitree::session::stats::period::PeriodLength;

use super::harness::{Browser, shows};
use crate::common::session::Session;

snapshot!(statistics_wide, (160, 48), "g c");
snapshot!(statistics_80, (80, 24), "g c");
snapshot!(statistics_smallest, (40, 10), "g c > >");
snapshot!(statistics_by_day, (100, 40), "g c tab tab tab c");

fn view(browser: &Browser) -> &StatsView {
    match browser.model.layers.top() {
        Some(Layer::Stats(view)) => view,
        other => panic!("{other:?}\n{}", browser.screen()),
    }
}

fn total(browser: &Browser) -> StatsSum {
    view(browser).totals.as_ref().unwrap().total.clone()
}

fn costs(browser: &Browser) -> f64 {
    view(browser).rows().iter().map(|row| row.sum.cost).sum()
}

#[test]
fn the_rows_of_each_grouping_add_up_to_the_total() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g c > >");
    assert_eq!(view(&browser).period.length, PeriodLength::All);
    let total = total(&browser);
    assert!(total.cost > 1.0 && (total.cost - browser.model.sessions.totals.cost).abs() < 1e-9);
    let first = view(&browser).grouping;
    let mut seen = 0;
    loop {
        assert!((costs(&browser) - total.cost).abs() < 1e-9, "{}", view(&browser).grouping.name());
        seen += 1;
        browser.press("tab");
        if view(&browser).grouping == first {
            break;
        }
    }
    assert_eq!(seen, Grouping::ALL.len());
}

#[test]
fn periods_are_parts_of_longer_ones() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g c");
    assert_eq!(view(&browser).period.length, PeriodLength::Month);
    let month = total(&browser).cost;
    browser.press(">");
    assert!(total(&browser).cost >= month);
    browser.press("< <");
    let week = total(&browser).cost;
    assert!(week < month && (costs(&browser) - week).abs() < 1e-9);
    browser.press("h");
    let before = total(&browser);
    assert!((costs(&browser) - before.cost).abs() < 1e-9);
    browser.press("l l l");
    assert_eq!(total(&browser).cost, week, "no period begins after today");
    let compared = view(&browser).totals.as_ref().unwrap().before.unwrap().0;
    assert!(0.0 < compared && compared < before.cost, "today is not the last day of the week");
}

#[test]
fn a_row_opens_its_sessions_and_going_back_returns() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g c > > tab tab enter");
    shows(&browser, "tool:bash");
    assert!(
        browser.model.layers.0.is_empty() && browser.model.sessions.hits.as_ref().is_some_and(|hits| hits.len() > 3)
    );
    browser.press("esc");
    assert_eq!((view(&browser).grouping, view(&browser).period.length), (Grouping::Tool, PeriodLength::All));
    assert!(browser.model.search.is_none());
    // A prompt opens its session at the entry.
    while view(&browser).grouping != Grouping::Prompt {
        browser.press("tab");
    }
    let words = view(&browser).rows()[0].names[0].title.clone().unwrap();
    browser.press("enter");
    assert_eq!(browser.model.focus, KeyContext::Tree);
    assert!(browser.selected().contains(words.split_whitespace().next().unwrap()), "{}", browser.selected());
    browser.press("esc");
    assert_eq!((browser.model.focus, browser.model.layers.0.is_empty()), (KeyContext::Sessions, true));
    browser.press("esc");
    assert_eq!(view(&browser).grouping, Grouping::Prompt);
    browser.press("esc");
    assert!(browser.model.layers.0.is_empty());
    browser.press("esc");
    assert!(browser.model.layers.0.is_empty(), "it returns once");
}

#[test]
fn a_search_or_marks_select_what_is_counted() {
    let mut browser = Browser::demo(120, 40);
    browser.press("/").type_text("redis").press("down");
    let found = browser.model.sessions.hits.as_ref().unwrap().len();
    browser.press("g c > >");
    shows(&browser, "search: redis");
    let of_search = total(&browser);
    assert_eq!(of_search.session_count(), found);
    browser.press("enter");
    let query = browser.model.search.as_ref().unwrap().line.value();
    assert!(query.starts_with("in:") && query.ends_with(" redis"), "{query}");
    browser.press("esc");
    assert_eq!(total(&browser).cost, of_search.cost);
    browser.press("esc esc j space g c > >");
    shows(&browser, "1 marked session");
    assert_eq!(total(&browser).session_count(), 1);
}

#[test]
fn rows_without_a_search_say_so() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g c");
    while view(&browser).grouping != Grouping::Hour {
        browser.press("tab");
    }
    browser.press("enter");
    assert!(browser.footer().contains("no search for hours"), "{}", browser.footer());
    view(&browser);
}

#[test]
fn the_table_is_copied_as_markdown() {
    let mut browser = Browser::demo(120, 40);
    browser.press("g c");
    let effects = browser.take(Msg::Key("y".parse().unwrap()));
    let copied = effects.into_iter().find_map(|effect| match effect {
        Effect::Ask(_, Work::Copy(pitree::app::message::Clip::Text(text))) => Some(text),
        _ => None,
    });
    let lines: Vec<String> = copied.unwrap().lines().map(String::from).collect();
    assert_eq!(lines[0], "| project | cost | share | tokens | prompts | cached | abandoned | time |");
    assert_eq!(lines[1], "|---|---:|---:|---:|---:|---:|---:|---:|");
    assert!(lines[2].starts_with("| ~/code/webshop | $") && lines.last().unwrap().starts_with("| total | $"));
}

#[test]
fn a_click_selects_a_row_a_day_or_a_group() {
    let mut browser = Browser::demo(160, 48);
    browser.press("g c");
    let click = |browser: &mut Browser, column, row| browser.send(Msg::Click { column, row, double: false });
    let layout = view(&browser).layout((160, 48));
    click(&mut browser, layout.list.x + 2, layout.list.y + 1);
    assert_eq!(view(&browser).cursor.at, 1);
    let calendar = layout.calendar.unwrap();
    let weeks = view(&browser).weeks(calendar.width);
    let monday = weeks.day(weeks.weeks - 1, 0).unwrap();
    click(&mut browser, calendar.x + 4 + weeks.weeks - 1, calendar.y + 1);
    assert_eq!((view(&browser).period.length, view(&browser).period.day), (PeriodLength::Day, monday));
    let model = view(&browser).layout((160, 48)).panels[1].unwrap();
    click(&mut browser, model.x + 1, model.y + 1);
    assert_eq!(view(&browser).grouping, Grouping::Model);
    assert_eq!(view(&browser).rows()[view(&browser).cursor.at].keys, view(&browser).panels[1].rows[0].keys);
}

#[test]
fn new_entries_are_counted_and_a_budget_is_compared() {
    let dir = tempfile::tempdir().unwrap();
    let write = |cost: f64| {
        let session = Session::new("a").cwd("/work/app").at(browser_now()).user("u1", "Hello");
        fs::write(dir.path().join("a.jsonl"), session.costing(cost).assistant("a1", "Hi.").text()).unwrap();
    };
    write(3.0);
    let mut config = Config::default();
    config.stats.month_budget = Some(5.0);
    let located = pitree::disk::locate::Located { dirs: vec![dir.path().into()], ..Default::default() };
    let mut browser = Browser::new(&config, located, (120, 40));
    shows(&browser, "$3.00 of $5.00 this month");
    browser.press("g c");
    assert_eq!(total(&browser).cost, 3.0);
    browser.press("c");
    assert_eq!(view(&browser).column, StatsColumn::Tokens);
    write(7.25);
    browser.press("esc f5 g c");
    assert_eq!(total(&browser).cost, 7.25);
    browser.press("esc");
    shows(&browser, "$7.25 of $5.00 this month");
}

/// Returns the seconds since the first entries of sessions until the time of the browser.
fn browser_now() -> i64 {
    super::harness::NOW / 1000 - crate::common::session::START - 60
}

#[test]
fn an_empty_period_and_no_entries_are_said() {
    let mut browser = Browser::demo(100, 30);
    browser.press("g c < < h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h h");
    assert_eq!(total(&browser).entries, 0);
    shows(&browser, "no entries in this period");
    browser.press("enter");
    assert!(browser.footer().contains("nothing to open"), "{}", browser.footer());
}
