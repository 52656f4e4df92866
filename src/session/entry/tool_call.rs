//! Descriptions of tool calls on one line, such as `[read: src/auth.rs:10-40]`, as in pi's `/tree` (1.6.0), and nested
//! calls, which are made by a tool itself. pi's codemode runs scripts that read, write and edit files. Their calls are in
//! `nestedCalls` of the tool result (1.6.0), without results and without overlong arguments.

use std::borrow::Cow;

use crate::base::javascript::{is_js_space, js_trim, number, utf16_prefix};
use crate::base::named::named;
use crate::base::paths::shorten;
use crate::base::text::clean;
use crate::session::entry::row::LONGEST;
use crate::session::entry::{Message, ToolCall, parse};
use crate::session::json::value::{Fields, Value, items, stringify};
use crate::session::json::{JsonReader, Str};

/// The maximum distance of a tool call above its result: the results of one message are a chain.
pub(crate) const NEARBY: usize = 64;

named! {
    /// A file operation of a tool or of a shell command.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
    pub enum FileOperation {
        /// `read`
        Read = "read",
        /// `write`
        Write = "write",
        /// `edit`
        Edit = "edit",
        /// A shell command that writes, removes or moves the file.
        Command = "command",
    }
}

impl FileOperation {
    /// Returns the operation of a tool.
    pub(crate) fn of(tool: &str) -> Option<Self> {
        [Self::Read, Self::Write, Self::Edit].into_iter().find(|touch| touch.name() == tool)
    }
}

/// The maximum length of a command or of arguments in UTF-16 code units.
const PART_UNITS: usize = 400;

/// The parts of a tool call's row, cleaned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallDescription {
    /// The name of the tool.
    pub name: Box<str>,
    /// The file or directory as given; empty if there is none.
    pub path: Box<str>,
    /// The rest of the call: the lines, the command on one line, the pattern, or the most descriptive argument of a
    /// custom tool.
    pub about: Box<str>,
}

impl CallDescription {
    /// Describes a call with its arguments.
    pub(crate) fn new(call: &ToolCall<'_>, args: &Fields<'_>) -> Self {
        let name = call.name.text();
        let text = |names: &[&str]| given(args, names).map_or(Cow::Borrowed(""), |value| value.text());
        let (path, about) = match &*name {
            "read" => (text(&["path", "file_path"]), lines(args).into()),
            "write" | "edit" => (text(&["path", "file_path"]), Cow::default()),
            "bash" => (Cow::default(), text(&["command"])),
            "grep" => (text(&["path"]), format!("/{}/", text(&["pattern"])).into()),
            "find" => (text(&["path"]), text(&["pattern"])),
            "ls" => (text(&["path"]), Cow::default()),
            _ => match descriptive(call.arguments) {
                Some(("path", path)) => (path, Cow::default()),
                Some((_, text)) => (Cow::default(), text),
                None => (Cow::default(), stringify(call.arguments, PART_UNITS).0.into()),
            },
        };
        let short = |text: &str| clean(utf16_prefix(js_trim(text), PART_UNITS)).into();
        Self { name: short(&name), path: short(&path), about: short(&about) }
    }

    /// Returns the last part of the path.
    pub fn file_name(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or_default()
    }

    /// Returns the file operation of the tool.
    pub fn touch(&self) -> Option<FileOperation> {
        FileOperation::of(&self.name)
    }
}

/// The arguments of custom tools that describe a call best, in order of preference.
const DESCRIPTIVE: [&str; 7] = ["task", "prompt", "description", "query", "command", "path", "url"];

/// The deepest level of a custom tool's arguments that is searched for text.
const DEEPEST: usize = 4;

/// The most arguments of a custom tool that are searched for text at each level.
const MAX_VALUES: usize = 1000;

/// Returns the name and text of the argument that describes a call of a custom tool best: a preferred one, else the first
/// text. If this level has no text, the first object or array is searched in the same way.
fn descriptive(arguments: &[u8]) -> Option<(&'static str, Cow<'_, str>)> {
    fn text(value: Value<'_>) -> Option<Str<'_>> {
        value.str().filter(|text| text.chars().any(|c| !is_js_space(c)))
    }
    let mut raw = arguments;
    for _ in 0..DEEPEST {
        let fields = Fields::new(raw);
        if let Some((name, text)) = DESCRIPTIVE.iter().find_map(|&name| Some((name, text(fields.get(name)?)?))) {
            return Some((name, text.text()));
        }
        let of_array = items(raw).map_while(|raw| Value::read(&mut JsonReader::new(raw)).ok());
        let values: Vec<_> = fields.into_iter().map(|(_, value)| value).chain(of_array).take(MAX_VALUES).collect();
        if let Some(text) = values.iter().find_map(|&value| text(value)) {
            return Some(("", text.text()));
        }
        raw =
            values.iter().find_map(|value| value.raw().filter(|raw| raw.starts_with(b"{") || raw.starts_with(b"[")))?;
    }
    None
}

/// Returns the first of some arguments that is truthy.
fn given<'a>(args: &Fields<'a>, names: &[&str]) -> Option<Value<'a>> {
    names.iter().filter_map(|name| args.get(name)).find(|value| !value.is_falsy())
}

