//! Lines of the card: facts, items of lists, and bars.

use ratatui::layout::Size;

use crate::app::model::Model;
use crate::app::title::words_after_name;
use crate::base::numbers::bar;
use crate::base::text::{ASCII, Glyphs, Span, Tone, truncate_to_width, width};
use crate::catalog::SessionKey;
use crate::render::DocLine;
use crate::render::wrap::Wrapped;
use crate::session::space::SpaceKind;

/// Maximum number of kinds of content, and width of the longest bar.
const KINDS: usize = 4;
pub(super) const BAR: usize = 24;

/// Width of the names of facts.
pub(super) const NAMES: usize = 12;

/// Returns a line with a name and its value.
pub(super) fn fact(name: &str, value: &str) -> DocLine {
    let gap = " ".repeat(NAMES.saturating_sub(width(name)));
    let spans = vec![Span::dim(format!("{name}{gap}")), Span::clean(Tone::Text, value)];
    DocLine { spans, indent: NAMES as u16, ..DocLine::default() }
}

/// Limits a fact to the rows available for it.
pub(super) fn shortened(mut line: DocLine, room: Size, glyphs: &Glyphs) -> DocLine {
    let rows = usize::from(room.height / 5).clamp(2, 8);
    let mut wrapped = Wrapped::new(room.width.into());
    wrapped.ensure(std::slice::from_ref(&line), rows + 1);
    let place = |row: usize| wrapped.place(std::slice::from_ref(&line), row).map(|(_, byte)| byte);
    if let (Some(start), Some(end), Some(value)) = (place(rows - 1), place(rows), line.spans.get(1)) {
        let name = line.spans[0].text.len();
        let (Some(start), Some(end)) = (start.checked_sub(name), end.checked_sub(name)) else { return line };
        // The last row needs room for the ellipsis.
        let (before, last) = value.text[..end].split_at(start);
        let most = usize::from(room.width).saturating_sub(NAMES + width(&glyphs.ellipsis));
        line.spans[1].text = format!("{before}{}{}", truncate_to_width(last, most).trim_end(), glyphs.ellipsis);
    }
    line
}

/// Returns the largest kinds of content with bars, once they are known.
pub(super) fn space(model: &Model, key: SessionKey, columns: usize) -> Vec<DocLine> {
    let Some(known) = model.sizes.kinds.get(&key) else { return Vec::new() };
    let total: u64 = known.kinds.iter().map(|(_, bytes)| bytes).sum();
    let share = |bytes: u64| bytes as f64 / total.max(1) as f64;
    let kinds: Vec<_> = known.kinds.iter().take(KINDS).filter(|(_, bytes)| share(*bytes) >= 0.005).collect();
    let widest = kinds.iter().map(|(kind, _)| width(kind.words())).max().unwrap_or_default();
    let room = columns.saturating_sub(widest + " 100 %".len() + 2).min(BAR);
    let most = kinds.first().map_or(0.0, |(_, bytes)| share(*bytes));
    let line = |(at, (kind, size)): (usize, &&(SpaceKind, u64))| {
        let bar = bar(share(*size) / most, room, model.settings.glyphs == ASCII);
        let name = format!("{:NAMES$}", if at == 0 { "space" } else { "" });
        let number = format!("{}{:>4.0} %", " ".repeat(room - width(&bar)), 100.0 * share(*size));
        let spans = vec![
            Span::dim(name),
            Span::text(format!("{:widest$} ", kind.words())),
            Span::new(Tone::Cost, bar),
            Span::text(number),
        ];
        DocLine { spans, indent: NAMES as u16, ..DocLine::default() }
    };
    kinds.iter().enumerate().map(line).collect()
}

/// Returns a line for a session of the family: its name, and for a fork its first own words.
pub(super) fn related(model: &Model, name: &str, key: SessionKey) -> DocLine {
    let mut line = fact(name, &model.short_title(key));
    let words = words_after_name(&model.catalog[key], &model.settings).filter(|_| model.catalog[key].header.is_fork());
    line.spans.extend(words.map(|words| Span::dim(format!("  {}", model.short(&words)))));
    line
}

pub(super) fn item(spans: Vec<Span>) -> DocLine {
    DocLine { spans, indent: 2, ..DocLine::default() }
}
