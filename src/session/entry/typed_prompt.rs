//! Extraction of the words that a user typed in a prompt, without the wrappers added by pi and its extensions.
//!
//! pi 1.6.0 expands `/skill:NAME words` to `<skill name="NAME" location="…">…</skill>` and the words, and `@FILE` on
//! its command line to `<file name="…">…</file>`. Some extensions insert a block of context before each prompt, between
//! two lines that begin with `--- pi-extension-context`.

use crate::base::javascript::{is_js_space, js_trim, utf16_prefix};
use crate::base::text::clean;
use crate::session::entry::Entry;
use crate::session::entry::kind::EntryKind;
use crate::session::json::Str;

const SKILL: &str = "<skill name=\"";
const FILE: &str = "<file name=\"";
const CONTEXT: &str = "--- pi-extension-context";

/// Length limit of the returned text in UTF-16 code units.
const LONGEST: usize = 2000;

/// Returns the typed words of a user message that starts with a wrapper: `/skill:NAME` and the words after it. Without
/// words, returns the names of the attached files. Returns `None` for any other entry.
pub(crate) fn typed(entry: &Entry<'_>) -> Option<String> {
    let content = &entry.message.as_ref().filter(|_| entry.kind == EntryKind::User)?.content;
    let starts_with = |text: Str<'_>, wrapper: &str| {
        let mut chars = text.chars().skip_while(|&c| is_js_space(c));
        wrapper.chars().all(|c| chars.next() == Some(c))
    };
    let first = content.texts().next()?;
    let is_wrapped = [SKILL, FILE, CONTEXT].into_iter().any(|wrapper| starts_with(first, wrapper));
    if is_wrapped { unwrap(&content.text("\n")) } else { None }
}

/// Shortens text to the first `units` UTF-16 code units of a row: clean, on one line.
pub(crate) fn row(typed: &str, units: usize) -> String {
    clean(js_trim(utf16_prefix(typed, units))).into_owned()
}

/// Removes the wrappers at the start of a message.
fn unwrap(text: &str) -> Option<String> {
    let (mut rest, mut skills, mut files) = (text.trim_start(), Vec::new(), Vec::new());
    loop {
        let after = if let Some(skill) = rest.strip_prefix(SKILL) {
            let Some((name, after)) = element(skill, "\n</skill>") else { break };
            skills.push(format!("/skill:{name}"));
            after
        } else if let Some(file) = rest.strip_prefix(FILE) {
            let Some((path, after)) = element(file, "</file>") else { break };
            files.push(format!("@{}", path.rsplit(['/', '\\']).next().unwrap_or(path)));
            after
        } else {
            let Some(after) = after_context(rest) else { break };
            after
        };
        rest = after.trim_start();
    }
    let words = if rest.is_empty() { files.join(" ") } else { rest.to_owned() };
    let parts = skills.into_iter().chain(Some(words)).filter(|part| !part.is_empty());
    let typed = parts.collect::<Vec<_>>().join(" ");
    (!typed.is_empty() && rest.len() < text.len()).then(|| js_trim(utf16_prefix(&typed, LONGEST)).into())
}

/// Returns the text after a block of context at the start of `text`.
fn after_context(text: &str) -> Option<&str> {
    let body = text.strip_prefix(CONTEXT)?;
    let end = body.find(&format!("\n{CONTEXT}")).or_else(|| body.find("\n---\n"))?;
    Some(body[end + 1..].split_once('\n').map_or("", |(_, after)| after))
}

/// Returns the name of an element and the text after its end tag. `text` begins with the name; the end tag must end its
/// line.
fn element<'a>(text: &'a str, end: &str) -> Option<(&'a str, &'a str)> {
    let (name, rest) = text.split_once('"').filter(|(name, _)| !name.is_empty())?;
    let after = rest.match_indices(end).map(|(at, end)| &rest[at + end.len()..]);
    let after = after.into_iter().find(|after| after.is_empty() || after.starts_with(['\n', '\r']))?;
    Some((name, after))
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
            "--- other ---",
            "",
        ] {
            assert_eq!(unwrap(text), None, "{text}");
        }
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
