//! Adds the entries of sessions to the groups of tables.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::base::machine_paths::LOCAL_MACHINE;
use crate::catalog::key::SessionKey;
use crate::catalog::stats::request::{GroupKey, StatsRow, TableRequest};
use crate::catalog::stats::sessions::{SharedPaths, StatsSessions};
use crate::session::digest::commits::DigestCommit;
use crate::session::digest::listed::{LazySession, SharedLazySession};
use crate::session::links::{ById, EntryIndex, IdHash};
use crate::session::stats::entry_stats::{EntryStats, SessionStats, UsedModel};
use crate::session::stats::grouping::{Grouping, GroupingScope, SAME_KEYS};
use crate::session::stats::intervals::{IntervalSum, SessionSums};
use crate::session::stats::prices::ModelPrices;
use crate::session::stats::{StatsRules, StatsSum, paths};

/// The key of an entry within its session for one grouping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum EntryKey {
    /// A number of intervals of [`SAME_KEYS`].
    Time(i64),
    Model(u32),
    Tool(u32),
    Entry(EntryIndex),
    Commit(CommitKey),
    Session,
}

/// The keys of an entry for up to two groupings.
type EntryKeys = [Option<EntryKey>; 2];

/// A table of some sessions.
#[derive(Default)]
pub(super) struct PartialTable {
    /// Groups of one session each.
    pub(super) own_rows: Vec<StatsRow>,
    /// Groups that several sessions can have.
    pub(super) rows: HashMap<Vec<GroupKey>, StatsSum>,
    /// The groups of one session after the limit.
    pub(super) other: (usize, StatsSum),
    /// The sum over all entries.
    pub(super) total: StatsSum,
}

/// The sums of some sessions.
pub(super) struct GroupSums<'a> {
    sessions: &'a StatsSessions,
    rules: &'a StatsRules,
    requests: &'a [TableRequest],
    /// The keys of times by grouping and number of intervals.
    times: HashMap<(Grouping, i64), Option<String>>,
    /// `true` if the sums that are kept for each session suffice.
    needs_only_sums: bool,
    /// The tables, one for each request.
    pub(super) tables: Vec<PartialTable>,
}

/// A session whose entries are counted.
struct CountedSession<'a> {
    key: SessionKey,
    listed: &'a LazySession,
    models: &'a [UsedModel],
    tools: &'a [Box<str>],
    /// The prompt of each entry.
    prompts: Vec<Option<EntryIndex>>,
    /// The model of each entry: see [`paths::models`].
    answered_by: Vec<Option<u32>>,
    /// The leaf of each entry, if needed.
    leaves: Vec<EntryIndex>,
    /// The commit after each entry, if needed; empty if there are none.
    commits: Vec<Option<CommitKey>>,
    /// The entries that no older session has.
    entries: Vec<CountedEntry<'a>>,
}

/// An entry to count.
struct CountedEntry<'a> {
    at: EntryIndex,
    stats: &'a EntryStats,
    is_abandoned: bool,
    prices: Option<&'a ModelPrices>,
    /// The time since the entry before, without pauses.
    working_time: i64,
    /// The time that the prompt took.
    prompt_time: Option<i64>,
}

impl<'a> GroupSums<'a> {
    pub(super) fn new(sessions: &'a StatsSessions, rules: &'a StatsRules, requests: &'a [TableRequest]) -> Self {
        let tables = requests.iter().map(|_| PartialTable::default()).collect();
        let suffice = |TableRequest { groupings, since, until, .. }: &TableRequest| {
            SessionSums::suffice(groupings, [*since, *until], rules.pause)
        };
        let needs_only_sums = requests.iter().all(suffice);
        Self { sessions, rules, requests, needs_only_sums, times: HashMap::new(), tables }
    }

    /// Returns the tables after all sessions.
    pub(super) fn finish(mut self) -> Vec<PartialTable> {
        (0..self.tables.len()).for_each(|number| self.limit(number));
        self.tables
    }

