//! A key press in a normal form: from the terminal, from `config.toml`, and back to text.

use std::fmt;
use std::str::FromStr;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::keymap::action::Menu;

/// A key with its modifiers, in a normal form: two presses that mean the same are equal.
///
/// Shift is part of the character (`G`, `?`) wherever the terminal can tell the characters apart.
/// With Ctrl it cannot: there the letter is lower case and Shift stays a modifier (`ctrl+shift+o`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The key without its modifiers.
    pub(crate) code: KeyCode,
    /// The modifiers that are not part of the character.
    pub(crate) modifiers: KeyModifiers,
    /// The menu in which the key is pressed: `m r` is `r` in the menu `m`.
    pub(crate) menu: Option<Menu>,
}

/// A key with a name: code, name in `config.toml`, other accepted names, and the short forms for the footer, the last one
/// where only ASCII can be shown.
const NAMED_KEYS: [(KeyCode, &str, &[&str], &str, &str); 15] = [
    (KeyCode::Char(' '), "space", &["spc"], "␣", "space"),
    (KeyCode::Enter, "enter", &["return", "cr"], "↵", "enter"),
    (KeyCode::Esc, "esc", &["escape"], "esc", "esc"),
    (KeyCode::Tab, "tab", &[], "⇥", "tab"),
    (KeyCode::Backspace, "backspace", &["bs", "bksp"], "⌫", "bksp"),
    (KeyCode::Delete, "delete", &["del"], "Del", "Del"),
    (KeyCode::Insert, "insert", &["ins"], "Ins", "Ins"),
    (KeyCode::Left, "left", &[], "←", "left"),
    (KeyCode::Right, "right", &[], "→", "right"),
    (KeyCode::Up, "up", &[], "↑", "up"),
    (KeyCode::Down, "down", &[], "↓", "down"),
    (KeyCode::Home, "home", &[], "Home", "Home"),
    (KeyCode::End, "end", &[], "End", "End"),
    (KeyCode::PageUp, "pageup", &["pgup", "page-up"], "PgUp", "PgUp"),
    (KeyCode::PageDown, "pagedown", &["pgdn", "pgdown", "page-down"], "PgDn", "PgDn"),
];

/// The highest function key a terminal can report.
const LAST_FUNCTION_KEY: u8 = 35;

/// A modifier: flag, name, other spellings, symbol, symbol in ASCII. In the order in which they are written.
const MODIFIERS: [(KeyModifiers, &str, &[&str], &str, &str); 4] = [
    (KeyModifiers::CONTROL, "ctrl", &["control"], "^", "^"),
    (KeyModifiers::ALT, "alt", &["option", "opt"], "alt+", "alt+"),
    (KeyModifiers::SUPER, "super", &["cmd", "win"], "super+", "super+"),
    (KeyModifiers::SHIFT, "shift", &[], "⇧", "shift+"),
];

impl Key {
    /// The normal form of a key; `None` for one that has no name here (a lone modifier, a media key, Hyper and Meta).
    pub fn new(code: KeyCode, modifiers: KeyModifiers) -> Option<Self> {
        if modifiers.intersects(KeyModifiers::HYPER | KeyModifiers::META) {
            return None;
        }
        match code {
            KeyCode::BackTab => {
                Some(Self { code: KeyCode::Tab, modifiers: modifiers | KeyModifiers::SHIFT, menu: None })
            }
            KeyCode::Char(c) => Self::from_char(c, modifiers),
            KeyCode::F(1..=LAST_FUNCTION_KEY) => Some(Self { code, modifiers, menu: None }),
            _ => NAMED_KEYS.iter().any(|named| named.0 == code).then_some(Self { code, modifiers, menu: None }),
        }
    }

    fn from_char(c: char, mut modifiers: KeyModifiers) -> Option<Self> {
        if c.is_control() {
            return None;
        }
        let c = if modifiers.contains(KeyModifiers::CONTROL) {
            single(c.to_lowercase()).unwrap_or(c)
        } else if modifiers.contains(KeyModifiers::SHIFT) {
            single(c.to_uppercase()).unwrap_or(c)
        } else {
            c
        };
        if !(modifiers.contains(KeyModifiers::CONTROL) && c.is_alphabetic()) {
            modifiers.remove(KeyModifiers::SHIFT);
        }
        Some(Self { code: KeyCode::Char(c), modifiers, menu: None })
    }

    /// Returns the key of a press or a repeat, or `None` for a release and for keys that cannot be bound.
    pub(crate) fn from_event(event: KeyEvent) -> Option<Self> {
        match event.kind {
            KeyEventKind::Press | KeyEventKind::Repeat => Self::new(event.code, event.modifiers),
            KeyEventKind::Release => None,
        }
    }

