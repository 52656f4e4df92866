//! A pool of many short strings in one allocation.

/// Strings stored in one buffer and numbered from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct StringPool {
    joined: String,
    /// The end offset of each string.
    ends: Vec<usize>,
}

impl StringPool {
    /// Appends a string and returns its number.
    pub fn push(&mut self, text: &str) -> u32 {
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
        self.ends.len() as u32 - 1
    }

    /// Returns the string with the given number, or an empty string.
    pub fn get(&self, number: u32) -> &str {
        let end = |number: usize| self.ends.get(number).copied();
        let start = (number as usize).checked_sub(1).and_then(end).unwrap_or(0);
        end(number as usize).map_or("", |end| &self.joined[start..end])
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns `true` if the pool is empty.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over all strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|number| self.get(number))
    }

    /// Releases unused capacity.
    pub fn shrink_to_fit(&mut self) {
        self.joined.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_found_by_number() {
        let mut strings = StringPool::default();
        assert_eq!(["a", "", "é"].map(|text| strings.push(text)), [0, 1, 2]);
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["a", "", "é"]);
        assert_eq!((strings.get(2), strings.get(3)), ("é", ""));
    }
}
