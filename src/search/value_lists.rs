//! Known values of qualifiers, for completion.

use std::collections::{HashMap, HashSet};

use crate::session::digest::Digest;

/// Values to suggest, the most frequent first.
#[derive(Clone, Copy, Debug, Default)]
pub struct ValueList<'a> {
    /// The displayed project directories.
    pub dirs: &'a [String],
    /// Files touched by tools.
    pub files: &'a [String],
    /// Labels.
    pub labels: &'a [String],
    /// Models.
    pub models: &'a [String],
    /// Tools.
    pub tools: &'a [String],
}

/// The values in all sessions, those of most sessions first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueLists {
    /// Files touched by tools.
    pub files: Vec<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// Models.
    pub models: Vec<String>,
    /// Tools.
    pub tools: Vec<String>,
}

impl ValueLists {
    /// The maximum number of values per list.
    const MAX: usize = 2000;

    /// Collects the values of digests.
    pub fn new<'a>(digests: impl Iterator<Item = &'a Digest>) -> Self {
        let (mut files, mut labels) = (HashMap::new(), HashMap::new());
        let (mut models, mut tools) = (HashMap::new(), HashMap::new());
        for digest in digests {
            let details = digest.details_once();
            count(&mut files, details.touches.paths.iter());
            count(&mut labels, digest.labels.iter().map(|label| &*label.text));
            count(&mut models, details.model_names());
            count(&mut tools, details.tools.keys().map(|tool| &**tool));
        }
        let [files, labels, models, tools] = [files, labels, models, tools].map(most);
        Self { files, labels, models, tools }
    }
}

/// Counts each value once per session.
fn count<'a>(counts: &mut HashMap<String, usize>, values: impl Iterator<Item = &'a str>) {
    for value in values.collect::<HashSet<_>>() {
        match counts.get_mut(value) {
            Some(often) => *often += 1,
            None => _ = counts.insert(value.into(), 1),
        }
    }
}

fn most(counts: HashMap<String, usize>) -> Vec<String> {
    let mut counts: Vec<(String, usize)> = counts.into_iter().filter(|(value, _)| !value.is_empty()).collect();
    counts.sort_unstable_by(|(a, often), (b, oftener)| oftener.cmp(often).then_with(|| a.cmp(b)));
    counts.into_iter().take(ValueLists::MAX).map(|(value, _)| value).collect()
}
