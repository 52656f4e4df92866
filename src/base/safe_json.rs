//! JSON that does nothing to a terminal.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use crate::base::text::{has_unsafe, is_unsafe};

/// Adds one object on one line. Characters that a terminal could act on are escaped: the same JSON to a reader.
///
/// # Errors
/// It can't be JSON.
pub(crate) fn add_json(lines: &mut Vec<u8>, value: &impl Serialize) -> Result<()> {
    let start = lines.len();
    serde_json::to_writer(&mut *lines, value)?;
    let line = std::str::from_utf8(&lines[start..])?;
    if has_unsafe(line) {
        let mut safe = String::with_capacity(line.len() + 64);
        for c in line.chars() {
            if is_unsafe(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(safe, "\\u{unit:04x}")?;
                }
            } else {
                safe.push(c);
            }
        }
        lines.truncate(start);
        lines.extend(safe.bytes());
    }
    lines.push(b'\n');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_value_and_tells_the_terminal_nothing() {
        let text = "a\u{1b}[31m\u{9b}31m\u{7f}\u{202e}é\u{e0001}😀";
        let mut out = Vec::new();
        add_json(&mut out, &text).unwrap();
        let line = String::from_utf8(out).unwrap();
        assert!(!line.trim_end().contains(is_unsafe), "{line:?}");
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
    }
}
