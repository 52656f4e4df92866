//! The text that a user typed in a prompt, without the blocks that pi and its extensions put before it.
//!
//! pi 1.6.0 expands `/skill:NAME words` to `<skill name="NAME" location="…">…</skill>` and the words, and `@FILE` on
//! its command line to `<file name="…">…</file>`. Extensions insert blocks of context before a prompt: between lines such
//! as `--- pi-extension-context:start ---` and `--- pi-extension-context:end ---`, or in elements such as
//! `<editor-context>` and `<system-reminder>`.

use crate::base::javascript::{is_js_space, js_trim, utf16_prefix};
use crate::base::text::clean;
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;

const CONTEXT: &str = "--- pi-extension-context";

/// The last words of the names of elements with context: `editor-context`, `system_reminder`. A prompt can begin with
/// any other element.
const CONTEXT_NAMES: [&str; 10] =
    ["context", "reminder", "instructions", "environment", "info", "selection", "state", "memory", "notice", "caveat"];

/// Length limit of the returned text in UTF-16 code units.
const LONGEST: usize = 2000;

/// A block before the typed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptBlock<'a> {
    /// A skill, by its name.
    Skill(&'a str),
    /// An attached file, by its path.
    File(&'a str),
    /// Context of an extension, by its name.
    Context(&'a str),
}

impl PromptBlock<'_> {
    /// Returns the short form of a skill or a file; empty for context.
    fn typed(self) -> String {
        match self {
            Self::Skill(name) => format!("/skill:{name}"),
            Self::File(path) => format!("@{}", path.rsplit(['/', '\\']).next().unwrap_or(path)),
            Self::Context(_) => String::new(),
        }
    }

    /// Returns a title for the block.
    pub(crate) fn title(self) -> String {
        match self {
            Self::Context(name) => name.to_owned(),
            Self::Skill(_) | Self::File(_) => self.typed(),
        }
    }
}

/// Returns the typed words of a user message that starts with a block: `/skill:NAME` and the words after it. Without
/// words, returns the names of the attached files. Returns `None` for any other entry.
pub(crate) fn typed(entry: &Entry<'_>) -> Option<String> {
    let content = &entry.message.as_ref().filter(|_| entry.kind == EntryKind::User)?.content;
    let first = content.texts().next()?.chars().find(|&c| !is_js_space(c));
    if first.is_some_and(|first| matches!(first, '<' | '-')) { unwrap(&content.text("\n")) } else { None }
}

/// Shortens text to the first `units` UTF-16 code units of a row: clean, on one line.
pub(crate) fn row(typed: &str, units: usize) -> String {
    clean(js_trim(utf16_prefix(typed, units))).into_owned()
}

/// Removes the blocks at the start of a message.
fn unwrap(text: &str) -> Option<String> {
    let (blocks, rest) = split(text);
    let named = |is_wanted: fn(&PromptBlock<'_>) -> bool| {
        let blocks = blocks.iter().map(|(block, _)| *block).filter(is_wanted);
        blocks.map(PromptBlock::typed).collect::<Vec<_>>().join(" ")
    };
    let skills = named(|block| matches!(block, PromptBlock::Skill(_)));
    let words = if rest.is_empty() { named(|block| matches!(block, PromptBlock::File(_))) } else { rest.to_owned() };
    let parts: Vec<String> = [skills, words].into_iter().filter(|part| !part.is_empty()).collect();
    let typed = parts.join(" ");
    (!typed.is_empty() && !blocks.is_empty()).then(|| js_trim(utf16_prefix(&typed, LONGEST)).into())
}

/// Returns the text of a prompt without the context of extensions before it.
pub(crate) fn without_context(text: &str) -> &str {
    let (blocks, _) = split(text);
    let contexts = blocks.iter().take_while(|(block, _)| matches!(block, PromptBlock::Context(_)));
    contexts.last().map_or(text, |(_, block)| {
        let end = block.as_ptr() as usize + block.len() - text.as_ptr() as usize;
        text[end..].trim_start()
    })
}

/// Splits a prompt into the blocks at its start, each with its text, and the rest.
pub(crate) fn split(text: &str) -> (Vec<(PromptBlock<'_>, &str)>, &str) {
    let mut blocks = Vec::new();
    let mut rest = text.trim_start();
    while let Some((block, after)) = block(rest) {
        blocks.push((block, rest[..rest.len() - after.len()].trim_end()));
        rest = after.trim_start();
    }
    (blocks, rest)
}

/// Returns the block at the start of a text, and the text after it.
fn block(text: &str) -> Option<(PromptBlock<'_>, &str)> {
    if let Some(skill) = text.strip_prefix("<skill name=\"") {
        return element(skill, "\n</skill>").map(|(name, after)| (PromptBlock::Skill(name), after));
    }
    if let Some(file) = text.strip_prefix("<file name=\"") {
        return element(file, "</file>").map(|(path, after)| (PromptBlock::File(path), after));
    }
    if let Some(element) = text.strip_prefix('<') {
        let name = &element[..element.find(|c: char| !(c.is_ascii_lowercase() || matches!(c, '-' | '_')))?];
        let is_context = CONTEXT_NAMES.contains(&name.rsplit(['-', '_']).next()?) && name.contains(['-', '_']);
        return Some((PromptBlock::Context(name), after_end(element, &format!("</{name}>"))?)).filter(|_| is_context);
    }
    let (line, after) = text.strip_prefix("--- ")?.split_once('\n')?;
    if let Some(name) = line.trim_end().strip_suffix(":start ---") {
        let end = format!("--- {name}:end ---");
        let end_at = if after.starts_with(&end) { 0 } else { after.find(&format!("\n{end}"))? + 1 };
        let after = after[end_at..].split_once('\n').map_or("", |(_, after)| after);
        return Some((PromptBlock::Context(name), after));
    }
    let body = text.strip_prefix(CONTEXT)?;
    let end = body.find(&format!("\n{CONTEXT}")).or_else(|| body.find("\n---\n"))?;
    Some((PromptBlock::Context(&CONTEXT[4..]), body[end + 1..].split_once('\n').map_or("", |(_, after)| after)))
}

/// Returns the name of an element and the text after its end tag. `text` begins with the name; the end tag must end its
/// line.
fn element<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let (name, rest) = text.split_once('"').filter(|(name, _)| !name.is_empty())?;
    Some((name, after_end(rest, end)?))
}

/// Returns the text after the first end tag that ends its line.
fn after_end<'a>(text: &'a str, end: &str) -> Option<&'a str> {
    let after = text.match_indices(end).map(|(at, end)| &text[at + end.len()..]);
    after.into_iter().find(|after| after.is_empty() || after.starts_with(['\n', '\r']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_are_removed() {
        let skill = "<skill name=\"review\" location=\"/s/SKILL.md\">\nSee </skill> below.\n\n# Review\n</skill>";
        let file = "<file name=\"/home/me/auth.ts\">\nexport {}\n</file>\n";
        let context = "--- pi-extension-context:start ---\ngit: main\n---\n--- pi-extension-context:end ---\n";
        for (text, expected) in [
            (skill.to_owned(), "/skill:review"),
            (format!("{skill}\n\nthe last commit\n"), "/skill:review the last commit"),
            (format!("{file}Why does it fail?"), "Why does it fail?"),
            (format!("{file}<file name=\"C:\\a.png\"></file>\n"), "@auth.ts @a.png"),
            (format!("{context}\nFix it"), "Fix it"),
            (format!("\n{context}{file}{skill}\n\nFix it"), "/skill:review Fix it"),
            ("--- pi-extension-context git ---\nmain\n---\nFix it".into(), "Fix it"),
            ("--- git-status:start ---\n--- git-status:end ---\nFix it".into(), "Fix it"),
            ("<editor-context>\nfile: a.rs\n</editor-context>\n\nFix it".into(), "Fix it"),
            (format!("<system_reminder a=\"b\">x</system_reminder>\n{file}Fix it"), "Fix it"),
        ] {
            assert_eq!(unwrap(&text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn text_without_a_complete_wrapper_is_kept() {
        for text in [
            "<skill name=\"review\" location=\"/s\">\nno end",
            "<skill name=\"\" location=\"/s\">\n</skill>",
            "<file name=\"a\">x</file> on one line",
            "--- pi-extension-context:start ---\nno end",
            "--- pi-extension-context:start ---\n--- pi-extension-context:end ---",
            "<editor-context>\nno end",
            "<app-root>\n</app-root>\nWhy is this empty?",
            "<context>\n</context>\nA tag that people write",
            "---\nyaml: true\n---\nWhat is this?",
            "--- other ---",
            "",
        ] {
            assert_eq!(unwrap(text), None, "{text}");
        }
    }

    #[test]
    fn exports_leave_out_context_but_no_files() {
        let file = "<file name=\"a.rs\">\nx\n</file>\nFix it\n";
        let context = "--- notes:start ---\na\n--- notes:end ---\n";
        assert_eq!(without_context(&format!("{context}{context}\n{file}")), file);
        assert_eq!(without_context(file), file);
        let (blocks, rest) = split(file);
        assert_eq!((blocks[0].0.title(), rest), ("@a.rs".into(), "Fix it\n"));
    }

    #[test]
    fn only_user_messages_that_start_with_a_wrapper_are_read() {
        let line = |role: &str, content: &str| {
            let line = format!(r#"{{"type":"message","message":{{"role":"{role}","content":{content}}}}}"#);
            let entry = crate::session::entry::parse::line(line.as_bytes()).unwrap().unwrap();
            typed(&entry)
        };
        let wrapped = r#""\n\u003cfile name=\"a.rs\">\nx\n</file>\nFix \\d""#;
        assert_eq!(line("user", wrapped).as_deref(), Some("Fix \\d"));
        assert_eq!(line("assistant", wrapped), None);
        assert_eq!(line("user", r#""see <file name=\"a\"></file>""#), None);
        let blocks = r#"[{"type":"text","text":"<file name=\"a.rs\">\nx\n</file>"},{"type":"text","text":"Fix it"}]"#;
        assert_eq!(line("user", blocks).as_deref(), Some("Fix it"));
    }
}
