//! Stack of layers over the panes: input lines, dialogs, texts, help, palettes and full-screen views.
//!
//! The layer on top gets all input first and returns a [`LayerResult`]. Its place decides which keys the footer and the
//! help show. `C` is the command of a choice.

pub mod answer;
pub mod compare;
pub mod context;
pub mod dialogs;
pub mod file_text;
pub mod files;
pub mod help;
pub mod palette;
pub mod space;
pub mod stats;

use crate::app::layers::answer::ChoiceAction;
use crate::app::widgets::line::LineEdit;
use crate::keymap::{Action, Key, Place};
use answer::LayerResult;
use compare::CompareView;
use context::ContextView;
use dialogs::{Note, Prompt, Question};
use file_text::FileTextView;
use files::FilesView;
use help::Help;
use palette::Palette;
use space::SpaceView;
use stats::StatsView;

/// A layer over the panes.
#[derive(Clone, Debug)]
pub enum Layer<C> {
    /// The input line of a search over all sessions; its text is in [`Search`](crate::app::search::Search).
    Search,
    /// The input line of a search in the tree or the preview.
    Find(LineEdit),
    /// A prompt for a line of text.
    Prompt(Prompt),
    /// A list with a filter.
    Palette(Palette),
    /// A dialog with choices.
    Question(Question<C>),
    /// A text in a box.
    Note(Note),
    /// A comparison of two branches.
    Compare(Box<CompareView>),
    /// The help.
    Help(Help),
    /// A model context.
    Context(ContextView),
    /// Statistics.
    Stats(Box<StatsView>),
    /// The space that sessions take.
    Space(Box<SpaceView>),
    /// The files that sessions touched.
    Files(Box<FilesView>),
    /// The content of a file, or a difference.
    FileText(Box<FileTextView>),
}

/// The stack of layers, the one on top last.
#[derive(Debug)]
pub struct Layers<C>(pub Vec<Layer<C>>);

impl<C> Default for Layers<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C: Clone> Layers<C> {
    /// Closes all layers of a kind.
    pub(crate) fn close(&mut self, place: Place) {
        self.0.retain(|layer| layer.place() != place);
    }

    /// Returns the question with a title.
    pub(crate) fn question_mut(&mut self, title: &str) -> Option<&mut Question<C>> {
        self.0.iter_mut().find_map(|layer| match layer {
            Layer::Question(question) if question.title == title => Some(question),
            _ => None,
        })
    }

    /// Closes the questions with a title.
    pub(crate) fn close_question(&mut self, title: &str) {
        self.0.retain(|layer| !matches!(layer, Layer::Question(question) if question.title == title));
    }

    /// Returns `true` if there is a layer of a kind.
    pub fn has(&self, place: Place) -> bool {
        self.0.iter().any(|layer| layer.place() == place)
    }

    /// Returns the action of the selected row if a palette is on top.
    pub(crate) fn selected_choice(&self) -> Option<&ChoiceAction> {
        let Layer::Palette(palette) = self.top()? else { return None };
        Some(&palette.selected()?.action)
    }

    /// Closes all palettes.
    pub(crate) fn close_palettes(&mut self) {
        self.0.retain(|layer| !matches!(layer, Layer::Palette(_)));
    }

    /// Returns the layer on top.
    pub fn top(&self) -> Option<&Layer<C>> {
        self.0.last()
    }

    /// Returns the palettes, the one on top last.
    pub(crate) fn palettes_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Palette> {
        self.0.iter_mut().filter_map(|layer| match layer {
            Layer::Palette(palette) => Some(palette),
            _ => None,
        })
    }

    /// Returns the topmost model context.
    pub(crate) fn context_mut(&mut self) -> Option<&mut ContextView> {
        self.0.iter_mut().rev().find_map(|layer| match layer {
            Layer::Context(view) => Some(view),
            _ => None,
        })
    }

    /// Returns the statistics.
    pub(crate) fn stats_mut(&mut self) -> Option<&mut StatsView> {
        self.0.iter_mut().find_map(|layer| match layer {
            Layer::Stats(view) => Some(&mut **view),
            _ => None,
        })
    }

    /// Returns the screen of the space that sessions take.
    pub(crate) fn space_mut(&mut self) -> Option<&mut SpaceView> {
        self.0.iter_mut().find_map(|layer| match layer {
            Layer::Space(view) => Some(&mut **view),
            _ => None,
        })
    }

    /// Returns the files that sessions touched.
    pub(crate) fn files_mut(&mut self) -> Option<&mut FilesView> {
        self.0.iter_mut().find_map(|layer| match layer {
            Layer::Files(view) => Some(&mut **view),
            _ => None,
        })
    }

