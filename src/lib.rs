//! A terminal browser for the session files of the pi coding agent: every project, fork, branch and entry in one tree.
//!
//! The library is part of the program and has no stable API: each version may change it.
//!
//! The program is this library and a `main` of one line. It follows the Elm Architecture with plain threads: [`app`] is
//! a state machine without I/O, [`ui`] draws its model, and [`runtime`] sends events to [`app::update`] and executes the
//! effects that it returns. File contents and the time arrive as messages, so that tests can replay whole sessions. The
//! browser and the commands change session files only through [`changes`].
//!
//! | Module | Content | Not here |
//! |---|---|---|
//! | `system` | platform differences behind one interface | sessions |
//! | [`base`] | terminal-safe text, normalization, number and time formats | sessions |
//! | [`secrets`] | rules that find secrets in texts; redaction | sessions, I/O |
//! | [`session`] | the session format: entries, trees, digests, families, new lines | I/O |
//! | [`keymap`] | the table of actions and their keys | execution of actions |
//! | [`search`] | queries: the language, matching, completion; byte search | reading files |
//! | [`render`] | entries as styled lines: Markdown, code, diffs, wrapping | colors, scrolling |
//! | [`export`] | documents of sessions, one writer per format | reading and writing files |
//! | [`config`] | the settings of `config.toml` | reading the file |
//! | [`disk`] | file access: locate, scan, load, append, watch, index, trash | meaning of lines |
//! | [`pi`] | the pi program: processes, status, requests, extension, launch | terminal, decisions |
//! | [`catalog`] | all sessions: relations, costs, search, touched files | drawing |
//! | [`changes`] | all changes of session files, the journal, undo | questions to the user |
//! | [`machines`] | other machines: mirrors, connections, changes there | drawing |
//! | [`app`] | the state of the browser and its changes | I/O, the clock, drawing |
//! | [`ui`] | drawing: panes, layers, statistics; `ui::theme` alone defines colors | changes of the model |
//! | [`runtime`] | event loop, terminal, worker threads, clipboard | decisions |
//! | [`cli`] | the command line, one file per group of related subcommands; exit codes | browser behavior |
//!
//! `tests/architecture.rs` checks the allowed dependencies. `docs/architecture.md` describes the data flow and the rules.

pub mod app;
pub mod base;
pub mod catalog;
pub mod changes;
pub mod cli;
pub mod config;
pub mod disk;
pub mod export;
pub mod keymap;
pub mod machines;
pub mod pi;
pub mod render;
pub mod runtime;
pub mod search;
pub mod secrets;
pub mod session;
mod system;
pub mod ui;
