//! Clean-up: a box with suggestions. Each choice lists its sessions, marked, so that the user can look at them first.

use crate::app::command::{Command, NextStep};
use crate::app::flows::{Choice, cancel};
use crate::app::message::Work;
use crate::app::model::Model;
use crate::base::numbers::{bytes, count};
use crate::base::text::Tone;
use crate::catalog::cleanup::{CleanRequest, CleanRule, CleanSuggestion, LeftoverFile, WEEKS};
use crate::changes::{FileSnapshot, Request};
use crate::render::DocLine;

/// Looks for sessions and files that are probably not needed.
pub(crate) fn open(model: &Model) -> Command {
    let request = CleanRequest::new(&model.catalog, CleanRule::ALL.to_vec(), (WEEKS, model.now));
    let search = Command::Errand(Work::SuggestCleanup(Box::new(request)), NextStep::ChooseCleanup);
    Command::All(vec![search, Command::Say(Tone::Dim, "looking for sessions to clean up; any key cancels".into())])
}

/// Asks which suggestion to show.
pub(crate) fn ask(suggestions: Vec<CleanSuggestion>) -> Command {
    if suggestions.is_empty() {
        return Command::Say(Tone::Active, "no session to clean up".into());
    }
    let note = "Sessions with marks or labels, and those used today, are not suggested. A choice marks its sessions, and shows only \
                marked ones: then move them to the trash or the archive, or slim them.";
    let lines = vec![DocLine::dim(note)];
    let choice = |(key, suggestion): (char, CleanSuggestion)| {
        let what = match suggestion.rule {
            CleanRule::Leftovers => count(suggestion.count(), "file", "files"),
            _ => count(suggestion.count(), "session", "sessions"),
        };
        let sentence = format!("{what}, {}: {}", bytes(suggestion.bytes), suggestion.rule.reason());
        let file = |file: &LeftoverFile| FileSnapshot { path: file.path.clone(), bytes: file.bytes, mtime: file.mtime };
        let then = match suggestion.rule {
            CleanRule::Leftovers => {
                Command::ChangeFiles(Request::Trash { files: suggestion.files.iter().map(file).collect() })
            }
            _ => Command::ShowMarked(suggestion.sessions),
        };
        Choice::new(key, suggestion.rule.title(), sentence, then)
    };
    let mut choices: Vec<_> = ('1'..).zip(suggestions).map(choice).collect();
    choices.push(cancel());
    Command::ask("Clean up", lines, choices)
}
