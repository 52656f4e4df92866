//! Jobs for other machines: the synchronization while the browser runs, and changes that the pitree there makes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::app::machines::ShownMachine;
use crate::app::message::Reply;
use crate::changes::{ChangeResult, Changes, Request};
use crate::config::Config;
use crate::disk::locate;
use crate::machines::changes;
use crate::machines::registry::Machine;
use crate::machines::state::{self, MachineState};
use crate::machines::sync::{self, GoneFiles, MAX_PARALLEL, SyncContext};
use crate::runtime::jobs::{JobContext, NO_JOURNAL, now};

/// The intervals in milliseconds, for a few machines and for more.
const INTERVAL: i64 = 60_000;
const LONG_INTERVAL: i64 = 300_000;

/// The number of machines with the shorter interval.
const FEW: usize = 10;

/// The maximum time between two checks whether the synchronization is still wanted.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

impl JobContext {
    /// Synchronizes all machines, once or periodically. Reports their states.
    pub(super) fn sync_machines(
        &self,
        is_once: bool,
        is_wanted: impl Fn() -> bool,
        reply: &mut dyn FnMut(Reply) -> bool,
    ) {
        let Some(job) = self.sync_job() else { return };
        let machines = &self.settings.machines;
        let default = if machines.len() > FEW { LONG_INTERVAL } else { INTERVAL };
        let seconds = self.settings.config.sync.seconds;
        let interval = match seconds {
            _ if is_once => i64::MAX,
            Some(seconds) => i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000),
            None => default,
        };
        let mut states: Vec<MachineState> = machines.iter().map(|machine| job.state(machine)).collect();
        let mut is_received = machines.iter().zip(&states).all(|(machine, state)| reply(shown(machine, state, false)));
        let (sender, results) = mpsc::channel();
        let mut running: HashSet<usize> = HashSet::new();
        let _stop = StopOnDrop(job.stop.clone());
        // The first attempt does not wait.
        states.iter_mut().for_each(|state| state.tried = None);
        let is_done = |states: &[MachineState]| is_once && states.iter().all(|state| state.tried.is_some());
        while is_received && is_wanted() && interval > 0 && !(is_done(&states) && running.is_empty()) {
            let now = now();
            let is_idle = |at: &usize| !running.contains(at);
            let mut waiting: Vec<(i64, usize)> =
                (0..machines.len()).filter(is_idle).map(|at| (states[at].next(interval, now), at)).collect();
            waiting.sort_unstable();
            let is_due = |(due, _): &&(i64, usize)| *due <= now;
            let started: Vec<usize> =
                waiting.iter().take(MAX_PARALLEL - running.len()).take_while(is_due).map(|(_, at)| *at).collect();
            for at in started {
                running.insert(at);
                is_received &= reply(shown(&machines[at], &states[at], true));
                let (sender, job, machine) = (sender.clone(), job.clone(), machines[at].clone());
                thread::spawn(move || {
                    let _ = sender.send((at, job.run(&machine))); // the browser can have ended
                });
            }
            let next = waiting.iter().map(|(due, _)| due.saturating_sub(now)).find(|left| *left > 0);
            let next = next.filter(|_| running.len() < MAX_PARALLEL);
            let wait =
                next.map_or(CHECK_INTERVAL, |left| Duration::from_millis(left.unsigned_abs()).min(CHECK_INTERVAL));
            match results.recv_timeout(wait) {
                Ok((at, state)) => {
                    running.remove(&at);
                    states[at] = state;
                    is_received &= reply(shown(&machines[at], &states[at], false));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn sync_job(&self) -> Option<SyncJob> {
        Some(SyncJob {
            config: Arc::new(self.settings.config.clone()),
            changes: self.changes.clone()?,
            dirs: (locate::data_dir()?, self.state_dir.clone()?),
            stop: Arc::new(AtomicBool::new(false)),
        })
    }

    /// Makes a change on another machine, if the request is for its sessions. Undo and redo apply to the last change.
    /// Returns `None` for this machine.
    pub(super) fn change_elsewhere(&self, request: &Request) -> Option<Result<ChangeResult>> {
        let step = self.change_order.lock().step(request);
        if let Some((machine, commands)) = step {
            return Some(self.on_machine(&machine, |machine, context| changes::make_step(machine, &commands, context)));
        }
        match changes::machine_of(request) {
            Err(error) => Some(Err(error)),
            Ok(machine) => machine
                .map(|machine| self.on_machine(&machine, |machine, context| changes::make(machine, request, context))),
        }
    }

    fn on_machine(
        &self,
        name: &str,
        make: impl FnOnce(&Machine, &SyncContext<'_>) -> Result<ChangeResult>,
    ) -> Result<ChangeResult> {
        let none = || format!("the machine {name} is unknown; its mirror is kept");
        let machine = self.settings.machines.iter().find(|machine| machine.name == name).with_context(none)?;
        let changes = self.changes.as_ref().context(NO_JOURNAL)?;
        let (data, state) = (locate::data_dir().context(NO_JOURNAL)?, self.state_dir.as_ref().context(NO_JOURNAL)?);
        let context = SyncContext {
            config: &self.settings.config.sync,
            data: &data,
            state,
            changes,
            can_ask: false,
            now,
            is_wanted: &|| true,
        };
        make(machine, &context)
    }
}

fn shown(machine: &Machine, state: &MachineState, is_syncing: bool) -> Reply {
    Reply::Machine(machine.name.clone(), Box::new(ShownMachine { state: state.clone(), is_syncing }))
}

/// The synchronization of machines.
#[derive(Clone)]
struct SyncJob {
    config: Arc<Config>,
    changes: Changes,
    /// The data and state directories.
    dirs: (PathBuf, PathBuf),
    stop: Arc<AtomicBool>,
}

impl SyncJob {
    /// Returns the state of a machine as of its last synchronization.
    fn state(&self, machine: &Machine) -> MachineState {
        state::read(&self.dirs.1, &machine.name).unwrap_or_default()
    }

    /// Synchronizes a machine, and returns its state.
    fn run(&self, machine: &Machine) -> MachineState {
        let (data, state) = &self.dirs;
        let context = SyncContext {
            config: &self.config.sync,
            data,
            state,
            changes: &self.changes,
            can_ask: false,
            now,
            is_wanted: &|| !self.stop.load(Ordering::Relaxed),
        };
        let tried = Some(now());
        match sync::sync(machine, &context, &GoneFiles::Ask) {
            Ok(Some(state)) => state,
            // Another process is synchronizing the machine.
            Ok(None) => MachineState { tried, ..self.state(machine) },
            Err(error) => MachineState { error: Some(error.to_string()), tried, ..self.state(machine) },
        }
    }
}

/// Stops synchronizations when the job ends.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
