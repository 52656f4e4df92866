//! `pitree export`: formats, selections, redaction, and files that are never replaced by accident.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser};
use serde_json::{Value, json};

use crate::command_line::pitree::Pitree;
use crate::common::effort::sample;
use crate::common::home::repository;
use crate::common::session::Session;

/// A token in the format of GitHub, made up.
fn token() -> String {
    ["ghp", "_k3J9dQ2mX8vB5nR7tY1wL4zC6hF0pS2aGe3a"].concat()
}

/// A session with two branches, a tool call, a label and a secret in several fields.
fn session(home: &Path) -> Session {
    let token = token();
    Session::new("sample-session")
        .cwd(home.join("shop"))
        .user("u1", &format!("Deploy with {token}"))
        .call("a2", "bash", &json!({ "command": format!("export GITHUB_TOKEN={token} && make") }))
        .result("r3", "a2", "bash", &format!("token {token} accepted\n```\nraw\n````"))
        .assistant("a4", "Done.\n\n- one\n- <b>two</b>")
        .under("r3")
        .user("u5", "Another way")
        .assistant("a6", "Other <script>alert(1)</script> `Vec<T>`")
}

struct Made {
    pitree: Pitree,
    path: String,
}

impl Made {
    fn new() -> Self {
        let pitree = Pitree::new();
        let path = pitree.write_session(&session(pitree.home()));
        Self { path: path.to_str().unwrap().into(), pitree }
    }

