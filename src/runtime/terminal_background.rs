//! Detects a dark or light terminal by asking for its background color (OSC 11). The answer arrives among the keys.

use std::io::{self, Write};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::base::color::luminance;
use crate::config::Palette;
use crate::disk::locate::{self, Environment};
use crate::runtime::terminal;

/// The maximum time to wait for the answer; most terminals take a few milliseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// Queries the terminal.
pub(super) fn ask() -> io::Result<()> {
    let mut out = terminal::output()?;
    // Ended by BEL, because some terminals reply in the same way, and urxvt's other terminator is broken.
    out.write_all(b"\x1b]11;?\x07")?;
    out.flush()
}

/// Returns the palette for the background: from the answer of the terminal, `COLORFGBG`, or pi's setting if it can be
/// read; otherwise dark.
pub(super) fn palette(answer: &Receiver<Palette>, reads_settings: bool) -> Palette {
    // The themes of pi itself; others are unknown.
    let settings = || match reads_settings.then(|| locate::theme(&Environment::current()))??.as_str() {
        "dark" => Some(Palette::Dark),
        "light" => Some(Palette::Light),
        _ => None,
    };
    answer
        .recv_timeout(PATIENCE)
        .ok()
        .or_else(|| of_colorfgbg(&std::env::var("COLORFGBG").ok()?))
        .or_else(settings)
        .unwrap_or_default()
}

/// Parses `COLORFGBG` like pi (1.5.2): the last field is one of the sixteen colors of the terminal.
fn of_colorfgbg(value: &str) -> Option<Palette> {
    match value.rsplit(';').next()?.trim().parse().ok()? {
        0..=6 | 8 => Some(Palette::Dark),
        7 | 9..=15 => Some(Palette::Light),
        _ => None,
    }
}

/// Parses an answer such as `11;rgb:fdfd/f6f6/e3e3`. Light if black has more contrast than white (WCAG 2.1).
pub(super) fn of_answer(text: &str) -> Option<Palette> {
    let color = text.strip_prefix("11;rgb").map(|rest| rest.strip_prefix('a').unwrap_or(rest))?;
    let mut parts = color.strip_prefix(':')?.split('/').map(|digits| {
        let most = 16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|&most| most > 0)?;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    });
    let mut next = || parts.next().flatten();
    Some(if luminance([next()?, next()?, next()?]) > 0.179 { Palette::Light } else { Palette::Dark })
}

#[cfg(test)]
mod tests {
    use super::*;

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
