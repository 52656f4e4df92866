//! Layout of Markdown lines: prefixes of lists and quotations, and blank lines between blocks.

use crate::base::text::{Span, Tone, push_span, spans_width};
use crate::render::DocLine;
use crate::render::markdown::{MAX_DEPTH, QUOTE_BAR};

/// The lines so far, and the containers of the next line.
#[derive(Default)]
pub(crate) struct Page {
    pub(super) lines: Vec<DocLine>,
    containers: Vec<Container>,
    /// `true` if a blank line precedes the next line.
    gap: bool,
    /// `true` if the innermost container has no line yet.
    fresh: bool,
    /// The number of containers that have stayed open since the last line.
    shared: usize,
}

/// A block that contains other blocks.
enum Container {
    Quote,
    /// A list item: its mark until it is written, and the width of the mark.
    Item {
        mark: Option<String>,
        columns: usize,
    },
}

impl Page {
    /// Starts a block. A blank line precedes it unless it is the first in its container.
    pub(crate) fn open_block(&mut self) {
        self.gap |= !self.fresh;
    }

    /// Ends a block. A blank line precedes the next one.
    pub(crate) fn close_block(&mut self) {
        self.gap = true;
    }

    /// Starts a quotation.
    pub(crate) fn open_quote(&mut self) {
        self.containers.push(Container::Quote);
        self.fresh = true;
    }

    /// Starts a list item; `mark` precedes its first line.
    pub(crate) fn open_item(&mut self, mark: String) {
        self.containers.push(Container::Item { columns: mark.len(), mark: Some(mark) });
        self.fresh = true;
    }

    /// Ends the innermost quotation or item. An item without lines gets one.
    pub(crate) fn close_container(&mut self) {
        if let Some(Container::Item { mark: Some(_), .. }) = self.containers.last() {
            self.write(Vec::new(), false);
        }
        self.containers.pop();
        self.shared = self.shared.min(self.containers.len());
        self.fresh = false;
    }

    /// Returns `true` if the next line is in a quotation.
    pub(crate) fn quoted(&self) -> bool {
        self.containers.iter().take(MAX_DEPTH).any(|container| matches!(container, Container::Quote))
    }

    /// Writes a line with the prefixes of its containers.
    pub(crate) fn write(&mut self, spans: Vec<Span>, verbatim: bool) {
        if self.gap && !self.lines.is_empty() {
            self.lines.push(DocLine::of(self.blank()));
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

    /// Returns the blank line between the last and the next line: the bars of the quotations that contain both.
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
    /// Adds the prefix of a container: a bar, the mark of an item, or its indentation. Merges equal tones into one span,
    /// because there can be many deeply nested lines.
    fn put(&self, mark: Option<String>, spans: &mut Vec<Span>) {
        match (self, mark) {
            (Self::Quote, _) => push_span(spans, Tone::Quote, QUOTE_BAR),
            (Self::Item { .. }, Some(mark)) => push_span(spans, Tone::Accent, &mark),
            (Self::Item { columns, .. }, None) => push_span(spans, Tone::Text, &" ".repeat(*columns)),
        }
    }
}
