//! State of the preview pane: its subject, its wrapped text and the scroll position.

use std::ops::Range;
use std::sync::Arc;

use crate::app::ticket::Claim;
use crate::base::named::named;
use crate::base::text::{Glyphs, Span, highlight, spans_text, width};
use crate::catalog::parents::MissingParentKey;
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::render::DocLine;
use crate::render::wrap::{VerbatimStyle, Wrapped};
use crate::search::text_match::Words;

/// Rows to wrap beyond the first visible one. Most texts are then wrapped completely, so that their length is known.
const AHEAD: usize = 1000;
/// Context rows shown above a hit after a jump.
const ABOVE: usize = 3;

/// Milliseconds before the pane shows that it is reading; most texts arrive sooner.
pub(crate) const READING_DELAY: i64 = 150;

/// The maximum number of hits per text; limits memory.
const MAX_HITS: usize = 10_000;

/// A match: the line number and the byte range in its text.
pub type PreviewHit = (usize, Range<usize>);

/// Returns up to `MAX_HITS` matches in a text; stops early once `is_wanted` returns `false`.
pub fn hits(lines: &[DocLine], words: &Words, is_wanted: impl Fn() -> bool) -> Vec<PreviewHit> {
    let marks = |(at, line): (usize, &DocLine)| {
        words.marks(&spans_text(&line.spans)).into_iter().map(move |hit| (at, hit)).collect::<Vec<_>>()
    };
    lines.iter().enumerate().take_while(|_| is_wanted()).flat_map(marks).take(MAX_HITS).collect()
}

/// The part of an entry that contains the words, if the displayed text does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenHits {
    /// The arguments of a tool call, which its title omits in part.
    Arguments,
    /// Other hidden text, such as details or Markdown syntax.
    Other,
}

named! {
    /// A form of the preview of an entry that changed files.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum EntryForm {
        /// The entry.
        #[default]
        Entry = "entries",
        /// The entry with the blocks before a prompt.
        Blocks = "entries with the blocks of extensions",
        /// The differences that the entry made to files.
        Difference = "differences of changed files",
        /// The files after the entry, with marks on changed lines.
        File = "whole files after changes",
        /// The lines of the entry in the session file.
        Raw = "raw lines",
    }
}

/// The subject of the preview.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PreviewSubject {
    /// No subject.
    #[default]
    Nothing,
    /// A project.
    Project(ProjectKey),
    /// A session.
    Session(SessionKey),
    /// An entry of the open session.
    Entry(EntryRef),
    /// A run of tool calls, identified by its last entry.
    Run(EntryRef),
    /// A session whose file is missing.
    MissingParent(MissingParentKey),
}

impl PreviewSubject {
    /// Returns `true` if the preview shows a card of facts instead of an entry.
    pub(crate) fn has_card(self) -> bool {
        !matches!(self, Self::Nothing | Self::Entry(_))
    }
}

/// The state of the pane.
#[derive(Debug, Default)]
pub struct PreviewPane {
    /// The subject.
    pub subject: PreviewSubject,
    /// The lines before wrapping.
    pub lines: Arc<Vec<DocLine>>,
    /// The wrapped lines, as far as they were displayed.
    pub wrapped: Wrapped,
    /// The first visible wrapped row.
    pub top: usize,
    /// The time at which reading started, in milliseconds since 1970; `None` once the text is loaded.
    pub waiting: Option<i64>,
    /// The pane with the previous text, displayed until `READING_DELAY` elapses.
    before: Option<Box<PreviewPane>>,
    /// The claim on the text being read.
    pub reading: Option<Claim>,
    /// `true` if the subject has changed since its text was read.
    pub is_stale: bool,
    /// The search in the text.
    pub(crate) find: Option<PreviewFind>,
    /// `true` if the preview follows the selection in the list of sessions even while another pane is focused.
    pub is_of_list: bool,
}

