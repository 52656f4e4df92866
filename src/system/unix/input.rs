//! Terminal input: reads bytes from the terminal and parses them: keys, pastes, mouse reports and its answers. Unknown
//! sequences are dropped. A wake-up interrupts the wait.
//!
//! crossterm (0.29) reads on in its parser after a sequence that it does not understand, and misses resizes meanwhile.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use filedescriptor::{POLLIN, poll, pollfd};
use memchr::memmem;

use crate::system::messages::Input;
use crate::system::unix::terminal::FILES;

/// The number of bytes per read.
const BUFFER: usize = 4096;

/// Reader of the terminal's input.
pub(crate) struct InputReader {
    terminal: File,
    woken: UnixStream,
    parser: Parser,
}

/// Interrupts a [`InputReader`] that waits.
#[derive(Debug)]
pub(crate) struct InputWaker(UnixStream);

/// Opens the terminal for reading.
///
/// # Errors
/// There is no terminal, or the system is out of file descriptors.
pub(crate) fn open() -> io::Result<(InputReader, InputWaker)> {
    let stdin = io::stdin();
    let terminal = if stdin.is_terminal() { stdin.as_fd().try_clone_to_owned()?.into() } else { File::open(FILES[0])? };
    let (woken, waker) = UnixStream::pair()?;
    waker.set_nonblocking(true)?;
    Ok((InputReader { terminal, woken, parser: Parser::default() }, InputWaker(waker)))
}

impl InputWaker {
    /// Interrupts the reader. Returns `true` if it reacts.
    pub(crate) fn wake(&self) -> bool {
        // A full pipe holds a wake-up already.
        !matches!((&self.0).write(&[0]), Err(error) if error.kind() != io::ErrorKind::WouldBlock)
    }
}

impl InputReader {
    /// Waits for input; returns nothing after a wake-up.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn read(&mut self) -> io::Result<Vec<Input>> {
        let wait_for = |fd| pollfd { fd, events: POLLIN, revents: 0 };
        let mut waits = [wait_for(self.terminal.as_raw_fd()), wait_for(self.woken.as_raw_fd())];
        match poll(&mut waits, self.parser.patience()) {
            Ok(0) => return Ok(self.parser.give_up()),
            Ok(_) => {}
            Err(filedescriptor::Error::Poll(error)) if error.kind() == io::ErrorKind::Interrupted => {
                return Ok(Vec::new());
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        let mut buffer = [0; BUFFER];
        if waits[1].revents != 0 {
            return self.woken.read(&mut buffer).map(|_| Vec::new());
        }
        let len = length(self.terminal.read(&mut buffer))?;
        Ok(self.parser.take(&buffer[..len]))
    }
}

/// Returns the number of bytes that were read. It is 0 if a signal interrupted reading, or if another program that uses
/// the terminal took the bytes: such a program may also have made it non-blocking.
fn length(read: io::Result<usize>) -> io::Result<usize> {
    match read {
        Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
        Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => Ok(0),
        read => read,
    }
}

/// Time limit for the rest of a sequence after its beginning.
const GAP: Duration = Duration::from_millis(100);

/// Longest parameters of a control sequence, in bytes.
const MAX_PARAMETERS: usize = 256;

/// Bytes that are kept of a control string: more than any answer that pitree asks for.
const MAX_STRING: usize = 64;

/// End of a bracketed paste.
const PASTE_END: &[u8] = b"\x1b[201~";

/// Parser state between two reads.
#[derive(Default)]
struct Parser {
    mode: ParserMode,
    /// Beginning of a sequence whose rest has not arrived.
    pending: Vec<u8>,
}

#[derive(Default)]
enum ParserMode {
    #[default]
    Ground,
    /// In a control string (OSC, DCS, SOS, PM or APC), with its first bytes.
    String(Vec<u8>),
    /// In a bracketed paste.
    Paste,
}

/// Result of parsing at the beginning of some bytes.
enum ParseStep {
    /// A sequence of this many bytes, and its event if it has one.
    Done(usize, Option<Event>),
    /// A sequence of this many bytes that begins another mode.
    Enter(usize, ParserMode),
    /// More bytes are needed.
    Incomplete,
}

impl Parser {
    /// Returns how long to wait for the rest of a sequence; `None` if no sequence is open.
    fn patience(&self) -> Option<Duration> {
        match self.mode {
            ParserMode::Ground if self.pending.is_empty() => None,
            ParserMode::Ground if self.pending == b"\x1b" => Some(Duration::ZERO),
            ParserMode::Ground | ParserMode::String(_) => Some(GAP),
            ParserMode::Paste => None,
        }
    }

