//! Broken session files with their expected findings.

/// Codes and lines, 0 for the whole file.
type Expected = &'static [(&'static str, u64)];

/// A broken session file.
pub(crate) struct Broken {
    /// The name, which is also the title of the conversation.
    pub(crate) name: &'static str,
    /// The content.
    pub(crate) bytes: Vec<u8>,
    /// The expected findings: codes and lines (0 for the whole file), in order.
    pub(crate) findings: Expected,
}

/// The ID of the session, which is in the file name.
pub(crate) const ID: &str = "0199f2c1-aaaa-7000-8000-000000000001";

/// The working directory.
pub(crate) const CWD: &str = "/home/dev/app";

const HEADER: &str = r#"{"type":"session","version":3,"id":"0199f2c1-aaaa-7000-8000-000000000001","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/dev/app"}"#;

fn head(kind: &str, id: &str, parent: &str, second: u8) -> String {
    let parent = if parent.is_empty() { "null".into() } else { format!("\"{parent}\"") };
    format!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-05T09:00:{second:02}.000Z""#)
}

fn user(id: &str, parent: &str, second: u8) -> String {
    let head = head("message", id, parent, second);
    format!(
        r#"{head},"message":{{"role":"user","content":"Question {id} für dich","timestamp":17676036{second:02}000}}}}"#
    )
}

fn answer(id: &str, parent: &str, second: u8) -> String {
    let head = head("message", id, parent, second);
    let usage = r#""usage":{"input":10,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":12,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.01}}"#;
    format!(
        r#"{head},"message":{{"role":"assistant","content":[{{"type":"text","text":"Answer {id}"}}],"api":"openai-completions","provider":"fake","model":"fake-1",{usage},"stopReason":"stop","timestamp":17676036{second:02}000}}}}"#
    )
}