    /// Exports to standard output.
    fn print(&self, options: &[&str]) -> String {
        let run = self.pitree.run(&[&["export", &self.path, "-o", "-"], options].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    }

    fn file(&self, name: &str) -> PathBuf {
        self.pitree.home().join(name)
    }
}

/// A session with an omitted prompt, a replaced result and answer, and a branch that begins before the edits.
fn edited() -> Session {
    let text = |text: &str| format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
    let session = Session::new("edited").cwd("/w").user("u1", "Wrong path").assistant("a1", "Original answer");
    let session = session.tool("t", "bash", &json!({"command": "make"}), "original output");
    let session = session.tool("s", "bash", &json!({"command": "test"}), "other output");
    let session = session.edit("e1", "u1", "null").edit("e2", "a1", &text(&format!("Short {}", token())));
    let session = session.edit("e3", "tr", &text("short output")).edit("e4", "sr", "null");
    session.user("u2", "Go on").under("sr").user("u3", "Another way")
}

#[test]
fn edited_messages_are_marked_with_both_contents() {
    let pitree = Pitree::new();
    pitree.write_session(&edited());
    let export = |options: &[&str]| pitree.run(&[&["export", "-o", "-"], options].concat()).out;
    let text = export(&["edited@u2"]);
    let has = |wanted: &str| assert!(text.contains(wanted), "no {wanted:?} in\n{text}");
    has("*(not sent to the model)*\n\n> Wrong path\n");
    has(
        "*(replaced for the model)*\n\nOriginal answer\n\n<details><summary>sent instead</summary>\n\n```\nShort [github-token 1]\n```",
    );
    has("<b>2 tools:</b> bash 2 — 2 edited for the model</summary>");
    has(
        "<b>bash</b> make — replaced for the model</summary>\n\n```\noriginal output\n```\n\n<details><summary>sent instead</summary>\n\n```\nshort output\n",
    );
    has("<b>bash</b> test — not sent to the model</summary>");
    let page = export(&["edited@u2", "--format", "html"]);
    assert!(page.contains("<p class=r>not sent to the model</p><p>Wrong path"), "{page}");
    assert!(page.contains("<b>bash</b> test <i>not sent to the model</i></summary>"), "{page}");
    assert!(page.contains("Short [github-token 1]") && !page.contains(&token()), "{page}");
    let short = export(&["edited@u2", "--tools", "short"]);
    assert!(short.contains("- **bash** test — not sent to the model\n"), "{short}");
    let other = export(&["edited@u3"]);
    assert!(!other.contains("the model") && !other.contains("sent instead"), "{other}");
    let context = export(&["edited@u2", "--context"]);
    assert!(context.contains("short output") && context.contains("Short [github-token 1]"), "{context}");
    assert!(["riginal", "Wrong", "other output", "the model*"].iter().all(|gone| !context.contains(gone)), "{context}");
    let shown = pitree.print(&["show", "edited@u2", "--turn", "1"]);
    assert!(shown.contains("not sent to the model\n\nWrong path\n"), "{shown}");
    assert!(
        shown.contains("[bash: make]  replaced for the model\noriginal output\n\nsent instead, 1 line\nshort output"),
        "{shown}"
    );
}

#[test]
fn a_branch_is_exported_without_its_secrets() {
    let made = Made::new();
    for format in ["md", "html", "jsonl"] {
        let out = made.print(&["--format", format]);
        assert!(!out.contains(&token()[4..]) && out.contains("[github-token 1]"), "{out}");
        assert!(out.contains("Another way") && !out.contains("Done."), "{out}");
        assert!(made.print(&["--format", format, "--no-redact"]).contains(&token()));
        let other = made.pitree.run(&["export", &format!("{}@a4", made.path), "-o", "-", "-f", format]).out;
        assert!(!other.contains("Another way") && other.contains("Done."), "{other}");
        assert!(!other.contains(&token()[4..]), "{other}");
    }
    let out = made.print(&[]);
    assert!(out.starts_with("# Deploy with \\[github-token 1\\]\n"), "{out}");
    assert!(
        out.contains("<details><summary><b>bash</b> export GITHUB_TOKEN=[github-token 1] &amp;&amp; make</summary>"),
        "{out}"
    );
    let note = "Redaction replaced 1 likely secret in ";
    assert!(out.contains(note) && out.contains("1 github-token") && out.contains("cannot find every secret"), "{out}");
    let run = made.pitree.run(&["export", &made.path, "-o", "-", "-f", "jsonl"]);
    assert!(run.err.contains(note) && !run.out.contains(note), "{}", run.err);
    assert!(made.print(&["--no-redact"]).contains("Redaction was off"));
}

#[test]
fn markdown_contains_no_html_of_the_session() {
    let made = Made::new();
    let out = made.print(&["--tree"]);
    assert!(out.contains("&lt;script>alert(1)&lt;/script> `Vec<T>`"), "{out}");
    assert!(out.contains("`````\ntoken [github-token 1] accepted\n```\nraw\n````\n`````"), "{out}");
    assert!(out.contains("**Branch 1 of 2** after “bash export") && out.contains("**Branch 2 of 2** after"), "{out}");
    for event in Parser::new(&out) {
        if let Event::Html(html) | Event::InlineHtml(html) = event {
            let html = html.trim();
            assert!(html.starts_with("<details><summary>") || html == "</details>" || html == "<!-- -->", "{html}");
        }
    }
}

#[test]
fn selections_have_options() {
    let made = Made::new();
    let out = made.print(&["--tree", "--since", "u5"]);
    assert!(out.contains("Another way") && !out.contains("Done.") && !out.contains("make"), "{out}");
    assert!(made.print(&["--tools", "short"]).contains("- **bash** export GITHUB\\_TOKEN="));
    assert!(!made.print(&["--tools", "none"]).contains("bash"));
    let out = made.print(&["--context", "--tools", "none"]);
    assert!(out.contains("model context at a6") && out.contains("Another way"), "{out}");
    let refuse = |options: &[&str]| made.pitree.refuse(&[&["export", &made.path, "-o", "-"], options].concat());
    assert!(refuse(&["--since", "a4"]).contains("not on the exported branch"));
    assert!(refuse(&["-f", "jsonl", "--tools", "none"]).contains("needs its tool calls"));
    assert!(refuse(&["-f", "jsonl", "--family", "--since", "u1"]).contains("omit one of them"));
    assert!(refuse(&["-f", "jsonl", "--family"]).contains("standard output takes one session"));
    assert!(refuse(&["--open"]).contains("standard output takes one session"));
    assert!(
        made.pitree.refuse(&["export", &made.path, "-o", "a.docx"]).contains("no format for the extension \"docx\"")
    );
}

/// A session with a run of tools after an answer, and a last answer.
fn session_with_run() -> Session {
    let edit = json!({ "path": "/home/dev/app/src/Search.tsx", "oldText": "a", "newText": "b" });
    let long = (1..=30).map(|line| format!("line {line}\n")).collect::<String>();
    Session::new("runs")
        .cwd("/home/dev/app")
        .user("u1", "Fix <it>")
        .assistant("a2", "I look.")
        .call("a3", "bash", &json!({ "command": "make" }))
        .result("r4", "a3", "bash", &long)
        .call("a5", "edit", &edit)
        .result("r6", "a5", "edit", "Edited")
        .call("a7", "bash", &json!({ "command": "git commit -am x" }))
        .result("r8", "a7", "bash", "[main 1a2b3c4] Fix it")
        .assistant("a9", "## Fixed\n\nIt works.")
        .user("u10", "Thanks")
}

#[test]
fn a_run_of_tools_is_one_part() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&session_with_run());
    let print = |options: &[&str]| pitree.run(&[&["export", path.to_str().unwrap(), "-o", "-"], options].concat()).out;
    let html = print(&["-f", "html"]);
    let run = "<details class=T open><summary><b>3 tools:</b> bash 2, edited Search.tsx</summary>";
    assert!(html.contains(run) && html.matches("<details class=T>").count() == 2, "{html}");
    assert!(html.contains("<details class=T open><summary><b>edit</b>"), "{html}");
    assert!(html.contains("line 10</pre><details><summary>20 more lines</summary><pre>line 11"), "{html}");
    assert!(
        html.contains("<summary>2 turns</summary><ol><li><a href=\"#u1\">Fix &lt;it&gt;</a> <span>3 tools"),
        "{html}"
    );
    assert!(html.matches("<article").count() == 4 && !html.contains("Result</h2>"), "{html}");
    let markdown = print(&[]);
    assert!(markdown.contains("<details><summary><b>3 tools:</b> bash 2, edited Search.tsx</summary>"), "{markdown}");
    assert!(markdown.contains("\n## Changed files\n\n- src/Search.tsx (1 change)\n"), "{markdown}");
    assert!(!print(&["--tools", "short"]).contains("3 tools"), "a line per call");
}

