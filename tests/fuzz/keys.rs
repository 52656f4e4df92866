//! The entire browser without a terminal: a script of keys, clicks and resizes on a generated session. It must not
//! panic, and no cell of any screen may contain control characters.

use std::fs;
use std::sync::Arc;

use pitree::app::message::{Effect, Msg, Reply, Work};
use pitree::app::model::Model;
use pitree::app::settings::Settings;
use pitree::app::update::{start, update};
use pitree::base::text::is_unsafe;
use pitree::config::Config;
use pitree::disk::locate::Located;
use pitree::runtime::jobs::JobContext;
use pitree::ui;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::common::by_hand;

/// Keys to press: bound keys, and letters for typing.
const KEYS: &[&str] = &[
    "j",
    "k",
    "h",
    "l",
    "down",
    "up",
    "left",
    "right",
    "g",
    "G",
    "pageup",
    "pagedown",
    "-",
    "+",
    "tab",
    "shift+tab",
    "J",
    "K",
    "enter",
    "esc",
    "f5",
    "?",
    "x",
    "backspace",
    "ctrl+s",
    "ctrl+n",
    "ctrl+p",
    "ctrl+g",
    "ctrl+o",
    "alt+o",
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "ctrl+left",
    "ctrl+right",
    "{",
    "}",
    ".",
    "T",
    "=",
    "end",
    "home",
    "ctrl+r",
    "R",
    "L",
    "f",
    "ctrl+d",
    "delete",
    "space",
    "*",
    "u",
    "U",
    "y",
    "t",
    "c",
    "ctrl+w",
    "/",
    "n",
    "N",
    "'",
    ":",
    "F",
    "z",
    "m",
    "ctrl+x",
    "ctrl+u",
    "ctrl+a",
    "ctrl+e",
    "a",
    "e",
    "i",
    "s",
    "\"",
    "é",
    "漢",
    "!",
    ">",
    "<",
    "[",
    "]",
    "~",
];

/// 2026-11-21T08:00:00Z.
const NOW: i64 = 1_795_248_000_000;

/// Maximum number of steps in a script.
const STEPS: usize = 40;

/// A session with branches and labels, listed beside the generated one.
const OTHER: &[u8] = include_bytes!("../../fixtures/sessions/--home-dev-app--/branches.jsonl");

struct Browser {
    model: Model,
    context: JobContext,
}

/// Runs a script. The first byte is the length of the script that follows, with three bytes for each step; the rest is
/// the session.
pub(crate) fn run(data: &[u8]) {
    let [count, rest @ ..] = data else { return };
    let (script, session) = rest.split_at(rest.len().min(usize::from(*count)));
    let dir = tempfile::tempdir().expect("a folder for temporary files");
    let path = |name: &str| dir.path().join(name);
    for name in ["sessions", "state"] {
        fs::create_dir(path(name)).expect("a new folder");
    }
    for (name, bytes) in [("sessions/s.jsonl", session), ("sessions/other.jsonl", OTHER)] {
        fs::write(path(name), bytes).expect("a new file");
    }
    let located = Located { dirs: vec![path("sessions")], origin: "--dir".into(), mirrors: None };
    let config = Config::default();
    let setting = Arc::new(Settings::new(&config, located, "/home/demo".into(), false));
    let context = by_hand::context(setting.clone(), &path("state"));
    let mut browser = Browser { model: Model::new(setting, (100, 30), NOW), context };
    let effects = start(&mut browser.model);
    browser.perform(effects);
    browser.look();
    for step in script.chunks_exact(3).take(STEPS) {
        let &[what, column, row] = step else { continue };
        let (column, row) = (u16::from(column), u16::from(row));
        browser.send(match what {
            0..10 => Msg::Resized(column + 1, row % 60 + 1),
            10..20 => Msg::Click { column, row: row % 60, double: column % 2 == 0 },
            20..23 => Msg::Paste("漢 a\u{1b}[31m\n\u{202e}".repeat(row.into())),
            23..28 => Msg::Wheel { column, row: row % 60, by: if column % 2 == 0 { 3 } else { -3 } },
            28 => Msg::Now(NOW + i64::from(column) * 60_000),
            29 => Msg::NotResumed(String::from_utf8_lossy(&session[..session.len().min(500)]).into()),
            _ => Msg::Key(KEYS[usize::from(column) % KEYS.len()].parse().expect("a key")),
        });
        browser.look();
    }
}

impl Browser {
    fn send(&mut self, msg: Msg) {
        let effects = update(&mut self.model, by_hand::without_pis(msg));
        self.perform(effects);
    }

    /// Performs all effects immediately, except quitting.
    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            let Effect::Ask(ticket, work) = effect else { continue };
            if let Work::Copy(clip) = work {
                let text = by_hand::text_of(clip);
                let is_there = text.len().is_multiple_of(2);
                self.send(Msg::Reply(ticket, Reply::Copied(text, is_there)));
                continue;
            }
            if let Work::Export(_) = work {
                self.send(Msg::Reply(ticket, Reply::Exported(Err("typed names of files are anywhere".into()))));
                continue;
            }
            for reply in by_hand::replies(&self.context, &ticket, work) {
                self.send(reply);
            }
        }
    }

    /// Draws the screen and checks it.
    fn look(&self) {
        let (columns, rows) = self.model.size;
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("no terminal is needed");
        terminal.draw(|frame| ui::draw(frame, &self.model)).expect("nothing is written");
        for cell in &terminal.backend().buffer().content {
            assert!(!cell.symbol().contains(is_unsafe), "{:?} on the screen", cell.symbol());
        }
    }
}
