//! The cache of a search: folded titles, and texts up to a size limit. They are in few large blocks, which allocators request
//! from the system separately and return at once; so no memory of a search is retained by small allocations.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use crate::catalog::SessionKey;
use crate::catalog::searched_session::SearchedSession;
use crate::disk::files;
use crate::disk::lines::{self, CancelableReader};
use crate::search::candidate::Candidate;
use crate::session::links::{ActivePath, EntryIndex};
use crate::session::search_text::{Passages, SearchTextBuilder, SearchTexts, SearchTextsBuf, TextBuffers};
use crate::session::search_titles::{SearchTitles, TitlesBuf};

/// The maximum size in bytes of texts of outdated sessions before the cache is compacted.
const MAX_OUTDATED: usize = 32 * 1024 * 1024;

thread_local! {
    /// The buffers of a thread for texts in the index.
    static BUFFERS: Cell<TextBuffers> = Cell::default();
}

/// The cache.
#[derive(Debug, Default)]
pub(super) struct SearchCache {
    pub(super) sessions: HashMap<SessionKey, CachedFile>,
    pub(super) arena: TextArena,
    /// The size of the texts in bytes.
    pub(super) bytes: usize,
    /// The size of outdated texts in bytes.
    outdated: usize,
    /// The number of additions and removals of texts.
    pub(super) generation: u64,
}

/// The cached data of a file, with the length and time of the file.
#[derive(Clone, Debug)]
pub(super) struct CachedFile {
    version: (u64, i64),
    /// Name, id, directory, first message and labels.
    titles: [ArenaRange; 5],
    /// Conversation and summaries; empty unless they are cached.
    texts: [ArenaRange; 2],
    pub(super) text_state: TextState,
    facts: OnceLock<EntryFacts>,
}

/// The details of a session that hits need.
#[derive(Clone, Debug)]
pub(super) struct EntryFacts {
    /// The user messages in file order.
    pub(super) prompts: Box<[EntryIndex]>,
    /// The entries on the path from the root to the leaf.
    pub(super) active: ActivePath,
}

/// The state of the texts of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TextState {
    /// Not loaded.
    Unread,
    /// Cached.
    Cached,
    /// Not cached for lack of space; read for each search.
    OnDisk,
}

fn version(session: &SearchedSession) -> (u64, i64) {
    let facts = session.digest.facts();
    (facts.bytes(), facts.mtime())
}

impl SearchCache {
    /// Returns the cached data of a session, if it is current.
    pub(super) fn get(&self, session: &SearchedSession) -> Option<&CachedFile> {
        self.sessions.get(&session.key).filter(|known| known.version == version(session))
    }

    /// Releases all cached data.
    pub(super) fn clear(&mut self) {
        *self = Self { generation: self.generation + 1, ..Self::default() };
    }

    /// Adds the titles of a session.
    pub(super) fn add_titles(&mut self, session: &SearchedSession, folded: &TitlesBuf) {
        self.remove(session.key);
        let SearchTitles { name, id, cwd, first_message, labels } = folded.as_titles();
        let [name, id, cwd, first_message] =
            [name, id, cwd, first_message].map(|folded| Passages { folded, ..Passages::default() });
        let titles = [name, id, cwd, first_message, labels].map(|title| self.arena.put(title));
        let known = CachedFile {
            version: version(session),
            titles,
            texts: Default::default(),
            text_state: TextState::Unread,
            facts: OnceLock::new(),
        };
        self.sessions.insert(session.key, known);
    }

    /// Adds the texts of a session if there is space.
    pub(super) fn add_texts(&mut self, session: &SearchedSession, texts: SearchTexts<'_>, most: usize) {
        if self.get(session).is_none_or(|known| known.text_state != TextState::Unread) {
            self.add_titles(session, &TitlesBuf::new(&session.digest));
        }
        let texts = [texts.conversation, texts.summaries];
        let has_space = self.bytes + texts.iter().map(Passages::bytes).sum::<usize>() <= most;
        if let Some(known) = self.sessions.get_mut(&session.key) {
            known.text_state = if has_space { TextState::Cached } else { TextState::OnDisk };
            if has_space {
                known.texts = texts.map(|passages| self.arena.put(passages));
                self.bytes += bytes(&known.texts);
            }
        }
        self.generation += 1;
    }

