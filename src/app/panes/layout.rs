//! Screen layout of the panes, shared by drawing, scrolling and mouse handling.

use ratatui::layout::Rect;
use serde::{Deserialize, Serialize};

use crate::keymap::KeyContext;

/// The smallest supported terminal: columns and rows.
pub(crate) const SMALLEST: (u16, u16) = (40, 10);
/// The width from which all panes stand side by side.
const WIDE: u16 = 200;
/// The width from which the list stands beside the other panes.
const MEDIUM: u16 = 100;
/// The height from which the reader fits below another pane.
pub(crate) const TALL: u16 = 16;
/// The columns of the list beside other panes: the least, and the most.
const LIST: (u16, u16) = (58, 84);
/// The minimum columns of panes side by side, and the minimum rows of stacked panes.
const MIN_PANE: (u16, u16) = (24, 4);
/// Columns and rows by which a key resizes a pane.
const STEP: (i16, i16) = (4, 2);
/// The limit of the difference to a pane's default size; no screen has more columns or rows.
const FARTHEST: i16 = 1000;

/// Limits the size of the screen: each cell takes memory, and a terminal may report any size.
pub fn bounded((columns, rows): (u16, u16)) -> (u16, u16) {
    (columns.min(1000), rows.min(400))
}

/// The terminal size and the pane state that the layout depends on.
#[derive(Clone, Copy, Debug)]
pub struct ScreenShape {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The focused pane.
    pub focus: KeyContext,
}

/// The user's changes to the default pane sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaneSizes {
    /// `true` if the focused pane fills the screen.
    #[serde(skip)]
    pub zoomed: bool,
    /// Hides the reader unless it is focused.
    pub hides_reader: bool,
    /// Columns added to the default width of the sessions pane.
    sessions: i16,
    /// Columns added to the default width of the tree beside the reader.
    tree: i16,
    /// Rows added to the default height of the pane above the reader.
    rows: i16,
}

impl PaneSizes {
    /// Shows or hides the reader beside another pane. Returns `true` if it is now shown.
    pub(crate) fn toggle_reader(&mut self) -> bool {
        self.zoomed = false;
        self.hides_reader = !self.hides_reader;
        !self.hides_reader
    }

    /// Enlarges or shrinks the focused pane. Returns `false` if no other pane shares the screen with it.
    pub(crate) fn resize(&mut self, screen: ScreenShape, larger: bool) -> bool {
        let before = (*self, Layout::new(screen, self));
        let Some(layout) = before.1 else { return false };
        let (columns, rows) = if larger { STEP } else { (-STEP.0, -STEP.1) };
        let is_below = layout.is_stacked();
        // A size set in another terminal may exceed the range of this one, so repeat until the layout changes.
        for _ in 0..=FARTHEST {
            let (wish, by) = match screen.focus {
                KeyContext::Sessions if layout.tree.is_none() => (&mut self.rows, rows),
                KeyContext::Sessions => (&mut self.sessions, columns),
                KeyContext::Tree if is_below => (&mut self.rows, rows),
                KeyContext::Tree => (&mut self.tree, columns),
                _ if is_below => (&mut self.rows, -rows),
                _ => (&mut self.tree, -columns),
            };
            *wish = (*wish).clamp(-FARTHEST, FARTHEST) + by;
            if Layout::new(screen, self) != before.1 {
                return true;
            }
        }
        *self = before.0;
        false
    }
}

/// The area of a pane: the title line and the rows below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PaneArea {
    /// The title line.
    pub title: Rect,
    /// The rows below the title.
    pub body: Rect,
    /// `true` if only the title line separates this pane from the one above.
    pub is_below: bool,
}

impl PaneArea {
    fn new(area: Rect) -> Self {
        let title = Rect { height: 1.min(area.height), ..area };
        let body = Rect { y: area.y + title.height, height: area.height - title.height, ..area };
        Self { title, body, is_below: false }
    }

    /// Returns the body without its first and last column; the last one holds the scroll bar.
    pub fn text(&self) -> Rect {
        Rect { x: self.body.x + 1, width: self.body.width.saturating_sub(2), ..self.body }
    }
}

/// The areas of all parts of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The header line.
    pub header: Rect,
    /// The sessions pane, if it is visible.
    pub sessions: Option<PaneArea>,
    /// The tree pane, if it is visible.
    pub tree: Option<PaneArea>,
    /// The reader pane, if it is visible.
    pub reader: Option<PaneArea>,
    /// The vertical lines between panes.
    pub bars: [Option<Rect>; 2],
    /// The footer line.
    pub footer: Rect,
}

