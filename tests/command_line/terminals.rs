//! Going to the terminals of running pis, and notifications about those without the focus, in real tmux servers. WezTerm and kitty are scripts that record their arguments.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{self, Write};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::live::{Follower, report};
use crate::command_line::pitree::{Outcome, Pitree};
use crate::common::effort::{rounds, skipped, wait_until};

/// A process in a pane that stands in for a pi.
const PI: &str = "exec sleep 600";

/// pitree, and tmux servers in a directory of its own, which end on drop.
struct World {
    pitree: Pitree,
    dir: tempfile::TempDir,
}

/// A pane with its process.
#[derive(Clone, Debug, PartialEq)]
struct Pane {
    pid: u32,
    id: String,
    tty: String,
}

impl Drop for World {
    fn drop(&mut self) {
        for server in ["one", "two", "hidden"] {
            self.command(server, &["kill-server"]).output().unwrap();
        }
    }
}

impl World {
    /// Returns `None` without tmux.
    fn new() -> Option<Self> {
        if !Command::new("tmux").arg("-V").output().is_ok_and(|run| run.status.success()) {
            skipped("no tmux");
            return None;
        }
        let (pitree, dir) = (Pitree::new(), tempfile::tempdir().unwrap());
        let path = format!("{}/bin:/usr/bin:/bin", pitree.home().display());
        let pitree = pitree.variable("PATH", &path).variable("TMUX_TMPDIR", dir.path().to_str().unwrap());
        Some(Self { pitree, dir })
    }

    /// Returns a command of a server. pitree does not find the server `hidden`, whose panes are plain terminals.
    fn command(&self, server: &str, args: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        if server == "hidden" {
            command.arg("-S").arg(self.dir.path().join("hidden"));
        } else {
            command.args(["-L", server]).env("TMUX_TMPDIR", self.dir.path());
        }
        command.args(["-f", "/dev/null"]).args(args).env_remove("TMUX").env_remove("TMUX_PANE");
        command
    }

    #[track_caller]
    fn tmux(&self, server: &str, args: &[&str]) -> String {
        let run = self.command(server, args).output().unwrap();
        assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap().trim_end().to_owned()
    }

    /// Opens a pane with a command.
    #[track_caller]
    fn pane(&self, server: &str, args: &[&str], command: &str) -> Pane {
        let format = ["-d", "-P", "-F", "#{pane_pid} #{pane_id} #{pane_tty}"];
        let printed = self.tmux(server, &[&args[..1], &format, &args[1..], &[command]].concat());
        let [pid, id, tty] = printed.split(' ').collect::<Vec<_>>().try_into().unwrap();
        Pane { pid: pid.parse().unwrap(), id: id.into(), tty: tty.into() }
    }

    /// Opens a session with a pi.
    fn session(&self, server: &str, name: &str) -> Pane {
        self.pane(server, &["new-session", "-x", "120", "-y", "40", "-s", name], PI)
    }

    /// Opens a plain terminal with a command.
    fn plain(&self, command: &str) -> Pane {
        // It fails for all but the first one.
        self.command("hidden", &["new-session", "-d", "-s", "first", PI]).output().unwrap();
        self.pane("hidden", &["new-window", "-t", "=first:"], &format!("unset TMUX; {command}"))
    }

    /// Attaches a client to a session, in a plain terminal. Returns its terminal.
    fn client(&self, server: &str, session: &str) -> String {
        let pane = self.plain(&self.attach(server, session));
        wait_until("the client", || self.tmux(server, &["list-clients"]).contains(&pane.tty));
        pane.tty
    }

    /// Returns the command that attaches a client to a session.
    fn attach(&self, server: &str, session: &str) -> String {
        format!("TMUX= exec tmux -S {} attach -t {session}", self.socket(server).display())
    }

    /// Returns the socket of a server.
    fn socket(&self, server: &str) -> PathBuf {
        if server == "hidden" {
            return self.dir.path().join("hidden");
        }
        let mut folders = fs::read_dir(self.dir.path()).unwrap().map(|entry| entry.unwrap().path());
        folders.find(|folder| folder.is_dir()).unwrap().join(server)
    }

    /// Reports a pi in a pane that waits in a session with this name.
    fn report(&self, pane: &Pane, name: &str) {
        self.report_state(pane, name, ("waiting", 5));
    }

