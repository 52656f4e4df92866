//! The reader: it follows the selection, and the selection follows it; reads the texts near the visible ones; folds parts
//! and goes to hits.

use crate::app::command::NextStep;
use crate::app::external::Opener;
use crate::app::message::Work;
use crate::app::model::Model;
use crate::app::panes::reader::sections::{self, Section, Target};
use crate::app::panes::reader::{EntryForm, ReaderSubject};
use crate::app::panes::tree::row_text;
use crate::app::panes::tree::rows::RowItem;
use crate::app::panes::tree::summaries;
use crate::app::session_text;
use crate::base::numbers::{count, nonzero_dollars};
use crate::base::text::{Span, Tone};
use crate::catalog::EntryRef;
use crate::keymap::KeyContext;
use crate::render::{DocLine, FoldedLines};
use crate::session::activity::Activity;
use crate::session::entry::kind::EntryKind;
use crate::session::tree::{EntryIndex, Tree};

/// The maximum number of entries that are read at a time; those that become visible then are not far behind.
const READ_AT_ONCE: usize = 8;

/// Shows the branch through an entry, at the entry if `goes_there`, at its first hit with `seeks`, and reads what is missing.
pub(super) fn show_branch(model: &mut Model, entry: EntryRef, goes_there: bool, seeks: bool) {
    let (Some(tree), Some(at)) = (model.tree.tree.clone(), model.tree.shown(entry)) else { return };
    if goes_there {
        let is_call = tree.node(at).kind == EntryKind::ToolResult;
        model.reader.open_call(Some(at).filter(|_| is_call && model.tree.selected_item() == Some(RowItem::Entry(at))));
    }
    if seeks {
        model.reader.go_to_hit(&tree, at, true, model.now);
    } else {
        model.reader.show_branch(&tree, at, goes_there, model.now);
    }
    let Some(area) = model.area(KeyContext::Reader) else { return };
    let (width, height) = (area.text().width.into(), area.body.height.into());
    model.reader.fit(width, height);
    fill(model, &tree);
    if model.tree.follows {
        model.reader.scroll(isize::MAX, model.now);
    }
    note_turn(model);
    if let Some(find) = &model.tree.find {
        model.reader.seek(&find.words, &model.settings.glyphs);
    }
}

/// Takes the texts that the tree holds, and requests the other ones.
fn fill(model: &mut Model, tree: &Tree) {
    for place in model.reader.missing() {
        let text = match model.reader.sections[place] {
            Section::Text => continue,
            Section::Entry(at) => {
                request(model, at);
                continue;
            }
            Section::Run { first, last } => run(model, tree, (first, last)),
            Section::Branch(at) => branch(model, tree, at),
        };
        let lines = vec![DocLine { indent: 2, ..DocLine::of(text) }];
        model.reader.take(place, lines.into(), Vec::new(), &model.settings.glyphs);
    }
}

fn request(model: &mut Model, at: EntryIndex) {
    if model.reader.claims.contains_key(&at) || model.reader.claims.len() >= READ_AT_ONCE {
        return;
    }
    let Some(location) = model.tree.entry(at).and_then(|entry| model.entry_location(entry)) else { return };
    let edit = model.reader.edits.get(&at).and_then(|&edit| model.entry_location(model.tree.entry(edit)?));
    let claim = model.ask_or(Work::Read(location, edit, EntryForm::Entry), |model, ticket, error| {
        on_text(model, ticket, vec![DocLine::new(Tone::Error, error)].into());
    });
    model.reader.claims.insert(at, claim);
}

/// Returns the title of a run of tool calls, in the words of the tree.
fn run(model: &Model, tree: &Tree, (first, last): (EntryIndex, EntryIndex)) -> Vec<Span> {
    let glyphs = &model.settings.glyphs;
    let sign = if model.reader.is_open_run(first) { &glyphs.open } else { &glyphs.hidden };
    let mut entries = Vec::new();
    Section::Run { first, last }.each_entry(tree, &mut |at| entries.push(at));
    entries.reverse();
    let activity = Activity::of(tree, entries.iter().copied());
    let mut spans = vec![Span::dim(format!("{sign} "))];
    spans.extend(row_text::run(&activity, glyphs));
    spans.extend(nonzero_dollars(activity.cost).map(|cost| Span::dim(format!(" {} {cost}", glyphs.dot))));
    let is_edited = |at: &&EntryIndex| sections::is_result(tree, **at) && model.reader.edits.contains_key(at);
    let edited = entries.iter().filter(is_edited).count();
    spans.extend(
        (edited > 0).then(|| Span::new(Tone::Warning, format!(" {} {edited} edited for the model", glyphs.dot))),
    );
    let made: Vec<&str> = model.tree.commits(&entries, &model.catalog).map(|commit| &*commit.sha).collect();
    let made = (!made.is_empty()).then(|| format!("  {} {}", glyphs.commit, made.join(" ")));
    spans.extend(made.map(|made| Span::new(Tone::Label, made)));
    spans
}

/// Returns the line of another branch.
fn branch(model: &Model, tree: &Tree, at: EntryIndex) -> Vec<Span> {
    let (settings, below) = (&model.settings, tree.below(at));
    let says = |at: &EntryIndex| matches!(tree.node(*at).kind, EntryKind::User | EntryKind::Assistant);
    let first = std::iter::successors(Some(at), |&at| tree.children(at).first().copied());
    let first = first.take(16).find(says).unwrap_or(at);
    let title = settings.glyphs.cut(&settings.cell(tree.node(first).words()), 60).into_owned();
    let mut facts = vec![count(below.entries as usize, "entry", "entries")];
    facts.extend(nonzero_dollars(below.cost));
    let dot = format!(" {} ", settings.glyphs.dot);
    vec![
        Span::dim(format!("{} other branch: ", settings.glyphs.fork)),
        Span::new(Tone::Fork, format!("\"{title}\"")),
        Span::dim(format!("{dot}{}", facts.join(&dot))),
    ]
}

