//! Rows of the palettes: actions, labels, projects, sessions of a family, and the change history. All but the history come
//! from the catalog: they appear at once and follow its changes.

use std::cmp::Reverse;
use std::path::Path;

use crate::app::command::Command;
use crate::app::layers::palette::{Palette, PaletteItem, PaletteKind, ProjectItem};
use crate::app::layers::screen::{ChoiceAction, PromptPurpose};
use crate::app::model::Model;
use crate::app::panes::sessions::Project;
use crate::app::panes::tree::family::letter;
use crate::app::title::title;
use crate::base::javascript::utf16_prefix;
use crate::base::numbers::{bytes, count, nonzero_dollars};
use crate::base::paths::{file_name, shorten};
use crate::base::sort;
use crate::base::text::{Span, Tone, clean, width};
use crate::catalog::cost_sharing::{self, ListedItem};
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::SessionIdentity;
use crate::changes::change::Change;
use crate::changes::history::{HistoryEntry, in_words, state};
use crate::config::SavedQuery;
use crate::keymap::{Action, Group, Key, KeyContext};
use crate::search::qualifier;
use crate::session::digest::DigestLabel;
use crate::session::digest::commits::DigestCommit;
use crate::session::tree::EntryIndex;

/// Returns a palette with its title and rows.
pub(crate) fn palette(model: &Model, kind: PaletteKind) -> Palette {
    let mut palette = Palette::new(kind);
    fill(model, &mut palette);
    palette
}

/// Returns the help of a place.
pub(crate) fn help(model: &Model, over: KeyContext) -> Palette {
    let mut help = Palette::new(PaletteKind::Help);
    help.over = over;
    fill(model, &mut help);
    help
}

/// Fills a palette with its current items.
pub(crate) fn fill(model: &Model, palette: &mut Palette) {
    palette.catalog_version = model.catalog.version();
    palette.fill(match palette.kind {
        PaletteKind::Actions => action_rows(model),
        PaletteKind::Labels => label_rows(model),
        PaletteKind::Family => family_rows(model),
        PaletteKind::Trash => trash_rows(model),
        PaletteKind::History => history_rows(model),
        PaletteKind::Projects => project_rows(model),
        PaletteKind::Help => help_rows(model, palette.over),
    });
}

/// Heading for recent actions.
const RECENT: &str = "Recent";
/// Heading for actions that work in every pane.
const EVERYWHERE: &str = "All panes";
/// Heading for saved queries.
const SAVED: &str = "Saved";

/// Returns `true` if the palette lists an action: one of a pane that does more than move or go back.
pub(crate) fn is_listed(action: Action) -> bool {
    let is_of_pane = KeyContext::PANES.iter().any(|place| action.row().contexts.contains(place));
    is_of_pane && action.row().group != Group::Moving && !matches!(action, Action::Back | Action::Palette)
}

/// Returns recent actions, then those of the focused pane, of all panes and of the other panes, then saved queries.
fn action_rows(model: &Model) -> Vec<PaletteItem> {
    let row = |(group, action): (&'static str, Action)| {
        let keys: Vec<String> = model.settings.config.keymap.keys(action).iter().map(Key::to_string).collect();
        let keys = Span::accent(keys.join(", "));
        let title = vec![Span::text(action.row().title)];
        PaletteItem::new(title, Vec::new(), keys, ChoiceAction::Act(action))
            .under(group)
            .called(action.row().name, action.row().help)
            .about(action.row().help)
    };
    let recent = model.recent.iter().map(|&action| (RECENT, action));
    let others = Action::ALL.iter().filter(|&&action| is_listed(action) && !model.recent.contains(&action));
    let mut others: Vec<_> = others.map(|&action| (group_of(action, model.focus), action)).collect();
    sort::by_key(&mut others, |&(group, _)| (group != model.focus.name(), group != EVERYWHERE));
    let saved = |saved: &SavedQuery| {
        let left = vec![Span::clean(Tone::Text, &saved.name), Span::clean(Tone::Dim, &format!("  {}", saved.query))];
        let key = saved.key.map_or(String::new(), |key| key.to_string());
        let key = Span::accent(key);
        PaletteItem::new(left, Vec::new(), key, ChoiceAction::Search(saved.query.clone())).under(SAVED)
    };
    let saved = model.settings.config.queries.iter().map(saved);
    recent.chain(others).map(row).chain(saved).collect()
}

