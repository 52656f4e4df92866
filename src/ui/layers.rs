//! Draws the layers over the panes, topmost last. Input lines are drawn in the footer, statistics in a file of their own.

use ratatui::layout::Rect;

use crate::app::layers::Layer;
use crate::app::layers::compare::CompareView;
use crate::app::layers::context::{ContextView, above, bar};
use crate::app::layers::menu::MenuView;
use crate::app::layers::palette::{ABOUT, Palette, PaletteKind};
use crate::app::model::Model;
use crate::app::panes::tree::row_text;
use crate::base::numbers::{count, thousands, tokens};
use crate::base::text::{Span, Tone, clean, spans_width, width};
use crate::keymap::{Action, Key};
use crate::render::DocLine;
use crate::session::compare::description::SIDES;
use crate::session::prompt::listing::{ContextShare, Listing, ListingRow};
use crate::ui::empty;
use crate::ui::paint::{ListView, Painter, both, boxed, boxed_at, cut, list, rows, typed};
use crate::ui::{files, stats};

pub(super) fn draw(model: &Model, painter: &Painter<'_>) {
    for layer in &model.layers.0 {
        match layer {
            // The footer draws their input line.
            Layer::Find(_) => {}
            Layer::Prompt(prompt) => {
                // A prompt completes only directories.
                let room = usize::from(painter.area().width).saturating_sub(3);
                let cut = |option: &String| painter.glyphs().cut_path(&clean(option), room).into_owned();
                let options: Vec<String> = prompt.options.iter().map(cut).collect();
                let options: Vec<(&str, &str)> = options.iter().map(|option| (&**option, "")).collect();
                candidates(painter, &options, None);
            }
            Layer::Search(_) => {
                let Some(cycle) = model.search.as_ref().and_then(|search| search.cycle.as_ref()) else { continue };
                let options: Vec<(&str, &str)> =
                    cycle.options.iter().map(|option| (&*option.text, &*option.means)).collect();
                candidates(painter, &options, Some(cycle.at));
            }
            Layer::Context(view) => draw_context(view, painter),
            Layer::Stats(view) => stats::draw(view, painter),
            Layer::Files(view) => files::draw(view, painter),
            Layer::FileText(view) => files::draw_text(view, painter),
            Layer::Palette(palette) => draw_palette(palette, model, painter),
            Layer::Question(question) => {
                let text_box = question.text_box(model.size);
                let (take, leave) = (painter.key(Action::Confirm), painter.key(Action::Back));
                let foot = format!("{take}: {} {} {leave}: cancel", question.answer_word(), painter.glyphs().dot);
                let inner = boxed(painter, text_box.size, question.title, &foot);
                rows(painter, inner, &text_box, question.top);
                for (at, row) in inner.rows().enumerate() {
                    if question.is_selected(&text_box, question.top + at) {
                        painter.select(row);
                    }
                }
            }
            Layer::MessageBox(note) => {
                let text_box = note.text_box(model.size);
                let foot = match text_box.scrolls() {
                    true => format!("up/down: scroll {} any other key: close", painter.glyphs().dot),
                    false => "any key: close".into(),
                };
                let inner = boxed(painter, text_box.size, &note.title, &foot);
                rows(painter, inner, &text_box, note.top);
            }
            Layer::Compare(compare) => draw_comparison(compare, model, painter),
            Layer::Menu(menu) => draw_menu(menu, painter),
        }
    }
}

/// The maximum number of visible candidates.
const CANDIDATES: usize = 8;