    /// Adds the sessions of a group that share entries, oldest first.
    pub(super) fn add(&mut self, group: &[SessionKey]) {
        let members: Vec<(SessionKey, &SharedLazySession)> =
            group.iter().filter_map(|&key| Some((key, self.sessions.get(key)?))).collect();
        if let ([(key, session)], true) = (&members[..], self.needs_only_sums)
            && self.add_sums(*key, session)
        {
            return;
        }
        let has_commits =
            |session: &SharedLazySession| self.has_grouping(Grouping::Commit) && session.facts().is_committed();
        let mut commits = CommitsAfter::default();
        if let [(key, session)] = members[..] {
            let stats = session.stats();
            let mut of_entries = Vec::new();
            if has_commits(session) {
                let digest = session.uncached_digest();
                let ids = &digest.details_once().entries.ids;
                commits.add(key, &digest.commits, (ids, &stats.parents()));
                of_entries = commits.of(ids);
            }
            let is_repeated = |at: EntryIndex| stats.repeated.binary_search(&at).is_ok();
            let owned = |at: EntryIndex| (!is_repeated(at)).then(|| !stats.active.has(at));
            self.add_session((key, session), of_entries, &stats, owned);
            return;
        }
        let mut shared = SharedPaths::new(members.iter().map(|(_, session)| *session));
        for (number, (key, session)) in members.iter().enumerate() {
            if let (true, Some(details)) = (has_commits(session), shared.details(number)) {
                commits.add(
                    *key,
                    &session.uncached_digest().commits,
                    (&details.entries.ids, &session.stats().parents()),
                );
            }
        }
        for (number, (key, session)) in members.into_iter().enumerate() {
            let places = shared.places(number);
            if self.sessions.is_wanted(key) {
                let of_entries = shared.details(number).map(|details| commits.of(&details.entries.ids));
                self.add_session((key, session), of_entries.unwrap_or_default(), &session.stats(), |at| {
                    places.get(at as usize).filter(|place| place.is_own).map(|place| place.is_abandoned)
                });
            }
        }
    }

    fn has_grouping(&self, grouping: Grouping) -> bool {
        self.requests.iter().any(|request| request.groupings.contains(&grouping))
    }

    /// Adds the kept sums of a session that shares no entries. Returns `false` if they do not suffice, because the prices
    /// of a model depend on each request.
    fn add_sums(&mut self, key: SessionKey, listed: &LazySession) -> bool {
        let SessionSums { models, sums } = listed.sums();
        let prices: Vec<_> = models.iter().map(|model| self.rules.prices.of_used(model)).collect();
        let price = |sum: &IntervalSum| sum.model.and_then(|model| *prices.get(model as usize)?);
        if !sums.iter().all(|sum| price(sum).is_none_or(|prices| prices.has_one_rate(sum.largest_input))) {
            return false;
        }
        for (number, request) in self.requests.iter().enumerate() {
            let time = |sum: &IntervalSum| sum.interval.map(|interval| interval.saturating_mul(SAME_KEYS));
            let mut is_counted = false;
            for of_interval in sums.iter().filter(|sum| request.has_time(time(sum))) {
                let IntervalSum { interval, model, sum, .. } = of_interval;
                let mut sum = sum.clone();
                match price(of_interval) {
                    Some(prices) => {
                        sum.listed_cost = prices.cost(&sum.tokens, sum.long_cache_write, of_interval.largest_input);
                        sum.unpriced_tokens = 0.0;
                    }
                    None => sum.unpriced_tokens = sum.all_tokens(),
                }
                self.tables[number].total += &sum;
                is_counted = true;
                sum.sessions = vec![key.index() as u32];
                let key_of = |grouping: Grouping| match grouping.scope() {
                    GroupingScope::Model => model.map(EntryKey::Model),
                    GroupingScope::Time => interval.map(EntryKey::Time),
                    GroupingScope::Session => Some(EntryKey::Session),
                    GroupingScope::Entry => None, // needs all entries
                };
                let group_key =
                    |&grouping: &Grouping| self.group_key(key, listed, (&models, &[]), grouping, key_of(grouping));
                let keys: Vec<GroupKey> = request.groupings.iter().map(group_key).collect();
                *self.tables[number].rows.entry(keys).or_default() += &sum;
            }
            if is_counted {
                self.tables[number].total.sessions.push(key.index() as u32);
            }
        }
        true
    }

