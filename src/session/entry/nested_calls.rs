//! Nested tool calls: calls made by a tool itself. pi's codemode runs scripts that read, write and edit files. Their
//! calls are in `nestedCalls` of the tool result (1.5.2), without results and without overlong arguments.

use crate::session::entry::{Message, ToolCall, parse};
use crate::session::json::Str;
use crate::session::json::value::{Fields, Value, items};

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
        let calls = self.nested_calls.and_then(|raw| Fields::new(raw).get("calls")?.raw());
        items(calls.unwrap_or_default()).map(NestedCall::new)
    }
}

impl<'a> NestedCall<'a> {
    fn new(raw: &'a [u8]) -> Self {
        let fields = Fields::new(raw);
        let text = |name| fields.get(name).and_then(Value::str);
        let arguments = fields.get("arguments").and_then(Value::raw).unwrap_or_default();
        let status = text("status").unwrap_or_default();
        Self {
            call: ToolCall {
                id: text("id").unwrap_or_default(),
                name: text("name").unwrap_or_default(),
                arguments,
                path: parse::path(arguments),
            },
            is_unfinished: status.is("unfinished"),
            error: text("error").or_else(|| status.is("error").then_some(Str::plain("failed"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::session::entry::parse;
    use crate::session::entry::tool_call::{Touch, touched};

    #[test]
    fn reads_unusual_calls() {
        let calls = |nested: &str| {
            let line = format!(r#"{{"type":"message","message":{{"role":"toolResult","nestedCalls":{nested}}}}}"#);
            let entry = parse::line(line.as_bytes()).unwrap().unwrap();
            let calls = entry.message.as_ref().unwrap().nested_calls();
            let text = |text: crate::session::json::Str<'_>| text.text().into_owned();
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
        let read = |path: &str| Some((path.to_string(), Touch::Read));
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
