//! The only file that defines colors: the style of each tone. Without colors (`NO_COLOR`), only modifiers are used,
//! because a color beside REVERSED would reset it in some terminals. Tests check the contrast of `dark` and `light` on
//! all row backgrounds.

use ratatui::style::{Color, Modifier, Style};

use crate::base::text::Tone;
use crate::config::{ColorOverride, Palette};

/// Returns the style of a tone.
pub fn style(tone: Tone, theme: Option<Palette>) -> Style {
    let style = Style::new().add_modifier(modifier(tone, theme));
    let Some(theme) = theme else { return style };
    let color = match theme {
        Palette::Dark => dark(tone),
        Palette::Light => light(tone),
        Palette::Terminal => terminal(tone),
    };
    color.map_or(style, |color| style.fg(color))
}

/// Converts a color chosen by the user.
pub(super) fn own(color: ColorOverride) -> Color {
    match color {
        ColorOverride::Index(index) => Color::Indexed(index),
        ColorOverride::Rgb([red, green, blue]) => Color::Rgb(red, green, blue),
    }
}

/// Returns the style of the selected row, with or without focus. The background is uniform: text colors that would
/// become backgrounds are removed.
pub fn selection(focused: bool, theme: Option<Palette>) -> Style {
    let background = match (theme, focused) {
        (Some(Palette::Dark), true) => Color::Indexed(18),
        (Some(Palette::Dark), false) => Color::Indexed(236),
        (Some(Palette::Light), true) => Color::Indexed(189),
        (Some(Palette::Light), false) => Color::Indexed(254),
        (Some(Palette::Terminal), true) => {
            let plain = Style::new().fg(Color::Reset).bg(Color::Reset);
            return plain.add_modifier(Modifier::REVERSED).remove_modifier(Modifier::DIM);
        }
        (None, true) => return Style::new().add_modifier(Modifier::REVERSED),
        (Some(Palette::Terminal) | None, false) => return Style::new().add_modifier(Modifier::UNDERLINED),
    };
    Style::new().bg(background)
}

fn modifier(tone: Tone, theme: Option<Palette>) -> Modifier {
    // Bright black is the background color in some palettes, such as Solarized.
    let (colors, has_grey) = (theme.is_some(), matches!(theme, Some(Palette::Dark | Palette::Light)));
    match tone {
        Tone::Heading | Tone::Strong | Tone::Accent | Tone::Name => Modifier::BOLD,
        Tone::Thinking if !has_grey && colors => Modifier::ITALIC.union(Modifier::DIM),
        Tone::Strike if !has_grey && colors => Modifier::CROSSED_OUT.union(Modifier::DIM),
        Tone::Emphasis | Tone::Thinking | Tone::Quote => Modifier::ITALIC,
        Tone::Strike => Modifier::CROSSED_OUT,
        Tone::Link => Modifier::UNDERLINED,
        Tone::Label | Tone::Error | Tone::Warning | Tone::User if !colors => Modifier::BOLD,
        Tone::Tool if !colors => Modifier::DIM,
        Tone::Dim | Tone::Meta | Tone::Comment if !has_grey => Modifier::DIM,
        Tone::Match => Modifier::BOLD.union(Modifier::UNDERLINED),
        Tone::Cursor => Modifier::REVERSED,
        _ => Modifier::empty(),
    }
}

fn dark(tone: Tone) -> Option<Color> {
    Some(Color::Indexed(match tone {
        Tone::Text | Tone::Strong | Tone::Emphasis | Tone::Cursor => return None,
        Tone::Dim | Tone::Comment | Tone::Strike => 244,
        Tone::Accent | Tone::Active | Tone::Heading => 80,
        Tone::User | Tone::Type => 111,
        Tone::Assistant | Tone::Str | Tone::Added => 114,
        Tone::Tool | Tone::Quote => 248,
        Tone::Summary | Tone::Keyword => 176,
        Tone::Meta | Tone::Thinking => 247,
        Tone::Label | Tone::Name | Tone::Number => 221,
        Tone::Fork | Tone::Function => 117,
        Tone::Cost | Tone::Code => 180,
        Tone::Warning => 215,
        Tone::File1 => 80,
        Tone::File2 => 221,
        Tone::File3 => 176,
        Tone::File4 => 114,
        Tone::File5 => 111,
        Tone::File6 => 210,
        Tone::Match => 227,
        Tone::Error | Tone::Removed => 210,
        Tone::Link | Tone::Hunk => 75,
    }))
}

fn light(tone: Tone) -> Option<Color> {
    Some(Color::Indexed(match tone {
        Tone::Text | Tone::Strong | Tone::Emphasis | Tone::Cursor => return None,
        Tone::Dim | Tone::Comment | Tone::Strike => 242,
        Tone::Accent | Tone::Active | Tone::Heading => 23,
        Tone::User | Tone::Type => 25,
        Tone::Assistant | Tone::Str | Tone::Added => 22,
        Tone::Tool | Tone::Quote => 240,
        Tone::Summary | Tone::Keyword => 91,
        Tone::Meta | Tone::Thinking => 240,
        Tone::Label | Tone::Name | Tone::Number => 58,
        Tone::Fork | Tone::Function => 24,
        Tone::Cost | Tone::Code => 53,
        Tone::Warning => 88,
        Tone::File1 => 23,
        Tone::File2 => 58,
        Tone::File3 => 91,
        Tone::File4 => 22,
        Tone::File5 => 25,
        Tone::File6 => 124,
        Tone::Match => 88,
        Tone::Error | Tone::Removed => 124,
        Tone::Link | Tone::Hunk => 20,
    }))
}

