//! Commands that flows return and choices carry. Only [`update`](mod@crate::app::update) executes them.

use std::sync::Arc;

use crate::app::external::{Opener, TextCopy, TitleRequest};
use crate::app::layers::dialogs::{MessageBox, Prompt, Question, QuestionChoice};
use crate::app::layers::screen::PromptPurpose;
use crate::app::layers::{Layer, context};
use crate::app::message::{Clip, Work};
use crate::app::resume_target::ResumeTarget;
use crate::app::settings::PickerOutput;
use crate::app::ticket::Claim;
use crate::base::text::Tone;
use crate::catalog::export::{ExportRequest, ExportResult};
use crate::catalog::moves::MoveSelection;
use crate::catalog::{EntryRef, ProjectKey, SessionKey};
use crate::changes::Request;
use crate::changes::slim::SlimOverview;
use crate::keymap::KeyContext;
use crate::pi::launch::Start;
use crate::render::DocLine;
use crate::session::digest::Digest;
use crate::session::entry::EntryId;
use crate::session::tree::{EntryIndex, Tree};
use crate::session::write::slim::SlimRules;

/// Sessions to slim, and the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlimRequest {
    /// The sessions.
    pub sessions: Vec<SessionKey>,
    /// The rules.
    pub rules: SlimRules,
}

/// Sessions that are measured for the box of slimming.
#[derive(Debug)]
pub struct PreparedSlimming {
    /// Claim on the result.
    pub claim: Claim,
    /// The sessions and the rules.
    pub request: SlimRequest,
    /// The key of the choice to select once the result is known.
    pub selected: char,
    /// The result or the error, once it is known.
    pub overview: Option<Result<SlimOverview, String>>,
    /// The number of sessions that were measured so far.
    pub done: Option<usize>,
}

/// An export that is prepared for its box.
#[derive(Debug)]
pub struct PreparedExport {
    /// Claim on the result.
    pub claim: Claim,
    /// The export.
    pub request: ExportRequest,
    /// The result, or the error; of an earlier request until the reply arrives, and `None` at first.
    pub result: Option<Result<ExportResult, String>>,
}

impl PreparedExport {
    /// Returns the result.
    pub(crate) fn result(&self) -> Option<&ExportResult> {
        self.result.as_ref()?.as_ref().ok()
    }
}

/// A change of the browser.
#[derive(Clone, Debug)]
pub enum Command {
    /// Runs several commands in order.
    All(Vec<Command>),
    /// Shows a notice in the footer.
    Notice(Tone, String),
    /// Reports a change in the footer and offers undo.
    UndoableNotice(String),
    /// Shows an error: in the footer if it fits, else in a box with this title.
    ShowError(&'static str, String),
    /// Opens a layer.
    Show(Box<Layer<Command>>),
    /// Opens the model context of an entry.
    ShowContext(context::ContextTarget),
    /// Closes the model context; with `true`, also the question from which it was opened.
    CloseContext(bool),
    /// Closes the layers of a kind.
    Close(KeyContext),
    /// Shortens the chosen messages of the model context to so many lines at each end.
    ShortenMessages(String),
    /// Focuses a pane.
    Focus(KeyContext),
    /// Selects a session.
    Select(SessionKey),
    /// Selects a project and unfolds it.
    SelectProject(ProjectKey),
    /// Selects an entry, even if a filter or a fold hides it.
    GoTo(EntryRef),
    /// Selects an entry of a session in that session's own tree.
    GoToId(SessionKey, EntryId),
    /// Folds or unfolds the selected row.
    ToggleFold,
    /// Selects the entry in which the selected session was found.
    GoToHit,
    /// Makes a change, then continues as given.
    Change(Request, NextStep),
    /// Starts background work with a next step.
    Task(Work, NextStep),
    /// Lists the running pi processes.
    ListPis,
    /// Moves or replaces files. Asks again if a pi may be using one of them.
    ChangeFiles(Request),
    /// Shows the box of an export, with the choice of this key selected.
    Export(Box<ExportRequest>, char),
    /// Shows the box of titles, and asks for them.
    FindTitles(TitleRequest),
    /// Shows the box of slimming, with the choice of this key selected.
    Slim(Box<SlimRequest>, char),
    /// Marks these sessions, and shows only marked ones.
    ShowMarked(Vec<SessionKey>),
    /// Lists the secrets of the export, with the choice of this index selected.
    ExportSecrets(usize),
    /// Asks where to resume, if there is something to ask.
    AskToResume(Box<ResumeTarget>),
    /// Does the next step of resuming in pi.
    Resume(ResumePlan),
    /// Shows a text in a program.
    Open(TextCopy),
    /// Quits and prints the picker's output.
    Print(PickerOutput),
}

impl Command {
    /// Returns the command that does nothing.
    pub fn nothing() -> Self {
        Self::All(Vec::new())
    }

