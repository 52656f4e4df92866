//! The tokens of pi's context: those reported for the last answer plus an estimate of what follows, or an estimate of
//! everything. pi uses this count (`estimateProjectedContextTokens`) to show usage and to decide when to compact (pi
//! 0.87.1, 1.5.2).

use std::collections::{HashMap, HashSet};

use crate::session::links::Index;
use crate::session::prompt::message::SentMessage;
use crate::session::prompt::plan::Plan;
use crate::session::prompt::tokens::{SystemPart, list, of_chars};

/// The system prompt and tools after all system messages (pi's `getCurrentSystemMessage`).
#[derive(Clone, Debug, Default)]
struct SystemPrompt {
    contents: Vec<u64>,
    sections: HashMap<String, u64>,
    tools: Vec<(String, u64)>,
    is_there: bool,
}

impl SystemPrompt {
    fn add(&mut self, part: &SystemPart) {
        self.is_there |= part.has_time;
        self.contents.extend((part.content > 0).then_some(part.content));
        for (name, units) in &part.sections {
            match units {
                Some(units) => drop(self.sections.insert(name.clone(), *units)),
                None => drop(self.sections.remove(name)),
            }
        }
        let gone: HashSet<&String> = part.removed.iter().chain(&part.added).collect();
        self.tools.retain(|(name, _)| !gone.contains(name));
        self.tools.extend(part.added.iter().cloned().zip(part.tools.iter().copied()));
    }

    fn tokens(&self) -> u64 {
        if !self.is_there && self.tools.is_empty() {
            return 0;
        }
        let contents = self.contents.iter().sum::<u64>() + 2 * (self.contents.len() as u64).saturating_sub(1);
        let tools = if self.tools.is_empty() { 0 } else { list(self.tools.iter().map(|(_, length)| *length)) };
        of_chars(contents + self.sections.values().sum::<u64>() + tools)
    }
}

/// Parts of the tokens of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TokenParts {
    /// Estimate for the system prompt; 0 if the file does not have it.
    pub prompt: u64,
    /// Estimate for the tools; 0 if the file does not have them.
    pub tools: u64,
    /// Estimate for the messages.
    pub messages: u64,
    /// The last answer, the tokens reported by its provider, and the estimate for what follows it, if pi uses them.
    pub counted: Option<(Index, f64, u64)>,
}

/// Sums the messages of pi's context, in order.
#[derive(Clone, Debug, Default)]
pub struct ContextSum {
    system: SystemPrompt,
    /// The tokens of all messages except system messages.
    said: u64,
    /// The last answer with reported tokens, and their number.
    used: Option<(Index, f64)>,
    /// The tokens after it.
    behind: u64,
}

impl ContextSum {
    /// Adds a message of an entry in the context.
    pub fn add(&mut self, at: Index, message: &SentMessage) {
        match &message.system {
            Some(part) => self.system.add(part),
            None => self.said += message.tokens,
        }
        match message.used {
            Some(used) => (self.used, self.behind) = (Some((at, used)), 0),
            None => self.behind += message.tokens,
        }
    }

    /// Returns the tokens of the context as counted by pi. These are the reported tokens of the last answer plus an
    /// estimate of what follows. After a newer compaction or context edit, everything is estimated.
    pub fn tokens(&self, plan: &Plan) -> f64 {
        match self.used {
            Some((at, used)) if plan.is_fresh(at) => used + self.behind as f64,
            _ => (self.system.tokens() + self.said) as f64,
        }
    }

    /// Returns the parts of the token count.
    pub fn parts(&self, plan: &Plan) -> TokenParts {
        let all = self.system.tokens();
        let prompt = SystemPrompt { tools: Vec::new(), ..self.system.clone() }.tokens();
        let counted = self.used.filter(|&(at, _)| plan.is_fresh(at)).map(|(at, used)| (at, used, self.behind));
        TokenParts { prompt, tools: all.saturating_sub(prompt), messages: self.said, counted }
    }

    /// Returns the active tools; the last added ones come last.
    pub fn tools(&self) -> impl Iterator<Item = &str> {
        self.system.tools.iter().map(|(name, _)| &**name)
    }
}
