//! The sections of a branch in the reader: prompts and answers, runs of tool calls in one line each, and the other branches
//! that start at an entry.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::text::{Span, spans_text};
use crate::render::wrap::Wrapped;
use crate::render::{DocImage, DocLine, FoldedLines};
use crate::search::text_match::Words;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::node::EntryOutcome;
use crate::session::tree::{EntryIndex, Tree};

/// A section of the reader's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// The only text: a card, or another form of an entry.
    Text,
    /// An entry.
    Entry(EntryIndex),
    /// The title of a run of tool calls, each below the one before it.
    Run {
        /// The first entry.
        first: EntryIndex,
        /// The last entry.
        last: EntryIndex,
    },
    /// A branch that starts here and is not read, by its first entry.
    Branch(EntryIndex),
}

/// A row on which `Enter` acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Folds or unfolds a part of an entry, by its number.
    Fold(EntryIndex, usize),
    /// Folds or unfolds a run of tool calls, by its first entry.
    Run(EntryIndex),
    /// Goes to a branch, by its first entry.
    Branch(EntryIndex),
    /// Opens the images of an entry in the viewer of the system.
    Images(EntryIndex),
}

impl Section {
    /// Returns the first entry.
    pub(crate) fn entry(self) -> Option<EntryIndex> {
        match self {
            Self::Text => None,
            Self::Entry(at) | Self::Run { first: at, .. } | Self::Branch(at) => Some(at),
        }
    }

    /// Passes the entries of the branch that it shows to `take`, the last one first.
    pub(crate) fn each_entry(self, tree: &Tree, take: &mut dyn FnMut(EntryIndex)) {
        match self {
            Self::Entry(at) => take(at),
            Self::Run { first, last } => {
                let before = tree.parent(first);
                tree.to_root(last).take_while(|&at| Some(at) != before).for_each(take);
            }
            Self::Text | Self::Branch(_) => {}
        }
    }

    pub(crate) fn is_prompt(self, tree: &Tree) -> bool {
        matches!(self, Self::Entry(at) if tree.is_prompt(at))
    }

    /// Returns `true` for a section without an empty line to others like it.
    pub(super) fn is_tight(self, tree: &Tree) -> bool {
        match self {
            Self::Text | Self::Run { .. } | Self::Branch(_) => true,
            Self::Entry(at) => is_call(tree, at),
        }
    }
}

/// Returns `true` for a tool result.
pub(crate) fn is_result(tree: &Tree, at: EntryIndex) -> bool {
    tree.node(at).kind == EntryKind::ToolResult
}

/// Returns `true` for a tool result, and for an answer of tool calls alone.
fn is_call(tree: &Tree, at: EntryIndex) -> bool {
    let node = tree.node(at);
    is_result(tree, at) || node.kind == EntryKind::Assistant && node.silent
}

/// Returns the sections of a branch through an entry. Runs begin folded, but show their failed calls, and the `opened`
/// one.
pub(super) fn of_branch(
    tree: &Tree,
    branch: &[EntryIndex],
    (at, opened): (EntryIndex, Option<EntryIndex>),
    is_open_run: &dyn Fn(EntryIndex) -> bool,
) -> Vec<Section> {
    let mut sections = Vec::with_capacity(branch.len());
    let mut run: Vec<EntryIndex> = Vec::new();
    let end_run = |run: &mut Vec<EntryIndex>, sections: &mut Vec<Section>| {
        let has_result = run.iter().any(|&at| is_result(tree, at));
        let (Some(&first), Some(&last)) = (run.first(), run.last()) else { return };
        let is_open = !has_result || is_open_run(first);
        if has_result {
            sections.push(Section::Run { first, last });
        }
        let has_failed = |at: EntryIndex| tree.node(at).outcome == EntryOutcome::Failed;
        sections
            .extend(run.drain(..).filter(|&at| is_open || has_failed(at) || opened == Some(at)).map(Section::Entry));
    };
    for (place, &entry) in branch.iter().enumerate() {
        let is_shown = entry == at || !tree.node(entry).kind.is_bookkeeping();
        if is_call(tree, entry) {
            run.push(entry);
        } else if is_shown {
            end_run(&mut run, &mut sections);
            sections.push(Section::Entry(entry));
        }
        let next = branch.get(place + 1).copied();
        if tree.is_branch_point(entry) {
            end_run(&mut run, &mut sections);
            sections.extend(tree.branches(entry).filter(|child| Some(*child) != next).map(Section::Branch));
        }
    }
    end_run(&mut run, &mut sections);
    sections
}

