//! The texts of a session that are searched as one types: the conversation and the summaries. Tool output is not kept
//! here: it is most of a file, and is searched where it lies.

use crate::base::fold::fold_into;
use crate::session::shape::Index;

/// The texts of a session that are searched as one types.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// What user and assistant said: their text blocks, joined as pi's list joins them.
    pub conversation: Passages,
    /// The summaries of compactions and of branches.
    pub summaries: Passages,
}

/// The texts of many entries as one, each of them folded (see [`crate::base::fold`]), with a space between them: as pi joins
/// them to search in (`allMessagesText`, 0.87.1). Texts without characters are left out.
#[derive(Clone, Debug, Default)]
pub struct Passages {
    /// The texts.
    pub folded: String,
    /// Where in them each text begins, in bytes, and of which entry it is.
    pub starts: Vec<(u32, Index)>,
}

/// No texts.
pub(crate) static NO_PASSAGES: Passages = Passages { folded: String::new(), starts: Vec::new() };

impl Texts {
    /// How large they are in memory.
    pub fn bytes(&self) -> usize {
        self.conversation.bytes() + self.summaries.bytes()
    }
}

impl Passages {
    fn bytes(&self) -> usize {
        self.folded.capacity() + self.starts.capacity() * size_of::<(u32, Index)>()
    }

    /// The entry whose text stands at a byte of the texts.
    pub(crate) fn entry_at(&self, byte: usize) -> Option<Index> {
        let behind = self.starts.partition_point(|(start, _)| *start as usize <= byte);
        self.starts.get(behind.checked_sub(1)?).map(|(_, entry)| *entry)
    }

    /// The texts, folded, with their entries.
    pub fn each(&self) -> impl Iterator<Item = (Index, &str)> {
        let ends = self.starts.iter().skip(1).map(|(next, _)| *next as usize - 1).chain([self.folded.len()]);
        self.starts.iter().zip(ends).map(|((start, entry), end)| (*entry, &self.folded[*start as usize..end]))
    }

    pub(crate) fn push(&mut self, entry: Index, text: &str) {
        let gap = usize::from(!self.folded.is_empty());
        // Of a conversation of 4 GB the rest can't be found.
        let Ok(start) = u32::try_from(self.folded.len() + gap) else { return };
        if text.is_empty() {
            return;
        }
        if gap > 0 {
            self.folded.push(' ');
        }
        self.starts.push((start, entry));
        fold_into(&mut self.folded, text);
    }

    pub(crate) fn shrink(&mut self) {
        self.folded.shrink_to_fit();
        self.starts.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_leads_to_its_entry() {
        let mut passages = Passages::default();
        for (entry, text) in [(0, "Use JWT"), (1, ""), (4, "A É")] {
            passages.push(entry, text);
        }
        assert_eq!((&*passages.folded, &passages.starts[..]), ("use jwt a é", &[(0, 0), (8, 4)][..]));
        let entries = [0, 6, 7, 8, 11].map(|byte| passages.entry_at(byte));
        assert_eq!(entries, [Some(0), Some(0), Some(0), Some(4), Some(4)]);
        assert_eq!(NO_PASSAGES.entry_at(0), None);
    }
}
