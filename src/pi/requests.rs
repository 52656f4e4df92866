//! Requests to a running pi. Its extension writes the line, so that pi shows it. The request is a file next to the
//! status file of pi. It is handled exactly once, by the process that removes it: pi, or pitree after a timeout.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use serde::{Deserialize, Serialize};

use super::status::{self, PiStatus, SCHEMA};
use crate::base::numbers::bytes;
use crate::base::safe_json::object;
use crate::disk::new_file;
use crate::session::write::context_edit::NewEdit;

/// The maximum time for a pi to accept a request. Even a busy pi needs only milliseconds.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(3);

/// The interval between checks for the reply.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The maximum size of a request in bytes.
const MAX_BYTES: usize = 4 << 20;

/// A request to a pi.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PiRequest {
    /// Rename the session; an empty name clears it.
    Name(String),
    /// Label an entry; an empty label clears it.
    Label {
        /// The id of the entry.
        entry: String,
        /// The label.
        text: String,
    },
    /// Append edits of the context at the end of the next turn.
    Edits(Vec<NewEdit>),
}

#[derive(Deserialize)]
struct ReplyFile {
    #[serde(default)]
    done: bool,
    error: Option<String>,
}

/// Sends a request to a pi and waits for the result.
///
/// # Errors
/// The reason why pi did not receive, accept or execute the request; nothing was changed.
pub(crate) fn ask(state: &Path, pi: &PiStatus, what: &PiRequest) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot send the request to pi (pid {}): {error}", pi.pid);
    let folder = status::folder(state);
    if !status::is_own_folder(&folder) {
        return Err(failed(io::Error::other(format!("{} is not private to this user", folder.display()))));
    }
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| failed(io::Error::other(error)))?;
    let name = format!("{}.{:016x}", pi.pid, u64::from_ne_bytes(random));
    let (question, answer) = (folder.join(format!("{name}.ask")), folder.join(format!("{name}.answer")));
    let asked = object! { schema: SCHEMA, session: &pi.session, #[serde(flatten)] what };
    let text = serde_json::to_vec(&asked).map_err(|error| failed(io::Error::other(error)))?;
    if text.len() > MAX_BYTES {
        return Err(format!("the request has {}; pi (pid {}) reads at most 4 MB", bytes(text.len() as u64), pi.pid));
    }
    new_file::write(&question, &text, Some(&folder.join(format!("{}.json", pi.pid)))).map_err(failed)?;
    let begun = Instant::now();
    let mut is_taken = false;
    loop {
        if let Ok(text) = status::open(&answer) {
            let _ = fs::remove_file(&answer); // it has been read
            return match serde_json::from_slice::<ReplyFile>(&text) {
                Ok(ReplyFile { done: true, .. }) => Ok(()),
                Ok(ReplyFile { error: Some(error), .. }) => {
                    Err(format!("pi (pid {}) rejected the request: {error}", pi.pid))
                }
                _ => Err(format!("pi (pid {}) sent an invalid reply", pi.pid)),
            };
        }
        if begun.elapsed() >= ACCEPT_TIMEOUT && !is_taken {
            match fs::remove_file(&question) {
                Ok(()) => return Err(format!("pi (pid {}) did not respond; session unchanged", pi.pid)),
                Err(_) => is_taken = true, // pi is executing it
            }
        }
        if begun.elapsed() >= 2 * ACCEPT_TIMEOUT {
            return Err(format!("pi (pid {}) accepted the request but did not confirm it; check that pi", pi.pid));
        }
        thread::sleep(POLL_INTERVAL);
    }
}
