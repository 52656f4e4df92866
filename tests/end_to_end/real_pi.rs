//! The real pi in a terminal, with pitree beside it and within it, and a mock model. Needs pi and node: `scripts/pi/run
//! terminal` installs them, and CI runs it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

use crate::common::signals;
use crate::end_to_end::home::Home;
use crate::end_to_end::terminal::{ENTER, ESC, Launch, Terminal, ctrl};

/// The timeout for any action of pi.
const TIMEOUT: Duration = Duration::from_secs(60);

/// pi in a home with a project, the extension, and a model.
struct World {
    home: Home,
    project: PathBuf,
    model: Child,
    answers: ChildStdin,
    /// An empty line for each answer that the model knows.
    confirmed: BufReader<ChildStdout>,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

impl World {
    fn new() -> Self {
        let home = Home::new();
        let project = home.dir("project");
        let serve = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/pi/serve.mjs");
        let mut model = Command::new("node").arg(serve).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        let mut confirmed = BufReader::new(model.stdout.take().unwrap());
        confirmed.read_line(&mut url).unwrap();
        let cost = json!({"input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75});
        let none = json!({"id": "none-1", "name": "none-1", "contextWindow": 200_000, "maxTokens": 4096, "cost": cost, "input": ["text"], "reasoning": false});
        let provider = json!({"baseUrl": url.trim(), "apiKey": "none", "api": "openai-completions", "models": [none]});
        home.write(".pi/agent/models.json", json!({"providers": {"none": provider}}).to_string());
        let settings = json!({
            "defaultProvider": "none", "defaultModel": "none-1", "quietStartup": true, "pitree": {"key": "alt+p"},
            "retry": {"enabled": false},
        });
        home.write(".pi/agent/settings.json", settings.to_string());
        let pi = std::env::var("PITREE_TEST_PI").unwrap();
        let path = std::env::var("PATH").unwrap();
        home.script("bin/pi", &format!("export PATH='{path}' PI_OFFLINE=1\nexec '{pi}' \"$@\"\n"));
        let answers = model.stdin.take().unwrap();
        Self { home, project, model, answers, confirmed }
    }

    /// Creates the same with pitree's extension in pi.
    fn with_extension() -> Self {
        let world = Self::new();
        let extension = include_str!("../../assets/pi/pitree.ts");
        world.home.write(".pi/agent/extensions/pitree/index.ts", extension);
        world.home.write(".pi/agent/extensions/pitree/program", env!("CARGO_BIN_EXE_pitree"));
        world
    }

    /// Starts pi in the project.
    fn pi(&self, args: &[&str]) -> Terminal {
        let pi = self.home.path().join("bin/pi");
        Launch::new(pi.to_str().unwrap(), &self.home).args(args.iter().copied()).cwd(&self.project).open()
    }

    fn pitree(&self, args: &[&str]) -> Terminal {
        self.home.launch(args).cwd(&self.project).open()
    }

    /// Sends a prompt in pi and waits for the model's answer.
    fn say(&mut self, pi: &mut Terminal, prompt: &str, answer: &str) {
        self.answer(&json!({"text": answer}));
        pi.send(prompt);
        pi.wait_for_final(prompt);
        let end = Instant::now() + TIMEOUT;
        while !pi.contents().contains(answer) {
            // pi ignores the key until it has started, and leaves the text in the editor (1.5.2).
            pi.send(ENTER);
            let again = Instant::now() + Duration::from_secs(2);
            while !pi.contents().contains(answer) && Instant::now() < again {
                assert!(Instant::now() < end, "no answer:\n{}", pi.contents());
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Sets the model's next answer.
    fn answer(&mut self, answer: &Value) {
        writeln!(self.answers, "{answer}").unwrap();
        self.answers.flush().unwrap();
        // pi's next request can reach the model before the answer.
        assert_eq!(self.confirmed.read_line(&mut String::new()).unwrap(), 1);
    }

    /// Holds a conversation of two prompts in a session of its own; returns its file.
    fn talk(&mut self, about: &str) -> PathBuf {
        let before = self.files();
        let mut pi = self.pi(&[]);
        pi.wait_for_final("none-1");
        self.say(&mut pi, &format!("ask {about} one"), &format!("answer {about} one"));
        self.say(&mut pi, &format!("ask {about} two"), &format!("answer {about} two"));
        quit(pi);
        self.files().into_iter().find(|path| !before.contains(path)).unwrap()
    }

    /// Returns the session files.
    fn files(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.home.sessions()).into_iter().flatten().map(|folder| folder.unwrap().path());
        let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
        let mut files: Vec<PathBuf> = files.collect();
        files.sort();
        files
    }

    /// Returns the running pis that pitree lists.
    fn live(&self) -> Vec<Value> {
        let outcome = self.home.command(&["live", "--json"]).output().unwrap();
        assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
        serde_json::from_slice::<Value>(&outcome.stdout).unwrap()["pis"].as_array().unwrap().clone()
    }

    /// Waits until pitree lists pis with these states, in order of their process IDs.
    fn wait_live(&self, states: &[&str]) -> Vec<Value> {
        self.wait(&format!("{states:?}"), |live| {
            live.iter().map(|pi| pi["state"].as_str().unwrap()).eq(states.iter().copied())
        })
    }

    /// Waits until the only pi has a session open.
    fn wait_open(&self, session: &Path) -> Value {
        let session = session.to_str().unwrap();
        self.wait(session, |live| live.iter().map(|pi| pi["path"].as_str().unwrap()).eq([session])).remove(0)
    }

    fn wait(&self, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let end = Instant::now() + TIMEOUT;
        loop {
            let live = self.live();
            if is_so(&live) {
                return live;
            }
            assert!(Instant::now() < end, "{what} wanted: {live:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Quits pi as a person does.
fn quit(mut pi: Terminal) {
    pi.send(&ctrl('c'));
    pi.send(&ctrl('c'));
    assert_eq!(pi.wait_exit(), 0, "{}", pi.contents());
}

fn entries(file: &Path) -> Vec<Value> {
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the ID of the message that contains a text.
fn id_of(file: &Path, text: &str) -> String {
    let is = |entry: &&Value| entry["type"] == "message" && entry["message"]["content"].to_string().contains(text);
    entries(file).iter().find(is).unwrap_or_else(|| panic!("{text:?} is not there"))["id"].as_str().unwrap().into()
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn the_real_pi_navigates_without_writing_until_a_prompt() {
    let mut world = World::new();
    let file = world.talk("tea");
    let session = file.to_str().unwrap();
    let before = fs::read(&file).unwrap();
    let [ask_one, answer_one, ask_two, answer_two] =
        ["ask tea one", "answer tea one", "ask tea two", "answer tea two"].map(|text| id_of(&file, text));
    // (entry to resume at, shown text, hidden text, text in the editor)
    for (entry, shown, hidden) in [
        (&answer_two, "answer tea two", "Navigated"),
        (&answer_one, "answer tea one", "ask tea two"),
        (&ask_two, "ask tea two", "answer tea two"),
        (&ask_one, "ask tea one", "answer tea one"),
    ] {
        let pi = world.pitree(&["resume", session, entry]);
        pi.wait_for_final("none-1");
        if hidden != "Navigated" {
            pi.wait_for_final("Navigated to selected point");
        }
        pi.wait_for_final(shown);
        assert!(!pi.contents().contains(hidden), "{entry}:\n{}", pi.contents());
        quit(pi);
        assert!(fs::read(&file).unwrap() == before, "resumed at {shown:?}");
    }
    // Resume from the browser and continue: the new message is appended at that place.
    let mut pi = world.pitree(&[]);
    pi.wait_selected("ask tea one");
    pi.send("l");
    pi.wait_for("← leaf");
    pi.send("kk");
    pi.wait_selected("answer tea one");
    pi.send(ENTER);
    pi.wait_for("pi writes nothing until you send a");
    pi.send("h");
    pi.wait_for_final("Navigated to selected point");
    assert!(fs::read(&file).unwrap() == before);
    world.say(&mut pi, "another two", "another answer");
    quit(pi);
    let after = fs::read(&file).unwrap();
    assert!(after.starts_with(&before) && after.len() > before.len());
    let is_new = |entry: &&Value| entry["message"]["content"].to_string().contains("another two");
    assert_eq!(entries(&file).iter().find(is_new).unwrap()["parentId"], answer_one);
    // Back to the abandoned branch, with pi's own summary of this one.
    let pi = world.pitree(&["resume", session, &answer_two]);
    pi.wait_for_final("answer tea two");
    quit(pi);
    assert!(fs::read(&file).unwrap() == after, "another branch");
    world.answer(&json!({"text": "It was about another two."}));
    let pi = world.pitree(&["resume", session, &answer_two, "--summarize"]);
    pi.wait_for_final("Navigated to selected point");
    quit(pi);
    let last = entries(&file).pop().unwrap();
    assert_eq!((&last["type"], &last["parentId"]), (&json!("branch_summary"), &json!(answer_two)));
    assert!(last["summary"].as_str().unwrap().contains("It was about another two."), "{last}");
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn the_real_pi_goes_to_an_entry_of_an_old_file() {
    let world = World::new();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/sessions/--home-dev-old--/v1-linear.jsonl");
    let text = fs::read_to_string(fixture).unwrap().replace("/home/dev/old", world.project.to_str().unwrap());
    let file = world.home.write(".pi/agent/sessions/--project--/v1-linear.jsonl", &text);
    let line = world.home.command(&["resume", "v1-linear", "#2", "--print"]).output().unwrap();
    let printed = String::from_utf8_lossy(&line.stdout).into_owned();
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "pitree writes nothing: {printed}");
    let mut pi = world.pitree(&[]);
    pi.wait_selected("First prompt");
    pi.send("l");
    pi.wait_for("First answer");
    pi.send("\u{4}\x1b[Hj");
    pi.wait_selected("First answer");
    pi.send(ENTER);
    pi.wait_for("pi writes nothing until you send a");
    pi.send("h");
    pi.wait_for_final("Navigated to selected point");
    assert!(pi.contents().contains("First answer") && !pi.contents().contains("Second"), "{}", pi.contents());
    quit(pi);
    // pi migrates the file when it opens it, and keeps only its own fields.
    let messages = |text: &str| text.lines().filter(|line| line.contains("\"type\":\"message\"")).count();
    assert_eq!(messages(&fs::read_to_string(&file).unwrap()), messages(&text));
    assert!(!fs::read_to_string(&file).unwrap().contains("\"type\":\"label\""));
}

/// Returns the process ID of the pitree within pi.
fn within(pi: &Terminal) -> u32 {
    let end = Instant::now() + TIMEOUT;
    loop {
        let children = format!("/proc/{0}/task/{0}/children", pi.pid());
        let children = fs::read_to_string(children).unwrap();
        let is_pitree =
            |pid: &&str| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "pitree\n");
        if let Some(pid) = children.split_whitespace().find(is_pitree) {
            return pid.parse().unwrap();
        }
        assert!(Instant::now() < end, "pitree does not run:\n{}", pi.contents());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until a condition holds.
fn wait_until(mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "time is up");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn pitree_within_the_real_pi() {
    let mut world = World::with_extension();
    let tea = world.talk("tea");
    let before = fs::read(&tea).unwrap();
    let mut pi = world.pi(&[]);
    pi.wait_for_final("none-1");
    world.say(&mut pi, "ask rice one", "answer rice one");
    // By the key, with a half-typed prompt: the prompt is restored unchanged.
    pi.send("half a thought");
    pi.wait_for_final("half a thought");
    pi.send("\x1bp");
    pi.wait_selected("answer rice one");
    pi.send(ESC);
    pi.wait_for_final("half a thought");
    pi.wait_for_final("answer rice one");
    // The statistics of the current project, and back.
    wait_until(|| {
        pi.send(&ctrl('u'));
        !pi.contents().contains("half a thought")
    });
    pi.send("/pitree stats");
    pi.wait_for_final("/pitree stats");
    pi.send(ENTER);
    pi.wait_for("by project");
    pi.wait_for("2 sessions");
    pi.send(ESC);
    pi.wait_selected("answer rice one");
    pi.send(ESC);
    // pi's screen has no frame marks.
    wait_until(|| !pi.contents().contains("Sessions"));
    pi.wait_for_final("answer rice one");
    pi.send("half a thought");
    pi.wait_for_final("half a thought");
    // To another session, at a message: the message's text goes to the editor, and the half-typed prompt is kept.
    pi.send("\x1bp");
    pi.wait_selected("answer rice one");
    pi.send("\x1b[Z");
    pi.wait_selected("ask rice one");
    pi.send("G");
    pi.wait_selected("ask tea one");
    pi.send("l");
    pi.wait_selected("answer tea two");
    pi.send("k");
    pi.wait_selected("ask tea two");
    pi.send(ENTER);
    pi.wait_for_final("Resumed session");
    pi.wait_for_final("half a thought");
    let shown = pi.contents();
    assert!(shown.contains("answer tea one") && shown.contains("ask tea two") && !shown.contains("rice"), "{shown}");
    assert!(fs::read(&tea).unwrap() == before, "nothing is written");
    assert_eq!(world.wait_open(&tea)["pid"], pi.pid(), "the same process, another session");
    // A fork at an answer.
    pi.send("\x1bp");
    pi.wait_for("choose");
    pi.wait_selected("answer tea one");
    pi.send("mf");
    pi.wait_for_final("half a thought");
    pi.wait_for_final("Resumed session");
    let fork = world.files().into_iter().find(|file| entries(file)[0]["parentSession"] == json!(tea)).unwrap();
    world.wait_open(&fork);
    assert!(fs::read(&tea).unwrap() == before);
    // A killed pitree leaves pi's screen intact.
    pi.send("\x1bp");
    pi.wait_for("choose");
    signals::send(within(&pi), "KILL");
    pi.wait_for_final("ended by SIGKILL");
    pi.wait_for_final("answer tea one");
    assert!(!pi.contents().contains("choose"), "{}", pi.contents());
    pi.send(&ctrl('c'));
    world.say(&mut pi, "go on here", "it goes on");
    quit(pi);
    assert_eq!(world.live(), [] as [Value; 0], "the file goes with the process");
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn contexts_are_edited_within_the_real_pi() {
    let mut world = World::with_extension();
    let mut pi = world.pi(&[]);
    pi.wait_for_final("none-1");
    world.say(&mut pi, "ask rice one", "answer rice one");
    world.say(&mut pi, "ask rice two", "answer rice two");
    let file = world.files()[0].clone();
    let is_written = |text: &str| fs::read_to_string(&file).unwrap().contains(text);
    wait_until(|| is_written("answer rice two"));
    let edits = |file: &Path| -> Vec<Value> {
        let all = entries(file).into_iter().filter(|entry| entry["type"] == "context_edit");
        all.map(|entry| entry["targetId"].clone()).collect()
    };
    let omit = |pi: &mut Terminal, last: &str, keys: &str| {
        pi.send("\x1bp");
        pi.wait_selected(last);
        pi.send("c");
        pi.wait_for("A assistant");
        pi.send(keys);
        pi.wait_for("saves");
        pi.send(ENTER);
        pi.wait_for("Edit the context");
    };
    // By this pi, at the end of its next turn.
    omit(&mut pi, "answer rice two", "Gkkkd");
    pi.send("p");
    pi.wait_for_final("pi appends the edits at the end of its next turn");
    pi.send(ESC);
    // pi's screen has no frame marks.
    wait_until(|| !pi.contents().contains("Sessions"));
    pi.wait_for_final("answer rice two");
    assert_eq!(edits(&file), [] as [Value; 0]);
    world.say(&mut pi, "ask rice three", "answer rice three");
    let first = json!(id_of(&file, "ask rice one"));
    wait_until(|| edits(&file) == [first.clone()]);
    // In a fork, to which this pi then goes.
    omit(&mut pi, "context omit", "Gkd");
    pi.send("r");
    pi.wait_for_final("Resumed session");
    let fork = world.files().into_iter().find(|file| entries(file)[0].get("parentSession").is_some()).unwrap();
    world.wait_open(&fork);
    assert_eq!(edits(&fork), [first, json!(id_of(&file, "ask rice three"))]);
    assert_eq!(edits(&file).len(), 1, "the session stays as it was");
    world.say(&mut pi, "ask rice four", "answer rice four");
    quit(pi);
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn the_real_pi_names_sessions() {
    let mut world = World::new();
    let tea = world.talk("tea");
    let before = world.files();
    world.home.write(".config/pitree/config.toml", format!("pi = [{:?}]\n", world.home.path().join("bin/pi")));
    world.answer(&json!({"text": "\"How to make tea\"\n"}));
    let named = world.home.command(&["name", "--all-unnamed", "--yes"]).output().unwrap();
    assert!(named.status.success(), "{}", String::from_utf8_lossy(&named.stderr));
    let last = entries(&tea).pop().unwrap();
    assert_eq!((&last["type"], &last["name"]), (&json!("session_info"), &json!("How to make tea")));
    assert_eq!(world.files(), before, "pi keeps no session of its own");
    let cost = world.home.command(&["name", "--dry-run", "tea"]).output().unwrap();
    assert!(!cost.status.success(), "it has a name");
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn the_real_pi_reports_its_total_cost() {
    let mut world = World::with_extension();
    let file = world.talk("tea");
    let usage = |total: f64| {
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": total});
        json!({"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": cost})
    };
    let mut text = fs::read_to_string(&file).unwrap();
    let mut parent = entries(&file).pop().unwrap()["id"].clone();
    let result = json!({"role": "toolResult", "toolCallId": "c", "toolName": "t", "content": [], "isError": false, "timestamp": 1, "usage": usage(1.0)});
    for (at, mut entry) in [
        json!({"type": "message", "message": result}),
        json!({"type": "branch_summary", "fromId": "root", "summary": "s", "usage": usage(2.0)}),
        json!({"type": "compaction", "summary": "s", "firstKeptEntryId": parent, "tokensBefore": 1, "usage": usage(4.0)}),
    ]
    .into_iter()
    .enumerate()
    {
        (entry["id"], entry["timestamp"]) = (json!(format!("0000000{at}")), json!("2026-01-01T00:00:00.000Z"));
        entry["parentId"] = std::mem::replace(&mut parent, entry["id"].clone());
        text += &format!("{entry}\n");
    }
    fs::write(&file, text).unwrap();
    let listed = |world: &World, path: &Path| {
        let outcome = world.home.command(&["ls", "--json"]).output().unwrap();
        let sessions = String::from_utf8(outcome.stdout).unwrap();
        let sessions = sessions.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        sessions.into_iter().find(|session| session["path"] == json!(path)).unwrap()["cost"].as_f64().unwrap()
    };
    let cost = listed(&world, &file);
    assert!(cost > 7.0, "{cost}");
    let is_cost = |pis: &[Value], cost: f64| pis.iter().all(|pi| (pi["cost"].as_f64().unwrap() - cost).abs() < 1e-9);
    let mut pi = world.pi(&["--session", file.to_str().unwrap()]);
    pi.wait_for_final("none-1");
    world.wait_open(&file);
    world.wait("the cost when it is opened", |pis| is_cost(pis, cost));
    world.say(&mut pi, "ask tea three", "answer tea three");
    world.wait_live(&["waiting"]);
    let after = listed(&world, &file);
    assert!(after > cost);
    world.wait("the cost after an answer", |pis| is_cost(pis, after));
    quit(pi);
}

#[test]
#[ignore = "needs the real pi: run by scripts/pi/run terminal"]
fn pis_report_state_changes() {
    let mut world = World::with_extension();
    let asks = "export default (pi) => pi.registerCommand('sure', { handler: async (_a, ctx) => { await ctx.ui.confirm('Sure?', 'Really'); } });";
    world.home.write(".pi/agent/extensions/sure.js", asks);
    let mut one = world.pi(&[]);
    one.wait_for_final("none-1");
    world.wait_live(&["idle"]);
    world.say(&mut one, "first thing", "first answer");
    let told = &world.wait_live(&["waiting"])[0];
    assert_eq!((&told["model"], &told["pid"]), (&json!("none-1"), &json!(one.pid())));
    let file = PathBuf::from(told["path"].as_str().unwrap());
    assert_eq!(told["entryId"], id_of(&file, "first answer"));
    assert!(told["cost"].as_f64().unwrap() > 0.0);
    // pi writes a name and a label itself, and shows them.
    let by_pi = |args: &[&str]| {
        let outcome = world.home.command(&[args, &["--by-pi"]].concat()).output().unwrap();
        assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stderr));
    };
    by_pi(&["rename", file.to_str().unwrap(), "Named from outside"]);
    one.wait_for_final("Named from outside");
    by_pi(&["label", file.to_str().unwrap(), &id_of(&file, "first answer"), "from outside"]);
    assert!(fs::read_to_string(&file).unwrap().contains("\"label\":\"from outside\""));
    let unknown = world.home.command(&["label", "--by-pi", file.to_str().unwrap(), "nowhere", "x"]).output().unwrap();
    assert!(!unknown.status.success());
    // The other pi is working on an endless answer, then it is stopped.
    let mut two = world.pi(&[]);
    two.wait_for_final("none-1");
    world.wait_live(&["waiting", "idle"]);
    world.answer(&json!({"text": "thinking about it", "hang": true}));
    two.send(&format!("work{ENTER}"));
    world.wait_live(&["waiting", "working"]);
    two.send(ESC);
    world.wait_live(&["waiting", "idle"]);
    // An error, and a question.
    world.answer(&json!({"status": 400, "error": "no such thing"}));
    two.send(&format!("fail{ENTER}"));
    world.wait_live(&["waiting", "error"]);
    one.send(&format!("/sure{ENTER}"));
    world.wait_live(&["blocked", "error"]);
    let line = world.home.command(&["live", "--line"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&line.stdout), "1 blocked 1 error\n");
    // The browser shows both; the pi that waits for the user comes first.
    let mut browser = world.pitree(&[]);
    browser.wait_for("1 blocked");
    browser.wait_for("1 error");
    browser.send("vw");
    browser.wait_for("sorted by live");
    one.send(ENTER);
    world.wait_live(&["waiting", "error"]);
    browser.wait_for("1 waiting");
    // A killed pi no longer reports a state.
    two.signal("KILL");
    world.wait_live(&["waiting"]);
    browser.wait_without("1 error");
    browser.send("q");
    assert_eq!(browser.wait_exit(), 0);
    quit(one);
    assert_eq!(world.live(), [] as [Value; 0]);
}
