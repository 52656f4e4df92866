//! What a system message says to the model (pi 0.86 and newer): parts of the prompt, which replace those of the same name or
//! take them away, and tools that are added and removed. Its `content` is empty, most of the time.

use crate::session::entry::Message;
use crate::session::json::Str;
use crate::session::json::value::{Fields, Value, items};

/// A part of the prompt.
#[derive(Debug)]
pub struct PromptSection<'a> {
    /// Its name, such as `rules`.
    pub name: String,
    /// The text; none takes the part away.
    pub text: Option<Str<'a>>,
}

/// A tool that the model can call from then on, or no more.
#[derive(Debug)]
pub struct ToolDefinition<'a> {
    /// Its name.
    pub name: Str<'a>,
    /// What the model is told of it; empty for one that is removed.
    pub description: Str<'a>,
}

impl<'a> Message<'a> {
    /// `sections`, as they stand in the file.
    pub fn sections(&self) -> impl Iterator<Item = PromptSection<'a>> {
        Fields::new(self.sections.unwrap_or_default())
            .into_iter()
            .map(|(name, value)| PromptSection { name: String::from_utf8_lossy(&name).into_owned(), text: value.str() })
    }

    /// `toolsAdded`.
    pub fn tools_added(&self) -> impl Iterator<Item = ToolDefinition<'a>> {
        tools(self.tools_added)
    }

    /// `toolsRemoved`.
    pub fn tools_removed(&self) -> impl Iterator<Item = ToolDefinition<'a>> {
        tools(self.tools_removed)
    }
}

fn tools(raw: Option<&[u8]>) -> impl Iterator<Item = ToolDefinition<'_>> {
    items(raw.unwrap_or_default()).map(|raw| {
        let fields = Fields::new(raw);
        let text = |name| fields.get(name).and_then(Value::str).unwrap_or_default();
        ToolDefinition { name: text("name"), description: text("description") }
    })
}
