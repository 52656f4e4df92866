//! Images in the terminal, by the Kitty graphics protocol or that of iTerm2. The terminal decodes them; pitree passes the
//! Base64 data of PNG files from sessions, which contains no control characters.

use std::io::{self, Write};
use std::sync::Arc;

use ratatui::layout::Rect;

/// The longest data of a Kitty escape sequence in bytes.
const CHUNK: usize = 4096;

/// A protocol for images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Kitty,
    Iterm,
}

/// An image on the screen: its place and its data in Base64.
pub(super) type PlacedImage = (Rect, Arc<str>);

/// Returns the protocol of the terminal by its environment. tmux and screen pass no images on.
pub(super) fn protocol(variable: impl Fn(&str) -> Option<String>) -> Option<Protocol> {
    let is = |name: &str, part: &str| variable(name).is_some_and(|value| value.contains(part));
    let is_set = |name: &str| is(name, "");
    match () {
        () if is_set("TMUX") || is_set("STY") || is("TERM", "screen") || is("TERM", "tmux") => None,
        () if is_set("KITTY_WINDOW_ID") || is("TERM", "kitty") || is("TERM", "ghostty") => Some(Protocol::Kitty),
        () if is("TERM_PROGRAM", "iTerm.app") || is("TERM_PROGRAM", "WezTerm") => Some(Protocol::Iterm),
        () => None,
    }
}

/// Writes an image at its place.
pub(super) fn write(out: &mut impl Write, protocol: Protocol, (area, png): &PlacedImage) -> io::Result<()> {
    let Rect { x, y, width, height } = *area;
    write!(out, "\x1b7\x1b[{};{}H", y + 1, x + 1)?;
    match protocol {
        Protocol::Kitty => {
            let mut chunks = png.as_bytes().chunks(CHUNK).enumerate().peekable();
            while let Some((at, chunk)) = chunks.next() {
                let more = u8::from(chunks.peek().is_some());
                match at {
                    0 => write!(out, "\x1b_Ga=T,f=100,q=2,C=1,c={width},r={height},m={more};")?,
                    _ => write!(out, "\x1b_Gm={more};")?,
                }
                out.write_all(chunk)?;
                out.write_all(b"\x1b\\")?;
            }
        }
        Protocol::Iterm => {
            write!(out, "\x1b]1337;File=inline=1;width={width};height={height};preserveAspectRatio=1:{png}\x07")?;
        }
    }
    out.write_all(b"\x1b8")
}

/// Removes all images. Those of iTerm2 go when their cells are written again.
pub(super) fn clear(out: &mut impl Write, protocol: Protocol) -> io::Result<()> {
    if protocol == Protocol::Kitty { out.write_all(b"\x1b_Ga=d,q=2\x1b\\") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_their_environment() {
        let of = |set: &[(&str, &str)]| {
            protocol(|name| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Some(Protocol::Kitty));
        assert_eq!(of(&[("TERM_PROGRAM", "iTerm.app")]), Some(Protocol::Iterm));
        assert_eq!(of(&[("TERM", "xterm-256color")]), None);
        assert_eq!(of(&[("KITTY_WINDOW_ID", "1"), ("TMUX", "/tmp/t")]), None);
    }

    #[test]
    fn data_is_sent_in_chunks_to_its_place() {
        let image = (Rect::new(4, 2, 10, 5), Arc::from("A".repeat(CHUNK + 1)));
        let mut out = Vec::new();
        write(&mut out, Protocol::Kitty, &image).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("\x1b7\x1b[3;5H\x1b_Ga=T,f=100,q=2,C=1,c=10,r=5,m=1;A"), "{text}");
        assert!(text.ends_with("\x1b\\\x1b_Gm=0;A\x1b\\\x1b8"), "{text}");
    }
}
