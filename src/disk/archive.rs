//! Archived session files: compressed with zstd, and readable at any offset without unpacking.
//!
//! An archive is a sequence of zstd frames with 256 KiB of the session each, followed by two skippable frames. The first
//! holds the [`ArchiveFacts`] as JSON. The second is the seek table of zstd's seekable format, with the compressed and
//! the uncompressed length of each frame. `zstd -d` restores the session from the file alone.

use std::cell::Cell;
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;
use zstd::bulk::{Compressor, Decompressor};

use crate::base::paths::exact_json;

/// The written format version. Unknown fields of the same version are ignored.
const VERSION: u32 = 1;

/// The length in bytes of the session in each frame but the last. Longer frames save 3 %, but take longer to read in part.
const FRAME: usize = 1 << 18;

/// The compression level. Higher levels take much longer, and save little for sessions.
const LEVEL: i32 = 6;

/// The magic numbers of the skippable frames with the facts and the seek table, and at the end of the seek table.
const FACTS: u32 = 0x184D_2A50;
const TABLE: u32 = 0x184D_2A5E;
const TABLE_END: u32 = 0x8F92_EAB1;

/// The length in bytes of the header of a skippable frame, of an entry of the table, and of the end of the table.
const FRAME_HEADER: u64 = 8;
const ENTRY: u64 = 8;
const END: u64 = 9;

/// The number of bytes read from the end of the file at first. Mostly, they include the seek table and the facts.
const TAIL: u64 = 4096;

/// The maximum length in bytes of a frame and of the facts; longer frames are damaged.
const MAX_FRAME: u64 = 1 << 27;

/// Facts about an archived session besides its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ArchiveFacts {
    /// The format version.
    version: u32,
    /// The original path.
    #[serde(with = "exact_json")]
    path: PathBuf,
    /// The length of the session in bytes.
    pub(crate) bytes: u64,
    /// The hash of the session in hexadecimal digits.
    pub(crate) hash: String,
    /// The modification time of the file in nanoseconds since 1970.
    #[serde(rename = "modifiedNs")]
    modified: i128,
    /// The mode of the file, if the system has modes.
    pub(crate) mode: Option<u32>,
}

/// The format version alone. The other facts of a newer version can have another form.
#[derive(Deserialize)]
struct ArchiveVersion {
    version: u32,
}

impl ArchiveFacts {
    /// Returns the modification time of the file, or 1970 if the number is beyond the times of the system.
    pub(crate) fn modified(&self) -> SystemTime {
        let epoch = SystemTime::UNIX_EPOCH;
        let nanoseconds = self.modified.unsigned_abs();
        let seconds = u64::try_from(nanoseconds / 1_000_000_000).unwrap_or_default();
        let since = Duration::new(seconds, (nanoseconds % 1_000_000_000) as u32);
        let time = if self.modified < 0 { epoch.checked_sub(since) } else { epoch.checked_add(since) };
        time.unwrap_or(epoch)
    }
}

/// The metadata of a file that is archived.
#[derive(Debug)]
pub(crate) struct FileFacts {
    /// The path.
    pub(crate) path: PathBuf,
    /// The modification time.
    pub(crate) modified: SystemTime,
    /// The mode, if the system has modes.
    pub(crate) mode: Option<u32>,
}

/// Writes the archive of a file. Returns the length and the hash of the file.
///
/// # Errors
/// Reading, compressing or writing failed.
pub(crate) fn pack(from: &mut dyn Read, facts: FileFacts, to: &mut dyn Write) -> io::Result<(u64, u64)> {
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    let (mut plain, mut packed) = (Vec::with_capacity(FRAME), Vec::new());
    let (mut table, mut hasher, mut bytes) = (Vec::new(), XxHash3_64::new(), 0);
    loop {
        plain.clear();
        from.take(FRAME as u64).read_to_end(&mut plain)?;
        if plain.is_empty() {
            break;
        }
        hasher.write(&plain);
        bytes += plain.len() as u64;
        packed.clear();
        packed.reserve(zstd::zstd_safe::compress_bound(plain.len()));
        compressor.compress_to_buffer(&plain, &mut packed)?;
        to.write_all(&packed)?;
        table.extend([packed.len(), plain.len()].map(|len| len as u32));
    }
    let (bytes, hash) = (bytes, hasher.finish());
    let modified = match facts.modified.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i128::try_from(since.as_nanos()).unwrap_or_default(),
        Err(before) => -i128::try_from(before.duration().as_nanos()).unwrap_or_default(),
    };
    let FileFacts { path, mode, .. } = facts;
    let facts = ArchiveFacts { version: VERSION, path, bytes, hash: format!("{hash:016x}"), modified, mode };
    skippable(FACTS, &serde_json::to_vec(&facts)?, to)?;
    let frames = u32::try_from(table.len() / 2).map_err(io::Error::other)?;
    let mut end: Vec<u8> = table.into_iter().flat_map(u32::to_le_bytes).collect();
    end.extend(frames.to_le_bytes());
    end.push(0); // the table has no checksums, because the frames have them
    end.extend(TABLE_END.to_le_bytes());
    skippable(TABLE, &end, to)?;
    Ok((bytes, hash))
}

