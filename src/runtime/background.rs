//! Whether the terminal is dark or light. It is asked for the colour of its background (OSC 11), and its answer comes among
//! the keys: only there it can be waited for without taking away what is typed meanwhile, and a late one is not taken for
//! keys.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyModifiers};

use crate::base::color::luminance;
use crate::config::Palette;
use crate::disk::locate::{self, Environment};
use crate::runtime::terminal;

/// As long the start waits for the answer; most terminals take a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// As soon the rest of an answer follows its beginning.
pub(super) const GAP: Duration = Duration::from_millis(100);

/// The longest answer: `11;rgba:` and four numbers of four digits.
const LONGEST: usize = 27;

/// Asks the terminal.
pub(super) fn ask() -> io::Result<()> {
    let mut out = terminal::output()?;
    // Ended by BEL: some answer in the same way, and urxvt's other end is a broken one.
    out.write_all(b"\x1b]11;?\x07")?;
    out.flush()
}

/// The colours for the background: as the terminal has answered, else as `COLORFGBG` says, or pi's setting if it may be read;
/// else dark.
pub(super) fn palette(answer: &Receiver<Palette>, reads_settings: bool) -> Palette {
    let settings = || reads_settings.then(|| locate::theme(&Environment::current()).and_then(|name| of_theme(&name)));
    answer
        .recv_timeout(PATIENCE)
        .ok()
        .or_else(|| of_colorfgbg(&std::env::var("COLORFGBG").ok()?))
        .or_else(|| settings().flatten())
        .unwrap_or_default()
}

/// As pi reads it (1.5.2): the last field is the number of one of the terminal's sixteen colours.
fn of_colorfgbg(value: &str) -> Option<Palette> {
    match value.rsplit(';').next()?.trim().parse().ok()? {
        0..=6 | 8 => Some(Palette::Dark),
        7 | 9..=15 => Some(Palette::Light),
        _ => None,
    }
}

/// Of pi's own themes; the others may be either.
fn of_theme(name: &str) -> Option<Palette> {
    match name {
        "dark" => Some(Palette::Dark),
        "light" => Some(Palette::Light),
        _ => None,
    }
}

/// Of an answer such as `11;rgb:fdfd/f6f6/e3e3`: light where black has more contrast than white (WCAG 2.1).
fn of_answer(text: &str) -> Option<Palette> {
    let color = text.strip_prefix("11;rgb").map(|rest| rest.strip_prefix('a').unwrap_or(rest))?;
    let mut parts = color.strip_prefix(':')?.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|&most| most > 0)?;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    });
    let mut next = || parts.next().flatten();
    Some(if luminance([next()?, next()?, next()?]) > 0.179 { Palette::Light } else { Palette::Dark })
}

/// Finds the answer among the keys.
#[derive(Default)]
pub(super) struct Listener {
    /// What may be the beginning of an answer.
    held: Vec<Input>,
    /// Its text.
    text: String,
}

/// What comes of an input.
pub(super) enum Heard {
    /// These are none of the answer's.
    Inputs(Vec<Input>),
    /// The answer, if it can be read.
    Answer(Option<Palette>),
}

impl Listener {
    /// Whether something is held back.
    pub(super) fn is_waiting(&self) -> bool {
        !self.held.is_empty()
    }

    /// What was held back, since it is no answer.
    pub(super) fn give_up(&mut self) -> Vec<Input> {
        self.text.clear();
        std::mem::take(&mut self.held)
    }