/// Actions that the help of a pane lists first.
const FIRST_LEVEL: &[Action] = &[
    Action::Confirm,
    Action::Back,
    Action::Up,
    Action::Down,
    Action::Fold,
    Action::Unfold,
    Action::PageDown,
    Action::NextPane,
    Action::NextPrompt,
    Action::PreviousPrompt,
    Action::NextEntry,
    Action::PreviousEntry,
    Action::GoToLeaf,
    Action::Search,
    Action::Find,
    Action::NextHit,
    Action::Mark,
    Action::MenuSelection,
    Action::MenuGoTo,
    Action::MenuView,
    Action::Palette,
    Action::Copy,
    Action::Compare,
    Action::Labels,
    Action::Zoom,
    Action::Undo,
    Action::Delete,
    Action::Quit,
];

/// Query syntax besides qualifiers.
const LANGUAGE: &[(&str, &str)] = &[
    ("word", "Match a word in names, labels, messages, summaries, IDs and directories"),
    ("\"two words\"", "Match words in sequence"),
    ("-word", "Exclude sessions with the word or qualifier"),
    ("re:o?auth", "Match a regular expression; must be the whole query"),
    ("all: word", "Also search tool output, thinking, arguments and custom entries"),
];

/// The columns of keys, query terms and symbols in the help.
const HELP_KEYS: usize = 19;

/// Returns the keys of a place, all keys, the query syntax and the symbols.
fn help_rows(model: &Model, over: KeyContext) -> Vec<PaletteItem> {
    let settings = &model.settings;
    let item = |group: &'static str, key: &str, text: &str, leads: ChoiceAction| {
        let gap = " ".repeat(HELP_KEYS.saturating_sub(width(key)));
        let left = vec![Span::clean(Tone::Accent, &format!("{key}{gap}  ")), Span::clean(Tone::Text, text)];
        PaletteItem::new(left, Vec::new(), Span::default(), leads).under(group).called("", group).about(text)
    };
    let layer = model.layers.0.iter().rev().find(|layer| layer.key_context() == over);
    let action = |group: &'static str, action: Action| {
        let row = action.row();
        let word = layer.filter(|_| group == over.name()).and_then(|layer| layer.screen().word(action));
        let item = item(
            group,
            &settings.config.keymap.keys_text(action),
            word.unwrap_or(row.title),
            ChoiceAction::Act(action),
        );
        item.called("", &format!("{} {group}", row.help)).about(row.help)
    };
    let works = |action: &&Action| action.row().contexts.contains(&over) && action.row().group != Group::Typing;
    let first: Vec<Action> = match KeyContext::PANES.contains(&over) {
        true => FIRST_LEVEL.iter().filter(works).copied().collect(),
        false => Action::ALL.iter().filter(works).copied().collect(),
    };
    let mut rows: Vec<PaletteItem> = first.into_iter().map(|one| action(over.name(), one)).collect();
    let language = LANGUAGE.iter().map(|&(query, help)| (query, help.into())).chain(qualifier::rows());
    let explain = ChoiceAction::Explain("type it in the search line");
    let queries: Vec<_> =
        language.map(|(query, help): (&str, String)| item("Query syntax", query, &help, explain.clone())).collect();
    let keys = Action::ALL.iter().map(|&one| action(one.row().group.name(), one));
    if over == KeyContext::Search {
        rows.splice(..0, queries);
        rows.extend(keys);
    } else {
        rows.extend(keys.chain(queries));
    }
    rows.extend(settings.config.queries.iter().map(|saved| {
        let key = saved.key.map_or(String::new(), |key| key.to_string());
        let text = format!("{}: {}", saved.name, saved.query);
        item(SAVED, &key, &text, ChoiceAction::Search(saved.query.clone()))
    }));
    let own_cost = ("", "Cost of a fork without its inherited entries.", "+$0.10");
    let machine = ("", "The other machine that has the session.", "@name");
    let symbols = settings.glyphs.all().chain([own_cost, machine]);
    rows.extend(symbols.map(|(_, means, sign)| item("Symbols", sign, means, ChoiceAction::Explain("a symbol"))));
    rows
}

