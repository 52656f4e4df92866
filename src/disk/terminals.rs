//! Terminals of other processes: finds the pane of tmux, WezTerm or kitty in which a process runs, and selects it or checks
//! whether it has the focus. The programs of these terminals do it; pitree signals no process and writes to no terminal.
//!
//! Commands and formats follow the documentation of tmux 3.3a, of WezTerm 20230326-111934-3666303c, the first version with
//! `activate-pane`, and of kitty 0.44.0.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::base::text::clean;
use crate::disk::{files, program};
use crate::system::files::is_own;
use crate::system::os;

/// The time limit of one program.
const LIMIT: Duration = Duration::from_secs(2);

/// The time limit of all programs together.
const TOTAL_LIMIT: Duration = Duration::from_secs(8);

/// The maximum number of steps: nested terminals, and repeated attempts because a pane moved after it was listed.
const MAX_STEPS: usize = 12;

/// The format of `list-panes`.
const PANES: &str = "#{session_id} #{window_id} #{pane_id} #{pane_dead} #{pane_tty}";

/// The format of `list-clients`.
const CLIENTS: &str =
    "#{client_activity} #{session_id} #{window_id} #{client_control_mode} #{client_pid} #{client_tty}";

/// The formats of `list-panes` and `list-clients` for the focus: all panes, and the active pane of each client.
const FOCUS: [&str; 2] = ["pane #{pane_tty}", "client #{pane_tty} #{client_flags} #{client_pid} #{client_tty}"];

/// The time since the last input up to which WezTerm counts as used, in seconds: it does not report whether its window has
/// the focus.
const RECENT_INPUT: u64 = 60;

/// A process and the path of its terminal.
#[derive(Clone, Debug, PartialEq)]
struct Process {
    pid: u32,
    tty: String,
}

/// A pane that was found.
enum Pane {
    /// A terminal shows it.
    Shown,
    /// This client of tmux shows it.
    ShownBy(Process),
    /// No client of its tmux server exists; the words of the command that attaches one.
    Detached(Vec<String>),
}

/// A pane that was found, or the program that cannot select it.
type Found = Result<Pane, &'static str>;

/// Selects the terminal of a process that runs in a directory, and the terminals around it if tmux is nested. Only checks
/// that it can be reached unless `selects`. If no client of tmux is attached, returns the words of the command that attaches
/// one in this terminal.
///
/// # Errors
/// The process has no terminal, or it cannot be reached. The text names the terminal, the process and the directory.
pub(crate) fn go(pid: u32, dir: &str, selects: bool) -> Result<Option<Vec<String>>, String> {
    let failed = |why: &str| Err(format!("cannot go to pi (pid {pid}) in {}: {why}", clean(dir)));
    let Some(tty) = terminal_of(pid) else { return failed("it has no terminal") };
    let search = Search { selects, end: Instant::now() + TOTAL_LIMIT };
    let mut result =
        failed(&format!("its terminal {tty} is not a pane of tmux, WezTerm or kitty that pitree can reach"));
    let mut shown = Process { pid, tty };
    for _ in 0..MAX_STEPS {
        match search.find(&shown) {
            Some(Ok(Pane::ShownBy(client))) if selects => (result, shown) = (Ok(None), client),
            Some(Ok(Pane::Detached(attach))) => return Ok(Some(attach)),
            Some(Ok(_)) => return Ok(None),
            Some(Err(program)) => result = failed(&format!("{program} cannot select its terminal {}", shown.tty)),
            None => break,
        }
    }
    result
}

/// The focus of the terminal of a process.
enum Focus {
    Known(bool),
    /// The clients of tmux that show it, and that have the focus as far as tmux knows.
    Clients(Vec<Process>),
}

/// Returns `true` if the terminal of a process is known to have the focus. If tmux is nested, or runs in WezTerm or kitty, the
/// terminals around it must have it too.
pub(crate) fn is_in_focus(pid: u32) -> bool {
    let Some(tty) = terminal_of(pid) else { return false };
    let search = Search { selects: false, end: Instant::now() + TOTAL_LIMIT };
    let mut processes = vec![(Process { pid, tty }, false)];
    for _ in 0..MAX_STEPS {
        let Some((process, is_client)) = processes.pop() else { break };
        match search.first(&process, Search::focus_in_tmux, Search::focus_in_wezterm, Search::focus_in_kitty) {
            Some(Focus::Known(true)) => return true,
            Some(Focus::Known(false)) => {}
            Some(Focus::Clients(clients)) => processes.extend(clients.into_iter().map(|client| (client, true))),
            None if is_client => return true,
            None => {}
        }
    }
    false
}

