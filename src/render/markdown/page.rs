//! The lines of a Markdown text as they are written: what lists and quotations put before a line, and the one blank
//! line between blocks. What is in the lines is [`super`]'s business.

use crate::base::text::{Span, Tone, spans_width};
use crate::render::DocLine;
use crate::render::markdown::{MAX_DEPTH, QUOTE_BAR};

/// The lines so far, and the containers that the next one is in.
#[derive(Default)]
pub(crate) struct Page {
    lines: Vec<DocLine>,
    containers: Vec<Container>,
    /// A blank line is due before the next line.
    gap: bool,
    /// A container was opened and nothing written in it.
    fresh: bool,
    /// The containers that were open all the time since the last line was written.
    shared: usize,
}

/// A block that other blocks are in.
enum Container {
    Quote,
    /// An item of a list: its mark until that is written, and the columns of the mark.
    Item {
        mark: Option<String>,
        columns: usize,
    },
}

impl Page {
    /// The finished lines.
    pub(crate) fn lines(self) -> Vec<DocLine> {
        self.lines
    }

    /// A block starts: a blank line goes before it, unless it is the first in its container.
    pub(crate) fn open_block(&mut self) {
        self.gap |= !self.fresh;
    }

    /// A block ends: a blank line goes before what comes next.
    pub(crate) fn close_block(&mut self) {
        self.gap = true;
    }

    /// A quotation starts.
    pub(crate) fn open_quote(&mut self) {
        self.containers.push(Container::Quote);
        self.fresh = true;
    }

    /// An item of a list starts; `mark` goes before its first line.
    pub(crate) fn open_item(&mut self, mark: String) {
        self.containers.push(Container::Item { columns: mark.len(), mark: Some(mark) });
        self.fresh = true;
    }

    /// The innermost quotation or item ends. An item without a line gets one.
    pub(crate) fn close_container(&mut self) {
        if let Some(Container::Item { mark: Some(_), .. }) = self.containers.last() {
            self.write(Vec::new(), false);
        }
        self.containers.pop();
        self.shared = self.shared.min(self.containers.len());
        self.fresh = false;
    }

    /// Whether the next line is in a quotation.
    pub(crate) fn quoted(&self) -> bool {
        self.containers.iter().take(MAX_DEPTH).any(|container| matches!(container, Container::Quote))
    }

    /// Writes a line, with what its containers put before it.
    pub(crate) fn write(&mut self, spans: Vec<Span>, verbatim: bool) {
        if self.gap && !self.lines.is_empty() {
            let spans = self.blank();
            self.lines.push(DocLine { spans, ..DocLine::default() });
        }
        (self.gap, self.fresh, self.shared) = (false, false, self.containers.len());
        let mut all: Vec<Span> = Vec::with_capacity(spans.len() + 2);
        for (level, container) in self.containers.iter_mut().enumerate() {
            let mark = match container {
                Container::Item { mark, .. } => mark.take(), // at any level, since it must not wait for another line
                Container::Quote => None,
            };
            if level < MAX_DEPTH {
                container.put(mark, &mut all);
            }
        }
        let indent = u16::try_from(spans_width(&all)).unwrap_or(u16::MAX);
        all.extend(spans);
        self.lines.push(DocLine { spans: all, indent, verbatim });
    }

    /// The blank line between the last line and the next: only the bars of the quotations that both are in.
    fn blank(&self) -> Vec<Span> {
        let open = self.containers.get(..self.shared.min(MAX_DEPTH)).unwrap_or(&self.containers);
        let last_bar = open.iter().rposition(|container| matches!(container, Container::Quote));
        let mut spans = Vec::new();
        for container in open.iter().take(last_bar.map_or(0, |at| at + 1)) {
            container.put(None, &mut spans);
        }
        if let Some(last) = spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        spans
    }
}

impl Container {
    /// Adds what a container puts before a line: a bar, an item's mark or the room of it. What is alike is one span,
    /// since lines may be many and deep.
    fn put(&self, mark: Option<String>, spans: &mut Vec<Span>) {
        let span = match (self, mark) {
            (Self::Quote, _) => Span::new(Tone::Quote, QUOTE_BAR),
            (Self::Item { .. }, Some(mark)) => Span::new(Tone::Accent, mark),
            (Self::Item { columns, .. }, None) => Span::new(Tone::Text, " ".repeat(*columns)),
        };
        match spans.last_mut() {
            Some(last) if last.tone == span.tone => last.text.push_str(&span.text),
            _ => spans.push(span),
        }
    }
}
