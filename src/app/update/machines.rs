//! The synchronization with other machines.

use crate::app::machines::ShownMachine;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::pi::status::PiStatus;

/// Starts the synchronization.
pub(super) fn follow(model: &mut Model) {
    if has_machines(model) {
        model.machines.following = Some(model.ask(Work::FollowMachines));
    }
}

/// Synchronizes all machines now.
pub(super) fn sync(model: &mut Model) {
    if has_machines(model) {
        model.machines.syncing = Some(model.ask(Work::SyncMachines));
    }
}

fn has_machines(model: &Model) -> bool {
    model.setting.located.mirrors.is_some() && !model.setting.machines.is_empty()
}

/// Takes the state of a machine. Explains once that sessions are gone there.
pub(super) fn take(model: &mut Model, name: String, shown: ShownMachine) {
    let before = model.machines.known.get(&name).map_or(0, |known| known.state.gone);
    let gone = shown.state.gone;
    if gone > 0 && before == 0 && !shown.is_syncing {
        let sessions = count(usize::try_from(gone).unwrap_or(usize::MAX), "session is", "sessions are");
        model.warn(format!("{sessions} gone on {name} and kept here; to decide, run: pitree machine sync {name}"));
    }
    model.machines.known.insert(name, shown);
    let Some(mirrors) = model.setting.located.mirrors.clone() else { return };
    let pis: Vec<PiStatus> =
        model.machines.known.iter().flat_map(|(name, shown)| shown.state.pis_in(name, &mirrors)).collect();
    if model.catalog.set_remote_pis(pis, model.now) {
        model.preview.is_stale = true;
        model.rebuild_list();
    }
}
