//! Snapshots of a home directory after months of use: long paths, missing directories, long sessions, forks and deep
//! branches, in common terminal sizes.

use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use super::harness::{Browser, NOW};
use crate::common::home::write;
use crate::common::session::{START, Session};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// A home directory; removed on drop.
struct Home {
    _dir: TempDir,
    path: PathBuf,
}

/// Returns a time in seconds after the first day of the test sessions.
fn ago(seconds: i64) -> i64 {
    NOW / 1000 - seconds - START
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = Self { path: dunce::canonicalize(dir.path()).unwrap(), _dir: dir };
        home.monorepo();
        home.same_names();
        home.nest();
        home.elsewhere();
        home
    }

    /// Returns a path in the home directory; creates the directory if `is_there`.
    fn cwd(&self, path: &str, is_there: bool) -> String {
        let path = self.path.join(path);
        if is_there {
            std::fs::create_dir_all(&path).unwrap();
        }
        path.to_str().unwrap().into()
    }

    fn session(&self, session: &Session) -> PathBuf {
        let path = self.path.join(".pi/agent/sessions/--project--").join(format!("{}.jsonl", session.id));
        write(&path, session.text())
    }

    /// Creates a long session deep in a monorepo, with runs of tools, a failed tool, a compaction and labels, and two
    /// forks of it.
    fn monorepo(&self) {
        let cwd =
            self.cwd("Developer/github.com/acme-corp/storefront-monorepo/packages/checkout/payment-gateway", true);
        let file = |path: &str| json!({"path": format!("{cwd}/{path}")});
        let edit = |path: &str| json!({"path": format!("{cwd}/{path}"), "oldText": "once", "newText": "twice"});
        let bash = |command: &str| json!({"command": format!("cd {cwd} && {command}")});
        let mut session = Session::new("0c1d-webhooks")
            .cwd(&cwd)
            .at(ago(3 * DAY))
            .costing(0.013)
            .name("n1", "Idempotent webhooks for Stripe and Adyen")
            .user("u1", "Webhooks of Stripe are handled **twice** now and then: a customer got two receipts. Find out why, and make `handleWebhook` idempotent for both providers.")
            .assistant("a1", "I'll look at how events come in, and where they are written down.");
        let sources = ["src/index.ts", "src/webhooks/stripe.ts", "src/webhooks/adyen.ts", "src/db/events.ts"];
        for (at, path) in sources.iter().cycle().take(22).enumerate() {
            session = session.later(4).tool(&format!("r{at}"), "read", &file(path), "export const once = true;");
        }
        for (at, command) in
            ["rg -n 'handleWebhook' src", "git log --oneline -5", "pnpm test -- webhooks"].iter().enumerate()
        {
            session = session.later(30).tool(&format!("b{at}"), "bash", &bash(command), "src/index.ts:12");
        }
        session = session
            .assistant("a2", "The event is marked as handled **after** the receipt is sent. Two deliveries within that second both pass the check. A unique key on `(provider, event_id)`, written *first*, closes the gap.")
            .label("l1", "a2", "cause")
            .later(DAY / 4)
            .user("u2", "Right. Do it with the unique key, and keep the old column for one release.");
        for (at, path) in sources.iter().enumerate() {
            session = session.later(20).tool(&format!("e{at}"), "edit", &edit(path), "Successfully replaced 1 block");
        }
        session = session
            .call("t1", "bash", &bash("pnpm test -- webhooks --runInBand --reporter=verbose"))
            .failure("t1r", "t1", "bash", "FAIL src/webhooks/adyen.test.ts\n  ● handles a retry\n    expected 1, received 2\n\nCommand exited with code 1")
            .assistant("a3", "Adyen sends another `pspReference` with each retry; `merchantReference` is the one that stays.")
            .later(40)
            .tool("e9", "edit", &edit("src/webhooks/adyen.ts"), "Successfully replaced 1 block")
            .tool("t2", "bash", &bash("pnpm test"), "41 passed")
            .entry("c1", "compaction", "\"summary\":\"## Goal\\nWebhooks that are handled once.\\n\\n## Done\\n- unique key, written first\",\"firstKeptEntryId\":\"u2\",\"tokensBefore\":148211")
            .assistant("a4", "All 41 tests pass. A second delivery now gets `200` and does nothing.")
            .label("l2", "a4", "works");
        let parent = self.session(&session);
        let fork = session
            .clone()
            .under("a2")
            .forked("1f2e-outbox", &parent, ago(2 * DAY))
            .name("n2", "Outbox instead of a key")
            .user("u9", "What would an outbox table cost us instead?")
            .later(70)
            .tool("w9", "write", &file("docs/outbox.md"), "Successfully wrote 800 bytes")
            .assistant("a9", "One more table and a worker: about a day. It pays once there is a *third* provider.");
        self.session(&fork);
        let unnamed = session
            .forked("2a3b-unnamed", &parent, ago(26 * HOUR))
            .name("n3", "")
            .user("u8", "Write the migration so that it runs without a lock on `events`.")
            .assistant("a8", "`CREATE UNIQUE INDEX CONCURRENTLY`, in a migration of its own.");
        self.session(&unnamed);
        let long = "Please go through every package in this monorepo, list the dependencies that are two or more major versions behind, and for each of them say what would break, who uses it, how long it would take, and whether there is a codemod; ".repeat(6);
        let unnamed = Session::new("3b4c-long")
            .cwd(&cwd)
            .at(ago(5 * HOUR))
            .costing(0.4)
            .user("u1", &format!("{long}\n\n- start with `packages/checkout`\n- then the rest"))
            .assistant(
                "a1",
                "There are 14 of them. The ones that matter: `zod` 3 → 4, `vitest` 1 → 3, `fastify` 4 → 5.",
            );
        self.session(&unnamed);
    }

    /// Creates two directories with the same name, one of which is missing. Its session's leaf is a hidden bookkeeping
    /// entry.
    fn same_names(&self) {
        let there = self.cwd("code/webshop/packages/app", true);
        let gone = self.cwd("code/webshop-before-the-big-rewrite/packages/app", false);
        let asked = |id: &str, cwd: &str, hours: i64, prompt: &str, answer: &str| {
            Session::new(id).cwd(cwd).at(ago(hours * HOUR)).costing(0.02).user("u1", prompt).assistant("a1", answer)
        };
        self.session(&asked(
            "4c5d",
            &there,
            50,
            "The cart badge shows 0 after a reload",
            "It is read before the store is there.",
        ));
        self.session(&asked(
            "5d6e",
            &there,
            80,
            "why is the bundle 2 MB",
            "Two copies of `date-fns`, and all of its locales.",
        ));
        let hidden = asked(
            "6e7f",
            &gone,
            24 * 60,
            "Move the product page to server components",
            "Done, but for the gallery: it needs the client.",
        )
        .entry("m1", "model_change", "\"provider\":\"anthropic\",\"modelId\":\"claude-opus-4-5\"")
        .entry("m2", "thinking_level_change", "\"thinkingLevel\":\"high\"")
        .custom("x1", "todo-list")
        .label("l1", "u1", "todo");
        self.session(&hidden);
        self.session(&asked(
            "7a8b",
            &gone,
            24 * 61,
            "List what the rewrite must keep",
            "URLs, prices, and the e-mails.",
        ));
    }

    /// Creates nested branches, twelve levels deep.
    fn nest(&self) {
        let cwd = self.cwd("code/logq", true);
        let mut session = Session::new("8b9c-nest").cwd(&cwd).at(ago(9 * DAY)).costing(0.031);
        session =
            session.name("n0", "Parser: twelve ways").user("u0", "Try a parser combinator for the query language.");
        for level in 1..=12 {
            let before = format!("u{}", level - 1);
            session = session
                .under(&before)
                .assistant(&format!("x{level}"), &format!("Way {level} was abandoned: it backtracks too much."))
                .under(&before)
                .assistant(
                    &format!("a{level}"),
                    &format!("Way {level}: a table of binding powers, one line an operator."),
                )
                .user(
                    &format!("u{level}"),
                    &format!("Better. Now with precedence {level}, and keep the error positions."),
                );
        }
        self.session(
            &session
                .assistant("end", "That is the last of them: 12 levels, one loop, no recursion.")
                .label("l9", "end", "keep"),
        );
    }

    /// Creates sessions with wide characters, paths of another system, directories of other users, and a fork with a
    /// missing parent.
    fn elsewhere(&self) {
        let wide = self.cwd("ドキュメント/設計資料/請求書サービス", true);
        let asked = |id: &str, cwd: &str, days: i64| Session::new(id).cwd(cwd).at(ago(days * DAY)).costing(0.05);
        self.session(
            &asked("9c0d", &wide, 4)
                .user("u1", "請求書のPDFで、明細が二ページ目に続くとき見出しが消えます。原因を調べてください。")
                .tool("r1", "read", &json!({"path": format!("{wide}/請求書.ts")}), "export {}")
                .assistant(
                    "a1",
                    "表の見出しは最初のページだけに描かれています。`repeatHeader` を有効にすれば直ります。",
                ),
        );
        let windows = r"C:\Users\Ada\source\repos\Billing.Service";
        self.session(
            &asked("a0b1", windows, 12)
                .user("u1", "dotnet test hangs on the build server but not here")
                .tool("b1", "bash", &json!({"command": "dotnet test --blame-hang"}), "Passed!")
                .assistant("a1", "A test waits for a port that the agent has closed."),
        );
        self.session(
            &asked("b1c2", "/root/clawd", 270)
                .name("n1", "Nightly backup")
                .user("u1", "rsync or restic?")
                .assistant("a1", "restic."),
        );
        let orphan = asked("c2d3", "/root/clawd", 250)
            .parent(Path::new("/root/.pi/agent/sessions/--root-clawd--/gone.jsonl"))
            .user("u1", "and where do the keys go?")
            .assistant("a1", "Into the keyring, and on paper.");
        self.session(&orphan);
        self.session(
            &asked("d3e4", self.path.to_str().unwrap(), 33).user("u1", "/help").assistant("a1", "Commands: …"),
        );
    }
}

