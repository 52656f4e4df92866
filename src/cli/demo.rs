//! `pitree demo`: opens the browser on a temporary copy of the demo sessions, in which everything can be tried.

/// Try pitree on demo sessions; all changes are temporary
#[derive(Debug, clap::Args)]
pub(super) struct DemoCommand {}