    /// Returns the shown file.
    pub(crate) fn file_text_mut(&mut self) -> Option<&mut FileTextView> {
        self.0.iter_mut().rev().find_map(|layer| match layer {
            Layer::FileText(view) => Some(&mut **view),
            _ => None,
        })
    }

    /// Returns the place in which the layer on top resolves keys.
    pub fn place(&self) -> Option<Place> {
        self.top().map(Layer::place)
    }

    /// Returns the comparisons.
    pub(crate) fn comparisons_mut(&mut self) -> impl Iterator<Item = &mut CompareView> {
        self.0.iter_mut().filter_map(|layer| match layer {
            Layer::Compare(compare) => Some(&mut **compare),
            _ => None,
        })
    }

    /// Passes a key and its action to the layer on top.
    pub fn press(&mut self, key: Key, action: Option<Action>, size: (u16, u16)) -> LayerResult<C> {
        if let Some(leaving @ (Action::Suspend | Action::Help)) = action
            && !matches!(self.top(), Some(Layer::Help(_)))
        {
            return LayerResult::Act(leaving);
        }
        match self.0.last_mut() {
            None | Some(Layer::Search) => LayerResult::Pass,
            Some(Layer::Find(line)) => press_find(line, key, action),
            Some(Layer::Prompt(prompt)) => prompt.press(key, action),
            Some(Layer::Palette(palette)) => palette.press(key, action, size),
            Some(Layer::Question(question)) => question.press(key, action, size),
            Some(Layer::Note(note)) => note.press(action, size),
            Some(Layer::Compare(compare)) => compare.press(action, size),
            Some(Layer::Help(help)) => help.press(key, action, size),
            Some(Layer::Context(context)) => context.press(action, size),
            Some(Layer::Stats(stats)) => stats.press(action, size),
            Some(Layer::Space(space)) => space.press(action, size),
            Some(Layer::Files(files)) => files.press(action, size),
            Some(Layer::FileText(text)) => text.press(action, size),
        }
    }

    /// Passes pasted text to the layer on top.
    pub fn paste(&mut self, text: &str) -> LayerResult<C> {
        match self.0.last_mut() {
            None | Some(Layer::Search) => return LayerResult::Pass,
            Some(Layer::Find(line)) => {
                line.paste(text);
                return LayerResult::SearchText(line.value().into());
            }
            Some(Layer::Prompt(prompt)) => prompt.paste(text),
            Some(Layer::Palette(palette)) => palette.paste(text),
            Some(Layer::Help(help)) => help.paste(text),
            // There is nothing to paste into.
            Some(
                Layer::Question(_)
                | Layer::Note(_)
                | Layer::Compare(_)
                | Layer::Context(_)
                | Layer::Stats(_)
                | Layer::Space(_)
                | Layer::Files(_)
                | Layer::FileText(_),
            ) => {}
        }
        LayerResult::Stay
    }

    /// Passes a click to the layer on top.
    pub fn click(&mut self, (column, row): (u16, u16), size: (u16, u16)) -> LayerResult<C> {
        match self.0.last_mut() {
            None | Some(Layer::Search) => LayerResult::Pass,
            // A click does not discard typed text; a shown file has nothing to click.
            Some(Layer::Find(_) | Layer::Prompt(_) | Layer::FileText(_)) => LayerResult::Stay,
            Some(Layer::Palette(palette)) => palette.click((column, row), size),
            Some(Layer::Question(question)) => question.click((column, row), size),
            Some(Layer::Compare(compare)) => compare.click((column, row), size),
            Some(Layer::Note(_) | Layer::Help(_)) => LayerResult::Close,
            Some(Layer::Context(context)) => context.click(row, size),
            Some(Layer::Stats(stats)) => stats.click((column, row), size),
            Some(Layer::Space(space)) => space.click((column, row), size),
            Some(Layer::Files(files)) => files.click((column, row), size),
        }
    }