/// Selects the session whose title begins with a text.
fn select(browser: &mut Browser, title: &str) {
    browser.press("home");
    let rows = browser.model.sessions.rows.len();
    for _ in 0..rows {
        if browser.session().is_some_and(|session| session.title().starts_with(title)) {
            return;
        }
        browser.press("j");
    }
    panic!("no session {title:?}\n{}", browser.screen());
}

/// Defines a test that compares the screen with a snapshot after opening a session and pressing some keys.
macro_rules! screen {
    ($name:ident, ($columns:literal, $rows:literal), $title:literal, $keys:literal) => {
        #[test]
        fn $name() {
            let home = Home::new();
            let mut browser = Browser::at_home(&home.path, ($columns, $rows));
            select(&mut browser, $title);
            browser.press($keys);
            let dir = home.path.file_name().unwrap().to_str().unwrap();
            insta::assert_snapshot!(stringify!($name), browser.screen().replace(dir, ".tmp000000"));
        }
    };
}

screen!(sessions_80, (80, 24), "Idempotent", "home");
screen!(tree_80, (80, 24), "Parser", "l");
screen!(preview_80, (80, 24), "Idempotent", "l v v tab");
screen!(sessions_100, (100, 30), "and where", "");
screen!(tree_100, (100, 30), "Idempotent", "l home j j");
screen!(preview_100, (100, 30), "Idempotent", "l home j j j j j tab z");
screen!(sessions_120, (120, 40), "Write the migration", "");
screen!(tree_120, (120, 40), "Move the product", "l");
screen!(preview_120, (120, 40), "Parser", "l tab");
screen!(sessions_160, (160, 48), "Please", "ctrl+s");
screen!(tree_160, (160, 48), "Idempotent", "l v t");
screen!(preview_160, (160, 48), "請求書", "l tab");
screen!(sessions_200, (200, 60), "Idempotent", "");
screen!(tree_200, (200, 60), "Parser", "l v c");
screen!(preview_200, (200, 60), "Please", "l home tab");
