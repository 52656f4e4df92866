//! Key bindings: the table of actions, the keys bound to them, and their description.
//!
//! Pure: terminal events become [`Key`]s, and [`Keymap`] maps them to [`Action`]s. The state machine executes actions,
//! and the configuration is read elsewhere.

mod action;
mod key;

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::base::text::{ASCII, UNICODE};

pub use action::{Action, ActionRow, Group, KeyContext, Menu};
pub use key::Key;

/// The key bindings of all places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keymap {
    keys: HashMap<Action, Vec<Key>>,
    bound: HashMap<(KeyContext, Key), Action>,
}

impl Default for Keymap {
    /// Returns the default keys.
    fn default() -> Self {
        Self::build(&[]).0
    }
}

impl Keymap {
    /// Returns the default keys with the given overrides.
    ///
    /// # Errors
    /// All problems with the keys: the actions concerned, in the order of the table, and a message.
    pub fn new(overrides: &[(Action, Vec<Key>)]) -> Result<Self, Vec<(Vec<Action>, String)>> {
        let (keymap, errors) = Self::build(overrides);
        if errors.is_empty() { Ok(keymap) } else { Err(errors) }
    }

    fn build(overrides: &[(Action, Vec<Key>)]) -> (Self, Vec<(Vec<Action>, String)>) {
        let overrides: HashMap<_, _> = overrides.iter().map(|(action, keys)| (*action, keys)).collect();
        let mut keymap = Self { keys: HashMap::new(), bound: HashMap::new() };
        let mut errors = Vec::new();
        // Keys of text editing give way to all others.
        let (editing, others): (Vec<Action>, Vec<Action>) =
            Action::ALL.iter().partition(|action| action.row().group == Group::Typing);
        for action in others.into_iter().chain(editing) {
            let keys = overrides.get(&action).map_or_else(|| default_keys(action), |keys| (*keys).clone());
            let name = action.row().name;
            if keys.is_empty() && action == Action::Quit {
                errors.push((vec![action], format!("{name:?} needs at least one key")));
            }
            for &key in &keys {
                if let Some(first) = keymap.bind(action, key) {
                    let (key, other) = (key.to_string(), first.row().name);
                    let what =
                        format!("key {key:?} is bound to both {other:?} and {name:?}; give one of them other keys");
                    errors.push((vec![first, action], what));
                }
            }
            keymap.keys.insert(action, keys);
        }
        (keymap, errors)
    }

    /// Binds a key wherever the action works, and returns the action that already has it there.
    fn bind(&mut self, action: Action, key: Key) -> Option<Action> {
        let mut other = None;
        for &place in action.row().contexts {
            let owner = *self.bound.entry((place, key)).or_insert(action);
            let gives_way = action.row().group == Group::Typing && owner.row().group != Group::Typing;
            if owner != action && !gives_way {
                other = other.or(Some(owner));
            }
        }
        other
    }

    /// Returns the action of a key in a place.
    pub(crate) fn resolve(&self, place: KeyContext, key: Key) -> Option<Action> {
        let types = place.takes_text() && key.typed().is_some();
        self.bound.get(&(place, key)).copied().filter(|_| !types)
    }

    /// Returns the keys of an action, the preferred one first.
    pub fn keys(&self, action: Action) -> &[Key] {
        self.keys.get(&action).map_or(&[], Vec::as_slice)
    }

