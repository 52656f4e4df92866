//! The columns of statistics, by their names in JSON.

use crate::base::named::named;
use crate::base::numbers::{dollars, duration, thousands, tokens};
use crate::session::stats::StatsSum;

named! {
    /// A column of statistics.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum StatsColumn {
        /// The key.
        Key = "key",
        /// The number of sessions.
        Sessions = "sessions",
        /// The number of prompts.
        Prompts = "prompts",
        /// The number of entries.
        Entries = "entries",
        /// All tokens.
        Tokens = "tokens",
        /// Tokens sent.
        Input = "input",
        /// Tokens received.
        Output = "output",
        /// Tokens read from the cache.
        CacheRead = "cacheRead",
        /// Tokens written to the cache.
        CacheWrite = "cacheWrite",
        /// The share of the tokens sent that were read from the cache.
        CacheHitRate = "cacheHitRate",
        /// The recorded cost.
        Cost = "cost",
        /// The cost by the price table.
        ListedCost = "listedCost",
        /// Tokens without a listed price.
        UnpricedTokens = "unpricedTokens",
        /// The share of the cost.
        Share = "share",
        /// The cost of abandoned entries.
        AbandonedCost = "abandonedCost",
        /// The working time.
        WorkingTime = "workingTime",
        /// Lines added.
        LinesAdded = "linesAdded",
        /// Lines removed.
        LinesRemoved = "linesRemoved",
        /// Tool calls.
        ToolCalls = "toolCalls",
        /// Failed tool calls.
        ToolFailures = "toolFailures",
        /// Tool calls that the user stopped before they ran.
        ToolsNotRun = "toolsNotRun",
        /// The median of the time that a prompt took.
        PromptTimeMedian = "promptTimeMedian",
        /// The time that nine of ten prompts took at most.
        PromptTime90 = "promptTime90",
        /// Compactions.
        Compactions = "compactions",
        /// Images.
        Images = "images",
    }
}

impl StatsColumn {
    /// Returns the value of a sum; `all` is the cost of all rows. `None` for the key, and for an unknown value.
    pub fn value(self, sum: &StatsSum, all: f64) -> Option<f64> {
        let [input, output, read, written] = sum.tokens;
        let time = |share: f64| sum.prompt_time(share).map(|time| time as f64);
        Some(match self {
            Self::Key => return None,
            Self::Sessions => sum.session_count() as f64,
            Self::Prompts => sum.prompts as f64,
            Self::Entries => sum.entries as f64,
            Self::Tokens => sum.all_tokens(),
            Self::Input => input,
            Self::Output => output,
            Self::CacheRead => read,
            Self::CacheWrite => written,
            Self::CacheHitRate => return sum.cache_hit_rate(),
            Self::Cost => sum.cost,
            Self::ListedCost => sum.listed_cost,
            Self::UnpricedTokens => sum.unpriced_tokens,
            Self::Share => return Some(sum.cost / all).filter(|share| share.is_finite()),
            Self::AbandonedCost => sum.abandoned_cost,
            Self::WorkingTime => sum.working_time as f64,
            Self::LinesAdded => sum.lines_added as f64,
            Self::LinesRemoved => sum.lines_removed as f64,
            Self::ToolCalls => sum.tool_calls as f64,
            Self::ToolFailures => sum.tool_failures as f64,
            Self::ToolsNotRun => sum.tools_not_run as f64,
            Self::PromptTimeMedian => return time(0.5),
            Self::PromptTime90 => return time(0.9),
            Self::Compactions => sum.compactions as f64,
            Self::Images => sum.images as f64,
        })
    }

    /// Returns the value for people; empty if it is unknown. `all` is the cost of all rows.
    pub fn words(self, sum: &StatsSum, all: f64) -> String {
        let Some(value) = self.value(sum, all) else { return String::new() };
        match self {
            Self::ListedCost if sum.unpriced_tokens > 0.0 && value == 0.0 => "unknown".into(),
            Self::ListedCost if sum.unpriced_tokens > 0.0 => format!("over {}", dollars(value)),
            Self::Cost | Self::ListedCost | Self::AbandonedCost => dollars(value),
            Self::Tokens | Self::Input | Self::Output | Self::CacheRead | Self::CacheWrite | Self::UnpricedTokens => {
                tokens(value)
            }
            Self::CacheHitRate | Self::Share => format!("{:.0} %", 100.0 * value),
            Self::WorkingTime | Self::PromptTimeMedian | Self::PromptTime90 => duration(value),
            _ => thousands(value as usize),
        }
    }

    /// Returns the heading of the column for people.
    pub fn heading(self) -> &'static str {
        match self {
            Self::CacheHitRate => "cached",
            Self::AbandonedCost => "abandoned",
            Self::WorkingTime => "time",
            Self::ListedCost => "listed cost",
            Self::ToolCalls => "tool calls",
            other => other.name(),
        }
    }
}