/// Returns a tool call with its arguments on one line, limited to the width of a screen. `~` replaces `home` in paths.
pub fn describe(call: &ToolCall<'_>, args: &Fields<'_>, home: &str) -> String {
    let name = call.name.text();
    let text = |names: &[&str]| given(args, names).map_or(Cow::Borrowed(""), |value| value.text());
    let path = |names: &[&str], default: &str| {
        let path = given(args, names).map_or(Cow::Borrowed(default), |value| value.text());
        shorten(&path, home).into_owned()
    };
    let mut said = match &*name {
        "read" => format!("[read: {}{}]", path(&["path", "file_path"], ""), lines(args)),
        "write" | "edit" => format!("[{name}: {}]", path(&["path", "file_path"], "")),
        "bash" => {
            let command = text(&["command"]);
            let start: String = utf16_prefix(js_trim(&command.replace(['\n', '\t'], " ")), 50).into();
            format!("[bash: {start}{}]", if command.encode_utf16().count() > 50 { "..." } else { "" })
        }
        "grep" => format!("[grep: /{}/ in {}]", text(&["pattern"]), path(&["path"], ".")),
        "find" => format!("[find: {} in {}]", text(&["pattern"]), path(&["path"], ".")),
        "ls" => format!("[ls: {}]", path(&["path"], ".")),
        _ => {
            let (start, is_cut) = stringify(call.arguments, 40);
            format!("[{name}: {start}{}]", if is_cut { "..." } else { "" })
        }
    };
    said.truncate(utf16_prefix(&said, LONGEST).len());
    said
}

/// Returns the path in the arguments of a call, if there is one.
pub(crate) fn path_in(arguments: &[u8]) -> Option<String> {
    given(&Fields::new(arguments), &["path", "file_path"]).map(Value::owned)
}

/// Returns the file that a call reads, writes or edits.
pub fn touched<'a>(call: &ToolCall<'a>) -> Option<(Cow<'a, str>, FileOperation)> {
    let touch = FileOperation::of(&call.name.text())?;
    Some((call.path?.text(), touch))
}

/// Returns the suffix `:10-40` for the path of a `read`, from `offset` and `limit`; empty if one of them is not a
/// number.
fn lines(args: &Fields<'_>) -> String {
    let given = |name| args.get(name).filter(|value| value.raw() != Some(b"null"));
    let lines = || match (given("offset"), given("limit")) {
        (None, None) => None,
        (offset, limit) => {
            let start = offset.map_or(Some(1.0), Value::number)?;
            let end = limit.map(|limit| Some(start + limit.number()? - 1.0));
            Some(match end {
                None => format!(":{}", number(start)),
                Some(end) => match end? {
                    0.0 => format!(":{}", number(start)),
                    end => format!(":{}-{}", number(start), number(end)),
                },
            })
        }
    };
    lines().unwrap_or_default()
}

/// A tool call made by a tool.
#[derive(Debug)]
pub struct NestedCall<'a> {
    /// The call.
    pub call: ToolCall<'a>,
    /// `true` if it was still running when the tool ended.
    pub is_unfinished: bool,
    /// The error, if it failed.
    pub error: Option<Str<'a>>,
}

impl<'a> Message<'a> {
    /// Returns the nested calls in order.
    pub fn nested_calls(&self) -> impl Iterator<Item = NestedCall<'a>> {
        let calls = self.nested_calls.and_then(|raw| Fields::new(raw).raw("calls"));
        items(calls.unwrap_or_default()).map(NestedCall::new)
    }
}