    fn remove(&mut self, key: SessionKey) {
        let Some(known) = self.sessions.remove(&key) else { return };
        self.bytes -= bytes(&known.texts);
        self.outdated += bytes(&known.texts) + bytes(&known.titles);
        if self.outdated > MAX_OUTDATED {
            self.compact();
        }
    }

    /// Compacts the cache.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.arena);
        self.outdated = 0;
        for known in self.sessions.values_mut() {
            let places = known.titles.iter_mut().chain(&mut known.texts);
            places.for_each(|place| *place = self.arena.put(old.get(*place)));
        }
    }

    /// Calls a function with the data of a session for matching, with the given texts.
    pub(super) fn with_candidate<T>(
        &self,
        session: &SearchedSession,
        texts: Option<SearchTexts<'_>>,
        act: impl FnOnce(&Candidate<'_>) -> T,
    ) -> T {
        let Some(known) = self.get(session) else {
            let digest = session.digest.uncached_digest();
            return act(&session.candidate(&digest, TitlesBuf::new(&digest).as_titles(), texts));
        };
        let [name, id, cwd, first_message, labels] = known.titles.map(|place| self.arena.get(place));
        let [name, id, cwd, first_message] = [name, id, cwd, first_message].map(|passages| passages.folded);
        let titles = SearchTitles { name, id, cwd, first_message, labels };
        act(&session.candidate(&session.digest, titles, texts))
    }

    /// Returns the details of a session that hits need. Loaded on demand.
    pub(super) fn facts(&self, session: &SearchedSession) -> Cow<'_, EntryFacts> {
        let read = || {
            let digest = session.digest.uncached_digest();
            let details = digest.details_once();
            EntryFacts { prompts: details.prompts.clone(), active: details.active.clone() }
        };
        match self.get(session) {
            Some(known) => Cow::Borrowed(known.facts.get_or_init(read)),
            None => Cow::Owned(read()),
        }
    }

    /// Returns `true` if the texts of a session must be read for each search.
    pub(super) fn is_on_disk(&self, session: &SearchedSession) -> bool {
        self.get(session).is_some_and(|known| known.text_state == TextState::OnDisk)
    }

    /// Calls a function with the texts of a session: from the cache, from the index, or from the file. Calls it without
    /// texts if they are not loaded.
    pub(super) fn with_texts<T>(&self, session: &SearchedSession, act: impl FnOnce(Option<SearchTexts<'_>>) -> T) -> T {
        if let Some(known) = self.get(session).filter(|known| known.text_state == TextState::Cached) {
            let [conversation, summaries] = known.texts.map(|place| self.arena.get(place));
            return act(Some(SearchTexts { conversation, summaries }));
        }
        if session.digest.has_stored_texts() {
            let mut buffers = BUFFERS.take();
            if let Some(texts) = session.digest.stored_texts(&mut buffers) {
                let done = act(Some(texts));
                BUFFERS.set(buffers);
                return done;
            }
        }
        let is_read_now = self.is_on_disk(session) || session.digest.has_stored_texts();
        let path = session.digest.facts().path();
        let read = is_read_now.then(|| read_texts(&path.join()).ok().flatten()).flatten();
        act(read.as_ref().map(SearchTextsBuf::as_texts))
    }
}

fn bytes(places: &[ArenaRange]) -> usize {
    places.iter().map(ArenaRange::bytes).sum()
}

/// The size of a block in bytes; memory that was never written takes no space. Slightly above 32 MB, because glibc can
/// keep smaller blocks (`DEFAULT_MMAP_THRESHOLD_MAX`, 2.41).
const BLOCK_SIZE: usize = 33 * 1024 * 1024;

