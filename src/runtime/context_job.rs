//! The model context of an entry, planned edits of it, and titles of sessions.

use std::sync::Arc;

use anyhow::Result;

use crate::app::external::{TitleRequest, TitlesReply};
use crate::app::layers::context::{ContextTarget, EditRequest, PlannedEdits};
use crate::app::message::Reply;
use crate::catalog::context_edits::plan_edits;
use crate::catalog::context_suggestions::suggestions;
use crate::catalog::naming;
use crate::changes::ExpectedSession;
use crate::config::stats::price_table;
use crate::disk::prompt;
use crate::pi::prices;
use crate::pi::version::obeys_context_edits;
use crate::runtime::jobs::JobContext;
use crate::runtime::secret_rules::ChosenRules;
use crate::session::prompt::listing::Listing;
use crate::session::prompt::plan::Plan;
use crate::session::tree::context::context;

impl JobContext {
    /// Lists a model context.
    pub(super) fn model_context(&self, target: &ContextTarget, is_wanted: &dyn Fn() -> bool) -> Result<Option<Reply>> {
        let ContextTarget { path, tree, at, .. } = target;
        let plan = Plan::new(tree, *at);
        let mut listing = Listing::default();
        let sum = prompt::each(path, (tree, &plan), |part, messages| {
            listing.add(tree, part, &messages);
            Ok(is_wanted())
        })?;
        let Some(sum) = sum else { return Ok(None) };
        listing.end(&plan, &sum);
        Ok(Some(Reply::Context(Arc::new(listing))))
    }

    /// Plans edits of a model context.
    pub(super) fn plan_edits(&self, request: EditRequest) -> Result<PlannedEdits> {
        let EditRequest { path, tree, at, mut wanted, suggests } = request;
        let config = &self.settings.config;
        if suggests {
            let rules = ChosenRules::new(&config.redact)?;
            wanted.extend(suggestions(&path, &tree, at, &rules)?);
        }
        let plan = plan_edits(&path, &tree, at, &wanted)?;
        let prices = self.prices.get_or_init(|| prices::all(price_table(), &config.stats.prices));
        let model = context(&tree, Some(at)).model;
        let rates = model.and_then(|(provider, model)| Some(prices.of(&provider, &model)?.rates));
        let dollars = rates.map(|rates| plan.dollars(&rates));
        let problem = obeys_context_edits(&config.pi, self.state_dir.as_deref()).err();
        Ok(PlannedEdits { wanted, plan, dollars, problem })
    }

    /// Asks a program for titles of sessions; before pi is asked for the first time, the cost.
    pub(super) fn titles(
        &self,
        request: TitleRequest,
        is_wanted: &(dyn Fn() -> bool + Sync),
        reply: &mut dyn FnMut(Reply) -> bool,
    ) -> Result<TitlesReply> {
        let config = &self.settings.config;
        let all = request.sessions.len();
        if !request.is_confirmed && config.name_command.is_empty() {
            let prices = self.prices.get_or_init(|| prices::all(price_table(), &config.stats.prices));
            return Ok(TitlesReply::Cost(request, naming::cost_of(all, prices)));
        }
        let command = naming::command(&config.name_command, &config.pi);
        let rules = ChosenRules::new(&config.redact)?;
        let mut report = |done| {
            reply(Reply::Titles(TitlesReply::Progress(done, all)));
        };
        let titles = naming::titles(&request.sessions, &command, &rules, is_wanted, &mut report);
        let sessions = request.sessions.iter().map(|session| ExpectedSession::of(&session.facts()));
        Ok(TitlesReply::Done(sessions.zip(titles).collect()))
    }
}
