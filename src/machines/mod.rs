//! Other machines, whose sessions pitree mirrors: laptops, servers, containers. `registry` has their names and addresses.
//! `transport` runs a shell on a machine, and `link` is the connection. A `source` lists and sends session files: a pitree
//! there (`serve`, `client`, `wire`), or its shell (`shell`, `cksum`). `mirror` has the read-only copies, which `sync`
//! updates; `state` describes the last time. `changes` are made by the pitree there. `resume` starts pi there,
//! `check` reports what works, and `discover` finds machines.
//!
//! All that comes from a machine is untrusted: names (`listing`), messages and their lengths (`wire`).

pub mod changes;
pub(crate) mod check;
mod cksum;
mod client;
pub(crate) mod discover;
pub(crate) mod link;
mod listing;
mod mirror;
pub mod registry;
pub(crate) mod resume;
pub(crate) mod serve;
mod shell;
mod source;
pub mod state;
pub(crate) mod sync;
pub(crate) mod transport;
pub(crate) mod wire;
