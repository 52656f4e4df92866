//! Statistics of sessions. Each entry is counted once, in the oldest session that contains it, and belongs to one group.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::base::javascript::utf16_prefix;
use crate::catalog::Catalog;
use crate::catalog::key::SessionKey;
use crate::disk::load::Bodies;
use crate::disk::parallel;
use crate::session::digest::Digest;
use crate::session::digest::details::Details;
use crate::session::digest::entry_stats::SessionStats;
use crate::session::digest::listed::{ListedSession, SharedSession};
use crate::session::entry::parse;
use crate::session::links::{ById, IdHash, Index};
use crate::session::stats::StatsSum;
use crate::session::stats::grouping::{Calendar, Grouping, SAME_KEYS};
use crate::session::stats::paths;
use crate::session::stats::prices::Prices;

/// The maximum length of a title, in UTF-16 code units.
const TITLE: usize = 80;

/// The number of groups of sessions per task.
const AT_ONCE: usize = 64;

/// The groupings and the range of a statistic.
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// Entries without a key.
    #[default]
    None,
    /// A time, model, provider, project or tool.
    Text(String),
    /// A session, or a family by its oldest session.
    Session(SessionKey),
    /// A prompt, or the leaf of a branch.
    Entry(SessionKey, Index),
}

/// A key in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupName {
    /// The key; `None` for entries without one. Of an entry, `SESSION@ENTRY`.
    pub key: Option<String>,
    /// The title of a session, or the words of a prompt.
    pub title: Option<String>,
}

impl GroupKey {
    /// Compares keys in a fixed order: texts alphabetically, sessions by ID, entries by their place in the file.
    pub fn compare(&self, other: &Self, catalog: &Catalog) -> Ordering {
        let id = |key: &SessionKey| catalog.get(*key).map(|session| session.facts().id);
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Session(one), Self::Session(other)) => id(one).cmp(&id(other)).then(one.cmp(other)),
            (Self::Entry(one, at), Self::Entry(other, other_at)) => {
                id(one).cmp(&id(other)).then(one.cmp(other)).then(at.cmp(other_at))
            }
            _ => matches!(self, Self::None).cmp(&matches!(other, Self::None)),
        }
    }

    /// Returns the key in words. Reads the ID of a leaf from its file.
    pub fn name(&self, grouping: Grouping, catalog: &Catalog) -> GroupName {
        match self {
            Self::None => GroupName::default(),
            Self::Text(text) => GroupName { key: Some(text.clone()), title: None },
            Self::Session(key) => catalog.get(*key).map_or_else(GroupName::default, |session| GroupName {
                key: Some(session.facts().id.to_string()),
                title: Some(title(&session.once())),
            }),
            Self::Entry(key, at) => {
                let Some(session) = catalog.get(*key) else { return GroupName::default() };
                let digest = session.once();
                let (entry, title) = if grouping == Grouping::Prompt {
                    let stats = session.stats();
                    let (id, words) = stats.prompt(*at).unwrap_or_default();
                    (id.to_string(), words.to_string())
                } else {
                    (entry_id(&digest, *at).unwrap_or_default(), title(&digest))
                };
                let entry = if entry.is_empty() { format!("#{at}") } else { entry };
                GroupName { key: Some(format!("{}@{entry}", digest.header.id)), title: Some(title) }
            }
        }
    }
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum EntryKey {
    #[default]
    None,
    /// A number of intervals of [`SAME_KEYS`].
    Time(i64),
    Model(u32),
    Tool(u32),
    Entry(Index),
    Session,
}

/// The keys of an entry for up to two groupings.
type EntryKeys = [EntryKey; 2];

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
            let (own_rows, rows, times, total) = Default::default();
            let mut sums = GroupSums { catalog, request, own_rows, rows, times, total };
            chunk.iter().for_each(|group| sums.add(group, is_wanted));
            (sums.own_rows, sums.rows, sums.total)
        });
        let mut table = Self::default();
        let mut rows: HashMap<Vec<GroupKey>, StatsSum> = HashMap::new();
        for (own_rows, some, total) in tables {
            table.total += &total;
            table.rows.extend(own_rows);
            for (key, sum) in some {
                *rows.entry(key).or_default() += &sum;
            }
        }
        table.rows.extend(rows);
        table
    }
}

