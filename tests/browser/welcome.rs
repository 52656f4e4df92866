//! The box of the first start.

use pitree::app::message::{Effect, Msg};
use pitree::app::settings::Settings;
use pitree::config::Config;
use pitree::disk::locate::Located;

use crate::browser::changes::{World, shows_not};
use crate::browser::harness::{Browser, shows};

fn first_start(world: &World, config: &str, set: impl FnOnce(&mut Settings)) -> Browser {
    let located = Located { dirs: vec![world.dir.path().into()], origin: "--dir".into(), ..Default::default() };
    let config = Config::parse(config, "config.toml").unwrap();
    let mut setting = Settings::new(&config, located, String::new(), false);
    setting.welcomes = true;
    set(&mut setting);
    Browser::with(setting, (80, 24))
}

fn welcomes(browser: &Browser) -> bool {
    browser.wants.iter().any(|effect| matches!(effect, Effect::Welcome))
}

#[test]
fn the_first_start_shows_the_most_important_keys_once() {
    let world = World::new();
    let mut browser = first_start(&world, "[keys]\nundo = 'f9'\npalette = ['f8', ':']\n", |_| {});
    assert!(welcomes(&browser), "it is recorded first");
    shows_not(&browser, "Welcome to pitree");
    browser.send(Msg::Welcome);
    for row in [
        "l      go into a project, a session, its tree",
        "enter  resume in pi at the selected entry",
        "/      search all sessions",
        "f9     undo the last change",
        "f8     list all commands",
        "?      show the keys and the query syntax",
        "pitree setup checks the installation. f8 welcome shows this box again.",
    ] {
        shows(&browser, row);
    }
    browser.press("esc");
    shows_not(&browser, "Welcome to pitree");
    browser.press("j");
    assert_eq!(browser.wants.len(), 1, "once");
    browser.press(":").type_text("welcome").press("enter");
    shows(&browser, "Welcome to pitree");
}

#[test]
fn other_starts_do_not_welcome_the_user() {
    let world = World::new();
    assert!(!welcomes(&world.open(80, 24)), "not the first start");
    assert!(!welcomes(&first_start(&world, "", |setting| setting.notice = Some("corrected".into()))));
    assert!(!welcomes(&first_start(&world, "", |setting| setting.query = "left".into())));
    let empty = tempfile::tempdir().unwrap();
    let without = |setting: &mut Settings| setting.located.dirs = vec![empty.path().into()];
    assert!(!welcomes(&first_start(&world, "", without)), "no sessions");
}