/// Append-only texts.
#[derive(Debug, Default)]
pub(super) struct TextArena(Vec<ArenaBlock>);

#[derive(Debug)]
struct ArenaBlock {
    folded: String,
    starts: Vec<(u32, EntryIndex)>,
    uppercase_bits: Vec<u8>,
}

/// The place of texts.
#[derive(Clone, Copy, Debug, Default)]
struct ArenaRange {
    block: u32,
    /// The start and end in bytes.
    folded: (u32, u32),
    starts: (u32, u32),
    uppercase_bits: (u32, u32),
}

impl TextArena {
    /// Appends texts and returns their place.
    fn put(&mut self, Passages { folded, starts, uppercase_bits }: Passages<'_>) -> ArenaRange {
        let has_room = |block: &ArenaBlock| {
            block.folded.capacity() - block.folded.len() >= folded.len()
                && block.starts.capacity() - block.starts.len() >= starts.len()
                && block.uppercase_bits.capacity() - block.uppercase_bits.len() >= uppercase_bits.len()
        };
        if !self.0.last().is_some_and(has_room) {
            let most_starts = BLOCK_SIZE / size_of::<(u32, EntryIndex)>();
            self.0.push(ArenaBlock {
                folded: String::with_capacity(folded.len().max(BLOCK_SIZE)),
                starts: Vec::with_capacity(starts.len().max(most_starts)),
                uppercase_bits: Vec::with_capacity(uppercase_bits.len().max(BLOCK_SIZE)),
            });
        }
        let at = self.0.len() - 1;
        let block = &mut self.0[at];
        let run = |from: usize, len: usize| (from as u32, (from + len) as u32);
        let place = ArenaRange {
            block: at as u32,
            folded: run(block.folded.len(), folded.len()),
            starts: run(block.starts.len(), starts.len()),
            uppercase_bits: run(block.uppercase_bits.len(), uppercase_bits.len()),
        };
        block.folded.push_str(folded);
        block.starts.extend_from_slice(starts);
        block.uppercase_bits.extend_from_slice(uppercase_bits);
        place
    }

    /// Returns the stored size in bytes.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        let bytes = |block: &ArenaBlock| block.folded.len() + size_of_val(&*block.starts) + block.uppercase_bits.len();
        self.0.iter().map(bytes).sum()
    }

    /// Returns the texts at a place.
    fn get(&self, ArenaRange { block, folded, starts, uppercase_bits }: ArenaRange) -> Passages<'_> {
        let run = |(from, to): (u32, u32)| from as usize..to as usize;
        let block = self.0.get(block as usize);
        block.map_or_else(Passages::default, |block| Passages {
            folded: &block.folded[run(folded)],
            starts: &block.starts[run(starts)],
            uppercase_bits: &block.uppercase_bits[run(uppercase_bits)],
        })
    }
}

impl ArenaRange {
    /// Returns their size in bytes.
    fn bytes(&self) -> usize {
        let run = |(from, to): (u32, u32)| (to - from) as usize;
        run(self.folded) + run(self.starts) * size_of::<(u32, EntryIndex)>() + run(self.uppercase_bits)
    }
}

/// Reads the texts of one file. Returns `None` if it is not a session.
///
/// # Errors
/// The file cannot be read.
pub fn read_texts(path: &Path) -> io::Result<Option<SearchTextsBuf>> {
    let mut builder = SearchTextBuilder::default();
    let is_session = read_into(path, (&mut builder, &mut Vec::new()), || false)?.is_some();
    Ok(is_session.then(|| builder.take()))
}