    /// Parses more bytes.
    fn take(&mut self, bytes: &[u8]) -> Vec<Input> {
        let known = self.pending.len();
        self.pending.extend_from_slice(bytes);
        let (mut inputs, mut at) = (Vec::new(), 0);
        loop {
            let rest = &self.pending[at..];
            let step = match &mut self.mode {
                ParserMode::Ground => ground(rest),
                ParserMode::String(text) => string(rest, text, &mut inputs),
                ParserMode::Paste => paste(rest, known.saturating_sub(at)),
            };
            match step {
                ParseStep::Done(len, event) => {
                    at += len;
                    inputs.extend(event.map(Input::Event));
                    if !matches!(self.mode, ParserMode::Ground) {
                        self.mode = ParserMode::Ground;
                    }
                }
                ParseStep::Enter(len, mode) => {
                    at += len;
                    self.mode = mode;
                }
                ParseStep::Incomplete => break,
            }
        }
        self.pending.drain(..at);
        inputs
    }

    /// Ends an open sequence because its rest did not arrive in time.
    fn give_up(&mut self) -> Vec<Input> {
        self.mode = ParserMode::Ground;
        let alt = |byte: u8| key(KeyCode::Char(byte.into()), KeyModifiers::ALT);
        let event = match *std::mem::take(&mut self.pending) {
            [0x1b] => Some(key(KeyCode::Esc, KeyModifiers::NONE)),
            [0x1b, byte] => Some(alt(byte)),
            _ => None,
        };
        event.map(Input::Event).into_iter().collect()
    }
}

/// Parses what is a key, or begins a sequence.
fn ground(bytes: &[u8]) -> ParseStep {
    match *bytes {
        [] | [0x1b] => ParseStep::Incomplete,
        [0x1b, 0x1b, ..] => ParseStep::Done(1, Some(key(KeyCode::Esc, KeyModifiers::NONE))),
        [0x1b, b'[', ..] => control_sequence(bytes),
        [0x1b, b'O', final_byte, ..] => {
            ParseStep::Done(3, letter(final_byte).map(|code| key(code, KeyModifiers::NONE)))
        }
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', _, ..] => ParseStep::Enter(2, ParserMode::String(Vec::new())),
        [0x1b, b'O' | b']' | b'P' | b'X' | b'^' | b'_'] => ParseStep::Incomplete,
        [0x1b, ref rest @ ..] => match character(rest, KeyModifiers::ALT) {
            ParseStep::Done(len, event) => ParseStep::Done(len + 1, event),
            other => other,
        },
        _ => character(bytes, KeyModifiers::NONE),
    }
}

/// Parses a key that types a character, or a control character.
fn character(bytes: &[u8], modifiers: KeyModifiers) -> ParseStep {
    let ctrl = |byte: u8| key(KeyCode::Char(byte.into()), modifiers | KeyModifiers::CONTROL);
    let event = match bytes[0] {
        b'\r' => key(KeyCode::Enter, modifiers),
        b'\t' => key(KeyCode::Tab, modifiers),
        0x7f => key(KeyCode::Backspace, modifiers),
        0 => ctrl(b' '),
        byte @ 0x01..=0x1a => ctrl(byte - 1 + b'a'),
        byte @ 0x1c..=0x1f => ctrl(byte - 0x1c + b'4'),
        _ => {
            let start = &bytes[..bytes.len().min(4)];
            let valid = match std::str::from_utf8(start) {
                Ok(text) => text,
                Err(error) => match (error.valid_up_to(), error.error_len()) {
                    (0, None) if bytes.len() < 4 => return ParseStep::Incomplete,
                    (0, len) => return ParseStep::Done(len.unwrap_or(1), None),
                    (valid, _) => std::str::from_utf8(&start[..valid]).unwrap_or_default(),
                },
            };
            let Some(typed) = valid.chars().next() else { return ParseStep::Done(1, None) };
            let shift = if typed.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
            return ParseStep::Done(typed.len_utf8(), Some(key(KeyCode::Char(typed), modifiers | shift)));
        }
    };
    ParseStep::Done(1, Some(event))
}

/// Parses a sequence that begins with `ESC [`.
fn control_sequence(bytes: &[u8]) -> ParseStep {
    // X10 mouse reports and the function keys of the Linux console have their bytes after what looks like the end.
    match bytes.get(2) {
        Some(b'M') if bytes.len() < 6 => return ParseStep::Incomplete,
        Some(b'M') => {
            let [button, x, y] = [3, 4, 5].map(|at| u16::from(bytes[at]).saturating_sub(32));
            return ParseStep::Done(6, mouse(button, (x, y)));
        }
        Some(b'[') if bytes.len() < 4 => return ParseStep::Incomplete,
        Some(b'[') => {
            let number = bytes[3].wrapping_sub(b'A');
            return ParseStep::Done(4, (number < 5).then(|| key(KeyCode::F(number + 1), KeyModifiers::NONE)));
        }
        _ => {}
    }
    let Some(len) = bytes[2..].iter().position(|byte| !(0x20..=0x3f).contains(byte)) else {
        // Parameters without an end are skipped like a control string.
        let is_endless = bytes.len() > MAX_PARAMETERS;
        return if is_endless {
            ParseStep::Enter(bytes.len(), ParserMode::String(Vec::new()))
        } else {
            ParseStep::Incomplete
        };
    };
    let end = 2 + len;
    match bytes[end] {
        b'~' if bytes[2..end] == *b"200" => ParseStep::Enter(end + 1, ParserMode::Paste),
        final_byte @ 0x40..=0x7e => ParseStep::Done(end + 1, report(&bytes[2..end], final_byte)),
        0x1b => ParseStep::Done(end, None), // the next sequence
        _ => ParseStep::Done(end + 1, None),
    }
}

/// Returns the event of a control sequence, if it is known.
fn report(parameters: &[u8], final_byte: u8) -> Option<Event> {
    let text = std::str::from_utf8(parameters).ok()?;
    let (is_sgr, text) = text.strip_prefix('<').map_or((false, text), |text| (true, text));
    // Empty parameters have their default.
    let numbers: Option<Vec<u32>> = text
        .split(';')
        .map(|one| one.split(':').next().unwrap_or_default())
        .map(|one| if one.is_empty() { Some(1) } else { one.parse().ok() })
        .collect();
    let numbers = numbers?;
    let number = |at: usize| numbers.get(at).copied();
    let place = || Some((u16::try_from(number(1)?).ok()?, u16::try_from(number(2)?).ok()?));
    let button = |less| u16::try_from(number(0)?.checked_sub(less)?).ok();
    let is_release = text.split(';').nth(1).is_some_and(|one| one.ends_with(":3"));
    let modifiers = modifiers(number(1).unwrap_or(1));
    let code = match final_byte {
        b'M' if is_sgr => return mouse(button(0)?, place()?),
        b'M' if numbers.len() == 3 => return mouse(button(32)?, place()?),
        _ if is_sgr || is_release => return None,
        b'Z' => return Some(key(KeyCode::BackTab, modifiers | KeyModifiers::SHIFT)),
        b'~' => match number(0)? {
            27 => return unicode(number(2)?, modifiers),
            number => numbered(number)?,
        },
        b'u' => {
            let keys = text.split(';').next().unwrap_or_default().split(':').map(|key| key.parse().ok());
            return kitty_key(&keys.collect::<Vec<_>>(), modifiers);
        }
        _ if number(0) == Some(1) => letter(final_byte)?,
        _ => return None,
    };
    Some(key(code, modifiers))
}

/// Returns the modifiers of a parameter.
fn modifiers(parameter: u32) -> KeyModifiers {
    let flags = [KeyModifiers::SHIFT, KeyModifiers::ALT, KeyModifiers::CONTROL, KeyModifiers::SUPER];
    let is_set = |bit: &usize| parameter.saturating_sub(1) >> bit & 1 != 0;
    (0..flags.len()).filter(is_set).map(|bit| flags[bit]).collect()
}

/// Returns the key of a sequence that ends with a letter.
fn letter(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'P'..=b'S' => KeyCode::F(letter - b'P' + 1),
        _ => return None,
    })
}