/// The sums of some sessions.
struct GroupSums<'a> {
    catalog: &'a Catalog,
    request: &'a StatsRequest,
    /// Groups of one session each.
    own_rows: Vec<StatsRow>,
    /// Groups that several sessions can have.
    rows: HashMap<Vec<GroupKey>, StatsSum>,
    /// The keys of times by grouping and number of intervals.
    times: HashMap<(Grouping, i64), Option<String>>,
    total: StatsSum,
}

impl GroupSums<'_> {
    /// Adds the sessions of a group that share entries, oldest first.
    fn add(&mut self, group: &[SessionKey], is_wanted: &(dyn Fn(SessionKey) -> bool + Sync)) {
        let members: Vec<(SessionKey, &SharedSession)> =
            group.iter().filter_map(|&key| Some((key, self.catalog.get(key)?))).collect();
        if let [(key, session)] = members[..] {
            let stats = session.stats();
            let is_repeated = |at: Index| stats.repeated.binary_search(&at).is_ok();
            let owned = |at: Index| (!is_repeated(at)).then(|| !stats.active.has(at));
            self.add_session(key, session, &stats, owned);
            return;
        }
        let details: Vec<Arc<Details>> = members.iter().map(|(_, session)| session.once().details_once()).collect();
        let on_paths: HashSet<IdHash> = details
            .iter()
            .flat_map(|of| (0..).zip(&of.entries.ids).filter(|(at, _)| of.active.has(*at)).map(|(_, id)| *id))
            .collect();
        let mut seen = ById::<()>::default();
        for ((key, session), details) in members.into_iter().zip(&details) {
            let ids = &details.entries.ids;
            let owned: Vec<Option<bool>> =
                ids.iter().map(|id| seen.insert(*id, ()).is_none().then(|| !on_paths.contains(id))).collect();
            if is_wanted(key) {
                self.add_session(key, session, &session.stats(), |at| owned.get(at as usize).copied().flatten());
            }
        }
    }

    /// Adds a session. For each entry, `owned` returns `None` if it was counted already, or else `true` if it is
    /// abandoned.
    fn add_session(
        &mut self,
        session: SessionKey,
        listed: &ListedSession,
        stats: &SessionStats,
        owned: impl Fn(Index) -> Option<bool>,
    ) {
        let StatsRequest { groupings, pause, since, until, prices, .. } = self.request;
        let (entries, parents) = (stats.entries(), stats.parents());
        if entries.len() != parents.len() {
            return; // damaged
        }
        let prompts = paths::prompts(&entries, &parents);
        let prompt_times = paths::prompt_times(&entries, &prompts);
        let working_times = paths::working_times(&entries, *pause);
        let leaves = if groupings.contains(&Grouping::Branch) { paths::leaves(&parents) } else { Vec::new() };
        let is_in_time = |time: Option<i64>| match time {
            Some(time) => since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until),
            None => since.is_none() && until.is_none(),
        };
        let model_prices: Vec<_> = stats.models.iter().map(|(provider, model)| prices.of(provider, model)).collect();
        let mut sums: Vec<(EntryKeys, StatsSum)> = Vec::new();
        let mut places: HashMap<EntryKeys, usize> = HashMap::new();
        let mut last = None;
        for (at, entry) in (0..).zip(&entries) {
            let Some(is_abandoned) = owned(at).filter(|_| is_in_time(entry.time)) else { continue };
            let mut keys = EntryKeys::default();
            for (key, grouping) in keys.iter_mut().zip(groupings) {
                *key = match grouping {
                    Grouping::Day | Grouping::Week | Grouping::Month | Grouping::Hour | Grouping::Weekday => {
                        entry.time.map_or(EntryKey::None, |time| EntryKey::Time(time.div_euclid(SAME_KEYS)))
                    }
                    Grouping::Model | Grouping::Provider => {
                        let model = entry.usage.as_ref().and_then(|usage| usage.model);
                        model.map_or(EntryKey::None, EntryKey::Model)
                    }
                    Grouping::Tool => entry.tool.map_or(EntryKey::None, EntryKey::Tool),
                    Grouping::Prompt => prompts[at as usize].map_or(EntryKey::None, EntryKey::Entry),
                    Grouping::Branch => EntryKey::Entry(leaves[at as usize]),
                    Grouping::Project | Grouping::Family | Grouping::Session => EntryKey::Session,
                };
            }
            // Most entries are in the group of the entry before.
            let place = match last {
                Some((before, place)) if before == keys => place,
                _ => *places.entry(keys).or_insert_with(|| {
                    sums.push((keys, StatsSum::default()));
                    sums.len() - 1
                }),
            };
            last = Some((keys, place));
            let model = entry.usage.as_ref().and_then(|usage| usage.model);
            let prices = model.and_then(|model| *model_prices.get(model as usize)?);
            let sum = &mut sums[place].1;
            sum.add(entry, is_abandoned, prices);
            sum.working_time = sum.working_time.saturating_add(working_times[at as usize]);
            sum.prompt_times.extend(prompt_times[at as usize]);
        }
        if sums.is_empty() {
            return;
        }
        sums.iter().for_each(|(_, sum)| self.total += sum);
        self.total.sessions.push(session.place() as u32);
        let mut rows: HashMap<Vec<GroupKey>, StatsSum> = HashMap::new();
        for (keys, mut sum) in sums {
            sum.sessions = vec![session.place() as u32];
            let keys = groupings.iter().zip(keys);
            let keys: Vec<GroupKey> =
                keys.map(|(&grouping, key)| self.group_key(session, listed, stats, (grouping, key))).collect();
            if matches!(keys[..], [GroupKey::Entry(..)]) {
                self.own_rows.push((keys, sum));
            } else {
                *rows.entry(keys).or_default() += &sum;
            }
        }
        for (keys, sum) in rows {
            *self.rows.entry(keys).or_default() += &sum;
        }
    }

    /// Returns the key of a group from the key of an entry within its session.
    fn group_key(
        &mut self,
        session: SessionKey,
        listed: &ListedSession,
        stats: &SessionStats,
        (grouping, key): (Grouping, EntryKey),
    ) -> GroupKey {
        let named = |text: &str| if text.is_empty() { GroupKey::None } else { GroupKey::Text(text.into()) };
        match (grouping, key) {
            (_, EntryKey::None) => GroupKey::None,
            (_, EntryKey::Time(number)) => {
                let calendar = &self.request.calendar;
                let key = || calendar.key(grouping, number.saturating_mul(SAME_KEYS));
                let key = self.times.entry((grouping, number)).or_insert_with(key);
                key.as_deref().map_or(GroupKey::None, named)
            }
            (_, EntryKey::Model(model)) => match stats.models.get(model as usize) {
                Some((provider, _)) if grouping == Grouping::Provider => named(provider),
                Some((_, model)) => named(model),
                None => GroupKey::None,
            },
            (_, EntryKey::Tool(tool)) => stats.tools.get(tool as usize).map_or(GroupKey::None, |tool| named(tool)),
            (_, EntryKey::Entry(at)) => GroupKey::Entry(session, at),
            (Grouping::Project, EntryKey::Session) => named(listed.facts().cwd),
            (Grouping::Family, EntryKey::Session) => {
                GroupKey::Session(self.catalog.families().line(session).last().unwrap_or(session))
            }
            (_, EntryKey::Session) => GroupKey::Session(session),
        }
    }
}

/// Returns the beginning of the title of a session.
fn title(digest: &Digest) -> String {
    utf16_prefix(digest.title(), TITLE).to_string()
}

/// Reads the ID of an entry from the session file.
fn entry_id(digest: &Digest, at: Index) -> Option<String> {
    let line = Bodies::open(&digest.path).ok()?.line_at(*digest.details_once().offsets.get(at as usize)?).ok()?;
    Some(parse::line(&line).ok()??.id?.text().into_owned())
}
