//! What a digest knows beyond what lists show of every session: read only of those that somebody looks at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::session::digest::entries::EntryKeys;
use crate::session::digest::messages::LastMessage;
use crate::session::digest::touched_files::TouchedFiles;
use crate::session::links::Index;
use crate::session::models::ModelUse;
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::tree::active::ActivePath;

/// What is known of a session beyond what lists show of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The first user message with text, if the digest has only its beginning.
    pub first_message: Option<String>,
    /// What the user said, in file order.
    pub prompts: Box<[Index]>,
    /// The last prompt on the way to the leaf.
    pub last_prompt: Option<LastMessage>,
    /// What was answered last since that prompt.
    pub last_answer: Option<LastMessage>,
    /// Where each entry starts in the file, in bytes.
    pub offsets: Box<[u64]>,
    /// What tells its entries from those of other sessions, and what each used.
    pub entries: EntryKeys,
    /// Every call of a tool that read, wrote or edited a file.
    pub touches: TouchedFiles,
    /// The tools that were called, and how often.
    pub tools: BTreeMap<Box<str>, u32>,
    /// The models that answered, the busiest first.
    pub models: Vec<(Box<str>, ModelUse)>,
    /// Other names under which providers say that they answered.
    pub response_models: BTreeSet<Box<str>>,
    /// The entries on the path from the root to the leaf: a bit each.
    pub active: ActivePath,
}

impl Details {
    /// The models that answered, by the names that pi gave them and by those that providers did.
    pub(crate) fn model_names(&self) -> impl Iterator<Item = &str> {
        let asked = self.models.iter().map(|(model, _)| &**model);
        asked.chain(self.response_models.iter().map(|model| &**model))
    }
}

/// Where the rest of what is known of sessions lies.
pub trait DetailsSource: fmt::Debug + Send + Sync {
    /// The details of the session with a number there, whose file is at a path.
    fn details(&self, number: u32, path: &Path) -> Details;

    /// Its texts, read into a room that is used again; `None` if they can't be had there.
    fn texts<'a>(&self, number: u32, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>>;
}

/// [`Details`] that are here, or are read when they are asked for.
#[derive(Clone, Debug, Default)]
pub struct LazyDetails {
    here: OnceLock<Arc<Details>>,
    stored: Option<(Arc<dyn DetailsSource>, u32)>,
}

impl From<Details> for LazyDetails {
    fn from(details: Details) -> Self {
        Self { here: Arc::new(details).into(), stored: None }
    }
}

impl LazyDetails {
    /// Details that are read when they are asked for: by their number where they lie.
    pub(crate) fn stored(source: Arc<dyn DetailsSource>, number: u32) -> Self {
        Self { here: OnceLock::new(), stored: Some((source, number)) }
    }

    /// The details, read if they are not here yet; `path` is that of the session.
    pub(super) fn get(&self, path: &Path) -> &Arc<Details> {
        self.here.get_or_init(|| self.read(path))
    }

    /// The details; those that are not here are read for this once.
    pub(super) fn once(&self, path: &Path) -> Arc<Details> {
        self.here.get().cloned().unwrap_or_else(|| self.read(path))
    }

    fn read(&self, path: &Path) -> Arc<Details> {
        self.stored.as_ref().map(|(source, number)| source.details(*number, path)).unwrap_or_default().into()
    }

    /// Whether they lie somewhere.
    pub(super) fn is_stored(&self) -> bool {
        self.stored.is_some()
    }

    /// The texts that lie beside them.
    pub(super) fn texts<'a>(&self, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        let (source, number) = self.stored.as_ref()?;
        source.texts(*number, buffers)
    }

    #[cfg(test)]
    pub(super) fn get_mut(&mut self, path: &Path) -> &mut Details {
        self.get(path);
        Arc::make_mut(self.here.get_mut().unwrap())
    }
}
