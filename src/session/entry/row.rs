//! The text of an entry's row and its visibility in pi's `/tree` (1.6.0).

use crate::base::javascript::{is_js_space, js_trim, number, utf16_prefix};
use crate::base::text::{clean, clean_char};
use crate::session::entry::kind::EntryKind;
use crate::session::entry::{Entry, Message};
use crate::session::json::Str;

/// The maximum length of a message in a row in UTF-16 code units, as in pi's `/tree` (1.6.0).
pub(crate) const MESSAGE_UNITS: usize = 200;

/// The maximum length of any other row in UTF-16 code units. pi cuts such rows at the width of the screen; no screen is
/// wider.
pub(super) const LONGEST: usize = 2000;

/// Returns `true` if pi's `/tree` hides an entry: an assistant message without text that ended normally.
pub(crate) fn is_silent(entry: &Entry<'_>) -> bool {
    let stopped_well = |message: &Message<'_>| {
        let stop = message.stop_reason.unwrap_or_default();
        stop.is_empty() || stop.is("stop") || stop.is("toolUse")
    };
    let is_silent = |message: &Message<'_>| stopped_well(message) && !message.content.has_words();
    entry.kind == EntryKind::Assistant && entry.message.as_ref().is_some_and(is_silent)
}

/// Returns the text of an entry's row: cleaned, on one line, trimmed. The row of a tool result contains the tool; a
/// tree and a digest replace it by the call.
pub(crate) fn text(entry: &Entry<'_>) -> String {
    let mut out = String::new();
    text_into(&mut out, entry);
    out
}

/// Appends the text of an entry's row.
pub(crate) fn text_into(out: &mut String, entry: &Entry<'_>) {
    let message = entry.message.as_ref();
    let row = match entry.kind {
        EntryKind::User | EntryKind::Assistant => return start_into(out, entry, MESSAGE_UNITS),
        EntryKind::ToolResult => match message.and_then(|message| message.tool_name) {
            Some(name) => format!("[{}]", plain(Some(name))),
            None => "[tool]".into(),
        },
        EntryKind::Bash => flat(message.and_then(|message| message.command), LONGEST),
        EntryKind::CustomRole => "[custom]".into(), // pi's name for `hookMessage` when it migrates version 2 to 3
        EntryKind::SystemRole | EntryKind::SummaryRole | EntryKind::OtherMessage => {
            let role = plain(entry.role());
            format!("[{}]", if role.is_empty() { "no role" } else { &role })
        }
        EntryKind::CustomMessage => format!("[{}]: {}", plain(entry.custom_type), flat(entry.content.texts(), LONGEST)),
        EntryKind::Compaction => match entry.tokens_before {
            Some(tokens) => format!("[compaction: {}k tokens]", number((tokens / 1000.0 + 0.5).floor())),
            None => "[compaction]".into(),
        },
        EntryKind::BranchSummary => flat(entry.summary, LONGEST),
        EntryKind::ModelChange => format!("[model: {}]", plain(entry.model_id)),
        EntryKind::ThinkingLevel => format!("[thinking: {}]", plain(entry.thinking_level)),
        EntryKind::Custom => format!("[custom: {}]", plain(entry.custom_type)),
        EntryKind::Label => match entry.label {
            Some(label) => format!("[label: {}]", plain(Some(label))),
            None => "[label: (cleared)]".into(),
        },
        EntryKind::SessionInfo => {
            let name = plain(entry.name);
            format!("[title: {}]", if name.is_empty() { "empty" } else { &name })
        }
        EntryKind::Usage => format!("[usage: {} ${:.3}]", plain(entry.model_id), entry.cost()),
        EntryKind::ContextEdit => {
            format!(
                "[context {}: {}]",
                if entry.replacement.is_some() { "replace" } else { "omit" },
                plain(entry.target_id)
            )
        }
        EntryKind::Unknown if entry.is_cut => format!("[{}: too long to read]", plain(Some(entry.type_name))),
        EntryKind::Unknown if entry.type_name.is_empty() => "[no type]".into(),
        EntryKind::Unknown => format!("[{}]", plain(Some(entry.type_name))),
    };
    out.push_str(&row);
}

/// Appends the first `units` UTF-16 code units of a user or assistant message.
pub(crate) fn start_into(out: &mut String, entry: &Entry<'_>, units: usize) {
    let Some(message) = &entry.message else { return };
    let start = out.len();
    flat_into(out, message.content.texts(), units);
    if entry.kind == EntryKind::Assistant && out.len() == start {
        let error = flat(message.error_message, LONGEST);
        out.push_str(match () {
            () if message.stop_reason.is_some_and(|stop| stop.is("aborted")) => "(aborted)",
            () if !error.is_empty() => utf16_prefix(&error, 80),
            () => "(no content)",
        });
    }
}

/// Returns the first `units` UTF-16 code units of joined texts, trimmed.
pub(crate) fn flat<'a>(texts: impl IntoIterator<Item = Str<'a>>, units: usize) -> String {
    let mut out = String::new();
    flat_into(&mut out, texts.into_iter(), units);
    out
}

/// Returns an untrimmed text: pi trims messages, but not names.
fn plain(text: Option<Str<'_>>) -> String {
    let text = text.map_or(String::new(), |text| text.start(LONGEST));
    clean(&text).into_owned()
}

/// Appends the first `most` UTF-16 code units of joined texts in one pass. This is a hot path: it runs for every line.
fn flat_into<'a>(out: &mut String, texts: impl Iterator<Item = Str<'a>>, most: usize) {
    let start = out.len();
    out.reserve(most.min(MESSAGE_UNITS));
    let mut units = 0;
    'texts: for text in texts {
        let mut chars = text.chars();
        loop {
            let run = chars.ascii_run(most - units);
            units += run.len();
            out.push_str(if out.len() == start { run.trim_start() } else { run });
            let Some(c) = chars.next() else { break };
            units += c.len_utf16();
            if units > most {
                break 'texts;
            }
            if !(out.len() == start && is_js_space(c)) {
                out.push(clean_char(c));
            }
        }
    }
    out.truncate(start + js_trim(&out[start..]).len());
}
