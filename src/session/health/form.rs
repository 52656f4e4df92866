//! Session files in another form than JSON Lines in UTF-8, as editors and converters leave them.

use crate::session::health::code::Code;

/// The number of bytes of a file that show its form: the header is within them.
pub const START: usize = 4096;

/// Returns what is wrong with the form of a session file, with details, from its start. Returns `None` if the form is right,
/// or the file is no session.
pub fn wrong_form(start: &[u8]) -> Option<(Code, Option<&'static str>)> {
    let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0 && !byte.is_ascii_whitespace()).collect();
    memchr::memmem::find(&text, b"\"type\":\"session\"")?;
    let ends = || memchr::memchr2(b'\r', b'\n', start).map(|at| (&start[..at], start[at], start.get(at + 1)));
    let convert = |what: &'static str| Some((Code::NotJsonLines, Some(what)));
    match start {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{', 0, ..] | [0, b'{', ..] => {
            convert("it is UTF-16, which `iconv -f UTF-16 -t UTF-8` converts")
        }
        [0xef, 0xbb, 0xbf, ..] => Some((Code::ByteOrderMark, None)),
        _ if text.first() == Some(&b'[') => convert("it is one JSON array, which `jq -c '.[]'` converts"),
        _ => match ends()? {
            (line, ..) if line.trim_ascii() == b"{" => convert("its values have several lines; `jq -c .` joins them"),
            (_, b'\r', next) if next != Some(&b'\n') => Some((Code::CarriageReturns, None)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_known_from_the_start() {
        let header = r#"{"type": "session", "version": 3, "id": "s"}"#;
        let entry = r#"{"type": "message", "id": "a"}"#;
        let of = |text: &str| wrong_form(text.as_bytes()).map_or("", |(code, detail)| detail.unwrap_or(code.means()));
        for right in ["\n", "\r\n"].map(|end| [header, end, entry, end].concat()) {
            assert_eq!(of(&right), "");
        }
        assert_eq!(of(header), "");
        assert!(of(&format!("\u{feff}{header}\n")).contains("byte order mark"));
        assert!(of(&format!("{header}\r{entry}\r")).contains("carriage returns"));
        assert!(of(&format!("[{header},\n{entry}]\n")).contains("one JSON array"));
        assert!(of(&header.replacen('{', "{\n  ", 1)).contains("several lines"));
        for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            for text in [header.to_owned(), format!("\u{feff}{header}\r\n")] {
                let text: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
                assert!(wrong_form(&text).unwrap().1.unwrap().contains("it is UTF-16"));
            }
        }
        assert_eq!(of(&format!("[{entry}]")), "", "no session");
    }
}