/// Returns the key of a sequence that ends with `~`.
fn numbered(number: u32) -> Option<KeyCode> {
    let function = |less: u32| Some(KeyCode::F(u8::try_from(number - less).ok()?));
    match number {
        1 | 7 => Some(KeyCode::Home),
        2 => Some(KeyCode::Insert),
        3 => Some(KeyCode::Delete),
        4 | 8 => Some(KeyCode::End),
        5 => Some(KeyCode::PageUp),
        6 => Some(KeyCode::PageDown),
        11..=15 => function(10),
        17..=21 => function(11),
        23..=26 => function(12),
        28..=29 => function(15),
        31..=34 => function(17),
        _ => None,
    }
}

/// Returns the key of a report of the Kitty keyboard protocol: its code, the code with Shift, and that of the same key on
/// a standard keyboard, by which shortcuts work on any layout. Modifier keys alone are dropped.
fn kitty_key(codes: &[Option<u32>], modifiers: KeyModifiers) -> Option<Event> {
    let code = |at: usize| codes.get(at).copied().flatten();
    let (key, shifted, base) = (code(0)?, code(1), code(2).filter(|base| *base < 128));
    const KEYPAD: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '/', '*', '-', '+', '\r'];
    match key {
        57399..57415 => return unicode(KEYPAD[key as usize - 57399].into(), modifiers),
        57417..57427 => {
            use KeyCode as C;
            let code =
                [C::Left, C::Right, C::Up, C::Down, C::PageUp, C::PageDown, C::Home, C::End, C::Insert, C::Delete];
            return Some(self::key(code[key as usize - 57417], modifiers));
        }
        0xe000..0xf900 => return None,
        _ => {}
    }
    let shifted = shifted.filter(|_| modifiers.contains(KeyModifiers::SHIFT));
    unicode(base.filter(|_| key >= 128).or(shifted).unwrap_or(key), modifiers)
}