fn skippable(magic: u32, content: &[u8], to: &mut dyn Write) -> io::Result<()> {
    to.write_all(&magic.to_le_bytes())?;
    to.write_all(&u32::try_from(content.len()).map_err(io::Error::other)?.to_le_bytes())?;
    to.write_all(content)
}

/// A reader of an archived session, which unpacks one frame at a time.
pub(crate) struct ArchiveReader {
    file: File,
    /// The ends of the frames in the file and in the session.
    frames: Vec<(u64, u64)>,
    /// Facts about the session.
    pub(crate) facts: ArchiveFacts,
    /// The offset in the session.
    place: u64,
    /// The index of the unpacked frame.
    unpacked: Option<usize>,
    unpacker: Unpacker,
}

/// The buffers for a frame.
#[derive(Default)]
struct Unpacker {
    plain: Vec<u8>,
    packed: Vec<u8>,
    decompressor: Option<Decompressor<'static>>,
}

thread_local! {
    /// The buffers of the last reader of the thread. A search opens thousands of small archives.
    static IDLE: Cell<Option<Unpacker>> = const { Cell::new(None) };
}

impl Drop for ArchiveReader {
    fn drop(&mut self) {
        // During the end of the thread, they are freed.
        let _ = IDLE.try_with(|idle| idle.set(Some(std::mem::take(&mut self.unpacker))));
    }
}

impl ArchiveReader {
    /// Opens an archive with a length in bytes. Returns `None` if it is another file.
    ///
    /// # Errors
    /// The file cannot be read, is damaged, or has a newer version.
    pub(crate) fn open(mut file: File, len: u64) -> io::Result<Option<Self>> {
        let tail_start = len.saturating_sub(TAIL);
        let mut tail = vec![0; (len - tail_start) as usize];
        file.seek(SeekFrom::Start(tail_start))?;
        file.read_exact(&mut tail)?;
        let mut part = |at: u64, count: u64| match at.checked_sub(tail_start) {
            _ if count > MAX_FRAME || at + count > len => Err(damaged()),
            Some(start) => Ok(tail[start as usize..][..count as usize].to_vec()),
            None => {
                let mut bytes = vec![0; count as usize];
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(&mut bytes)?;
                Ok(bytes)
            }
        };
        let Some(end) = len.checked_sub(END) else { return Ok(None) };
        let last = part(end, END)?;
        let [frames, magic] = [&last[..4], &last[5..]].map(number);
        let table_len = u64::from(frames) * ENTRY;
        let Some(table) = end.checked_sub(table_len).filter(|_| magic == TABLE_END && last[4] == 0) else {
            return Ok(None);
        };
        let entries = part(table, table_len)?;
        let (mut at, mut place, mut ends) = (0, 0, Vec::with_capacity(frames as usize));
        for entry in entries.chunks_exact(ENTRY as usize) {
            at += u64::from(number(&entry[..4]));
            place += u64::from(number(&entry[4..]));
            ends.push((at, place));
        }
        let header = part(at, FRAME_HEADER)?;
        let [magic, facts_len] = [&header[..4], &header[4..]].map(number);
        let is_whole = at + 2 * FRAME_HEADER + u64::from(facts_len) == table;
        if magic != FACTS || !is_whole {
            return Ok(None);
        }
        let facts = part(at + FRAME_HEADER, facts_len.into())?;
        let ArchiveVersion { version } = serde_json::from_slice(&facts)?;
        if version > VERSION {
            let reason = format!("archive format {version} of a newer pitree; update pitree");
            return Err(io::Error::new(io::ErrorKind::Unsupported, reason));
        }
        let facts: ArchiveFacts = serde_json::from_slice(&facts)?;
        if facts.bytes != place {
            return Err(damaged());
        }
        let unpacker = IDLE.take().unwrap_or_default();
        Ok(Some(Self { file, frames: ends, facts, place: 0, unpacked: None, unpacker }))
    }

