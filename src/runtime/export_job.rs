//! Exports of the browser.

use std::path::Path;

use anyhow::Result;

use crate::app::startup::Startup;
use crate::catalog::export::ExportRun;
use crate::catalog::export::request::{ExportRequest, ExportResult, ExportTo};
use crate::changes::random;
use crate::disk::locate;
use crate::runtime::chosen_rules::ChosenRules;

/// Makes an export, without the secrets that the rules of the configuration find.
pub(super) fn make(setting: &Startup, mut request: ExportRequest, now: i64) -> Result<ExportResult> {
    if let ExportTo::File(path) = &mut request.to {
        *path = locate::expand(&*path, Path::new(&setting.home));
    }
    let rules = ChosenRules::new(&setting.config.redact)?;
    request.run(&setting.home, &rules, &mut ExportRun { now, random: &mut { random } })
}
