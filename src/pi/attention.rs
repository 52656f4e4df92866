//! Pis that want the user: decides which of them to notify about, and with which texts. Pure: the time is an argument.

use std::collections::HashMap;

use crate::base::paths::shorten;
use crate::base::sort;
use crate::base::text::{UNICODE, clean};
use crate::pi::status::{PiState, PiStatus};

/// The time for which a state must last, in milliseconds.
const QUIET: i64 = 3000;

/// The maximum width of a title or a text in columns.
const LONGEST: usize = 100;

/// A notification about a pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PiNotification {
    /// The process id.
    pub pid: u32,
    /// The title of the session: clean, and without a dash at its start, because it becomes an argument of a program.
    pub title: String,
    /// The state and the project: clean, and starts with a word.
    pub text: String,
}

impl PiNotification {
    /// Creates it for a pi in a session with this title.
    pub(crate) fn new(pi: &PiStatus, title: &str, home: &str) -> Self {
        let short = |text: &str| UNICODE.cut(&clean(text), LONGEST).into_owned();
        let title = if title.starts_with('-') { format!(" {title}") } else { title.to_owned() };
        let text = format!("pi is {} in {}", pi.state.in_words(), shorten(&pi.cwd, home));
        Self { pid: pi.pid, title: short(&title), text: short(&text) }
    }
}

/// The reported states of a pi over time.
#[derive(Debug)]
struct PiHistory {
    /// The last state that lasted, or that the user was notified about.
    settled: Option<PiState>,
    last: PiStatus,
    /// The time of the first report of the last state.
    since: i64,
}

impl PiHistory {
    /// Returns `true` if the last state has lasted. If the clock was set back, it counts as lasting.
    fn has_lasted(&self, now: i64) -> bool {
        !(0..QUIET).contains(&now.saturating_sub(self.since))
    }

    /// Returns `true` if the pi wants the user, and they were not notified yet.
    fn is_pending(&self) -> bool {
        self.last.state.wants_user() && self.settled != Some(self.last.state)
    }
}

/// The reported states of all pis over time. All times are in milliseconds since 1970.
#[derive(Debug, Default)]
pub struct PiHistories {
    /// The histories by process; `None` before the first report, whose states are already known to the user.
    by_pid: Option<HashMap<u32, PiHistory>>,
}

impl PiHistories {
    /// Takes the reported states.
    pub(crate) fn update(&mut self, reported: &[PiStatus], now: i64) {
        let is_first = self.by_pid.is_none();
        let mut before = self.by_pid.take().unwrap_or_default();
        let history = |pi: &PiStatus| {
            let (settled, since) = match before.remove(&pi.pid) {
                Some(known) if known.last.state == pi.state => (known.settled, known.since),
                Some(known) => (if known.has_lasted(now) { Some(known.last.state) } else { known.settled }, now),
                None => (is_first.then_some(pi.state), now),
            };
            (pi.pid, PiHistory { settled, last: pi.clone(), since })
        };
        self.by_pid = Some(reported.iter().map(history).collect());
    }

    /// Returns the time at which the next notification is due.
    pub(crate) fn due(&self) -> Option<i64> {
        let pending = self.by_pid.iter().flat_map(HashMap::values).filter(|known| known.is_pending());
        pending.map(|known| known.since.saturating_add(QUIET)).min()
    }

