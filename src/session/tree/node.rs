//! One line as the tree keeps it: where it stands in the file, what kind it is, and the text of its row. Bodies stay
//! on disk and are read when looked at.

use crate::base::js::{cut, is_js_space, js_trim};
use crate::base::text::clean_char;
use crate::session::entry::kind::Kind;
use crate::session::entry::{Content, Entry, Message};
use crate::session::json::Str;
use crate::session::tree::context::{Edit, FirstKept, Sense};
use crate::session::tree::shape::{IdHash, Ids};

/// How much of a text a row shows, in UTF-16 code units, as in pi's `/tree` (0.87.1).
const ROW_UNITS: usize = 200;

/// How an entry ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    #[default]
    Fine,
    /// Stopped by the user.
    Aborted,
    /// With an error.
    Failed,
}

/// An entry of the tree.
#[derive(Debug)]
pub struct Node {
    /// Where its line starts in the file, in bytes.
    pub offset: u64,
    /// The length of its line in bytes, without the line break.
    pub len: u64,
    /// Its id in the file; absent in v1.
    pub id: Option<Box<str>>,
    /// What it is.
    pub kind: Kind,
    /// How it ended.
    pub outcome: Outcome,
    /// An assistant without text that pi hides (only tool calls).
    pub silent: bool,
    /// The text of its row: clean, on one line, without the word for its kind.
    pub text: Box<str>,
    /// Milliseconds since 1970.
    pub time: Option<i64>,
    /// US dollars.
    pub cost: f64,
    pub(crate) sense: Sense,
}

/// A node, with what is needed to tie it to others.
#[derive(Debug)]
pub(crate) struct Loose {
    pub(crate) node: Node,
    pub(crate) ids: Ids,
    pub(crate) link: Link,
}

/// What ties a node to another one besides its parent.
#[derive(Debug)]
pub(crate) enum Link {
    None,
    /// The id of the tool call that this is the result of.
    Call(IdHash),
    /// The label that this sets on a target; `None` clears.
    Label {
        target: IdHash,
        label: Option<Box<str>>,
    },
    /// From where on a compaction keeps what stands before it.
    Kept(FirstKept),
    /// What this does to another entry for the model.
    Edit(Edit),
}

impl Loose {
    pub(crate) fn new(offset: u64, len: u64, entry: &Entry<'_>) -> Self {
        let kind = entry.kind;
        let mut node = Node {
            offset,
            len,
            id: entry.id.map(|id| id.text().into()),
            kind,
            outcome: Outcome::Fine,
            silent: false,
            text: "".into(),
            time: entry.timestamp.and_then(crate::session::entry::Stamp::ms),
            cost: entry.cost(),
            sense: Sense::new(entry),
        };
        if let Some(message) = &entry.message {
            node.outcome = outcome(message);
            node.silent = kind == Kind::Assistant && is_silent(message);
        }
        node.text = row_text(entry).into();
        let link = Link::new(entry);
        let ids = Ids { id: entry.id.map(IdHash::of), parent: entry.parent_id.map(IdHash::of) };
        Self { node, ids, link }
    }
}

impl Link {
    fn new(entry: &Entry<'_>) -> Self {
        match entry.kind {
            Kind::ToolResult => {
                let call = entry.message.as_ref().and_then(|message| message.tool_call_id);
                Self::Call(IdHash::of(call.unwrap_or_default()))
            }
            Kind::Label => entry.target_id.map_or(Self::None, |target| {
                let label = entry.label.filter(|label| !label.is_empty()).map(|label| label.text().into());
                Self::Label { target: IdHash::of(target), label }
            }),
            Kind::Compaction => Self::Kept(FirstKept::new(entry)),
            Kind::ContextEdit => Edit::new(entry).map_or(Self::None, Self::Edit),
            Kind::User
            | Kind::Assistant
            | Kind::Bash
            | Kind::SystemRole
            | Kind::CustomRole
            | Kind::SummaryRole
            | Kind::OtherMessage
            | Kind::CustomMessage
            | Kind::BranchSummary
            | Kind::ModelChange
            | Kind::ThinkingLevel
            | Kind::Custom
            | Kind::SessionInfo
            | Kind::Usage
            | Kind::Unknown => Self::None,
        }
    }
}