    /// Returns the start of a frame in the file and in the session.
    fn start(&self, frame: usize) -> (u64, u64) {
        frame.checked_sub(1).map_or((0, 0), |before| self.frames[before])
    }

    /// Unpacks a frame to a buffer of its length, or else to the own buffer.
    fn unpack(&mut self, frame: usize, to: Option<&mut [u8]>) -> io::Result<()> {
        let ((start, place), (end, after)) = (self.start(frame), self.frames[frame]);
        let (count, len) = (end - start, after - place);
        if count.max(len) > MAX_FRAME {
            return Err(damaged());
        }
        let Unpacker { plain, packed, decompressor } = &mut self.unpacker;
        packed.resize(count as usize, 0);
        self.file.seek(SeekFrom::Start(start))?;
        self.file.read_exact(packed)?;
        let decompressor = match decompressor {
            Some(decompressor) => decompressor,
            none => none.insert(Decompressor::new()?),
        };
        let unpacked = match to {
            Some(to) => decompressor.decompress_to_buffer(packed, to),
            None => {
                self.unpacked = None;
                plain.clear();
                plain.reserve(len as usize);
                decompressor.decompress_to_buffer(packed, plain)
            }
        };
        unpacked.ok().filter(|unpacked| *unpacked as u64 == len).map(drop).ok_or_else(damaged)
    }
}

impl Read for ArchiveReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let frame = self.frames.partition_point(|&(_, end)| end <= self.place);
        if frame == self.frames.len() || to.is_empty() {
            return Ok(0);
        }
        let start = self.start(frame).1;
        let len = (self.frames[frame].1 - start) as usize;
        if self.unpacked != Some(frame) {
            // Readers of whole sessions take frame by frame.
            if self.place == start && len <= to.len() {
                self.unpack(frame, Some(&mut to[..len]))?;
                self.place += len as u64;
                return Ok(len);
            }
            self.unpack(frame, None)?;
            self.unpacked = Some(frame);
        }
        let rest = &self.unpacker.plain[(self.place - start) as usize..];
        let count = rest.len().min(to.len());
        to[..count].copy_from_slice(&rest[..count]);
        self.place += count as u64;
        Ok(count)
    }
}

impl Seek for ArchiveReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(more) => self.facts.bytes.checked_add_signed(more),
            SeekFrom::Current(more) => self.place.checked_add_signed(more),
        };
        self.place = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.place)
    }
}

/// Converts four little-endian bytes.
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().copied().map_or(0, u32::from_le_bytes)
}