    fn report_state(&self, pane: &Pane, name: &str, state: (&str, u64)) {
        // tmux and a shell start it.
        let command = || fs::read_to_string(format!("/proc/{}/comm", pane.pid)).unwrap();
        wait_until("the process", || command().trim() == "sleep");
        report(&self.pitree, pane.pid, &self.pitree.home().join(format!("{name}.jsonl")), state);
    }

    #[track_caller]
    fn goes(&self, args: &[&str]) {
        let run = self.pitree.run(args);
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""), "{args:?}");
    }

    /// Returns what each client shows.
    fn shown(&self, server: &str) -> Vec<(String, String)> {
        let clients = self.tmux(server, &["list-clients", "-F", "#{client_tty} #{pane_id}"]);
        let mut shown: Vec<_> = clients.lines().map(|line| line.split_once(' ').unwrap()).collect();
        shown.sort_unstable();
        shown.into_iter().map(|(tty, pane)| (tty.into(), pane.into())).collect()
    }

    /// Returns the active pane of a session.
    fn active(&self, server: &str, session: &str) -> String {
        self.tmux(server, &["display-message", "-p", "-t", &format!("={session}:"), "#{pane_id}"])
    }
}

/// Returns the error of a run without a reachable terminal.
#[track_caller]
fn error(run: &Outcome) -> &str {
    assert_eq!((run.code, run.out.as_str()), (2, ""), "{}", run.err);
    &run.err
}

#[test]
fn a_pane_is_selected_in_its_session_without_a_client() {
    let Some(world) = World::new() else { return };
    let first = world.session("one", "a");
    let pi = world.pane("one", &["split-window", "-t", "=a:"], PI);
    let other = world.pane("one", &["new-window", "-t", "=a:"], PI);
    world.report(&pi, "pi");
    world.report(&other, "other");
    world.tmux("one", &["select-pane", "-t", &first.id]);
    world.goes(&["live", "--go", "other"]);
    assert_eq!(world.active("one", "a"), other.id);
    world.goes(&["live", "--go", "pi"]);
    assert_eq!(world.active("one", "a"), pi.id);
    let path = world.pitree.fixture("branches");
    report(&world.pitree, other.pid, &path, ("idle", 5));
    for word in [path.to_str().unwrap(), "branches"] {
        world.tmux("one", &["select-window", "-t", &pi.id]);
        world.goes(&["live", "--go", word]);
        assert_eq!(world.active("one", "a"), other.id);
    }
}

#[test]
fn the_calling_client_or_the_last_active_one_shows_the_pane() {
    let Some(world) = World::new() else { return };
    let (a, b, pi) = (world.session("one", "a"), world.session("one", "b"), world.session("one", "c"));
    world.report(&pi, "pi");
    let [client_a, client_b] = ["a", "b"].map(|session| world.client("one", session));
    let activity = |tty: &str| {
        let clients = world.tmux("one", &["list-clients", "-F", "#{client_tty} #{client_activity}"]);
        clients.lines().find_map(|line| line.strip_prefix(&format!("{tty} "))?.parse::<u64>().ok()).unwrap()
    };
    let shows = |in_a: &Pane, in_b: &Pane| {
        let mut wanted = vec![(client_a.clone(), in_a.id.clone()), (client_b.clone(), in_b.id.clone())];
        wanted.sort_unstable();
        assert_eq!(world.shown("one"), wanted);
        world.tmux("one", &["switch-client", "-c", &client_a, "-t", "a"]);
        world.tmux("one", &["switch-client", "-c", &client_b, "-t", "b"]);
    };
    // tmux counts seconds.
    let terminal_b = world.tmux("hidden", &["list-panes", "-a", "-F", "#{pane_tty} #{pane_id}"]);
    let terminal_b = terminal_b.lines().find_map(|line| line.strip_prefix(&format!("{client_b} "))).unwrap().to_owned();
    wait_until("an active client", || {
        world.tmux("hidden", &["send-keys", "-t", &terminal_b, "x"]);
        activity(&client_b) > activity(&client_a)
    });
    world.goes(&["live", "--go", "pi"]);
    shows(&a, &pi);
    let server = |session: &str| format!("{},1,{session}", world.socket("one").display());
    let number = |session: &str| {
        world.tmux("one", &["display-message", "-p", "-t", &format!("={session}:"), "#{session_id}"]).replace('$', "")
    };
    let inside = |variables: &[(&str, &str)]| {
        let mut command = world.pitree.command(&["live", "--go", "pi"]);
        let run = Outcome::of(command.envs(variables.iter().copied()));
        assert_eq!((run.code, run.err.as_str()), (0, ""));
    };
    inside(&[("TMUX", &server(&number("b"))), ("TMUX_PANE", &a.id)]);
    shows(&pi, &b);
    // In a popup.
    inside(&[("TMUX", &server(&number("a")))]);
    shows(&pi, &b);
    // In another server, and in a pane that is gone.
    inside(&[("TMUX", "/nowhere,1,0"), ("TMUX_PANE", &a.id)]);
    shows(&a, &pi);
    inside(&[("TMUX", &server("0")), ("TMUX_PANE", "%999")]);
    shows(&a, &pi);
}

