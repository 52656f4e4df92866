//! One line: pitree reads it like the reference implementation.

#[path = "../../tests/common/reference/mod.rs"]
mod reference;

/// Reads each line.
pub fn run(data: &[u8]) {
    data.split(|&byte| byte == b'\n').for_each(reference::agree);
}
