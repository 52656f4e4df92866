//! What is known of a session without its tree: what a list shows ([`summary`]) and what is searched ([`searchable`]).

pub mod searchable;
pub mod summary;
