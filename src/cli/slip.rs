//! A word that begins a search, but looks like the name of a command that was mistyped.

/// The least letters of a name that is known again with any letter that is wrong, missing or too many: shorter ones are near
/// to words that somebody looks for, such as `free` and `patch`.
const LEAST: usize = 6;

/// The least letters of one that is known again with a letter that is doubled, or missing before the last one.
const LEAST_CLOSE: usize = 4;

/// The command among `names` that a word may mean.
pub(super) fn meant<'a>(word: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    names.find(|name| is_slip(word, name))
}

/// Whether two letters that stand side by side changed places, or one is wrong, missing or too many. What goes on behind the
/// name is another word, such as `configs`.
fn is_slip(word: &str, name: &str) -> bool {
    let same = word.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count();
    let last = name.as_bytes().get(..same).and_then(<[u8]>::last);
    let (word, rest) = (&word.as_bytes()[same..], &name.as_bytes()[same..]);
    let same = word.iter().rev().zip(rest.iter().rev()).take_while(|(one, other)| one == other).count();
    match (&word[..word.len() - same], &rest[..rest.len() - same]) {
        ([a, b], [c, d]) => (a, b) == (d, c) && name.len() > 2,
        ([more], []) if Some(more) == last => name.len() >= LEAST_CLOSE,
        ([_], []) => name.len() >= LEAST && !rest.is_empty(),
        ([], [_]) => name.len() >= if rest.len() > 1 { LEAST_CLOSE + 1 } else { LEAST },
        ([_], [_]) => name.len() >= LEAST,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_known_and_a_word_is_not() {
        let names = ["ls", "tree", "files", "search", "path", "resume", "fork", "label", "restore", "undo", "config"];
        let meant = |word: &str| meant(word, names.into_iter());
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
}
