//! Sums of a session by interval of time and model. Most statistics need no more, and they are much smaller than the
//! statistics of all entries.

use serde::{Deserialize, Serialize};

use crate::base::sort;
use crate::session::stats::entry_stats::{SessionStats, TokenUse, UsedModel};
use crate::session::stats::grouping::{Grouping, GroupingScope, SAME_KEYS};
use crate::session::stats::{StatsSum, paths};

/// The pause in milliseconds for which sums are kept: see `pause-minutes`.
pub const PAUSE: i64 = 5 * 60_000;

/// The sum of an interval and a model. Its listed cost is missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IntervalSum {
    /// A number of intervals of [`SAME_KEYS`]; `None` for entries without a time.
    pub interval: Option<i64>,
    /// The model: an index into [`SessionSums::models`].
    pub model: Option<u32>,
    /// The largest input of a request, in tokens.
    pub largest_input: f64,
    /// The sum.
    pub sum: StatsSum,
}

/// The sums of a session that shares no entries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionSums {
    /// The models.
    pub models: Vec<UsedModel>,
    /// The sums in order of the first entry.
    pub sums: Vec<IntervalSum>,
}

impl SessionSums {
    /// Sums the entries of a session. Entries that are not on the active path are abandoned.
    pub fn new(stats: &SessionStats) -> Self {
        let (entries, parents) = (stats.entries(), stats.parents());
        let mut sums: Vec<IntervalSum> = Vec::new();
        if entries.len() != parents.len() {
            return Self::default(); // damaged
        }
        let prompts = paths::prompts(&entries, &parents);
        let models = paths::models(&entries, &prompts);
        let prompt_times = paths::prompt_times(&entries, &prompts);
        let working_times = paths::working_times(&entries, PAUSE);
        let mut places = std::collections::HashMap::new();
        for (at, entry) in (0..).zip(&entries) {
            if stats.repeated.binary_search(&at).is_ok() {
                continue;
            }
            let interval = entry.time.map(|time| time.div_euclid(SAME_KEYS));
            let model = models[at as usize];
            let place = *places.entry((interval, model)).or_insert_with(|| {
                sums.push(IntervalSum { interval, model, ..IntervalSum::default() });
                sums.len() - 1
            });
            let IntervalSum { largest_input, sum, .. } = &mut sums[place];
            *largest_input = entry.usage.as_ref().map_or(0.0, TokenUse::input).max(*largest_input);
            sum.add(entry, !stats.active.has(at), None);
            sum.working_time = sum.working_time.saturating_add(working_times[at as usize]);
            sum.prompt_times.extend(prompt_times[at as usize]);
        }
        Self { models: stats.models.clone(), sums }
    }

    /// Returns the sum of each model (empty for none), the most expensive first, and of all.
    pub fn by_model(&self) -> (Vec<(&str, StatsSum)>, StatsSum) {
        let mut total = StatsSum::default();
        let mut models: Vec<(&str, StatsSum)> = Vec::new();
        for IntervalSum { model, sum, .. } in &self.sums {
            total += sum;
            let name = model.and_then(|model| self.models.get(model as usize)).map_or("", |model| &*model.answered);
            match models.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known += sum,
                None => models.push((name, sum.clone())),
            }
        }
        sort::by(&mut models, |(_, one), (_, other)| other.cost.total_cmp(&one.cost));
        (models, total)
    }

    /// Returns `true` if the sums are precise enough for groupings and times in milliseconds.
    pub fn suffice(groupings: &[Grouping], times: [Option<i64>; 2], pause: i64) -> bool {
        let is_summed = |grouping: &Grouping| grouping.scope() != GroupingScope::Entry;
        pause == PAUSE && groupings.iter().all(is_summed) && times.iter().flatten().all(|time| time % SAME_KEYS == 0)
    }
}
