//! Reported states of running pis: symbols, order, the card, and names and labels that pi writes itself.

use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::panes::sessions::SessionRow;
use pitree::app::ticket::Ticket;
use pitree::pi::attention::PiNotification;
use pitree::pi::requests::PiRequest;
use pitree::pi::running::RunningPis;
use pitree::pi::status::{PiState, PiStatus};

use super::changes::World;
use super::harness::{Browser, NOW, shows};

/// Creates a pi that has a session open and reports a state.
fn pi_in(world: &World, session: &str, state: PiState, minutes: i64) -> PiStatus {
    PiStatus {
        id: session.into(),
        state,
        since: NOW - minutes * 60_000,
        model: Some("some-model".into()),
        ..reported(&world.path(session))
    }
}

/// Creates a pi that waits for the user in the session of a file.
pub(crate) fn reported(path: &std::path::Path) -> PiStatus {
    PiStatus {
        pid: 4711,
        session: path.into(),
        id: String::new(),
        name: None,
        entry: None,
        cwd: "/nowhere".into(),
        state: PiState::Waiting,
        since: NOW,
        model: None,
        cost: 0.0,
    }
}

fn hear(browser: &mut Browser, reported: Vec<PiStatus>) {
    browser.model.catalog.set_pis(RunningPis { reported, ..RunningPis::default() }, NOW);
    browser.press("j").press("k");
}

/// Returns the rows of the list.
fn rows(browser: &Browser) -> Vec<String> {
    browser.screen().lines().skip(2).take(8).map(str::to_owned).collect()
}

#[test]
fn each_state_has_a_symbol_and_the_header_counts_them() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    for (state, sign, word) in [
        (PiState::Blocked, "¿", "1 blocked"),
        (PiState::Error, "‼", "1 error"),
        (PiState::Waiting, "◆", "1 waiting"),
        (PiState::Working, "●", "1 working"),
        (PiState::Idle, "○", "1 idle"),
    ] {
        hear(&mut browser, vec![pi_in(&world, "main", state, 3)]);
        shows(&browser, word);
        assert!(rows(&browser).iter().any(|row| row.contains(sign)), "{sign}:\n{}", browser.screen());
    }
    browser.model.catalog.set_pis(super::harness::pis("/nowhere", 1), NOW);
    browser.press("j");
    shows(&browser, "1 live?");
    assert!(rows(&browser).iter().any(|row| row.contains('◌')), "{}", browser.screen());
}

#[test]
fn pis_that_wait_for_the_user_come_first_longest_wait_on_top() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let before = rows(&browser);
    hear(&mut browser, vec![pi_in(&world, "fork", PiState::Waiting, 5), pi_in(&world, "other", PiState::Waiting, 9)]);
    browser.press("v w");
    let waiting = rows(&browser).iter().filter(|row| row.contains('◆')).count();
    assert_eq!(waiting, 2, "{}", browser.screen());
    let first = |browser: &Browser| {
        let key = browser.model.sessions.rows.iter().find_map(|row| match row {
            SessionRow::Session { key, .. } => Some(*key),
            _ => None,
        });
        browser.model.catalog[key.unwrap()].path.clone()
    };
    assert_eq!(first(&browser), world.path("other"));
    hear(&mut browser, vec![pi_in(&world, "fork", PiState::Blocked, 0), pi_in(&world, "other", PiState::Waiting, 9)]);
    browser.press("v w v w");
    assert_eq!(first(&browser), world.path("fork"), "a question before an answer");
    hear(&mut browser, Vec::new());
    browser.press("v w");
    assert_eq!(rows(&browser), before);
}

#[test]
fn a_session_with_several_pis_shows_the_asking_one_and_the_count() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let pi = |pid, state, minutes| PiStatus { pid, ..pi_in(&world, "main", state, minutes) };
    hear(&mut browser, vec![pi(1, PiState::Blocked, 3), pi(2, PiState::Working, 2), pi(3, PiState::Idle, 1)]);
    let row = rows(&browser).into_iter().find(|row| row.contains("¿3 ")).unwrap();
    assert!(row.contains("the main session"), "{row}");
    shows(&browser, "¿ 1 blocked ● 1 working ○ 1 idle");
    shows(&browser, "pi          blocked on a question for 3m, some-model (pid 1)");
    shows(&browser, "            working for 2m, some-model (pid 2)");
    shows(&browser, "            open, idle for 1m, some-model (pid 3)");
    browser.press("enter");
    shows(&browser, "This session is open in several running pi processes");
    shows(&browser, "pi (pid 3) has it open: idle for 1m.");
}

#[test]
fn the_card_shows_the_state_of_pi() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    let key = browser.model.catalog.key_of(&world.path("main")).unwrap();
    world.select(&mut browser, "main");
    browser.model.catalog.set_pis(
        RunningPis { reported: vec![pi_in(&world, "main", PiState::Waiting, 3)], ..RunningPis::default() },
        NOW,
    );
    browser.press("j").press("k");
    shows(&browser, "waiting for you for 3m, some-model (pid 4711)");
    assert!(browser.model.catalog.live(key).is_some());
}