#[test]
fn a_summary_begins_with_the_result() {
    let pitree = Pitree::new();
    let path = pitree.write_session(&session_with_run());
    let print = |options: &[&str]| {
        pitree.run(&[&["export", path.to_str().unwrap(), "-o", "-", "--summary"], options].concat()).out
    };
    let html = print(&["-f", "html"]);
    let result = html.split("<section").nth(1).and_then(|rest| rest.split("</section>").next()).unwrap();
    for part in ["<h3>Fixed</h3><p>It works.", "<li>src/Search.tsx (1 change)</li>", "<li>1a2b3c4 Fix it</li>"] {
        assert!(result.contains(part), "{result}");
    }
    let markdown = print(&[]);
    let result = markdown.split("\n---\n").next().unwrap();
    assert!(
        result.contains("It works.") && result.contains("- 1a2b3c4 Fix it") && !result.contains("make"),
        "{result}"
    );
    assert_eq!(markdown.matches("Changed files").count(), 1);
    assert!(pitree.refuse(&["export", path.to_str().unwrap(), "-f", "jsonl", "--summary"]).contains("has no summary"));
}

#[test]
fn a_summary_shows_files_from_their_first_to_their_last_state() {
    let pitree = Pitree::new();
    let token = token();
    let session = Session::new("differences")
        .cwd("/w")
        .user("u1", "Go")
        .call("a2", "read", &json!({ "path": "old.txt" }))
        .result("r3", "a2", "read", "one\ntwo\n")
        .call("a4", "write", &json!({ "path": "old.txt", "content": "one\n2\n" }))
        .result("r5", "a4", "write", "Written")
        .call("a6", "write", &json!({ "path": "new.txt", "content": format!("{token}\n") }))
        .result("r7", "a6", "write", "Written")
        .call("a8", "edit", &json!({ "path": "old.txt", "oldText": "2", "newText": "three" }))
        .result("r9", "a8", "edit", "Edited")
        .call("a10", "edit", &json!({ "path": "unknown.txt", "oldText": "2", "newText": "three" }))
        .result("r11", "a10", "edit", "Edited")
        .call("a12", "read", &json!({ "path": "unknown.txt" }))
        .result("r13", "a12", "read", "three\n")
        .call("a14", "edit", &json!({ "path": "unknown.txt", "oldText": "three", "newText": "four" }))
        .result("r15", "a14", "edit", "Edited");
    let path = pitree.write_session(&session);
    let print = |format: &str| {
        let out = pitree.run(&["export", path.to_str().unwrap(), "-o", "-", "--summary", "-f", format]).out;
        out.split(if format == "md" { "\n---\n" } else { "</section>" }).next().unwrap().to_owned()
    };
    let result = print("md");
    assert!(result.contains("<b>old.txt</b> +1 −1"), "{result}");
    assert!(result.contains("```diff\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n```"), "{result}");
    assert!(result.contains("+[github-token 1]\n") && !result.contains("<b>unknown.txt"), "{result}");
    let page = print("html");
    assert!(page.contains("<details class=T open><summary><b>old.txt</b> +1 −1</summary>"), "{page}");
}

