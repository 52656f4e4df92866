//! What of found sessions fulfils the query: how many entries, and each of them once. What forks have from their parent
//! is the oldest session's among those that were found, and a fork with nothing else is no hit of its own.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::base::fold::fold;
use crate::disk::crew::threads;
use crate::disk::files::Files;
use crate::library::kept::Kept;
use crate::library::search::{At, BETWEEN_LOOKS, Searcher, SessionHit, Sought, WORTH_SPLITTING, snippet};
use crate::library::{find, texts};
use crate::search::candidate::{Candidate, MatchField, MatchPlace, TitlesBuf};
use crate::search::fulfil::{Fulfilling, Holding, Parts};
use crate::search::here::HereAndNow;
use crate::search::matching::Tier;
use crate::search::query::Query;
use crate::session::shape::{ById, Index};
use crate::session::texts::TextsBuf;
use crate::session::tree::Tree;

impl Searcher {
    /// Says of found sessions how many entries fulfil the query, leaves out those with none of their own, and leads the
    /// others to one of these; `None` if nobody waits any more.
    pub fn gather(
        &self,
        (files, sessions): (Files, &Arc<[Sought]>),
        (query, around): (&Query, &HereAndNow),
        mut hits: Vec<SessionHit>,
        is_stale: impl Fn() -> bool + Sync,
    ) -> Option<Vec<SessionHit>> {
        let parts = Parts::new(query, around);
        if !parts.are_known() {
            return Some(hits);
        }
        let kept = self.kept();
        let mut by_key: Vec<Option<&Sought>> = Vec::new();
        for session in sessions.iter() {
            let place = session.key.place();
            by_key.resize(by_key.len().max(place + 1), None);
            by_key[place] = Some(session);
        }
        let sought = |hit: &SessionHit| by_key.get(hit.session.place()).copied().flatten();
        let stop = AtomicBool::new(false);
        let work = |hits: &mut [SessionHit]| {
            let mut shared = Vec::new();
            for (at, hit) in hits.iter_mut().enumerate() {
                if at % BETWEEN_LOOKS == 0 && (stop.load(Ordering::Relaxed) || is_stale()) {
                    stop.store(true, Ordering::Relaxed);
                    break;
                }
                let is_nowhere = hit.hit.tier == Tier::Fuzzy && parts.is_a_word();
                let Some(session) = sought(hit).filter(|_| !is_nowhere) else { continue };
                let entries = with(&kept, (files, session), |candidate| parts.in_known(&candidate)).best();
                match session.kin {
                    Some(kin) => shared.push((kin, hit.session, entries)),
                    None => lead(&kept, (files, session), &parts, hit, &entries),
                }
            }
            shared
        };
        let shared: Vec<(u32, _, Vec<Fulfilling>)> = if hits.len() < WORTH_SPLITTING {
            work(&mut hits)
        } else {
            let size = hits.len().div_ceil(threads());
            thread::scope(|scope| {
                let workers: Vec<_> = hits.chunks_mut(size).map(|chunk| scope.spawn(|| work(chunk))).collect();
                workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
            })
        };
        if stop.into_inner() {
            return None;
        }
        let mut families: HashMap<u32, Vec<(&Sought, Vec<Fulfilling>)>> = HashMap::new();
        for (kin, key, entries) in shared {
            let session = by_key.get(key.place()).copied().flatten();
            families.entry(kin).or_default().extend(session.map(|session| (session, entries)));
        }
        let mut own = HashMap::new();
        for family in families.into_values() {
            own.extend(share_out(family, &parts).into_iter().map(|(session, own)| (session.key, own)));
        }
        hits.retain_mut(|hit| match (own.get(&hit.session), sought(hit)) {
            (Some(Own::None), _) => false,
            (Some(Own::Some(entries, forks)), Some(session)) => {
                hit.forks = *forks;
                lead(&kept, (files, session), &parts, hit, entries);
                true
            }
            _ => true,
        });
        Some(hits)
    }

    /// The entries of an open session that fulfil a query, in file order; `None` if nobody waits any more.
    pub fn fulfilling(
        &self,
        (files, session, tree): (Files, &Sought, &Tree),
        (query, around): (&Query, &HereAndNow),
        is_stale: impl Fn() -> bool,
    ) -> Option<Vec<Index>> {
        let parts = Parts::new(query, around);
        let mut holding = Holding::default();
        if parts.are_known() {
            holding = with(&self.kept(), (files, session), |candidate| {
                let is_unread = candidate.texts.is_none();
                let read = if is_unread { texts::of(files, &session.digest.path).ok().flatten() } else { None };
                let texts = candidate.texts.or_else(|| read.as_ref().map(TextsBuf::as_texts));
                parts.in_known(&Candidate { texts, ..candidate })
            });
        }
        let is_read = !parts.needs_lines() || {
            let mut folded = String::new();
            find::lines(files, &session.digest.path, tree, |at, entry, texts| {
                folded.clear();
                if query.everything {
                    folded = fold(texts);
                }
                parts.in_line(entry, &folded, at, &mut holding);
                !is_stale()
            })
        };
        let is_there = |at: &Index| (*at as usize) < tree.nodes.len();
        is_read.then(|| holding.best().into_iter().map(|entry| entry.at).filter(is_there).collect())
    }
}

