//! Many short texts in one piece: each costs its bytes and a number, not a place of its own.

/// Texts, each with a number, from 0 on.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StringPool {
    joined: String,
    /// Where each text ends.
    ends: Vec<usize>,
}

impl StringPool {
    /// Takes another text; gives its number.
    pub fn push(&mut self, text: &str) -> u32 {
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
        self.ends.len() as u32 - 1
    }

    /// The text with a number; empty if there is none.
    pub fn get(&self, number: u32) -> &str {
        let end = |number: usize| self.ends.get(number).copied();
        let start = (number as usize).checked_sub(1).and_then(end).unwrap_or(0);
        end(number as usize).map_or("", |end| &self.joined[start..end])
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.get(number))
    }

    /// Gives back what memory is not needed.
    pub fn shrink_to_fit(&mut self) {
        self.joined.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_by_their_numbers() {
        let mut strings = StringPool::default();
        assert_eq!(["a", "", "é"].map(|text| strings.push(text)), [0, 1, 2]);
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["a", "", "é"]);
        assert_eq!((strings.get(2), strings.get(3)), ("é", ""));
    }
}
