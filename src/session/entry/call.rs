//! How a tool call is said in one line: `[read: src/auth.rs:10-40]`, as pi's `/tree` says it (0.87.1).

use std::borrow::Cow;

use crate::base::js::cut;
use crate::base::paths::shorten;
use crate::session::entry::ToolCall;
use crate::session::json::data::{Fields, compact};

/// How many entries up a tool's answer has its call at most: the answers of one message hang below each other.
pub(crate) const NEARBY: usize = 64;

/// What a tool did with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// `read`
    Read,
    /// `write`
    Write,
    /// `edit`
    Edit,
}

impl Touch {
    /// The name of the tool.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Edit => "edit",
        }
    }
}

/// A tool call in one line. Paths below `home` start with `~`.
pub fn describe(call: &ToolCall<'_>, home: &str) -> String {
    let args = Fields::new(call.arguments);
    let name = call.name.text();
    let value = |names: &[&str]| names.iter().filter_map(|name| args.get(name)).find(|value| !value.is_falsy());
    let text = |names: &[&str]| value(names).map_or(String::new(), |value| value.text().into_owned());
    let path = |names: &[&str], default: &str| {
        let path = text(names);
        shorten(if path.is_empty() { default } else { &path }, home).into_owned()
    };
    match &*name {
        "read" => format!("[read: {}{}]", path(&["path", "file_path"], ""), lines(&args)),
        "write" | "edit" => format!("[{name}: {}]", path(&["path", "file_path"], "")),
        "bash" => {
            let command = text(&["command"]);
            let start: String = cut(command.replace(['\n', '\t'], " ").trim(), 50).into();
            format!("[bash: {start}{}]", if command.encode_utf16().count() > 50 { "..." } else { "" })
        }
        "grep" => format!("[grep: /{}/ in {}]", text(&["pattern"]), path(&["path"], ".")),
        "find" => format!("[find: {} in {}]", text(&["pattern"]), path(&["path"], ".")),
        "ls" => format!("[ls: {}]", path(&["path"], ".")),
        _ => {
            let json = compact(call.arguments);
            let start = cut(&json, 40);
            format!("[{name}: {start}{}]", if start.len() < json.len() { "..." } else { "" })
        }
    }
}

/// The file that a call reads, writes or edits.
pub fn touched<'a>(call: &ToolCall<'a>) -> Option<(Cow<'a, str>, Touch)> {
    let touch = match &*call.name.bytes() {
        b"read" => Touch::Read,
        b"write" => Touch::Write,
        b"edit" => Touch::Edit,
        _ => return None,
    };
    Some((call.path?.text(), touch))
}

/// `:10-40` behind the path of a `read`, from its `offset` and `limit`.
fn lines(args: &Fields<'_>) -> String {
    let number = |name| args.get(name).map(|value| value.text().parse::<f64>().ok());
    let (offset, limit) = (number("offset"), number("limit"));
    if offset.is_none() && limit.is_none() {
        return String::new();
    }
    let start = offset.flatten().unwrap_or(1.0);
    match limit.flatten().map(|limit| start + limit - 1.0) {
        Some(end) if end != 0.0 => format!(":{start}-{end}"),
        _ => format!(":{start}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::entry::read;
    use crate::session::json::Str;

    fn say(name: &str, arguments: &str) -> String {
        let call = ToolCall { id: Str::default(), name: Str::plain(name), arguments: arguments.as_bytes(), path: None };
        describe(&call, "/home/me")
    }

    #[test]
    fn a_call_is_about_its_last_path() {
        for (arguments, path) in [
            (r#"{"path":"a","x":[{"path":"no"}]}"#, Some("a")),
            (r#"{"file_path":"f"}"#, Some("f")),
            (r#"{"path":"a","file_path":"f","p\u0061th":"b"}"#, Some("b")),
            (r#"{"path":7}"#, Some("7")),
            ("{}", None),
            ("[\"path\"]", None),
        ] {
            let line = format!(
                r#"{{"type":"message","message":{{"role":"assistant","content":[{{"type":"toolCall","name":"edit","arguments":{arguments}}}]}}}}"#
            );
            let entry = read::line(line.as_bytes()).unwrap().unwrap();
            let calls: Vec<_> = entry.message.iter().flat_map(|message| message.content.tool_calls()).collect();
            assert_eq!(calls[0].arguments, arguments.as_bytes());
            let touched = touched(calls[0]);
            assert_eq!(touched, path.map(|path| (path.into(), Touch::Edit)), "{arguments}");
        }
    }

    #[test]
    fn says_calls_as_pi_does() {
        assert_eq!(say("read", r#"{"path":"/home/me/a.rs","offset":10,"limit":31}"#), "[read: ~/a.rs:10-40]");
        assert_eq!(say("read", r#"{"file_path":"a.rs","limit":5}"#), "[read: a.rs:1-5]");
        assert_eq!(say("read", r#"{"path":"a.rs","offset":7}"#), "[read: a.rs:7]");
        assert_eq!(say("grep", r#"{"pattern":"fn \\w+"}"#), r"[grep: /fn \w+/ in .]");
        assert_eq!(say("bash", r#"{"command":"cd x\n  ls"}"#), "[bash: cd x   ls]");
        assert_eq!(
            say("bash", &format!(r#"{{"command":"{}"}}"#, "x".repeat(51))),
            format!("[bash: {}...]", "x".repeat(50))
        );
        assert_eq!(say("deploy", r#"{ "to": "a b" }"#), r#"[deploy: {"to":"a b"}]"#);
        assert_eq!(say("ls", ""), "[ls: .]");
    }
}