/// Reports a state of pis, and returns the effects.
fn report(browser: &mut Browser, reported: Vec<PiStatus>) -> Vec<Effect> {
    let (_claim, ticket) = Ticket::new(u64::MAX);
    browser.take(Msg::Reply(ticket, Reply::Pis(RunningPis { reported, ..RunningPis::default() })))
}

/// Lets time pass, and returns the ticket and the notifications that are sent.
fn notifications(browser: &mut Browser, milliseconds: i64) -> Option<(Ticket, Vec<PiNotification>)> {
    browser.take(Msg::Now(NOW + milliseconds)).into_iter().find_map(|effect| match effect {
        Effect::Ask(ticket, Work::Notify(notifications)) => Some((ticket, notifications)),
        _ => None,
    })
}

#[test]
fn waits_that_last_notify_one_after_the_other_and_a_failure_shows_once() {
    let world = World::new();
    let mut browser = world.open(80, 24);
    let [main, other] = ["main", "other"].map(|name| move |world: &World, state| pi_in(world, name, state, 0));
    let other = |world: &World, state| PiStatus { pid: 4712, ..other(world, state) };
    let both = |a, b| vec![main(&world, a), other(&world, b)];
    let (works, waits, asks) = (PiState::Working, PiState::Waiting, PiState::Blocked);
    // By default, there are no notifications.
    report(&mut browser, both(works, works));
    report(&mut browser, both(waits, waits));
    assert_eq!(notifications(&mut browser, 9000).map(|(_, sent)| sent), None);
    browser.set(|settings| settings.config.notify = Some(Vec::new()));
    report(&mut browser, both(waits, works));
    assert_eq!(notifications(&mut browser, 19_000).map(|(_, sent)| sent), None, "it waited before");
    report(&mut browser, both(asks, works));
    assert_eq!(notifications(&mut browser, 21_999).map(|(_, sent)| sent), None);
    let (ticket, sent) = notifications(&mut browser, 22_000).unwrap();
    let text = "pi is blocked on a question in /nowhere".to_owned();
    assert_eq!(sent, [PiNotification { pid: 4711, title: "the main session".into(), text }]);
    report(&mut browser, both(asks, waits));
    assert!(notifications(&mut browser, 30_000).is_none(), "the first notification is still being sent");
    browser.send(Msg::Reply(ticket, Reply::Notified(Err("tell failed (exit status: 3)".into()))));
    assert_eq!(browser.footer(), "cannot notify: tell failed (exit status: 3)");
    let (ticket, sent) = notifications(&mut browser, 30_001).unwrap();
    assert_eq!((sent[0].pid, &*sent[0].title, sent.len()), (4712, "the other session", 1));
    browser.press("j");
    browser.send(Msg::Reply(ticket, Reply::Failed("internal error".into())));
    assert!(!browser.screen().contains("internal error"), "{}", browser.screen());
    // The event loop writes to the terminal.
    report(&mut browser, both(PiState::Error, waits));
    let (ticket, _) = notifications(&mut browser, 40_000).unwrap();
    let sequence = "\u{1b}]9;pi\u{1b}\\";
    let effects = browser.take(Msg::Reply(ticket, Reply::Notified(Ok(sequence.into()))));
    assert!(matches!(&effects[..], [Effect::Notify(written)] if written == sequence), "{effects:?}");
    assert!(notifications(&mut browser, 90_000).is_none());
}

/// Answers the search for a terminal that a key started. Returns whether it is to be selected.
fn terminal(browser: &mut Browser, key: &str, result: Result<bool, String>) -> bool {
    let wanted = browser.take(Msg::Key(key.parse().unwrap()));
    let [Effect::Ask(ticket, Work::GoToTerminal(pi, selects))] = &wanted[..] else { panic!("{wanted:?}") };
    assert_eq!(pi.pid, 4711);
    browser.send(Msg::Reply(ticket.clone(), Reply::Terminal(result)));
    *selects
}

#[test]
fn enter_offers_the_terminal_of_the_pi_first_or_else_a_fork() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "main");
    hear(&mut browser, vec![pi_in(&world, "main", PiState::Waiting, 3)]);
    assert!(!terminal(&mut browser, "enter", Err("no".into())));
    shows(&browser, "> f  Fork");
    assert!(!browser.screen().contains("terminal"), "{}", browser.screen());
    browser.press("esc");
    assert!(!terminal(&mut browser, "enter", Ok(true)));
    shows(&browser, "> t  Go to its terminal  where pi (pid 4711) runs");
    assert!(terminal(&mut browser, "enter", Ok(false)));
    shows(&browser, "went to the terminal of pi");
    assert!(browser.wants.is_empty(), "{:?}", browser.wants);
}

