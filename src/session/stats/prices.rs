//! The price table: US dollars per million tokens of each provider and model.

use std::collections::HashMap;

use serde_json::Value;

use crate::session::stats::entry_stats::UsedModel;

/// Prices in US dollars per million tokens: sent, received, read from the cache, written to the cache.
pub type Rates = [f64; 4];

/// The names of the rates in pi's model tables.
const RATES: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];

/// The prices of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelPrices {
    /// The rates of a request.
    pub rates: Rates,
    /// The rates of a request with more input than a number of tokens, cached input included.
    pub tiers: Vec<(f64, Rates)>,
}

impl ModelPrices {
    /// Returns the cost of tokens in US dollars, as pi does (`calculateCost`, 1.6.0). `long_cache_write` is the part of the
    /// tokens written to the cache for one hour, for which Anthropic charges twice the input. The `input` of a request
    /// selects the tier.
    pub fn cost(&self, tokens: &[f64; 4], long_cache_write: f64, input: f64) -> f64 {
        let (mut rates, mut highest) = (&self.rates, -1.0);
        for (above, tier) in &self.tiers {
            if input > *above && *above > highest {
                (rates, highest) = (tier, *above);
            }
        }
        let sum: f64 = tokens.iter().zip(rates).map(|(tokens, price)| tokens * price).sum();
        (sum + long_cache_write * (2.0 * rates[0] - rates[3])) / 1e6
    }

    /// Returns `true` if no tier applies to requests with so much input: their sum costs as much as each of them.
    pub fn has_one_rate(&self, largest_input: f64) -> bool {
        self.tiers.iter().all(|(above, _)| largest_input <= *above)
    }

    /// Sets the prices that a model table of pi names.
    fn set(&mut self, cost: &Value) {
        let number = |value: &Value, into: &mut f64| *into = value.as_f64().unwrap_or(*into);
        let rates = |value: &Value, rates: &mut Rates| {
            RATES.iter().zip(rates).for_each(|(name, rate)| number(&value[*name], rate));
        };
        rates(cost, &mut self.rates);
        if let Some(tiers) = cost["tiers"].as_array() {
            self.tiers = vec![Default::default(); tiers.len()];
            for (tier, (above, prices)) in tiers.iter().zip(&mut self.tiers) {
                number(&tier["inputTokensAbove"], above);
                rates(tier, prices);
            }
        }
    }
}

/// The prices of all models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    /// The models of each provider.
    pub providers: HashMap<String, HashMap<String, ModelPrices>>,
}

impl Prices {
    /// Returns the prices of a model.
    pub fn of(&self, provider: &str, model: &str) -> Option<&ModelPrices> {
        self.providers.get(provider)?.get(model)
    }

    /// Returns the prices of the model that answered, or else of the requested one: providers report names with dates.
    pub fn of_used(&self, UsedModel { provider, answered, requested }: &UsedModel) -> Option<&ModelPrices> {
        self.of(provider, answered).or_else(|| self.of(provider, requested))
    }

    /// Replaces and adds prices.
    pub fn extend(&mut self, others: &HashMap<String, HashMap<String, ModelPrices>>) {
        for (provider, models) in others {
            let known = self.providers.entry(provider.clone()).or_default();
            known.extend(models.iter().map(|(model, prices)| (model.clone(), prices.clone())));
        }
    }

    /// Replaces and adds the prices of a provider in pi's `models-store.json` or `models.json` (1.6.0). Models without a
    /// cost have no price; `modelOverrides` change parts of known prices.
    pub fn add_provider(&mut self, provider: &str, table: &Value) {
        let known = self.providers.entry(provider.into()).or_default();
        for model in table["models"].as_array().into_iter().flatten().filter(|model| model["cost"].is_object()) {
            let mut prices = ModelPrices::default();
            prices.set(&model["cost"]);
            known.insert(model["id"].as_str().unwrap_or_default().into(), prices);
        }
        for (model, change) in table["modelOverrides"].as_object().into_iter().flatten() {
            if change["cost"].is_object() {
                known.entry(model.clone()).or_default().set(&change["cost"]);
            }
        }
    }
}