    /// Adds a session. For each entry, `owned` returns `None` if it was counted already, or else `true` if it is
    /// abandoned.
    fn add_session(
        &mut self,
        (key, listed): (SessionKey, &LazySession),
        commits: Vec<Option<CommitKey>>,
        stats: &SessionStats,
        owned: impl Fn(EntryIndex) -> Option<bool>,
    ) {
        let (entries, parents) = (stats.entries(), stats.parents());
        if entries.len() != parents.len() {
            return; // damaged
        }
        let prompts = paths::prompts(&entries, &parents);
        let answered_by = paths::models(&entries, &prompts);
        let prompt_times = paths::prompt_times(&entries, &prompts);
        let working_times = paths::working_times(&entries, self.rules.pause);
        let leaves = if self.has_grouping(Grouping::Branch) { paths::leaves(&parents) } else { Vec::new() };
        let prices: Vec<_> = stats.models.iter().map(|model| self.rules.prices.of_used(model)).collect();
        let counted = (0..).zip(&entries).filter_map(|(at, stats): (EntryIndex, _)| {
            let model = stats.usage.as_ref().and_then(|usage| usage.model);
            Some(CountedEntry {
                at,
                stats,
                is_abandoned: owned(at)?,
                prices: model.and_then(|model| *prices.get(model as usize)?),
                working_time: working_times[at as usize],
                prompt_time: prompt_times[at as usize],
            })
        });
        let entries = counted.collect();
        let SessionStats { models, tools, .. } = stats;
        let session = CountedSession { key, listed, models, tools, prompts, answered_by, leaves, commits, entries };
        for number in 0..self.requests.len() {
            self.add_to_table(number, &session);
        }
    }

    /// Adds the entries of a session to a table.
    fn add_to_table(&mut self, number: usize, session: &CountedSession<'_>) {
        let request @ TableRequest { groupings, limit, .. } = &self.requests[number];
        let mut sums: Vec<(EntryKeys, StatsSum)> = Vec::new();
        let mut places: HashMap<EntryKeys, usize> = HashMap::new();
        let mut last = None;
        for entry in session.entries.iter().filter(|entry| request.has_time(entry.stats.time)) {
            let mut keys = EntryKeys::default();
            keys.iter_mut().zip(groupings).for_each(|(key, grouping)| *key = session.entry_key(*grouping, entry));
            // Most entries are in the group of the entry before.
            let place = match last {
                Some((before, place)) if before == keys => place,
                _ => *places.entry(keys).or_insert_with(|| {
                    sums.push((keys, StatsSum::default()));
                    sums.len() - 1
                }),
            };
            last = Some((keys, place));
            let sum = &mut sums[place].1;
            sum.add(entry.stats, entry.is_abandoned, entry.prices);
            sum.working_time = sum.working_time.saturating_add(entry.working_time);
            sum.prompt_times.extend(entry.prompt_time);
        }
        if sums.is_empty() {
            return;
        }
        let total = &mut self.tables[number].total;
        sums.iter().for_each(|(_, sum)| *total += sum);
        total.sessions.push(session.key.index() as u32);
        let mut rows: HashMap<Vec<GroupKey>, StatsSum> = HashMap::new();
        for (keys, mut sum) in sums {
            sum.sessions = vec![session.key.index() as u32];
            let &CountedSession { key: session, listed, models, tools, .. } = session;
            let group_key = |(&grouping, key)| self.group_key(session, listed, (models, tools), grouping, key);
            let keys: Vec<GroupKey> = groupings.iter().zip(keys).map(group_key).collect();
            // The entries before a commit can be in several sessions.
            if matches!(keys[..], [GroupKey::Entry(..)]) && *groupings != [Grouping::Commit] {
                self.tables[number].own_rows.push((keys, sum));
            } else {
                *rows.entry(keys).or_default() += &sum;
            }
        }
        let table = &mut self.tables[number];
        for (keys, sum) in rows {
            *table.rows.entry(keys).or_default() += &sum;
        }
        if limit.is_some_and(|limit| table.own_rows.len() > limit.saturating_add(ROWS_BEFORE_LIMIT)) {
            self.limit(number);
        }
    }

    /// Keeps only as many groups of single sessions as the table will have.
    fn limit(&mut self, number: usize) {
        let request = &self.requests[number];
        let PartialTable { own_rows, other, .. } = &mut self.tables[number];
        if request.limit.is_some_and(|limit| limit < own_rows.len()) {
            request.sort(self.sessions, own_rows, other);
        }
    }

