//! The real program in a pseudo-terminal, used as a person would use it.
mod ask;
mod browse;
mod bug_log;
mod change;
mod config;
mod demo;
mod external_programs;
mod find;
mod history;
mod home;
mod invalid_input;
mod leave;
mod live;
mod looks;
mod mouse;
mod picker;
mod read;
mod real_pi;
mod resize;
mod resume;
mod saved_state;
mod search;
#[cfg(unix)]
mod shells;
mod sizes;
mod tables;
mod terminal;
