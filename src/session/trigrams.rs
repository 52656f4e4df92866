//! Keys of the sequences of three bytes in folded texts. A text that contains a word has all keys of the word, so that
//! an index of keys narrows the sessions in which a search must look.

use std::cell::RefCell;

/// The number of different keys. More would make the index larger, and fewer would make different sequences equal.
const KEYS: usize = 1 << 16;

/// A set of keys.
#[derive(Debug)]
struct KeySet {
    bits: Box<[u64]>,
    keys: Vec<u16>,
}

thread_local! {
    static SET: RefCell<KeySet> = RefCell::new(KeySet { bits: vec![0; KEYS / 64].into(), keys: Vec::new() });
}

/// Returns the key of three bytes.
fn key(bytes: [u8; 3]) -> u16 {
    let [a, b, c] = bytes.map(u32::from);
    ((a | b << 8 | c << 16).wrapping_mul(0x9e37_79b1) >> 16) as u16
}

/// Returns the keys of texts, each once, in order.
pub(crate) fn keys<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<u16> {
    SET.with_borrow_mut(|set| {
        for text in texts {
            for three in text.as_bytes().windows(3) {
                let key = key([three[0], three[1], three[2]]);
                let (word, bit) = (&mut set.bits[usize::from(key) / 64], 1 << (key % 64));
                if *word & bit == 0 {
                    *word |= bit;
                    set.keys.push(key);
                }
            }
        }
        let mut keys = set.keys.clone();
        set.keys.drain(..).for_each(|key| set.bits[usize::from(key) / 64] = 0);
        keys.sort_unstable();
        keys
    })
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
    }
}
