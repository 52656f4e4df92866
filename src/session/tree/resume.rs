//! The position where pi resumes when an entry is chosen, as in pi's `/tree` (1.6.0). pi resumes at the entry itself.
//! For a user or extension message, it resumes at the parent and returns the text to the user for editing. If such a
//! message is the last line of the file, pi stays at it.

use std::path::Path;

use crate::session::tree::{EntryIndex, Tree};

/// The maximum length of an ID in a command line; longer ones are replaced by the index.
const MAX_ID: usize = 64;

/// The position where pi resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResumePoint {
    /// The entry to resume after; `None` is an empty conversation.
    pub at: Option<EntryIndex>,
    /// The entry whose text is returned to the user.
    pub returned_text_entry: Option<EntryIndex>,
    /// `true` if the session is already there and nothing needs to be written.
    pub is_here: bool,
}

/// Returns the position where pi resumes if the entry `chosen` is chosen.
pub fn at(tree: &Tree, chosen: EntryIndex) -> ResumePoint {
    if tree.node(chosen).kind.returns_to_user() && tree.leaf != Some(chosen) {
        let at = tree.parent(chosen);
        return ResumePoint { at, returned_text_entry: Some(chosen), is_here: tree.is_current_position(at) };
    }
    ResumePoint { at: Some(chosen), returned_text_entry: None, is_here: tree.is_tip(chosen) }
}

/// Returns the first command for pi to go to an entry (`assets/pi/goto.ts`), with or without a summary of the abandoned
/// branch. It contains the ID of the entry, or its index if the ID is unsuitable.
pub fn goto(tree: &Tree, chosen: EntryIndex, summarize: bool) -> String {
    let node = tree.node(chosen);
    // pi distinguishes a numeric ID from its text.
    let is_plain = |id: &&str| {
        let is_word = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
        is_word && id.len() <= MAX_ID && id.parse::<f64>().is_err()
    };
    let word = node.id.as_deref().filter(is_plain).map_or_else(|| format!("#{chosen}"), String::from);
    format!("/pitree-goto {word}{}", if summarize { " summarize" } else { "" })
}

/// Returns the first command for pi to return the text of an entry to the user, from its file. Returns `None` if the
/// path is not UTF-8 or contains control characters.
pub fn text_command(tree: &Tree, at: EntryIndex, path: &Path) -> Option<String> {
    let node = tree.node(at);
    let path = path.to_str().filter(|path| !path.contains(char::is_control))?;
    Some(format!("/pitree-text {} {} {path}", node.offset, node.len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tree::tests::tree;

    #[test]
    fn goto_uses_an_id_or_an_index() {
        let entry = |id: &str| format!(r#"{{"type":"message","id":{id},"message":{{"role":"user","content":"x"}}}}"#);
        let long = format!("\"{}\"", "x".repeat(65));
        let ids = ["\"0a1b2c3d\"", "\"a b\"", "\"12345678\"", "7", "\"1e5\"", "\"\"", "\"é\"", &long, "\"u-1_x.y\""];
        let entries: Vec<String> = ids.iter().map(|id| entry(id)).collect();
        let tree = tree(&entries);
        let told: Vec<String> = (0..9).map(|at| goto(&tree, at, false)).collect();
        let words = ["0a1b2c3d", "#1", "#2", "#3", "#4", "#5", "#6", "#7", "u-1_x.y"];
        assert_eq!(told, words.map(|word| format!("/pitree-goto {word}")));
        assert_eq!(goto(&tree, 0, true), "/pitree-goto 0a1b2c3d summarize");
        let path = Path::new("/a b/s.jsonl");
        let (offset, len) = (tree.nodes[1].offset, tree.nodes[1].len);
        assert_eq!(text_command(&tree, 1, path).unwrap(), format!("/pitree-text {offset} {len} /a b/s.jsonl"));
        assert_eq!(text_command(&tree, 1, Path::new("/a\nb")), None);
    }

    #[test]
    fn a_last_message_before_a_label_returns_to_the_user() {
        let message = |id: &str, parent: &str, role: &str| {
            format!(
                r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":"x"}}}}"#
            )
        };
        let label = |parent: &str| format!(r#"{{"type":"label","id":"l","parentId":"{parent}","targetId":"u"}}"#);
        let said = [message("a", "", "assistant"), message("u", "a", "user")];
        assert_eq!(at(&tree(&said), 1), ResumePoint { at: Some(1), returned_text_entry: None, is_here: true });
        let mut labelled = said.to_vec();
        labelled.push(label("u"));
        assert_eq!(at(&tree(&labelled), 1), ResumePoint { at: Some(0), returned_text_entry: Some(1), is_here: false });
        assert_eq!(at(&tree(&labelled), 2), ResumePoint { at: Some(2), returned_text_entry: None, is_here: true });
        let answered = [said[0].clone(), label("a")];
        assert_eq!(at(&tree(&answered), 0), ResumePoint { at: Some(0), returned_text_entry: None, is_here: true });
        // The leaf is before the message: resuming there returns its text.
        labelled[2] = label("a");
        assert_eq!(at(&tree(&labelled), 1), ResumePoint { at: Some(0), returned_text_entry: Some(1), is_here: true });
    }

    /// The model change here resumes with the thinking level before it, as observed with pi 1.6.0 and 0.87.1.
    #[test]
    fn settings_after_an_entry_are_not_here() {
        let entry = |id: &str, parent: &str, fields: &str| format!(r#"{{"id":"{id}","parentId":"{parent}",{fields}}}"#);
        let answer = entry("a", "", r#""type":"message","message":{"role":"assistant","content":"x"}"#);
        let model = entry("m", "a", r#""type":"model_change","provider":"p","modelId":"m""#);
        let level = entry("t", "m", r#""type":"thinking_level_change","thinkingLevel":"high""#);
        let name = entry("n", "t", r#""type":"session_info","name":"x""#);
        let is_here = |lines: &[&String]| {
            let tree = tree(&lines.iter().map(|line| line.to_string()).collect::<Vec<_>>());
            (0..lines.len()).map(|entry| at(&tree, entry as EntryIndex).is_here).collect::<Vec<_>>()
        };
        assert_eq!(is_here(&[&answer, &model]), [false, true]);
        assert_eq!(is_here(&[&answer, &model, &level]), [false, false, true]);
        assert_eq!(is_here(&[&answer, &model, &level, &name]), [false, false, true, true]);
    }
}
