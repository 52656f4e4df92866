//! Slimming of session files: the writer of their smaller versions.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};

use crate::base::path_context::PathContext;
use crate::base::sort;
use crate::changes::change::RewritePurpose;
use crate::changes::request::{Request, SharedRewriter};
use crate::changes::target::ExpectedSession;
use crate::disk::rewrite::{self, NewVersion, Rewriter, Rewritten};
use crate::disk::{files, lines};
use crate::session::contexts::ContextHasher;
use crate::session::links::ById;
use crate::session::write::slim::{SlimPlan, SlimPlanner, SlimRules, SlimSaving, SlimSavings, SlimWriter};

/// A session, and the savings in it.
#[derive(Clone, Debug)]
pub struct PlannedSession {
    /// The session.
    pub session: ExpectedSession,
    /// Its size in bytes.
    pub bytes: u64,
    /// The savings.
    pub savings: SlimSavings,
}

/// The possible savings in some sessions.
#[derive(Clone, Debug)]
pub struct SlimOverview {
    /// The rules.
    pub rules: SlimRules,
    /// The sessions, the largest saving first.
    pub planned: Vec<PlannedSession>,
    /// The files that cannot be slimmed, and the reasons.
    pub failed: Vec<(PathBuf, String)>,
    /// The writer for a request.
    pub writer: SharedRewriter,
}

impl SlimOverview {
    /// Returns the bytes that the rules save in all sessions.
    pub fn total(&self) -> u64 {
        self.planned.iter().map(|planned| planned.savings.total).sum()
    }

    /// Iterates over the sessions with something to save.
    pub fn saving(&self) -> impl Iterator<Item = &PlannedSession> {
        self.planned.iter().filter(|planned| planned.savings.total > 0)
    }

    /// Returns the request to slim these sessions.
    pub fn request(&self) -> Request {
        let sessions = self.saving().map(|planned| planned.session.clone()).collect();
        Request::Rewrite { purpose: RewritePurpose::Slim, sessions, by: self.writer.clone() }
    }

    /// Returns the types of snapshots in all sessions, the largest saving first, with `true` if they are removed.
    pub fn types(&self) -> Vec<(String, SlimSaving, bool)> {
        let mut types: Vec<(String, SlimSaving, bool)> = Vec::new();
        for (name, saving, is_removed) in self.planned.iter().flat_map(|planned| &planned.savings.snapshots) {
            match types.iter_mut().find(|(known, ..)| known == name) {
                Some((_, sum, _)) => *sum += *saving,
                None => types.push((name.clone(), *saving, *is_removed)),
            }
        }
        sort::by(&mut types, |one, other| other.1.bytes.cmp(&one.1.bytes).then_with(|| one.0.cmp(&other.0)));
        types
    }

    /// Returns the savings outside and inside of contexts, and those in shared entries, which stay.
    pub fn sums(&self) -> [SlimSaving; 3] {
        let mut sums = [SlimSaving::default(); 3];
        for savings in self.planned.iter().map(|planned| &planned.savings) {
            for (sum, saving) in sums.iter_mut().zip([savings.outside, savings.inside, savings.shared]) {
                *sum += saving;
            }
        }
        sums
    }
}

/// Writes smaller versions of files.
#[derive(Debug)]
pub struct SlimmingWriter {
    /// The rules.
    pub rules: SlimRules,
    /// The entries that other sessions contain too, by the path of the file with symbolic links resolved.
    pub shared: HashMap<PathBuf, Arc<ById<()>>>,
}

impl SlimmingWriter {
    /// Decides what to remove from a file. `is_wanted` returns `false` to cancel.
    ///
    /// # Errors
    /// The file cannot be read or slimmed, or it was canceled.
    pub fn plan(&self, path: &Path, is_wanted: impl Fn() -> bool) -> Result<SlimPlan> {
        let none = ById::default();
        let real = files::resolved(path);
        let mut planner = SlimPlanner::new(&self.rules, self.shared.get(&real).map_or(&none, |shared| shared));
        let read = files::open(path).and_then(|mut file| {
            lines::each(&mut file, 0, u64::MAX, &mut Vec::new(), |line| planner.line(&line) && is_wanted())
        });
        read.path_context("cannot read", path)?;
        ensure!(is_wanted(), "canceled");
        planner.finish().map_err(|why| anyhow!("cannot slim {}: {why}", path.display()))
    }
}

impl Rewriter for SlimmingWriter {
    fn write(&self, path: &Path, out: &mut NewVersion<'_>) -> Result<Rewritten> {
        let plan = self.plan(path, || true)?;
        if plan.is_empty() {
            return Ok(Rewritten::default());
        }
        out.needs(files::len(path)?.saturating_sub(plan.savings.total))?;
        let mut writer = SlimWriter::new(&plan);
        rewrite::each_line(path, |offset, text, line_break| {
            if let Some(new) = writer.line(offset, text)? {
                out.write_all(&new)?;
                out.write_all(line_break)?;
            }
            Ok(())
        })?;
        Ok(Rewritten { is_changed: true, ..Rewritten::default() })
    }

    /// Compares the model contexts at all branch ends and labels.
    fn check(&self, path: &Path, new: &Path) -> Result<()> {
        let with_texts = self.rules.inside.is_none();
        let [before, after] = [path, new].map(|path| contexts(path, with_texts));
        ensure!(before? == after?, "a model context would change");
        Ok(())
    }
}

/// Returns a hash of the model context at each branch end and each label, with or without the texts.
fn contexts(path: &Path, with_texts: bool) -> Result<BTreeMap<u64, u64>> {
    let mut hasher = ContextHasher::new(with_texts);
    let read = files::open(path).and_then(|mut file| {
        lines::each(&mut file, 0, u64::MAX, &mut Vec::new(), |line| {
            hasher.line(&line);
            true
        })
    });
    read.path_context("cannot read", path)?;
    hasher.finish().map_err(|why| anyhow!("{} is {why}", path.display()))
}
