//! Texts for empty lists, which say how to fill them, and for a terminal that is too small.

use ratatui::layout::Rect;

use crate::app::layers::palette::PaletteKind;
use crate::app::model::Model;
use crate::app::panes::layout::SMALLEST;
use crate::app::widgets::TextBox;
use crate::base::paths::shorten;
use crate::base::text::Tone;
use crate::keymap::Action;
use crate::render::DocLine;
use crate::render::wrap::Wrapped;
use crate::ui::paint::{Painter, rows};

pub(super) fn too_small(painter: &Painter<'_>) {
    let (columns, rows) = SMALLEST;
    let area = painter.area();
    let text = format!("terminal too small: {}x{}; pitree needs {columns}x{rows}", area.width, area.height);
    plain_rows(painter, area, vec![DocLine::warning(&text)]);
}

/// Draws lines without a frame.
pub(super) fn plain_rows(painter: &Painter<'_>, area: Rect, lines: Vec<DocLine>) {
    let mut wrapped = Wrapped::new(area.width.into());
    wrapped.all(&lines);
    let text_box = TextBox { size: (area.width, area.height), height: area.height.into(), lines, wrapped };
    rows(painter, area, &text_box, 0);
}

/// Returns the text for an empty palette: its state, and how rows get into it.
pub(super) fn list(kind: PaletteKind, painter: &Painter<'_>) -> Vec<DocLine> {
    let key = |action| painter.key(action);
    let accept = key(Action::Accept);
    let (state, how) = match kind {
        PaletteKind::Actions | PaletteKind::Help => ("no matching action", String::new()),
        PaletteKind::Labels => {
            let text = format!(
                "{} in the tree labels the selected entry. {accept} in this list goes to it.",
                key(Action::Label)
            );
            ("no labels yet", text)
        }
        PaletteKind::Family => {
            ("no session is open", "Select a session to see its parent, its forks and their forks.".into())
        }
        PaletteKind::Trash => {
            let delete = key(Action::Delete);
            let text = format!(
                "{delete} in the session list moves sessions here. {accept} in this list restores one with all its entries."
            );
            ("pitree's trash is empty", text)
        }
        PaletteKind::History => {
            let text =
                format!("Renames, labels, forks and sessions moved to the trash are listed here. {accept} undoes one.");
            ("no changes yet", text)
        }
        PaletteKind::Projects => {
            ("no projects yet", "A project is a directory in which you used pi. The list has all of them.".into())
        }
    };
    let mut lines = vec![DocLine::text(state)];
    if !how.is_empty() {
        lines.extend([DocLine::default(), DocLine::dim(&how)]);
    }
    lines
}

/// Draws the screen for an empty list: the searched directories and the next steps.
pub(super) fn nothing(area: Rect, model: &Model, painter: &Painter<'_>) {
    let located = &model.settings.located;
    let is_new = located.is_default() && model.catalog.unreadable.is_empty();
    let (title, dirs) = match is_new {
        true => ("No sessions yet.", format!("pitree looked where pi will write them ({}):", located.origin)),
        false => ("No sessions here.", format!("Directories searched (from {}):", located.origin)),
    };
    let mut lines = vec![DocLine::new(Tone::Strong, title), DocLine::default(), DocLine::text(&dirs)];
    for dir in &located.dirs {
        let problem = model.catalog.unreadable.iter().find(|one| &one.path == dir);
        let reason = problem.map_or("no session files; name another directory with --dir", |one| &one.reason);
        let path = shorten(&dir.to_string_lossy(), &model.settings.home).into_owned();
        lines.push(match is_new {
            true => DocLine::text(&format!("  {path}")),
            false => DocLine::warning(&format!("  {path}: {reason}")),
        });
    }
    lines.push(DocLine::default());
    for text in [
        "pitree --demo          try everything with demo sessions",
        "pitree --dir DIR       read another directory",
        "pitree config          print the config file path; set dirs = [...] there",
        "pitree setup           check pi, its sessions and this terminal",
    ] {
        lines.push(DocLine::text(text));
    }
    lines.push(DocLine::default());
    let (reload, quit) = (painter.key(Action::Reload), painter.key(Action::Quit));
    let dot = &painter.glyphs().dot;
    let last = format!("pi creates a session with your first message. {reload}: search again {dot} {quit}: quit");
    lines.push(DocLine::dim(&last));
    let inside = Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(1),
    };
    plain_rows(painter, inside, lines);
}
