//! The help: key bindings, query syntax and symbols, with a filter. The keys of the layer or pane below come first.

use std::sync::Arc;

use crate::app::layers::screen::{LayerResult, Screen, movement};
use crate::app::settings::Settings;
use crate::app::widgets::{LineEdit, TerminalSize, TextBox, largest};
use crate::base::text::{Span, Tone, clean, width};
use crate::keymap::{Action, Key, KeyContext};
use crate::render::DocLine;
use crate::search::qualifier;

/// Maximum width of the help.
const WIDEST: u16 = 110;
/// Width below which the explanation is on a line of its own.
const NARROW: u16 = 84;
/// Maximum width of the column of keys.
const KEYS: usize = 19;
/// Heading for the keys of the layer below the help.
const HERE: &str = "Here";
/// Heading for the query syntax.
const QUERIES: &str = "Query syntax";
/// Query syntax besides qualifiers.
const LANGUAGE: &[(&str, &str)] = &[
    ("word", "Match a word in names, labels, messages, summaries, IDs and directories"),
    ("\"two words\"", "Match words in sequence"),
    ("-word", "Exclude sessions with the word or qualifier"),
    ("re:o?auth", "Match a regular expression; must be the whole query"),
    ("all: word", "Also search tool output, thinking, arguments and custom entries"),
];
/// Heading for the symbols.
const SYMBOLS: &str = "Symbols";
/// A symbol that is not a glyph.
const OWN_COST: (&str, &str) = ("+$0.10", "Cost of a fork without its inherited entries");
/// Heading for saved queries.
const SAVED: &str = "Saved queries";

/// State of the help.
#[derive(Clone, Debug, Default)]
pub struct Help {
    /// The filter.
    pub line: LineEdit,
    /// The layer below the help, or the focused pane.
    pub over: Option<KeyContext>,
    /// The first visible row.
    pub top: usize,
    /// The settings, with the keys and glyphs.
    pub settings: Arc<Settings>,
}

/// A key binding, a part of the query syntax, a symbol or a saved query.
struct HelpEntry {
    title: &'static str,
    keys: String,
    help: String,
    name: String,
}

impl Help {
    /// Returns the rows that contain every word of the filter.
    fn rows(&self) -> Vec<HelpEntry> {
        let setting = &*self.settings;
        let words: Vec<String> = self.line.value().split_whitespace().map(str::to_lowercase).collect();
        let has = |row: &HelpEntry| {
            let text = format!("{} {} {} {}", row.keys, row.name, row.help, row.title).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let saved = setting.config.queries.iter().map(|saved| HelpEntry {
            title: SAVED,
            keys: saved.key.map_or(String::new(), |key| key.to_string()),
            help: clean(&format!("Search for {}", saved.query)).into(),
            name: clean(&saved.name).into(),
        });
        let entry = |title, action: Action| {
            let (row, keys) = (action.row(), setting.config.keymap.keys_text(action));
            HelpEntry { title, keys, help: row.help.into(), name: row.name.into() }
        };
        let here = self.over.into_iter().flat_map(|place| {
            // The section of a pane omits the keys that work in all panes.
            let is_common = move |places: &[KeyContext]| {
                KeyContext::PANES.contains(&place) && KeyContext::PANES.iter().all(|pane| places.contains(pane))
            };
            let is_shown = move |places: &[KeyContext]| places.contains(&place) && !is_common(places);
            let actions = Action::ALL.iter().filter(move |action| is_shown(action.row().contexts));
            let title = match place {
                KeyContext::Sessions => "Sessions pane",
                KeyContext::Tree => "Tree pane",
                KeyContext::Preview => "Preview pane",
                _ => HERE,
            };
            actions.map(move |&action| entry(title, action))
        });
        let language = LANGUAGE.iter().map(|&(query, help)| (query, help.into())).chain(qualifier::rows());
        let query =
            |(query, help): (&str, String)| HelpEntry { title: QUERIES, keys: query.into(), help, name: String::new() };
        let language = Some(language.map(query));
        let (first, last) = if self.over == Some(KeyContext::Search) { (language, None) } else { (None, language) };
        let (sign, means) = OWN_COST;
        let signs = setting.glyphs.all().chain([("", means, sign)]);
        let signs = signs.map(|(name, means, sign)| HelpEntry {
            title: SYMBOLS,
            keys: sign.into(),
            help: means.into(),
            name: name.into(),
        });
        let all = Action::ALL.iter().map(|&action| entry(action.row().group.name(), action));
        let keys = here.chain(first.into_iter().flatten()).chain(all);
        keys.chain(last.into_iter().flatten()).chain(saved).chain(signs).filter(has).collect()
    }

    /// Returns the content of the box without the row of the filter.
    pub(crate) fn text_box(&self, terminal: TerminalSize) -> TextBox {
        let size = largest(terminal, WIDEST);
        let rows = self.rows();
        let widest = |part: fn(&HelpEntry) -> &str| rows.iter().map(|row| width(part(row))).max().unwrap_or(0);
        let (keys, names) = (widest(|row| &row.keys).min(KEYS), widest(|row| &row.name));
        let mut lines: Vec<DocLine> = Vec::new();
        let mut group = None;
        for row in &rows {
            if group != Some(row.title) {
                if group.is_some() {
                    lines.push(DocLine::default());
                }
                lines.push(DocLine::new(Tone::Heading, row.title));
                group = Some(row.title);
            }
            let padded =
                |text: &str, columns: usize| format!("  {text}{}", " ".repeat(columns.saturating_sub(width(text))));
            let mut spans = vec![Span::accent(padded(&row.keys, keys))];
            spans.push(Span::dim(padded(&row.name, names)));
            let mut indent = keys + names + 6;
            if size.0 < NARROW {
                lines.push(DocLine { spans: std::mem::take(&mut spans), indent: 4, verbatim: false });
                spans.push(Span::text("  "));
                indent = 4;
            }
            spans.push(Span::text(format!("  {}", row.help)));
            lines.push(DocLine { spans, indent: u16::try_from(indent).unwrap_or_default(), verbatim: false });
        }
        if lines.is_empty() {
            lines.push(DocLine::dim("no match"));
        }
        // The box keeps its size while the user types.
        let mut text_box = TextBox::new(lines, size, 1);
        text_box.height = usize::from(size.1.saturating_sub(3));
        text_box.size = size;
        text_box
    }
}

impl Screen for Help {
    fn press(&mut self, key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        let page = usize::from(terminal.1 / 2);
        match action {
            Some(leaving @ (Action::Quit | Action::Suspend)) => return LayerResult::Act(leaving),
            Some(Action::Back) if !self.line.value().is_empty() => self.line = LineEdit::default(),
            Some(Action::Back | Action::Help | Action::Confirm) => return LayerResult::Close,
            action => {
                if let Some(by) = action.and_then(|action| movement(action, page)) {
                    return self.wheel(by, terminal);
                }
                if self.line.press(key, action) {
                    self.top = 0;
                }
            }
        }
        LayerResult::Stay
    }

    fn paste(&mut self, text: &str) -> LayerResult {
        self.line.paste(text);
        self.top = 0;
        LayerResult::Stay
    }

    fn click(&mut self, _position: (u16, u16), _terminal: TerminalSize) -> LayerResult {
        LayerResult::Close
    }

    fn wheel(&mut self, by: isize, terminal: TerminalSize) -> LayerResult {
        self.top = self.text_box(terminal).scrolled(self.top, by);
        LayerResult::Stay
    }

    fn hints(&self) -> &'static [Action] {
        &[Action::Back, Action::Down, Action::Up, Action::PageDown, Action::Quit]
    }
}