/// Asks tmux about the terminal of this pane: `true` if tmux passes escape sequences on to it, and its names. `None` outside
/// tmux.
pub(crate) fn around_tmux() -> Option<(bool, String)> {
    program::variable("TMUX").filter(|server| !server.is_empty())?;
    let format = "#{allow-passthrough} #{client_termtype} #{client_termname}";
    let names = program::output_of(&["tmux", "display-message", "-p", format], None, LIMIT).unwrap_or_default();
    // Before 3.3, tmux has no such option and passes them on.
    Some((!names.starts_with("0 ") && !names.starts_with("off "), names))
}

/// Returns `true` if this process runs in a popup of tmux, which covers the panes. It has no pane of its own.
pub(crate) fn is_in_popup() -> bool {
    program::variable("TMUX").is_some_and(|server| !server.is_empty()) && program::variable("TMUX_PANE").is_none()
}

/// Returns the path of the controlling terminal of a process.
fn terminal_of(pid: u32) -> Option<String> {
    let of_ps = || {
        let name = program::output_of(&["ps", "-o", "tty=", "-p", &pid.to_string()], None, LIMIT)?;
        // Without a terminal, it is a question mark or a dash.
        let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphabetic());
        Some(name.trim()).filter(is_name).map(|name| format!("/dev/{name}"))
    };
    os::terminal_of(pid).or_else(of_ps).filter(|tty| is_tty(tty))
}

/// Returns `true` for the path of a terminal, which can be part of a tmux command.
fn is_tty(path: &str) -> bool {
    path.starts_with("/dev/") && path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
}

/// Returns `true` for an ID of tmux, such as `%12`.
fn is_id(kind: char, id: &str) -> bool {
    id.strip_prefix(kind).is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the lines of a list with `N` fields. The last field can contain spaces.
fn rows<const N: usize>(list: &str) -> impl Iterator<Item = [&str; N]> {
    list.lines().filter_map(|line| line.splitn(N, ' ').collect::<Vec<_>>().try_into().ok())
}

/// Returns the value of a variable in the environment of a process, and in that of this process.
fn variables(pid: u32, name: &str) -> Vec<String> {
    let mut values: Vec<String> = [os::variable_of(pid, name), program::variable(name)].into_iter().flatten().collect();
    values.retain(|value| !value.is_empty());
    values.dedup();
    values
}

/// Splits the value of `$TMUX` into the socket of the server, with resolved links, and the number of the session.
fn server(variable: &str) -> Option<(PathBuf, &str)> {
    let mut parts = variable.rsplitn(3, ',');
    let session = parts.next()?;
    Some((files::resolved(Path::new(parts.nth(1)?)), session))
}

/// Returns the sockets of the tmux servers of this user, the most likely one first: the server in which the process runs, that
/// of this process, and those in the directory of tmux.
fn sockets_of_tmux(pid: u32) -> Vec<PathBuf> {
    let mut sockets: Vec<PathBuf> = variables(pid, "TMUX").iter().filter_map(|value| Some(server(value)?.0)).collect();
    let temporary = program::variable("TMUX_TMPDIR").filter(|dir| !dir.is_empty()).unwrap_or_else(|| "/tmp".into());
    let is_of_tmux = |dir: &PathBuf| {
        dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"tmux-"))
            && dir.symlink_metadata().is_ok_and(|found| found.is_dir() && is_own(&found))
    };
    let folders = files::children(Path::new(&temporary)).filter(is_of_tmux);
    for socket in folders.flat_map(|folder| files::children(&folder)).map(|socket| files::resolved(&socket)) {
        if !sockets.contains(&socket) {
            sockets.push(socket);
        }
    }
    sockets
}

/// A search for terminals.
struct Search {
    selects: bool,
    end: Instant,
}

impl Search {
    /// Runs a program and returns its output.
    fn run(&self, words: &[&str], variable: Option<(&str, &str)>) -> Option<String> {
        let left = self.end.saturating_duration_since(Instant::now());
        program::output_of(words, variable, LIMIT.min(left))
    }

    /// Finds the pane of a process, and selects it.
    fn find(&self, process: &Process) -> Option<Found> {
        self.first(process, Self::in_tmux, Self::in_wezterm, Self::in_kitty)
    }