fn outcome(message: &Message<'_>) -> Outcome {
    let stop = message.stop_reason.unwrap_or_default();
    if stop.is("aborted") || message.cancelled {
        Outcome::Aborted
    } else if stop.is("error") || message.is_error || message.exit_code.is_some_and(|code| code != 0.0) {
        Outcome::Failed
    } else {
        Outcome::Fine
    }
}

/// Whether pi's `/tree` hides an assistant's message: no text, and it stopped as it should.
fn is_silent(message: &Message<'_>) -> bool {
    let stop = message.stop_reason.unwrap_or_default();
    let stopped_well = stop.is_empty() || stop.is("stop") || stop.is("toolUse");
    stopped_well && !has_text(&message.content)
}

fn has_text(content: &Content<'_>) -> bool {
    content.texts().any(|text| text.chars().any(|c| !is_js_space(c)))
}

/// A row's text: clean, without white space around.
fn row_text(entry: &Entry<'_>) -> String {
    let flat = |text: Option<Str<'_>>| flat(text.into_iter());
    let message = entry.message.as_ref();
    match entry.kind {
        Kind::User => message.map_or(String::new(), |message| self::flat(message.content.texts())),
        Kind::Assistant => message.map_or(String::new(), |message| {
            let said = self::flat(message.content.texts());
            if !said.is_empty() {
                return said;
            }
            let error = flat(message.error_message);
            match () {
                () if message.stop_reason.is_some_and(|stop| stop.is("aborted")) => "(aborted)".into(),
                () if !error.is_empty() => cut(&error, 80).into(),
                () => "(no content)".into(),
            }
        }),
        Kind::ToolResult => {
            let name = flat(message.and_then(|message| message.tool_name));
            format!("[{}]", if name.is_empty() { "tool" } else { &name })
        }
        Kind::Bash => flat(message.and_then(|message| message.command)),
        Kind::CustomRole => "[custom]".into(), // so pi names `hookMessage` when it migrates v2 to v3
        Kind::SystemRole | Kind::SummaryRole | Kind::OtherMessage => {
            let role = flat(entry.role());
            format!("[{}]", if role.is_empty() { "no role" } else { &role })
        }
        Kind::CustomMessage => {
            format!("[{}]: {}", flat(entry.custom_type), self::flat(entry.content.texts()))
        }
        Kind::Compaction => match entry.tokens_before {
            Some(tokens) => format!("[compaction: {}k tokens]", (tokens / 1000.0).round()),
            None => "[compaction]".into(),
        },
        Kind::BranchSummary => flat(entry.summary),
        Kind::ModelChange => format!("[model: {}]", flat(entry.model_id)),
        Kind::ThinkingLevel => format!("[thinking: {}]", flat(entry.thinking_level)),
        Kind::Custom => format!("[custom: {}]", flat(entry.custom_type)),
        Kind::Label => match entry.label {
            Some(label) => format!("[label: {}]", flat(Some(label))),
            None => "[label: (cleared)]".into(),
        },
        Kind::SessionInfo => {
            let name = flat(entry.name);
            format!("[title: {}]", if name.is_empty() { "empty" } else { &name })
        }
        Kind::Usage => format!("[usage: {} ${:.3}]", flat(entry.model_id), entry.cost()),
        Kind::ContextEdit => {
            format!(
                "[context {}: {}]",
                if entry.replacement.is_some() { "replace" } else { "omit" },
                flat(entry.target_id)
            )
        }
        Kind::Unknown if entry.type_name.is_empty() => "[no type]".into(),
        Kind::Unknown => format!("[{}]", flat(Some(entry.type_name))),
    }
}

/// The start of texts, joined, in one pass: every line of a file comes through here.
fn flat<'a>(texts: impl Iterator<Item = Str<'a>>) -> String {
    let mut out = String::with_capacity(ROW_UNITS);
    let mut units = 0;
    'texts: for text in texts {
        let mut chars = text.chars();
        loop {
            let run = chars.ascii_run(ROW_UNITS - units);
            units += run.len();
            out.push_str(if out.is_empty() { run.trim_start() } else { run });
            let Some(c) = chars.next() else { break };
            units += c.len_utf16();
            if units > ROW_UNITS {
                break 'texts;
            }
            if !(out.is_empty() && is_js_space(c)) {
                out.push(clean_char(c));
            }
        }
    }
    out.truncate(js_trim(&out).len());
    out
}