impl Layout {
    /// Computes the layout, or returns `None` if the terminal is too small. The focused pane is always visible. In wide
    /// terminals, the focus changes nothing; in narrow ones, it selects the pane above the reader.
    pub fn new(screen: ScreenShape, pane_sizes: &PaneSizes) -> Option<Self> {
        let ScreenShape { size: (columns, rows), focus } = screen;
        if columns < SMALLEST.0 || rows < SMALLEST.1 {
            return None;
        }
        let header = Rect::new(0, 0, columns, 1);
        let footer = Rect::new(0, rows - 1, columns, 1);
        let body = Rect::new(0, 1, columns, rows - 2);
        let mut layout = Self { header, footer, ..Self::default() };
        let is_stacked = rows >= TALL && !pane_sizes.hides_reader;
        if pane_sizes.zoomed || (columns < MEDIUM && !is_stacked) {
            *layout.pane_mut(focus) = Some(PaneArea::new(body));
        } else if columns < MEDIUM {
            let above = if focus == KeyContext::Sessions { focus } else { KeyContext::Tree };
            layout.stack(above, body, 60, pane_sizes.rows);
        } else {
            let list = percent(columns, if columns >= WIDE { 38 } else { 45 }).clamp(LIST.0, LIST.1);
            let (sessions, right) = layout.split(0, body, list, pane_sizes.sessions);
            layout.sessions = Some(PaneArea::new(sessions));
            if columns >= WIDE && !pane_sizes.hides_reader {
                let (tree, reader) = layout.split(1, right, percent(right.width, 44), pane_sizes.tree);
                layout.tree = Some(PaneArea::new(tree));
                layout.reader = Some(PaneArea::new(reader));
            } else if is_stacked {
                layout.stack(KeyContext::Tree, right, 50, pane_sizes.rows);
            } else {
                let place = if focus == KeyContext::Reader { focus } else { KeyContext::Tree };
                *layout.pane_mut(place) = Some(PaneArea::new(right));
            }
        }
        Some(layout)
    }

    /// Splits an area into two, side by side, with a line between them.
    fn split(&mut self, bar: usize, area: Rect, wanted: u16, more: i16) -> (Rect, Rect) {
        let left = part(area.width - 1, wanted, more, MIN_PANE.0);
        self.bars[bar] = Some(Rect { x: area.x + left, width: 1, ..area });
        (Rect { width: left, ..area }, Rect { x: area.x + left + 1, width: area.width - left - 1, ..area })
    }

    /// Places a pane with a height of `share` percent and the reader below it.
    fn stack(&mut self, above: KeyContext, area: Rect, share: u32, more: i16) {
        let height = part(area.height, percent(area.height, share), more, MIN_PANE.1);
        *self.pane_mut(above) = Some(PaneArea::new(Rect { height, ..area }));
        let reader = PaneArea::new(Rect { y: area.y + height, height: area.height - height, ..area });
        self.reader = Some(PaneArea { is_below: true, ..reader });
    }

    /// Returns `true` if the reader is below another pane.
    pub fn is_stacked(&self) -> bool {
        self.reader.is_some_and(|reader| reader.is_below)
    }

    fn pane_mut(&mut self, place: KeyContext) -> &mut Option<PaneArea> {
        match place {
            KeyContext::Sessions => &mut self.sessions,
            KeyContext::Tree => &mut self.tree,
            _ => &mut self.reader,
        }
    }

    /// Returns the area of a pane, if it is visible.
    pub fn pane(&self, place: KeyContext) -> Option<PaneArea> {
        match place {
            KeyContext::Sessions => self.sessions,
            KeyContext::Tree => self.tree,
            KeyContext::Reader => self.reader,
            _ => None,
        }
    }

    /// Returns the pane at a screen position.
    pub fn at(&self, column: u16, row: u16) -> Option<(KeyContext, PaneArea)> {
        let mut areas = KeyContext::PANES.iter().filter_map(|&place| Some((place, self.pane(place)?)));
        areas.find(|(_, area)| area.title.union(area.body).contains((column, row).into()))
    }
}

/// Returns the size of the first of two parts: `wanted` plus `more`, limited so that each part keeps `least`.
fn part(all: u16, wanted: u16, more: i16, least: u16) -> u16 {
    let least = least.min(all / 2);
    wanted.saturating_add_signed(more).clamp(least, all - least)
}