#[test]
fn markdown_has_a_maximum_length() {
    let pitree = Pitree::new();
    let output = |name: &str| format!("{name} {}", "long ".repeat(10_000));
    let session = Session::new("long").user("u1", "Start");
    let session = session.call("a2", "bash", &json!({ "command": "old" })).result("r3", "a2", "bash", &output("first"));
    let session = session.assistant("a4", "Next").call("a5", "bash", &json!({ "command": "new" }));
    let path = pitree.write_session(&session.result("r6", "a5", "bash", &output("second")));
    let path = path.to_str().unwrap();
    let whole = pitree.run(&["export", path, "-o", "-"]);
    assert!(whole.err.contains("GitHub accepts 65,536") && whole.out.contains("first long"), "{}", whole.err);
    let cut = pitree.run(&["export", path, "-o", "-", "--max-length", "65536"]);
    assert!(cut.out.chars().count() <= 65_536 && !cut.err.contains("GitHub"), "{}", cut.err);
    assert!(!cut.out.contains("first long") && cut.out.contains("second long"), "the oldest output is left out");
    assert!(cut.out.contains("<b>bash</b> old") && cut.out.matches("output left out").count() == 1);
    let short = pitree.run(&["export", path, "-o", "-", "--max-length", "9"]);
    assert!(short.err.contains("more than 9 even without tool output"), "{}", short.err);
    assert!(pitree.refuse(&["export", path, "-f", "html", "--max-length", "9"]).contains("only Markdown is shortened"));
}

#[test]
fn thinking_and_images_are_left_out_by_default() {
    let pitree = Pitree::new();
    let line = |id: &str, parent: &str, message: Value| {
        json!({"type": "message", "id": id, "parentId": parent, "message": message}).to_string()
    };
    let text = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}"#.into(),
        line(
            "a",
            "",
            json!({"role": "user", "content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]}),
        ),
        line(
            "b",
            "a",
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hmm."}, {"type": "text", "text": "So."}]}),
        ),
    ];
    let path = pitree.write("s.jsonl", &text.join("\n"));
    let print = |options: &[&str]| pitree.run(&[&["export", path.to_str().unwrap(), "-o", "-"], options].concat()).out;
    let out = print(&[]);
    assert!(!out.contains("Hmm.") && !out.contains("iVBOR") && out.contains("image/png"), "{out}");
    let out = print(&["--thinking", "--images"]);
    assert!(out.contains("Hmm.") && out.contains("data:image/png;base64,iVBORw0KGgo="), "{out}");
    let out = print(&["-f", "jsonl"]);
    assert!(out.contains("Hmm.") && out.contains("iVBOR"), "{out}");
    let out = print(&["-f", "jsonl", "--no-thinking", "--no-images"]);
    assert!(
        !out.contains("Hmm.") && !out.contains("iVBOR") && out.contains("image/png") && out.contains("So."),
        "{out}"
    );
}

#[test]
fn files_are_private_and_never_replaced_by_accident() {
    let made = Made::new();
    let run = |args: &[&str]| {
        let mut command = made.pitree.command(&[&["export", &made.path], args].concat());
        crate::command_line::pitree::Outcome::of(command.current_dir(made.pitree.home()))
    };
    let first = run(&[]);
    assert_eq!(first.out.trim(), "pitree-sample-s.md", "{}", first.err);
    let path = made.file("pitree-sample-s.md");
    let before = fs::read_to_string(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let again = run(&["--tree"]);
    assert!(again.code == 2 && again.err.contains("already exists; use --force"), "{}", again.err);
    assert_eq!(fs::read_to_string(&path).unwrap(), before);
    assert_eq!(run(&["--tree", "--force"]).code, 0);
    assert_ne!(fs::read_to_string(&path).unwrap(), before);
    assert_eq!(run(&["-o", "share.html"]).code, 0);
    assert!(fs::read_to_string(made.file("share.html")).unwrap().contains("<html"));
    let missing = run(&["-o", "no/such/a.md"]);
    assert!(missing.code == 2 && missing.err.contains("cannot create no/such/a.md"), "{}", missing.err);
    let drafts = fs::read_dir(made.pitree.home())
        .unwrap()
        .filter(|file| file.as_ref().unwrap().file_name().to_str().unwrap().contains(".pitree-"));
    assert_eq!(drafts.count(), 0);
}

#[test]
fn several_sessions_are_exported_into_a_directory() {
    let made = Made::new();
    let other =
        made.pitree.write_session(&Session::new("sample-second").user("u1", &format!("<i>Second</i> {}", token())));
    let dir = made.file("out");
    let args = ["export", &made.path, other.to_str().unwrap(), "-o", dir.to_str().unwrap()];
    let run = made.pitree.run(&args);
    assert_eq!((run.code, run.out.trim()), (0, dir.to_str().unwrap()), "{}", run.err);
    let mut names: Vec<String> =
        fs::read_dir(&dir).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["index.md", "pitree-sample-second.md", "pitree-sample-session.md"]);
    let index = fs::read_to_string(dir.join("index.md")).unwrap();
    assert!(index.contains("[&lt;i\\>Second&lt;/i\\> \\[github-token 1\\]](<pitree-sample-second.md>)"), "{index}");
    assert_eq!(made.pitree.run(&args).code, 2, "the files exist");
}