#[test]
fn a_key_goes_to_the_terminal_or_explains_why_not() {
    let world = World::new();
    let mut browser = world.open(80, 24);
    world.select(&mut browser, "main");
    let before = world.text("main");
    browser.press("g");
    assert!(!browser.screen().contains("Go to terminal"), "{}", browser.screen());
    browser.press("t");
    shows(&browser, "no pi reports that it has this session open");
    hear(&mut browser, vec![pi_in(&world, "main", PiState::Waiting, 3)]);
    browser.press("g");
    shows(&browser, "t  Go to terminal");
    assert!(terminal(&mut browser, "t", Err("cannot go to pi (pid 4711) in ~/a: it has no terminal".into())));
    shows(&browser, "cannot go to pi (pid 4711) in ~/a: it has no terminal");
    browser.press("esc l g");
    assert!(terminal(&mut browser, "t", Ok(true)));
    // A popup closes, so that the terminal is seen.
    assert!(matches!(browser.wants[..], [Effect::Quit]), "{:?}", browser.wants);
    assert_eq!(world.text("main"), before);
}

#[test]
fn a_name_is_written_by_the_pi_that_has_the_session_open() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "main");
    let before = world.text("main");
    browser.model.catalog.set_pis(
        RunningPis { reported: vec![pi_in(&world, "main", PiState::Waiting, 3)], ..RunningPis::default() },
        NOW,
    );
    browser.press("ctrl+r").type_text("new").press("enter");
    shows(&browser, "This session is open in a running pi");
    shows(&browser, "pi (pid 4711) has it open");
    let wanted = browser.take(Msg::Key("p".parse().unwrap()));
    let [Effect::Ask(ticket, Work::SendToPi(pi, what))] = &wanted[..] else { panic!("{wanted:?}") };
    assert_eq!((pi.pid, what), (4711, &PiRequest::Name("new".into())));
    assert_eq!(world.text("main"), before, "pi writes it");
    let reported = |result| Msg::Reply(ticket.clone(), Reply::PiAnswered(what.clone(), result));
    browser.send(reported(Ok(())));
    shows(&browser, "pi wrote the name");
    browser.press("ctrl+r").type_text("here").press("enter");
    browser.press("w");
    assert!(world.text("main").starts_with(&before) && world.text("main").contains("here"));
}

#[test]
fn an_unconfirmed_pi_request_is_reported() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    browser.model.catalog.set_pis(
        RunningPis { reported: vec![pi_in(&world, "main", PiState::Waiting, 3)], ..RunningPis::default() },
        NOW,
    );
    world.select(&mut browser, "main");
    browser.press("l m l").type_text("mark").press("enter");
    shows(&browser, "This session is open in a running pi");
    let wanted = browser.take(Msg::Key("p".parse().unwrap()));
    let [Effect::Ask(ticket, Work::SendToPi(_, what @ PiRequest::Label { .. }))] = &wanted[..] else {
        panic!("{wanted:?}")
    };
    let why = "pi (process 4711) does not answer: nothing was changed, and this is said in full";
    browser.send(Msg::Reply(ticket.clone(), Reply::PiAnswered(what.clone(), Err(why.into()))));
    shows(&browser, "does not answer");
}

#[test]
fn changes_by_pi_are_reported_despite_key_presses() {
    for keys in ["j k", "l t", "l /", "R x", ":", "?"] {
        let world = World::new();
        let mut browser = world.open(160, 40);
        world.select(&mut browser, "main");
        let open = pi_in(&world, "main", PiState::Waiting, 3);
        browser.model.catalog.set_pis(RunningPis { reported: vec![open], ..RunningPis::default() }, NOW);
        browser.press("ctrl+r").type_text("new").press("enter");
        let wanted = browser.take(Msg::Key("p".parse().unwrap()));
        let [Effect::Ask(ticket, Work::SendToPi(_, what))] = &wanted[..] else { panic!("{wanted:?}") };
        browser.press(keys);
        assert!(ticket.is_wanted(), "{keys}");
        browser.send(Msg::Reply(ticket.clone(), Reply::PiAnswered(what.clone(), Ok(()))));
        shows(&browser, "pi wrote the name");
        // A key pressed just before does not dismiss it immediately.
        browser.press("down");
        shows(&browser, "pi wrote the name");
        browser.take(Msg::Now(NOW + 2000));
        browser.press("up");
        assert!(!browser.screen().contains("pi wrote the name"), "{keys}");
    }
}

#[test]
fn edits_of_an_open_context_are_appended_by_its_pi() {
    let world = World::new();
    let mut browser = world.open(160, 40);
    world.select(&mut browser, "main");
    let before = world.text("main");
    browser.model.catalog.set_pis(
        RunningPis { reported: vec![pi_in(&world, "main", PiState::Waiting, 3)], ..RunningPis::default() },
        NOW,
    );
    browser.press("l c home d enter");
    shows(&browser, "at the end of its next turn");
    let wanted = browser.take(Msg::Key("p".parse().unwrap()));
    let [Effect::Ask(_, Work::SendToPi(_, PiRequest::Edits(edits)))] = &wanted[..] else { panic!("{wanted:?}") };
    assert_eq!((&*edits[0].target, &*edits[0].replacement, edits.len()), ("u1", "null", 1));
    assert!(world.text("main") == before && browser.model.layers.0.is_empty());
}