#[test]
fn a_window_of_several_sessions_stays_in_that_of_the_client() {
    let Some(world) = World::new() else { return };
    let first = world.session("one", "a");
    let pi = world.pane("one", &["new-window", "-t", "=a:"], PI);
    world.tmux("one", &["new-session", "-d", "-t", "a", "-s", "b"]);
    world.report(&pi, "pi");
    for (session, other) in [("a", "b"), ("b", "a")] {
        for name in ["a", "b"] {
            world.tmux("one", &["select-window", "-t", &format!("={name}:0")]);
        }
        let client = world.client("one", session);
        world.goes(&["live", "--go", "pi"]);
        let shown = world.tmux("one", &["list-clients", "-F", "#{session_name} #{pane_id}"]);
        assert_eq!(shown, format!("{session} {}", pi.id));
        assert_eq!(world.active("one", other), first.id);
        world.tmux("one", &["detach-client", "-t", &client]);
        wait_until("no client", || world.tmux("one", &["list-clients"]).is_empty());
    }
}

#[test]
fn a_terminal_is_attached_if_there_is_no_client() {
    let Some(world) = World::new() else { return };
    world.session("one", "a");
    let pi = world.session("one", "b");
    world.report(&pi, "pi");
    let command = world.pitree.command(&["live", "--go", "pi", "--attach"]);
    let variables: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}='{}'", name.display(), value?.display())))
        .collect();
    let here =
        world.plain(&format!("env {} {} live --go pi --attach", variables.join(" "), command.get_program().display()));
    wait_until("the client", || world.shown("one") == [(here.tty.clone(), pi.id.clone())]);
}

#[test]
fn nested_servers_show_the_pane() {
    let Some(world) = World::new() else { return };
    world.session("one", "a");
    let pi = world.session("one", "b");
    world.report(&pi, "pi");
    let outer = world.session("two", "outer");
    let inner = world.pane("two", &["new-window"], &world.attach("one", "a"));
    let other = world.pane("two", &["split-window", "-t", &inner.id], PI);
    world.tmux("two", &["select-pane", "-t", &other.id]);
    let client = world.client("two", "outer");
    assert_eq!(world.shown("two"), [(client.clone(), outer.id)]);
    wait_until("the inner client", || world.shown("one").len() == 1);
    world.goes(&["live", "--go", "pi"]);
    assert_eq!(world.shown("one"), [(inner.tty, pi.id)]);
    assert_eq!(world.shown("two"), [(client, inner.id)]);
}

#[test]
fn a_pane_that_is_gone_is_an_error_and_another_one_stays() {
    let Some(world) = World::new() else { return };
    let first = world.session("one", "a");
    let pi = world.pane("one", &["new-window", "-t", "=a:"], "trap '' HUP; exec sleep 600");
    world.report(&pi, "pi");
    world.goes(&["live", "--go", "pi"]);
    world.tmux("one", &["kill-pane", "-t", &pi.id]);
    // The number of its terminal is free again.
    world.pane("one", &["new-window", "-t", "=a:"], PI);
    let run = world.pitree.run(&["live", "--go", "pi"]);
    assert!(error(&run).contains(&format!("pi (pid {}) in /: it has no terminal", pi.pid)), "{}", run.err);
    assert_eq!(world.active("one", "a"), first.id);
    Command::new("kill").args(["-KILL", &pi.pid.to_string()]).status().unwrap();
    wait_until("the end", || world.pitree.run(&["next"]).code == 1);
}