    /// The character that the key types.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c)
                if !self.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER) =>
            {
                Some(c)
            }
            _ => None,
        }
    }

    /// The shortest form, for the footer: `^S`, `↵`, `PgUp`.
    pub fn symbol(self, ascii: bool) -> String {
        let mut text = self.menu.map_or(String::new(), |menu| format!("{} ", menu.name()));
        for (flag, _, _, symbol, plain) in MODIFIERS {
            if self.modifiers.contains(flag) {
                text.push_str(if ascii { plain } else { symbol });
            }
        }
        match (self.code, NAMED_KEYS.iter().find(|named| named.0 == self.code)) {
            (_, Some((.., symbol, plain))) => text.push_str(if ascii { plain } else { symbol }),
            (KeyCode::Char(c), None) if self.modifiers.contains(KeyModifiers::CONTROL) => text.extend(c.to_uppercase()),
            (KeyCode::Char(c), None) => text.push(c),
            (KeyCode::F(n), None) => text.push_str(&format!("F{n}")),
            _ => {}
        }
        text
    }
}

fn single<I: Iterator<Item = char>>(mut chars: I) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(menu) = self.menu {
            write!(f, "{} ", menu.name())?;
        }
        for (flag, name, ..) in MODIFIERS {
            if self.modifiers.contains(flag) {
                write!(f, "{name}+")?;
            }
        }
        match (self.code, NAMED_KEYS.iter().find(|named| named.0 == self.code)) {
            (_, Some((_, name, ..))) => f.write_str(name),
            (KeyCode::Char(c), None) => write!(f, "{c}"),
            (KeyCode::F(n), None) => write!(f, "f{n}"),
            _ => Ok(()),
        }
    }
}

impl FromStr for Key {
    type Err = String;

    /// Reads `q`, `G`, `ctrl+s`, `alt+left`, `ctrl++`: modifiers first, names in any case, characters as typed. `m r` is
    /// a key in a menu.
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((menu, key)) = text.split_once(' ').filter(|(menu, key)| !menu.is_empty() && !key.is_empty()) {
            let found = Menu::ALL.iter().find(|known| known.name() == menu);
            let found = found.ok_or_else(|| format!("unknown menu {menu:?}; the menus are m, g and v"))?;
            return Ok(Self { menu: Some(*found), ..key.parse()? });
        }
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        while let Some((word, after)) = rest.split_once('+').filter(|(word, _)| !word.is_empty()) {
            modifiers |= parse_modifier(word)?;
            rest = after;
        }
        let code = parse_code(rest)?;
        let key = Self::new(code, modifiers).ok_or_else(|| format!("the key {text:?} cannot be bound"))?;
        if modifiers.contains(KeyModifiers::SHIFT) && matches!(code, KeyCode::Char(c) if !c.is_alphabetic()) {
            let why =
                "terminals report the character and not shift; write the character that shift gives, such as ? or !";
            return Err(format!("cannot bind {text:?}: {why}"));
        }
        Ok(key)
    }
}

fn parse_modifier(word: &str) -> Result<KeyModifiers, String> {
    let is = |name: &&str| name.eq_ignore_ascii_case(word);
    let found = MODIFIERS.iter().find(|(_, name, also, ..)| is(name) || also.iter().any(is));
    found.map(|(flag, ..)| *flag).ok_or_else(|| {
        let names = MODIFIERS.map(|(_, name, ..)| name).join(", ");
        format!("unknown modifier {word:?}; the modifiers are {names}")
    })
}