    /// Returns the first result of the tmux servers, WezTerm and kitty.
    fn first<T>(
        &self,
        process: &Process,
        tmux: fn(&Self, &Path, &Process) -> Option<T>,
        wezterm: fn(&Self, &str, &Process) -> Option<T>,
        kitty: fn(&Self, &str, &Process) -> Option<T>,
    ) -> Option<T> {
        let named = |name: &str| variables(process.pid, name).into_iter();
        let in_tmux = sockets_of_tmux(process.pid).iter().find_map(|socket| tmux(self, socket, process));
        in_tmux
            .or_else(|| named("WEZTERM_UNIX_SOCKET").find_map(|socket| wezterm(self, &socket, process)))
            .or_else(|| named("KITTY_LISTEN_ON").find_map(|address| kitty(self, &address, process)))
    }

    /// Finds the pane of a process in a tmux server, and selects it. Every command has a target, because this process may run
    /// in another server or in none.
    fn in_tmux(&self, socket: &Path, process: &Process) -> Option<Found> {
        let server = ["tmux", "-S", socket.to_str()?];
        let tmux = |words: &[&str]| self.run(&[&server, words].concat(), None);
        let panes = tmux(&["list-panes", "-a", "-F", PANES])?;
        let is_wanted = |[session, window, pane, dead, tty]: &[&str; 5]| {
            let are_ids = is_id('$', session) && is_id('@', window) && is_id('%', pane);
            are_ids && *dead == "0" && *tty == process.tty
        };
        // A window can belong to several sessions.
        let found: Vec<[&str; 5]> = rows(&panes).filter(is_wanted).collect();
        let first = found.first()?;
        let clients = tmux(&["list-clients", "-F", CLIENTS]).unwrap_or_default();
        let client = client(&clients, &panes, socket);
        let of_client = client.and_then(|client| found.iter().find(|[session, ..]| *session == client[1]));
        let [session, window, pane, ..] = *of_client.unwrap_or(first);
        if self.selects {
            let target = format!("{session}:{window}.{pane}");
            let mut words = vec!["select-window", "-t", &target, ";", "select-pane", "-t", &target, ";"];
            words.extend(client.iter().flat_map(|client| ["switch-client", "-c", client[5], "-t", session, ";"]));
            words.extend(["display-message", "-p", "-t", &target, "#{pane_dead} #{pane_tty}"]);
            if tmux(&words).is_none_or(|shown| shown.trim_end() != format!("0 {}", process.tty)) {
                return Some(Err("tmux"));
            }
        }
        let process = |[.., pid, tty]: [&str; 6]| Some(Process { pid: pid.parse().ok()?, tty: tty.into() });
        let attach = || {
            Pane::Detached(
                [&server[..], &["attach-session", "-t", session]].concat().iter().map(|word| (*word).into()).collect(),
            )
        };
        Some(Ok(client.and_then(process).map_or_else(attach, Pane::ShownBy)))
    }

    /// Finds the clients of a tmux server that show a process and have the focus. Without focus events, tmux counts each
    /// client as having it.
    fn focus_in_tmux(&self, socket: &Path, process: &Process) -> Option<Focus> {
        let lists = ["list-panes", "-a", "-F", FOCUS[0], ";", "list-clients", "-F", FOCUS[1]];
        let list = self.run(&[&["tmux", "-S", socket.to_str()?], &lists[..]].concat(), None)?;
        rows::<2>(&list).find(|[kind, tty]| *kind == "pane" && *tty == process.tty)?;
        let clients = rows::<5>(&list).filter(|[kind, shown, flags, ..]| {
            let has = |flag: &str| flags.split(',').any(|one| one == flag);
            *kind == "client" && *shown == process.tty && has("focused") && !has("control-mode")
        });
        let process = |[.., pid, tty]: [&str; 5]| Some(Process { pid: pid.parse().ok()?, tty: tty.into() });
        Some(Focus::Clients(clients.filter_map(process).collect()))
    }

    /// Runs a command of WezTerm and parses its list.
    fn list_of_wezterm(&self, socket: &str, list: &str) -> Option<Vec<Value>> {
        let words = ["wezterm", "cli", "--no-auto-start", list, "--format", "json"];
        serde_json::from_str(&self.run(&words, Some(("WEZTERM_UNIX_SOCKET", socket)))?).ok()
    }

    /// Finds the pane of a process in WezTerm.
    fn pane_of_wezterm(&self, socket: &str, process: &Process) -> Option<u64> {
        let panes = self.list_of_wezterm(socket, "list")?;
        panes.iter().find(|pane| pane["tty_name"] == *process.tty)?["pane_id"].as_u64()
    }

