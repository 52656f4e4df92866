//! Statistics of sessions. Each entry is counted once, in the oldest session that contains it, and belongs to one group.

use std::collections::{HashMap, HashSet};

use crate::base::javascript::utf16_prefix;
use crate::catalog::Catalog;
use crate::catalog::key::SessionKey;
use crate::disk::load::Bodies;
use crate::disk::parallel;
use crate::session::digest::Digest;
use crate::session::digest::entry_stats::{EntryRole, EntryStats, SessionStats};
use crate::session::entry::parse;
use crate::session::links::{ById, IdHash, Index};
use crate::session::stats::StatsSum;
use crate::session::stats::grouping::{Calendar, Grouping, SAME_KEYS};
use crate::session::stats::paths;
use crate::session::stats::prices::{Prices, listed_cost};

/// The maximum length of a title, in UTF-16 code units.
const TITLE: usize = 80;

/// The number of groups of sessions per task.
const AT_ONCE: usize = 64;

/// What to sum.
#[derive(Clone, Debug)]
pub struct StatsRequest {
    /// The groupings: none, one or two.
    pub groupings: Vec<Grouping>,
    /// The calendar.
    pub calendar: Calendar,
    /// The price table.
    pub prices: Prices,
    /// Count only entries since this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Count only entries before this time.
    pub until: Option<i64>,
    /// Longer times between entries are pauses, in milliseconds.
    pub pause: i64,
}

/// The key of a group for one grouping.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupKey {
    /// The key; `None` for entries without one.
    pub key: Option<String>,
    /// The title of a session, or the words of a prompt.
    pub title: Option<String>,
}

/// A group with its sums: a key for each grouping.
pub type StatsRow = (Vec<GroupKey>, StatsSum);

/// The sums of all groups in no particular order, and of all entries.
#[derive(Clone, Debug, Default)]
pub struct StatsTable {
    /// The groups.
    pub rows: Vec<StatsRow>,
    /// The sum over all entries.
    pub total: StatsSum,
}

/// The key of an entry within its session for one grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum EntryKey {
    None,
    /// A number of intervals of [`SAME_KEYS`].
    Time(i64),
    Model(u32),
    Tool(u32),
    Entry(Index),
    Session,
}

impl StatsTable {
    /// Sums the entries of the sessions for which `is_wanted` returns `true`.
    pub fn new(catalog: &Catalog, request: &StatsRequest, is_wanted: &(dyn Fn(SessionKey) -> bool + Sync)) -> Self {
        let mut groups: Vec<Vec<SessionKey>> = Vec::new();
        let mut grouped: HashSet<SessionKey> = HashSet::new();
        for key in catalog.keys().filter(|key| is_wanted(*key)) {
            if !grouped.contains(&key) {
                let group = catalog.sharing(key);
                grouped.extend(group.iter().filter(|_| group.len() > 1));
                groups.push(group);
            }
        }
        let chunks: Vec<&[Vec<SessionKey>]> = groups.chunks(AT_ONCE).collect();
        let tables = parallel::map(&chunks, |chunk| {
            let mut sums = GroupSums { catalog, request, rows: HashMap::new(), times: HashMap::new(), total: None };
            chunk.iter().for_each(|group| sums.add(group, is_wanted));
            (sums.rows, sums.total.unwrap_or_default())
        });
        let mut table = Self::default();
        let mut rows: HashMap<Vec<GroupKey>, StatsSum> = HashMap::new();
        for (some, total) in tables {
            table.total += &total;
            for (key, sum) in some {
                *rows.entry(key).or_default() += &sum;
            }
        }
        table.rows = rows.into_iter().collect();
        table
    }
}

/// The sums of some sessions.
struct GroupSums<'a> {
    catalog: &'a Catalog,
    request: &'a StatsRequest,
    rows: HashMap<Vec<GroupKey>, StatsSum>,
    /// The keys of times by grouping and number of intervals.
    times: HashMap<(Grouping, i64), Option<String>>,
    total: Option<StatsSum>,
}