/// Returns the group of an action: the focused pane if it works there, else the first pane in which it works.
fn group_of(action: Action, focus: KeyContext) -> &'static str {
    let is_in = |place: &KeyContext| action.row().contexts.contains(place);
    if KeyContext::PANES.iter().all(is_in) {
        return EVERYWHERE;
    }
    let place = Some(focus).filter(is_in).or_else(|| KeyContext::PANES.iter().copied().find(is_in));
    place.map_or(EVERYWHERE, KeyContext::name)
}

/// Returns all projects, most recent first.
fn project_rows(model: &Model) -> Vec<PaletteItem> {
    let projects = model.sessions.all_projects(&model.catalog);
    let sessions: Vec<String> =
        projects.iter().map(|project| count(project.sessions.len(), "session", "sessions")).collect();
    let widest = sessions.iter().map(String::len).max().unwrap_or_default();
    let row = |(project, sessions): (&Project, String)| {
        let is_gone = model.catalog.gone_dirs.contains(&*project.cwd);
        let gone = if is_gone { format!(" {}", model.settings.glyphs.gone) } else { String::new() };
        let cost = nonzero_dollars(project.sum.cost).unwrap_or_default();
        let item = ProjectItem {
            name: project.name(&model.settings.home),
            symbol: Span::dim(gone),
            totals: Span::dim(format!("  {sessions:>widest$} {cost:>7}")),
        };
        let age = when(model, Some(project.latest).filter(|&latest| latest > i64::MIN));
        PaletteItem::project(item, &project.cwd, age, ChoiceAction::Project(project.key))
    };
    projects.iter().zip(sessions).map(row).collect()
}

/// Columns of a session's title in a row.
const TITLE: usize = 30;

/// A label, or a commit that an entry made.
enum Landmark<'a> {
    Label(&'a DigestLabel),
    Commit(&'a DigestCommit),
}

impl Landmark<'_> {
    /// Returns the entry and the time.
    fn place(&self) -> (EntryIndex, Option<i64>) {
        match self {
            Self::Label(label) => (label.at, label.time),
            Self::Commit(commit) => (commit.at, commit.time),
        }
    }
}

/// Returns the labels and commits, most recent first.
fn label_rows(model: &Model) -> Vec<PaletteItem> {
    let (catalog, glyphs) = (&model.catalog, &model.settings.glyphs);
    let has_some = |key: &SessionKey| {
        let facts = catalog[*key].facts();
        facts.is_labeled() || facts.is_committed()
    };
    let mut keys: Vec<SessionKey> = catalog.keys().filter(has_some).collect();
    catalog.sort_oldest_first(&mut keys);
    let of = |&key: &SessionKey| {
        let digest = &**catalog[key];
        let labels = digest.labels.iter().map(|label| (digest.label_key(label), Landmark::Label(label)));
        let commits = digest.commits.iter().map(|commit| (digest.commit_key(commit), Landmark::Commit(commit)));
        labels
            .chain(commits)
            .map(move |((entry, text), what)| ((entry, text, matches!(what, Landmark::Commit(_))), key, what))
    };
    let mut all = cost_sharing::deduplicate(keys.iter().flat_map(of));
    sort::by_key(&mut all, |ListedItem { session, what, .. }| {
        let (at, time) = what.place();
        (Reverse(time), &catalog[*session].path, at)
    });
    let row = |listed: ListedItem<SessionKey, Landmark<'_>>| {
        let (at, time) = listed.what.place();
        let (mark, text) = match &listed.what {
            Landmark::Label(label) => (format!("[{}] ", label.text), &*label.row),
            Landmark::Commit(commit) => (format!("{} {} ", glyphs.commit, commit.sha), &*commit.title),
        };
        let left = vec![Span::clean(Tone::Label, &mark), Span::text(text)];
        let leads = ChoiceAction::Entry(EntryRef { session: listed.session, at });
        PaletteItem::new(left, title_of_item(model, &listed), when(model, time), leads)
    };
    all.into_iter().map(row).collect()
}