/// Draws completion candidates with descriptions above an input line. Highlights the inserted candidate.
fn candidates(painter: &Painter<'_>, options: &[(&str, &str)], at: Option<usize>) {
    if options.is_empty() {
        return;
    }
    let screen = painter.area();
    let height = options.len().min(CANDIDATES).min(usize::from(screen.height.saturating_sub(4)));
    // Center the inserted candidate if there are enough others around it.
    let top = at.unwrap_or(0).saturating_sub(height / 2).min(options.len() - height);
    let columns = usize::from(screen.width);
    let seen = &options[top..top + height];
    let most = |part: fn(&(&str, &str)) -> usize| seen.iter().map(part).max().unwrap_or(0);
    // Descriptions get the width they need, up to half of the line.
    let means = most(|(_, means)| width(means)).min(columns / 2);
    let text = most(|(text, _)| width(&clean(text))).min(columns.saturating_sub(means + 3));
    let rule = Rect { y: screen.bottom() - 2 - height as u16, height: 1, ..screen };
    painter.put(rule, &[Span::dim(painter.glyphs().dash.repeat(columns))]);
    for (row, (text_of, means)) in (0..).zip(&options[top..top + height]) {
        let area = Rect { y: rule.y + 1 + row, height: 1, ..screen };
        let value = painter.glyphs().cut_middle(&clean(text_of), text, text / 2).into_owned();
        let gap = " ".repeat(text - width(&value) + 2);
        let means = Span::dim(*means);
        let mut spans = vec![Span::text(format!(" {value}{gap}")), means];
        spans.push(Span::text(" ".repeat(columns.saturating_sub(spans_width(&spans)))));
        painter.put(area, &spans);
        if at == Some(top + usize::from(row)) {
            painter.select(area);
        }
    }
}

fn draw_menu(menu: &MenuView, painter: &Painter<'_>) {
    let area = menu.area(painter.area().as_size().into());
    let inner = boxed_at(painter, area, menu.menu.title(), "");
    for ((at, (key, action)), row) in menu.rows.iter().enumerate().skip(menu.cursor.top).zip(inner.rows()) {
        let key = Key { menu: None, ..*key }.symbol(painter.is_ascii());
        painter.put(row, &[Span::accent(format!("{key:<3}")), Span::text(action.row().title)]);
        if at == menu.cursor.at {
            painter.select(row);
        }
    }
}

fn draw_comparison(compare: &CompareView, model: &Model, painter: &Painter<'_>) {
    let area = CompareView::area(model.size);
    painter.clear(area);
    let columns = usize::from(area.width);
    let lines = head(compare, model, painter, columns).into_iter().zip(area.rows());
    lines.for_each(|(spans, row)| painter.put(row, &cut(&spans, columns, painter.glyphs())));
    let (body, rows) = (CompareView::body(model.size), &compare.rows);
    let shown = ListView { area: body, cursor: compare.cursor, len: rows.len(), focused: true };
    list(painter, &shown, |at, columns| cut(&rows[at].spans, columns, painter.glyphs()));
    if compare.compared.is_none() {
        painter.put(Rect { height: 1.min(body.height), ..body }, &[Span::dim(" reading both")]);
    }
}

/// Draws the common part, a line for each branch, and a separator.
fn head(compare: &CompareView, model: &Model, painter: &Painter<'_>, columns: usize) -> [Vec<Span>; 4] {
    let glyphs = painter.glyphs();
    let row = |tree, at, room: usize| row_text::entry(tree, at, &model.settings, room);
    let compared = compare.compared.as_deref();
    let mut common = vec![Span::new(Tone::Heading, " Compare")];
    if let Some(compared) = compared {
        let shared = count(compared.comparison.shared, "common entry", "common entries");
        common.push(Span::dim(format!("  {shared}, ending at  ")));
        common.extend(row(&compared.ends[0].tree, compared.comparison.common[0], columns));
    }
    let side = |at: usize| {
        let is_chosen = compare.chosen == at;
        let (mark, tone) = if is_chosen { (&*glyphs.focus, Tone::Accent) } else { (" ", Tone::Text) };
        let is_repeated = at == 1 && compare.titles[0] == compare.titles[1];
        let title = glyphs.cut(if is_repeated { &glyphs.ellipsis } else { &compare.titles[at] }, columns / 2);
        let mut spans = vec![Span::accent(mark), Span::new(tone, format!("{}  {title}", SIDES[at]))];
        if let Some(compared) = compared {
            spans.push(Span::dim(format!(" {} ", glyphs.dot)));
            let room = columns.saturating_sub(width(&title) + 8);
            match compared.comparison.sides[at].entries {
                0 => spans.push(Span::dim("no entries after the common entry")),
                _ => spans.extend(row(&compared.ends[at].tree, compared.comparison.ends[at], room)),
            }
        }
        spans
    };
    [common, side(0), side(1), vec![Span::dim(glyphs.dash.repeat(columns))]]
}