#[test]
fn a_session_file_has_its_entries_and_a_new_id() {
    let made = Made::new();
    let lines = |options: &[&str]| {
        let out = made.print(&[&["-f", "jsonl"], options].concat());
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let ids =
        |lines: &[Value]| lines[1..].iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let branch = lines(&[]);
    assert_eq!(ids(&branch), ["u1", "a2", "r3", "u5", "a6"]);
    assert!(branch[0]["id"] != "sample-session" && branch[0].get("parentSession").is_none(), "{}", branch[0]);
    let tree = lines(&["--tree"]);
    assert_eq!(ids(&tree), ["u1", "a2", "r3", "a4", "u5", "a6"]);
    let since = lines(&["--since", "r3", "--tree"]);
    assert_eq!((&since[1]["id"], &since[1]["parentId"]), (&json!("r3"), &Value::Null));
    let entry = format!("{}@a4", made.path);
    let out = made.pitree.run(&["export", &entry, "--tree", "-o", "-", "-f", "jsonl"]).out;
    let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["type"], &last["parentId"]), (&json!("label"), &json!("a4")), "pi resumes at the last line");
    let short = lines(&["--tools", "short"]);
    assert_eq!(ids(&short), ids(&branch));
    let note = json!([{"type": "text", "text": "[result left out of this export]"}]);
    assert_eq!((&short[3]["message"]["content"], &short[2]), (&note, &branch[2]));
    let file = made.file("again.jsonl");
    assert_eq!(made.pitree.run(&["export", &made.path, "-o", file.to_str().unwrap()]).code, 0);
    let shown = made.pitree.objects(&["tree", file.to_str().unwrap(), "--json"]);
    assert_eq!(shown.len(), 5);
}