impl<'a> NestedCall<'a> {
    fn new(raw: &'a [u8]) -> Self {
        let fields = Fields::new(raw);
        let arguments = fields.raw("arguments").unwrap_or_default();
        let status = fields.str("status").unwrap_or_default();
        Self {
            call: ToolCall {
                id: fields.str("id").unwrap_or_default(),
                name: fields.str("name").unwrap_or_default(),
                arguments,
                path: parse::path(arguments),
            },
            is_unfinished: status.is("unfinished"),
            error: fields.str("error").or_else(|| status.is("error").then_some(Str::plain("failed"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(name: &str, arguments: &str) -> String {
        let call = ToolCall { id: Str::default(), name: Str::plain(name), arguments: arguments.as_bytes(), path: None };
        describe(&call, &Fields::new(call.arguments), "/home/me")
    }

    #[test]
    fn uses_the_last_path_of_a_call() {
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
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            let calls: Vec<_> = entry.message.iter().flat_map(|message| message.content.tool_calls()).collect();
            assert_eq!(calls[0].arguments, arguments.as_bytes());
            let touched = touched(calls[0]);
            assert_eq!(touched, path.map(|path| (path.into(), FileOperation::Edit)), "{arguments}");
        }
    }

    #[test]
    fn describes_calls_as_pi_does() {
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

    #[test]
    fn a_custom_tool_is_described_by_its_best_argument() {
        for (arguments, path, about) in [
            (r#"{"agent":"scout","task":"Find the tests","prompt":"no"}"#, "", "Find the tests"),
            (r#"{"agent":"scout","prompt":"Find\n it"}"#, "", "Find  it"),
            (r#"{"n":7,"task":" ","title":"Plan","body":"no"}"#, "", "Plan"),
            (r#"{"query":"rust \"x\"","url":"no"}"#, "", "rust \"x\""),
            (r#"{"mode":"fast","path":"src/a.rs"}"#, "src/a.rs", ""),
            (r#"{"n":1,"tasks":[{"agent":"scout","task":"Find it"}]}"#, "", "Find it"),
            (r#"["first","second"]"#, "", "first"),
            (r#"{"ok":true,"n":[1]}"#, "", r#"{"ok":true,"n":[1]}"#),
            ("", "", ""),
        ] {
            let arguments = arguments.as_bytes();
            let call = ToolCall { id: Str::default(), name: Str::plain("subagent"), arguments, path: None };
            let called = CallDescription::new(&call, &Fields::new(arguments));
            assert_eq!((&*called.path, &*called.about), (path, about));
        }
    }

    /// Rows observed in pi 1.6.0.
    #[test]
    fn describes_unusual_arguments_as_pi_does() {
        for (name, arguments, said) in [
            ("read", r#"{"path":"a","offset":null,"limit":null}"#, "[read: a]"),
            ("read", r#"{"path":"a","offset":null,"limit":5}"#, "[read: a:1-5]"),
            ("read", r#"{"path":"a","offset":" 7 ","limit":"0x2"}"#, "[read: a:7-8]"),
            ("read", r#"{"path":"a","offset":"x","limit":5}"#, "[read: a]"),
            ("read", r#"{"path":"a","offset":5,"limit":true}"#, "[read: a]"),
            ("read", r#"{"path":"a","offset":"","limit":2}"#, "[read: a]"),
            ("read", r#"{"path":"a","offset":1e21}"#, "[read: a:1e+21]"),
            ("read", r#"{"path":"a","offset":0,"limit":1}"#, "[read: a:0]"),
            ("read", r#"{"path":"a","offset":1.5,"limit":1.0}"#, "[read: a:1.5-1.5]"),
            ("read", r#"{"path":["/home/me/a",["b",null,1.0],{}]}"#, "[read: ~/a,b,,1,[object Object]]"),
            ("write", r#"{"path":{"x":1}}"#, "[write: [object Object]]"),
            ("edit", r#"{"path":1E+3}"#, "[edit: 1000]"),
            ("edit", r#"{"path":[],"file_path":"b"}"#, "[edit: ]"),
            ("edit", r#"{"path":0,"file_path":"b"}"#, "[edit: b]"),
            ("edit", r#"{"path":"/home/me2/a"}"#, "[edit: /home/me2/a]"),
            ("ls", r#"{"path":true}"#, "[ls: true]"),
            ("grep", r#"{"pattern":1.0,"path":[""]}"#, "[grep: /1/ in ]"),
            ("bash", r#"{"command":["ls","-l"]}"#, "[bash: ls,-l]"),
            ("bash", "[5]", "[bash: ]"),
            ("odd", r#"{"b":1.0,"2":"\u0061\/","b":1e3, "1":{}}"#, r#"[odd: {"1":{},"2":"a/","b":1000}]"#),
            ("odd", r#""text""#, r#"[odd: "text"]"#),
        ] {
            assert_eq!(say(name, arguments), said, "{arguments}");
        }
        let long = format!(r#"{{"path":"{}"}}"#, "x".repeat(9999));
        assert_eq!(say("ls", &long).len(), LONGEST);
    }

    #[test]
    fn reads_unusual_calls() {
        let calls = |nested: &str| {
            let line = format!(r#"{{"type":"message","message":{{"role":"toolResult","nestedCalls":{nested}}}}}"#);
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            let calls = entry.message.as_ref().unwrap().nested_calls();
            let text = |text: Str<'_>| text.owned();
            calls
                .map(|it| {
                    (
                        text(it.call.name),
                        touched(&it.call).map(|(path, touch)| (path.into_owned(), touch)),
                        it.is_unfinished,
                        it.error.map(text),
                    )
                })
                .collect::<Vec<_>>()
        };
        let read = |path: &str| Some((path.to_string(), FileOperation::Read));
        assert_eq!(
            calls(
                r#"{"calls":[{"id":"1","name":"read","arguments":{"path":"a"},"status":"ok"},{"name":"bash","status":"error","error":"no"},{"name":"read","arguments":{"file_path":"b"},"status":"error"},{"name":"edit","argumentsBytes":9000,"status":"unfinished"}],"complete":false}"#
            ),
            [
                ("read".into(), read("a"), false, None),
                ("bash".into(), None, false, Some("no".into())),
                ("read".into(), read("b"), false, Some("failed".into())),
                ("edit".into(), None, true, None),
            ]
        );
        assert_eq!(calls(r#"{"calls":[5,null,{"name":7}]}"#).len(), 3);
        for none in ["null", "[]", "{}", r#"{"calls":{}}"#, r#""calls""#] {
            assert_eq!(calls(none), [], "{none}");
        }
    }
}
