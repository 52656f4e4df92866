//! Completion of the qualifier at the cursor: its name or its value.

use std::ops::Range;

use crate::base::javascript::{is_js_space, js_trim};
use crate::base::normalize::fold;
use crate::base::sort;
use crate::search::qualifier;
use crate::search::qualifier::QualifierRow;
use crate::search::qualifier::value::{ValueList, in_quotes};
use crate::search::query::token::{ALL, Token, after_all, tokens};

/// The completions at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The byte range to replace.
    pub at: Range<usize>,
    /// The candidates, best first.
    pub options: Vec<CompletionCandidate>,
}

/// A completion candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionCandidate {
    /// The text to insert.
    pub text: String,
    /// The meaning; empty if the text is self-explanatory.
    pub means: String,
}

/// Completes the query at the cursor, a byte offset. Returns `None` inside plain words, phrases and patterns.
pub fn complete(query: &str, cursor: usize, values: ValueList<'_>) -> Option<Completion> {
    let before = query.get(..cursor)?;
    let mut rest = before.trim_start_matches(is_js_space);
    while let Some(after) = after_all(rest) {
        rest = after.trim_start_matches(is_js_space);
    }
    if rest.starts_with("re:") {
        return None;
    }
    // The token extends to its end in the whole query, so that the text after the cursor is replaced too.
    let all = tokens(query);
    let token = all.iter().rev().find(|token| token.at.start < cursor && cursor <= token.at.end);
    let Some(token) = token else {
        let at_start = before.ends_with(is_js_space) || before.is_empty();
        return at_start.then(|| names("", cursor..cursor)).flatten();
    };
    let is_at_end = cursor == token.at.end;
    match token.qualifier.map(qualifier::named) {
        Some(Some(row)) if cursor >= token.text_at.start => value(row, token, query, cursor, values),
        Some(None) if token.is_all() && is_at_end => names("", cursor..cursor),
        None if !token.is_quoted && is_at_end => {
            let start = token.at.start + usize::from(query[token.at.start..].starts_with('-'));
            names(query.get(start..cursor)?, start..cursor)
        }
        _ => None,
    }
}

/// Completes the name of a qualifier.
fn names(typed: &str, at: Range<usize>) -> Option<Completion> {
    let known = qualifier::TABLE.iter().map(|row| (format!("{}:", row.name), format!("sessions {}", row.help)));
    let all = (ALL.to_string(), "also match tool output, thinking and arguments".to_string());
    let known = known.chain([all]).filter(|(name, _)| name.starts_with(typed));
    let options: Vec<CompletionCandidate> = known.map(|(text, means)| CompletionCandidate { text, means }).collect();
    (!options.is_empty()).then_some(Completion { at, options })
}

fn value(
    row: &QualifierRow,
    token: &Token<'_>,
    query: &str,
    cursor: usize,
    values: ValueList<'_>,
) -> Option<Completion> {
    let typed = query.get(token.text_at.start..cursor)?;
    let typed = fold(js_trim(typed.trim_matches('"')));
    let mut ranked: Vec<(u8, &str)> =
        row.choices(values).into_iter().filter_map(|value| Some((rank(&fold(value), &typed)?, value))).collect();
    sort::by_key(&mut ranked, |(rank, _)| *rank);
    // A value that contains a quote cannot be written in a query.
    let can_be_written = ranked.iter().filter(|(_, value)| !value.contains('"'));
    let option =
        |&(_, value): &(u8, &str)| CompletionCandidate { text: in_quotes(value), means: row.means(value).into() };
    let options: Vec<CompletionCandidate> = can_be_written.map(option).collect();
    (!options.is_empty()).then_some(Completion { at: token.text_at.clone(), options })
}