fn draw_palette(palette: &Palette, model: &Model, painter: &Painter<'_>) {
    let keys = keys(palette.kind);
    let Rect { width: columns, height, .. } = palette.area(model.size);
    let room = usize::from(columns.saturating_sub(6));
    let title = painter.glyphs().cut(palette.kind.name(), room);
    boxed(painter, (columns, height), &title, &foot(&keys, model, painter, room));
    let area = palette.list_area(model.size);
    let line = Rect { y: area.y.saturating_sub(1), height: 1, ..area };
    let (shown, all) = palette.counts();
    let is_reading = match palette.kind {
        PaletteKind::Actions | PaletteKind::Help => false,
        PaletteKind::Trash | PaletteKind::History => model.history.is_none(),
        PaletteKind::Labels | PaletteKind::Family | PaletteKind::Projects => !model.catalog.progress.finished,
    };
    let counts = match (is_reading, shown == all) {
        (true, _) => format!(" {} so far", thousands(shown)),
        (false, true) => format!(" {}", thousands(all)),
        (false, false) => format!(" {} of {}", thousands(shown), thousands(all)),
    };
    let counts = [Span::dim(counts)];
    let room = usize::from(line.width).saturating_sub(spans_width(&counts) + 2);
    let mut left = vec![Span::accent("> ")];
    left.extend(typed(&palette.line, room));
    painter.put_both(line, &left, &counts);
    if shown == 0 {
        let lines = match (is_reading, all) {
            (true, _) => vec![DocLine::dim("reading")],
            (false, 0) => empty::list(palette.kind, painter),
            (false, _) => vec![DocLine::dim("no match")],
        };
        return empty::plain_rows(painter, area, lines);
    }
    if let (true, Some(selected)) = (palette.has_descriptions(), palette.selected()) {
        let rule = Rect { y: area.bottom(), height: 1, ..area };
        painter.put(rule, &[Span::dim(painter.glyphs().dash.repeat(rule.width.into()))]);
        let below = Rect { y: rule.y + 1, height: ABOUT - 1, ..area };
        empty::plain_rows(painter, below, vec![DocLine::dim(&selected.about)]);
    }
    // The scroll bar is beside the rows.
    let rows =
        ListView { area: Rect { width: area.width + 1, ..area }, cursor: palette.cursor, len: shown, focused: true };
    list(painter, &rows, |at, columns| {
        let (left, right) = palette.drawn(at, columns, painter.glyphs());
        both(&left, &right, columns, painter.glyphs())
    });
}

/// Returns the keys of a palette.
fn keys(kind: PaletteKind) -> Vec<(Action, &'static str)> {
    let accept = match kind {
        PaletteKind::Actions => "run",
        PaletteKind::Labels => "go to entry",
        PaletteKind::Family => "show or hide in tree",
        PaletteKind::Trash => "restore",
        PaletteKind::History => "undo",
        PaletteKind::Projects => "go to project",
        PaletteKind::Help => "run",
    };
    let of_labels = [(Action::RenameLabel, "rename")];
    let of_labels = of_labels.into_iter().filter(|_| kind == PaletteKind::Labels);
    [(Action::Accept, accept)].into_iter().chain(of_labels).chain([(Action::Cancel, "close")]).collect()
}

/// Returns the key hints that fit.
fn foot(keys: &[(Action, &str)], model: &Model, painter: &Painter<'_>, columns: usize) -> String {
    let foot = |keys: &[(Action, &str)]| {
        let keys = keys.iter().map(|(action, word)| format!("{}: {word}", model.settings.key(*action)));
        keys.collect::<Vec<_>>().join(&format!(" {} ", painter.glyphs().dot))
    };
    let feet = [foot(keys), foot(&[(Action::Accept, "accept"), (Action::Cancel, "close")])];
    feet.into_iter().find(|foot| width(foot) <= columns).unwrap_or_default()
}

/// Columns of a share's name, its tokens and its percentage.
const SHARE_COLUMNS: (usize, usize, usize) = (9, 9, 5);

