//! Imports: a new session from a file of another person or machine. Undo moves it to the trash.

use anyhow::Result;

use crate::base::path_context::PathContext;
use crate::changes::change::{Change, ChangeStep, NewFile};
use crate::changes::engine::{Engine, random};
use crate::changes::request::{ChangeResult, ImportRequest};
use crate::disk::{create, new_file};
use crate::session::write::import::{self, ImportedHeader};
use crate::session::write::line;

pub(crate) fn make(work: &mut Engine<'_>, request: &ImportRequest) -> Result<ChangeResult> {
    let ImportRequest { bytes, into, cwd, new_id } = request;
    let bits = random().to_be_bytes();
    let id = line::uuid_v7(work.now, std::array::from_fn(|at| bits[at]));
    let header = ImportedHeader { new_id: &id, replace_id: *new_id, cwd, time_ms: work.now };
    let imported = import::import(bytes, &header, &mut random)?;
    let made = into.join(line::file_name(work.now, &imported.id));
    let change = Change::Import(NewFile { path: made.clone(), bytes: imported.bytes.len() as u64 });
    work.make(&change, None, None, |_, _, _| {
        create::folders(into).path_context("cannot create", into)?;
        new_file::write(&made, &imported.bytes, None).path_context("cannot create", made)
    })?;
    Ok(ChangeResult::of(ChangeStep::Make, vec![change], 0))
}
