//! Looking for words in the open session (`/` in the tree) and in the text of the preview: jumping from hit to hit.
//! The entries that have the words are found elsewhere and come as messages, some at a time.

use std::collections::HashSet;
use std::sync::Arc;

use crate::app::edit::{Edit, Purpose};
use crate::app::message::Effect;
use crate::app::model::{Asking, Model};
use crate::app::preview::Subject;
use crate::app::tree::{Pane, Place as TreePlace};
use crate::app::update::say;
use crate::base::text::Tone;
use crate::keymap::Place;
use crate::search::find::inside::Inside;
use crate::session::entry::kind::Kind;
use crate::session::tree::{Index, Tree};

/// A search in the open session.
#[derive(Debug)]
pub struct Find {
    /// What is looked for.
    pub words: Arc<Inside>,
    /// What is wrong with what is typed.
    pub problem: Option<String>,
    /// Whether all but the hits is hidden.
    pub only_hits: bool,
    /// Whether there may be more hits.
    pub searching: bool,
    /// The entries with the words, as the rows are ordered.
    hits: Vec<Index>,
    is_hit: HashSet<Index>,
    /// Where the search began: it is gone back to.
    from: TreePlace,
    /// Whether the selection goes to the hit that is nearest to there.
    is_following: bool,
    /// The tree that is searched, and where each of its entries stands in the order of the rows.
    tree: Option<Arc<Tree>>,
    order: Vec<u32>,
}

impl Find {
    fn new(from: TreePlace) -> Self {
        Self {
            words: Arc::default(),
            problem: None,
            only_hits: false,
            searching: false,
            hits: Vec::new(),
            is_hit: HashSet::new(),
            from,
            is_following: true,
            tree: None,
            order: Vec::new(),
        }
    }

    /// Whether an entry has what is looked for.
    pub fn is_hit(&self, at: Index) -> bool {
        self.is_hit.contains(&at)
    }

    /// How many hits there are.
    pub fn len(&self) -> usize {
        self.hits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hits.is_empty()
    }

    /// Which of the hits an entry is.
    pub fn number(&self, at: Index) -> Option<usize> {
        self.hits.binary_search_by_key(&self.place(at), |&hit| self.place(hit)).ok()
    }

    fn place(&self, at: Index) -> u32 {
        self.order.get(at as usize).copied().unwrap_or(u32::MAX)
    }

    fn forget_hits(&mut self) {
        self.hits.clear();
        self.is_hit.clear();
    }

    fn add(&mut self, hits: Vec<Index>) {
        self.hits.extend(hits.into_iter().filter(|&hit| self.is_hit.insert(hit)));
        let order = &self.order;
        self.hits.sort_by_key(|&hit| order.get(hit as usize));
    }

    /// The hit that is nearest to an entry.
    fn nearest(&self, at: Index) -> Option<Index> {
        let here = self.place(at);
        self.hits.iter().copied().min_by_key(|&hit| (self.place(hit).abs_diff(here), self.place(hit) < here))
    }

    /// The next hit in a direction, and whether that is from the other end on.
    fn next(&self, at: Option<Index>, forward: bool) -> Option<(Index, bool)> {
        let here = at.map_or(0, |at| self.place(at));
        let behind = self.hits.partition_point(|&hit| self.place(hit) <= here);
        let before = self.hits.partition_point(|&hit| self.place(hit) < here);
        let next = if forward { self.hits.get(behind) } else { self.hits[..before].last() };
        let end = if forward { self.hits.first() } else { self.hits.last() };
        next.map(|&hit| (hit, false)).or_else(|| end.map(|&hit| (hit, true)))
    }
}

impl Pane {
    /// The entry that the selected row shows, or hangs at.
    fn here(&self) -> Option<Index> {
        self.selected_entry().or_else(|| self.selected_fork().map(|fork| fork.split.at))
    }

    /// Goes to the nearest hit from where the search began, or back there.
    fn follow_hits(&mut self) {
        let Some(find) = self.find.as_ref().filter(|find| find.is_following) else { return };
        let from = find.from.clone();
        let nearest = from.anchor(&self.forks).and_then(|at| find.nearest(at));
        match nearest {
            Some(hit) => self.select(hit),
            None => self.go_back(from),
        }
    }
}

/// Asks what to look for.
pub(super) fn open(model: &mut Model) {
    if model.focus == Place::Tree {
        if model.tree.tree.is_none() {
            return;
        }
        model.tree.find = Some(Find::new(model.tree.place()));
        model.tree.rebuild();
    } else {
        model.preview.begin_search();
    }
    model.asking = Some(Asking::Line(Edit::new(Purpose::Query, "/", "")));
}

/// Looks for words from the entry that a search points at, without leaving it, when that is there.
fn look_for_awaited(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.tree.awaited_words.is_none() || model.tree.pointed().is_none() {
        return;
    }
    model.tree.unhide();
    let words = model.tree.awaited_words.take().unwrap_or_default();
    if !words.is_empty() {
        let find = Find::new(model.tree.place());
        model.tree.find = Some(Find { words: Arc::new(words), is_following: false, ..find });
        search(model, effects);
    }
}