/// Does something with what is known of a session, as far as it was read.
fn with<T>(kept: &Kept, (files, session): (Files, &Sought), act: impl FnOnce(Candidate<'_>) -> T) -> T {
    let &Sought { ref digest, is_live, has_forks, .. } = session;
    let folded = kept.get(session).is_none().then(|| TitlesBuf::new(digest));
    let titles = kept.get(session).map(|known| kept.titles(known));
    let titles = titles.or_else(|| folded.as_ref().map(TitlesBuf::as_titles)).unwrap_or_default();
    kept.with_texts(files, session, |texts| act(Candidate { digest, titles, texts, is_live, has_forks }))
}

/// What of a session's entries is its own.
enum Own {
    /// Nothing: it is a fork that has them from others.
    None,
    /// These, and so many forks have nothing else.
    Some(Vec<Fulfilling>, usize),
}

/// Gives each entry to the oldest of the found sessions that has it. A fork that was found by its own name is led to what is
/// its own, if there is something.
fn share_out<'a>(mut family: Vec<(&'a Sought, Vec<Fulfilling>)>, parts: &Parts) -> Vec<(&'a Sought, Own)> {
    family.sort_by_key(|(session, _)| session.digest.age());
    let name = |session: &'a Sought| session.digest.name.as_deref().filter(|name| parts.is_in(&fold(name)));
    let id = |session: &'a Sought, entry: &Fulfilling| session.digest.entries.ids.get(entry.at as usize);
    let mut oldest: ById<usize> = ById::default();
    for (session, entries) in family.iter().filter(|(session, _)| name(session).is_some()) {
        oldest.extend(entries.iter().filter_map(|entry| id(session, entry)).map(|id| (*id, usize::MAX)));
    }
    if !oldest.is_empty() {
        for (place, (session, _)) in family.iter().enumerate() {
            for id in &session.digest.entries.ids {
                oldest.entry(*id).and_modify(|oldest| *oldest = place.min(*oldest));
            }
        }
    }
    let mut first: ById<usize> = ById::default();
    let mut own: Vec<(&Sought, Own)> = Vec::with_capacity(family.len());
    for (place, (session, mut entries)) in family.into_iter().enumerate() {
        let id = |entry: &Fulfilling| id(session, entry);
        let before = entries.first().and_then(id).and_then(|id| first.get(id)).copied();
        let is_own = |entry: &Fulfilling| id(entry).and_then(|id| oldest.get(id)) == Some(&place);
        if name(session).is_some() && entries.iter().any(is_own) {
            entries.retain(is_own);
        }
        entries.retain(|entry| id(entry).is_none_or(|id| !first.contains_key(id)));
        let is_named_so = |other: &'a Sought| name(session).is_none_or(|own| name(other) == Some(own));
        let share = match before.and_then(|before| own.get_mut(before)) {
            Some((other, Own::Some(_, forks))) if entries.is_empty() && is_named_so(other) => {
                *forks += 1;
                Own::None
            }
            _ => Own::Some(entries, 0),
        };
        if let Own::Some(entries, _) = &share {
            first.extend(entries.iter().filter_map(id).map(|id| (*id, place)));
        }
        own.push((session, share));
    }
    own
}

/// Leads a hit to one of these entries, unless it does already.
fn lead(kept: &Kept, (files, session): (Files, &Sought), parts: &Parts, hit: &mut SessionHit, entries: &[Fulfilling]) {
    hit.entries = entries.len();
    let is_there = |at: Index| entries.binary_search_by_key(&at, |entry| entry.at).is_ok();
    if matches!(hit.at, Some(At::Place(at)) if is_there(at)) {
        return;
    }
    let Some(first) = entries.iter().max_by_key(|entry| (entry.own, Reverse(entry.at))).map(|entry| entry.at) else {
        return;
    };
    with(kept, (files, session), |candidate| {
        let field = hit.hit.place.as_ref().map_or(MatchField::File, |place| place.field);
        let place = parts.place(&candidate, first);
        let place = place.unwrap_or(MatchPlace { field, entry: Some(first), at: 0..0 });
        hit.at = Some(At::Place(first));
        hit.is_active = Some(session.digest.is_active(first));
        hit.hit.place = Some(place);
        hit.snippet = snippet(&hit.hit, &session.digest, candidate.texts);
    });
}
