//! The document of an export: its title and facts, and a block for each entry. Text is decoded and untrusted; each writer
//! escapes it.

use crate::base::javascript::utf16_prefix;
use crate::base::named::named;
use crate::base::text::clean;
use crate::render::markdown;

/// The maximum length of a title in UTF-16 code units.
const TITLE: usize = 100;

named! {
    /// The amount of tool calls in a document.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
    pub enum ToolDetail {
        /// Calls with arguments and results.
        #[default]
        Full = "full",
        /// One line per call.
        Short = "short",
        /// No tool calls.
        None = "none",
    }
}

/// The content of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// The amount of tool calls.
    pub tools: ToolDetail,
    /// `true` to include thinking.
    pub thinking: bool,
    /// `true` to include images.
    pub images: bool,
    /// `true` to include the blocks that extensions put before prompts.
    pub blocks: bool,
    /// `true` to begin with the last answer, the changed files, the commits and the cost.
    pub summary: bool,
    /// The maximum length in characters, for which old tool output is left out.
    pub max_length: Option<usize>,
}

impl Detail {
    /// All content.
    pub const WHOLE: Self =
        Self { tools: ToolDetail::Full, thinking: true, images: true, blocks: true, summary: false, max_length: None };
}

/// The beginning of a document.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The title.
    pub title: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// The turns and the result.
    pub outline: Outline,
}

/// An overview of a document.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The prompts, with the figures of their turns.
    pub turns: Vec<Turn>,
    /// The changed files, with the number of changes: `src/a.rs (3 changes)`.
    pub changed: Vec<String>,
    /// With a summary of a branch: the differences of those files from their first to their last state.
    pub differences: Vec<Part>,
    /// The hashes and titles of the commits.
    pub commits: Vec<String>,
    /// The last answer; `None` without a summary.
    pub result: Option<Vec<Part>>,
}

/// A prompt and the figures of the entries up to the next one.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The ID of the block of the prompt.
    pub id: String,
    /// The title of the prompt.
    pub title: String,
    /// Tool calls, cost and duration.
    pub facts: Vec<String>,
}

/// The role of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockRole {
    /// A prompt, or a command run by the user.
    Prompt,
    /// An answer of the model.
    Answer,
    /// A tool result without its call.
    Tool,
    /// A summary of a compaction or a branch.
    Summary,
    /// A system message, or a message of an extension.
    Message,
    /// A setting or another entry of one line.
    Note,
}

/// An entry of a document.
#[derive(Clone, Debug)]
pub struct EntryBlock {
    /// The ID of the entry, unique in the document.
    pub id: String,
    /// The ID of the block before it on its branch.
    pub parent: Option<String>,
    /// The role.
    pub role: BlockRole,
    /// The title on one line: the start of a prompt, or a description. Empty for answers.
    pub title: String,
    /// Time, model and cost.
    pub facts: Vec<String>,
    /// The label.
    pub label: Option<String>,
    /// The branch that starts here.
    pub branch: Option<BranchStart>,
    /// The content.
    pub parts: Vec<Part>,
}

impl EntryBlock {
    /// Returns `true` for a text without more than the title.
    pub fn is_title(&self) -> bool {
        matches!(&self.parts[..], [Part::Markdown(text)] if text.trim() == self.title)
    }

    /// Returns the title, or else the beginning of the content.
    pub fn summary(&self) -> String {
        if !self.title.is_empty() {
            return self.title.clone();
        }
        let first = self.parts.iter().find_map(|part| match part {
            Part::Markdown(text) => Some(markdown::strip(&one_line(text)).into_owned()),
            Part::Tool(tool) => Some(format!("{} {}", tool.name, tool.about)),
            _ => None,
        });
        first.unwrap_or_default()
    }
}

/// The start of one of several branches.
#[derive(Clone, Debug)]
pub struct BranchStart {
    /// The number of the branch from 1.
    pub number: usize,
    /// The number of branches.
    pub count: usize,
    /// The title of the block at the branch point.
    pub after: String,
}

impl BranchStart {
    /// Returns ` after “TITLE”` with the escaped title of the branch point, if it has one.
    pub(crate) fn after(&self, escape: fn(&str) -> String) -> String {
        if self.after.is_empty() { String::new() } else { format!(" after “{}”", escape(&self.after)) }
    }
}

/// A part of an entry.
#[derive(Clone, Debug)]
pub enum Part {
    /// Markdown.
    Markdown(String),
    /// Thinking of the model.
    Thinking(String),
    /// A block before a prompt, shown by its title.
    Folded {
        /// The title.
        title: String,
        /// The text.
        text: String,
    },
    /// Source code with its language, which can be empty.
    Code(String, String),
    /// Output.
    Plain(String),
    /// A diff.
    Diff(String),
    /// An error.
    Error(String),
    /// A remark of pitree on one line.
    Note(String),
    /// A named section, such as of a system message.
    Section(String, String),
    /// A tool call.
    Tool(Box<ToolPart>),
    /// An image.
    Image {
        /// The MIME type.
        mime: String,
        /// The size in bytes.
        bytes: usize,
        /// The data in base64; empty if images are left out.
        data: String,
    },
}

/// A tool call with its result, or a run of tool calls.
#[derive(Clone, Debug, Default)]
pub struct ToolPart {
    /// The name of the tool.
    pub name: String,
    /// The rest of the description on one line: the file, the command.
    pub about: String,
    /// `failed`, or how many calls of a run failed; empty if none did.
    pub failed: String,
    /// The effect of a context edit on the result; empty without one.
    pub edited: String,
    /// Arguments and result, or the calls of a run; empty in a short document.
    pub parts: Vec<Part>,
}

impl ToolPart {
    /// Returns `true` for calls that a reader should see without opening them: failed ones and edits.
    pub fn is_open(&self) -> bool {
        let is_open = |part: &Part| matches!(part, Part::Diff(_)) || part.as_tool().is_some_and(Self::is_open);
        !self.failed.is_empty() || self.parts.iter().any(is_open)
    }
}

impl Part {
    /// Returns the tool call.
    pub fn as_tool(&self) -> Option<&ToolPart> {
        if let Self::Tool(tool) = self { Some(tool) } else { None }
    }

    /// Returns `true` for parts of runs of tool calls.
    pub(crate) fn is_in_run(&self) -> bool {
        matches!(self, Self::Tool(_) | Self::Thinking(_))
    }
}

/// Appends texts.
pub(crate) fn push(out: &mut String, texts: &[&str]) {
    texts.iter().for_each(|text| out.push_str(text));
}

/// Returns the start of a text on one line.
pub fn one_line(text: &str) -> String {
    let start = utf16_prefix(text.trim_start(), 4 * TITLE);
    let words = clean(start).split_whitespace().collect::<Vec<_>>().join(" ");
    match utf16_prefix(&words, TITLE) {
        cut if cut.len() < words.len() => format!("{}…", cut.trim_end()),
        _ => words,
    }
}

/// Formats a time: `2026-01-05 09:00 UTC`.
pub fn minute(ms: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}