fn label(id: &str, parent: &str, target: &str) -> String {
    format!(r#"{},"targetId":"{target}","label":"Label {id}"}}"#, head("label", id, parent, 7))
}

/// A conversation: the header on line 1, then two turns and a label.
fn talk() -> Vec<String> {
    vec![
        HEADER.into(),
        user("u1", "", 1),
        answer("a1", "u1", 2),
        user("u2", "a1", 3),
        answer("a2", "u2", 4),
        label("l1", "a2", "u2"),
    ]
}

fn file(lines: &[String]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Returns the talk with one line replaced by bytes.
fn replaced(number: usize, by: &[u8]) -> Vec<u8> {
    let talk = talk();
    [&file(&talk[..number - 1]), by, &file(&talk[number..])].concat()
}

/// Returns the talk with lines added at the end.
fn followed(by: &[String]) -> Vec<u8> {
    file(&[talk(), by.to_vec()].concat())
}

/// Returns the first bytes of a line.
fn start(line: &str, len: usize) -> Vec<u8> {
    line.as_bytes()[..len].to_vec()
}

/// Returns the bytes of a line up to and including a text.
fn until(line: &str, text: &str) -> Vec<u8> {
    start(line, line.find(text).unwrap() + text.len())
}

fn nl(bytes: &[u8]) -> Vec<u8> {
    [bytes, b"\n"].concat()
}

/// Returns all broken files.
#[allow(clippy::too_many_lines, reason = "a list")]
pub(crate) fn files() -> Vec<Broken> {
    let talk = talk();
    let without = |number: usize| file(&[&talk[..number - 1], &talk[number..]].concat());
    let torn = |by: &[u8]| [&file(&talk), by].concat();
    let (u3, a3) = (user("u3", "l1", 8), answer("a3", "l1", 8));
    let glued = |numbers: [usize; 2]| {
        let by = format!("{}{}\n", talk[numbers[0] - 1], talk[numbers[1] - 1]);
        [&file(&talk[..numbers[0] - 1]), by.as_bytes(), &file(&talk[numbers[1]..])].concat()
    };
    let cycle =
        |parents: [&str; 2]| followed(&[user("u3", parents[0], 8), answer("a3", parents[1], 9), user("u4", "a2", 10)]);
    let in_message = |from: &str, to: &str| {
        let line = talk[2].replace(from, to);
        assert_ne!(line, talk[2]);
        replaced(3, &nl(line.as_bytes()))
    };
    let zeros = vec![0; 4096];
    let v1: Vec<String> = [
        r#"{"type":"session","id":"0199f2c1-aaaa-7000-8000-000000000001","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/home/dev/app"}"#,
        r#"{"type":"message","timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"Old question"}}"#,
    ]
    .map(String::from)
    .to_vec();
    let all: Vec<(&'static str, Vec<u8>, Expected)> = vec![
        ("torn in a text", torn(&until(&u3, "Question u3 f")), &[("torn-line", 7)]),
        ("torn in a character", torn(&start(&u3, u3.find('ü').unwrap() + 1)), &[("torn-line", 7)]),
        ("torn in an answer", torn(&until(&a3, "Answer")), &[("torn-line", 7)]),
        ("torn after the content", torn(&until(&a3, "\"api\":\"open")), &[("torn-line", 7)]),
        ("torn in the usage", torn(&until(&a3, "\"output\":2")), &[("torn-line", 7)]),
        ("torn before the message", torn(&until(&u3, "parentId")), &[("torn-line", 7)]),
        ("torn in the id", torn(&start(&u3, 25)), &[("torn-line", 7)]),
        ("torn at the bracket", torn(b"{"), &[("torn-line", 7)]),
        (
            "torn in the middle",
            replaced(3, &nl(&until(&talk[2], "Answer a"))),
            &[("not-json", 3), ("missing-parent", 4)],
        ),
        (
            "torn and lost in the middle",
            replaced(3, &nl(&until(&talk[2], "parentId"))),
            &[("not-json", 3), ("missing-parent", 4)],
        ),
        (
            "torn and continued",
            replaced(6, &nl(&[until(&talk[5], "Label"), u3.clone().into_bytes()].concat())),
            &[("glued-lines", 6)],
        ),
        ("two glued", glued([3, 4]), &[("glued-lines", 3), ("missing-parent", 4)]),
        ("all glued", talk.concat().into_bytes(), &[("header-missing", 0), ("glued-lines", 1)]),
        (
            "header glued to an entry",
            glued([1, 2]),
            &[("header-missing", 0), ("glued-lines", 1), ("missing-parent", 2)],
        ),
        ("glued with white space", replaced(6, &nl(format!("{} \t{}", talk[5], u3).as_bytes())), &[("glued-lines", 6)]),
        (
            "glued and torn",
            torn(&[u3.as_bytes(), &until(&answer("a3", "u3", 9), "Answer")].concat()),
            &[("glued-lines", 7)],
        ),
        ("zeros at the end", torn(&zeros), &[("nul-bytes", 7)]),
        ("zeros on a line", followed(&[String::from_utf8(zeros.clone()).unwrap(), u3.clone()]), &[("nul-bytes", 7)]),
        (
            "zeros in a text",
            replaced(4, &nl(talk[3].replace("Question", "Ques\0\0\0tion").as_bytes())),
            &[("nul-bytes", 4), ("missing-parent", 5)],
        ),
        (
            "zeros before an entry",
            replaced(4, &nl(&[&zeros, talk[3].as_bytes()].concat())),
            &[("nul-bytes", 4), ("missing-parent", 5)],
        ),
        ("zeros at the start", [&zeros[..], &file(&talk)].concat(), &[("header-missing", 0), ("nul-bytes", 1)]),
        (
            "zeros after half an entry",
            replaced(5, &nl(&[&until(&talk[4], "Answer"), &zeros[..]].concat())),
            &[("nul-bytes", 5), ("missing-parent", 6)],
        ),
        (
            "bytes that are not UTF-8",
            torn(&nl(&[&until(&u3, "Question "), &b"\xff\xfe"[..], br#"","timestamp":1}}"#].concat())),
            &[("invalid-utf8", 7)],
        ),
        ("text between entries", replaced(6, b"Segmentation fault\n"), &[("not-json", 6)]),
        ("no header", without(1), &[("header-missing", 0)]),
        ("header torn", replaced(1, &nl(&until(HEADER, "timest"))), &[("header-missing", 0), ("not-json", 1)]),
        (
            "header torn in the id",
            replaced(1, &nl(&until(HEADER, "0199f2"))),
            &[("header-missing", 0), ("not-json", 1)],
        ),
        ("header after an entry", file(&[&talk[1..3], &talk[..1], &talk[3..]].concat()), &[("header-not-first", 0)]),
        (
            "header with a number",
            replaced(1, b"{\"type\":\"session\",\"version\":3,\"id\":5,\"cwd\":\"/home/dev/app\"}\n"),
            &[("header-missing", 0)],
        ),
        ("byte order mark", [&b"\xef\xbb\xbf"[..], &file(&talk)].concat(), &[("byte-order-mark", 0)]),
        (
            "same id twice",
            followed(&[user("a1", "l1", 8), answer("a3", "a1", 9)]),
            &[("duplicate-id", 7), ("cycle", 4)],
        ),
        (
            "file twice",
            [file(&talk), file(&talk)].concat(),
            &[
                ("duplicate-id", 8),
                ("duplicate-id", 9),
                ("duplicate-id", 10),
                ("duplicate-id", 11),
                ("duplicate-id", 12),
                ("repeated-header", 7),
                ("time-backwards", 8),
            ],
        ),
        ("entry lost", without(3), &[("missing-parent", 3)]),
        ("first entry lost", without(2), &[("missing-parent", 2)]),
        ("two in a cycle", cycle(["a3", "u3"]), &[("cycle", 7)]),
        ("own parent", cycle(["u3", "u3"]), &[("cycle", 7)]),
        (
            "no id",
            followed(&[u3.replace("\"id\":\"u3\",", ""), answer("a3", "u3", 9)]),
            &[("missing-id", 7), ("missing-parent", 8)],
        ),
        (
            "values that are not entries",
            followed(&["5".into(), "[1,2]".into(), "\"text\"".into()]),
            &[("missing-id", 7), ("missing-id", 8), ("missing-id", 9)],
        ),
        ("no content", in_message(r#"[{"type":"text","text":"Answer a1"}]"#, "null"), &[("no-content", 3)]),
        ("no text", in_message("\"Answer a1\"", "[7]"), &[("no-text", 3)]),
        (
            "no message",
            replaced(3, &nl(format!("{}}}", head("message", "a1", "u1", 2)).as_bytes())),
            &[("no-content", 3)],
        ),
        (
            "old version, torn",
            [&file(&v1), &b"{\"type\":\"message\",\"message\":{\"role\":\"us"[..]].concat(),
            &[("torn-line", 3)],
        ),
    ];
    all.into_iter().map(|(name, bytes, findings)| Broken { name, bytes, findings }).collect()
}
