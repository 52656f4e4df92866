//! Colors, no colors, ASCII.

use vt100::Color;

use crate::end_to_end::home::{Home, Session};
use crate::end_to_end::terminal::{TAB, Terminal, is_taken, row, selected, selected_where};

/// Returns the parameters of every escape sequence that sets text attributes.
fn looks(raw: &[u8]) -> Vec<Vec<u32>> {
    let text = String::from_utf8_lossy(raw);
    let sequences = text.split("\x1b[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';' && c != ':')?;
        rest[end..].starts_with('m').then(|| rest[..end].to_string())
    });
    sequences.map(|numbers| numbers.split([';', ':']).map(|number| number.parse().unwrap_or(0)).collect()).collect()
}

/// Returns `true` if a parameter sets a color instead of resetting it.
fn is_color(number: u32) -> bool {
    matches!(number, 30..=38 | 40..=48 | 90..=97 | 100..=107)
}

/// Walks through the panes and their overlays.
fn tour(pitree: &mut Terminal) {
    pitree.wait_selected("Flaky");
    pitree.wait_without("reading");
    pitree.send("l");
    pitree.wait_selected("leaf");
    pitree.send("kkk");
    pitree.wait_selected("[grep: /suggest/ in src/client]");
    pitree.send("?");
    pitree.wait_for(" Help ");
    pitree.send("\x1b");
    pitree.wait_without(" Help ");
    pitree.send(TAB);
    pitree.wait_until("the keyboard in the preview", |screen| selected(screen).is_empty());
    pitree.send(TAB);
    pitree.wait_selected("Flaky");
}

fn assert_colorless(home: &Home, name: &str, value: &str) {
    let mut pitree = home.launch(&["--demo"]).size(160, 30).env(name, value).open();
    pitree.wait_until("the selected row reversed", |screen| {
        selected_where(screen, vt100::Cell::inverse).contains("Flaky")
    });
    tour(&mut pitree);
    pitree.send("q");
    assert_eq!(pitree.wait_exit(), 0);
    let colors: Vec<_> =
        looks(&pitree.raw()).into_iter().filter(|numbers| numbers.iter().any(|&n| is_color(n))).collect();
    assert_eq!(colors, Vec::<Vec<u32>>::new(), "{name}={value}");
}

#[test]
fn no_color_has_no_colors_and_a_selection() {
    assert_colorless(&Home::new(), "NO_COLOR", "1");
}

#[test]
fn a_dumb_terminal_has_no_colors_and_a_selection() {
    assert_colorless(&Home::new(), "TERM", "dumb");
}

#[test]
fn an_empty_no_color_does_not_count() {
    let home = Home::new();
    let pitree = home.launch(&["--demo"]).env("NO_COLOR", "").open();
    pitree.wait_until("a colored selection", |screen| {
        selected_where(screen, |cell| cell.bgcolor() == Color::Idx(18)).contains("Flaky")
    });
    pitree.quit();
}

#[test]
fn themes_have_colors_of_their_own() {
    let home = Home::new();
    let pitree = home.open(&["--demo", "--theme", "light"]);
    pitree.wait_until("the light selection", |screen| {
        selected_where(screen, |cell| cell.bgcolor() == Color::Idx(189)).contains("Flaky")
    });
    pitree.quit();
    let pitree = home.open(&["--demo", "--theme", "terminal"]);
    pitree
        .wait_until("the reversed selection", |screen| selected_where(screen, vt100::Cell::inverse).contains("Flaky"));
    pitree.quit();
}

/// Waits until the selected row has the background color.
fn wait_ground(pitree: &Terminal, ground: u8) {
    pitree.wait_until(&format!("a selection on {ground}"), |screen| {
        selected_where(screen, |cell| cell.bgcolor() == Color::Idx(ground)).contains("Flaky")
    });
}

#[test]
#[cfg(unix)]
fn the_theme_follows_the_background_reported_by_the_terminal() {
    let home = Home::new();
    for (answer, ground) in [("rgb:fdfd/f6f6/e3e3\x07", 189), ("rgb:0000/2b2b/3636\x1b\\", 18)] {
        // On a busy machine the reply may arrive too late, but not every time.
        let is_heard = (0..20).any(|_| {
            let other = if ground == 18 { "0;15" } else { "15;0" };
            let mut pitree = home.launch(&["--demo"]).env("COLORFGBG", other).open();
            pitree.wait_raw(b"\x1b]11;?\x07");
            pitree.send(&format!("?\x1b]11;{answer}"));
            pitree.wait_for(" Help "); // the keys typed meanwhile have been handled
            pitree.send("\x1b");
            pitree.wait_without(" Help ");
            pitree.wait_until("a selected row", |screen| !selected(screen).is_empty());
            let row = pitree.look(|screen| selected_where(screen, |cell| cell.bgcolor() == Color::Idx(ground)));
            pitree.quit();
            !row.is_empty()
        });
        assert!(is_heard, "{answer:?}");
    }
}

