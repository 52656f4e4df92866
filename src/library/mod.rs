//! What is known of all sessions together: what is searched of them ([`texts`], [`grep`], [`hits`]), and the files that
//! their tools touched ([`files`]).

pub mod files;
pub mod grep;
pub mod hits;
pub mod texts;
