//! A session to search, with what a query can ask about it beyond its digest.

use std::sync::Arc;

use crate::catalog::{Catalog, SessionKey};
use crate::pi::status::PiStatus;
use crate::search::candidate::{Candidate, MachineName};
use crate::search::qualifier::value::Needs;
use crate::search::query::Query;
use crate::session::digest::Digest;
use crate::session::digest::listed::SharedLazySession;
use crate::session::search_text::SearchTexts;
use crate::session::search_titles::SearchTitles;

/// A session to search.
#[derive(Clone, Debug)]
pub struct SearchedSession {
    /// The key of the session.
    pub key: SessionKey,
    /// The digest of the session.
    pub digest: SharedLazySession,
    /// `true` if a pi is probably active in it.
    pub is_live: bool,
    /// `true` if it has forks.
    pub has_forks: bool,
    /// The machines of its copies, if it has some.
    pub copies: Option<Arc<[MachineName]>>,
    /// The group of sessions that share entries; `None` if it shares none.
    pub sharing_group: Option<u32>,
}

impl SearchedSession {
    /// Returns the session in the form needed for matching, with its digest, titles and texts.
    pub(super) fn candidate<'a>(
        &'a self,
        digest: &'a Digest,
        titles: SearchTitles<'a>,
        texts: Option<SearchTexts<'a>>,
    ) -> Candidate<'a> {
        let (&Self { is_live, has_forks, .. }, copies) = (self, self.copies.as_deref().unwrap_or_default());
        Candidate { digest, titles, texts, is_live, has_forks, copies }
    }

    /// Returns sessions in the form needed for a query, in any order. Relates them to each other, and detects active pis,
    /// only if the query depends on that, or if some sessions are mirrored: only one copy of a session is searched. `now`
    /// is in milliseconds since 1970, and `pis` are the running pis of other machines.
    pub(crate) fn for_query(
        sessions: Vec<SharedLazySession>,
        query: &Query,
        (now, pis): (i64, impl FnOnce() -> Vec<PiStatus>),
    ) -> Arc<[Self]> {
        if query.needs(Needs::RELATIONS) || sessions.iter().any(|session| session.facts().is_mirrored()) {
            let mut catalog = Catalog::of(sessions, now);
            catalog.set_remote_pis(pis(), now);
            return catalog.searched_sessions();
        }
        let unrelated = |(at, digest)| Self {
            key: SessionKey::new(at),
            digest,
            is_live: false,
            has_forks: false,
            copies: None,
            sharing_group: None,
        };
        sessions.into_iter().enumerate().map(unrelated).collect()
    }
}

impl Catalog {
    /// Returns all sessions in the form needed for a search, newest first.
    pub fn searched_sessions(&self) -> Arc<[SearchedSession]> {
        self.newest_first().into_iter().map(|key| self.searched_session(key)).collect()
    }

    /// Returns a session in the form needed for a search.
    pub(crate) fn searched_session(&self, key: SessionKey) -> SearchedSession {
        SearchedSession {
            key,
            digest: self[key].clone(),
            is_live: self.is_live(key),
            has_forks: self.forks(key).next().is_some(),
            copies: self.copy_machines(key),
            sharing_group: self.shares.group_of(key.index()),
        }
    }
}
