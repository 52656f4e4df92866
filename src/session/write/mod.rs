//! What is written into session files: one line to append ([`mod@line`]), a new file ([`fork`]), an old file in today's form
//! ([`migrate`]). Pure: bytes come in, bytes go out.

pub mod fork;
pub mod line;
pub mod migrate;