#[test]
fn dead_panes_and_odd_lists_of_tmux_are_errors() {
    let Some(world) = World::new() else { return };
    let first = world.session("one", "a");
    let pi = world.plain(PI);
    world.report(&pi, "pi");
    let log = world.pitree.home().join("log");
    for row in
        ["$0 @0 %0 1 TTY", "$0 @0 %0;kill-server 0 TTY", "a @0 %0 0 TTY", "$0 @0 %0 0 TTY;", "$0 @0", "TTY", "\n\u{7}"]
    {
        let script =
            format!("echo \"$*\" >>'{}'\ncat <<'LIST'\n{}\nLIST\n", log.display(), row.replace("TTY", &pi.tty));
        world.pitree.script("bin/tmux", &script);
        let run = world.pitree.run(&["next"]);
        let wanted = format!("(pid {}) in /: its terminal {} is not a pane of tmux", pi.pid, pi.tty);
        assert!(error(&run).contains(&wanted), "{row}: {}", run.err);
        assert!(!fs::read_to_string(&log).unwrap().contains("select"), "{row}");
    }
    world.pitree.script("bin/tmux", "sleep 600\n");
    let run = world.pitree.run(&["next"]);
    assert!(error(&run).contains("is not a pane of tmux"), "{}", run.err);
    assert_eq!(world.active("one", "a"), first.id);
}

#[test]
fn next_goes_to_the_pi_that_has_waited_longest() {
    let Some(world) = World::new() else { return };
    let run = world.pitree.run(&["next"]);
    assert_eq!((run.code, run.err.as_str()), (1, "no pi waits for you\n"));
    let states = [("working", 1), ("idle", 2), ("waiting", 4), ("blocked", 5), ("error", 3)];
    let first = world.session("one", "a");
    let panes: Vec<Pane> = states.iter().map(|_| world.pane("one", &["new-window", "-t", "=a:"], PI)).collect();
    for (at, (state, since)) in states.into_iter().enumerate() {
        if at == 2 {
            assert_eq!(world.pitree.run(&["next"]).code, 1);
            assert_eq!(world.active("one", "a"), first.id);
        }
        world.report_state(&panes[at], &format!("s{at}"), (state, since));
    }
    world.goes(&["next"]);
    assert_eq!(world.active("one", "a"), panes[4].id);
    world.report_state(&panes[4], "s4", ("working", 3));
    world.goes(&["next"]);
    assert_eq!(world.active("one", "a"), panes[2].id);
}

#[test]
fn sessions_without_a_pi_and_unknown_sessions_have_their_own_exit_codes() {
    let pitree = Pitree::new();
    pitree.fixture("branches");
    let run = pitree.run(&["live", "--go", "branches"]);
    assert_eq!((run.code, run.err.as_str()), (1, "no pi reports that it has this session open\n"));
    assert_eq!(pitree.run(&["live", "--go", "no-such-session"]).code, 2);
    assert_eq!(pitree.run(&["live", "--go", "branches", "--json"]).code, 2);
}

#[test]
fn a_server_that_hangs_is_given_up() {
    let Some(world) = World::new() else { return };
    // The pi does not know its server, so that all are asked.
    let pi = world.pane("one", &["new-session", "-s", "a"], "unset TMUX; exec sleep 600");
    let other = world.pane("one", &["new-window", "-t", "=a:"], PI);
    world.tmux("one", &["select-window", "-t", &other.id]);
    let _silent = UnixListener::bind(world.socket("hangs")).unwrap();
    world.report(&pi, "pi");
    let begun = Instant::now();
    world.goes(&["live", "--go", "pi"]);
    assert!(begun.elapsed() < Duration::from_secs(30));
    assert_eq!(world.active("one", "a"), pi.id);
}

/// Opens a plain terminal with a pi, whose environment has a variable. Puts a program on the PATH that records its arguments
/// and that variable, and prints a list.
fn stand_in(world: &World, (program, variable): (&str, &str), list: impl Fn(&Pane) -> String) -> Pane {
    let pi = world.plain(&format!("{variable}=unix:/x\\;y {PI}"));
    world.report(&pi, "pi");
    let log = world.pitree.home().join("log");
    let script = format!(
        "echo \"$* ${variable}\" >>'{}'\ncase \"$*\" in *list*|*ls) cat <<'LIST'\n{}\nLIST\nesac\n",
        log.display(),
        list(&pi)
    );
    world.pitree.script(&format!("bin/{program}"), &script);
    pi
}

