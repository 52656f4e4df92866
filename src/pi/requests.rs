//! Asks a running pi to do something: its extension writes the line then, so that pi itself shows what is new. A file beside
//! the pi's own holds the question; who takes that away does what it asks, once: the pi, or, when none comes, who asked.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::status::{self, PiStatus, SCHEMA};
use crate::disk::create;

/// So long a pi may take to see a question. One that does something else takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often is looked for the answer.
const LOOK: Duration = Duration::from_millis(10);

/// What is asked of a pi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PiRequest {
    /// The session gets another name; an empty one takes it away.
    Name(String),
    /// An entry, by its id, gets a label; an empty one takes it away.
    Label(String, String),
}

#[derive(Serialize)]
struct RequestFile<'a> {
    schema: u64,
    session: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<LabelRequest<'a>>,
}

#[derive(Serialize)]
struct LabelRequest<'a> {
    entry: &'a str,
    text: &'a str,
}

#[derive(Deserialize)]
struct ReplyFile {
    #[serde(default)]
    done: bool,
    error: Option<String>,
}

/// Asks a pi, and waits until it is done.
///
/// # Errors
/// In words: it can't be asked, does not answer, or does not do it. Then nothing was done.
pub(crate) fn ask(state: &Path, pi: &PiStatus, what: &PiRequest) -> Result<(), String> {
    let said = |error: io::Error| format!("pi (process {}) can't be asked: {error}", pi.pid);
    let folder = status::folder(state);
    if !status::is_own_folder(&folder) {
        return Err(said(io::Error::other(format!("{} is not this user's alone", folder.display()))));
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| said(io::Error::other(error)))?;
    let name = format!("{}.{:016x}", pi.pid, u64::from_ne_bytes(random));
    let (question, answer) = (folder.join(format!("{name}.ask")), folder.join(format!("{name}.answer")));
    let (name, label) = match what {
        PiRequest::Name(name) => (Some(name.as_str()), None),
        PiRequest::Label(entry, text) => (None, Some(LabelRequest { entry, text })),
    };
    let asked = RequestFile { schema: SCHEMA, session: &pi.session, name, label };
    let text = serde_json::to_vec(&asked).map_err(|error| said(io::Error::other(error)))?;
    create::file(&question, &text, &folder.join(format!("{}.json", pi.pid))).map_err(said)?;
    let begun = Instant::now();
    let mut is_taken = false;
    loop {
        if let Ok(text) = status::open(&answer) {
            let _ = fs::remove_file(&answer); // it was read
            return match serde_json::from_slice::<ReplyFile>(&text) {
                Ok(ReplyFile { done: true, .. }) => Ok(()),
                Ok(ReplyFile { error: Some(error), .. }) => {
                    Err(format!("pi (process {}) did not do it: {error}", pi.pid))
                }
                _ => Err(format!("what pi (process {}) answers can't be understood", pi.pid)),
            };
        }
        if begun.elapsed() >= PATIENCE && !is_taken {
            match fs::remove_file(&question) {
                Ok(()) => return Err(format!("pi (process {}) does not answer: nothing was changed", pi.pid)),
                Err(_) => is_taken = true, // it is at it
            }
        }
        if begun.elapsed() >= 2 * PATIENCE {
            return Err(format!("pi (process {}) took it on, and did not say that it is done: look there", pi.pid));
        }
        thread::sleep(LOOK);
    }
}
