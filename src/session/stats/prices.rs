//! The price table: US dollars per million tokens of each provider and model.

use std::collections::HashMap;

use serde::Deserialize;

/// The prices of a model in US dollars per million tokens: sent, received, read from the cache, written to the cache.
pub type ModelPrices = [f64; 4];

/// The prices of all models.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Prices {
    /// The models of each provider.
    pub providers: HashMap<String, HashMap<String, ModelPrices>>,
}

impl Prices {
    /// Returns the prices of a model.
    pub fn of(&self, provider: &str, model: &str) -> Option<&ModelPrices> {
        self.providers.get(provider)?.get(model)
    }

    /// Replaces and adds prices.
    pub fn extend(&mut self, others: &HashMap<String, HashMap<String, ModelPrices>>) {
        for (provider, models) in others {
            let known = self.providers.entry(provider.clone()).or_default();
            known.extend(models.iter().map(|(model, prices)| (model.clone(), *prices)));
        }
    }
}

/// Returns the listed cost of tokens in US dollars.
pub fn listed_cost(tokens: &[f64; 4], prices: &ModelPrices) -> f64 {
    tokens.iter().zip(prices).map(|(tokens, price)| tokens * price / 1e6).sum()
}
