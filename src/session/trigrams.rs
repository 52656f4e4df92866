//! Keys of the sequences of three bytes in folded texts. A text that contains a word has all keys of the word. An
//! index of keys therefore tells a search which sessions it can skip. Words with accents also have the keys of their
//! letters without accents.

use std::cell::RefCell;

use crate::base::normalize::{accented, without_accents};

/// The number of different keys. More would make the index larger, and fewer would make different sequences equal.
const KEYS: usize = 1 << 16;

/// The key of texts with accents: that of three NUL characters.
pub(crate) const ACCENTS: u16 = 0;

thread_local! {
    /// A bit for each key.
    static SET: RefCell<Box<[u64]>> = RefCell::new(vec![0; KEYS / 64].into());
}

/// Returns the keys of texts, each once, in order.
pub(crate) fn keys<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u16> {
    SET.with_borrow_mut(|set| {
        for text in texts {
            add(set, text);
            if accented(text.as_bytes()).is_none() {
                continue; // most texts
            }
            set[0] |= 1 << ACCENTS;
            text.split(char::is_whitespace).filter_map(without_accents).for_each(|word| add(set, &word));
        }
        let mut keys = Vec::with_capacity(1024);
        for (at, word) in (0..).zip(set.iter_mut()).filter(|(_, word)| **word != 0) {
            let mut bits = std::mem::take(word);
            while bits != 0 {
                keys.push(at * 64 + bits.trailing_zeros() as u16);
                bits &= bits - 1;
            }
        }
        keys
    })
}

fn add(set: &mut [u64], text: &str) {
    let (first, rest) = text.as_bytes().split_at(text.len().min(2));
    let mut three = first.iter().fold(0, |three, byte| three << 8 | u32::from(*byte));
    for byte in rest {
        three = (three << 8 | u32::from(*byte)) & 0xff_ffff;
        let key = three.wrapping_mul(0x9e37_79b1) >> 16;
        set[key as usize / 64] |= 1 << (key % 64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_has_the_keys_of_its_parts(before in ".{0,9}", word in "\\PC{0,9}", after in ".{0,9}") {
            let all = keys([&*format!("{before}{word}{after}"), "other"]);
            prop_assert!(keys([&*word]).iter().all(|key| all.contains(key)));
            prop_assert!(all.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn keys_differ() {
        let words: Vec<String> = (0..500).map(|number| format!("{number:03}")).collect();
        assert!(keys(words.iter().map(String::as_str)).len() > 490);
        assert_eq!(keys(["ab", "", "c"]), [0; 0]);
        assert!(keys(["cafe"]).iter().all(|key| keys(["le café."]).contains(key) && *key != ACCENTS));
        assert!(keys(["le café."]).contains(&ACCENTS) && !keys(["“naïve”"]).contains(&keys(["cafe"])[0]));
    }
}