    /// Finds the pane of a process in WezTerm, and selects it.
    fn in_wezterm(&self, socket: &str, process: &Process) -> Option<Found> {
        let pane = self.pane_of_wezterm(socket, process)?.to_string();
        let words = ["wezterm", "cli", "--no-auto-start", "activate-pane", "--pane-id", &pane];
        let is_done = !self.selects || self.run(&words, Some(("WEZTERM_UNIX_SOCKET", socket))).is_some();
        Some(if is_done { Ok(Pane::Shown) } else { Err("WezTerm") })
    }

    /// Checks the focus of the pane of a process in WezTerm.
    fn focus_in_wezterm(&self, socket: &str, process: &Process) -> Option<Focus> {
        let pane = self.pane_of_wezterm(socket, process)?;
        let clients = self.list_of_wezterm(socket, "list-clients").unwrap_or_default();
        let is_recent = |client: &Value| client["idle_time"]["secs"].as_u64().is_some_and(|secs| secs < RECENT_INPUT);
        Some(Focus::Known(clients.iter().any(|client| client["focused_pane_id"] == pane && is_recent(client))))
    }

    /// Runs a command of kitty.
    fn kitten(&self, address: &str, words: &[&str]) -> Option<String> {
        self.run(&[&["kitten", "@", "--to", address], words].concat(), None)
    }

    /// Finds the window of a process in kitty, and whether it has the focus. kitty lists no terminals, so that the processes
    /// of each window are compared.
    fn window_of_kitty(&self, address: &str, process: &Process) -> Option<(u64, bool)> {
        let list: Vec<Value> = serde_json::from_str(&self.kitten(address, &["ls"])?).ok()?;
        let children = |value: &Value, key: &str| value[key].as_array().cloned().unwrap_or_default();
        let is = |value: &Value, key: &str| value[key] == true;
        // An operating system window has tabs with windows.
        let tabs = list.iter().flat_map(|window| {
            children(window, "tabs").into_iter().map(|tab| (is(window, "is_focused") && is(&tab, "is_active"), tab))
        });
        let mut windows = tabs.flat_map(|(is_shown, tab)| {
            children(&tab, "windows").into_iter().map(move |window| (is_shown && is(&window, "is_active"), window))
        });
        let is_in = |window: &Value| {
            let processes = children(window, "foreground_processes");
            let mut pids = processes.iter().chain([window]).filter_map(|one| one["pid"].as_u64()?.try_into().ok());
            pids.any(|pid: u32| pid == process.pid || os::terminal_of(pid).is_some_and(|tty| tty == process.tty))
        };
        let (has_focus, window) = windows.find(|(_, window)| is_in(window))?;
        Some((window["id"].as_u64()?, has_focus))
    }

    /// Finds the window of a process in kitty, and selects it.
    fn in_kitty(&self, address: &str, process: &Process) -> Option<Found> {
        let (id, _) = self.window_of_kitty(address, process)?;
        let focus = ["focus-window", "--match", &format!("id:{id}")];
        let is_done = !self.selects || self.kitten(address, &focus).is_some();
        Some(if is_done { Ok(Pane::Shown) } else { Err("kitty") })
    }

    /// Checks the focus of the window of a process in kitty.
    fn focus_in_kitty(&self, address: &str, process: &Process) -> Option<Focus> {
        self.window_of_kitty(address, process).map(|(_, has_focus)| Focus::Known(has_focus))
    }
}

/// Returns the client of a tmux server to switch: the one that shows this process, if it runs in the server, or else the most
/// recently active one.
fn client<'a>(clients: &'a str, panes: &str, socket: &Path) -> Option<[&'a str; 6]> {
    let variable = program::variable("TMUX").unwrap_or_default();
    let number = server(&variable).filter(|(server, _)| server == socket).map(|(_, session)| format!("${session}"));
    let pane = program::variable("TMUX_PANE").filter(|_| number.is_some());
    let closeness = |session: &str, window: &str| match &pane {
        Some(here) => {
            let windows = rows::<5>(panes).filter(|row| row[0] == session && row[2] == here).map(|row| row[1]);
            windows.map(|shown| if shown == window { 2 } else { 1 }).max().unwrap_or_default()
        }
        // In a popup, there is no pane.
        None => i32::from(number.as_deref() == Some(session)),
    };
    // Clients in control mode have no terminal.
    let clients = rows::<6>(clients)
        .filter(|[_, session, .., is_control, _, tty]| *is_control == "0" && is_id('$', session) && is_tty(tty));
    clients.max_by_key(|[activity, session, window, ..]| (closeness(session, window), activity.parse::<u64>().ok()))
}
