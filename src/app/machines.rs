//! The other machines in the browser: the state of their mirrors, and the running pis there.

use std::collections::BTreeMap;

use crate::base::text::{Span, Tone};
use crate::base::time::age;
use crate::machines::state::MachineState;

/// The maximum number of machines that the header names.
const MAX_NAMED: usize = 4;

/// The age in milliseconds up to which seconds are shown.
const SECONDS: i64 = 60_000;

/// A machine in the browser.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShownMachine {
    /// The state.
    pub state: MachineState,
    /// `true` while its mirror is updated.
    pub is_syncing: bool,
}

/// The machines in the browser.
#[derive(Debug, Default)]
pub struct Machines {
    /// The machines by name.
    pub known: BTreeMap<String, ShownMachine>,
}

impl Machines {
    /// Describes the machines for the header; `room` is the number of columns.
    pub(crate) fn spans(&self, now: i64, room: usize) -> Vec<Span> {
        let one = |(name, machine): (&String, &ShownMachine)| {
            let (tone, word) = machine.in_words(now);
            Span::new(tone, format!("@{name} {word} "))
        };
        let all: Vec<Span> = self.known.iter().map(one).collect();
        let is_short = |spans: &[Span]| spans.len() <= MAX_NAMED && crate::base::text::spans_width(spans) <= room;
        if is_short(&all) {
            return all;
        }
        // Only those with a problem, or a count.
        let troubled: Vec<Span> = self.known.iter().filter(|(_, machine)| machine.is_troubled()).map(one).collect();
        let count = Span::dim(format!("@{} ", self.known.len()));
        let spans: Vec<Span> = std::iter::once(count.clone()).chain(troubled).collect();
        if is_short(&spans) {
            return spans;
        }
        let troubled = spans.len() - 1;
        let problem = Span::new(Tone::Warning, format!("{troubled} offline or stale "));
        if troubled > 0 { vec![count, problem] } else { vec![count] }
    }

    /// Describes each machine in a line, with the reason of a failure.
    pub(crate) fn in_words(&self, now: i64) -> String {
        let line = |(name, machine): (&String, &ShownMachine)| {
            let error = machine.state.error.as_ref().map_or(String::new(), |error| format!(": {error}"));
            format!("@{name}  {}{error}\n", machine.in_words(now).1)
        };
        self.known.iter().map(line).collect()
    }
}

impl ShownMachine {
    fn is_troubled(&self) -> bool {
        self.state.error.is_some() || self.state.is_stale()
    }

    fn in_words(&self, now: i64) -> (Tone, String) {
        let state = &self.state;
        match state.synced {
            _ if self.is_syncing && state.synced.is_none() => (Tone::Active, "syncing".into()),
            _ if state.is_offline => (Tone::Warning, "offline".into()),
            _ if state.error.is_some() => (Tone::Error, "failed".into()),
            _ if state.is_stale() => (Tone::Warning, "stale".into()),
            None => (Tone::Dim, "waiting".into()),
            Some(then) if (then..then.saturating_add(SECONDS)).contains(&now) => {
                (Tone::Dim, format!("{} s ago", (now - then) / 1000))
            }
            Some(then) => (Tone::Dim, format!("{} ago", age(now, then)).replace("now ago", "now")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_few_machines_and_counts_many() {
        let shown = |state| ShownMachine { state, is_syncing: false };
        let synced = |then| shown(MachineState { synced: Some(then), ..MachineState::default() });
        let offline = shown(MachineState { error: Some("x".into()), is_offline: true, ..MachineState::default() });
        let mut machines = Machines::default();
        machines.known.insert("box".into(), synced(88_000));
        machines.known.insert("gpu".into(), offline);
        let text = |machines: &Machines, room| {
            machines.spans(100_000, room).iter().map(|span| &*span.text).collect::<String>()
        };
        assert_eq!(text(&machines, 80), "@box 12 s ago @gpu offline ");
        assert_eq!(text(&machines, 20), "@2 @gpu offline ");
        assert_eq!(text(&machines, 10), "@2 1 offline or stale ");
        (0..20).for_each(|at| drop(machines.known.insert(format!("m{at}"), synced(0))));
        assert_eq!(text(&machines, 80), "@22 @gpu offline ");
        assert_eq!(text(&Machines::default(), 80), "");
    }
}