fn percent(of: u16, percent: u32) -> u16 {
    u16::try_from(u32::from(of) * percent / 100).unwrap_or(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(size: (u16, u16), focus: KeyContext) -> ScreenShape {
        ScreenShape { size, focus }
    }

    #[test]
    fn panes_fill_the_screen_without_overlap() {
        for columns in (40..220).step_by(3) {
            for rows in [10, 15, 16, 24, 60] {
                for (screen, pane_sizes) in screens((columns, rows)).flat_map(|of| ways().map(move |way| (of, way))) {
                    let layout = Layout::new(screen, &pane_sizes).unwrap();
                    let panes = KeyContext::PANES.iter().filter_map(|&place| layout.pane(place));
                    let areas = panes.flat_map(|pane| [pane.title, pane.body]);
                    let all = areas.chain(layout.bars.into_iter().flatten()).chain([layout.header, layout.footer]);
                    let all: Vec<Rect> = all.filter(|area| !area.is_empty()).collect();
                    let whole = Rect::new(0, 0, columns, rows);
                    let is_apart = |(at, area): (usize, &Rect)| !all[..at].iter().any(|other| area.intersects(*other));
                    let is_right = all.iter().all(|area| whole.intersection(*area) == *area)
                        && all.iter().enumerate().all(is_apart)
                        && all.iter().map(|area| area.area()).sum::<u32>() == whole.area();
                    assert!(is_right, "{screen:?} {pane_sizes:?}: {all:?}");
                    assert!(layout.pane(screen.focus).is_some());
                }
            }
        }
        let as_it_is = PaneSizes::default();
        assert!(Layout::new(screen((39, 24), KeyContext::Tree), &as_it_is).is_none());
        assert!(Layout::new(screen((80, 9), KeyContext::Tree), &as_it_is).is_none());
    }

    fn screens(size: (u16, u16)) -> impl Iterator<Item = ScreenShape> {
        KeyContext::PANES.iter().map(move |&focus| screen(size, focus))
    }

    fn ways() -> impl Iterator<Item = PaneSizes> {
        let sizes = [0, 7, -9, 400, -400, i16::MAX, i16::MIN].into_iter();
        let ways = sizes.flat_map(|more| [false, true].map(|hides_reader| (more, hides_reader)));
        ways.flat_map(|(more, hides_reader)| {
            [false, true].map(|zoomed| PaneSizes { zoomed, hides_reader, sessions: more, tree: more, rows: more })
        })
    }

    fn width(layout: Layout, place: KeyContext) -> u16 {
        layout.pane(place).map_or(0, |pane| pane.body.width)
    }

    #[test]
    fn the_focus_changes_nothing_in_a_wide_terminal() {
        for columns in [100, 120, 160, 199, 200, 240] {
            let of = |focus| Layout::new(screen((columns, 40), focus), &PaneSizes::default()).unwrap();
            let layout = of(KeyContext::Sessions);
            assert_eq!([KeyContext::Tree, KeyContext::Reader].map(of), [layout; 2]);
            assert!(width(layout, KeyContext::Sessions) >= 48 && layout.is_stacked() == (columns < WIDE));
        }
        let zoomed = PaneSizes { zoomed: true, ..PaneSizes::default() };
        let layout = Layout::new(screen((160, 40), KeyContext::Tree), &zoomed).unwrap();
        assert_eq!((width(layout, KeyContext::Tree), layout.sessions, layout.reader), (160, None, None));
    }

    #[test]
    fn the_list_or_the_tree_stands_above_the_preview_in_a_narrow_terminal() {
        let of = |rows, focus, hides_reader| {
            let sizes = PaneSizes { hides_reader, ..PaneSizes::default() };
            let layout = Layout::new(screen((80, rows), focus), &sizes).unwrap();
            KeyContext::PANES
                .iter()
                .map(|&place| layout.pane(place).map_or(0, |pane| pane.body.height))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(24, KeyContext::Sessions, false), [12, 0, 8]);
        assert_eq!(of(24, KeyContext::Tree, false), [0, 12, 8]);
        assert_eq!(of(24, KeyContext::Reader, false), [0, 12, 8]);
        assert_eq!(of(15, KeyContext::Sessions, false), [12, 0, 0], "not enough rows");
        assert_eq!(of(24, KeyContext::Tree, true), [0, 21, 0]);
        assert_eq!(of(24, KeyContext::Reader, true), [0, 0, 21]);
    }

    #[test]
    fn panes_grow_and_shrink_as_far_as_the_others_can() {
        for screen in [
            screen((100, 30), KeyContext::Sessions),
            screen((100, 30), KeyContext::Tree),
            screen((100, 30), KeyContext::Reader),
            screen((220, 50), KeyContext::Tree),
            screen((220, 50), KeyContext::Reader),
            screen((80, 30), KeyContext::Sessions),
        ] {
            let mut pane_sizes = PaneSizes::default();
            let area = |pane_sizes: &PaneSizes| {
                Layout::new(screen, pane_sizes).unwrap().pane(screen.focus).unwrap().body.area()
            };
            let mut last = area(&pane_sizes);
            let mut steps = 0;
            while pane_sizes.resize(screen, true) {
                assert!(area(&pane_sizes) > last, "{screen:?}");
                last = area(&pane_sizes);
                steps += 1;
            }
            assert!((2..60).contains(&steps));
            assert!(pane_sizes.resize(screen, false), "one key the other way is seen at once");
            assert!(area(&pane_sizes) < last);
        }
        assert!(!PaneSizes::default().resize(screen((80, 14), KeyContext::Tree), true), "there is no other pane");
        // One key press shrinks a pane that was enlarged in a wider terminal, whatever size was saved.
        for sessions in [120, -120, i16::MAX, i16::MIN] {
            let mut pane_sizes = PaneSizes { sessions, ..PaneSizes::default() };
            assert!(pane_sizes.resize(screen((100, 30), KeyContext::Sessions), sessions < 0), "{sessions}");
        }
    }
}
