//! The settings of `[stats]`: budget, week, pauses and prices; and the embedded price table.

use std::collections::HashMap;

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::config::tables::{ConfigProblems, one_of, whole, wrong_type};
use crate::session::stats::StatsRules;
use crate::session::stats::grouping::Calendar;
use crate::session::stats::prices::{ModelPrices, Prices};

/// The days with which a week can begin.
const WEEK_STARTS: [(&str, Weekday); 3] =
    [("monday", Weekday::Monday), ("sunday", Weekday::Sunday), ("saturday", Weekday::Saturday)];

/// The settings of statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct StatsConfig {
    /// The budget of a month in US dollars.
    pub month_budget: Option<f64>,
    /// The first day of a week.
    pub week_start: Weekday,
    /// The minutes without an entry from which a time counts as a pause.
    pub pause_minutes: u32,
    /// Prices that replace those of the price table.
    pub prices: Prices,
}

impl Eq for StatsConfig {}

impl Default for StatsConfig {
    fn default() -> Self {
        Self { month_budget: None, week_start: Weekday::Monday, pause_minutes: 5, prices: Prices::default() }
    }
}

impl StatsConfig {
    /// Returns the rules of counting for a time zone, with these prices.
    pub(crate) fn rules(&self, zone: TimeZone, prices: Prices) -> StatsRules {
        let calendar = Calendar { zone, week_start: self.week_start };
        StatsRules { calendar, prices, pause: i64::from(self.pause_minutes) * 60_000 }
    }
}

/// Returns the embedded price table of pi's models, and when pi published it, in milliseconds since 1970.
pub(crate) fn price_table() -> (Prices, i64) {
    let mut prices = Prices::default();
    let (table, _) = DeTable::parse_recoverable(include_str!("../../assets/prices.toml"));
    let (dates, tables): (DeTable<'_>, DeTable<'_>) =
        table.into_inner().into_iter().partition(|(_, value)| value.get_ref().is_integer());
    add_prices(&mut ConfigProblems::new(""), &tables, &mut prices);
    let date = dates.get("published").and_then(|date| date.get_ref().as_integer());
    (prices, date.and_then(|date| date.as_str().parse().ok()).unwrap_or_default())
}

/// Reads the table `[stats]`.
pub(super) fn stats(problems: &mut ConfigProblems, value: &Spanned<DeValue<'_>>) -> StatsConfig {
    let mut stats = StatsConfig::default();
    for (key, value) in problems.table("stats", value, "a table of settings of statistics") {
        match key.get_ref().as_ref() {
            "budget" => {
                for (key, value) in problems.table("budget", value, "a table, such as { month = 200 }") {
                    match key.get_ref().as_ref() {
                        "month" => stats.month_budget = problems.parsed("month", value, dollars),
                        _ => problems.unknown(key, ["month"].into_iter()),
                    }
                }
            }
            "week-start" => {
                let start = problems.parsed("week-start", value, |value| {
                    let name = value.as_str().ok_or_else(|| wrong_type("a name in quotes", value))?;
                    let found = WEEK_STARTS.iter().find(|(known, _)| *known == name);
                    found.map(|(_, day)| *day).ok_or_else(|| {
                        format!("unknown value {name:?}; use {}", one_of(&WEEK_STARTS.map(|(name, _)| name)))
                    })
                });
                stats.week_start = start.unwrap_or(stats.week_start);
            }
            "pause-minutes" => {
                let minutes =
                    problems.parsed("pause-minutes", value, |value| whole(value, "a number of minutes, from 0"));
                stats.pause_minutes = minutes.unwrap_or(stats.pause_minutes);
            }
            "prices" => {
                let wanted = "a table of providers";
                let table =
                    problems.parsed("prices", value, |value| value.as_table().ok_or_else(|| wrong_type(wanted, value)));
                table.into_iter().for_each(|table| add_prices(problems, table, &mut stats.prices));
            }
            _ => problems.unknown(key, ["budget", "week-start", "pause-minutes", "prices"].into_iter()),
        }
    }
    stats
}

/// Reads a table of providers, each with a table of models.
fn add_prices(problems: &mut ConfigProblems, table: &DeTable<'_>, prices: &mut Prices) {
    for (provider, models) in table {
        let mut known: HashMap<String, ModelPrices> = HashMap::new();
        for (model, value) in problems.table(provider.get_ref(), models, "a table of models") {
            known.extend(
                problems
                    .parsed(model.get_ref(), value, model_prices)
                    .map(|prices| (model.get_ref().to_string(), prices)),
            );
        }
        prices.extend(&HashMap::from([(provider.get_ref().to_string(), known)]));
    }
}