/// Returns a time for the end of a row.
fn when(model: &Model, time: Option<i64>) -> Span {
    Span::dim(format!("  {:>9}", model.when(time)))
}

/// Returns a session's title and the number of forks with the same item.
fn title_of_item<T>(model: &Model, listed: &ListedItem<SessionKey, T>) -> Vec<Span> {
    let forks = cost_sharing::in_forks(listed.forks);
    let room = TITLE - width(&forks).min(TITLE);
    let title = title(&model.catalog[listed.session], &model.settings);
    let title = model.settings.glyphs.cut(&title, room).into_owned();
    let gap = " ".repeat(room - width(&title));
    vec![Span::dim(title), Span::new(Tone::Fork, forks), Span::dim(gap)]
}

/// Asks for a new text of the selected label; an empty one clears it.
pub(crate) fn change_label(model: &Model, selected: Option<&ChoiceAction>) -> Command {
    let Some(&ChoiceAction::Entry(EntryRef { session, at })) = selected else {
        return Command::warn("no label is selected");
    };
    let digest = &model.catalog[session];
    let Some(label) = digest.labels.iter().find(|label| label.at == at) else {
        return Command::warn("this entry has no label");
    };
    let (target, identity) = (label.entry.clone(), SessionIdentity::of(digest));
    Command::prompt(PromptPurpose::Label(session, identity, target), "label: ", &label.text)
}

/// Returns the sessions of the family, parents before forks, then sessions that share entries without a link.
fn family_rows(model: &Model) -> Vec<PaletteItem> {
    let Some(open) = model.tree.session.filter(|&open| model.catalog.has(open)) else { return Vec::new() };
    let family = model.catalog.family(open).into_iter().map(|key| family_row(model, key, true));
    let others = model.catalog.same_origin(open).into_iter().map(|key| family_row(model, key, false));
    family.chain(others).collect()
}

fn family_row(model: &Model, key: SessionKey, is_of_family: bool) -> PaletteItem {
    let (catalog, tree) = (&model.catalog, &model.tree);
    let depth = catalog.families().line(key).skip(1).count().min(8);
    let number = tree.family.as_ref().and_then(|family| family.number_of(key));
    let is_shown = if is_of_family {
        tree.is_whole() && !tree.position.wanted.hidden.contains(&key)
    } else {
        tree.position.wanted.added.contains(&key)
    };
    let sign = match number {
        Some(number) => letter(number),
        None => Span::dim("-"),
    };
    let tone = if is_shown || number.is_some() { Tone::Text } else { Tone::Dim };
    let indent = if is_of_family { "  ".repeat(depth) } else { String::new() };
    let left = vec![sign, Span::new(tone, format!(" {indent}{}", title(&catalog[key], &model.settings)))];
    let is_open = tree.session == Some(key);
    let mut facts = Vec::new();
    facts.extend(is_open.then(|| "open".into()));
    facts.extend((!is_of_family).then(|| "same origin".into()));
    facts.extend((is_of_family && tree.position.wanted.hidden.contains(&key)).then(|| "hidden".into()));
    let own = catalog.own(key);
    facts.push(count(own.entries, "unique entry", "unique entries"));
    facts.extend(nonzero_dollars(own.cost));
    let dot = format!(" {} ", model.settings.glyphs.dot);
    let right = vec![Span::dim(facts.join(&dot))];
    let leads = if is_open {
        ChoiceAction::Explain("the open session is always shown")
    } else {
        ChoiceAction::ToggleMember(key)
    };
    PaletteItem::new(left, right, when(model, catalog[key].facts().modified()), leads)
}