    /// Returns the keys of an action as text, empty when it has none.
    pub fn keys_text(&self, action: Action) -> String {
        self.keys(action).iter().map(Key::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Returns the page of keys and symbols in Markdown.
    pub fn reference(&self) -> String {
        let mut page = String::from(
            "<!-- Generated from the tables in src/keymap/action.rs and src/base/text.rs. Change those, not this page. -->\n\n\
             # Keys\n\n\
             Change the keys of an action under `[keys]` in `config.toml`, by the name of the action.\n",
        );
        let mut group = None;
        for &action in Action::ALL {
            if group != Some(action.row().group) {
                group = Some(action.row().group);
                let title = action.row().group.name();
                let _ = write!(page, "\n## {title}\n\n| Keys | Action | Where | Name |\n|---|---|---|---|\n");
            }
            let keys = self.keys(action).iter().map(|key| code_cell(&key.to_string())).collect::<Vec<_>>().join(" ");
            let _ = writeln!(page, "| {keys} | {} | {} | `{}` |", action.row().help, places(action), action.row().name);
        }
        page += "\n## Symbols\n\nChange a symbol under `[glyphs]` in `config.toml`, by its name. The help (`?`) lists keys and symbols, and \
                 filters them as you type.\n\n| Symbol | With `--ascii` | Meaning | Name |\n|---|---|---|---|\n";
        for ((name, means, sign), (.., ascii)) in UNICODE.all().zip(ASCII.all()) {
            let _ = writeln!(page, "| {} | {} | {means} | `{name}` |", code_cell(sign), code_cell(ascii));
        }
        page
    }
}

fn default_keys(action: Action) -> Vec<Key> {
    action.row().keys.iter().filter_map(|key| key.parse().ok()).collect()
}

fn places(action: Action) -> String {
    let places = action.row().contexts;
    if places == KeyContext::ALL {
        return "everywhere".to_owned();
    }
    let (mut names, rest) = match places.strip_prefix(KeyContext::PANES) {
        Some(rest) => (vec!["all panes"], rest),
        None => (Vec::new(), places),
    };
    names.extend(rest.iter().map(|place| place.name()));
    names.join(", ")
}

/// Formats code in a Markdown table cell, where a backtick and a bar need escaping.
fn code_cell(text: &str) -> String {
    let text = text.replace('|', "\\|");
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn key(text: &str) -> Key {
        text.parse().unwrap()
    }

    #[test]
    fn the_table_is_sound() {
        let mut names = HashSet::new();
        let mut groups = Vec::new();
        for &action in Action::ALL {
            let name = action.row().name;
            assert!(names.insert(name), "{name} twice");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
            assert!(action.row().help.ends_with('.') && !action.row().word.is_empty(), "{name}");
            let title = action.row().title;
            assert!((2..=4).contains(&title.split(' ').count()), "{name}: {title}");
            assert_eq!(Action::from_name(name), Some(action));
            let keys: Vec<_> = action.row().keys.iter().map(|text| key(text).to_string()).collect();
            assert_eq!(keys, action.row().keys, "default keys are written as they print");
            groups.push(action.row().group);
        }
        groups.dedup();
        assert_eq!(groups.iter().collect::<HashSet<_>>().len(), groups.len(), "rows of a group stand together");
    }

    #[test]
    fn defaults_have_no_conflict() {
        assert_eq!(Keymap::new(&[]), Ok(Keymap::default()));
    }

    #[test]
    fn a_key_acts_where_its_action_works() {
        let keymap = Keymap::default();
        for &place in KeyContext::PANES {
            assert_eq!(keymap.resolve(place, key("q")), Some(Action::Quit));
            assert_eq!(keymap.resolve(place, key("left")), Some(Action::Fold));
        }
        assert_eq!(keymap.resolve(KeyContext::Tree, key(".")), Some(Action::GoToLeaf));
        assert_eq!(keymap.resolve(KeyContext::Sessions, key(".")), None);
        assert_eq!(keymap.resolve(KeyContext::Tree, key("Q")), None);
        // In a menu, a key has another meaning.
        assert_eq!(keymap.resolve(KeyContext::Sessions, key("v n")), Some(Action::NamedOnly));
        assert_eq!(keymap.resolve(KeyContext::Tree, key("v n")), Some(Action::FilterNoTools));
        assert_eq!(keymap.resolve(KeyContext::Tree, key("n")), Some(Action::NextHit));
        assert_eq!(keymap.keys(Action::Quit), [key("q"), key("ctrl+c")]);
    }

    #[test]
    fn an_override_replaces_all_keys() {
        let keymap = Keymap::new(&[(Action::Quit, vec![key("Q"), key("Q")]), (Action::Reload, vec![])]).unwrap();
        assert_eq!(keymap.resolve(KeyContext::Tree, key("Q")), Some(Action::Quit));
        assert_eq!(keymap.resolve(KeyContext::Tree, key("q")), None);
        assert_eq!(keymap.resolve(KeyContext::Tree, key("f5")), None);
        assert!(keymap.keys(Action::Reload).is_empty());
    }

    #[test]
    fn conflicts_name_both_actions_and_the_key() {
        let errors =
            Keymap::new(&[(Action::GoToLeaf, vec![key("q"), key("v i")]), (Action::Quit, vec![])]).unwrap_err();
        let texts: Vec<_> = errors.iter().map(|(_, text)| text).collect();
        assert_eq!(
            texts,
            [
                "\"quit\" needs at least one key",
                "key \"v i\" is bound to both \"go-to-leaf\" and \"label-times\"; give one of them other keys",
            ]
        );
        let errors = Keymap::new(&[(Action::NamedOnly, vec![key("q")])]).unwrap_err();
        assert_eq!(
            errors.into_iter().map(|(actions, _)| actions).collect::<Vec<_>>(),
            [[Action::Quit, Action::NamedOnly]]
        );
    }

    #[test]
    fn panes_apart_may_share_a_key() {
        let keymap = Keymap::new(&[(Action::NamedOnly, vec![key(".")])]).unwrap();
        assert_eq!(keymap.resolve(KeyContext::Sessions, key(".")), Some(Action::NamedOnly));
        assert_eq!(keymap.resolve(KeyContext::Tree, key(".")), Some(Action::GoToLeaf));
    }

    #[test]
    fn no_plain_character_changes_data() {
        let reversible = [Action::Mark, Action::MarkAll, Action::Undo, Action::Redo, Action::CleanUp, Action::Trash];
        for &action in Action::ALL.iter().filter(|action| action.row().group == Group::Changing) {
            let keys = Keymap::default().keys(action).to_vec();
            let is_plain = keys.iter().any(|key| key.menu.is_none() && key.typed().is_some());
            assert!(!is_plain || reversible.contains(&action), "{}", action.row().name);
        }
        let typed = |action: &Action| {
            let keys = Keymap::default().keys(*action).to_vec();
            action.row().contexts.contains(&KeyContext::Tree)
                && keys.iter().any(|key| key.menu.is_none() && key.typed().is_some())
        };
        assert!(Action::ALL.iter().copied().filter(typed).count() <= 27, "a first level of few keys");
    }

    #[test]
    fn swapping_two_keys_is_no_conflict() {
        let swapped = [(Action::Up, vec![key("j")]), (Action::Down, vec![key("k")])];
        assert_eq!(Keymap::new(&swapped).unwrap().resolve(KeyContext::Tree, key("k")), Some(Action::Down));
    }

    #[test]
    fn help_lists_the_keys_of_an_action() {
        let keymap = Keymap::new(&[(Action::Reload, vec![])]).unwrap();
        assert_eq!(keymap.keys_text(Action::Quit), "q, ctrl+c");
        assert_eq!(keymap.keys_text(Action::Reload), "");
    }

    #[test]
    fn the_reference_says_where_it_comes_from() {
        let page = Keymap::default().reference();
        assert!(page.starts_with("<!-- Generated "));
        assert!(
            page.contains("\n## Session tree\n\n| Keys | Action | Where | Name |\n|---|---|---|---|\n| `ctrl+o` |")
        );
        assert!(page.contains(
            "\n| `q` `ctrl+c` | Quit pitree. | all panes, search line, questions, comparison, model context, statistics, files, file content | `quit` |\n"
        ));
        assert!(page.contains("\n| `g B` | Go to the previous branch point. | Tree | `previous-branch-point` |\n"));
        let keys = page.split("\n## Symbols\n").next().unwrap();
        assert_eq!(keys.lines().filter(|line| line.ends_with("` |")).count(), Action::ALL.len());
    }

    #[test]
    fn odd_keys_survive_markdown() {
        assert_eq!(code_cell("|"), "`\\|`");
        assert_eq!(code_cell("`"), "`` ` ``");
    }
}