/// The error of an archive with wrong content.
pub(crate) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the archived session is damaged; restore the file from a backup")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn packed(bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl.zst");
        let modified = SystemTime::UNIX_EPOCH + Duration::new(1_700_000_000, 123_456_789);
        let facts = FileFacts { path: "/s.jsonl".into(), modified, mode: Some(0o640) };
        let content = pack(&mut &*bytes, facts, &mut File::create(&path).unwrap()).unwrap();
        let facts = open(&path).facts.clone();
        assert_eq!(
            (facts.bytes, u64::from_str_radix(&facts.hash, 16).ok(), facts.modified()),
            (content.0, Some(content.1), modified)
        );
        (dir, path)
    }

    fn open(path: &PathBuf) -> ArchiveReader {
        ArchiveReader::open(File::open(path).unwrap(), fs::metadata(path).unwrap().len()).unwrap().unwrap()
    }

    proptest! {
        #[test]
        fn each_part_is_that_of_the_session(
            frames in 0usize..3,
            more in -2isize..3,
            seed in any::<u64>(),
            parts in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..FRAME + 9), 1..6),
        ) {
            let len = (frames * FRAME).saturating_add_signed(more);
            // Half of it compresses well.
            let mut state = seed | 1;
            let bytes: Vec<u8> = (0..len)
                .map(|at| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    if at % 8192 < 4096 { (state >> 56) as u8 } else { b'x' }
                })
                .collect();
            let (_dir, path) = packed(&bytes);
            let mut all = Vec::new();
            let mut reader = open(&path);
            reader.read_to_end(&mut all).unwrap();
            prop_assert!(all == bytes);
            for (at, count) in parts {
                let at = at.index(len + 1);
                let mut part = Vec::new();
                reader.seek(SeekFrom::Start(at as u64)).unwrap();
                (&mut reader).take(count as u64).read_to_end(&mut part).unwrap();
                prop_assert!(part == bytes[at..len.min(at + count)]);
                prop_assert_eq!(reader.stream_position().unwrap(), (at + part.len()) as u64);
            }
        }

        #[test]
        fn any_numbers_are_read(
            modified in prop_oneof![
                any::<i128>(), any::<i64>().prop_map(i128::from), any::<u64>().prop_map(|n| i128::from(n) * 1_000_000_000),
            ],
            (bytes, version, mode) in any::<(u64, u32, u32)>(),
            sizes in proptest::collection::vec((0u32..1 << 28, any::<u32>()), 0..4),
            frames in prop_oneof![Just(None), any::<u32>().prop_map(Some)],
        ) {
            let sum = sizes.iter().map(|&(_, plain)| u64::from(plain)).sum();
            let facts = format!(
                r#"{{"version":{},"path":"/s","bytes":{},"hash":"0","modifiedNs":{modified},"mode":{mode}}}"#,
                version % 3, if version % 2 == 0 { sum } else { bytes },
            );
            let mut table: Vec<u8> = sizes.iter().flat_map(|&(packed, plain)| [packed, plain]).flat_map(u32::to_le_bytes).collect();
            table.extend(frames.unwrap_or(sizes.len() as u32).to_le_bytes());
            table.push(0);
            table.extend(TABLE_END.to_le_bytes());
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("s.jsonl.zst");
            let mut file = File::create(&path).unwrap();
            // Frames of these sizes, as far as they are small.
            file.set_len(sizes.iter().map(|&(packed, _)| u64::from(packed)).sum()).unwrap();
            file.seek(SeekFrom::End(0)).unwrap();
            skippable(FACTS, facts.as_bytes(), &mut file).unwrap();
            skippable(TABLE, &table, &mut file).unwrap();
            let len = fs::metadata(&path).unwrap().len();
            if let Ok(Some(mut reader)) = ArchiveReader::open(File::open(&path).unwrap(), len) {
                reader.facts.modified();
                let _ = reader.seek(SeekFrom::Start(bytes));
                let _ = reader.seek(SeekFrom::End(modified as i64));
                let _ = reader.read(&mut [0; 10]);
            }
            let facts: ArchiveFacts = serde_json::from_str(&facts).unwrap();
            let file = File::create(&path).unwrap();
            let _ = file.set_modified(facts.modified()); // systems refuse some times
        }

        #[test]
        fn damaged_archives_are_errors(at in any::<prop::sample::Index>(), to in any::<u8>(), cut in any::<bool>()) {
            let (_dir, path) = packed(b"a line\n".repeat(2000).as_slice());
            let before = open(&path).facts.clone();
            let mut bytes = fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] = to }
            fs::write(&path, &bytes).unwrap();
            let mut all = Vec::new();
            let opened = ArchiveReader::open(File::open(&path).unwrap(), bytes.len() as u64);
            if let Ok(Some(mut reader)) = opened
                && reader.read_to_end(&mut all).is_ok()
                && reader.facts == before
            {
                prop_assert!(all == b"a line\n".repeat(2000));
            }
        }
    }

    #[test]
    fn other_files_are_not_archives() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.jsonl.zst");
        let other = zstd::encode_all(&b"a line\n"[..], 0).unwrap();
        for bytes in [&b""[..], b"x", &[0; 100], &other] {
            fs::write(&path, bytes).unwrap();
            assert!(ArchiveReader::open(File::open(&path).unwrap(), bytes.len() as u64).unwrap().is_none());
        }
    }
}