/// Maximum length of a title in a row, in UTF-16 code units: no box is wider.
const MAX_UNITS: usize = 200;

/// Returns the sessions in the trash.
fn trash_rows(model: &Model) -> Vec<PaletteItem> {
    let row = |entry: &HistoryEntry| {
        // Another session may be at its path by now.
        let title =
            entry.session.as_ref().map_or_else(|| file_name(entry.record.change.path()), |(title, _)| title.clone());
        let cwd = entry.session.as_ref().map_or("", |(_, cwd)| cwd);
        let size = match &entry.record.change {
            Change::Trash(trashed) if !trashed.link => bytes(trashed.bytes),
            _ => "link".into(),
        };
        let (tone, right, leads) = if entry.is_emptied {
            let why = "no longer in the trash; it was emptied, or another program removed the file";
            (Tone::Dim, "no longer in the trash".into(), ChoiceAction::Explain(why))
        } else {
            (Tone::Text, shorten(cwd, &model.settings.home).into_owned(), ChoiceAction::Restore(entry.record.number))
        };
        let facts = format!("  {size:>8}{}", when(model, Some(entry.record.time)).text);
        let left = vec![Span::clean(tone, utf16_prefix(&title, MAX_UNITS))];
        PaletteItem::new(left, vec![Span::clean(Tone::Dim, &right)], Span::dim(facts), leads)
    };
    model.history().iter().filter(|past| past.record.is_away()).map(row).collect()
}

/// Returns all changes, one row for each group.
fn history_rows(model: &Model) -> Vec<PaletteItem> {
    let together = model.history().chunk_by(|a, b| a.record.group == b.record.group);
    let row = |group: &[HistoryEntry]| {
        let last = group.first()?;
        let in_force = group.iter().find(|past| past.record.can_be_undone());
        let state = state(in_force.unwrap_or(last).record.state);
        let leads = match in_force {
            Some(past) => ChoiceAction::Undo(past.record.group),
            None => ChoiceAction::Explain("already reverted; nothing to undo"),
        };
        let what = in_words(group.iter().rev().map(|past| &past.record));
        let tone = if in_force.is_some() { Tone::Text } else { Tone::Dim };
        let mut left = vec![Span::clean(tone, utf16_prefix(&what, MAX_UNITS))];
        left.push(Span::clean(Tone::Dim, &format!("  {}", changed_sessions(model, group))));
        let right = state.map(|state| Span::dim(format!("  {state}"))).into_iter().collect();
        Some(PaletteItem::new(left, right, when(model, Some(last.record.time)), leads))
    };
    together.filter_map(row).collect()
}

/// Returns the first changed session and the number of others.
fn changed_sessions(model: &Model, group: &[HistoryEntry]) -> String {
    let Some(first) = group.last() else { return String::new() };
    let change = &first.record.change;
    let is_listed = |path: &&Path| model.catalog.key_of(path).is_some_and(|key| model.catalog.has(key));
    let path = change.other_path().filter(is_listed).unwrap_or(change.path());
    let title = model.title_of(path, first.session.as_ref().map(|(title, _)| &**title));
    let title = clean(utf16_prefix(&title, MAX_UNITS)).into_owned();
    match group.len() - 1 {
        0 => title,
        others => format!("{title} and {}", count(others, "other", "others")),
    }
}
