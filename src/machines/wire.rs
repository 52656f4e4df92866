//! The protocol between two pitrees: frames with a message or bytes of a file. What the other end sends is untrusted: the
//! length of a frame is limited, also when it is unpacked.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::machines::listing::RemoteFile;
use crate::pi::status::PiState;

/// The version of the protocol. Both ends must have the same.
pub(super) const PROTOCOL: u32 = 1;

/// The line before the first frame of a server. The shell of a machine can print other lines before it.
pub(super) const GREETING: &str = "pitree-serve";

/// The maximum length of a frame in bytes, packed and unpacked.
const MOST: usize = 8 * 1024 * 1024;

/// The length in bytes from which on a frame is compressed.
const WORTH_PACKING: usize = 256;

/// The compression level: fast.
const LEVEL: i32 = 1;

/// The number of bytes of a file in a frame.
pub(super) const PIECE: usize = 256 * 1024;

/// A request of a client.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Ask {
    /// Compare all files by one digest.
    Compare(u64),
    /// Compare the files of each directory by digests, and list those of the others.
    List(Vec<(String, u64)>),
    /// Send files.
    Fetch(Vec<WantedFile>),
    /// Make a change. The same ID means the same request.
    Change {
        /// The ID of the request.
        id: String,
        /// The change.
        change: RemoteChange,
    },
}

/// An answer of a server.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The first answer, without a request.
    Hello(ServerFacts),
    /// The files are the same.
    Same,
    /// The files differ.
    Differs,
    /// Some files of a directory that differs.
    Files(Vec<RemoteFile>),
    /// All differing directories were listed.
    Listed {
        /// All directories.
        folders: Vec<String>,
        /// `false` if a directory cannot be read.
        is_complete: bool,
    },
    /// A file follows in pieces, from this offset.
    File {
        /// Its place in the request.
        at: u32,
        /// The offset: that of the request, or 0 if the file does not start with the known content.
        from: u64,
        /// The modification time in milliseconds since 1970.
        mtime: i64,
    },
    /// The file is complete.
    FileEnd,
    /// The file cannot be read.
    NoFile {
        /// Its place in the request.
        at: u32,
        /// The reason.
        reason: String,
    },
    /// All files were sent.
    Fetched,
    /// The result of a change.
    Changed(ChangeOutcome),
}

/// Facts about a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ServerFacts {
    /// The version of the protocol.
    pub(super) protocol: u32,
    /// The version of pitree.
    pub(super) pitree: String,
    /// The path of pitree.
    pub(super) program: String,
    /// The session directory.
    pub(super) dir: String,
    /// `true` if the session directory exists.
    pub(super) has_dir: bool,
    /// The time there in milliseconds since 1970.
    pub(super) now: i64,
    /// The running pis.
    pub(super) pis: Vec<RemotePi>,
}

/// A running pi of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemotePi {
    /// The path of the session there.
    pub session: String,
    /// The state.
    pub state: PiState,
    /// The start of the state in milliseconds since 1970.
    pub since: i64,
    /// The process ID there.
    pub pid: u32,
    /// The ID of the model.
    pub model: Option<String>,
    /// The cost in dollars.
    pub cost: f64,
}

/// A file to send, and the content that is known already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WantedFile {
    /// The path below the session directory.
    pub(super) path: String,
    /// The number of known bytes at its start.
    pub(super) known: u64,
    /// The hash of the known bytes.
    pub(super) hash: u64,
}

/// A session of a machine, with the ID that the request expects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemoteSession {
    /// The path there.
    pub(super) path: String,
    /// The ID; empty if it is not known.
    pub(super) id: String,
}

/// A change of sessions of a machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum RemoteChange {
    /// Rename sessions.
    Rename(Vec<RemoteSession>, String),
    /// Label the last message of sessions.
    LabelLast(Vec<RemoteSession>, String),
    /// Label an entry with an ID.
    Label(RemoteSession, String, String),
    /// Move sessions to the trash: the paths, lengths and modification times.
    Trash(Vec<(String, u64, i64)>),
    /// Undo the change with a number, or the last one.
    Undo(Option<u64>),
    /// Undo the changes of the request with an ID.
    UndoRequest(String),
    /// Redo the last undone change.
    Redo,
}

/// The result of a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ChangeOutcome {
    /// A summary, or the reason of a failure.
    pub summary: String,
    /// `false` if the change failed.
    pub is_made: bool,
    /// The changes as in the journal, in JSON.
    pub changes: String,
    /// Warnings.
    pub warnings: Vec<String>,
    /// The number of changes left.
    pub left: u64,
}

