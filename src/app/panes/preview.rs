//! The preview pane: what it is about, its text, and the part of it that is seen.

use std::ops::Range;
use std::sync::Arc;

use crate::app::ticket::Claim;
use crate::base::text::{Glyphs, Span, highlight, spans_text, width};
use crate::catalog::missing_parents::MissingParentKey;
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::render::DocLine;
use crate::render::wrap::{VerbatimStyle, Wrapped};
use crate::search::text_match::Words;

/// Rows that are wrapped beyond the top: nearly every text is then wrapped as a whole, and how far one is in it is
/// known.
const AHEAD: usize = 1000;
/// Rows that are seen above a hit that is gone to.
const ABOVE: usize = 3;

/// As long a text is waited for, in milliseconds, before it is said that it is being read: most come sooner.
pub(crate) const PATIENCE: i64 = 150;

/// The most hits that are gone to: nobody goes through more, and each is kept.
const MOST_HITS: usize = 10_000;

/// A match: the line's number and the bytes of its text.
pub type PreviewHit = (usize, Range<usize>);

/// The matches in a text, as far as somebody wants them, and not more than are gone to.
pub fn hits(lines: &[DocLine], words: &Words, is_wanted: impl Fn() -> bool) -> Vec<PreviewHit> {
    let marks = |(at, line): (usize, &DocLine)| {
        words.marks(&spans_text(&line.spans)).into_iter().map(move |hit| (at, hit)).collect::<Vec<_>>()
    };
    lines.iter().enumerate().take_while(|_| is_wanted()).flat_map(marks).take(MOST_HITS).collect()
}

/// Where an entry has words that its text does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenHits {
    /// In the arguments of a call: their names, and values that its title leaves out.
    Arguments,
    /// In something else: in details, in signs of Markdown, in a row.
    Other,
}

/// What the preview is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subject {
    /// Nothing is selected.
    #[default]
    Nothing,
    /// A project.
    Project(ProjectKey),
    /// A session.
    Session(SessionKey),
    /// An entry of the open session.
    Entry(EntryRef),
    /// A run of tool calls in it, by the last one.
    Run(EntryRef),
    /// A session that is gone.
    Ghost(MissingParentKey),
}

/// The state of the pane.
#[derive(Debug)]
pub struct PreviewPane {
    /// What it is about.
    pub subject: Subject,
    /// The lines, as they are before wrapping.
    pub lines: Arc<Vec<DocLine>>,
    /// The lines as wrapped so far: only as far as they were seen.
    pub wrapped: Wrapped,
    /// The first wrapped row that is seen.
    pub top: usize,
    /// Since when the text is being read, in milliseconds since 1970; `None` when it is there.
    pub waiting: Option<i64>,
    /// What was seen before, as long as the text may still come soon.
    before: Option<PreviousText>,
    /// Who waits for the text.
    pub reading: Option<Claim>,
    /// Whether there is more to show of it than when it was read.
    pub is_stale: bool,
    /// What is looked for in it.
    find: Option<PreviewFind>,
    /// Whether it is to be about the selected row of the list of sessions, where that is not said by the keyboard.
    pub is_of_list: bool,
}

/// A text that is seen until the next one is there.
#[derive(Debug)]
struct PreviousText {
    lines: Arc<Vec<DocLine>>,
    wrapped: Wrapped,
    top: usize,
}

/// What is looked for in the text.
#[derive(Debug, Default)]
struct PreviewFind {
    words: Arc<Words>,
    problem: Option<String>,
    /// Every match,
    hits: Vec<PreviewHit>,
    /// and where the words are instead, if there is none.
    unseen: Option<HiddenHits>,
    /// Whether they are still to be looked for, as words or text are new.
    is_due: bool,
    /// Who waits for them.
    looking: Option<Claim>,
    /// Whether the first of them is gone to when they are there.
    goes: bool,
    /// The one that was gone to.
    at: usize,
    /// The row that was on top when the search began; `None` if the words are those that the tree is searched for.
    from: Option<usize>,
}