#[test]
fn other_sources_set_the_theme_without_a_terminal_reply() {
    let home = Home::new();
    let pitree = home.launch(&["--demo"]).env("COLORFGBG", "0;15").open();
    wait_ground(&pitree, 189);
    pitree.quit();
    let mut pitree = home.open(&["--demo"]);
    wait_ground(&pitree, 18);
    pitree.send("\x1b]11;rgb:ffff/ffff/ffff\x07jk"); // too late, and no keys
    wait_ground(&pitree, 18);
    pitree.quit();
}

#[test]
fn ascii_draws_ascii_only() {
    let home = Home::new();
    // The sessions contain only ASCII, so the entire screen is ASCII.
    let dir = home.dir("project");
    for (time, id) in ["one", "two", "three"].into_iter().enumerate() {
        let answers =
            ["left", "and right\n\n```\ncode\n```\n\n- a list\n\n---\n\n| a | b |\n|---|---|\n| 1 | 2 |", "> third"];
        let session = Session::new(id).cwd(&dir).at(time as i64);
        let session = session.asked("a prompt that is longer than its row is wide, by far, for sure", &answers);
        home.session(&session);
    }
    let mut pitree = home.launch(&["--ascii"]).size(160, 24).open();
    let check = |pitree: &Terminal| {
        let odd: String = pitree.contents().chars().filter(|c| !c.is_ascii()).collect();
        assert_eq!(odd, "", "in:\n{}", pitree.contents());
    };
    pitree.wait_for("3 sessions - 1 project - $0.00");
    pitree.wait_selected("a prompt");
    pitree.wait_for("last active"); // on the card
    check(&pitree);
    pitree.send("l");
    pitree.wait_selected("<- leaf");
    pitree.wait_for("|- * asst  third");
    check(&pitree);
    pitree.send("jj");
    pitree.wait_selected("and right");
    pitree.wait_for("code");
    check(&pitree);
    for (key, filter) in
        [("\x14", "no-tools"), ("\x15", "user-only"), ("\x0c", "labeled-only"), ("\x01", "all"), ("vo", "outline")]
    {
        pitree.send(key);
        pitree.wait_for(&format!(" {filter} - "));
        check(&pitree);
    }
    pitree.send("?");
    pitree.wait_for(" Help ");
    check(&pitree);
    pitree.send("\x1b");
    pitree.wait_without(" Help ");
    pitree.send("\r");
    pitree.wait_for("Resume from this entry");
    check(&pitree);
    pitree.send("\x1b");
    pitree.wait_without("Resume from this entry");
    pitree.send("ml");
    pitree.wait_until("a line to type", |screen| row(screen, 23).contains("label: "));
    check(&pitree);
    pitree.send("\x1b");
    pitree.wait_without("label: ");
    pitree.resize(30, 8);
    pitree.wait_for("terminal too small");
    check(&pitree);
}

#[test]
fn ascii_draws_the_lines_of_the_demo_in_ascii() {
    let home = Home::new();
    let mut pitree = home.launch(&["--demo", "--ascii"]).size(160, 30).open();
    tour(&mut pitree);
    let drawn = ['│', '├', '└', '─', '▾', '▸', '⊟', '⊞', '•', '←', '⋯', '·', '⋎', '●', '▐', '▌', '╭', '╯', '↵', '⇥'];
    pitree.wait_until("ASCII", |screen| is_taken(screen) && !screen.contents().contains(drawn));
    let raw = String::from_utf8_lossy(&pitree.raw()).into_owned();
    let odd: Vec<char> = drawn.into_iter().filter(|&sign| raw.contains(sign)).collect();
    assert_eq!(odd, Vec::<char>::new());
    pitree.quit();
}

#[test]
fn terminals_that_show_images_get_those_of_the_reader() {
    const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAKAAAABQCAYAAAAAAAAA";
    let home = Home::new();
    let content = format!("[{{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"{PNG}\"}}]");
    let message = format!("\"message\":{{\"role\":\"user\",\"content\":{content}}}");
    home.session(&Session::new("one").entry("u1", "message", message).assistant("a1", "a picture"));
    for (name, value, begin) in [
        ("TERM", "xterm-kitty", "\x1b_Ga=T,f=100,q=2,C=1,c=20,r=5,m=0;"),
        ("TERM_PROGRAM", "iTerm.app", "\x1b]1337;File=inline=1;width=20;height=5;preserveAspectRatio=1:"),
        ("TERM_PROGRAM", "other", ""),
    ] {
        let mut pitree = home.launch(&[]).env(name, value).size(120, 40).open();
        pitree.wait_for("a picture");
        pitree.send("l\t");
        pitree.wait_for("[image/png");
        pitree.wait_for("} prompt");
        pitree.send("q");
        assert_eq!(pitree.wait_exit(), 0);
        let text = String::from_utf8_lossy(&pitree.raw()).into_owned();
        let image = format!("{begin}{PNG}");
        assert_eq!(text.contains(&image), !begin.is_empty(), "{value}");
        assert!(!begin.is_empty() || !text.contains("iVBOR"), "{value}");
    }
}
