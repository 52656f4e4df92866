//! Sessions in lists: the facts about them, and the digest on demand. A session from the index takes little memory
//! until it is drawn.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use crate::session::digest::Digest;
use crate::session::digest::details::DetailsSource;
use crate::session::digest::facts::SessionFacts;
use crate::session::search_text::{SearchTexts, TextBuffers};
use crate::session::stats::entry_stats::SessionStats;
use crate::session::stats::intervals::SessionSums;

/// A session whose digest is loaded on first use, by dereferencing it. Loops over many sessions should use
/// [`LazySession::facts`] or [`LazySession::uncached_digest`] instead.
#[derive(Debug)]
pub struct LazySession {
    digest: OnceLock<Box<Digest>>,
    stored: Option<StoredSession>,
}

/// The source of a session, and its number there.
type StoredSession = (Arc<dyn SessionSource>, u32);

/// A session shared between the list and the interface.
pub type SharedLazySession = Arc<LazySession>;

/// A function that tells whether the session with a number passes a filter.
pub type SessionFilter<'a> = Box<dyn Fn(u32) -> bool + Send + Sync + 'a>;

/// A source of stored sessions.
pub trait SessionSource: fmt::Debug + Send + Sync {
    /// Returns the facts about the session with the given number.
    fn facts(&self, number: u32) -> SessionFacts<'_>;

    /// Returns a function that tells whether the texts and titles of the session with a number may have all keys of
    /// `session::trigrams`.
    fn with_keys(&self, keys: &[u16]) -> SessionFilter<'_>;

    /// Returns the source of the details of a session, and its place there.
    fn details(&self, number: u32) -> (&dyn DetailsSource, u64);

    /// Calls a function with the digests of the sessions with the given numbers, in their order. `room` is a reusable
    /// buffer.
    fn digests(&self, numbers: &[u32], room: &mut Vec<u8>, each: &mut dyn FnMut(Digest));
}

impl LazySession {
    /// Creates a session that is loaded on demand, by its number in the source.
    pub fn stored(source: Arc<dyn SessionSource>, number: u32) -> Self {
        Self { digest: OnceLock::new(), stored: Some((source, number)) }
    }

    /// Returns the facts without loading the digest.
    pub fn facts(&self) -> SessionFacts<'_> {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => source.facts(*number),
            _ => self.deref().facts(),
        }
    }

    /// Returns the path of the file without loading the digest.
    pub fn file_path(&self) -> PathBuf {
        self.facts().path().join()
    }

    /// Returns `true` if the texts are in the index.
    pub(crate) fn has_stored_texts(&self) -> bool {
        self.stored.is_some() || self.is_stored()
    }

    /// Returns the search texts from the index in reusable buffers, or `None` if they are not available.
    pub fn stored_texts<'a>(&self, buffers: &'a mut TextBuffers) -> Option<SearchTexts<'a>> {
        match &self.stored {
            Some((source, number)) => {
                let (details, at) = source.details(*number);
                details.texts(at, buffers)
            }
            None => self.texts(buffers),
        }
    }

    /// Returns the source of the session and its number there, if it is stored.
    pub(crate) fn source(&self) -> Option<(&Arc<dyn SessionSource>, u32)> {
        self.stored.as_ref().map(|(source, number)| (source, *number))
    }

    /// Returns `true` if the digest is loaded.
    pub(crate) fn is_loaded(&self) -> bool {
        self.digest.get().is_some()
    }

    /// Returns the statistics of the entries, without loading the digest.
    pub fn stats(&self) -> Arc<SessionStats> {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => {
                let (details, at) = source.details(*number);
                details.stats(at, &self.file_path()).into()
            }
            _ => self.deref().stats(),
        }
    }

    /// Returns the sums of the entries, without loading the digest.
    pub fn sums(&self) -> SessionSums {
        match (self.digest.get(), &self.stored) {
            (None, Some((source, number))) => {
                let (details, at) = source.details(*number);
                details.sums(at, &self.file_path())
            }
            _ => self.deref().sums(),
        }
    }

    /// Returns the digest without keeping it, for callers that read many sessions.
    pub fn uncached_digest(&self) -> Cow<'_, Digest> {
        match (self.digest.get(), &self.stored) {
            (None, Some(stored)) => Cow::Owned(digest(stored)),
            _ => Cow::Borrowed(self),
        }
    }

    /// Calls a function with the index and the digest of each session, like [`LazySession::uncached_digest`]. Faster, because
    /// neighbors in a source are read together into `room`, a reusable buffer.
    pub fn each_once<'a>(
        sessions: impl Iterator<Item = &'a Self>,
        room: &mut Vec<u8>,
        mut each: impl FnMut(usize, Cow<'a, Digest>),
    ) {
        let unread = |session: &'a Self| (session, session.stored.as_ref().filter(|_| !session.is_loaded()));
        let sessions: Vec<_> = sessions.map(unread).collect();
        let is_same_source = |(_, a): &(&Self, Option<&StoredSession>), (_, b): &(&Self, Option<&StoredSession>)| {
            a.zip(*b).is_some_and(|((a, _), (b, _))| Arc::ptr_eq(a, b))
        };
        let mut at = 0;
        let mut each = |digest| {
            each(at, digest);
            at += 1;
        };
        for some in sessions.chunk_by(is_same_source) {
            match some[0] {
                (session, None) => each(Cow::Borrowed(&**session)),
                (_, Some((source, _))) => {
                    let numbers: Vec<u32> = some.iter().filter_map(|(_, stored)| Some(stored.as_ref()?.1)).collect();
                    source.digests(&numbers, room, &mut |digest| each(Cow::Owned(digest)));
                }
            }
        }
    }

    /// Loads the digests of some sessions together.
    pub(crate) fn load_all(sessions: &[&Self]) {
        Self::each_once(sessions.iter().copied(), &mut Vec::new(), |at, digest| {
            if let Cow::Owned(digest) = digest {
                sessions[at].digest.get_or_init(|| Box::new(digest));
            }
        });
    }
}

/// Loads the digest of a stored session.
fn digest((source, number): &StoredSession) -> Digest {
    let mut read = Digest::default();
    source.digests(&[*number], &mut Vec::new(), &mut |digest| read = digest);
    read
}

impl From<Digest> for LazySession {
    fn from(digest: Digest) -> Self {
        Self { digest: OnceLock::from(Box::new(digest)), stored: None }
    }
}

impl From<Digest> for SharedLazySession {
    fn from(digest: Digest) -> Self {
        Arc::new(digest.into())
    }
}

impl Deref for LazySession {
    type Target = Digest;

    fn deref(&self) -> &Digest {
        self.digest.get_or_init(|| Box::new(self.stored.as_ref().map(digest).unwrap_or_default()))
    }
}