/// Returns the color from the terminal's own 16-color palette.
fn terminal(tone: Tone) -> Option<Color> {
    Some(match tone {
        Tone::Text | Tone::Strong | Tone::Emphasis | Tone::Cursor | Tone::Tool | Tone::Quote => return None,
        Tone::Dim | Tone::Comment | Tone::Strike | Tone::Meta | Tone::Thinking => return None,
        Tone::Accent | Tone::Active | Tone::Heading | Tone::Fork | Tone::Function => Color::Cyan,
        Tone::User | Tone::Type | Tone::Link | Tone::Hunk => Color::Blue,
        Tone::Assistant | Tone::Str | Tone::Added => Color::Green,
        Tone::Summary | Tone::Keyword => Color::Magenta,
        Tone::Label | Tone::Name | Tone::Number | Tone::Cost | Tone::Code | Tone::Warning | Tone::Match => {
            Color::Yellow
        }
        Tone::Error | Tone::Removed => Color::Red,
        Tone::File1 => Color::Cyan,
        Tone::File2 => Color::Yellow,
        Tone::File3 => Color::Magenta,
        Tone::File4 => Color::Green,
        Tone::File5 => Color::Blue,
        Tone::File6 => Color::Red,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::color::luminance;

    #[test]
    fn without_colors_there_are_none_and_the_selection_is_seen() {
        for tone in [Tone::Text, Tone::Error, Tone::User, Tone::Added, Tone::Match] {
            let style = style(tone, None);
            assert_eq!((style.fg, style.bg), (None, None));
        }
        assert!(!style(Tone::Match, None).add_modifier.is_empty());
        for focused in [true, false] {
            let style = selection(focused, None);
            assert_eq!((style.fg, style.bg), (None, None));
            assert!(!style.add_modifier.is_empty());
        }
    }

    use Tone::*;

    const TONES: [Tone; 40] = [
        Text, Dim, Accent, User, Assistant, Tool, Summary, Meta, Label, Name, Thinking, Active, Fork, Cost, Warning,
        Error, Heading, Strong, Emphasis, Strike, Link, Quote, Code, Keyword, Str, Number, Comment, Function, Type,
        Added, Removed, Hunk, File1, File2, File3, File4, File5, File6, Match, Cursor,
    ];

    /// Returns the RGB value of an indexed color that is the same in all terminals.
    fn rgb(color: Color) -> [u8; 3] {
        let Color::Indexed(index @ 16..) = color else { panic!("{color:?} is another one in each terminal") };
        let level = |at: u8| if at == 0 { 0 } else { 55 + 40 * at };
        match index {
            232.. => [8 + 10 * (index - 232); 3],
            _ => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(level),
        }
    }

    #[test]
    fn every_text_can_be_read_on_every_ground() {
        assert!(TONES.iter().enumerate().all(|(at, &tone)| tone as usize == at) && TONES.last() == Some(&Cursor));
        // Backgrounds of dark and light terminals: black, One Dark, Solarized; white, Solarized.
        let dark = ([0xd4; 3], vec![[0; 3], [0x1e; 3], [0x28, 0x2c, 0x34], [0, 0x2b, 0x36]]);
        let light = ([0x2a; 3], vec![[255; 3], [0xfa; 3], [0xfd, 0xf6, 0xe3]]);
        for (theme, (plain, mut grounds)) in [(Palette::Dark, dark), (Palette::Light, light)] {
            grounds.extend([true, false].map(|focused| rgb(selection(focused, Some(theme)).bg.unwrap())));
            for (tone, ground) in TONES.iter().flat_map(|&tone| grounds.iter().map(move |&ground| (tone, ground))) {
                let text = style(tone, Some(theme)).fg.map_or(plain, rgb);
                let [one, other] = [text, ground].map(|rgb| luminance(rgb.map(|part| f64::from(part) / 255.0)));
                let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
                let least = if matches!(tone, Dim | Comment | Strike) { 3.0 } else { 4.5 };
                assert!(contrast >= least, "{} {tone:?} on {ground:?}: {contrast:.2}", theme.name());
            }
        }
    }

    #[test]
    fn a_row_selected_in_the_colors_of_the_terminal_has_one_ground() {
        for tone in TONES {
            let style = style(tone, Some(Palette::Terminal));
            let selected = style.patch(selection(true, Some(Palette::Terminal)));
            assert_eq!((selected.fg, selected.bg), (Some(Color::Reset), Some(Color::Reset)), "{tone:?}");
            assert!(
                selected.add_modifier.contains(Modifier::REVERSED) && !selected.add_modifier.contains(Modifier::DIM)
            );
            // Bright black is the background of Solarized.
            assert!(style.fg != Some(Color::DarkGray) && style.bg.is_none(), "{tone:?}");
        }
    }
}
