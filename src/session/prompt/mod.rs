//! The messages that the model receives when pi resumes at an entry: their order and the omitted ones ([`plan`]), their
//! contents ([`message`]), their size (`tokens`), and the rows of a list ([`listing`]). The caller reads the
//! entries one by one, so that only the rows of a long session are in memory.

pub mod listing;
pub mod message;
pub mod plan;