    /// Passes a turn of the mouse wheel to the layer on top.
    pub fn wheel(&mut self, by: isize, size: (u16, u16)) -> LayerResult<C> {
        match self.0.last_mut() {
            None | Some(Layer::Search | Layer::Find(_) | Layer::Prompt(_)) => return LayerResult::Pass,
            Some(Layer::Palette(palette)) => palette.wheel(by, size),
            Some(Layer::Question(question)) => question.scroll(by, size),
            Some(Layer::Note(note)) => note.scroll(by, size),
            Some(Layer::Compare(compare)) => compare.wheel(by, size),
            Some(Layer::Help(help)) => help.scroll(by, size),
            Some(Layer::Context(context)) => context.wheel(by, size),
            Some(Layer::Stats(stats)) => stats.wheel(by, size),
            Some(Layer::Space(space)) => space.wheel(by, size),
            Some(Layer::Files(files)) => files.wheel(by, size),
            Some(Layer::FileText(text)) => text.wheel(by, size),
        }
        LayerResult::Stay
    }
}

impl<C> Layer<C> {
    /// Returns the place in which the layer resolves keys.
    pub fn place(&self) -> Place {
        match self {
            Self::Search => Place::Search,
            Self::Find(_) => Place::Find,
            Self::Prompt(_) => Place::Prompt,
            Self::Palette(palette) => palette.place(),
            Self::Question(_) => Place::Question,
            Self::Note(_) => Place::Note,
            Self::Compare(_) => Place::Compare,
            Self::Help(_) => Place::Help,
            Self::Context(_) => Place::Context,
            Self::Stats(_) => Place::Stats,
            Self::Space(_) => Place::Space,
            Self::Files(_) => Place::Files,
            Self::FileText(_) => Place::FileText,
        }
    }
}

fn press_find<C>(line: &mut LineEdit, key: Key, action: Option<Action>) -> LayerResult<C> {
    match action {
        Some(Action::Accept) => LayerResult::KeepSearch,
        Some(Action::Cancel | Action::Close) => LayerResult::CancelSearch,
        Some(action @ Action::OnlyHits) => LayerResult::Act(action),
        action if line.press(key, action) => LayerResult::SearchText(line.value().into()),
        _ => LayerResult::Stay,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::layers::dialogs::QuestionChoice;
    use crate::app::startup::Startup;

    fn press(layers: &mut Layers<u8>, setting: &Startup, key: &str) -> LayerResult<u8> {
        let key: Key = key.parse().unwrap();
        let action = layers.place().and_then(|place| setting.config.keymap.resolve(place, key));
        layers.press(key, action, (80, 24))
    }

    #[test]
    fn only_the_layer_on_top_gets_input() {
        let setting = Startup::default();
        let mut layers = Layers::default();
        assert!(matches!(press(&mut layers, &setting, "x"), LayerResult::Pass));
        layers.0.push(Layer::Find(LineEdit::default()));
        layers.0.push(Layer::Help(Help::default()));
        layers.0.push(Layer::Note(Note::new("Title", "a line\n".repeat(50))));
        assert!(matches!(layers.paste("text"), LayerResult::Stay));
        assert!(matches!(layers.wheel(3, (80, 24)), LayerResult::Stay));
        let Some(Layer::Note(note)) = layers.0.pop() else { panic!("the note is on top") };
        assert_eq!(note.top, 3);
        assert!(matches!(layers.paste("quit"), LayerResult::Stay));
        let Some(Layer::Help(help)) = layers.0.pop() else { panic!("the help is below it") };
        assert_eq!(help.line.value(), "quit");
        assert!(matches!(layers.paste("text"), LayerResult::SearchText(text) if text == "text"));
        assert!(matches!(press(&mut layers, &setting, "ctrl+w"), LayerResult::SearchText(text) if text.is_empty()));
        assert!(matches!(press(&mut layers, &setting, "q"), LayerResult::SearchText(text) if text == "q"));
        assert!(matches!(press(&mut layers, &setting, "esc"), LayerResult::CancelSearch));
    }

    #[test]
    fn a_choice_runs_its_command() {
        let setting = Startup::default();
        let mut layers = Layers::default();
        let choices = vec![QuestionChoice::new('a', "one", "", 1), QuestionChoice::new('j', "two", "", 2)];
        layers.0.push(Layer::Question(Question::new("Which?", Vec::new(), choices)));
        assert!(
            matches!(press(&mut layers, &setting, "j"), LayerResult::CloseAndRun(2)),
            "the letter of a choice selects it"
        );
        assert!(matches!(press(&mut layers, &setting, "enter"), LayerResult::CloseAndRun(1)));
        assert!(matches!(press(&mut layers, &setting, "down"), LayerResult::Stay));
        assert!(matches!(press(&mut layers, &setting, "enter"), LayerResult::CloseAndRun(2)));
        assert!(matches!(press(&mut layers, &setting, "q"), LayerResult::Close));
        assert!(matches!(press(&mut layers, &setting, "f1"), LayerResult::Act(Action::Help)));
    }
}