impl PreviewFind {
    /// The hits are to be looked for, anew if they were.
    fn be_due(&mut self, goes: bool) {
        self.goes |= goes;
        self.hits.clear();
        self.looking = None;
        self.is_due = !self.words.is_empty();
    }

    fn is_awaited(&self) -> bool {
        self.is_due || self.looking.is_some()
    }
}

impl Default for PreviewPane {
    fn default() -> Self {
        let subject = Subject::Nothing;
        Self {
            subject,
            lines: Arc::default(),
            wrapped: Wrapped::new(1),
            top: 0,
            waiting: None,
            before: None,
            reading: None,
            is_stale: false,
            find: None,
            is_of_list: false,
        }
    }
}

impl PreviewPane {
    /// An empty one, with these signs.
    pub(crate) fn new(glyphs: &Glyphs) -> Self {
        let style = VerbatimStyle {
            continuation: glyphs.wrapped.clone(),
            more: glyphs.ellipsis.clone(),
            ..VerbatimStyle::default()
        };
        Self { wrapped: Wrapped::with_style(1, style), ..Self::default() }
    }

    /// Turns to another subject; its text is still to come.
    pub fn turn_to(&mut self, subject: Subject, now: i64) {
        let style = VerbatimStyle { left: 0, ..self.wrapped.style().clone() };
        let wrapped = Wrapped::with_style(self.wrapped.width(), style);
        let old = std::mem::replace(self, Self { subject, wrapped, waiting: Some(now), ..Self::default() });
        // Of several texts that are passed the last one that was there.
        self.before = match old.waiting {
            None => Some(PreviousText { lines: old.lines, wrapped: old.wrapped, top: old.top }),
            Some(since) => old.before.filter(|_| now - since < PATIENCE),
        };
    }

    /// Shows the text that was waited for.
    pub(crate) fn take(&mut self, lines: Vec<DocLine>) {
        self.reading = None;
        self.show(lines);
    }

    /// Shows a text; the place stays, so that a text that grew does not jump.
    pub fn show(&mut self, lines: Vec<DocLine>) {
        (self.waiting, self.before) = (None, None);
        if *self.lines != lines {
            self.lines = Arc::new(lines);
            self.wrapped = Wrapped::with_style(self.wrapped.width(), self.wrapped.style().clone());
            if let Some(find) = &mut self.find {
                find.be_due(find.from.is_none());
            }
        }
    }

    /// When the pane changes by itself, if it does: then it says that it waits.
    pub(crate) fn changes_at(&self, now: i64) -> Option<i64> {
        self.waiting.map(|since| since + PATIENCE).filter(|&at| now < at)
    }

    /// Whether it is time to say that the text is being read.
    pub fn is_late(&self, now: i64) -> bool {
        self.waiting.is_some() && self.changes_at(now).is_none()
    }

    /// The text before, as long as the next one may come soon.
    fn before(&self, now: i64) -> Option<&PreviousText> {
        self.before.as_ref().filter(|_| self.changes_at(now).is_some())
    }

    /// What is seen: the first row, of how many, and whether these are all of the text.
    pub fn seen(&self, now: i64) -> (usize, usize, bool) {
        let of = |lines: &[DocLine], wrapped: &Wrapped, top| (top, wrapped.len(), wrapped.complete(lines));
        match self.before(now) {
            Some(before) => of(&before.lines, &before.wrapped, before.top),
            None => of(&self.lines, &self.wrapped, self.top),
        }
    }

    /// The rows that are drawn.
    pub fn rows(&self, height: usize, now: i64) -> Vec<Vec<Span>> {
        let (top, len, _) = self.seen(now);
        let rows = top..len.min(top + height);
        match self.before(now) {
            Some(PreviousText { lines, wrapped, .. }) => {
                let row = |at| wrapped.row(lines, at).into_iter().map(|(text, tone)| Span::new(tone, text)).collect();
                rows.map(row).collect()
            }
            None => rows.map(|at| self.row(at)).collect(),
        }
    }