impl GroupSums<'_> {
    /// Adds the sessions of a group that share entries, oldest first.
    fn add(&mut self, group: &[SessionKey], is_wanted: &(dyn Fn(SessionKey) -> bool + Sync)) {
        let members: Vec<(SessionKey, Digest)> =
            group.iter().filter_map(|&key| Some((key, self.catalog.get(key)?.once().into_owned()))).collect();
        let on_paths: Option<HashSet<IdHash>> = (members.len() > 1).then(|| {
            let active = members.iter().flat_map(|(_, digest)| {
                let details = digest.details();
                (0..).zip(&details.entries.ids).filter(|(at, _)| details.active.has(*at)).map(|(_, id)| *id)
            });
            active.collect()
        });
        let mut seen = ById::<()>::default();
        for (key, digest) in &members {
            let details = digest.details();
            let is_own = |at: usize, seen: &mut ById<()>| {
                details.entries.ids.get(at).is_none_or(|id| seen.insert(*id, ()).is_none())
            };
            if !is_wanted(*key) {
                (0..details.entries.ids.len()).for_each(|at| {
                    is_own(at, &mut seen);
                });
                continue;
            }
            let is_abandoned = |at: usize| match (&on_paths, details.entries.ids.get(at)) {
                (Some(on_paths), Some(id)) => !on_paths.contains(id),
                _ => !details.active.has(at as Index),
            };
            let own: Vec<Option<bool>> =
                (0..details.entries.ids.len()).map(|at| is_own(at, &mut seen).then(|| is_abandoned(at))).collect();
            self.add_session(*key, digest, &own);
        }
    }

    /// Adds a session. For each entry, `own` is `None` if an older session has it, or else `true` if it is abandoned.
    fn add_session(&mut self, session: SessionKey, digest: &Digest, own: &[Option<bool>]) {
        let StatsRequest { groupings, pause, since, until, .. } = self.request;
        let stats = &digest.details().stats;
        let (entries, parents) = (stats.entries(), stats.parents());
        if entries.len() != parents.len() {
            return; // damaged
        }
        let prompts = paths::prompts(&entries, &parents);
        let prompt_times = paths::prompt_times(&entries, &prompts);
        let working_times = paths::working_times(&entries, *pause);
        let leaves = if groupings.contains(&Grouping::Branch) { paths::leaves(&parents) } else { Vec::new() };
        let mut sums: HashMap<Vec<EntryKey>, StatsSum> = HashMap::new();
        let mut total = StatsSum::default();
        let is_in_time = |time: Option<i64>| match time {
            Some(time) => since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until),
            None => since.is_none() && until.is_none(),
        };
        for (at, entry) in entries.iter().enumerate() {
            let Some(is_abandoned) = own.get(at).copied().flatten().filter(|_| is_in_time(entry.time)) else {
                continue;
            };
            let key_of = |grouping: &Grouping| match grouping {
                Grouping::Day | Grouping::Week | Grouping::Month | Grouping::Hour | Grouping::Weekday => {
                    entry.time.map_or(EntryKey::None, |time| EntryKey::Time(time.div_euclid(SAME_KEYS)))
                }
                Grouping::Model | Grouping::Provider => {
                    let model = entry.usage.as_ref().and_then(|usage| usage.model);
                    model.map_or(EntryKey::None, EntryKey::Model)
                }
                Grouping::Tool => entry.tool.map_or(EntryKey::None, EntryKey::Tool),
                Grouping::Prompt => prompts[at].map_or(EntryKey::None, EntryKey::Entry),
                Grouping::Branch => EntryKey::Entry(leaves[at]),
                Grouping::Project | Grouping::Family | Grouping::Session => EntryKey::Session,
            };
            let one = self.sum_of(entry, stats, is_abandoned, (working_times[at], prompt_times[at]));
            *sums.entry(groupings.iter().map(key_of).collect()).or_default() += &one;
            total += &one;
        }
        if total.entries > 0 {
            total.sessions.push(session.place() as u32);
        }
        *self.total.get_or_insert_default() += &total;
        let mut rows: HashMap<Vec<GroupKey>, StatsSum> = HashMap::new();
        for (keys, sum) in sums {
            let keys =
                keys.iter().zip(groupings).map(|(&key, &grouping)| self.group_key(session, digest, (grouping, key)));
            *rows.entry(keys.collect()).or_default() += &sum;
        }
        for (keys, mut sum) in rows {
            sum.sessions = vec![session.place() as u32];
            *self.rows.entry(keys).or_default() += &sum;
        }
    }

    /// Returns the sum of one entry, which took a working time and, as a prompt, a time until its last answer.
    fn sum_of(
        &self,
        entry: &EntryStats,
        stats: &SessionStats,
        is_abandoned: bool,
        (working_time, prompt_time): (i64, Option<i64>),
    ) -> StatsSum {
        let mut sum = StatsSum {
            prompts: usize::from(entry.role == EntryRole::Prompt),
            entries: 1,
            working_time,
            lines_added: entry.added.into(),
            lines_removed: entry.removed.into(),
            tool_calls: entry.calls.into(),
            tool_failures: entry.failures.into(),
            prompt_times: prompt_time.into_iter().collect(),
            compactions: usize::from(entry.role == EntryRole::Compaction),
            images: entry.images.into(),
            ..StatsSum::default()
        };
        if let Some(usage) = &entry.usage {
            sum.tokens = usage.tokens.map(|tokens| tokens.number());
            sum.cost = usage.cost;
            sum.abandoned_cost = if is_abandoned { usage.cost } else { 0.0 };
            let model = usage.model.and_then(|model| stats.models.get(model as usize));
            match model.and_then(|(provider, model)| self.request.prices.of(provider, model)) {
                Some(prices) => sum.listed_cost = listed_cost(&sum.tokens, prices),
                None => sum.unpriced_tokens = sum.all_tokens(),
            }
        }
        sum
    }

    /// Returns the key of a group from the key of an entry within its session.
    fn group_key(&mut self, session: SessionKey, digest: &Digest, (grouping, key): (Grouping, EntryKey)) -> GroupKey {
        let details = digest.details();
        let id = &digest.header.id;
        let named = |text: &str| GroupKey { key: Some(text.to_string()).filter(|text| !text.is_empty()), title: None };
        match (grouping, key) {
            (_, EntryKey::None) => GroupKey::default(),
            (_, EntryKey::Time(number)) => {
                let calendar = &self.request.calendar;
                let key = || calendar.key(grouping, number.saturating_mul(SAME_KEYS));
                GroupKey { key: self.times.entry((grouping, number)).or_insert_with(key).clone(), title: None }
            }
            (_, EntryKey::Model(model)) => match details.stats.models.get(model as usize) {
                Some((provider, _)) if grouping == Grouping::Provider => named(provider),
                Some((_, model)) => named(model),
                None => GroupKey::default(),
            },
            (_, EntryKey::Tool(tool)) => {
                details.stats.tools.get(tool as usize).map_or_else(GroupKey::default, |tool| named(tool))
            }
            (Grouping::Prompt, EntryKey::Entry(at)) => {
                let prompts = &details.stats.prompts;
                let Ok(prompt) = prompts.binary_search_by_key(&at, |prompt| prompt.at) else {
                    return GroupKey::default();
                };
                let prompt = &prompts[prompt];
                GroupKey { key: Some(format!("{id}@{}", prompt.id)), title: Some(prompt.words.to_string()) }
            }
            (_, EntryKey::Entry(leaf)) => {
                let leaf = entry_id(digest, leaf).unwrap_or_else(|| format!("#{leaf}"));
                GroupKey { key: Some(format!("{id}@{leaf}")), title: Some(title(digest)) }
            }
            (Grouping::Project, EntryKey::Session) => named(&digest.header.cwd),
            (Grouping::Family, EntryKey::Session) => {
                let root = self.catalog.families().line(session).last().and_then(|root| self.catalog.get(root));
                root.map_or_else(GroupKey::default, |root| {
                    let root = root.once();
                    GroupKey { key: Some(root.header.id.to_string()), title: Some(title(&root)) }
                })
            }
            (_, EntryKey::Session) => GroupKey { key: Some(id.to_string()), title: Some(title(digest)) },
        }
    }
}

/// Returns the beginning of the title of a session.
fn title(digest: &Digest) -> String {
    utf16_prefix(digest.title(), TITLE).to_string()
}

/// Reads the ID of an entry from the session file.
fn entry_id(digest: &Digest, at: Index) -> Option<String> {
    let line = Bodies::open(&digest.path).ok()?.line_at(*digest.details().offsets.get(at as usize)?).ok()?;
    Some(parse::line(&line).ok()??.id?.text().into_owned())
}
