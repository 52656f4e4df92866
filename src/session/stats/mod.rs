//! Statistics: sums of what entries used and did, grouped by time, model, tool and others.

pub mod columns;
pub mod entry_stats;
pub mod grouping;
pub mod intervals;
pub mod paths;
pub mod period;
pub mod prices;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::session::stats::entry_stats::{EntryRole, EntryStats, TokenCount};
use crate::session::stats::grouping::Calendar;
use crate::session::stats::prices::{ModelPrices, Prices};

/// Rules of counting entries.
#[derive(Clone, Debug)]
pub struct StatsRules {
    /// The calendar.
    pub calendar: Calendar,
    /// The price table.
    pub prices: Prices,
    /// Longer times between entries are pauses, in milliseconds.
    pub pause: i64,
}

/// Sums over entries. Times are in milliseconds, costs in US dollars.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatsSum {
    /// The numbers of the sessions with such entries; a number can occur several times.
    pub sessions: Vec<u32>,
    /// The number of prompts.
    pub prompts: usize,
    /// The number of entries.
    pub entries: usize,
    /// Tokens sent, received, read from the cache, and written to the cache.
    pub tokens: [f64; 4],
    /// The part of the tokens written to the cache for one hour.
    pub long_cache_write: f64,
    /// The recorded cost.
    pub cost: f64,
    /// The cost according to the price table.
    pub listed_cost: f64,
    /// The number of tokens without a listed price.
    pub unpriced_tokens: f64,
    /// The recorded cost of entries that are on the path to the last entry of no file of their family.
    pub abandoned_cost: f64,
    /// The time between entries, without pauses.
    pub working_time: i64,
    /// The number of lines added by `edit` and `write`.
    pub lines_added: u64,
    /// The number of lines removed by `edit`.
    pub lines_removed: u64,
    /// The number of tool calls.
    pub tool_calls: u64,
    /// The number of failed tool calls.
    pub tool_failures: u64,
    /// The number of tool calls that the user stopped before they ran.
    pub tools_not_run: u64,
    /// The time from each prompt to the last entry of its turn.
    pub prompt_times: Vec<i64>,
    /// The number of compactions.
    pub compactions: usize,
    /// The number of images.
    pub images: u64,
}

impl AddAssign<&Self> for StatsSum {
    fn add_assign(&mut self, other: &Self) {
        self.sessions.extend(&other.sessions);
        self.prompts += other.prompts;
        self.entries += other.entries;
        self.tokens.iter_mut().zip(other.tokens).for_each(|(sum, tokens)| *sum += tokens);
        self.long_cache_write += other.long_cache_write;
        self.cost += other.cost;
        self.listed_cost += other.listed_cost;
        self.unpriced_tokens += other.unpriced_tokens;
        self.abandoned_cost += other.abandoned_cost;
        self.working_time = self.working_time.saturating_add(other.working_time);
        self.lines_added += other.lines_added;
        self.lines_removed += other.lines_removed;
        self.tool_calls += other.tool_calls;
        self.tool_failures += other.tool_failures;
        self.tools_not_run += other.tools_not_run;
        self.prompt_times.extend(&other.prompt_times);
        self.compactions += other.compactions;
        self.images += other.images;
    }
}

impl StatsSum {
    /// Adds an entry, without its times. `prices` are those of its model.
    pub fn add(&mut self, entry: &EntryStats, is_abandoned: bool, prices: Option<&ModelPrices>) {
        self.entries += 1;
        self.prompts += usize::from(entry.role == EntryRole::Prompt);
        self.compactions += usize::from(entry.role == EntryRole::Compaction);
        self.lines_added += u64::from(entry.added);
        self.lines_removed += u64::from(entry.removed);
        self.tool_calls += u64::from(entry.calls);
        self.tool_failures += u64::from(entry.failures);
        self.tools_not_run += u64::from(entry.not_run);
        self.images += u64::from(entry.images);
        if let Some(usage) = &entry.usage {
            let tokens = usage.tokens.map(TokenCount::number);
            self.tokens.iter_mut().zip(tokens).for_each(|(sum, tokens)| *sum += tokens);
            let long_cache_write = usage.long_cache_write.number();
            self.long_cache_write += long_cache_write;
            self.cost += usage.cost;
            self.abandoned_cost += if is_abandoned { usage.cost } else { 0.0 };
            match prices {
                Some(prices) => self.listed_cost += prices.cost(&tokens, long_cache_write, usage.input()),
                None => self.unpriced_tokens += tokens.iter().sum::<f64>(),
            }
        }
    }

    /// Returns the number of sessions.
    pub fn session_count(&self) -> usize {
        let mut sessions = self.sessions.clone();
        sessions.sort_unstable();
        sessions.dedup();
        sessions.len()
    }

    /// Returns the number of all tokens.
    pub fn all_tokens(&self) -> f64 {
        self.tokens.iter().sum()
    }

    /// Returns the share of the tokens sent that were read from the cache, from 0 to 1. `None` if none were sent.
    pub fn cache_hit_rate(&self) -> Option<f64> {
        let [input, _, read, written] = self.tokens;
        let sent = input + read + written;
        (sent > 0.0).then(|| read / sent).filter(|rate| rate.is_finite())
    }

    /// Returns the time that a share of the prompts took at most, in milliseconds: 0.5 for the median. Of an even number,
    /// the median is the smaller one of the two in the middle.
    pub fn prompt_time(&self, share: f64) -> Option<i64> {
        let mut times = self.prompt_times.clone();
        times.sort_unstable();
        let rank = (times.len() as f64 * share).ceil() as usize;
        times.get(rank.saturating_sub(1)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_measured_times() {
        let of = |times: &[i64]| StatsSum { prompt_times: times.into(), ..StatsSum::default() };
        assert_eq!(of(&[]).prompt_time(0.5), None);
        assert_eq!([0.5, 0.9].map(|share| of(&[7]).prompt_time(share)), [Some(7); 2]);
        let ten = of(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
        assert_eq!([0.5, 0.9, 1.0].map(|share| ten.prompt_time(share)), [Some(5), Some(9), Some(10)]);
    }

    #[test]
    fn odd_numbers_have_no_rate() {
        let of = |tokens: [f64; 4]| StatsSum { tokens, ..StatsSum::default() }.cache_hit_rate();
        assert_eq!(of([25.0, 9.0, 50.0, 25.0]), Some(0.5));
        assert_eq!([of([0.0; 4]), of([-1.0, 0.0, 0.0, 0.0]), of([f64::NAN, 0.0, 1.0, 0.0])], [None; 3]);
    }
}