    /// Wraps what is seen to the pane's size and keeps the place in the text when the width changes.
    pub fn fit(&mut self, width: usize, height: usize) {
        if self.wrapped.width() != width {
            self.wrap(Wrapped::with_style(width, self.wrapped.style().clone()));
        }
        self.wrapped.ensure(&self.lines, self.top.saturating_add(height.max(AHEAD)));
        if self.wrapped.complete(&self.lines) {
            self.top = self.top.min(self.wrapped.len().saturating_sub(height));
        }
    }

    /// Wraps anew and keeps the place in the text.
    fn wrap(&mut self, wrapped: Wrapped) {
        let place = self.wrapped.place(&self.lines, self.top);
        self.wrapped = wrapped;
        if let Some((line, byte)) = place {
            self.wrapped.ensure_place(&self.lines, line, byte);
            self.top = self.wrapped.row_at(&self.lines, line, byte).unwrap_or_default();
        }
    }

    /// Breaks long lines of code, or breaks them no more. Returns whether it breaks them now.
    pub(crate) fn toggle_wrap(&mut self) -> bool {
        let is_scrolled = !self.wrapped.style().is_scrolled;
        let style = VerbatimStyle { is_scrolled, left: 0, ..self.wrapped.style().clone() };
        self.wrap(Wrapped::with_style(self.wrapped.width(), style));
        !is_scrolled
    }

    /// Scrolls half of the width to the side, if there is something. Returns whether there was.
    pub(crate) fn scroll_sideways(&mut self, to_right: bool, height: usize) -> bool {
        let (left, half) = (self.wrapped.style().left, self.wrapped.width().div_ceil(2));
        let is_cut = |row| self.wrapped.shown(&self.lines, row).is_some_and(|shown| shown.is_cut);
        let next = match to_right {
            true if (self.top..self.top + height).any(is_cut) => left + half,
            true => return false,
            false => left.saturating_sub(half),
        };
        self.wrapped.set_left(next);
        next != left
    }