/// Reads the prices of a model: four rates, and for each tier a list of the tokens above which it applies and its rates.
fn model_prices(value: &DeValue<'_>) -> Result<ModelPrices, String> {
    let wrong = || "must be four prices in dollars per million tokens, such as [3, 15, 0.3, 3.75]".to_string();
    let (rates, tiers) = value.as_array().and_then(|items| items.split_at_checked(4)).ok_or_else(wrong)?;
    let numbers = |items: &[Spanned<DeValue<'_>>]| items.iter().map(|item| dollars(item.get_ref())).collect();
    let rates: Result<Vec<f64>, String> = numbers(rates);
    let tier = |tier: &Spanned<DeValue<'_>>| {
        let items = tier.get_ref().as_array().ok_or_else(wrong)?;
        let numbers: Result<Vec<f64>, String> = numbers(items);
        let [above, rates @ ..]: [f64; 5] = numbers?.try_into().map_err(|_| wrong())?;
        Ok((above, rates))
    };
    let tiers: Result<_, String> = tiers.iter().map(tier).collect();
    Ok(ModelPrices { rates: rates?.try_into().map_err(|_| wrong())?, tiers: tiers? })
}

fn dollars(value: &DeValue<'_>) -> Result<f64, String> {
    let integer = value.as_integer().and_then(|number| number.as_str().parse().ok());
    let number = integer.or_else(|| value.as_float().and_then(|number| number.as_str().parse().ok()));
    number
        .filter(|dollars| (0.0..1e9).contains(dollars))
        .ok_or_else(|| wrong_type("a number of dollars, from 0", value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn the_price_table_is_complete() {
        let (prices, published) = price_table();
        let opus = prices.of("anthropic", "claude-opus-4-5").unwrap();
        assert_eq!((opus.rates, opus.tiers.len()), ([5.0, 25.0, 0.5, 6.25], 0));
        let tiered = prices.of("google", "gemini-2.5-pro").unwrap();
        assert_eq!((tiered.rates[0], tiered.tiers[0].0, tiered.tiers[0].1[0]), (1.25, 200_000.0, 2.5));
        assert!(prices.of("openai", "gpt-6.2-sol").is_some(), "the default model of three providers");
        assert!(published > 1_700_000_000_000, "{published}");
        let count: usize = prices.providers.values().map(HashMap::len).sum();
        let lines = include_str!("../../assets/prices.toml").lines().filter(|line| line.contains(" = [")).count();
        assert_eq!(count, lines);
    }

    /// The costs as pi 1.6.0 calculates them (`scripts/pi/prices.mjs`).
    #[test]
    fn listed_costs_are_those_of_pi() {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Cost {
            provider: String,
            model: String,
            tokens: [f64; 4],
            cache_write1h: f64,
            cost: f64,
        }
        let costs: Vec<Cost> = serde_json::from_str(include_str!("../../fixtures/golden/costs.json")).unwrap();
        assert!(costs.len() > 12);
        let (prices, _) = price_table();
        for Cost { provider, model, tokens, cache_write1h, cost } in costs {
            let input = tokens[0] + tokens[2] + tokens[3];
            let listed = prices.of(&provider, &model).unwrap().cost(&tokens, cache_write1h, input);
            assert!((listed - cost).abs() < 1e-9 * cost, "{provider}/{model} {tokens:?}: {listed}, not {cost}");
        }
    }

    #[test]
    fn settings_are_read_and_problems_named() {
        let text = "[stats]\nbudget.month = 200\nweek-start = \"sunday\"\npause-minutes = 10\n\
                    [stats.prices.anthropic]\n\"claude-opus-4-5\" = [1, 2.5, 0, 0, [1000, 2, 5, 0, 0.5]]\nnew = [1, 1, 1, 1]\n";
        let stats = Config::parse(text, "c").unwrap().stats;
        assert_eq!((stats.month_budget, stats.week_start, stats.pause_minutes), (Some(200.0), Weekday::Sunday, 10));
        let prices = stats.prices;
        let opus = prices.of("anthropic", "claude-opus-4-5").unwrap();
        assert_eq!((opus.rates, &opus.tiers[..]), ([1.0, 2.5, 0.0, 0.0], &[(1000.0, [2.0, 5.0, 0.0, 0.5])][..]));
        assert!(prices.of("anthropic", "new").is_some() && prices.of("openai", "new").is_none());
        for (text, problem) in [
            ("stats = 3", "c:1: \"stats\": must be a table of settings of statistics, but is of type integer"),
            ("stats.budget.month = -1", "c:1: \"month\": must be a number of dollars, from 0, but is of type integer"),
            ("stats.budget.mont = 1", "c:1: unknown setting \"mont\"; did you mean \"month\"?"),
            (
                "stats.week-start = \"friday\"",
                "c:1: \"week-start\": unknown value \"friday\"; use \"monday\", \"sunday\" or \"saturday\"",
            ),
            (
                "stats.prices.a.b = [1, 2, 3, 4, [5]]",
                "c:1: \"b\": must be four prices in dollars per million tokens, such as [3, 15, 0.3, 3.75]",
            ),
            (
                "stats.prices.a.b = [1, 2]",
                "c:1: \"b\": must be four prices in dollars per million tokens, such as [3, 15, 0.3, 3.75]",
            ),
        ] {
            assert_eq!(Config::parse(text, "c").unwrap_err(), problem);
        }
    }
}