/// A received frame.
#[derive(Debug, PartialEq)]
pub(super) enum Frame<T> {
    /// A message.
    Message(T),
    /// Bytes of a file.
    Bytes(Vec<u8>),
}

/// Writes a message.
///
/// # Errors
/// It cannot be written, or is too long.
pub(super) fn send(out: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_allocvec(message).map_err(io::Error::other)?;
    send_frame(out, 0, &bytes)
}

/// Writes bytes of a file, at most [`PIECE`].
///
/// # Errors
/// They cannot be written.
pub(super) fn send_bytes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    send_frame(out, BYTES, bytes)
}

/// The flags of a frame: it contains bytes of a file, and it is compressed.
const BYTES: u8 = 1;
const PACKED: u8 = 2;

fn send_frame(out: &mut impl Write, flags: u8, bytes: &[u8]) -> io::Result<()> {
    if bytes.len() > MOST {
        return Err(io::Error::other("message too long"));
    }
    let packed = (bytes.len() >= WORTH_PACKING).then(|| zstd::bulk::compress(bytes, LEVEL)).transpose()?;
    let (flags, bytes) = match &packed {
        Some(packed) if packed.len() < bytes.len() => (flags | PACKED, &packed[..]),
        _ => (flags, bytes),
    };
    out.write_all(&(bytes.len() as u32).to_le_bytes())?;
    out.write_all(&[flags])?;
    out.write_all(bytes)
}

/// Reads a frame. Returns `None` at the end of the stream.
///
/// # Errors
/// The stream ends within a frame, or the frame is not valid.
pub(super) fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<Frame<T>>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut head = [0; 5];
    if !read_head(from, &mut head)? {
        return Ok(None);
    }
    let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
    if len > MOST || head[4] & !(BYTES | PACKED) != 0 {
        return Err(invalid("not a message of pitree"));
    }
    let mut bytes = Vec::new();
    from.take(len as u64).read_to_end(&mut bytes)?;
    if bytes.len() < len {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    if head[4] & PACKED != 0 {
        bytes = zstd::bulk::decompress(&bytes, MOST).map_err(|_| invalid("a message cannot be unpacked"))?;
    }
    if head[4] & BYTES != 0 {
        return Ok(Some(Frame::Bytes(bytes)));
    }
    let message = postcard::from_bytes(&bytes).map_err(|_| invalid("a message is not valid"))?;
    Ok(Some(Frame::Message(message)))
}

/// Reads the head of a frame. Returns `false` at the end of the stream.
fn read_head(from: &mut impl Read, head: &mut [u8]) -> io::Result<bool> {
    let mut done = 0;
    while done < head.len() {
        match from.read(&mut head[done..]) {
            Ok(0) if done == 0 => return Ok(false),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_received_as_sent() {
        let mut stream = Vec::new();
        let file = WantedFile { path: "a/b.jsonl".into(), known: 7, hash: 9 };
        let long = Ask::Fetch(vec![file; 100]);
        send(&mut stream, &long).unwrap();
        send_bytes(&mut stream, &[7; PIECE]).unwrap();
        send(&mut stream, &Ask::Compare(3)).unwrap();
        assert!(stream.len() < 2000, "{}", stream.len());
        let mut from = &stream[..];
        assert_eq!(receive(&mut from).unwrap(), Some(Frame::Message(long)));
        assert_eq!(receive::<Ask>(&mut from).unwrap(), Some(Frame::Bytes(vec![7; PIECE])));
        assert_eq!(receive(&mut from).unwrap(), Some(Frame::Message(Ask::Compare(3))));
        assert_eq!(receive::<Ask>(&mut from).unwrap(), None);
        for end in 1..stream.len() {
            let mut cut = &stream[..end];
            while let Ok(Some(_)) = receive::<Ask>(&mut cut) {}
        }
    }

    #[test]
    fn a_frame_cannot_take_much_memory() {
        let bomb = zstd::bulk::compress(&vec![0; MOST + 1], 3).unwrap();
        let mut packed = (bomb.len() as u32).to_le_bytes().to_vec();
        packed.push(PACKED);
        packed.extend(bomb);
        for hostile in [&packed[..], &[255, 255, 255, 255, 0], &[1, 0, 0, 0, 4, 0], &[2, 0, 0, 0, 0, 99, 99]] {
            assert!(receive::<Ask>(&mut &*hostile).is_err());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_received_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let mut from = &bytes[..];
            while let Ok(Some(_)) = receive::<Answer>(&mut from) {}
        }
    }
}