/// The place of an image in a text.
#[derive(Clone, Debug)]
pub struct ImageBox {
    /// The columns.
    pub columns: u16,
    /// The rows; 0 if it is not shown.
    pub rows: u16,
    /// The data in Base64.
    pub png: Arc<str>,
}

/// The most columns and rows of an image.
const IMAGE: [usize; 2] = [64, 20];

/// The pixels of a cell; most fonts are twice as high as wide.
const CELL: [usize; 2] = [8, 16];

impl ImageBox {
    /// Scales an image down, so that it fits.
    fn new(DocImage { pixels: [width, height], png, .. }: &DocImage, has_graphics: bool) -> Self {
        let is_shown = has_graphics && !png.is_empty() && *width > 0 && *height > 0;
        let columns = width.div_ceil(CELL[0]).min(IMAGE[0]).max(1);
        let rows = (columns * CELL[0] * height).div_ceil(width.max(&1) * CELL[1]);
        let (columns, rows) = match rows > IMAGE[1] {
            true => ((columns * IMAGE[1] / rows).max(1), IMAGE[1]),
            false => (columns, rows.max(1)),
        };
        Self { columns: columns as u16, rows: if is_shown { rows as u16 } else { 0 }, png: png.clone() }
    }
}

/// The text of a section.
#[derive(Clone, Debug)]
pub(crate) struct SectionText {
    /// All lines.
    pub(super) whole: Arc<FoldedLines>,
    /// Their size in bytes.
    pub(super) bytes: usize,
    /// The lines above them, such as a note.
    pub(super) before: Vec<DocLine>,
    /// The lines that are not folded.
    pub(super) lines: Arc<Vec<DocLine>>,
    /// The folds by the lines of their titles.
    pub(super) titles: HashMap<usize, usize>,
    /// The images by the lines below which they are shown: their columns and rows, and their data.
    pub(super) images: HashMap<usize, ImageBox>,
    /// The folded ones.
    pub(super) closed: HashSet<usize>,
    /// The wrapped lines, as far as they were displayed.
    pub(super) wrapped: Wrapped,
}

impl SectionText {
    /// Creates the text with a sign before each title of a fold.
    pub(super) fn new(
        whole: FoldedLines,
        before: Vec<DocLine>,
        is_open: &dyn Fn(usize) -> bool,
        (closed_sign, open_sign): (&str, &str),
        has_graphics: bool,
    ) -> Self {
        let mut lines = before.clone();
        let (mut titles, mut images, mut closed) = (HashMap::new(), HashMap::new(), HashSet::new());
        let mut folds = whole.folds.iter().enumerate().peekable();
        let mut at = 0;
        while at < whole.lines.len() {
            // Titles of folds in a folded part are skipped.
            while folds.next_if(|(_, fold)| fold.title < at).is_some() {}
            let mut line = whole.lines[at].clone();
            let mut next = at + 1;
            if let Some((place, fold)) = folds.next_if(|(_, fold)| fold.title == at) {
                titles.insert(lines.len(), place);
                let is_open = is_open(place);
                let sign = if is_open { open_sign } else { closed_sign };
                line.spans.insert(0, Span::accent(format!("{sign} ")));
                if !is_open {
                    closed.insert(place);
                    next = fold.end;
                }
            }
            lines.push(line);
            if let Some(image) = whole.images.iter().find(|image| image.line == at) {
                let image = ImageBox::new(image, has_graphics);
                let below = std::iter::repeat_n(DocLine::default(), image.rows.into());
                images.insert(lines.len() - 1, image);
                lines.extend(below);
            }
            at = next;
        }
        let bytes = whole.lines.iter().flat_map(|line| &line.spans).map(|span| span.text.len()).sum();
        Self {
            bytes,
            whole: Arc::new(whole),
            before,
            lines: Arc::new(lines),
            titles,
            images,
            closed,
            wrapped: Wrapped::new(1),
        }
    }
}

/// The longest line in bytes in which hits are highlighted.
const LONGEST: usize = 1 << 16;

/// Returns the hits in a line, unless it is very long.
pub(super) fn marks(line: &DocLine, words: &Words) -> Vec<std::ops::Range<usize>> {
    let text = spans_text(&line.spans);
    if text.len() > LONGEST { Vec::new() } else { words.marks(&text) }
}