/// A search in the text of the preview.
#[derive(Debug, Default)]
pub(crate) struct PreviewFind {
    pub(crate) words: Arc<Words>,
    pub(crate) problem: Option<String>,
    /// All matches.
    hits: Vec<PreviewHit>,
    /// The hidden part that contains the words, if the text has no match.
    pub(crate) hidden_hits: Option<HiddenHits>,
    /// `true` if the words or the text changed and the search is not yet started.
    is_due: bool,
    /// The claim on the running search.
    pub(crate) claim: Option<Claim>,
    /// `true` to jump to the first hit when results arrive.
    jumps_to_hit: bool,
    /// The index of the current hit.
    at: usize,
    /// The top row when the search began; `None` for words taken from the search in the tree.
    from: Option<usize>,
}

impl PreviewFind {
    /// Discards the hits and schedules a new search.
    fn schedule(&mut self, jumps_to_hit: bool) {
        self.jumps_to_hit |= jumps_to_hit;
        self.hits.clear();
        self.claim = None;
        self.is_due = !self.words.is_empty();
    }

    fn is_awaited(&self) -> bool {
        self.is_due || self.claim.is_some()
    }
}

impl PreviewPane {
    /// Returns an empty pane that draws with the given glyphs.
    pub(crate) fn new(glyphs: &Glyphs) -> Self {
        let style = VerbatimStyle {
            continuation: glyphs.wrapped.clone(),
            more: glyphs.ellipsis.clone(),
            ..VerbatimStyle::default()
        };
        Self { wrapped: Wrapped::with_style(1, style), ..Self::default() }
    }

    /// Switches to another subject; its text is loaded later.
    pub fn turn_to(&mut self, subject: PreviewSubject, now: i64) {
        let style = VerbatimStyle { left: 0, ..self.wrapped.style.clone() };
        let wrapped = Wrapped::with_style(self.wrapped.width, style);
        let old = std::mem::replace(self, Self { subject, wrapped, waiting: Some(now), ..Self::default() });
        // Keep the last loaded text when the selection passes several subjects quickly.
        self.before = match old.waiting {
            None => Some(Box::new(Self { reading: None, find: None, before: None, ..old })),
            Some(since) => old.before.filter(|_| now - since < READING_DELAY),
        };
    }

    /// Shows the loaded text and releases the claim on it.
    pub(crate) fn take(&mut self, lines: Vec<DocLine>) {
        self.reading = None;
        self.show(lines);
    }

    /// Shows a text and keeps the scroll position, so that a growing text does not jump.
    pub fn show(&mut self, lines: Vec<DocLine>) {
        (self.waiting, self.before) = (None, None);
        if *self.lines != lines {
            self.lines = Arc::new(lines);
            self.wrapped = Wrapped::with_style(self.wrapped.width, self.wrapped.style.clone());
            if let Some(find) = &mut self.find {
                find.schedule(find.from.is_none());
            }
        }
    }

    /// Returns the time at which the pane starts to show that it is reading.
    pub(crate) fn changes_at(&self, now: i64) -> Option<i64> {
        self.waiting.map(|since| since + READING_DELAY).filter(|&at| now < at)
    }

    /// Returns `true` if the text is still missing after `READING_DELAY`.
    pub fn is_late(&self, now: i64) -> bool {
        self.waiting.is_some() && self.changes_at(now).is_none()
    }

    /// Returns the pane with the text that is still displayed: the previous one or this one.
    fn displayed(&self, now: i64) -> &Self {
        self.before.as_deref().filter(|_| self.changes_at(now).is_some()).unwrap_or(self)
    }

    /// Returns the first visible row, the number of wrapped rows, and `true` if the whole text is wrapped.
    pub fn seen(&self, now: i64) -> (usize, usize, bool) {
        let Self { lines, wrapped, top, .. } = self.displayed(now);
        (*top, wrapped.len(), wrapped.complete(lines))
    }

    /// Returns the visible rows.
    pub fn rows(&self, height: usize, now: i64) -> Vec<Vec<Span>> {
        let pane = self.displayed(now);
        (pane.top..pane.wrapped.len().min(pane.top + height)).map(|at| pane.row(at)).collect()
    }

