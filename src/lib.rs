//! pitree.

pub mod app;
pub mod cli;
pub mod config;
pub mod doc;
pub mod keymap;
pub mod runtime;
pub mod session;
pub mod store;
pub mod text;
pub mod ui;
pub mod words;
