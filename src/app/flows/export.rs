//! Exports: a box with what is exported, the likely secrets, and the beginning; each secret can be kept.

use std::path::{Path, PathBuf};

use crate::app::command::{Command, NextStep, PreparedExport};
use crate::app::flows::{Choice, Flow, NO_SESSION};
use crate::app::layers::dialogs::Question;
use crate::app::layers::screen::{PromptPurpose, neighbor};
use crate::app::message::{Clip, Work};
use crate::app::model::Model;
use crate::base::numbers::count;
use crate::base::text::{Span, Tone};
use crate::catalog::export::{DIRECTORY, ExportRequest, ExportResult, ExportTo, ListedSecret, Scope, file_stem};
use crate::export::Format;
use crate::keymap::KeyContext;
use crate::render::{DocLine, plain};
use crate::session::entry::EntryId;

/// The title of the box.
pub(crate) const TITLE: &str = "Export";

/// The title of the list of secrets.
pub(crate) const SECRETS: &str = "Likely secrets";

/// The maximum number of lines of the beginning.
const LINES: u16 = 8;

/// The rows and columns of the terminal that the beginning leaves, so that the choices below it stay visible.
const REST: (u16, u16) = (17, 6);

/// Shows the box for the marked sessions, or else for the branch to the selected entry or to the leaf.
///
/// # Errors
/// No session is selected.
pub fn open(model: &Model) -> Flow {
    let (marked, _) = model.sessions.marked(&model.catalog);
    let marked = if model.focus == KeyContext::Sessions { marked } else { Vec::new() };
    let (files, end): (Vec<PathBuf>, _) = if marked.is_empty() {
        let (_, session) = model.target_session().ok_or(NO_SESSION)?;
        let end = model.target_entry().map(|(_, tree, at)| EntryId::of(&tree, at));
        (vec![session.path.clone()], end)
    } else {
        (marked.iter().map(|&key| model.catalog[key].path.clone()).collect(), None)
    };
    let request = ExportRequest {
        files,
        end,
        format: Format::Markdown,
        scope: Scope::Branch,
        is_anonymous: false,
        kept: Vec::new(),
        to: ExportTo::Preview,
    };
    Ok(Command::Export(Box::new(request), 'w'))
}

/// Creates the box. `selected` is the key of the selected choice.
pub(crate) fn question(model: &Model, prepared: &PreparedExport, selected: char) -> Question<Command> {
    let request = &prepared.request;
    let changed = |key: char, change: &dyn Fn(&mut ExportRequest)| {
        let mut request = request.clone();
        change(&mut request);
        Command::Export(Box::new(request), key)
    };
    let mut choices = vec![Choice::new('w', "Write", "to a file; asks for its name", ask_where(model, request))];
    if request.files.len() == 1 {
        let to = ExportRequest { to: ExportTo::Clipboard, ..request.clone() };
        let copy = Command::Task(Work::Export(Box::new(to)), NextStep::Nothing);
        choices.push(Choice::new('y', "Copy", "to the clipboard", copy));
    }
    let format = neighbor(Format::ALL, request.format, true);
    let is_other = format!("{}; next: {}", request.format.name(), format.name());
    choices.push(Choice::new('f', "Format", is_other, changed('f', &|request| request.format = format)));
    let scope = neighbor(Scope::ALL, request.scope, true);
    let is_other = format!("{}; next: {}", request.scope.name(), scope.name());
    choices.push(Choice::new(
        'b',
        "Content",
        is_other,
        changed('b', &|request| {
            // The likely secrets are others.
            request.kept.clear();
            request.scope = scope;
        }),
    ));
    let is_other = match request.is_anonymous {
        true => "replaced: paths, names and addresses",
        false => "kept: paths, names and addresses",
    };
    let change = changed('p', &|request| request.is_anonymous = !request.is_anonymous);
    choices.push(Choice::new('p', "Personal data", is_other, change));
    if prepared.result().is_some_and(|result| !result.secrets.is_empty()) {
        let list = "list the likely secrets; keep or replace each";
        let list = Choice::new('s', "Secrets", list, Command::ExportSecrets(0));
        choices.push(Choice { stays: true, ..list });
    }
    Question::new(TITLE, lines(model, prepared), choices).select_key(selected)
}

/// Asks for the name of the file.
fn ask_where(model: &Model, request: &ExportRequest) -> Command {
    let name = match &request.files[..] {
        [path] => {
            let id = model.catalog.key_of(path).and_then(|key| Some(model.catalog.get(key)?.header.id.clone()));
            format!("{}.{}", file_stem(&id.unwrap_or_default(), 8), request.format.extension())
        }
        _ => DIRECTORY.into(),
    };
    Command::prompt(PromptPurpose::Export(Box::new(request.clone())), "export to: ", &name)
}

