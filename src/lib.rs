//! A terminal browser for the session files of the pi coding agent: every project, fork, branch and entry in one tree.
//!
//! The program is this catalog and a `main` of one line. It follows the Elm Architecture on plain threads. [`disk`] reads
//! bytes, [`session`] says what they mean, [`catalog`] holds what is known of all sessions, [`app`] is a pure state
//! machine (message in, effects out), [`ui`] draws its model, [`runtime`] waits for events and does what the effects ask
//! for. Everything that happens comes to [`app::update`] as a message, the results of reading and the time included, so
//! that a test can play a whole session by hand. The browser and the commands change session files through [`changes`]
//! alone.
//!
//! | module | what belongs there | what does not |
//! |---|---|---|
//! | [`base`] | safe text, folded text, numbers for people, times | sessions |
//! | `system` | what systems have otherwise, behind one door | sessions |
//! | [`session`] | what the lines of a session file mean: entries, trees, digests, families, new lines | I/O |
//! | [`search`] | queries: the language, matching, completion; words in raw lines | reading files |
//! | [`render`] | an entry in full as styled lines: Markdown, code, diffs, wrapping | colours, scrolling |
//! | [`disk`] | where files are and their bytes: with [`changes`] it alone uses the file system | what lines mean |
//! | [`catalog`] | all sessions together: what is searched of them, what their tools touched | drawing |
//! | [`changes`] | every change of a session file, the journal, undo | asking people |
//! | [`keymap`] | the table of actions and their keys | doing them |
//! | [`config`] | what `config.toml` may say | reading the file |
//! | [`app`] | the state of the browser and how it changes; which rows there are | I/O, the clock, drawing |
//! | [`ui`] | the model on a frame, one file a pane; `ui::theme` alone knows colours | changing the model |
//! | [`runtime`] | event loop, terminal, signals, worker threads, clipboard, starting pi | decisions |
//! | [`cli`] | the command line, one file a subcommand; exit codes | what the browser does |
//!
//! Who may use whom is said, and tested, in `tests/architecture.rs`. `docs/architecture.md` goes on from here.

pub mod app;
pub mod base;
pub mod catalog;
pub mod changes;
pub mod cli;
pub mod config;
pub mod disk;
pub mod keymap;
pub mod pi;
pub mod render;
pub mod runtime;
pub mod search;
pub mod session;
mod system;
pub mod ui;