/// Reads the texts of one file with reusable buffers. Returns `None` if it is not a session or reading was canceled.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read_into<'a>(
    path: &Path,
    (builder, buffer): (&'a mut SearchTextBuilder, &mut Vec<u8>),
    is_stopped: impl Fn() -> bool,
) -> io::Result<Option<SearchTexts<'a>>> {
    builder.clear();
    let Some(file) = files::session(path)? else { return Ok(None) };
    lines::each(&mut CancelableReader(file, || !is_stopped()), 0, u64::MAX, buffer, |line| {
        builder.line(line);
        !builder.lines.is_refused() && !is_stopped()
    })?;
    Ok(if is_stopped() { None } else { builder.texts().ok() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::catalog;
    use crate::session::digest::Digest;
    use crate::session::links::EntryIndex;
    use crate::session::search_text::PassagesBuf;

    #[test]
    fn releases_texts_of_outdated_sessions() {
        let catalog = catalog(&[("a", None, 1), ("b", None, 2)]);
        let [still, growing] = &catalog.searched_sessions()[..] else { panic!("two sessions") };
        let (mut growing, mut cache) = (growing.clone(), SearchCache::default());
        let long = "x".repeat(MAX_OUTDATED / 4);
        let add = |cache: &mut SearchCache, session: &SearchedSession, at: EntryIndex, text: &str| {
            let mut conversation = PassagesBuf::default();
            conversation.push(at, text);
            cache.add_texts(
                session,
                SearchTexts { conversation: conversation.as_passages(), ..SearchTexts::default() },
                usize::MAX,
            );
        };
        add(&mut cache, still, 3, "Still");
        for at in 0..20 {
            growing.digest = Digest { bytes: at.into(), ..(**growing.digest).clone() }.into();
            add(&mut cache, &growing, at, &long);
            assert!(cache.arena.bytes() <= 2 * MAX_OUTDATED, "{} bytes after {at}", cache.arena.bytes());
        }
        let texts = |session: &SearchedSession| {
            cache.with_texts(session, |texts| {
                let said = texts.unwrap().conversation.each();
                said.map(|(at, text)| (at, text.to_string())).collect::<Vec<_>>()
            })
        };
        assert_eq!(texts(still), [(3, "still".to_string())]);
        assert!(texts(&growing) == [(19, long)]);
    }
}

#[cfg(test)]
mod text_arena_tests {
    use super::*;

    #[test]
    fn returns_stored_texts() {
        let mut arena = TextArena::default();
        let long = "x".repeat(BLOCK_SIZE / 2);
        let texts =
            [("", &[][..]), ("a b", &[(0, 1), (2, 7)]), (&long, &[(0, 3)]), (&long, &[(0, 4)]), ("é", &[(0, 5)])];
        let texts = texts.map(|(folded, starts)| Passages {
            folded,
            starts,
            uppercase_bits: folded.get(..1).unwrap_or("").as_bytes(),
        });
        let places = texts.map(|passages| arena.put(passages));
        assert_eq!(arena.0.len(), 2);
        for (place, put) in places.into_iter().zip(texts) {
            let found = arena.get(place);
            assert!(
                found.folded == put.folded && found.starts == put.starts && found.uppercase_bits == put.uppercase_bits
            );
            assert_eq!(place.bytes(), put.bytes());
        }
        assert_eq!(TextArena::default().get(places[0]).folded, "");
    }
}

#[cfg(test)]
mod search_text_tests {
    use super::*;

    #[test]
    fn reads_the_texts_of_sessions_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let message = r#"{"type":"message","id":"a","message":{"role":"user","content":"Say it"}}"#;
        let text = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{message}\n");
        std::fs::write(path("session"), text).unwrap();
        std::fs::write(path("other"), "{}\n").unwrap();
        let (mut builder, mut buffer) = (SearchTextBuilder::default(), Vec::new());
        let mut said = |name: &str, is_stopped: bool| {
            let read = read_into(&path(name), (&mut builder, &mut buffer), || is_stopped);
            read.map(|texts| texts.map(|texts| texts.conversation.folded.to_string()))
        };
        for _ in 0..2 {
            assert_eq!(said("session", false).unwrap().as_deref(), Some("say it"));
            assert_eq!(said("session", true).unwrap(), None);
            assert_eq!(said("other", false).unwrap(), None);
            assert!(said("gone", false).is_err());
        }
    }
}