    /// Returns the key of a group from the key of an entry within its session, which has these models and tools.
    fn group_key(
        &mut self,
        session: SessionKey,
        listed: &LazySession,
        (models, tools): (&[UsedModel], &[Box<str>]),
        grouping: Grouping,
        key: Option<EntryKey>,
    ) -> GroupKey {
        let named = |text: &str| if text.is_empty() { GroupKey::None } else { GroupKey::Text(text.into()) };
        let Some(key) = key else { return GroupKey::None };
        match (grouping, key) {
            (_, EntryKey::Time(number)) => {
                let calendar = &self.rules.calendar;
                let key = || calendar.key(grouping, number.saturating_mul(SAME_KEYS));
                let key = self.times.entry((grouping, number)).or_insert_with(key);
                key.as_deref().map_or(GroupKey::None, named)
            }
            (_, EntryKey::Model(model)) => match models.get(model as usize) {
                Some(model) if grouping == Grouping::Provider => named(&model.provider),
                Some(model) => named(&model.answered),
                None => GroupKey::None,
            },
            (_, EntryKey::Tool(tool)) => tools.get(tool as usize).map_or(GroupKey::None, |name| named(name)),
            (_, EntryKey::Entry(at)) => GroupKey::Entry(session, at),
            (_, EntryKey::Commit((session, at))) => GroupKey::Entry(session, at),
            (Grouping::Machine, EntryKey::Session) => named(listed.facts().machine().unwrap_or(LOCAL_MACHINE)),
            (Grouping::Project, EntryKey::Session) => named(&self.sessions.project(listed)),
            (Grouping::Tag, EntryKey::Session) => named(&self.sessions.tags(&listed.facts().marks_key())),
            (Grouping::Family, EntryKey::Session) => GroupKey::Session(self.sessions.oldest(session)),
            (_, EntryKey::Session) => GroupKey::Session(session),
        }
    }
}

/// The number of rows over the limit from which on they are sorted and dropped.
const ROWS_BEFORE_LIMIT: usize = 1000;

impl CountedSession<'_> {
    fn entry_key(&self, grouping: Grouping, &CountedEntry { at, stats, .. }: &CountedEntry<'_>) -> Option<EntryKey> {
        match grouping {
            Grouping::Day | Grouping::Week | Grouping::Month | Grouping::Hour => {
                stats.time.map(|time| EntryKey::Time(time.div_euclid(SAME_KEYS)))
            }
            Grouping::Model | Grouping::Provider => self.answered_by[at as usize].map(EntryKey::Model),
            Grouping::Tool => stats.tool.map(EntryKey::Tool),
            Grouping::Prompt => self.prompts[at as usize].map(EntryKey::Entry),
            Grouping::Branch => Some(EntryKey::Entry(self.leaves[at as usize])),
            Grouping::Commit => self.commits.get(at as usize).copied().flatten().map(EntryKey::Commit),
            Grouping::Project | Grouping::Machine | Grouping::Tag | Grouping::Family | Grouping::Session => {
                Some(EntryKey::Session)
            }
        }
    }
}

/// A commit, by the session and the entry that printed it.
type CommitKey = (SessionKey, EntryIndex);

/// The commits after the entries of sessions that share entries. An entry before a branch point belongs to the commit
/// that is first in the oldest session.
#[derive(Debug, Default)]
struct CommitsAfter(ById<CommitKey>);

impl CommitsAfter {
    /// Adds the commits of a session with the keys and parents of its entries; the older sessions come first.
    pub(super) fn add(
        &mut self,
        key: SessionKey,
        commits: &[DigestCommit],
        (ids, parents): (&[IdHash], &[Option<EntryIndex>]),
    ) {
        for commit in commits {
            let mut next = Some(commit.at);
            while let Some(at) = next.take()
                && let (Some(&id), Some(&parent)) = (ids.get(at as usize), parents.get(at as usize))
            {
                // All entries above one with a commit have one, too.
                if let Entry::Vacant(place) = self.0.entry(id) {
                    place.insert((key, commit.at));
                    next = parent;
                }
            }
        }
    }

    /// Returns the commits after the entries with these keys; empty if there are none.
    pub(super) fn of(&self, ids: &[IdHash]) -> Vec<Option<CommitKey>> {
        match self.0.is_empty() {
            true => Vec::new(),
            false => ids.iter().map(|id| self.0.get(id).copied()).collect(),
        }
    }
}