/// Returns the key of a code point, as xterm and kitty report keys with modifiers.
fn unicode(code: u32, modifiers: KeyModifiers) -> Option<Event> {
    let code = match char::from_u32(code)? {
        '\x1b' => KeyCode::Esc,
        '\r' => KeyCode::Enter,
        '\t' if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        '\t' => KeyCode::Tab,
        '\x7f' => KeyCode::Backspace,
        typed => KeyCode::Char(typed),
    };
    Some(key(code, modifiers))
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
    Event::Key(KeyEvent::new(code, modifiers))
}

/// Returns the event of a mouse report; `None` for buttons, releases and moves that pitree has no use for.
fn mouse(button: u16, (x, y): (u16, u16)) -> Option<Event> {
    const MODIFIERS: u16 = 4 | 8 | 16;
    let kind = match button & !MODIFIERS {
        0 => MouseEventKind::Down(MouseButton::Left),
        64 => MouseEventKind::ScrollUp,
        65 => MouseEventKind::ScrollDown,
        _ => return None,
    };
    let (column, row) = (x.checked_sub(1)?, y.checked_sub(1)?);
    Some(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }))
}

/// Skips the bytes of a control string up to its end, and keeps the first ones.
fn string(bytes: &[u8], text: &mut Vec<u8>, inputs: &mut Vec<Input>) -> ParseStep {
    let end = memchr::memchr2(0x1b, 0x07, bytes);
    let content = &bytes[..end.unwrap_or(bytes.len())];
    text.extend(content.iter().take(MAX_STRING.saturating_sub(text.len())));
    let len = match (end, &bytes[content.len()..]) {
        (None, _) if bytes.is_empty() => return ParseStep::Incomplete,
        (None, _) | (Some(_), [0x1b]) if !content.is_empty() => {
            return ParseStep::Enter(content.len(), ParserMode::String(std::mem::take(text)));
        }
        (_, [0x1b]) => return ParseStep::Incomplete,
        (_, [0x1b, b'\\', ..]) => content.len() + 2,
        (_, [0x1b, ..]) => return ParseStep::Done(content.len(), None), // another sequence instead of its end
        _ => content.len() + 1,
    };
    inputs.push(Input::Answer(String::from_utf8_lossy(text).into_owned()));
    ParseStep::Done(len, None)
}

