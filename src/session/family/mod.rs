//! Sessions that were forked from each other: at which entry a fork left ([`fork_point`]), and several of them as one tree
//! ([`merged`]).

pub mod fork_point;
pub mod merged;
#[cfg(test)]
pub(crate) mod sample;