    /// Takes the next input. crossterm (0.29) makes Alt+] of `ESC ]`, Ctrl+G of BEL and Alt+\ of `ESC \`.
    pub(super) fn hear(&mut self, input: Input) -> Heard {
        let key = input.as_key_press_event().map(|key| (key.code, key.modifiers));
        let part = match key {
            Some((KeyCode::Char(']'), KeyModifiers::ALT)) if !self.is_waiting() => "",
            Some((KeyCode::Char('g'), KeyModifiers::CONTROL) | (KeyCode::Char('\\'), KeyModifiers::ALT))
                if self.is_waiting() =>
            {
                let answer = of_answer(&self.text);
                self.give_up();
                return Heard::Answer(answer);
            }
            Some((KeyCode::Char(c), KeyModifiers::NONE | KeyModifiers::SHIFT)) if self.is_waiting() => {
                &*c.encode_utf8(&mut [0; 4]).to_owned()
            }
            _ => return self.hear_other(input),
        };
        let text = format!("{}{part}", self.text);
        let is_answer = "11;rgb".starts_with(&text)
            || text
                .strip_prefix("11;rgb")
                .is_some_and(|color| color.chars().all(|c| c.is_ascii_hexdigit() || ":/".contains(c)));
        if !is_answer || text.len() > LONGEST {
            return self.hear_other(input);
        }
        self.text = text;
        self.held.push(input);
        Heard::Inputs(Vec::new())
    }

    fn hear_other(&mut self, input: Input) -> Heard {
        let mut inputs = self.give_up();
        inputs.push(input);
        Heard::Inputs(inputs)
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    fn key(code: char, modifiers: KeyModifiers) -> Input {
        Input::Key(KeyEvent::new(KeyCode::Char(code), modifiers))
    }

    /// What the keys of a text become: those that are given on, and what was answered.
    fn hear(listener: &mut Listener, keys: &[Input]) -> (Vec<Input>, Vec<Option<Palette>>) {
        let (mut inputs, mut answers) = (Vec::new(), Vec::new());
        for input in keys {
            match listener.hear(input.clone()) {
                Heard::Inputs(more) => inputs.extend(more),
                Heard::Answer(answer) => answers.push(answer),
            }
        }
        (inputs, answers)
    }

    fn keys(text: &str) -> Vec<Input> {
        text.chars().map(|c| key(c, KeyModifiers::NONE)).collect()
    }

    const START: (char, KeyModifiers) = (']', KeyModifiers::ALT);

    #[test]
    fn the_answer_is_found_among_what_is_typed() {
        for (end, modifiers) in [('g', KeyModifiers::CONTROL), ('\\', KeyModifiers::ALT)] {
            let answer =
                [vec![key(START.0, START.1)], keys("11;rgb:fdfd/f6f6/e3e3"), vec![key(end, modifiers)]].concat();
            let all = [keys("jj"), answer, keys("1")].concat();
            assert_eq!(hear(&mut Listener::default(), &all), (keys("jj1"), vec![Some(Palette::Light)]));
        }
    }

    #[test]
    fn what_is_no_answer_is_typed() {
        let start = || vec![key(START.0, START.1)];
        for rest in ["x", "12", "11;rgb:q", "11;rgb:00000000000000000000000000"] {
            let all = [start(), keys(rest)].concat();
            assert_eq!(hear(&mut Listener::default(), &all), (all, vec![]), "{rest}");
        }
        let mut listener = Listener::default();
        let begun = [start(), keys("11")].concat();
        assert_eq!(hear(&mut listener, &begun), (vec![], vec![]));
        assert!(listener.is_waiting());
        assert_eq!(listener.give_up(), begun);
        assert_eq!(hear(&mut listener, &keys("g")), (keys("g"), vec![]));
    }

    #[test]
    fn backgrounds_are_dark_or_light() {
        let dark = ["11;rgb:0/0/0", "11;rgb:1e/1e/1e", "11;rgb:0000/2b2b/3636", "11;rgba:28/2c/34/ff"];
        assert!(dark.iter().all(|text| of_answer(text) == Some(Palette::Dark)));
        assert!(["11;rgb:f/f/f", "11;rgb:fdfd/f6f6/e3e3"].iter().all(|text| of_answer(text) == Some(Palette::Light)));
        assert!(["", "11;rgb:", "11;rgb:1/2", "11;rgb:/1/2", "11;#fff"].iter().all(|text| of_answer(text).is_none()));
        let said = ["15;0", "0;15", "0;default;7", "7;8", "0;default", "", "0;16", "x"].map(of_colorfgbg);
        let (dark, light) = (Some(Palette::Dark), Some(Palette::Light));
        assert_eq!(said, [dark, light, light, dark, None, None, None, None]);
    }
}
