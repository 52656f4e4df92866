//! The models of a session and their number of answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::session::json::Str;

/// The use of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelUse {
    /// The number of answers.
    pub answers: usize,
    /// US dollars.
    pub cost: f64,
}

/// Counts the answers of each model.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Models(BTreeMap<Box<str>, ModelUse>);

impl Models {
    /// Adds an answer and its cost.
    pub(crate) fn note(&mut self, model: Str<'_>, cost: f64) {
        let name = model.text();
        let uses = match self.0.get_mut(&*name) {
            Some(uses) => uses,
            None => self.0.entry((&*name).into()).or_default(),
        };
        uses.answers += 1;
        uses.cost += cost;
    }

    /// Returns the models by number of answers, highest first.
    pub(crate) fn busiest_first(self) -> Vec<(Box<str>, ModelUse)> {
        let mut models: Vec<_> = self.0.into_iter().collect();
        models.sort_by(|(a, a_use), (b, b_use)| b_use.answers.cmp(&a_use.answers).then_with(|| a.cmp(b)));
        models
    }
}