/// Takes what is typed so far.
pub(super) fn typed(model: &mut Model, query: &str, effects: &mut Vec<Effect>) {
    let words = Inside::new(query).map(Arc::new);
    if model.focus == Place::Preview {
        return model.preview.look_for(words);
    }
    let Some(find) = &mut model.tree.find else { return };
    find.is_following = true;
    find.problem = words.as_ref().err().cloned();
    find.words = words.unwrap_or_default();
    search(model, effects);
}

/// Has the open session searched for the words.
fn search(model: &mut Model, effects: &mut Vec<Effect>) {
    model.requests.find += 1; // what is still found of the words before is of no use
    let (Some(find), Some(tree), Some(path)) = (&mut model.tree.find, &model.tree.tree, &model.tree.path) else {
        return;
    };
    find.searching = !find.words.is_empty();
    if find.tree.as_ref().is_none_or(|searched| !Arc::ptr_eq(searched, tree)) {
        find.order = vec![0; tree.nodes.len()];
        tree.order().iter().zip(0..).for_each(|(&at, place)| find.order[at as usize] = place);
        find.tree = Some(tree.clone());
        find.forget_hits(); // they are places in the tree that was
    }
    if find.searching {
        let (path, tree, words) = (path.clone(), tree.clone(), find.words.clone());
        effects.push(Effect::Find { find: model.requests.find, path, tree, words });
    } else {
        find.forget_hits();
        model.tree.rebuild();
        model.tree.follow_hits();
    }
}

/// Takes hits; the first ones take the place of those of the words before.
pub(super) fn take(model: &mut Model, hits: Vec<Index>, (is_first, done): (bool, bool)) {
    let Some(find) = &mut model.tree.find else { return };
    if is_first {
        find.forget_hits();
    }
    find.add(hits);
    find.searching = !done;
    model.tree.rebuild();
    model.tree.follow_hits();
}

/// Esc in the line: all is as it was before.
pub(super) fn give_up(model: &mut Model) {
    match model.focus {
        Place::Preview => model.preview.give_up(),
        _ => {
            if let Some(find) = model.tree.find.take() {
                model.tree.go_back(find.from);
            }
        }
    }
}

/// Enter in the line: the hits stay.
pub(super) fn keep(model: &mut Model) {
    match model.focus {
        Place::Preview => model.preview.keep(),
        _ if model.tree.find.as_ref().is_some_and(|find| find.words.is_empty()) => give_up(model),
        _ => {}
    }
}

/// Tab in the line: hides all but the hits, or shows all again.
pub(super) fn toggle_only_hits(model: &mut Model) {
    let Some(find) = model.tree.find.as_mut().filter(|_| model.focus == Place::Tree) else { return };
    find.only_hits = !find.only_hits;
    model.tree.fold_all(false);
    model.tree.follow_hits();
}

/// Ends the search in a pane. Returns whether there was one.
pub(super) fn end(model: &mut Model) -> bool {
    match model.focus {
        Place::Sessions => false,
        Place::Preview => model.preview.end_search(),
        Place::Tree => {
            let was = model.tree.find.take().is_some();
            model.tree.rebuild();
            was
        }
    }
}

/// Goes to the next hit, or the previous one.
pub(super) fn next(model: &mut Model, forward: bool) {
    let found = match model.focus {
        Place::Preview => model.preview.next_hit(forward),
        _ => {
            let next = model.tree.find.as_ref().and_then(|find| find.next(model.tree.here(), forward));
            if let Some((hit, _)) = next {
                model.tree.select(hit);
            }
            next.map(|(_, wrapped)| wrapped)
        }
    };
    match found {
        None => say(model, Tone::Dim, "nothing is found".into()),
        Some(true) if forward => say(model, Tone::Dim, "on from the top".into()),
        Some(true) => say(model, Tone::Dim, "on from the bottom".into()),
        Some(false) => {}
    }
}

/// Somebody goes on: the selection does not go to hits that come later.
pub(super) fn stop_following(model: &mut Model) {
    if let Some(find) = &mut model.tree.find
        && model.asking.is_none()
    {
        find.is_following = false;
    }
}

/// Searches a tree that took the place of the one that was, and shows the words in the preview.
pub(super) fn settle(model: &mut Model, effects: &mut Vec<Effect>) {
    look_for_awaited(model, effects);
    if let (Some(find), Some(tree)) = (&model.tree.find, &model.tree.tree)
        && find.tree.as_ref().is_some_and(|searched| !Arc::ptr_eq(searched, tree))
    {
        search(model, effects);
    }
    let is_hit = |find: &&Find| matches!(model.preview.subject, Subject::Entry(_, at) if find.is_hit(at));
    let words = model.tree.find.as_ref().filter(is_hit).map(|find| find.words.clone());
    model.preview.show_words(words);
}

/// The entry that stands for one in which something was found: what an assistant only called is seen with the answer.
pub fn seen(tree: &Tree, at: Index) -> Index {
    let is_answer = |at: &Index| tree.nodes[*at as usize].kind == Kind::ToolResult;
    let answer = tree.children(at).iter().copied().find(is_answer);
    answer.filter(|_| tree.nodes[at as usize].silent).unwrap_or(at)
}
