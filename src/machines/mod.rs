//! Other machines, whose sessions pitree mirrors: laptops, servers, containers. `registry` has their names and addresses.
//! `transport` runs a shell on a machine, and `link` limits its time and explains its failures. `remote` lists the session
//! files of a machine with one shell script, and fetches those that changed with `rsync`. `mirror` has the read-only
//! copies, which `sync` updates; `state` describes the last time. `changes` run the pitree there, and `resume` starts pi.
//!
//! # How a file gets into a mirror
//!
//! 1. The list has the length and time of each file. Only files that differ from the mirror are fetched, newest first, and
//!    only a complete list can remove a session.
//! 2. They are fetched into a staging directory beside the mirror, which each run empties. For each file that the mirror
//!    has, the staging directory starts with a hard link to it. `rsync` takes that as its basis, so that only what was
//!    appended or changed is sent. It writes a temporary file and renames it, so that the mirrored file is never written
//!    to. `--append` would corrupt rewritten files, and `--inplace` would write to the only copy. macOS's openrsync sends
//!    whole files with `--copy-dest`.
//! 3. A file that starts with the mirrored content replaces it by a rename. Otherwise the mirrored file first moves to the
//!    trash. A file that is still the hard link was not fetched. If pitree is killed at any point, the mirror has the old
//!    or the new version of each file, and the next run continues.
//!
//! `rsync` starts a script of pitree as its remote shell (`-e`), which ignores the host and changes to the session directory
//! before it runs `rsync` there. Thus hosts and directories are only quoted by pitree, for any version of `rsync`, and
//! arguments of `rsync` contain no names: those of files go through its input (`--files-from`).
//! The options are known to rsync 2.6.9 and 3, and to macOS's openrsync, on both sides.
//!
//! All that comes from a machine is untrusted: names (`mirror`), the number of files and bytes, and the time it takes.

pub mod changes;
mod link;
mod mirror;
pub mod registry;
mod remote;
pub(crate) mod resume;
pub mod state;
pub(crate) mod sync;
mod transport;
