//! A terminal browser for the session files of the pi coding agent: every project, fork, branch and entry in one tree.
//!
//! The program is this library and a `main` of one line. It follows the Elm Architecture on plain threads. [`store`]
//! reads bytes, [`session`] says what they mean, [`app`] is a pure state machine (message in, effects out), [`ui`] draws
//! its model, [`runtime`] waits for events and does what the effects ask for. Everything that happens comes to
//! [`app::update`] as a message, the results of reading and the time included, so that a test can play a whole session
//! by hand. The browser and the commands change session files through [`store::change`] alone.
//!
//! | module | what belongs there | what does not |
//! |---|---|---|
//! | [`cli`] | the command line, one file a subcommand; exit codes | what the browser does |
//! | [`session`] | what the lines of a session file mean: entries, trees, summaries, families | I/O |
//! | [`store`] | where files are and their bytes: it alone uses the file system | what lines mean |
//! | [`search`] | queries: the language, matching sessions and how well, completion | reading files |
//! | [`doc`] | an entry in full as styled lines: Markdown, code, diffs, wrapping | colours, scrolling |
//! | [`app`] | the state of the browser and how it changes; which rows there are | I/O, the clock, drawing |
//! | [`keymap`] | the table of actions and their keys | doing them |
//! | [`config`] | what `config.toml` may say | reading the file |
//! | [`ui`] | the model on a frame, one file a pane; `ui::theme` alone knows colours | changing the model |
//! | [`runtime`] | event loop, terminal, signals, worker threads, clipboard, starting pi | decisions |
//! | [`text`] | text that is safe for a terminal, its width, its meaning ([`text::Tone`]), the signs | colours |
//! | [`fold`] | text as it is compared when something is looked for | looking for it |
//! | [`words`] | numbers as people read them | |
//!
//! Who may use whom is said, and tested, in `tests/architecture.rs`. `docs/architecture.md` goes on from here.

pub mod app;
pub mod cli;
pub mod config;
pub mod doc;
pub mod fold;
pub mod keymap;
pub mod runtime;
pub mod search;
pub mod session;
pub mod store;
pub mod text;
pub mod ui;
pub mod words;