fn parse_code(word: &str) -> Result<KeyCode, String> {
    if let Some(c) = single(word.chars()) {
        return Ok(KeyCode::Char(c));
    }
    let is = |name: &&str| name.eq_ignore_ascii_case(word);
    if let Some((code, ..)) = NAMED_KEYS.iter().find(|(_, name, also, ..)| is(name) || also.iter().any(is)) {
        return Ok(*code);
    }
    let number = word.strip_prefix(['f', 'F']).filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
    match number.and_then(|digits| digits.parse().ok()) {
        Some(n @ 1..=LAST_FUNCTION_KEY) => Ok(KeyCode::F(n)),
        _ if word.is_empty() => {
            Err("the key itself is missing; write it last, as in ctrl+s (the plus key is ctrl++)".to_owned())
        }
        _ => {
            let names = NAMED_KEYS.map(|(_, name, ..)| name).join(", ");
            Err(format!("unknown key {word:?}; use one character, f1 to f{LAST_FUNCTION_KEY}, or {names}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    fn error(text: &str) -> String {
        text.parse::<Key>().unwrap_err()
    }

    fn event(code: KeyCode, modifiers: KeyModifiers) -> Key {
        Key::from_event(KeyEvent::new(code, modifiers)).unwrap()
    }

    #[test]
    fn text_and_terminal_agree() {
        const CTRL_SHIFT: KeyModifiers = KeyModifiers::CONTROL.union(KeyModifiers::SHIFT);
        for (text, code, modifiers) in [
            ("q", KeyCode::Char('q'), KeyModifiers::NONE),
            ("G", KeyCode::Char('G'), KeyModifiers::SHIFT),
            ("shift+g", KeyCode::Char('G'), KeyModifiers::NONE),
            ("Shift+G", KeyCode::Char('g'), KeyModifiers::SHIFT),
            ("?", KeyCode::Char('?'), KeyModifiers::SHIFT),
            ("alt+shift+o", KeyCode::Char('O'), KeyModifiers::ALT),
            ("ctrl+s", KeyCode::Char('s'), KeyModifiers::CONTROL),
            ("ctrl+S", KeyCode::Char('S'), KeyModifiers::CONTROL),
            ("ctrl+shift+o", KeyCode::Char('O'), CTRL_SHIFT),
            ("ctrl+shift+o", KeyCode::Char('o'), CTRL_SHIFT),
            ("ctrl++", KeyCode::Char('+'), CTRL_SHIFT),
            ("shift+tab", KeyCode::BackTab, KeyModifiers::SHIFT),
            ("shift+tab", KeyCode::BackTab, KeyModifiers::NONE),
            ("ctrl+h", KeyCode::Char('h'), KeyModifiers::CONTROL),
            ("backspace", KeyCode::Backspace, KeyModifiers::NONE),
            ("space", KeyCode::Char(' '), KeyModifiers::NONE),
            (" ", KeyCode::Char(' '), KeyModifiers::NONE),
            ("PgUp", KeyCode::PageUp, KeyModifiers::NONE),
            ("F12", KeyCode::F(12), KeyModifiers::NONE),
            ("option+left", KeyCode::Left, KeyModifiers::ALT),
        ] {
            assert_eq!(key(text), event(code, modifiers), "{text}");
        }
        assert_ne!(key("g"), key("G"));
        assert_ne!(key("ctrl+o"), key("ctrl+shift+o"));
    }

    #[test]
    fn prints_as_written_in_the_configuration() {
        for text in
            ["ctrl+s", "alt+left", "shift+tab", "G", "space", "enter", "f5", "pageup", "+", "ctrl++", "ctrl+shift+o"]
        {
            assert_eq!(key(text).to_string(), text);
        }
        assert_eq!(key("Shift+Control+O").to_string(), "ctrl+shift+o");
    }

    #[test]
    fn symbols_for_the_footer() {
        for (text, symbol, ascii) in [
            ("ctrl+s", "^S", "^S"),
            ("enter", "↵", "enter"),
            ("tab", "⇥", "tab"),
            ("shift+tab", "⇧⇥", "shift+tab"),
            ("esc", "esc", "esc"),
            ("up", "↑", "up"),
            ("pageup", "PgUp", "PgUp"),
            ("alt+left", "alt+←", "alt+left"),
            ("f5", "F5", "F5"),
            ("G", "G", "G"),
            ("g", "g", "g"),
        ] {
            assert_eq!((key(text).symbol(false).as_str(), key(text).symbol(true).as_str()), (symbol, ascii));
        }
    }

    #[test]
    fn releases_and_nameless_keys_are_no_keys() {
        let of_kind = |kind| Key::from_event(KeyEvent::new_with_kind(KeyCode::Char('q'), KeyModifiers::NONE, kind));
        assert_eq!(of_kind(KeyEventKind::Release), None);
        assert_eq!(of_kind(KeyEventKind::Repeat), Some(key("q")));
        assert_eq!(Key::new(KeyCode::CapsLock, KeyModifiers::NONE), None);
        assert_eq!(Key::new(KeyCode::Char('q'), KeyModifiers::META), None);
        assert_eq!(Key::new(KeyCode::Char('\u{7}'), KeyModifiers::NONE), None);
    }

    #[test]
    fn errors_say_what_to_write() {
        assert_eq!(error("ctrl+shfit+x"), "unknown modifier \"shfit\"; the modifiers are ctrl, alt, super, shift");
        assert!(error("pgupp").starts_with("unknown key \"pgupp\"; use one character, f1 to f35, or space, enter, "));
        assert!(error("f36").starts_with("unknown key"));
        assert!(error("f+5").starts_with("unknown modifier \"f\""));
        assert!(error("").contains("missing"));
        assert!(error("ctrl+").contains("ctrl++"));
        assert!(error("shift+1").contains("write the character that shift gives"));
        assert!(error("\u{1b}").contains("cannot be bound"));
    }

    /// All there are: every character, function key and named key, with every set of modifiers where case can matter.
    #[test]
    fn every_key_survives_printing_and_parsing() {
        let codes = (char::MIN..=char::MAX).map(KeyCode::Char);
        let codes = codes.chain((0..=u8::MAX).map(KeyCode::F)).chain(NAMED_KEYS.map(|(code, ..)| code));
        for code in codes.chain([KeyCode::BackTab]) {
            let modifier_sets = if matches!(code, KeyCode::Char('\u{3000}'..)) { 1 } else { 16 };
            for bits in 0..modifier_sets {
                let Some(key) = Key::new(code, KeyModifiers::from_bits_truncate(bits)) else { continue };
                assert_eq!(key.to_string().parse(), Ok(key), "{code:?} {bits}");
                assert_eq!(Key::new(key.code, key.modifiers), Some(key), "the normal form is stable");
                assert!(!key.symbol(true).is_empty());
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_key_or_an_error(text in any::<String>(), parts in "(ctrl|shift|\\+|f|[0-9]|tab|é|.){0,6}") {
            for text in [text, parts] {
                if let Ok(key) = text.parse::<Key>() {
                    prop_assert_eq!(key.to_string().parse(), Ok(key));
                }
            }
        }
    }
}
