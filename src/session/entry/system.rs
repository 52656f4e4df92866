//! What a system message says to the model (pi 0.86 and newer): parts of the prompt, which replace those of the same name or
//! take them away, and tools that are added and removed. Its `content` is empty, most of the time.

use std::borrow::Cow;

use crate::session::entry::Message;
use crate::session::json::Str;
use crate::session::json::data::{Fields, Value, items};

/// A part of the prompt.
#[derive(Debug)]
pub struct Section<'a> {
    /// Its name, such as `rules`.
    pub name: Cow<'a, str>,
    /// The text; none takes the part away.
    pub text: Option<Str<'a>>,
}

/// A tool that the model can call from then on, or no more.
#[derive(Debug)]
pub struct Tool<'a> {
    /// Its name.
    pub name: Str<'a>,
    /// What the model is told of it; empty for one that is removed.
    pub description: Str<'a>,
}

impl<'a> Message<'a> {
    /// `sections`, as they stand in the file.
    pub fn sections(&self) -> impl Iterator<Item = Section<'a>> {
        Fields::new(self.sections.unwrap_or_default()).into_iter().map(|(name, value)| Section {
            name: match name {
                Cow::Borrowed(name) => String::from_utf8_lossy(name),
                Cow::Owned(name) => Cow::Owned(String::from_utf8_lossy(&name).into_owned()),
            },
            text: text(Some(value)),
        })
    }

    /// `toolsAdded`.
    pub fn tools_added(&self) -> impl Iterator<Item = Tool<'a>> {
        tools(self.tools_added)
    }

    /// `toolsRemoved`.
    pub fn tools_removed(&self) -> impl Iterator<Item = Tool<'a>> {
        tools(self.tools_removed)
    }
}

fn tools(raw: Option<&[u8]>) -> impl Iterator<Item = Tool<'_>> {
    items(raw.unwrap_or_default()).map(|raw| {
        let fields = Fields::new(raw);
        let text = |name| text(fields.get(name)).unwrap_or_default();
        Tool { name: text("name"), description: text("description") }
    })
}

fn text(value: Option<Value<'_>>) -> Option<Str<'_>> {
    match value? {
        Value::Text(text) => Some(text),
        Value::Raw(_) => None,
    }
}
