//! Stack of layers over the panes: input lines, dialogs, texts, help, palettes and full-screen views.
//!
//! The layer on top gets all input first and returns a [`LayerResult`]. Its place decides which keys the footer and the
//! help show. `C` is the command of a choice.

pub mod compare;
pub mod context;
pub mod dialogs;
pub mod files;
pub mod menu;
pub mod palette;
pub mod screen;
pub mod stats;

use crate::app::widgets::TerminalSize;
use crate::keymap::{Action, Key, KeyContext};
use compare::CompareView;
use context::ContextView;
use dialogs::{FindLine, MessageBox, Prompt, Question, SearchLine};
use files::{FileTextView, FilesView};
use menu::MenuView;
use palette::{Palette, PaletteKind};
use screen::{ChoiceAction, LayerResult, Screen};
use stats::StatsView;

/// A kind of layer.
pub trait LayerKind<C>: Sized {
    /// Returns the layer if it has this kind.
    fn of(layer: &Layer<C>) -> Option<&Self>;

    /// Returns the layer for changes if it has this kind.
    fn of_mut(layer: &mut Layer<C>) -> Option<&mut Self>;
}

/// Defines the layers. To add one, implement [`Screen`] for it and add its line here, with the name of its [`KeyContext`].
macro_rules! layers {
    ($($(#[$doc:meta])* $name:ident($kind:ty),)+) => {
        /// A layer over the panes.
        #[derive(Clone, Debug)]
        pub enum Layer<C> {
            $($(#[$doc])* $name(Box<$kind>),)+
        }

        impl<C: Clone> Layer<C> {
            /// Returns the place whose keys work.
            pub fn key_context(&self) -> KeyContext {
                match self {
                    Self::Palette(palette) if palette.kind == PaletteKind::Labels => KeyContext::Labels,
                    $(Self::$name(_) => KeyContext::$name,)+
                }
            }

            /// Returns the layer as a screen.
            pub fn screen(&self) -> &dyn Screen {
                match self {
                    $(Self::$name(layer) => &**layer,)+
                }
            }

            fn screen_mut(&mut self) -> &mut dyn Screen {
                match self {
                    $(Self::$name(layer) => &mut **layer,)+
                }
            }
        }

        $(
            impl<C> LayerKind<C> for $kind {
                fn of(layer: &Layer<C>) -> Option<&Self> {
                    if let Layer::$name(layer) = layer { Some(layer) } else { None }
                }

                fn of_mut(layer: &mut Layer<C>) -> Option<&mut Self> {
                    if let Layer::$name(layer) = layer { Some(layer) } else { None }
                }
            }

            impl<C> From<$kind> for Layer<C> {
                fn from(layer: $kind) -> Self {
                    Self::$name(Box::new(layer))
                }
            }
        )+
    };
}

layers! {
    /// The input line of a search over all sessions.
    Search(SearchLine),
    /// The input line of a search in the tree or the preview.
    Find(FindLine),
    /// A prompt for a line of text.
    Prompt(Prompt),
    /// A list with a filter.
    Palette(Palette),
    /// A dialog with choices.
    Question(Question<C>),
    /// A text in a box.
    MessageBox(MessageBox),
    /// A comparison of two branches.
    Compare(CompareView),
    /// A menu.
    Menu(MenuView),
    /// A model context.
    Context(ContextView),
    /// Statistics.
    Stats(StatsView),
    /// The files that sessions touched.
    Files(FilesView),
    /// The content of a file, or a difference.
    FileText(FileTextView),
}

/// The stack of layers, topmost last.
#[derive(Debug)]
pub struct Layers<C>(pub Vec<Layer<C>>);

impl<C> Default for Layers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C: Clone> Layers<C> {
    /// Opens a layer on top.
    pub fn push(&mut self, layer: impl Into<Layer<C>>) {
        self.0.push(layer.into());
    }

    /// Closes the layers of a place.
    pub(crate) fn close(&mut self, place: KeyContext) {
        self.0.retain(|layer| layer.key_context() != place);
    }

    /// Shows a question, in place of those with the same title.
    pub(crate) fn show_question(&mut self, new: Question<C>) {
        self.0.retain(|layer| !matches!(layer, Layer::Question(question) if question.title == new.title));
        self.push(new);
    }

    /// Replaces the question with the same title, if it is shown.
    pub(crate) fn update_question(&mut self, new: Question<C>) {
        if let Some(question) = self.question_mut(new.title) {
            *question = new;
        }
    }

    /// Closes all palettes and menus.
    pub(crate) fn close_palettes(&mut self) {
        self.0.retain(|layer| !matches!(layer, Layer::Palette(_) | Layer::Menu(_)));
    }

    /// Returns the question with a title.
    pub(crate) fn question_mut(&mut self, title: &str) -> Option<&mut Question<C>> {
        self.all_mut::<Question<C>>().find(|question| question.title == title)
    }

    /// Returns `true` if there is a layer of a place.
    pub fn has(&self, place: KeyContext) -> bool {
        self.0.iter().any(|layer| layer.key_context() == place)
    }

    /// Returns the action of the selected item if the topmost layer is a palette.
    pub(crate) fn selected_choice(&self) -> Option<&ChoiceAction> {
        Some(&self.top_as::<Palette>()?.selected()?.action)
    }

    /// Returns the topmost layer.
    pub fn top(&self) -> Option<&Layer<C>> {
        self.0.last()
    }

    /// Returns the topmost layer if it has a kind.
    pub fn top_as<T: LayerKind<C>>(&self) -> Option<&T> {
        T::of(self.top()?)
    }

    /// Returns the topmost layer for changes if it has a kind.
    pub(crate) fn top_as_mut<T: LayerKind<C>>(&mut self) -> Option<&mut T> {
        T::of_mut(self.0.last_mut()?)
    }

    /// Returns the topmost layer of a kind.
    pub fn get<T: LayerKind<C>>(&self) -> Option<&T> {
        self.0.iter().rev().find_map(T::of)
    }

    /// Returns the topmost layer of a kind for changes.
    pub(crate) fn get_mut<T: LayerKind<C>>(&mut self) -> Option<&mut T> {
        self.0.iter_mut().rev().find_map(T::of_mut)
    }

    /// Changes the topmost layer of a kind. Returns `None` without such a layer.
    pub(crate) fn update<T: LayerKind<C>, R>(&mut self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        self.get_mut().map(change)
    }

    /// Returns the layers of a kind for changes.
    pub(crate) fn all_mut<'a, T: LayerKind<C> + 'a>(&'a mut self) -> impl Iterator<Item = &'a mut T> {
        self.0.iter_mut().filter_map(T::of_mut)
    }

    /// Returns the place of the topmost layer.
    pub fn key_context(&self) -> Option<KeyContext> {
        self.top().map(Layer::key_context)
    }

    /// Updates what depends on the size of the terminal.
    pub(crate) fn fit(&mut self, terminal: TerminalSize) {
        self.0.iter_mut().for_each(|layer| layer.screen_mut().fit(terminal));
    }

    fn input(&mut self, input: impl FnOnce(&mut dyn Screen) -> LayerResult) -> LayerResult {
        self.0.last_mut().map_or(LayerResult::Pass, |layer| input(layer.screen_mut()))
    }

    /// Handles a key, which the keymap resolved in the place of the topmost layer.
    pub fn press(&mut self, key: Key, action: Option<Action>, terminal: TerminalSize) -> LayerResult {
        use Action as A;
        if let Some(leaving @ (A::Suspend | A::Help | A::MenuSelection | A::MenuGoTo | A::MenuView)) = action {
            return LayerResult::Act(leaving);
        }
        self.input(|layer| layer.press(key, action, terminal))
    }

    /// Runs an action that was chosen in a menu or the help.
    pub(crate) fn run(&mut self, action: Action, terminal: TerminalSize) -> LayerResult {
        self.input(|layer| layer.run(action, terminal))
    }

    /// Handles pasted text.
    pub fn paste(&mut self, text: &str) -> LayerResult {
        self.input(|layer| layer.paste(text))
    }

    /// Handles a click.
    pub fn click(&mut self, position: (u16, u16), terminal: TerminalSize) -> LayerResult {
        self.input(|layer| layer.click(position, terminal))
    }

    /// Handles the mouse wheel: scrolls by some rows, down or (negative) up.
    pub fn wheel(&mut self, by: isize, terminal: TerminalSize) -> LayerResult {
        self.input(|layer| layer.wheel(by, terminal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::layers::dialogs::QuestionChoice;
    use crate::app::settings::Settings;

    fn press(layers: &mut Layers<u8>, settings: &Settings, key: &str) -> LayerResult {
        let key: Key = key.parse().unwrap();
        let action = layers.key_context().and_then(|place| settings.config.keymap.resolve(place, key));
        layers.press(key, action, (80, 24))
    }

    #[test]
    fn only_the_layer_on_top_gets_input() {
        let setting = Settings::default();
        let mut layers = Layers::default();
        assert!(matches!(press(&mut layers, &setting, "x"), LayerResult::Pass));
        layers.push(FindLine::default());
        layers.push(Palette::new(PaletteKind::Help));
        layers.push(MessageBox::new("Title", "a line\n".repeat(50)));
        assert!(matches!(layers.paste("text"), LayerResult::Stay));
        assert!(matches!(layers.wheel(3, (80, 24)), LayerResult::Stay));
        let Some(Layer::MessageBox(note)) = layers.0.pop() else { panic!("the note is on top") };
        assert_eq!(note.top, 3);
        assert!(matches!(layers.paste("quit"), LayerResult::Stay));
        let Some(Layer::Palette(help)) = layers.0.pop() else { panic!("the help is below it") };
        assert_eq!(help.line.value(), "quit");
        assert!(matches!(layers.paste("text"), LayerResult::SearchText(text) if text == "text"));
        assert!(matches!(press(&mut layers, &setting, "ctrl+w"), LayerResult::SearchText(text) if text.is_empty()));
        assert!(matches!(press(&mut layers, &setting, "q"), LayerResult::SearchText(text) if text == "q"));
        assert!(matches!(press(&mut layers, &setting, "esc"), LayerResult::CancelSearch));
    }

    #[test]
    fn keys_take_choices() {
        let setting = Settings::default();
        let mut layers = Layers::default();
        let choices = vec![QuestionChoice::new('a', "one", "", 1), QuestionChoice::new('j', "two", "", 2)];
        layers.push(Question::new("Which?", Vec::new(), choices));
        assert!(
            matches!(press(&mut layers, &setting, "j"), LayerResult::Choice(1)),
            "the letter of a choice selects it"
        );
        assert!(matches!(press(&mut layers, &setting, "enter"), LayerResult::Choice(0)));
        assert!(matches!(press(&mut layers, &setting, "down"), LayerResult::Stay));
        assert!(matches!(press(&mut layers, &setting, "enter"), LayerResult::Choice(1)));
        assert!(matches!(press(&mut layers, &setting, "q"), LayerResult::Close));
        assert!(matches!(press(&mut layers, &setting, "f1"), LayerResult::Act(Action::Help)));
    }
}