    /// Returns the pis to notify about, the most urgent first, once each.
    pub(crate) fn take_due(&mut self, now: i64) -> Vec<PiStatus> {
        let known = self.by_pid.iter_mut().flat_map(HashMap::values_mut);
        let settle = |known: &mut PiHistory| {
            known.settled = Some(known.last.state);
            known.last.clone()
        };
        let due = known.filter(|known| known.is_pending() && known.has_lasted(now));
        let mut due: Vec<PiStatus> = due.map(settle).collect();
        sort::by_key(&mut due, PiStatus::urgency);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PiState::{Blocked, Error, Idle, Waiting, Working};

    fn pi(pid: u32, state: PiState) -> PiStatus {
        PiStatus {
            pid,
            session: "/s.jsonl".into(),
            id: "s".into(),
            name: None,
            cwd: "/home/me/shop".into(),
            state,
            since: 0,
            entry: None,
            model: None,
            cost: 0.0,
        }
    }

    /// Reports the states of one pi at times in milliseconds. Returns the notifications with their times; the clock stops
    /// at each time that is due.
    fn notified(reports: &[(i64, Option<PiState>)]) -> Vec<(i64, PiState)> {
        let (mut histories, mut notified) = (PiHistories::default(), Vec::new());
        let end = [(i64::MAX, None)];
        for (at, (time, state)) in reports.iter().enumerate() {
            histories.update(&state.map(|state| pi(7, state)).into_iter().collect::<Vec<_>>(), *time);
            let next = reports.get(at + 1).unwrap_or(&end[0]).0;
            while let Some(due) = histories.due().filter(|&due| due < next) {
                assert_eq!(histories.take_due(due - 1), []);
                notified.extend(histories.take_due(due).iter().map(|pi| (due, pi.state)));
            }
        }
        notified
    }

    #[test]
    fn each_wait_that_lasts_notifies_once() {
        let work = (0, Some(Working));
        for state in [Waiting, Blocked, Error] {
            assert_eq!(notified(&[work, (1000, Some(state)), (2000, Some(state))]), [(4000, state)]);
        }
        assert_eq!(notified(&[work, (1000, Some(Idle))]), []);
        assert_eq!(notified(&[work, (1000, Some(Waiting)), (3999, Some(Working))]), []);
        assert_eq!(notified(&[work, (1000, Some(Waiting)), (3999, None)]), []);
        let again = [work, (1000, Some(Waiting)), (9000, Some(Working)), (12_000, Some(Waiting))];
        assert_eq!(notified(&again), [(4000, Waiting), (15_000, Waiting)]);
    }

    #[test]
    fn states_at_the_start_do_not_notify_but_those_of_a_new_pi_do() {
        assert_eq!(notified(&[(0, Some(Waiting)), (9000, Some(Waiting))]), []);
        assert_eq!(notified(&[(0, Some(Waiting)), (5000, Some(Working)), (9000, Some(Waiting))]), [(12_000, Waiting)]);
        assert_eq!(notified(&[(0, Some(Waiting)), (5000, Some(Blocked))]), [(8000, Blocked)]);
        assert_eq!(notified(&[(0, None), (1000, Some(Waiting))]), [(4000, Waiting)]);
    }

    #[test]
    fn flips_within_the_quiet_time_are_one_wait() {
        let (waits, works) = (Some(Waiting), Some(Working));
        assert_eq!(notified(&[(0, works), (4000, waits), (5000, works), (6000, waits), (7000, works)]), []);
        assert_eq!(notified(&[(0, works), (4000, waits), (5000, works), (6000, waits)]), [(9000, Waiting)]);
        let notified_before = [(0, works), (4000, waits), (8000, works), (10_999, waits)];
        assert_eq!(notified(&notified_before), [(7000, Waiting)]);
        // A question after a short answer is another state.
        assert_eq!(
            notified(&[(0, works), (4000, waits), (8000, works), (9000, Some(Blocked))]),
            [(7000, Waiting), (12_000, Blocked)]
        );
    }

    #[test]
    fn the_most_urgent_pi_comes_first_and_the_clock_can_be_set() {
        let mut histories = PiHistories::default();
        histories.update(&[pi(1, Working), pi(2, Working)], 0);
        assert_eq!(histories.due(), None);
        histories.update(&[pi(1, Waiting), pi(2, Blocked), pi(3, Idle)], 1000);
        assert_eq!(histories.take_due(4000).iter().map(|pi| pi.pid).collect::<Vec<_>>(), [2, 1]);
        assert_eq!((histories.due(), histories.take_due(9000)), (None, Vec::new()));
        histories.update(&[pi(1, Error)], 10_000);
        assert_eq!(histories.take_due(-1_000_000).len(), 1);
        histories.update(&[pi(1, Blocked)], i64::MAX);
        assert_eq!(histories.due(), Some(i64::MAX));
        assert_eq!(histories.take_due(i64::MIN).len(), 1);
    }

    #[test]
    fn texts_are_clean_short_and_no_options() {
        let of = |title: &str| PiNotification::new(&pi(7, Blocked), title, "/home/me");
        let text = "pi is blocked on a question in ~/shop";
        assert_eq!(of("Fix it"), PiNotification { pid: 7, title: "Fix it".into(), text: text.into() });
        assert_eq!(of("--help").title, " --help");
        let odd = of("a\u{1b}]0;b\u{7}\u{9c}\nc\u{202e}").title;
        assert!(!odd.contains(|c: char| c.is_control() || c == '\u{202e}'), "{odd:?}");
        assert_eq!(of(&"x".repeat(9000)).title.chars().count(), LONGEST);
        let far = PiStatus { cwd: format!("/\u{1b}{}", "d/".repeat(9000)), ..pi(7, Blocked) };
        let far = PiNotification::new(&far, "", "").text;
        assert!(far.chars().count() <= LONGEST && !far.contains('\u{1b}'), "{far:?}");
    }
}