#[test]
fn all_complete_lines_of_a_live_session_are_exported() {
    let made = Made::new();
    let mut text = fs::read_to_string(&made.path).unwrap();
    text.push_str(r#"{"type":"message","id":"a7","parentId":"a6","message":{"role":"assistant","content":"Half of"#);
    fs::write(&made.path, text).unwrap();
    for format in ["md", "html", "jsonl"] {
        let out = made.print(&["-f", format]);
        assert!(out.contains("Other ") && !out.contains("Half of"), "{out}");
    }
}

#[test]
fn likely_secrets_are_listed_without_their_values() {
    let made = Made::new();
    let before = made.pitree.files();
    let run = made.pitree.run(&["export", &made.path, "--tree", "--list"]);
    assert_eq!((run.code, made.pitree.files() == before), (3, true));
    let rows: Vec<&str> = run.out.lines().collect();
    assert_eq!(rows.len(), 3, "{}", run.out);
    let words: HashSet<&str> = rows[1].split_whitespace().collect();
    assert!(["github-token", "a2", "command"].iter().all(|word| words.contains(word)), "{}", run.out);
    assert!(
        !run.out.contains(&token()[..6]) && run.err.contains("3 places with likely secrets"),
        "{}{}",
        run.out,
        run.err
    );
    let clean = made.pitree.write_session(&Session::new("clean").user("u1", "Nothing here"));
    assert_eq!(made.pitree.run(&["export", clean.to_str().unwrap(), "--list"]).code, 0);
}

#[test]
fn personal_data_is_replaced_on_request() {
    let made = Made::new();
    let home = made.pitree.home().to_str().unwrap().to_owned();
    let text = format!("See {home}/shop/a.rs, {home}/b.rs, /Users/ada/c and mail ada@example.com from 10.1.2.3");
    let path = made.pitree.write_session(&Session::new("personal").cwd(format!("{home}/shop")).user("u1", &text));
    let print =
        |options: &[&str]| made.pitree.run(&[&["export", path.to_str().unwrap(), "-o", "-"], options].concat()).out;
    assert!(print(&[]).contains("/Users/ada/c"));
    let out = print(&["--redact=paths,people"]);
    assert!(!out.contains(&home) && !out.contains("ada") && !out.contains("10.1.2.3"), "{out}");
    assert!(out.contains("\\[project\\]/a.rs") && out.contains("Personal data replaced:"), "{out}");
    let out = print(&["--redact=people", "-f", "jsonl"]);
    assert!(out.contains("/Users/[user]/c") || out.contains("/Users/ada/c"), "{out}");
    assert!(!out.contains("ada@example.com"), "{out}");
}

#[test]
fn a_family_is_one_document() {
    let pitree = Pitree::new();
    let parent = Session::new("first").user("u1", "Start").assistant("a2", "Begun");
    let parent_path = pitree.write_session(&parent);
    pitree.write_session(&parent.forked("second", &parent_path, 60).user("u3", "Only in the fork"));
    let run = pitree.run(&["export", parent_path.to_str().unwrap(), "--family", "-o", "-"]);
    assert!(
        run.out.contains("Only in the fork") && run.out.contains("all branches of the family"),
        "{}{}",
        run.out,
        run.err
    );
    assert_eq!(run.out.matches("## 1. Start").count(), 1);
}

#[test]
fn a_family_is_one_session_file_for_each_member() {
    let pitree = Pitree::new();
    let parent = Session::new("first").user("u1", "Start").assistant("a2", "Begun");
    let parent_path = pitree.write_session(&parent);
    pitree.write_session(&parent.forked("second", &parent_path, 60).user("u3", "Only in the fork"));
    let path = parent_path.to_str().unwrap();
    let dir = pitree.home().join("family");
    let entry = format!("{path}@u1");
    let args = ["export", &entry, path, "--family", "-f", "jsonl", "-o", dir.to_str().unwrap()];
    let run = pitree.run(&args);
    assert_eq!((run.code, run.out.trim()), (0, dir.to_str().unwrap()), "{}", run.err);
    let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
    assert!(read("index.md").contains("<pitree-first.jsonl>") && read("index.md").contains("<pitree-second.jsonl>"));
    assert!(!read("pitree-first.jsonl").contains("fork"), "{}", read("pitree-first.jsonl"));
    assert!(read("pitree-first.jsonl").lines().last().unwrap().contains(r#""targetId":"u1""#), "the leaf");
    assert!(read("pitree-second.jsonl").lines().last().unwrap().contains("Only in the fork"));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
    let file = pitree.home().join("family.jsonl");
    let error = pitree.refuse(&["export", path, "--family", "-o", file.to_str().unwrap()]);
    assert!(error.contains("name a directory"), "{error}");
}

#[test]
fn the_model_context_is_a_session_file_with_the_entries_it_needs() {
    let pitree = Pitree::new();
    let message = |id: &str, parent: &str, role: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "message": {"role": role, "content": id}}).to_string()
    };
    let text = [
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/x"}"#.into(),
        message("a", "", "user"),
        message("b", "a", "assistant"),
        r#"{"type":"session_info","id":"n","parentId":"b","name":"A name"}"#.into(),
        message("c", "n", "user"),
        r#"{"type":"compaction","id":"k","parentId":"c","summary":"So far","firstKeptEntryId":"n","tokensBefore":9}"#
            .into(),
        message("d", "k", "user"),
        message("other", "a", "user"),
    ];
    let path = pitree.write("s.jsonl", &text.join("\n"));
    let entry = format!("{}@d", path.display());
    let made = pitree.write("made.jsonl", "");
    let made = made.to_str().unwrap();
    let run = pitree.run(&["export", &entry, "--context", "--force", "-o", made]);
    assert_eq!(run.code, 0, "{}", run.err);
    let lines: Vec<Value> =
        fs::read_to_string(made).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let links: Vec<_> =
        lines[1..].iter().map(|line| (line["id"].as_str().unwrap(), line["parentId"].as_str())).collect();
    assert_eq!(links, [("b", None), ("c", Some("b")), ("k", Some("c")), ("d", Some("k"))]);
    assert_eq!(lines[3]["firstKeptEntryId"], "c");
    let context = |session: &str| pitree.objects(&["context", session, "--json"]);
    assert_eq!(context(made)[1..].len(), context(&entry)[1..].len());
    let old = pitree.write("old.jsonl", "{\"type\":\"session\",\"id\":\"o\",\"cwd\":\"/x\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}");
    let error = pitree.refuse(&["export", old.to_str().unwrap(), "--context", "-o", "-", "-f", "jsonl"]);
    assert!(error.contains("its entries have no IDs"), "{error}");
}

