//! Background requests: dropping the ticket cancels the work, slow work is reported, and a canceled resume ends where
//! the user went.

use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::ticket::Ticket;
use pitree::changes::ChangeResult;

use crate::browser::changes::{World, to_entry};
use crate::browser::harness::{Browser, shows};

/// Presses a key and returns the tickets of the requested work without running it.
fn asked(browser: &mut Browser, key: &str) -> Vec<(Ticket, Work)> {
    let effects = browser.take(Msg::Key(key.parse().unwrap())).into_iter();
    let asked = effects.filter_map(|effect| match effect {
        Effect::Ask(ticket, work) => Some((ticket, work)),
        _ => None,
    });
    asked.collect()
}

/// Returns the ticket of a change that a key requests.
fn change(browser: &mut Browser, key: &str) -> (Ticket, Work) {
    let mut asked = asked(browser, key);
    asked.retain(|(_, work)| matches!(work, Work::Change { .. }));
    assert_eq!(asked.len(), 1);
    asked.remove(0)
}

fn done(request: Work) -> Reply {
    let Work::Change { request, .. } = request else { panic!("the key requests a change") };
    let result = Ok(ChangeResult { summary: "it is done".into(), ..ChangeResult::default() });
    Reply::Changed(Box::new(pitree::app::message::ChangeReply { request, result, read: Vec::new(), gone: Vec::new() }))
}

#[test]
fn closing_a_search_cancels_it() {
    let mut browser = Browser::demo(120, 30);
    browser.press("/").type_text("all:coo");
    let mut searches = asked(&mut browser, "k");
    searches.retain(|(_, work)| matches!(work, Work::Search { .. }));
    let [(search, _)] = &searches[..] else { panic!("{searches:?}") };
    assert!(search.is_wanted());
    let again = asked(&mut browser, "i");
    assert!(!search.is_wanted(), "a new query replaces it");
    assert!(again.iter().all(|(ticket, _)| ticket.is_wanted()));
    browser.press("esc esc");
    assert!(browser.model.search.is_none());
    assert!(again.iter().all(|(ticket, _)| !ticket.is_wanted()), "all tickets are dropped");
}

#[test]
fn search_memory_is_freed_unless_another_search_starts() {
    let mut browser = Browser::demo(120, 30);
    browser.press("/").type_text("x");
    let left = asked(&mut browser, "esc");
    let back = left.iter().find_map(|(ticket, work)| matches!(work, Work::ForgetTexts).then_some(ticket)).unwrap();
    assert!(back.is_wanted());
    browser.press("/");
    assert!(!back.is_wanted());
}

#[test]
fn opening_another_session_cancels_the_previous_one() {
    let mut browser = Browser::demo(160, 40);
    let first = asked(&mut browser, "j");
    let second = asked(&mut browser, "j");
    assert!(first.iter().all(|(ticket, _)| !ticket.is_wanted()));
    assert!(second.iter().all(|(ticket, _)| ticket.is_wanted()));
}

#[test]
fn a_long_change_shows_progress_and_esc_stops_it() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let (ticket, work) = change(&mut browser, "U");
    browser.send(Msg::Reply(ticket.clone(), Reply::Changing(10, 5000)));
    assert_eq!(browser.footer(), "10 of 5,000 · esc: stop");
    browser.press("j k");
    assert_eq!(browser.footer(), "10 of 5,000 · esc: stop", "keys are handled and the progress remains visible");
    browser.press("esc");
    assert_eq!(browser.footer(), "10 of 5,000 · stopping");
    assert!(ticket.is_stopped() && ticket.is_wanted(), "the progress remains visible");
    browser.send(Msg::Reply(ticket.clone(), Reply::Changing(11, 5000)));
    assert_eq!(browser.footer(), "11 of 5,000 · stopping");
    browser.send(Msg::Reply(ticket.clone(), done(work)));
    assert_eq!(browser.footer(), "it is done");
    assert!(!ticket.is_wanted() && browser.model.changes.is_empty());
}

#[test]
fn a_key_press_cancels_resuming() {
    for is_gone_on in [false, true] {
        let world = World::new();
        let mut browser = world.open(160, 40);
        browser.press("l");
        to_entry(&mut browser, "go left");
        // A long change is running. The message's text is read immediately; the leaf moves after the change.
        let (long, work) = change(&mut browser, "U");
        browser.press("enter");
        shows(&browser, "Resume from this entry");
        let mut text = asked(&mut browser, "h");
        let (ticket, read) = text.remove(0);
        let mut wanted = Vec::new();
        for reply in browser.replies(Effect::Ask(ticket, read)) {
            wanted.extend(browser.take(reply));
        }
        let [Effect::Ask(moves, Work::Change { .. })] = &wanted[..] else { panic!("{wanted:?}") };
        assert_eq!(browser.footer(), "waiting for the previous change");
        if is_gone_on {
            browser.press("j");
            assert_eq!(browser.footer(), "resuming canceled by a key press");
        }
        assert_eq!(moves.is_stopped(), is_gone_on, "the leaf stays where it is");
        browser.send(Msg::Reply(long, done(work)));
        for effect in wanted {
            browser.replies(effect).into_iter().for_each(|reply| browser.send(reply));
        }
        let is_resumed = matches!(browser.wants[..], [Effect::Resume(_)]);
        assert_eq!((is_resumed, browser.copied.len()), (!is_gone_on, usize::from(!is_gone_on)));
        assert_eq!(world.text("main").lines().last().unwrap().contains("\"type\":\"label\""), !is_gone_on);
    }
}

#[test]
fn pi_starts_after_the_running_change() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let (long, work) = change(&mut browser, "U");
    browser.press("enter");
    assert!(browser.wants.is_empty());
    browser.send(Msg::Reply(long, done(work)));
    assert!(matches!(browser.wants[..], [Effect::Resume(_)]));
}

#[test]
fn aborted_work_is_reported_to_its_requester() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let opens = asked(&mut browser, "f5");
    for (ticket, work) in &opens {
        if matches!(work, Work::Open { .. }) {
            browser.send(Msg::Reply(ticket.clone(), Reply::Failed("internal error in pitree".into())));
        }
    }
    shows(&browser, "internal error in pitree");
    assert!(browser.model.tree.error.is_some());
    let (ticket, _) = change(&mut browser, "U");
    browser.send(Msg::Reply(ticket, Reply::Failed("broken".into())));
    assert_eq!(browser.footer(), "broken");
    assert!(browser.model.changes.is_empty(), "quitting does not wait for it");
}

#[test]
fn copying_is_reported_despite_keys_and_other_work() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("y");
    let mut copies = asked(&mut browser, "p");
    let (ticket, work) = copies.remove(0);
    assert!(matches!(work, Work::Copy(_)));
    browser.press("j y");
    let mut others = asked(&mut browser, "s");
    let (other, _) = others.remove(0);
    assert!(ticket.is_wanted() && other.is_wanted(), "neither replaces the other");
    browser.send(Msg::Reply(ticket, Reply::Copied("first".into(), true)));
    assert_eq!(browser.footer(), "copied: first");
    browser.send(Msg::Reply(other, Reply::Copied("second".into(), true)));
    assert_eq!(browser.footer(), "copied: second");
}

#[test]
fn a_key_cancels_opening_a_text_and_reports_it() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.press("l tab");
    browser.press("m");
    let late = asked(&mut browser, "v");
    assert!(late.iter().any(|(_, work)| matches!(work, Work::ReadSource(..))));
    browser.press("j");
    assert_eq!(browser.footer(), "opening canceled by a key press");
}