    /// Returns the command that shows a warning in the footer.
    pub(crate) fn warn(text: impl Into<String>) -> Self {
        Self::Notice(Tone::Warning, text.into())
    }

    /// Returns the command that copies to the clipboard.
    pub(crate) fn copy(clip: Clip) -> Self {
        Self::Task(Work::Copy(clip), NextStep::Nothing)
    }

    /// Returns the command that shows a layer.
    pub fn show(layer: impl Into<Layer<Self>>) -> Self {
        Self::Show(Box::new(layer.into()))
    }

    /// Returns the command that asks a question.
    pub(crate) fn ask(title: &'static str, lines: Vec<DocLine>, choices: Vec<QuestionChoice<Self>>) -> Self {
        Self::show(Question::new(title, lines, choices))
    }

    /// Returns the command that asks a question about session files. It lists the running pis again, because one may have
    /// started since the sessions were read.
    pub(crate) fn ask_about_files(
        title: &'static str,
        lines: Vec<DocLine>,
        choices: Vec<QuestionChoice<Self>>,
    ) -> Self {
        Self::All(vec![Self::ListPis, Self::ask(title, lines, choices)])
    }

    /// Returns the command that shows a text in a box.
    pub(crate) fn note(title: &str, text: impl Into<String>) -> Self {
        Self::show(MessageBox::new(title, text))
    }

    /// Returns the command that asks for a line of text; `value` is its first content.
    pub(crate) fn prompt(purpose: PromptPurpose, question: impl Into<String>, value: &str) -> Self {
        Self::show(Prompt::new(purpose, question, value))
    }
}

/// Next step after a change or a [`PendingTask`](crate::app::model::PendingTask). A key press cancels all but the first two.
#[derive(Clone, Debug)]
pub enum NextStep {
    /// None: only show the result.
    Nothing,
    /// Select the session that the change created.
    Select,
    /// Complete the line.
    Complete,
    /// Resume in pi.
    Resume(Box<ResumePlan>),
    /// Ask where to resume.
    AskToResume(Box<ResumeTarget>),
    /// Ask whether to move the sessions to the directory.
    Move(Box<MoveSelection>),
    /// Show the text in a program.
    Open(Opener),
    /// Show the suggestions for a clean-up.
    ChooseCleanup,
}

impl NextStep {
    /// Returns the step that resumes in pi.
    pub(crate) fn resume(plan: ResumePlan) -> Self {
        Self::Resume(Box::new(plan))
    }
}

/// The remaining steps to resume a session in pi.
#[derive(Clone, Debug)]
pub struct ResumePlan {
    /// Arguments for starting pi.
    pub start: Start,
    /// The entry whose text pitree reads and gives back to the user.
    pub returned_text_entry: Option<(Arc<Tree>, EntryIndex)>,
    /// The change to make before pi starts.
    pub request: Option<Request>,
    /// The text to give back, once it is read.
    pub text: Option<String>,
}

impl ResumePlan {
    /// Plans to resume at a session's leaf.
    pub(crate) fn at(session: &Digest) -> Self {
        let (path, cwd) = (session.path.clone(), session.header.cwd.clone());
        Self::of(Start { path, cwd, first: None, forks: false, entry: None })
    }

    /// Brings the session back from the archive before all other changes.
    pub(crate) fn bring_back_first(&mut self) {
        let files = vec![self.start.path.clone()];
        self.request = Some(self.request.take().map_or(Request::Unarchive { files }, Request::after_unarchive));
    }

    /// Plans to start pi without further steps.
    pub(crate) fn of(start: Start) -> Self {
        Self { start, returned_text_entry: None, request: None, text: None }
    }

    /// Returns the plan with a first message for pi.
    pub(crate) fn with_message(&self, first: String) -> Self {
        Self { start: Start { first: Some(first), ..self.start.clone() }, ..self.clone() }
    }
}
