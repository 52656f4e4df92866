//! Sessions that were forked from each other: at which entry a fork left ([`split`]), and several of them as one tree
//! ([`joined`]).

pub mod joined;
#[cfg(test)]
pub(crate) mod sample;
pub mod split;
