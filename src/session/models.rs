//! The models of a session, and how much each of them answered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::session::json::Str;

/// How much a model answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelUse {
    /// Its messages.
    pub answers: usize,
    /// US dollars.
    pub cost: f64,
}

/// Counts the answers of models.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Models(BTreeMap<Box<str>, ModelUse>);

impl Models {
    /// Takes note of an answer and of what it cost.
    pub(crate) fn note(&mut self, model: Str<'_>, cost: f64) {
        let name = model.text();
        let uses = match self.0.get_mut(&*name) {
            Some(uses) => uses,
            None => self.0.entry((&*name).into()).or_default(),
        };
        uses.answers += 1;
        uses.cost += cost;
    }

    /// All of them, the busiest first.
    pub(crate) fn busiest_first(self) -> Vec<(Box<str>, ModelUse)> {
        let mut models: Vec<_> = self.0.into_iter().collect();
        models.sort_by(|(a, a_use), (b, b_use)| b_use.answers.cmp(&a_use.answers).then_with(|| a.cmp(b)));
        models
    }
}