    /// Wraps the visible text to the size of the pane. Keeps the position in the text if the width changes.
    pub fn fit(&mut self, width: usize, height: usize) {
        if self.wrapped.width != width {
            self.wrap(Wrapped::with_style(width, self.wrapped.style.clone()));
        }
        self.wrapped.ensure(&self.lines, self.top.saturating_add(height.max(AHEAD)));
        if self.wrapped.complete(&self.lines) {
            self.top = self.top.min(self.wrapped.len().saturating_sub(height));
        }
    }

    /// Replaces the wrapping and keeps the position in the text.
    fn wrap(&mut self, wrapped: Wrapped) {
        let place = self.wrapped.place(&self.lines, self.top);
        self.wrapped = wrapped;
        if let Some((line, byte)) = place {
            self.wrapped.ensure_place(&self.lines, line, byte);
            self.top = self.wrapped.row_at(&self.lines, line, byte).unwrap_or_default();
        }
    }

    /// Toggles wrapping of long code lines. Returns `true` if they are now wrapped.
    pub(crate) fn toggle_wrap(&mut self) -> bool {
        let is_scrolled = !self.wrapped.style.is_scrolled;
        let style = VerbatimStyle { is_scrolled, left: 0, ..self.wrapped.style.clone() };
        self.wrap(Wrapped::with_style(self.wrapped.width, style));
        !is_scrolled
    }

    /// Scrolls half the width to the side. Returns `true` if the position changed.
    pub(crate) fn scroll_sideways(&mut self, to_right: bool, height: usize) -> bool {
        let (left, half) = (self.wrapped.style.left, self.wrapped.width.div_ceil(2));
        let is_cut = |row| self.wrapped.shown(&self.lines, row).is_some_and(|shown| shown.is_cut);
        let next = match to_right {
            true if (self.top..self.top + height).any(is_cut) => left + half,
            true => return false,
            false => left.saturating_sub(half),
        };
        self.wrapped.style.left = next;
        next != left
    }

