//! Old files in the form of version 3, as pi would rewrite them. The original is in the trash before the new form takes
//! its name, and there is a whole file under that name at every moment. Undo exchanges the two.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

use crate::changes::change::{Change, Migrated};
use crate::changes::engine::{Engine, random};
use crate::changes::journal::{Record, Step};
use crate::changes::kinds::guard::{file_is_used_since, must_exist, overtaken};
use crate::changes::kinds::kind::Kind;
use crate::changes::outcome::{Done, Refusal};
use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::disk::lock::Wait;
use crate::disk::reach::is_there;
use crate::disk::trash::Bin;
use crate::disk::{create, load};
use crate::session::write::migrate;

/// Brings a file into the form of version 3 if it is older; does nothing to one of today.
///
/// # Errors
/// It is older, and nobody said that it may be.
pub(crate) fn if_old(work: &mut Engine<'_>, path: &Path, allowed: bool) -> Result<Done> {
    let tree = load::tree(Files::Disk, path, "")?;
    if tree.header.version >= 3.0 {
        return Ok(Done::default());
    }
    let version = tree.header.version as u32;
    if !allowed {
        return Err(Refusal::Old { path: path.into(), version }.into());
    }
    // The file itself, not a link to it, gets the new form.
    let real = fs::canonicalize(path).with_context(|| format!("can't find {}", path.display()))?;
    let old = Bodies::open(Files::Disk, &real)?.whole()?;
    let Ok(migrated) = migrate::migrate(&old, &mut random) else {
        bail!("{} is of version {version}, but can't be brought into the form of version 3", path.display());
    };
    let change = Migrated { path: real.clone(), bytes: migrated.bytes.len() as u64, version };
    let change = Change::Migrate(change);
    work.make(&change, |bin, wait| {
        let draft = create::write_draft(&real, &migrated.bytes, &real);
        let draft = draft.with_context(|| format!("can't write beside {}", real.display()))?;
        // A label keeps the time (`pi -c` takes the file that was written last); a moved leaf sets it when it is appended.
        let timed = keep_time(&real, &draft).with_context(|| format!("can't set the time of {}", draft.display()));
        let replaced = timed.and_then(|()| {
            if fs::metadata(&real).map(|now| now.len()).ok() == Some(old.len() as u64) {
                replace(&real, &kept(&real, version), &draft, (bin, wait))
            } else {
                Err(anyhow!("{} is being written to; try again when it rests", real.display()))
            }
        });
        replaced.inspect_err(|_| drop(fs::remove_file(&draft)))
    })?;
    Ok(Done::of(Step::Make, vec![change], 0))
}

fn keep_time(of: &Path, on: &Path) -> io::Result<()> {
    fs::File::options().append(true).open(on)?.set_modified(fs::metadata(of)?.modified()?)
}

impl Kind for Migrated {
    fn path(&self) -> &Path {
        &self.path
    }

    fn describe(&self) -> String {
        format!("from version {} to version 3; the original to the trash", self.version)
    }

    fn again(&self, work: &mut Engine<'_>, record: &Record, step: Step) -> Result<()> {
        must_exist(&self.path)?;
        if step == Step::Undo && file_is_used_since(work.past(), &self.path, self.bytes)? {
            return overtaken(format!("the session was used since, in its new form: {}", self.path.display()));
        }
        work.make_again(record, step, |bin, wait| self.exchange(step, bin, wait))
    }

    fn happened(&self, _: &Record, step: Step) -> Option<bool> {
        if !is_there(&self.path).ok()? {
            return Some(false);
        }
        let version = load::tree(Files::Disk, &self.path, "").ok()?.header.version;
        Some((version >= 3.0) == (step != Step::Undo))
    }

    /// What may be there is a draft, a second name of the file itself, or the form that belongs in the trash.
    fn clear(&self, _: &Record, bin: &mut Bin<'_>) {
        let path = &self.path;
        let _ = fs::remove_file(create::draft(path)); // of the new form; made again when it is wanted
        for beside in
            [kept(path, self.version), kept(path, 3)].iter().filter(|beside| beside.symlink_metadata().is_ok())
        {
            // What can't be cleared away stays; it is no session to pi or pitree.
            let _ = match (fs::read(path), fs::read(beside)) {
                (Ok(file), Ok(other)) if file == other => fs::remove_file(beside).map_err(Into::into),
                _ => bin.put_somewhere(beside, &mut |_| ControlFlow::Continue(())),
            };
        }
    }
}

impl Migrated {
    /// Takes the old form back from the trash, where the new one goes; or the other way round.
    fn exchange(&self, step: Step, bin: &mut Bin<'_>, wait: Wait<'_>) -> Result<()> {
        let (goes, comes) = step.ends(kept(&self.path, self.version), kept(&self.path, 3));
        bin.take_back(&comes, None, 0)?;
        let replaced = replace(&self.path, &goes, &comes, (bin, &mut *wait));
        replaced.inspect_err(|_| drop(bin.put_somewhere(&comes, wait)))
    }
}

/// Puts a file in the trash under the name `kept`, and another one in its place.
fn replace(path: &Path, kept: &Path, by: &Path, (bin, wait): (&mut Bin<'_>, Wait<'_>)) -> Result<()> {
    let second = fs::hard_link(path, kept).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has hard links.
        _ => fs::copy(path, kept).map(drop).inspect_err(|_| drop(fs::remove_file(kept))),
    });
    second.with_context(|| format!("can't keep the original as {}", kept.display()))?;
    if let Err(error) = bin.put_somewhere(kept, wait) {
        let _ = fs::remove_file(kept); // a second name of what is still in its place
        return Err(error.context("the trash can't take the original"));
    }
    fs::rename(by, path).with_context(|| format!("can't replace {}", path.display()))?;
    create::sync_folder(path);
    Ok(())
}

/// The name under which a file's form of another version lies in the trash: no session's.
fn kept(path: &Path, version: u32) -> PathBuf {
    create::beside(path, &format!(".v{version}"))
}
