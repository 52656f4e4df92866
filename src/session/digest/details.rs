//! The details of a digest that lists do not show. They are read only when needed.

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

/// The details of a session that lists do not show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    /// The first user message with text, if the digest has only its start.
    pub first_message: Option<String>,
    /// The user messages, in file order.
    pub prompts: Box<[Index]>,
    /// The last prompt on the active path.
    pub last_prompt: Option<LastMessage>,
    /// The last answer after that prompt.
    pub last_answer: Option<LastMessage>,
    /// The offset of each entry, in bytes.
    pub offsets: Box<[u64]>,
    /// The keys and usage of the entries.
    pub entries: EntryKeys,
    /// The tool calls that read, wrote or edited a file.
    pub touches: TouchedFiles,
    /// The number of calls of each tool.
    pub tools: BTreeMap<Box<str>, u32>,
    /// The models, by number of answers.
    pub models: Vec<(Box<str>, ModelUse)>,
    /// Other names of the models, reported by providers.
    pub response_models: BTreeSet<Box<str>>,
    /// The active path as a bit set.
    pub active: ActivePath,
}

impl Details {
    /// Returns the names of the models: pi's and those reported by providers.
    pub(crate) fn model_names(&self) -> impl Iterator<Item = &str> {
        let asked = self.models.iter().map(|(model, _)| &**model);
        asked.chain(self.response_models.iter().map(|model| &**model))
    }
}

/// A source of stored details of sessions.
pub trait DetailsSource: fmt::Debug + Send + Sync {
    /// Returns the details of the session with the given number and file path.
    fn details(&self, number: u32, path: &Path) -> Details;

    /// Reads the search texts into reusable buffers. Returns `None` if they are not available.
    fn texts<'a>(&self, number: u32, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>>;
}

/// Details that are loaded, or read on demand.
#[derive(Clone, Debug, Default)]
pub struct LazyDetails {
    pub(super) here: OnceLock<Arc<Details>>,
    pub(super) stored: Option<(Arc<dyn DetailsSource>, u32)>,
}

impl From<Details> for LazyDetails {
    fn from(details: Details) -> Self {
        Self { here: Arc::new(details).into(), stored: None }
    }
}

impl LazyDetails {
    /// Creates details that are read on demand, by their number in the source.
    pub(crate) fn stored(source: Arc<dyn DetailsSource>, number: u32) -> Self {
        Self { here: OnceLock::new(), stored: Some((source, number)) }
    }
}