    /// Scrolls by a number of rows.
    pub(crate) fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by);
    }

    /// Scrolls to the end.
    pub(crate) fn go_to_end(&mut self) {
        self.wrapped.all(&self.lines);
        self.top = self.wrapped.len();
    }

    /// Returns a row with its matches highlighted.
    pub fn row(&self, index: usize) -> Vec<Span> {
        let Some(shown) = self.wrapped.shown(&self.lines, index) else { return Vec::new() };
        let (line, start, lead) = (shown.line, shown.byte, shown.lead);
        let spans: Vec<Span> = shown.pieces.into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
        let Some(find) = &self.find else { return spans };
        let first = find.hits.partition_point(|(of, hit)| (*of, hit.end) <= (line, start));
        let end = start + spans.iter().map(|span| span.text.len()).sum::<usize>();
        let hits = find.hits[first..].iter().take_while(|(of, hit)| *of == line && hit.start < end);
        let marks: Vec<_> =
            hits.map(|(_, hit)| hit.start.saturating_sub(start) + lead..hit.end - start + lead).collect();
        highlight(&spans, &marks)
    }

    /// Returns the index of the current hit and the number of hits, if a search here is complete.
    pub fn hit(&self) -> Option<(usize, usize)> {
        let find = self.find.as_ref().filter(|find| !find.words.is_empty() && !find.is_awaited())?;
        Some((find.at, find.hits.len()))
    }

    /// Returns `true` if the user started a search in this pane.
    pub(crate) fn is_searched(&self) -> bool {
        self.find.as_ref().is_some_and(|find| find.from.is_some())
    }

    /// Starts a search at the current scroll position.
    pub(crate) fn begin_search(&mut self) {
        self.find = Some(PreviewFind { from: Some(self.top), ..PreviewFind::default() });
    }

    /// Searches for the typed words and jumps to the first hit after the start position.
    pub(crate) fn search_for(&mut self, words: Result<Arc<Words>, String>) {
        let from = self.find.as_ref().and_then(|find| find.from).unwrap_or(self.top);
        let problem = words.as_ref().err().cloned();
        let mut find =
            PreviewFind { words: words.unwrap_or_default(), problem, from: Some(from), ..PreviewFind::default() };
        find.schedule(true);
        if !find.is_due {
            self.top = from;
        }
        self.find = Some(find);
    }

    /// Returns the text and the words of a pending search, and marks it as started.
    pub(crate) fn start_due_search(&mut self) -> Option<(Arc<Vec<DocLine>>, Arc<Words>)> {
        let find = self.find.as_mut().filter(|find| find.is_due)?;
        find.is_due = false;
        Some((self.lines.clone(), find.words.clone()))
    }

    /// Stores the hits and jumps to the first one after the start position.
    pub(crate) fn take_hits(&mut self, hits: Vec<PreviewHit>, hidden_hits: Option<HiddenHits>) {
        let Some(find) = &mut self.find else { return };
        find.claim = None;
        (find.hits, find.hidden_hits) = (hits, hidden_hits);
        if !std::mem::take(&mut find.jumps_to_hit) {
            return;
        }
        let next = find.from.map_or(0, |from| {
            self.top = from;
            let place = self.wrapped.place(&self.lines, from).unwrap_or_default();
            find.hits.partition_point(|(of, hit)| (*of, hit.start) < place)
        });
        let next = if next < find.hits.len() { next } else { 0 };
        self.go_to_hit(next);
    }

    /// Returns `true` if search results are still pending.
    pub(crate) fn is_awaited(&self) -> bool {
        self.find.as_ref().is_some_and(PreviewFind::is_awaited)
    }

    /// Highlights the words of the search in the tree, unless this pane has its own search.
    pub(crate) fn show_words(&mut self, words: Option<Arc<Words>>) {
        let is_shown = match (&self.find, &words) {
            (Some(find), Some(words)) => Arc::ptr_eq(&find.words, words),
            (None, None) => true,
            _ => false,
        };
        if !self.is_searched() && !is_shown {
            self.find =
                words.map(|words| PreviewFind { words, is_due: true, jumps_to_hit: true, ..PreviewFind::default() });
        }
    }

    /// Cancels the search and returns to its start position.
    pub(crate) fn cancel_search(&mut self) {
        if let Some(from) = self.find.take().and_then(|find| find.from) {
            self.top = from;
        }
    }

    /// Ends a search of this pane. Returns `true` if there was one.
    pub(crate) fn end_search(&mut self) -> bool {
        self.find.take_if(|find| find.from.is_some()).is_some()
    }

    /// Moves to the next or previous hit. Returns `true` if the search wrapped around, and `None` without hits.
    pub(crate) fn next_hit(&mut self, forward: bool) -> Option<bool> {
        let find = self.find.as_ref().filter(|find| !find.hits.is_empty())?;
        let at = (find.at + if forward { 1 } else { find.hits.len() - 1 }) % find.hits.len();
        let is_wrapped = if forward { at <= find.at } else { at >= find.at };
        self.go_to_hit(at);
        Some(is_wrapped)
    }

    fn go_to_hit(&mut self, at: usize) {
        let Some(find) = &mut self.find else { return };
        find.at = at;
        if let Some((line, hit)) = find.hits.get(at) {
            self.wrapped.ensure_place(&self.lines, *line, hit.start);
            let row = self.wrapped.row_at(&self.lines, *line, hit.start).unwrap_or_default();
            self.top = row.saturating_sub(ABOVE);
            if self.wrapped.style.is_scrolled
                && let (Some((line, start)), columns) = (self.wrapped.place(&self.lines, row), self.wrapped.width)
            {
                let text = spans_text(&self.lines[line].spans);
                let (before, hit) = (width(&text[start..hit.start]), width(&text[hit.clone()]));
                let seen = self.wrapped.style.left..self.wrapped.style.left + columns;
                if !seen.contains(&before) || before + hit > seen.end {
                    let is_near = before + hit <= columns;
                    self.wrapped.style.left = if is_near { 0 } else { before.saturating_sub(columns / 2) };
                }
            }
        }
    }
}
