//! Notifications about pis that want the user, if the configuration asks for them.

use std::mem;

use crate::app::message::{Effect, Work};
use crate::app::model::Model;
use crate::pi::attention::PiNotification;
use crate::pi::status::PiStatus;

/// Takes the states of the running pis.
pub(super) fn on_pis(model: &mut Model, reported: &[PiStatus]) {
    if model.settings.config.notify.is_some() {
        model.attention.histories.update(reported, model.now);
    }
}

/// Notifies about pis whose state has lasted.
pub(super) fn notify_if_due(model: &mut Model) {
    if model.attention.due().is_none() {
        return;
    }
    let due = model.attention.histories.take_due(model.now);
    let notification = |pi: &PiStatus| {
        let title = model.short(&model.title_of(&pi.session, pi.name.as_deref()));
        PiNotification::new(pi, &title, &model.settings.home)
    };
    let notifications: Vec<PiNotification> = due.iter().map(notification).collect();
    if !notifications.is_empty() {
        let work = Work::Notify(notifications);
        model.attention.sending = Some(model.ask_or(work, |model, _, why| on_sent(model, Err(why.into()))));
    }
}

/// Takes the escape sequences for the terminal, or the reason of a failure, which is shown once.
pub(super) fn on_sent(model: &mut Model, result: Result<String, String>) {
    model.attention.sending = None;
    match result {
        Ok(sequences) if sequences.is_empty() => {}
        Ok(sequences) => model.effects.push(Effect::Notify(sequences)),
        Err(why) if !mem::replace(&mut model.attention.has_failed, true) => {
            model.warn(format!("cannot notify: {why}"));
            model.hold_notice();
        }
        Err(_) => {}
    }
}