/// Takes the text of an entry.
pub(super) fn on_text(model: &mut Model, ticket: u64, mut text: FoldedLines) {
    if model.reader.reading.as_ref().is_some_and(|claim| claim.number == ticket) {
        return model.reader.show(text.lines);
    }
    let claims = &mut model.reader.claims;
    let Some(at) = claims.iter().find(|(_, claim)| claim.number == ticket).map(|(&at, _)| at) else { return };
    claims.remove(&at);
    let (Some(place), Some(tree)) = (model.reader.section_of(at), model.tree.tree.clone()) else { return };
    let before = model.tree.entry(at).map_or(Vec::new(), |entry| session_text::note_of_entry(model, entry));
    if tree.is_prompt(at) {
        // The runs name the tools and files.
        let activity = Activity { calls: 0, changed: Vec::new(), ..summaries::turn(&tree, at) };
        let facts = turn_facts(model, &activity, tree.node(at).time);
        text.lines.first_mut().into_iter().for_each(|line| line.spans.push(Span::dim(&facts)));
    }
    if let (EntryKind::ToolResult, Some(fold)) = (tree.node(at).kind, text.folds.first()) {
        // In the words of the tree, with the mark of an edit.
        let title = &mut text.lines[fold.title].spans;
        let mark = title.pop_if(|span| span.tone == Tone::Warning);
        *title = row_text::content(&tree, at, &model.settings, usize::MAX).into_iter().chain(mark).collect();
    }
    model.reader.take(place, text, before, &model.settings.glyphs);
}

/// Returns the facts about a turn that began at a time, each after a dot.
fn turn_facts(model: &Model, activity: &Activity, begun: Option<i64>) -> String {
    activity.turn_facts(begun).iter().map(|fact| format!(" {} {fact}", model.settings.glyphs.dot)).collect()
}

fn note_turn(model: &mut Model) {
    if let (Some(prompt), Some(tree)) = (model.reader.unknown_turn(), &model.tree.tree) {
        let facts = turn_facts(model, &summaries::turn(tree, prompt), tree.node(prompt).time);
        model.reader.take_turn(prompt, facts);
    }
}

/// Selects the entry at the top of the reader in the tree, after the reader was scrolled.
pub(super) fn follow(model: &mut Model) {
    let is_entry = matches!(model.reader.subject, ReaderSubject::Entry(_));
    if !is_entry || model.focus == KeyContext::Sessions {
        return;
    }
    let Some((at, entry)) = model.reader.current_entry().and_then(|at| Some((at, model.tree.entry(at)?))) else {
        return;
    };
    model.reader.subject = ReaderSubject::Entry(entry);
    model.tree.follow_reader(at);
    note_turn(model);
}

/// Scrolls the reader.
pub(super) fn scroll(model: &mut Model, by: isize) {
    model.reader.scroll(by, model.now);
    follow(model);
}

/// Folds or unfolds the part at the selected row, or goes to the branch there. Returns `false` if there is none.
pub(super) fn open(model: &mut Model, target: Option<Target>) -> bool {
    match target {
        None => return false,
        Some(Target::Branch(at)) => {
            if let Some(entry) = model.tree.entry(at) {
                model.reader.subject = ReaderSubject::Entry(entry);
                model.tree.go_to_entry(entry);
                show_branch(model, entry, true, false);
            }
        }
        Some(Target::Images(at)) => {
            if let Some(body) = model.tree.entry(at).and_then(|entry| model.entry_location(entry)) {
                model.start_task(Work::ReadSource(body, Opener::Editor), NextStep::Open(Opener::Editor));
            }
        }
        Some(target) => model.reader.toggle(target, &model.settings.glyphs),
    }
    true
}

/// Goes to the next or previous hit on the branch. Returns `true` if the search wrapped around, and `None` without hits.
pub(super) fn next_hit(model: &mut Model, forward: bool) -> Option<bool> {
    let (find, tree) = (model.tree.find.as_ref()?, model.tree.tree.clone()?);
    if model.reader.next_hit(&find.words, forward, &model.settings.glyphs) {
        return Some(false);
    }
    let (mut here, mut has_wrapped) = (model.reader.current_entry(), false);
    for _ in 0..find.hits.len() {
        let (at, wraps) = find.next(here, forward)?;
        has_wrapped |= wraps;
        here = Some(at);
        if model.reader.has(at) {
            model.reader.go_to_hit(&tree, at, forward, model.now);
            follow(model);
            return Some(has_wrapped);
        }
    }
    None
}

/// Reads another form of an entry.
pub(super) fn read_form(model: &mut Model, entry: EntryRef) {
    let Some(location) = model.entry_location(entry) else { return };
    let work = Work::Read(location, None, model.entry_form);
    model.reader.reading = Some(model.ask_or(work, |model, _, error| {
        model.reader.show(vec![DocLine::new(Tone::Error, error)]);
    }));
}

/// Reads the texts again after the form has changed.
pub(super) fn turn_again(model: &mut Model) {
    model.reader.turn_to(model.reader.subject, model.now);
    model.reader.is_stale = true;
}