/// Returns the command that writes an export to a file.
pub(crate) fn write(request: ExportRequest, path: &str) -> Command {
    if path.trim().is_empty() {
        return Command::warn("no name, nothing exported");
    }
    let path = Path::new(path.trim());
    // A known extension selects the format, as on the command line.
    let typed = path.extension().and_then(|extension| Format::of_extension(extension.to_str()?));
    let format = typed.filter(|_| request.files.len() == 1).unwrap_or(request.format);
    let request = ExportRequest { to: ExportTo::File(path.into()), format, ..request };
    Command::Task(Work::Export(Box::new(request)), NextStep::Nothing)
}

fn lines(model: &Model, prepared: &PreparedExport) -> Vec<DocLine> {
    let request = &prepared.request;
    let what = match &request.files[..] {
        [path] => model.title_of(path, None),
        files => count(files.len(), "marked session", "marked sessions"),
    };
    let mut lines = vec![DocLine::new(Tone::Strong, &model.short(&what))];
    match &prepared.result {
        None => lines.push(DocLine::dim("looking for secrets")),
        Some(Err(error)) => lines.push(DocLine::new(Tone::Error, error)),
        Some(Ok(result)) => {
            let kept = result.secrets.iter().filter(|secret| request.kept.contains(secret)).count();
            let replaced = result.secrets.len() - kept;
            let likely = count(replaced, "likely secret is replaced", "likely secrets are replaced");
            let mut text = if result.secrets.is_empty() { "no likely secrets".into() } else { likely };
            if kept > 0 {
                text += &format!(", {kept} kept");
            }
            lines.push(DocLine::new(if kept > 0 { Tone::Warning } else { Tone::Text }, &text));
            lines.push(DocLine::dim(
                "Rules cannot find every secret, and images are not checked: read the export before you share it.",
            ));
            lines.push(DocLine::default());
            let (columns, rows) = model.size;
            let start = result.text.lines().take(rows.saturating_sub(REST.0).clamp(1, LINES).into());
            let columns = columns.saturating_sub(REST.1).into();
            let start: Vec<_> = start.map(|line| model.settings.glyphs.cut(line, columns).into_owned()).collect();
            lines.extend(plain(Tone::Dim, &start.join("\n")));
        }
    }
    lines
}

/// Creates the list of secrets, with the choice of an index selected.
pub(crate) fn secrets(prepared: &PreparedExport, selected: usize) -> Option<Question<Command>> {
    let result = prepared.result()?;
    let choice = |(at, secret): (usize, &ListedSecret)| {
        let is_kept = prepared.request.kept.contains(secret);
        let entry = secret.entry.as_deref().map(|id| format!(", first in entry {id}")).unwrap_or_default();
        let sentence = format!("{} {}…{entry}", secret.mark, secret.sample);
        Choice {
            // Only the arrow keys reach later rows.
            key: char::from_digit(at as u32 + 1, 10).unwrap_or(' '),
            word: if is_kept { "keep   " } else { "replace" },
            sentence,
            then: Some(Command::All(vec![toggled(prepared, secret), Command::ExportSecrets(at)])),
            stays: false,
        }
    };
    let choices = result.secrets.iter().enumerate().map(choice).collect();
    let lines = vec![DocLine::of(vec![Span::text(
        "Enter keeps or replaces a value. Esc goes back. Values are never shown, only their first characters.",
    )])];
    Some(Question::new(SECRETS, lines, choices).select_at(selected))
}

/// Returns the command that keeps a secret, or replaces it again.
fn toggled(prepared: &PreparedExport, secret: &ListedSecret) -> Command {
    let mut request = prepared.request.clone();
    match request.kept.iter().position(|kept| kept == secret) {
        Some(at) => drop(request.kept.remove(at)),
        None => request.kept.push(secret.clone()),
    }
    Command::Export(Box::new(request), 's')
}

/// Returns the command after an export was made.
pub(crate) fn made(result: Result<Box<ExportResult>, String>) -> Command {
    match result {
        Err(error) => Command::ShowError("Cannot export", error),
        Ok(result) => match &result.made {
            Some(path) => Command::Notice(
                Tone::Active,
                format!("exported to {}: {}", path.display(), result.note.replace('\n', " ")),
            ),
            None => Command::copy(Clip::Text(result.text)),
        },
    }
}