/// Takes a paste once its end has arrived; it is not in the bytes that were `known` before.
fn paste(bytes: &[u8], known: usize) -> ParseStep {
    let from = known.saturating_sub(PASTE_END.len()).min(bytes.len());
    memmem::find(&bytes[from..], PASTE_END).map_or(ParseStep::Incomplete, |at| {
        let text = String::from_utf8_lossy(&bytes[..from + at]).into_owned();
        ParseStep::Done(from + at + PASTE_END.len(), Some(Event::Paste(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_the_input_and_real_errors_end_reading() {
        let failed = |kind: io::ErrorKind| length(Err(kind.into())).map_err(|error| error.kind());
        assert_eq!(length(Ok(7)).unwrap(), 7);
        assert_eq!(length(Ok(0)).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(failed(io::ErrorKind::WouldBlock), Ok(0));
        assert_eq!(failed(io::ErrorKind::Interrupted), Ok(0));
        assert_eq!(failed(io::ErrorKind::PermissionDenied), Err(io::ErrorKind::PermissionDenied));
    }
}

#[cfg(test)]
mod sequence_tests {
    use super::*;

    /// Returns what some bytes are parsed to: keys as in `config.toml`, and everything else in words.
    fn parse(parser: &mut Parser, bytes: &[u8]) -> Vec<String> {
        parser.take(bytes).into_iter().map(text).collect()
    }

    fn text(input: Input) -> String {
        match input {
            Input::Answer(text) => format!("answer {text}"),
            Input::Event(Event::Key(key)) => {
                let modifiers = key.modifiers.iter_names().map(|(name, _)| format!("{name}+").to_lowercase());
                format!("{}{}", modifiers.collect::<String>(), key.code)
            }
            Input::Event(Event::Mouse(mouse)) => format!("{:?} {} {}", mouse.kind, mouse.column, mouse.row),
            Input::Event(Event::Paste(text)) => format!("paste {text}"),
            Input::Event(other) => format!("{other:?}"),
        }
    }

    const KNOWN: &[(&str, &str)] = &[
        ("j", "j"),
        ("G", "shift+G"),
        ("é漢", "é,漢"),
        ("\r\t\x7f", "Enter,Tab,Backspace"),
        ("\0\x01\n\x1a\x1c", "control+Space,control+a,control+j,control+z,control+4"),
        ("\x1bb\x1bG\x1b\r", "alt+b,shift+alt+G,alt+Enter"),
        ("\x1b[A\x1bOB\x1b[1;5C\x1b[1;2D", "Up,Down,control+Right,shift+Left"),
        ("\x1b[H\x1bOF\x1b[1~\x1b[4~\x1b[3;5~", "Home,End,Home,End,control+Del"),
        ("\x1bOP\x1b[15~\x1b[24~\x1b[[A\x1b[1;5S", "F1,F5,F12,F1,control+F4"),
        ("\x1b[Z", "shift+Back Tab"),
        ("\x1b[27;5;105~\x1b[27u\x1b[105;5u", "control+i,Esc,control+i"),
        ("\x1b[1094::99;5u\x1b[1086:1054:106;2u\x1b[49:33;2u", "control+c,shift+j,shift+!"),
        ("\x1b[57441;2u\x1b[57400u\x1b[57419u\x1b[?5u", "1,Up"),
        ("\x1b[1;1:3A", ""),
        ("\x1b[<0;5;7M\x1b[<0;5;7m\x1b[<64;1;1M\x1b[<81;2;1M", "Down(Left) 4 6,ScrollUp 0 0,ScrollDown 1 0"),
        ("\x1b[M !!\x1b[32;3;4M", "Down(Left) 0 0,Down(Left) 2 3"),
        ("\x1b[200~a\x1b[A\nb\x1b[201~c", "paste a\x1b[A\nb,c"),
        ("\x1b]11;rgb:0/0/0\x07x\x1b]11;rgb:f/f/f\x1b\\y", "answer 11;rgb:0/0/0,x,answer 11;rgb:f/f/f,y"),
    ];

    #[test]
    fn known_sequences_are_events_however_they_are_cut() {
        for (bytes, expected) in KNOWN {
            let expected: Vec<&str> = expected.split(',').filter(|one| !one.is_empty()).collect();
            assert_eq!(parse(&mut Parser::default(), bytes.as_bytes()), expected, "{bytes:?}");
            for cut in 0..bytes.len() {
                let mut parser = Parser::default();
                let (start, rest) = bytes.as_bytes().split_at(cut);
                let parsed = [parse(&mut parser, start), parse(&mut parser, rest)].concat();
                assert_eq!(parsed, expected, "{bytes:?} cut at {cut}");
            }
        }
    }

    #[test]
    fn unknown_reports_are_dropped() {
        for unknown in [
            "\x1b[<128;5;5M",
            "\x1b[<129;5;5m",
            "\x1b[<0;0;0M",
            "\x1b[<35;9;9M",
            "\x1bOx",
            "\x1b[?997;1n",
            "\x1b[?62;c",
            "\x1b[I",
            "\x1b[>0;276;0c",
            "\x1b[12;40R",
            "\x1b[99999999999~",
            "\x1bP1+r436f=323536\x1b\\",
            "\x1b_G;OK\x1b\\",
        ] {
            let parsed = parse(&mut Parser::default(), format!("{unknown}j").as_bytes());
            assert_eq!(parsed.last().unwrap(), "j", "{unknown:?}");
            assert!(parsed[..parsed.len() - 1].iter().all(|one| one.starts_with("answer")), "{unknown:?}: {parsed:?}");
        }
        assert_eq!(parse(&mut Parser::default(), b"\xffa\xc3(b"), ["a", "(", "b"]);
    }

    #[test]
    fn a_sequence_without_an_end_is_given_up() {
        for (bytes, patience, expected) in [
            ("\x1b", Duration::ZERO, "Esc"),
            ("\x1b]", GAP, "alt+]"),
            ("\x1b[", GAP, "alt+["),
            ("\x1b[<12;3", GAP, ""),
            ("\x1b]11;rgb", GAP, ""),
            ("\x1b]8;;x\x1b", GAP, "Esc"),
            ("\u{1b}é", Duration::ZERO, "alt+é"),
        ] {
            let mut parser = Parser::default();
            let mut parsed = parse(&mut parser, bytes.as_bytes());
            if parsed.is_empty() {
                assert_eq!(parser.patience(), Some(patience), "{bytes:?}");
                parsed = parser.give_up().into_iter().map(text).collect();
            }
            assert_eq!(parsed.concat(), expected, "{bytes:?}");
            assert_eq!((parser.patience(), parse(&mut parser, b"j")), (None, vec!["j".into()]), "{bytes:?}");
        }
    }

    #[test]
    fn a_long_control_string_costs_no_memory() {
        for start in ["\x1b]52;c;", "\x1bP", "\x1b["] {
            let mut parser = Parser::default();
            assert_eq!(parse(&mut parser, start.as_bytes()), [""; 0]);
            for _ in 0..500 {
                assert_eq!(parse(&mut parser, &[b'1'; 4096]), [""; 0]);
                assert!(parser.pending.len() < 4200, "{}", parser.pending.len());
            }
            assert_eq!(parse(&mut parser, b"\x1b\\j").last().unwrap(), "j");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_parsed_alike_however_they_are_cut(
            bytes in proptest::collection::vec(proptest::sample::select(b"\x1b[]O<;:0129MmA~uP\\\x07\xc3\xa9 \r".to_vec()), 0..40),
            cut in 0usize..40,
        ) {
            let mut whole = Parser::default();
            let mut parts = Parser::default();
            let (start, rest) = bytes.split_at(cut.min(bytes.len()));
            let parsed = [parse(&mut parts, start), parse(&mut parts, rest)].concat();
            proptest::prop_assert_eq!(parse(&mut whole, &bytes), parsed);
            parts.give_up();
            proptest::prop_assert_eq!(parse(&mut parts, b"j"), vec!["j".to_string()]);
        }
    }
}
