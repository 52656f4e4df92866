//! `config.toml`.

use crate::end_to_end::home::Home;
use crate::end_to_end::terminal::{row, selected};

#[test]
fn an_invalid_configuration_fails_before_drawing() {
    let home = Home::new();
    let config = home.write("c.toml", "theme = \"dark\"\n\n[keys]\nqiut = [\"x\"]\n");
    let mut pitree = home.open(&["--demo", "--config", config.to_str().unwrap()]);
    assert_eq!(pitree.wait_exit(), 2);
    let raw = String::from_utf8(pitree.raw()).unwrap();
    assert!(raw.contains("c.toml:4: unknown action \"qiut\" in [keys]; did you mean \"quit\"?"), "{raw}");
    assert!(!raw.contains('\x1b'), "{raw:?}");
}

#[cfg(target_os = "linux")] // on other systems the directory has another name
#[test]
fn the_configuration_at_its_usual_place_is_read() {
    let home = Home::new();
    home.write(
        ".config/pitree/config.toml",
        "mouse = false\nsort = \"name\"\nfilter = \"user-only\"\n\n[keys]\ndown = [\"Q\"]\nquit = [\"x\"]\n",
    );
    let mut pitree = home.open(&["--demo"]);
    pitree.wait_until("the order", |screen| row(screen, 1).contains("Sessions  name "));
    pitree.wait_until("a selection", |screen| selected(screen).contains("Alerts after"));
    pitree.send("q"); // no longer bound
    pitree.send("Q");
    pitree.wait_until("the row below", |screen| {
        let row = selected(screen);
        !row.is_empty() && !row.contains("Alerts after")
    });
    pitree.wait_for("user-only · ");
    pitree.wait_until("no mouse", |screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None);
    pitree.send("x");
    assert_eq!(pitree.wait_exit(), 0);
    pitree.assert_restored();
}
