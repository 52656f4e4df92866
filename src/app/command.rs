//! What flows and choices want done: plain data. [`update`](mod@crate::app::update) alone carries it out.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::layers::Layer;
use crate::app::layers::answer::PromptPurpose;
use crate::app::layers::context;
use crate::app::layers::note::Note;
use crate::app::layers::prompt::Prompt;
use crate::app::layers::question::{Question, QuestionChoice};
use crate::app::message::{Clip, EntryBody, PickerOutput};
use crate::base::text::Tone;
use crate::catalog::live::PiStatus;
use crate::catalog::{EntryRef, SessionKey};
use crate::changes::{FileSnapshot, Request};
use crate::keymap::Place;
use crate::pi::launch::Start;
use crate::pi::requests::PiRequest;
use crate::render::DocLine;
use crate::session::entry::EntryId;
use crate::session::tree::{Index, Tree};

/// Something that is wanted.
#[derive(Clone, Debug)]
pub enum Command {
    /// Several things, in their order.
    All(Vec<Command>),
    /// Something is said in the footer.
    Say(Tone, String),
    /// Says in the footer what was done and can be undone.
    SayDone(String),
    /// It is told what went wrong: in the footer if it fits, else in a box with this title.
    Complain(&'static str, String),
    /// A question is asked, a note shown.
    Show(Box<Layer<Command>>),
    /// It is shown what the model sees.
    See(context::ContextTarget),
    /// A pane gets the keyboard.
    Focus(Place),
    /// A session is selected.
    Select(SessionKey),
    /// An entry is gone to, whatever hides it.
    GoTo(EntryRef),
    /// An entry of a session is gone to in that session's own tree.
    GoOver(SessionKey, EntryId),
    /// A project is folded, or unfolded.
    Toggle,
    /// The entry in which the selected session was found is gone to.
    GoToHit,
    /// A change is made, and then something else.
    Change(Request, AfterChange),
    /// A running pi is asked to do something.
    TellPi(PiStatus, PiRequest),
    /// It is looked which pis run.
    LookForPis,
    /// Files go to the trash; after another question if a pi may be at work in them, as far as that is known by then.
    ToTrash(Vec<FileSnapshot>),
    /// It is asked whether pi goes to an entry by itself; then it is gone on at this one.
    AskPi(SessionKey, Arc<Tree>, Index),
    /// pi goes on.
    GoOn(ResumePlan),
    /// It is looked for what the gone directory of a session may be now.
    LookForMoved(ResumePlan),
    /// It is kept in mind what the gone directory of a session is now, and pi goes on there.
    Elsewhere {
        /// How pi goes on, in the directory that is gone.
        then: ResumePlan,
        /// What it is now, as it was typed or found.
        dir: String,
    },
    /// Something is copied.
    Copy(Clip),
    /// The whole text of an entry is copied.
    CopyText(EntryBody),
    /// pitree ends with an answer.
    Answer(PickerOutput),
    /// pitree ends.
    Quit,
}

impl Command {
    /// Nothing is wanted.
    pub fn nothing() -> Self {
        Self::All(Vec::new())
    }

    /// A warning in the footer.
    pub(crate) fn warn(text: impl Into<String>) -> Self {
        Self::Say(Tone::Warning, text.into())
    }

    /// Returns the command that shows a layer.
    pub fn show(layer: Layer<Self>) -> Self {
        Self::Show(Box::new(layer))
    }

    /// Returns the command that asks a question.
    pub(crate) fn ask(title: &'static str, lines: Vec<DocLine>, choices: Vec<QuestionChoice<Self>>) -> Self {
        Self::show(Layer::Question(Question::new(title, lines, choices)))
    }

    /// Returns the command that shows a text in a box.
    pub(crate) fn note(title: &str, text: impl Into<String>) -> Self {
        Self::show(Layer::Note(Note::new(title, text)))
    }

    /// Returns the command that asks for a line of text; `value` is its first content.
    pub(crate) fn prompt(purpose: PromptPurpose, question: impl Into<String>, value: &str) -> Self {
        Self::show(Layer::Prompt(Prompt::new(purpose, question, value)))
    }
}

/// What follows when a change was made.
#[derive(Clone, Debug)]
pub enum AfterChange {
    /// Nothing more.
    Rest,
    /// The session that is new in the list is selected.
    Show,
    /// pi goes on.
    GoOn(Box<ResumePlan>),
}

/// Going on in pi: what is still to be done until it starts.
#[derive(Clone, Debug)]
pub struct ResumePlan {
    /// What pi is started with.
    pub start: Start,
    /// The entry whose text goes back to the user.
    pub text_of: Option<(Arc<Tree>, Index)>,
    /// The change that puts the session there.
    pub request: Option<Request>,
    /// The text that goes back, when it is read.
    pub text: Option<String>,
}

impl ResumePlan {
    /// Where a session was left.
    pub(crate) fn at(path: PathBuf, cwd: String) -> Self {
        Self::of(Start { path, cwd, first: None })
    }

    /// Where pi goes from a start.
    pub(crate) fn of(start: Start) -> Self {
        Self { start, text_of: None, request: None, text: None }
    }

    /// The same, and pi is told something first.
    pub(crate) fn told(&self, first: String) -> Self {
        Self { start: Start { first: Some(first), ..self.start.clone() }, ..self.clone() }
    }
}
