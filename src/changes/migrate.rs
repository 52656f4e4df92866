//! Old files in the form of version 3, as pi would rewrite them. The original is in the trash before the new form takes
//! its name, and there is a whole file under that name at every moment. Undo exchanges the two.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::changes::journal::Change;
use crate::changes::{Done, Refusal, Work, exists, random};
use crate::disk::files::Files;
use crate::disk::load::Bodies;
use crate::disk::trash::{Contents, Trash};
use crate::disk::{create, load};
use crate::session::write::migrate;

/// Brings a file into the form of version 3 if it is older; does nothing to one of today.
///
/// # Errors
/// It is older, and nobody said that it may be.
pub(crate) fn if_old(work: &mut Work<'_>, path: &Path, allowed: bool) -> Result<Done> {
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
    let change = Change::Migrate { path: real.clone(), bytes: migrated.bytes.len() as u64, version };
    let trash = work.trash;
    work.make(&change, || {
        let draft = create::write_draft(&real, &migrated.bytes, &real);
        let draft = draft.with_context(|| format!("can't write beside {}", real.display()))?;
        // A label keeps the time (`pi -c` takes the file that was written last); a moved leaf sets it when it is appended.
        keep_time(&real, &draft).with_context(|| format!("can't set the time of {}", draft.display()))?;
        let replaced = if fs::metadata(&real).map(|now| now.len()).ok() == Some(old.len() as u64) {
            replace(&real, &kept(&real, version), &draft, trash)
        } else {
            Err(anyhow::anyhow!("{} is being written to; try again when it rests", real.display()))
        };
        replaced.inspect_err(|_| drop(fs::remove_file(&draft)))
    })?;
    Ok(Done::of(vec![change]))
}

fn keep_time(of: &Path, on: &Path) -> io::Result<()> {
    fs::File::options().append(true).open(on)?.set_modified(fs::metadata(of)?.modified()?)
}

/// Takes the old form back from the trash, where the new one goes; or, with `forward`, the other way round.
pub(crate) fn exchange(path: &Path, version: u32, forward: bool, trash: &Trash) -> Result<()> {
    let (old, new) = (kept(path, version), kept(path, 3));
    let (comes, goes) = if forward { (new, old) } else { (old, new) };
    Contents::read()?.take_back(&comes, 0)?;
    replace(path, &goes, &comes, trash).inspect_err(|_| drop(trash.put(&comes)))
}

/// Puts a file in the trash under the name `kept`, and another one in its place.
fn replace(path: &Path, kept: &Path, by: &Path, trash: &Trash) -> Result<()> {
    let second = fs::hard_link(path, kept).or_else(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Err(error),
        _ => fs::copy(path, kept).map(drop), // not every file system has hard links
    });
    second.with_context(|| format!("can't keep the original as {}", kept.display()))?;
    if let Err(error) = trash.put(kept) {
        let _ = fs::remove_file(kept); // a second name of what is still in its place
        return Err(error.context("the trash can't take the original"));
    }
    fs::rename(by, path).with_context(|| format!("can't replace {}", path.display()))?;
    create::sync_folder(path);
    Ok(())
}

/// Clears away what was left beside a file when a migration or an exchange was cut short: a draft, a second name of the
/// file itself, or the form that belongs in the trash.
pub(crate) fn clear(path: &Path, version: u32, trash: &Trash) {
    let _ = fs::remove_file(create::draft(path)); // of the new form; made again when it is wanted
    for beside in [kept(path, version), kept(path, 3)].iter().filter(|beside| exists(beside)) {
        // What can't be cleared away stays; it is no session to pi or pitree.
        let _ = match (fs::read(path), fs::read(beside)) {
            (Ok(file), Ok(other)) if file == other => fs::remove_file(beside).map_err(Into::into),
            _ => trash.put(beside),
        };
    }
}

/// The name under which a file's form of another version lies in the trash: no session's.
fn kept(path: &Path, version: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".v{version}"));
    name.into()
}
