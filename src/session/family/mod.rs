//! Related sessions: the entry where a fork diverged ([`fork_point`]), and several sessions as one tree ([`merged`]).

pub mod fork_point;
pub mod merged;
#[cfg(test)]
pub(crate) mod sample;
