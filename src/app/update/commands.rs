//! Execution of commands.

use super::{context, prepared_boxes, search, titles};
use crate::app::command::{Command, NextStep, ResumePlan};
use crate::app::flows::{resume, trash_and_archive};
use crate::app::layers::Layer;
use crate::app::layers::dialogs::{MessageBox, Prompt};
use crate::app::message::{Clip, Effect, EntryLocation, Work};
use crate::app::model::{Model, Notice, PendingChange, PendingTask};
use crate::app::settings::{PickedEntry, PickerFormat, PickerOutput};
use crate::app::widgets::LineEdit;
use crate::base::text::{Tone, width};
use crate::catalog::{ProjectKey, SessionKey};
use crate::changes::Request;
use crate::keymap::{Action, KeyContext};
use crate::pi::launch::Start;

impl Model {
    /// Executes a command.
    pub(super) fn execute(&mut self, command: Command) {
        match command {
            Command::All(commands) => commands.into_iter().for_each(|command| self.execute(command)),
            Command::Notice(tone, text) => self.show_notice(tone, text),
            Command::UndoableNotice(text) => {
                self.notice = Some(Notice { tone: Tone::Active, text, can_undo: true, until: None });
            }
            Command::ShowError(title, error) => self.show_error(title, error),
            Command::Show(layer) => match *layer {
                Layer::Question(question) => self.layers.show_question(*question),
                Layer::Prompt(mut prompt) => {
                    if let Some((_, text)) = self.kept.prompt.take().filter(|(purpose, _)| *purpose == prompt.purpose) {
                        prompt.line = LineEdit::kept(&text);
                    }
                    self.layers.push(*prompt);
                }
                layer => self.layers.push(layer),
            },
            Command::ShowContext(target) => {
                let mut view = context::context_view(self, target.clone());
                view.claim = Some(self.ask_or(Work::Context(target), context::fail));
                self.layers.push(view);
            }
            Command::FindTitles(request) => titles::find(self, request),
            Command::Close(place) => self.layers.close(place),
            Command::CloseContext(with_question) => drop(context::close(self, with_question)),
            Command::ShortenMessages(lines) => context::shorten(self, &lines),
            Command::Focus(place) => self.focus = place,
            Command::Select(key) => {
                self.jumps.leave(self.jump_position());
                self.sessions.select(key, &self.catalog);
            }
            Command::SelectProject(key) => self.select_project(key),
            Command::GoTo(entry) => {
                if self.tree.shown(entry).is_some() {
                    self.jumps.leave(self.jump_position());
                    self.focus = KeyContext::Tree;
                    self.tree.go_to_entry(entry);
                } else if self.select_session(entry.session) {
                    self.tree.go_to_entry(entry);
                }
            }
            Command::GoToId(session, entry) => {
                if self.select_session(session) {
                    self.tree.go_to_id(session, entry);
                }
            }
            Command::ToggleFold if self.focus == KeyContext::Sessions => {
                self.sessions.toggle(&self.catalog);
            }
            Command::ToggleFold => drop(self.tree.toggle()),
            Command::GoToHit => search::go_to_hit(self),
            Command::Change(request, after) => self.queue_change(request, after),
            Command::ListPis => self.ask_until_next(Work::ListPis),
            Command::ChangeFiles(request) => self.execute(trash_and_archive::change_files(self, request)),
            Command::Task(work, then) => self.start_task(work, then),
            Command::Export(request, selected) => prepared_boxes::show_export(self, *request, selected),
            Command::Slim(request, selected) => prepared_boxes::show_slimming(self, *request, selected),
            Command::ShowMarked(sessions) => self.show_marked(sessions),
            Command::ExportSecrets(selected) => prepared_boxes::list_secrets(self, selected),
            Command::AskToResume(target) => self.execute(resume::ask(self, *target)),
            Command::Resume(next) => self.resume(next),
            Command::Open(copy) => self.effects.push(Effect::Open(copy)),
            Command::Print(answer) => self.effects.push(Effect::Answer(answer)),
        }
    }

    fn show_error(&mut self, title: &str, error: String) {
        if width(&error) + 2 <= usize::from(self.size.0) && !error.contains('\n') {
            self.show_notice(Tone::Error, error);
        } else {
            self.layers.push(MessageBox::new(title, error));
        }
    }

    /// Marks sessions, and shows only these.
    fn show_marked(&mut self, sessions: Vec<SessionKey>) {
        if self.search.is_some() {
            search::close(self);
        }
        let (pane, catalog) = (&mut self.sessions, &self.catalog);
        let shows = &mut pane.shows;
        shows.subagents |= sessions.iter().any(|&key| catalog.get(key).is_some_and(|one| one.facts().is_subagent()));
        (shows.marked_only, shows.here_only, shows.named_only) = (true, false, false);
        pane.marks = sessions.into_iter().collect();
        pane.fold_all(false, catalog);
        self.focus = KeyContext::Sessions;
        let all = self.settings.key(Action::MarkedOnly);
        self.hint(format!("{} marked {} {all}: show all", self.sessions.marks.len(), self.settings.glyphs.dot));
    }

