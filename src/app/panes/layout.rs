//! Where the panes are: the same for drawing, scrolling and the mouse.

use ratatui::layout::Rect;

use crate::keymap::Place;

/// The smallest terminal that pitree works in.
pub(crate) const SMALLEST: (u16, u16) = (40, 10);
/// From this width on all panes stand side by side.
const WIDE: u16 = 150;
/// From this width on two panes stand side by side.
const MEDIUM: u16 = 90;
/// From this height on the preview has room under the tree.
const TALL: u16 = 16;

/// The area of a pane: a title, and the rows below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaneArea {
    /// One row.
    pub title: Rect,
    /// The rest.
    pub body: Rect,
}

impl PaneArea {
    fn new(area: Rect) -> Self {
        let title = Rect { height: 1.min(area.height), ..area };
        let body = Rect { y: area.y + title.height, height: area.height - title.height, ..area };
        Self { title, body }
    }

    /// Where a text stands in the body: a column is left free at both sides, the right one for the scroll bar.
    pub fn text(&self) -> Rect {
        Rect { x: self.body.x + 1, width: self.body.width.saturating_sub(2), ..self.body }
    }

    /// Whether a place on the screen is in the pane.
    pub fn contains(&self, column: u16, row: u16) -> bool {
        let all = self.title.union(self.body);
        all.contains((column, row).into())
    }
}

/// Where everything is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The line on top.
    pub header: Rect,
    /// The list of sessions, if it is seen.
    pub sessions: Option<PaneArea>,
    /// The tree, if it is seen.
    pub tree: Option<PaneArea>,
    /// The preview, if it is seen.
    pub preview: Option<PaneArea>,
    /// Columns of lines between panes.
    pub bars: [Option<Rect>; 2],
    /// The line at the bottom.
    pub footer: Rect,
}

impl Layout {
    /// The layout of a terminal of some columns and rows, or `None` if it is too small.
    pub fn new((columns, rows): (u16, u16), focus: Place) -> Option<Self> {
        if columns < SMALLEST.0 || rows < SMALLEST.1 {
            return None;
        }
        let header = Rect::new(0, 0, columns, 1);
        let footer = Rect::new(0, rows - 1, columns, 1);
        let body = Rect::new(0, 1, columns, rows - 2);
        let column = |x: u16, width: u16| Rect { x, width, ..body };
        let bar = |x: u16| Some(column(x, 1));
        let mut layout = Self { header, footer, ..Self::default() };
        if columns >= WIDE {
            let (sessions, tree) = (percent(columns, 30), percent(columns, 38));
            layout.sessions = Some(PaneArea::new(column(0, sessions)));
            layout.tree = Some(PaneArea::new(column(sessions + 1, tree)));
            layout.preview = Some(PaneArea::new(column(sessions + tree + 2, columns - sessions - tree - 2)));
            layout.bars = [bar(sessions), bar(sessions + tree + 1)];
        } else if columns >= MEDIUM {
            let sessions = percent(columns, 40);
            layout.sessions = Some(PaneArea::new(column(0, sessions)));
            layout.bars = [bar(sessions), None];
            let right = column(sessions + 1, columns - sessions - 1);
            if rows >= TALL {
                let tree = percent(right.height, 55);
                layout.tree = Some(PaneArea::new(Rect { height: tree, ..right }));
                layout.preview = Some(PaneArea::new(Rect { y: right.y + tree, height: right.height - tree, ..right }));
            } else if focus == Place::Preview {
                layout.preview = Some(PaneArea::new(right));
            } else {
                layout.tree = Some(PaneArea::new(right));
            }
        } else {
            let area = Some(PaneArea::new(body));
            match focus {
                Place::Sessions => layout.sessions = area,
                Place::Tree => layout.tree = area,
                _ => layout.preview = area,
            }
        }
        Some(layout)
    }

    /// The area of a pane, if it is seen.
    pub fn pane(&self, place: Place) -> Option<PaneArea> {
        match place {
            Place::Sessions => self.sessions,
            Place::Tree => self.tree,
            Place::Preview => self.preview,
            _ => None,
        }
    }

    /// The pane at a place on the screen.
    pub fn at(&self, column: u16, row: u16) -> Option<(Place, PaneArea)> {
        Place::PANES
            .iter()
            .filter_map(|&place| self.pane(place).map(|area| (place, area)))
            .find(|(_, area)| area.contains(column, row))
    }
}

fn percent(of: u16, percent: u32) -> u16 {
    u16::try_from(u32::from(of) * percent / 100).unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_fill_the_screen_without_overlap() {
        for columns in (40..220).step_by(3) {
            for rows in [10, 15, 16, 24, 60] {
                for &focus in Place::PANES {
                    let layout = Layout::new((columns, rows), focus).unwrap();
                    let mut cells = vec![0; columns as usize * rows as usize];
                    let panes = Place::PANES.iter().filter_map(|&place| layout.pane(place));
                    let areas = panes.flat_map(|pane| [pane.title, pane.body]);
                    let all = areas.chain(layout.bars.into_iter().flatten()).chain([layout.header, layout.footer]);
                    for position in all.flat_map(Rect::positions) {
                        cells[position.y as usize * columns as usize + position.x as usize] += 1;
                    }
                    assert!(cells.iter().all(|&count| count == 1), "{columns}×{rows} {focus:?}");
                    assert!(layout.pane(focus).is_some());
                }
            }
        }
        assert!(Layout::new((39, 24), Place::Tree).is_none());
        assert!(Layout::new((80, 9), Place::Tree).is_none());
    }
}