#[test]
fn all_fixtures_can_be_exported() {
    let pitree = Pitree::new();
    let folders = ["--home-dev-app--", "--home-dev-odd--", "--home-dev-old--", "--home-dev-talk--"];
    let folders = folders.map(|folder| repository("fixtures/sessions").join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    let mut files: Vec<PathBuf> = files.collect();
    files.sort();
    let reduced = ["-f", "jsonl", "--context", "--tools", "short", "--no-thinking", "--no-images"];
    let all = [&["-f", "md"][..], &["-f", "html"], &["-f", "jsonl"], &["-f", "md", "--context"], &reduced];
    let cases: Vec<_> = files.iter().flat_map(|file| all.map(|options| (file, options))).collect();
    // Not a multiple of the number of options, so that each of them is tried.
    for (file, options) in sample(cases, 4) {
        let known = pitree.run(&["tree", file.to_str().unwrap()]);
        let made = pitree.home().join("made");
        let args = ["export", file.to_str().unwrap(), "--force", "-o", made.to_str().unwrap()];
        let run = pitree.run(&[&args, options].concat());
        let is_expected = run.code == known.code || (options[1] == "jsonl" && run.err.contains("cannot"));
        assert!(is_expected || run.err.contains("newer format"), "{}: {}", file.display(), run.err);
    }
}

#[cfg(unix)]
#[test]
fn the_new_file_can_be_opened() {
    let pitree = Pitree::new();
    let script =
        pitree.script("bin/xdg-open", "#!/bin/sh\nprintf '%s' \"$1\" > opened.part && mv opened.part opened\n");
    let bin = script.parent().unwrap().to_str().unwrap().to_owned();
    let pitree = pitree.variable("PATH", &format!("{bin}:/usr/bin:/bin"));
    let path = pitree.write_session(&Session::new("opened").user("u1", "Hello"));
    let mut command = pitree.command(&["export", path.to_str().unwrap(), "--open"]);
    let run = crate::command_line::pitree::Outcome::of(command.current_dir(pitree.home()));
    assert_eq!(run.code, 0, "{}", run.err);
    let opened = pitree.home().join("opened");
    for _ in 0..200 {
        if opened.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    assert!(fs::read_to_string(opened).unwrap().ends_with("/pitree-opened.md"));
}

#[test]
fn a_session_without_ids_is_exported_to_its_end() {
    let pitree = Pitree::new();
    let path = pitree.fixture("v1-index-later");
    let text = pitree.run(&["export", path.to_str().unwrap(), "-o", "-"]).out;
    assert!(text.contains("branch to the end, "), "{text}");
}

#[test]
fn secret_ids_are_replaced_with_their_links() {
    let pitree = Pitree::new();
    let id = token();
    let session = Session::new("ids").user("u1", "first").assistant(&id, "second").user("u3", "third");
    let path = pitree.write_session(&session.assistant("a4", "fourth").under(&id).user("u5", "other"));
    for format in ["md", "html", "jsonl"] {
        for scope in [&["--tree"][..], &[]] {
            let args = [&["export", path.to_str().unwrap(), "-o", "-", "-f", format], scope].concat();
            let run = pitree.run(&args);
            assert!(
                run.code == 0 && !(run.out.clone() + &run.err).contains(&id[4..]),
                "{format}: {}{}",
                run.out,
                run.err
            );
        }
        let ended = format!("{}@{id}", path.display());
        let run = pitree.run(&["export", &ended, "-o", "-", "-f", format]);
        assert!(run.code == 0 && !run.out.contains(&id[4..]), "{format}: {}", run.out);
    }
    let list = pitree.run(&["export", path.to_str().unwrap(), "--list"]);
    assert!(!(list.out.clone() + &list.err).contains(&id[4..]) && list.code == 3, "{}{}", list.out, list.err);
    let list = pitree.run(&["secrets", path.to_str().unwrap()]);
    assert!(list.code == 3 && list.out.contains("github-token") && !list.out.contains(&id[4..]), "{}", list.out);
    pitree.run(&["export", path.to_str().unwrap(), "--tree", "-o", "copy.jsonl"]);
    let copy = fs::read_to_string(pitree.home().join("copy.jsonl")).unwrap();
    assert!(copy.contains(r#""id":"[github-token 1]""#) && copy.contains(r#""parentId":"[github-token 1]""#), "{copy}");
}

#[test]
fn no_place_of_a_session_brings_a_secret_into_an_export() {
    let pitree = Pitree::new();
    let tokens: Vec<String> = ('a'..='n').map(|last| token().replace("aGe3a", &format!("aGe3{last}"))).collect();
    let at = |place: usize| &*tokens[place];
    let session = Session::new(at(0))
        .cwd(format!("/work/{}", at(1)))
        .user("u1", &format!("first {}", at(2)))
        .call("a2", "bash", &json!({ "command": format!("echo {}", at(3)), "env": { at(4): "x" } }))
        .result("r3", "a2", "bash", &format!("\u{1b}[31m{}\u{1b}[1m{}\u{1b}[0m", &at(5)[..9], &at(5)[9..]))
        .label("l4", "u1", at(6))
        .name("n5", &format!("Name {}", at(7)))
        .entry("c6", "custom_message", format!(r#""customType":"x","content":"{}","display":true"#, at(8)))
        .entry("c7", "custom", format!(r#""customType":"{}","data":{{"{}":["{}"]}}"#, at(9), at(10), at(11)))
        .compaction("k8", &format!("summary {}", at(12)), "u1")
        .user(at(13), "last");
    let path = pitree.write_session(&session);
    let path = path.to_str().unwrap();
    let check = |text: &str, what: &str| {
        let part = tokens.iter().find(|token| text.contains(&token[4..]));
        assert!(part.is_none(), "{what}: {part:?} in {text}");
    };
    for format in ["md", "html", "jsonl"] {
        for options in [&["--tree"][..], &["--context"], &["--family"], &["--redact=paths,people"], &["--images"]] {
            let name = format!("{format}{}", options[0]);
            let args = [&["export", path, "-f", format, "-o", &name], options].concat();
            let run = pitree.run(&args);
            assert_eq!(run.code, 0, "{name}: {}", run.err);
            check(&format!("{}{}", run.out, run.err), &name);
            let made = pitree.home().join(&name);
            let files = if made.is_dir() {
                fs::read_dir(&made).unwrap().map(|file| file.unwrap().path()).collect()
            } else {
                vec![made]
            };
            for file in files {
                check(&file.display().to_string(), &name);
                check(&fs::read_to_string(&file).unwrap(), &name);
            }
        }
    }
    let lists =
        [&["export", path, "--list"][..], &["secrets", "--json", path], &["secrets"], &["secrets", path], &["entries"]];
    for args in lists {
        let run = pitree.run(args);
        check(&run.err, &args.join(" "));
        // This JSON names the session file and its ID, so that programs find it.
        let out = if args.contains(&"--json") { run.out.replace(path, "").replace(at(0), "") } else { run.out };
        check(&out, &args.join(" "));
    }
    assert!(pitree.run(&["ls", "is:secret"]).code == 0);
    let cache = fs::read(pitree.home().join(".cache/pitree/index/known.secrets")).unwrap();
    check(&String::from_utf8_lossy(&cache), "the results of searches for secrets");
}

#[test]
fn escape_sequences_are_colors_in_a_page_and_left_out_of_markdown() {
    let pitree = Pitree::new();
    let output = "\u{1b}[31mred <b>\u{1b}[0m plain\n\u{1b}]8;;https://a.b\u{7}link\u{1b}]8;;\u{7}\u{1b}[2J";
    let session = Session::new("colors").user("u1", "go").tool("t1", "bash", &json!({"command": "ls"}), output);
    pitree.write("--p--/colors.jsonl", &session.assistant("a1", "done").text());
    let export = |format: &str| pitree.run(&["export", "colors", "-f", format, "-o", "-"]).out;
    let (html, markdown) = (export("html"), export("md"));
    assert!(html.contains("<i class=e>red &lt;b&gt;</i> plain\nlink [https://a.b]"), "{html}");
    assert!(markdown.contains("red <b> plain\nlink [https://a.b]\n"), "{markdown}");
    assert!(!html.contains('\u{1b}') && !html.contains('␛') && !markdown.contains('␛'));
}