    /// Selects a session in order to go to one of its entries. Returns `true` if it exists.
    fn select_session(&mut self, session: SessionKey) -> bool {
        let here = self.jump_position();
        let is_there = self.sessions.select(session, &self.catalog);
        if is_there {
            self.jumps.leave(here);
            self.focus = KeyContext::Tree;
        } else {
            let reload = self.settings.key(Action::Reload);
            self.warn(format!("this session no longer exists {} {reload}: reload", self.settings.glyphs.dot));
        }
        is_there
    }

    /// Selects a project and unfolds it.
    fn select_project(&mut self, key: ProjectKey) {
        let (here, sort) = (self.jump_position(), self.sessions.shows.sort);
        if !self.sessions.select_project(key, &self.catalog) {
            return self.warn("this project no longer has sessions");
        }
        self.jumps.leave(here);
        self.focus = KeyContext::Sessions;
        if sort != self.sessions.shows.sort {
            self.hint(format!("sorted by {}", self.sessions.shows.sort.name()));
        }
    }

    /// Queues a change.
    fn queue_change(&mut self, request: Request, then: NextStep) {
        let claim = self.ask(Work::Change { request: request.clone(), now: self.now });
        // An earlier message would cover the progress.
        self.notice = None;
        if !self.changes.is_empty() {
            self.hint("waiting for the previous change");
        }
        self.changes.push_back(PendingChange { claim, request, then, progress: None, waits: None });
    }

    /// Starts background work with a next step.
    pub(super) fn start_task(&mut self, work: Work, then: NextStep) {
        let claim = self.ask(work);
        self.pending_tasks.push(PendingTask { claim, then });
    }

    /// Returns the directory that a prompt or a choice named. Closes the prompt, or shows there why the directory cannot be
    /// used.
    pub(super) fn accept_directory<T>(&mut self, title: &str, dir: Result<T, String>) -> Option<T> {
        let is_prompt = |prompt: &&mut Prompt| prompt.purpose.is_directory();
        match (dir, self.layers.top_as_mut().filter(is_prompt)) {
            (Ok(dir), prompt) => {
                if prompt.is_some() {
                    self.layers.0.pop();
                }
                return Some(dir);
            }
            (Err(why), Some(prompt)) => prompt.problem = Some(why),
            (Err(why), None) => self.show_error(title, why),
        }
        None
    }

    /// Shows a failure for a while, whatever key is pressed.
    pub(super) fn show_failure(&mut self, error: impl Into<String>) {
        self.show_notice(Tone::Error, error);
        self.hold_notice();
    }

    /// Ends a task and shows its result.
    pub(super) fn finish_task(&mut self, ticket: u64, result: Command) {
        self.end_task(ticket);
        self.execute(result);
        self.hold_notice();
    }

    /// Does the next step of resuming in pi: reads the text to give back, makes the change, copies the text or starts pi.
    fn resume(&mut self, mut plan: ResumePlan) {
        if let Some((tree, at)) = plan.returned_text_entry.take() {
            let body = EntryLocation { path: plan.start.path.clone(), tree, at };
            return self.start_task(Work::Text(body), NextStep::resume(plan));
        }
        if let Some(request) = plan.request.take() {
            return self.queue_change(request, NextStep::resume(plan));
        }
        // The JSON output of a picker contains the text.
        if self.settings.picker != Some(PickerFormat::Json)
            && let Some(text) = plan.text.take()
        {
            return self.start_task(Work::Copy(Clip::Text(text)), NextStep::resume(plan));
        }
        // pi starts only after all changes are made.
        if let Some(last) = self.changes.back_mut() {
            last.then = NextStep::resume(plan);
            return self.hint("pi starts after the current change; press any key to cancel");
        }
        let ResumePlan { start, text, .. } = plan;
        self.effects.push(match self.settings.picker {
            Some(PickerFormat::Json) => Effect::Answer(PickerOutput::Json(Box::new(self.picked_fork(start, text)))),
            Some(_) => Effect::Answer(PickerOutput::Command(start)),
            None => Effect::Resume(start),
        });
    }

    /// Returns the picker's output for a new session: its leaf.
    fn picked_fork(&self, Start { path, cwd, .. }: Start, draft: Option<String>) -> PickedEntry {
        let session = self.catalog.key_of(&path).and_then(|key| self.catalog.get(key));
        let id = session.map_or(String::new(), |session| session.header.id.clone());
        let name = session.and_then(|session| session.name.as_deref()).map(String::from);
        PickedEntry { path, id, cwd, name, entry: None, draft }
    }

    /// Reads the tree of the selected session.
    pub(super) fn read_tree(&mut self) {
        self.tree.is_outdated = false;
        let session = self.tree.session.and_then(|key| self.catalog.get(key)).cloned();
        self.tree.opening = session.map(|session| {
            self.ask_or(Work::Open(session.path.clone()), |model, _, error| model.tree.fail(error.into()))
        });
    }
}
