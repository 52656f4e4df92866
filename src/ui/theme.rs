//! The only file that defines colors: the style of each tone. Without colors (`NO_COLOR`), only modifiers are used,
//! because a color beside REVERSED would reset it in some terminals. Tests check the contrast on all row
//! backgrounds.

use std::collections::HashMap;

use ratatui::style::{Color, Modifier, Style};

use crate::base::text::Tone;
use crate::config::{ColorOverride, Palette};

/// Returns the style of a tone.
pub fn style(tone: Tone, theme: Option<Palette>) -> Style {
    let style = Style::new().add_modifier(modifier(tone, theme));
    let (Some(theme), Some((dark, light, own))) = (theme, colors(tone)) else { return style };
    match theme {
        Palette::Dark => style.fg(Color::Indexed(dark)),
        Palette::Light => style.fg(Color::Indexed(light)),
        Palette::Terminal => own.map_or(style, |color| style.fg(color)),
    }
}

/// Returns the style of a tone with the color that the user chose for it.
pub fn style_of(tone: Tone, theme: Option<Palette>, own: &HashMap<Tone, ColorOverride>) -> Style {
    let own = own.get(&tone).filter(|_| theme.is_some());
    own.map_or(style(tone, theme), |&color| style(tone, theme).fg(own_color(color)))
}

/// Converts a color chosen by the user.
fn own_color(color: ColorOverride) -> Color {
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

/// Returns the colors of a tone: 256-color indexes on a dark and a light background, and the color from the terminal's
/// own palette, if it has one.
fn colors(tone: Tone) -> Option<(u8, u8, Option<Color>)> {
    Some(match tone {
        Tone::Text | Tone::Strong | Tone::Name | Tone::Emphasis | Tone::Cursor => return None,
        Tone::Dim | Tone::Comment | Tone::Strike => (244, 242, None),
        Tone::Tool | Tone::Quote => (248, 240, None),
        Tone::Meta | Tone::Thinking => (247, 240, None),
        Tone::Accent | Tone::Active | Tone::Heading | Tone::File1 => (80, 23, Some(Color::Cyan)),
        Tone::Fork | Tone::Function => (117, 24, Some(Color::Cyan)),
        Tone::User | Tone::Type | Tone::File5 => (111, 25, Some(Color::Blue)),
        Tone::Link | Tone::Hunk => (75, 20, Some(Color::Blue)),
        Tone::Assistant | Tone::Str | Tone::Added | Tone::File4 => (114, 22, Some(Color::Green)),
        Tone::Summary | Tone::Keyword | Tone::File3 => (176, 91, Some(Color::Magenta)),
        Tone::Label => (183, 90, Some(Color::Magenta)),
        Tone::Number | Tone::File2 => (221, 58, Some(Color::Yellow)),
        Tone::Cost | Tone::Code => (180, 53, None),
        Tone::Warning => (215, 88, Some(Color::Yellow)),
        Tone::Match => (227, 88, Some(Color::Yellow)),
        Tone::Error | Tone::Removed | Tone::File6 => (210, 124, Some(Color::Red)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::terminal::luminance;

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