fn draw_context(view: &ContextView, painter: &Painter<'_>) {
    let all = painter.area();
    let area = Rect { height: all.height.saturating_sub(1), ..all };
    painter.clear(area);
    let row = |row: u16| Rect { x: 1, y: row, width: area.width.saturating_sub(2), height: 1 };
    let title = [Span::accent("Model context  "), Span::text(&*view.title)];
    painter.put(row(0), &title);
    match &view.listing {
        None => painter.put(row(1), &[Span::dim("reading the entries")]),
        Some(Err(error)) => painter.put(row(1), &[Span::clean(Tone::Error, error)]),
        Some(Ok(listing)) => {
            match &view.planned {
                Some(planned) => painter.put(row(1), &[Span::new(Tone::Active, planned.summary())]),
                None => painter.put(row(1), &[Span::text(listing.summary(&painter.glyphs().dot))]),
            }
            painter.put(row(2), &cells(listing, row(2).width.into()));
            painter.put(row(3), &legend(listing));
            let above = above(all.height);
            if above > 5 {
                painter.put(row(4), &[Span::dim(&*view.sum)]);
            }
            let (name, number, share) = SHARE_COLUMNS;
            let headings = format!("  {:name$}{:>number$}{:>share$}  message", "from", "tokens", "%");
            painter.put(row(above - 1), &[Span::accent(headings)]);
            let area = Rect { y: above, height: area.height.saturating_sub(above), ..area };
            let all = listing.all_tokens();
            let rows = ListView { area, cursor: view.cursor, len: view.rows.len(), focused: true };
            list(painter, &rows, |at, _| {
                let row = &view.rows[at];
                listing_row(row, view, &painter.model.settings.cell(&row.text), all)
            });
            if view.rows.is_empty() {
                let text = " empty conversation; pi adds its own system prompt";
                painter.put(Rect { height: 1.min(area.height), ..area }, &[Span::dim(text)]);
            }
        }
    }
}

fn share_tone(share: ContextShare) -> Tone {
    match share {
        ContextShare::System => Tone::Cost,
        ContextShare::Summary => Tone::Summary,
        ContextShare::User => Tone::User,
        ContextShare::Custom => Tone::Label,
        ContextShare::Assistant => Tone::Assistant,
        ContextShare::Tools => Tone::Tool,
    }
}

/// Draws the bar: each share proportional to its tokens, drawn with its letter.
fn cells(listing: &Listing, columns: usize) -> Vec<Span> {
    let cells = bar(&listing.shares, columns)
        .into_iter()
        .zip(ContextShare::ALL.iter().copied())
        .filter(|(cells, _)| *cells > 0);
    cells.map(|(cells, share)| Span::new(share_tone(share), share.letter().to_string().repeat(cells))).collect()
}

/// Draws the legend: the letters with names and token counts.
fn legend(listing: &Listing) -> Vec<Span> {
    let there = ContextShare::ALL.iter().copied().filter(|share| listing.shares[*share as usize] > 0);
    let reported = |share: ContextShare| {
        let taken = tokens(listing.shares[share as usize] as f64);
        let part = part(listing.shares[share as usize], listing.all_tokens());
        let name = if share == ContextShare::System { "system and tools" } else { share.name() };
        [Span::new(share_tone(share), format!("{} ", share.letter())), Span::dim(format!("{name} {taken} {part}   "))]
    };
    there.flat_map(reported).collect()
}

/// Formats a share as a percentage.
fn part(of: u64, all: u64) -> String {
    match 100 * of / all.max(1) {
        0 if of > 0 => "<1%".into(),
        part => format!("{part}%"),
    }
}

fn listing_row(row: &ListingRow, view: &ContextView, text: &str, all: u64) -> Vec<Span> {
    let (name, number, share) = SHARE_COLUMNS;
    let tokens = row.tokens.map_or(String::new(), |tokens| thousands(tokens as usize));
    let taken = row.tokens.filter(|_| row.why.is_none()).map_or(String::new(), |tokens| part(tokens, all));
    let mark = if view.marked.contains(&row.at) { '*' } else { ' ' };
    let head = format!("{mark}{} {:name$}{tokens:>number$}{taken:>share$}  ", row.share.letter(), row.share.name());
    if let Some(edit) = view.planned.as_ref().and_then(|planned| planned.edit(row.at)) {
        let edited = match edit.tokens[1] {
            0 => format!("{}  ", edit.kind.name()),
            after => format!("{} to {}  ", edit.kind.name(), thousands(after as usize)),
        };
        return vec![Span::dim(head), Span::new(Tone::Active, edited), Span::dim(text)];
    }
    match row.why {
        None => vec![Span::new(share_tone(row.share), head), Span::text(text)],
        Some(why) => {
            let text = if text.is_empty() { String::new() } else { format!(": {text}") };
            vec![Span::dim(format!("{head}{}{text}", why.text()))]
        }
    }
}
