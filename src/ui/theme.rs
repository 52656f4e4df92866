//! The one file that holds colours: what each meaning looks like. Without colours (`NO_COLOR`) only modifiers are
//! used: a colour beside REVERSED would reset it in some terminals.

use ratatui::style::{Color, Modifier, Style};

use crate::base::text::Tone;
use crate::config::ThemeName;

/// The look of a meaning.
pub fn style(tone: Tone, theme: Option<ThemeName>) -> Style {
    let style = Style::new().add_modifier(modifier(tone, theme.is_some()));
    let Some(theme) = theme else { return style };
    let color = match theme {
        ThemeName::Dark => dark(tone),
        ThemeName::Light => light(tone),
        ThemeName::Terminal => terminal(tone),
    };
    color.map_or(style, |color| style.fg(color))
}

/// The look of the selected row, where the keyboard is and where it is not.
pub fn selection(focused: bool, theme: Option<ThemeName>) -> Style {
    let background = match (theme, focused) {
        (Some(ThemeName::Dark), true) => Color::Indexed(24),
        (Some(ThemeName::Dark), false) => Color::Indexed(237),
        (Some(ThemeName::Light), true) => Color::Indexed(153),
        (Some(ThemeName::Light), false) => Color::Indexed(254),
        (Some(ThemeName::Terminal) | None, true) => return Style::new().add_modifier(Modifier::REVERSED),
        (Some(ThemeName::Terminal) | None, false) => return Style::new().add_modifier(Modifier::UNDERLINED),
    };
    Style::new().bg(background)
}

fn modifier(tone: Tone, colors: bool) -> Modifier {
    match tone {
        Tone::Heading | Tone::Strong | Tone::Accent | Tone::Name => Modifier::BOLD,
        Tone::Emphasis | Tone::Thinking | Tone::Quote => Modifier::ITALIC,
        Tone::Strike => Modifier::CROSSED_OUT,
        Tone::Link => Modifier::UNDERLINED,
        Tone::Label | Tone::Error | Tone::Warning | Tone::User if !colors => Modifier::BOLD,
        Tone::Dim | Tone::Meta | Tone::Tool | Tone::Comment if !colors => Modifier::DIM,
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
        Tone::Meta | Tone::Thinking => 245,
        Tone::Label | Tone::Name | Tone::Number => 221,
        Tone::Fork | Tone::Function => 117,
        Tone::Cost | Tone::Code => 180,
        Tone::Warning => 215,
        Tone::Match => 227,
        Tone::Error | Tone::Removed => 210,
        Tone::Link | Tone::Hunk => 75,
    }))
}

fn light(tone: Tone) -> Option<Color> {
    Some(Color::Indexed(match tone {
        Tone::Text | Tone::Strong | Tone::Emphasis | Tone::Cursor => return None,
        Tone::Dim | Tone::Comment | Tone::Strike => 242,
        Tone::Accent | Tone::Active | Tone::Heading => 30,
        Tone::User | Tone::Type => 25,
        Tone::Assistant | Tone::Str | Tone::Added => 28,
        Tone::Tool | Tone::Quote => 240,
        Tone::Summary | Tone::Keyword => 91,
        Tone::Meta | Tone::Thinking => 241,
        Tone::Label | Tone::Name | Tone::Number => 94,
        Tone::Fork | Tone::Function => 31,
        Tone::Cost | Tone::Code => 95,
        Tone::Warning => 130,
        Tone::Match => 88,
        Tone::Error | Tone::Removed => 124,
        Tone::Link | Tone::Hunk => 26,
    }))
}

/// The sixteen colours that the terminal's own palette defines.
fn terminal(tone: Tone) -> Option<Color> {
    Some(match tone {
        Tone::Text | Tone::Strong | Tone::Emphasis | Tone::Cursor | Tone::Tool | Tone::Quote => return None,
        Tone::Dim | Tone::Comment | Tone::Strike | Tone::Meta | Tone::Thinking => Color::DarkGray,
        Tone::Accent | Tone::Active | Tone::Heading | Tone::Fork | Tone::Function => Color::Cyan,
        Tone::User | Tone::Type | Tone::Link | Tone::Hunk => Color::Blue,
        Tone::Assistant | Tone::Str | Tone::Added => Color::Green,
        Tone::Summary | Tone::Keyword => Color::Magenta,
        Tone::Label | Tone::Name | Tone::Number | Tone::Cost | Tone::Code | Tone::Warning | Tone::Match => {
            Color::Yellow
        }
        Tone::Error | Tone::Removed => Color::Red,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_there_are_none_and_the_selection_is_seen() {
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
}