/// Ranks a folded value: a prefix match, a match at the start of a word, or a match elsewhere.
fn rank(value: &str, typed: &str) -> Option<u8> {
    let starts_word = |(at, _): (usize, &str)| !value[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    match value {
        _ if value.starts_with(typed) => Some(0),
        _ if value.match_indices(typed).any(starts_word) => Some(1),
        _ => value.contains(typed).then_some(2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::qualifier::value::ValueLists;
    use crate::search::query::Query;
    use proptest::prelude::*;

    /// Applies the first candidate at the cursor `|`; also returns the number of candidates.
    fn completed(query: &str) -> Option<(String, usize)> {
        let list = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
        let dirs = list(&["~/code/my app", "~/code/site", "/srv/app"]);
        let lists = ValueLists {
            files: list(&["src/oauth.rs", "src/auth.rs", "auth.md"]),
            labels: list(&["works", "say \"hi\""]),
            commits: list(&["1f3c9e2", "89abcde"]),
            models: list(&["claude-sonnet", "gpt"]),
            tools: list(&["read", "bash"]),
        };
        let values = ValueList {
            dirs: &dirs,
            tags: &["release".into()],
            worktrees: &["fix-42".into()],
            machines: &[],
            lists: &lists,
        };
        let cursor = query.find('|')?;
        let query = query.replace('|', "");
        let completion = complete(&query, cursor, values)?;
        let mut done = query;
        done.replace_range(completion.at, &completion.options[0].text);
        Some((done, completion.options.len()))
    }

    #[test]
    fn completes_names_and_values() {
        for (query, done, options) in [
            ("|", "in:", 24),
            ("foo |", "foo in:", 24),
            ("foo fi|", "foo file:", 1),
            ("-la|", "-label:", 1),
            ("e|", "edited:", 2),
            ("all:f|", "all:file:", 1),
            ("is:|", "is:named", 17),
            ("is:fo|", "is:forked", 2),
            ("is:for|ked x", "is:forked x", 2),
            ("in:app|", "in:\"~/code/my app\"", 2),
            ("in:~/|", "in:\"~/code/my app\"", 2),
            ("in:\"~/code/m|", "in:\"~/code/my app\"", 1),
            ("x in:\"~/code/m|\" y", "x in:\"~/code/my app\" y", 1),
            ("file:auth|", "file:auth.md", 3),
            ("edited:src/A|", "edited:src/auth.rs", 1),
            ("label:|", "label:works", 1),
            ("-model:son| x", "-model:claude-sonnet x", 1),
            ("tool:b|", "tool:bash", 1),
            ("all:|", "all:in:", 24),
            ("tag:r|", "tag:release", 1),
            ("commit:8|", "commit:89abcde", 1),
            ("worktree:F|", "worktree:fix-42", 1),
            ("after:y|", "after:yesterday", 3),
        ] {
            assert_eq!(completed(query), Some((done.to_string(), options)), "{query}");
        }
    }

    #[test]
    fn offers_no_completion_for_other_text() {
        for query in [
            "foo|",
            "xyz:|",
            "re:i|",
            "all: re:i|",
            "\"in|\"",
            "is:x|",
            "cost:|",
            "foo:b|",
            "x|y",
            "fi|xy",
            "al:|",
            "\"a b\"|",
        ] {
            assert_eq!(completed(query), None, "{query}");
        }
    }

    proptest! {
        #[test]
        fn completes_at_any_position_without_panic(text in "[ \"a-fil:é/-]{0,16}", cursor in 0usize..20) {
            let dirs = ["/a b".to_string(), "~/é".into(), "//x".into()];
            let lists = ValueLists { files: dirs.to_vec(), ..ValueLists::default() };
            if let Some(completion) = complete(&text, cursor, ValueList { dirs: &dirs, tags: &[], worktrees: &[], machines: &[], lists: &lists }) {
                for option in completion.options {
                    let mut done = text.clone();
                    done.replace_range(completion.at.clone(), &option.text);
                    let _ = Query::parse(&done);
                }
            }
        }
    }
}