#[test]
fn wezterm_activates_the_pane_of_the_terminal() {
    let Some(world) = World::new() else { return };
    stand_in(&world, ("wezterm", "WEZTERM_UNIX_SOCKET"), |pi| {
        format!(r#"[{{"pane_id": 3, "tty_name": null}}, {{"pane_id": 7, "tty_name": "{}"}}]"#, pi.tty)
    });
    world.goes(&["live", "--go", "pi"]);
    let log = fs::read_to_string(world.pitree.home().join("log")).unwrap();
    let start = "cli --no-auto-start";
    let wanted = format!("{start} list --format json unix:/x;y\n{start} activate-pane --pane-id 7 unix:/x;y\n");
    assert_eq!(log, wanted);
}

#[test]
fn kitty_focuses_the_window_of_the_process() {
    let Some(world) = World::new() else { return };
    let windows = |window: String| format!(r#"[{{"tabs": [{{"windows": [{{"id": 1, "pid": 1}}, {window}]}}]}}]"#);
    let start = "@ --to unix:/x;y";
    for window in
        [r#"{"id": 9, "pid": PID}"#, r#"{"id": 9, "pid": 1, "foreground_processes": [{"pid": 1}, {"pid": PID}]}"#]
    {
        let log = world.pitree.home().join("log");
        let _ = fs::remove_file(&log);
        let pi =
            stand_in(&world, ("kitten", "KITTY_LISTEN_ON"), |pi| windows(window.replace("PID", &pi.pid.to_string())));
        world.goes(&["next"]);
        let log = fs::read_to_string(log).unwrap();
        assert_eq!(log, format!("{start} ls \n{start} focus-window --match id:9 \n"));
        world.tmux("hidden", &["kill-pane", "-t", &pi.id]);
    }
}

#[test]
fn odd_lists_of_terminals_are_errors() {
    let Some(world) = World::new() else { return };
    for list in ["", "[]", "{}", "[1, {\"tabs\": 7}]", "[{\"tty_name\": 1, \"pane_id\": -1}]", "\\u0007"] {
        for program in [("wezterm", "WEZTERM_UNIX_SOCKET"), ("kitten", "KITTY_LISTEN_ON")] {
            let pi = stand_in(&world, program, |_| list.into());
            let run = world.pitree.run(&["next"]);
            assert!(error(&run).contains(&pi.tty), "{}", run.err);
            world.tmux("hidden", &["kill-pane", "-t", &pi.id]);
        }
    }
}

/// Returns the titles of the notifications after all pis began to wait, without the last one, which has no known terminal.
fn notified(world: &World, pis: &[(&Pane, &str)]) -> Vec<String> {
    let last = world.plain(PI);
    let pis: Vec<(&Pane, &str)> = pis.iter().copied().chain([(&last, "last")]).collect();
    let report = |state: &str| {
        for (since, (pi, name)) in (1..).zip(&pis) {
            world.report_state(pi, name, (state, since));
        }
    };
    report("working");
    let run = Follower::new(&world.pitree);
    run.shows("last");
    report("waiting");
    let lines = run.notified("last");
    let titles = lines.iter().map(|line| line.split('|').nth(1).unwrap().to_owned());
    titles.filter(|title| title != "last").collect()
}

#[test]
fn the_active_pane_of_a_client_with_the_focus_does_not_notify() {
    let Some(world) = World::new() else { return };
    let [a, b, detached] = ["a", "b", "c"].map(|name| world.session("one", name));
    let behind = world.pane("one", &["new-window", "-d", "-t", "=a:"], PI);
    let beside = world.pane("one", &["split-window", "-d", "-t", "=a:0"], PI);
    let [_, client_b] = ["a", "b"].map(|session| world.client("one", session));
    // A client that is shown in another server, in a pane that is not active.
    world.session("two", "outer");
    let inner = world.session("one", "d");
    world.pane("two", &["new-window", "-d"], &world.attach("one", "d"));
    wait_until("the inner client", || world.shown("one").len() == 3);
    // The terminal reports that it lost the focus.
    let terminals = world.tmux("hidden", &["list-panes", "-a", "-F", "#{pane_tty} #{pane_id}"]);
    let terminal = terminals.lines().find_map(|line| line.strip_prefix(&format!("{client_b} "))).unwrap();
    world.tmux("hidden", &["send-keys", "-t", terminal, "-H", "1b", "5b", "4f"]);
    let flags = || world.tmux("one", &["list-clients", "-t", "=b", "-F", "#{client_flags}"]);
    wait_until("the loss of the focus", || !flags().contains("focused"));
    let pis = [(&a, "active"), (&behind, "behind"), (&beside, "beside"), (&b, "unfocused")];
    let pis = [&pis[..], &[(&detached, "detached"), (&inner, "inner")]].concat();
    assert_eq!(notified(&world, &pis), ["behind", "beside", "unfocused", "detached", "inner"]);
}

#[test]
fn the_focused_pane_of_wezterm_or_kitty_does_not_notify() {
    let Some(world) = World::new() else { return };
    let pi = |variable: &str| world.plain(&format!("{variable}=unix:/x {PI}"));
    let wezterm = ["1", "2"].map(|server| pi(&format!("WEZTERM_UNIX_SOCKET={server} X")));
    let kitty = ["a", "b", "c"].map(|_| pi("KITTY_LISTEN_ON"));
    let pane = |(at, pane): (usize, &Pane)| format!(r#"{{"tty_name": "{}", "pane_id": {at}}}"#, pane.tty);
    let panes: Vec<String> = wezterm.iter().enumerate().map(pane).collect();
    // The second client was used long ago.
    let client =
        |pane: u32, idle: u32| format!(r#"{{"focused_pane_id": {pane}, "idle_time": {{"secs": {idle}, "nanos": 1}}}}"#);
    let clients = [client(0, 5), client(1, 500)];
    let script = |list: &str, clients: &str| {
        format!("case \"$*\" in *list-clients*) echo '{clients}';; *) echo '{list}';; esac\n")
    };
    world.pitree.script("bin/wezterm", &script(&format!("[{}]", panes.join(",")), &format!("[{}]", clients.join(","))));
    let window = |pane: &Pane, [window, tab, own]: [bool; 3]| {
        let own = format!(r#"{{"id": 1, "pid": {}, "is_active": {own}}}"#, pane.pid);
        format!(r#"{{"is_focused": {window}, "tabs": [{{"is_active": {tab}, "windows": [{own}]}}]}}"#)
    };
    let shown = [[true, true, true], [true, false, true], [false, true, true]];
    let windows: Vec<String> = kitty.iter().zip(shown).map(|(pane, shown)| window(pane, shown)).collect();
    world.pitree.script("bin/kitten", &script(&format!("[{}]", windows.join(",")), ""));
    let pis = wezterm.iter().chain(&kitty).zip(["used", "idle", "focused", "other tab", "other window"]);
    assert_eq!(notified(&world, &pis.collect::<Vec<_>>()), ["idle", "other tab", "other window"]);
}

/// Moves six panes with pis, renames and closes windows, and counts how often pitree selects the right pane.
#[test]
fn moved_panes_are_found() {
    let Some(world) = World::new() else { return };
    world.session("one", "a");
    world.session("one", "b");
    let mut pis: Vec<Pane> = Vec::new();
    let open = |pis: &mut Vec<Pane>, round: usize| {
        let pi = world.pane("one", &["new-window", "-t", ["=a:", "=b:"][round % 2]], PI);
        world.report(&pi, &format!("s{}", pi.pid));
        pis.push(pi);
    };
    (0..6).for_each(|round| open(&mut pis, round));
    let client = world.client("one", "a");
    let (tries, mut right, mut moved) = (rounds(10, 30), 0, 0);
    for round in 0..tries {
        let [one, two, three] = [1, 3, 5].map(|step| pis[(round + step) % 6].clone());
        // A command fails where it would move a pane to itself.
        let mut does = |args: &[&str]| {
            moved += usize::from(world.command("one", args).stderr(Stdio::null()).status().unwrap().success());
        };
        match round % 6 {
            0 => does(&["join-pane", "-d", "-s", &one.id, "-t", &two.id]),
            1 => does(&["swap-pane", "-d", "-s", &one.id, "-t", &three.id]),
            2 => does(&["move-window", "-d", "-s", &one.id, "-t", "=b:"]),
            3 => does(&["break-pane", "-d", "-s", &two.id]),
            4 => does(&["rename-window", "-t", &three.id, "a:1.%0 ;"]),
            _ => {
                does(&["kill-pane", "-t", &one.id]);
                pis.retain(|pi| *pi != one);
                open(&mut pis, round);
            }
        }
        let pi = &pis[round * 5 % 6];
        let run = world.pitree.run(&["live", "--go", &format!("s{}", pi.pid)]);
        right += usize::from(run.code == 0 && world.shown("one") == [(client.clone(), pi.id.clone())]);
    }
    writeln!(io::stderr(), "the right pane in {right} of {tries} tries, after {moved} moves").unwrap();
    assert_eq!(right, tries);
    assert!(moved > tries / 2);
}
