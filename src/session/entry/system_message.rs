//! Changes that a system message makes to the prompt (pi 0.86 and newer): sections, which replace or remove sections of
//! the same name, and added or removed tools. Its `content` is mostly empty.

use crate::session::entry::Message;
use crate::session::json::Str;
use crate::session::json::value::{Fields, Value, items};

/// A section of the prompt.
#[derive(Debug)]
pub struct PromptSection<'a> {
    /// Its name, such as `rules`.
    pub name: String,
    /// The text; `None` removes the section.
    pub text: Option<Str<'a>>,
}

/// An added or removed tool.
#[derive(Debug)]
pub struct ToolDefinition<'a> {
    /// Its name.
    pub name: Str<'a>,
    /// The description for the model; empty for a removed tool.
    pub description: Str<'a>,
}

impl<'a> Message<'a> {
    /// Returns `sections` in file order.
    pub fn sections(&self) -> impl Iterator<Item = PromptSection<'a>> {
        Fields::new(self.sections.unwrap_or_default())
            .into_iter()
            .map(|(name, value)| PromptSection { name: String::from_utf8_lossy(&name).into_owned(), text: value.str() })
    }

    /// Returns `toolsAdded`.
    pub fn tools_added(&self) -> impl Iterator<Item = ToolDefinition<'a>> {
        tools(self.tools_added)
    }

    /// Returns `toolsRemoved`.
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
