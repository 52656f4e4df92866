//! Draws the preview: the visible rows of the wrapped text.

use ratatui::layout::Rect;

use crate::app::model::Model;
use crate::app::panes::layout::PaneArea;
use crate::app::panes::preview::{HiddenHits, PreviewSubject};
use crate::base::text::{Span, Tone};
use crate::keymap::KeyContext;
use crate::render::wrap::VerbatimStyle;
use crate::session::entry::kind::EntryKind;
use crate::ui::paint::{Painter, hits, scroll_bar, text_position, title};

pub(in crate::ui) fn draw(area: PaneArea, model: &Model, painter: &Painter<'_>) {
    let pane = &model.preview;
    let height = usize::from(area.body.height);
    let (top, len, is_whole) = pane.seen(model.now);
    let hits = pane.hit().map(|(at, count)| match pane.find.as_ref().and_then(|find| find.hidden_hits) {
        Some(HiddenHits::Arguments) => "hit in arguments".into(),
        Some(HiddenHits::Other) => "hit in hidden text".into(),
        None => hits(Some(at), count),
    });
    let side = match &pane.wrapped.style {
        VerbatimStyle { is_scrolled: false, .. } => None,
        VerbatimStyle { left: 0, .. } => Some("unwrapped".into()),
        VerbatimStyle { left, .. } => Some(format!("from column {}", left + 1)),
    };
    let place = text_position(top, height, len, is_whole);
    let facts: Vec<String> = [hits, side, place].into_iter().flatten().collect();
    let mut right = facts.join(&format!(" {} ", painter.glyphs().dot));
    right.extend((!facts.is_empty()).then_some(' '));
    let focused = model.focus == KeyContext::Preview;
    title(painter, area, focused, (Span::clean(Tone::Text, &name(model)), "", right));
    for (row, spans) in area.text().rows().zip(pane.rows(height, model.now)) {
        painter.put(row, &spans);
    }
    if pane.lines.is_empty() && pane.is_late(model.now) && pane.subject != PreviewSubject::Nothing {
        painter.put(Rect { height: 1, ..area.body }, &[Span::dim(" reading")]);
    }
    scroll_bar(area.body, painter, top, len);
}

fn name(model: &Model) -> String {
    match &model.preview.subject {
        PreviewSubject::Nothing => "Reader".into(),
        PreviewSubject::Project(_) => "Project".into(),
        PreviewSubject::Session(_) => "Session".into(),
        PreviewSubject::Run(_) => "Tools".into(),
        PreviewSubject::MissingParent(_) => "Missing session".into(),
        PreviewSubject::Entry(entry) => {
            let node = model.tree.file(entry.session).and_then(|tree| tree.nodes.get(entry.at as usize));
            match node.map(|node| node.kind) {
                Some(EntryKind::User) => "User".into(),
                Some(EntryKind::Assistant) => "Assistant".into(),
                Some(EntryKind::ToolResult) => "Tool".into(),
                Some(EntryKind::Bash) => "Bash".into(),
                Some(EntryKind::Compaction) => "Compaction".into(),
                Some(EntryKind::BranchSummary) => "Branch summary".into(),
                Some(EntryKind::Label) => "Label".into(),
                Some(EntryKind::SessionInfo) => "Session name".into(),
                Some(EntryKind::ModelChange) => "Model change".into(),
                Some(EntryKind::ThinkingLevel) => "Thinking level".into(),
                Some(EntryKind::Usage) => "Usage".into(),
                Some(EntryKind::ContextEdit) => "Context edit".into(),
                Some(EntryKind::Custom | EntryKind::CustomMessage) => "Extension".into(),
                Some(EntryKind::SystemRole) => "System".into(),
                Some(EntryKind::CustomRole | EntryKind::SummaryRole | EntryKind::OtherMessage) => "Message".into(),
                Some(EntryKind::Unknown) | None => "Entry".into(),
            }
        }
    }
}
