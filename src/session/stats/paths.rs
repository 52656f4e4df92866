//! The place of each entry in its session: the prompt it belongs to, its branch, and the time it took.

use crate::session::links::EntryIndex;
use crate::session::stats::entry_stats::{EntryRole, EntryStats};

/// Returns the leaf of the branch of each entry. Entries on the path to the last entry belong to its branch, and other
/// shared entries to the branch that was written last.
pub fn leaves(parents: &[Option<EntryIndex>]) -> Vec<EntryIndex> {
    const NONE: EntryIndex = EntryIndex::MAX;
    let mut leaves = vec![NONE; parents.len()];
    for leaf in (0..parents.len() as EntryIndex).rev() {
        let mut at = Some(leaf);
        while let Some(here) = at.filter(|&here| leaves[here as usize] == NONE) {
            leaves[here as usize] = leaf;
            at = parents[here as usize];
        }
    }
    leaves
}

/// Returns the prompt of each entry: the nearest prompt on its path, itself included.
pub fn prompts(entries: &[EntryStats], parents: &[Option<EntryIndex>]) -> Vec<Option<EntryIndex>> {
    let mut prompts: Vec<Option<Option<EntryIndex>>> = vec![None; entries.len()];
    for start in 0..entries.len() as EntryIndex {
        let path = || std::iter::successors(Some(start), |&at| parents[at as usize]);
        let is_prompt = |at: EntryIndex| entries[at as usize].role == EntryRole::Prompt;
        let end = path().find(|&at| is_prompt(at) || prompts[at as usize].is_some());
        let prompt = end.and_then(|end| if is_prompt(end) { Some(end) } else { prompts[end as usize].flatten() });
        for at in path().take_while(|&at| Some(at) != end).chain(end) {
            prompts[at as usize] = Some(prompt);
        }
    }
    prompts.into_iter().map(Option::flatten).collect()
}

/// Returns the model of each entry: of an answer, the one that it used; of a prompt, that of its first answer.
pub fn models(entries: &[EntryStats], prompts: &[Option<EntryIndex>]) -> Vec<Option<u32>> {
    let mut models: Vec<_> = entries.iter().map(|entry| entry.usage.as_ref()?.model).collect();
    for (at, prompt) in prompts.iter().enumerate() {
        if let Some(prompt) = *prompt {
            models[prompt as usize] = models[prompt as usize].or(models[at]);
        }
    }
    models
}

/// Returns the time that each prompt took in milliseconds: until the last answer or result of its turn. `None` for other
/// entries and prompts without one.
pub fn prompt_times(entries: &[EntryStats], prompts: &[Option<EntryIndex>]) -> Vec<Option<i64>> {
    let mut times = vec![None; entries.len()];
    for (entry, prompt) in entries.iter().zip(prompts) {
        let is_of_turn = matches!(entry.role, EntryRole::Answer | EntryRole::Result);
        let (Some(prompt), Some(end), true) = (*prompt, entry.time, is_of_turn) else { continue };
        let taken = entries[prompt as usize].time.and_then(|begun| end.checked_sub(begun)).filter(|&taken| taken >= 0);
        times[prompt as usize] = times[prompt as usize].max(taken);
    }
    times
}

/// Returns the working time of each entry in milliseconds: the time since the entry before, unless that is a pause of
/// more than `pause` milliseconds.
pub fn working_times(entries: &[EntryStats], pause: i64) -> Vec<i64> {
    let mut before: Option<i64> = None;
    let since = |entry: &EntryStats| {
        let since = entry.time.zip(before).and_then(|(time, before)| time.checked_sub(before));
        before = entry.time.or(before);
        since.filter(|&since| (0..=pause).contains(&since)).unwrap_or_default()
    };
    entries.iter().map(since).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(role: EntryRole, time: Option<i64>) -> EntryStats {
        EntryStats { role, time, ..EntryStats::default() }
    }

    #[test]
    fn a_shared_entry_belongs_to_one_branch_and_one_prompt() {
        use EntryRole::{Answer, Other, Prompt, Result};
        // 0 ─ 1 ─ 2 ─ 3, and 1 ─ 4 ─ 5 with the last entry; 6 is a root of its own, added before.
        let parents = [None, Some(0), Some(1), Some(2), Some(6), Some(4), Some(1)];
        let times = [0, 10, 500, 700, 900, 2000, 800];
        let roles = [Other, Prompt, Answer, Result, Prompt, Answer, Answer];
        let entries: Vec<EntryStats> =
            roles.into_iter().zip(times).map(|(role, time)| entry(role, Some(time))).collect();
        assert_eq!(leaves(&parents), [6, 6, 3, 3, 5, 5, 6]);
        let prompts = prompts(&entries, &parents);
        assert_eq!(prompts, [None, Some(1), Some(1), Some(1), Some(4), Some(4), Some(1)]);
        assert_eq!(prompt_times(&entries, &prompts), [None, Some(790), None, None, Some(1100), None, None]);
        assert_eq!(working_times(&entries, 300), [0, 10, 0, 200, 200, 0, 0]);
    }

    #[test]
    fn extreme_times_are_no_danger() {
        let times = [Some(i64::MIN), Some(i64::MAX), None, Some(0), Some(i64::MAX)];
        let entries: Vec<EntryStats> = times.into_iter().map(|time| entry(EntryRole::Answer, time)).collect();
        assert_eq!(working_times(&entries, 300), [0; 5]);
        assert_eq!(
            prompt_times(&entries, &[Some(0), Some(0), Some(0), Some(4), None]),
            [Some(0), None, None, None, None]
        );
    }
}