    /// Scrolls by some rows.
    pub(crate) fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by);
    }

    /// Scrolls to the end.
    pub(crate) fn go_to_end(&mut self) {
        self.wrapped.all(&self.lines);
        self.top = self.wrapped.len();
    }

    /// A row as it is drawn, matches marked.
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

    /// Which hit one is at, and how many there are, if something is looked for here.
    pub fn hit(&self) -> Option<(usize, usize)> {
        let find = self.find.as_ref().filter(|find| !find.words.is_empty() && !find.is_awaited())?;
        Some((find.at, find.hits.len()))
    }

    /// Where the entry has what is looked for, if its text does not show it.
    pub fn unseen(&self) -> Option<HiddenHits> {
        self.find.as_ref()?.unseen
    }

    /// Whether a search was begun here.
    pub(crate) fn is_searched(&self) -> bool {
        self.find.as_ref().is_some_and(|find| find.from.is_some())
    }

    /// What is wrong with what is looked for.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.find.as_ref()?.problem.as_deref()
    }

    /// Begins to look for something.
    pub(crate) fn begin_search(&mut self) {
        self.find = Some(PreviewFind { from: Some(self.top), ..PreviewFind::default() });
    }

    /// Looks for words as they are typed: goes to the first hit from where the search began.
    pub(crate) fn look_for(&mut self, words: Result<Arc<Words>, String>) {
        let from = self.find.as_ref().and_then(|find| find.from).unwrap_or(self.top);
        let problem = words.as_ref().err().cloned();
        let mut find =
            PreviewFind { words: words.unwrap_or_default(), problem, from: Some(from), ..PreviewFind::default() };
        find.be_due(true);
        if !find.is_due {
            self.top = from;
        }
        self.find = Some(find);
    }

    /// What is to be looked for in which text, if that is not done yet; who asks has it looked for.
    pub(crate) fn take_due(&mut self) -> Option<(Arc<Vec<DocLine>>, Arc<Words>)> {
        let find = self.find.as_mut().filter(|find| find.is_due)?;
        find.is_due = false;
        Some((self.lines.clone(), find.words.clone()))
    }

    /// Somebody looks for the words.
    pub(crate) fn await_hits(&mut self, claim: Claim) {
        if let Some(find) = &mut self.find {
            find.looking = Some(claim);
        }
    }

    /// Takes what was found: goes to the first hit from where the search began.
    pub(crate) fn take_hits(&mut self, hits: Vec<PreviewHit>, unseen: Option<HiddenHits>) {
        let Some(find) = &mut self.find else { return };
        find.looking = None;
        (find.hits, find.unseen) = (hits, unseen);
        if !std::mem::take(&mut find.goes) {
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

    /// Whether it is not known yet what is found.
    pub(crate) fn is_awaited(&self) -> bool {
        self.find.as_ref().is_some_and(PreviewFind::is_awaited)
    }

    /// Shows the words that the tree is searched for, unless something else is looked for here.
    pub(crate) fn show_words(&mut self, words: Option<Arc<Words>>) {
        let is_shown = match (&self.find, &words) {
            (Some(find), Some(words)) => Arc::ptr_eq(&find.words, words),
            (None, None) => true,
            _ => false,
        };
        if !self.is_searched() && !is_shown {
            self.find = words.map(|words| PreviewFind { words, is_due: true, goes: true, ..PreviewFind::default() });
        }
    }

    /// Ends the search and goes back to where it began.
    pub(crate) fn give_up(&mut self) {
        if let Some(from) = self.find.take().and_then(|find| find.from) {
            self.top = from;
        }
    }

    /// The words stay, unless there are none.
    pub(crate) fn keep(&mut self) {
        if self.find.as_ref().is_some_and(|find| find.words.is_empty()) {
            self.give_up();
        }
    }

    /// Ends a search that was begun here. Returns whether there was one.
    pub(crate) fn end_search(&mut self) -> bool {
        self.find.take_if(|find| find.from.is_some()).is_some()
    }

    /// Goes to the next hit or the previous one. Returns whether that was from the other end on; `None` without hits.
    pub(crate) fn next_hit(&mut self, forward: bool) -> Option<bool> {
        let find = self.find.as_ref().filter(|find| !find.hits.is_empty())?;
        let last = find.hits.len() - 1;
        let (at, wrapped) = match (forward, find.at) {
            (true, at) if at == last => (0, true),
            (true, at) => (at + 1, false),
            (false, 0) => (last, true),
            (false, at) => (at - 1, false),
        };
        self.go_to_hit(at);
        Some(wrapped)
    }

    fn go_to_hit(&mut self, at: usize) {
        let Some(find) = &mut self.find else { return };
        find.at = at;
        if let Some((line, hit)) = find.hits.get(at) {
            self.wrapped.ensure_place(&self.lines, *line, hit.start);
            let row = self.wrapped.row_at(&self.lines, *line, hit.start).unwrap_or_default();
            self.top = row.saturating_sub(ABOVE);
            if self.wrapped.style().is_scrolled
                && let (Some((line, start)), columns) = (self.wrapped.place(&self.lines, row), self.wrapped.width())
            {
                let text = spans_text(&self.lines[line].spans);
                let (before, hit) = (width(&text[start..hit.start]), width(&text[hit.clone()]));
                let seen = self.wrapped.style().left..self.wrapped.style().left + columns;
                if !seen.contains(&before) || before + hit > seen.end {
                    let is_near = before + hit <= columns;
                    self.wrapped.set_left(if is_near { 0 } else { before.saturating_sub(columns / 2) });
                }
            }
        }
    }
}
