//! Suggestions for mistyped names.

use strsim::{levenshtein, osa_distance};

/// Returns the name closest to a mistyped one, or `None` if none is close. The order of words does not matter.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = names.map(|name| (distance(word, name), name)).min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, name)| *distance <= 2.max(name.len() / 3)).map(|(_, name)| name)
}

/// Returns the edit distance between two names, with their words in the given or in sorted order.
fn distance(a: &str, b: &str) -> usize {
    let sorted = |name: &str| {
        let mut words: Vec<_> = name.split(['-', '_']).collect();
        words.sort_unstable();
        words.join("-")
    };
    levenshtein(a, b).min(levenshtein(&sorted(a), &sorted(b)))
}

/// Letters of a word from which on a misspelling is corrected, and from which on two errors are.
const SPELLED: (usize, usize) = (4, 8);

/// Returns the number of errors of a misspelled word, or `None` if it is probably another word.
pub(crate) fn spelling_distance(word: &str, other: &str) -> Option<usize> {
    let letters = word.chars().count();
    let most = if letters >= SPELLED.1 { 2 } else { 1 };
    let is_near = letters >= SPELLED.0 && other.len().abs_diff(word.len()) <= most;
    let distance = is_near.then(|| osa_distance(word, other))?;
    (distance <= most).then_some(distance)
}

/// Returns the name of which `word` is probably a misspelling. Strict, because the word can also be a search term.
pub(crate) fn likely_typo_of<'a>(word: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.find(|name| word.is_ascii() && osa_distance(word, name) == 1 && is_slip(word.as_bytes(), name.as_bytes()))
}

/// Returns `true` if a word that is one edit away from a name is probably that name. Short names are close to common search
/// terms, such as `free` and `patch`.
fn is_slip(word: &[u8], name: &[u8]) -> bool {
    let same = word.iter().zip(name).take_while(|(one, other)| one == other).count();
    match word.len().cmp(&name.len()) {
        // Two swapped letters, or a wrong letter.
        std::cmp::Ordering::Equal => {
            let is_swapped = word.get(same + 1) == name.get(same) && word.get(same) == name.get(same + 1);
            name.len() >= if is_swapped { 3 } else { 6 }
        }
        // A doubled or an extra letter. An extra last letter makes another word, such as `configs`.
        std::cmp::Ordering::Greater => {
            let is_doubled = same > 0 && word[same] == word[same - 1];
            name.len() >= if is_doubled { 4 } else { 6 } && (is_doubled || same < name.len())
        }
        // A letter is missing.
        std::cmp::Ordering::Less => name.len() >= if same + 1 < name.len() { 5 } else { 6 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_words_does_not_matter() {
        assert_eq!(distance("filter-next", "next-filter"), 0);
        assert_eq!(nearest("sort-by", ["theme", "sort", "dirs"].into_iter()), None);
        assert_eq!(nearest("tehme", ["sort", "theme"].into_iter()), Some("theme"));
    }

    #[test]
    fn misspelled_commands_are_found_and_search_terms_are_not() {
        let names = ["ls", "tree", "files", "search", "path", "resume", "fork", "label", "restore", "undo", "config"];
        let meant = |word: &str| likely_typo_of(word, names.into_iter());
        for (word, name) in [
            ("serach", "search"),
            ("seach", "search"),
            ("seearch", "search"),
            ("saerch", "search"),
            ("fiels", "files"),
            ("lable", "label"),
            ("udno", "undo"),
            ("resotre", "restore"),
            ("restor", "restore"),
            ("confog", "config"),
            ("treee", "tree"),
            ("undoo", "undo"),
            ("pathh", "path"),
            ("fiiles", "files"),
            ("labl", "label"),
        ] {
            assert_eq!(meant(word), Some(name), "{word}");
        }
        for word in [
            "", "sl", "free", "patch", "work", "form", "configs", "restored", "trees", "file", "three", "und", "jwt",
            "search", "süarch",
        ] {
            assert_eq!(meant(word), None, "{word}");
        }
    }

    #[test]
    fn misspelled_words_of_a_text_are_near() {
        for (word, other, errors) in
            [("sessoin", "session", 1), ("reids", "redis", 1), ("authentcaiton", "authentication", 2)]
        {
            assert_eq!(spelling_distance(word, other), Some(errors), "{word}");
        }
        for (word, other) in [("sql", "sqs"), ("redis", "ready"), ("left", "lift up"), ("cats", "dogs")] {
            assert_eq!(spelling_distance(word, other), None, "{word}");
        }
    }
}
