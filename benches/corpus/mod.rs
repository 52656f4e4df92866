//! Generates session files for benchmarks and scale tests. The same seed always gives the same files.
//!
//! They resemble real sessions: half of the bytes are tool output, 4 % are conversation, and IDs and keys are in the
//! format of pi 0.87.1.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A small random number generator (splitmix64) with the same output on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

const WORDS: [&str; 24] = [
    "auth", "session", "token", "the", "refactor", "parser", "test", "fails", "when", "cache", "query", "slow",
    "index", "branch", "merge", "config", "deploy", "error", "retry", "größe", "漢字", "fix", "module", "import",
];

pub(crate) fn words(random: &mut Random, count: usize) -> String {
    let words: Vec<&str> = (0..count).map(|_| WORDS[random.below(WORDS.len())]).collect();
    words.join(" ")
}

/// Returns source code in the form of a tool result, with an escape about every forty bytes.
fn output(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 80);
    while text.len() < bytes {
        text.push_str("    let value = \\\"");
        text.push_str(WORDS[random.below(WORDS.len())]);
        text.push_str("\\\"; // ");
        text.push_str(WORDS[random.below(WORDS.len())]);
        text.push_str("\\n");
    }
    text
}

/// Words with the frequencies of a language (Zipf's law): every text contains the most frequent word; most are rare.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// The sum of the frequencies up to each word.
    sums: Vec<f64>,
}

impl Vocabulary {
    pub(crate) fn new(count: usize) -> Self {
        const PARTS: [&str; 40] = [
            "er", "in", "con", "ti", "on", "re", "ate", "al", "de", "pro", "st", "en", "com", "ing", "lo", "ma", "tra",
            "is", "or", "per", "ent", "us", "ca", "ble", "mi", "su", "ver", "the", "ra", "na", "ph", "to", "ki", "qu",
            "zo", "wa", "by", "fu", "ex", "gr",
        ];
        let mut random = Random::new(23);
        let mut words = vec![String::from("the")];
        let mut seen = std::collections::HashSet::from([String::from("the")]);
        while words.len() < count {
            let word: String = (0..1 + random.below(4)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            if seen.insert(word.clone()) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let sums = (1..=count).map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        });
        let sums = sums.collect();
        Self { words, sums }
    }

    fn text(&self, random: &mut Random, count: usize) -> String {
        let mut text = String::from("the");
        for _ in 1..count {
            let at = random.next() as f64 / u64::MAX as f64 * self.sums[self.sums.len() - 1];
            text.push(' ');
            text.push_str(&self.words[self.sums.partition_point(|&sum| sum < at).min(self.words.len() - 1)]);
        }
        text
    }
}

/// Properties of a session file to generate.
#[derive(Clone, Copy, Default)]
pub(crate) struct Shape<'a> {
    /// Number of entries.
    pub(crate) entries: usize,
    /// Approximate size of the file in bytes.
    pub(crate) bytes: usize,
    /// Approximate number of entries between branch points; 0 for a chain.
    pub(crate) branch_every: usize,
    /// The words of messages, and how many times as many; a few fixed words if `None`.
    pub(crate) vocabulary: Option<(&'a Vocabulary, usize)>,
    /// Text after the words of the first message.
    pub(crate) ending: &'a str,
}

/// Writes one session file.
pub(crate) fn session(path: &Path, id: u64, cwd: &str, parent: Option<&Path>, shape: &Shape<'_>) -> io::Result<()> {
    let mut random = Random::new(id);
    let speech = |random: &mut Random, count| match shape.vocabulary {
        Some((vocabulary, times)) => vocabulary.text(random, count * times),
        None => words(random, count),
    };
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    // From 2026-01-01 on. Entries are the same in all files with the same ID and time.
    let start = 1_767_225_600_000 + (id % 50_000) as i64 * 400_000 + (id / 50_000) as i64;
    let time = |at: usize| {
        jiff::Timestamp::from_millisecond(start + at as i64 * 1000).map(|time| format!("{time:.3}")).unwrap_or_default()
    };
    let parent =
        parent.map_or(String::new(), |parent| format!(r#","parentSession":{:?}"#, parent.to_str().unwrap_or_default()));
    writeln!(
        out,
        r#"{{"type":"session","version":3,"id":"{}","timestamp":"{}","cwd":"{cwd}"{parent}}}"#,
        session_id(id),
        time(0)
    )?;
    let body = (shape.bytes / shape.entries.max(1)).saturating_sub(330);
    let mut leaf: Option<usize> = None;
    for at in 0..shape.entries {
        if shape.branch_every > 0 && at > 4 && random.below(shape.branch_every) == 0 {
            leaf = Some(random.below(at));
        }
        let parent = leaf.map_or("null".into(), |leaf| format!("\"{leaf:08x}\""));
        let head =
            format!(r#"{{"type":"message","id":"{at:08x}","parentId":{parent},"timestamp":"{}","message":"#, time(at));
        let ms = start + at as i64 * 1000;
        match at % 4 {
            0 => writeln!(
                out,
                r#"{head}{{"role":"user","content":[{{"type":"text","text":"{}{}"}}],"timestamp":{ms}}}}}"#,
                speech(&mut random, 12),
                if at == 0 { shape.ending } else { "" }
            )?,
            1 | 3 => {
                let say = if at % 4 == 3 { speech(&mut random, 30) } else { String::new() };
                let call = if at % 4 == 1 {
                    format!(
                        r#",{{"type":"toolCall","id":"call_{at}","name":"read","arguments":{{"path":"src/{}.rs","offset":1,"limit":200}}}}"#,
                        WORDS[random.below(20)]
                    )
                } else {
                    String::new()
                };
                let thinking = output(&mut random, body);
                writeln!(
                    out,
                    r#"{head}{{"role":"assistant","content":[{{"type":"thinking","thinking":"{thinking}"}},{{"type":"text","text":"{say}"}}{call}],"api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","usage":{{"input":12,"output":345,"cacheRead":20480,"cacheWrite":512,"totalTokens":21349,"cost":{{"input":0.000036,"output":0.005175,"cacheRead":0.006144,"cacheWrite":0.00192,"total":0.013275}}}},"stopReason":"{}","timestamp":{ms}}}}}"#,
                    if at % 4 == 1 { "toolUse" } else { "stop" }
                )?;
            }
            _ => writeln!(
                out,
                r#"{head}{{"role":"toolResult","toolCallId":"call_{}","toolName":"read","content":[{{"type":"text","text":"{}"}}],"isError":false,"timestamp":{ms}}}}}"#,
                at - 1,
                output(&mut random, body * 2)
            )?,
        }
        leaf = Some(at);
    }
    let last = start + shape.entries as i64 * 1000;
    let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(last.unsigned_abs());
    out.into_inner().map_err(io::IntoInnerError::into_error)?.set_modified(time)
}

/// Returns the ID of a session, which is in the name of its file as in those of pi.
pub(crate) fn session_id(number: u64) -> String {
    format!("{number:08x}-0000-7000-8000-000000000000")
}

/// Fills a directory with `sessions` files of `bytes` bytes in total, in 37 projects; ten percent are forks.
pub(crate) fn fill(dir: &Path, sessions: usize, bytes: usize) -> io::Result<()> {
    let mut random = Random::new(7);
    let mut last: Option<PathBuf> = None;
    for at in 0..sessions {
        let project = format!("project-{:02}", random.below(37));
        let folder = dir.join(format!("--home-dev-{project}--"));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("2026-01-01T00-00-00-000Z_{}.jsonl", session_id(at as u64)));
        let share = bytes / sessions;
        let size = share / 4 + random.below(share * 3 / 2);
        let shape = Shape { entries: (size / 2650).max(2), bytes: size, branch_every: 40, ..Shape::default() };
        let parent = last.as_deref().filter(|_| at % 10 == 9);
        session(&path, at as u64, &format!("/home/dev/{project}"), parent, &shape)?;
        last = Some(path);
    }
    Ok(())
}

/// The number of sessions with the words `zebraquartz`, and with `alphaquartz betaquartz`: see [`speech`].
pub(crate) const MARKED: (usize, usize) = (20, 1000);

/// Fills a directory with sessions in the words of a language; ten percent are forks. In small sessions, half of the
/// text is conversation, in large ones a tenth.
pub(crate) fn speech(dir: &Path, sessions: usize, bytes: usize, projects: usize) -> io::Result<()> {
    let (mut random, vocabulary) = (Random::new(7), Vocabulary::new(30_000));
    let mut last: Option<PathBuf> = None;
    for at in 0..sessions {
        let project = format!("project-{:03}", random.below(projects));
        let folder = dir.join(format!("--home-dev-{project}--"));
        fs::create_dir_all(&folder)?;
        let path = folder.join(format!("2026-01-01T00-00-00-000Z_{}.jsonl", session_id(at as u64)));
        let share = bytes / sessions;
        let size = share / 4 + random.below(share * 3 / 2);
        let is_marked = |count: usize, offset| at % (sessions / count.min(sessions)) == offset;
        let rare = if is_marked(MARKED.0, 0) { " zebraquartz" } else { "" };
        let ending = if is_marked(MARKED.1, 1) { " alphaquartz betaquartz" } else { rare };
        let entries = (size / 2650).max(4);
        let times = if share < 10_000 { 6 } else { 3 };
        let shape = Shape { entries, bytes: size, branch_every: 40, vocabulary: Some((&vocabulary, times)), ending };
        let parent = last.as_deref().filter(|_| at % 10 == 9);
        session(&path, at as u64, &format!("/home/dev/{project}"), parent, &shape)?;
        last = Some(path);
    }
    Ok(())
}

/// Adds a family to a directory: a session of 60 entries, and forks of it and of each other, each with eight entries of
/// its own. The root of the family is the most recent session.
pub(crate) fn family(dir: &Path, members: usize) -> io::Result<()> {
    let folder = dir.join("--home-dev-family--");
    fs::create_dir_all(&folder)?;
    let mut random = Random::new(11);
    let path = |member: usize| folder.join(format!("2026-06-01T00-00-00-000Z_{member:08x}-family.jsonl"));
    let mut files: Vec<Vec<String>> = Vec::new();
    for member in 0..members {
        let shape = Shape { entries: if member == 0 { 60 } else { 8 }, bytes: 2650 * 60, ..Shape::default() };
        let parent = (member > 0).then(|| random.below(member));
        let parent_path = parent.map(path);
        session(&path(member), (1_000_000 + member) as u64, "/home/dev/family", parent_path.as_deref(), &shape)?;
        let made = fs::read_to_string(path(member))?;
        let mut lines = made.lines().map(String::from);
        let mut file: Vec<String> = lines.next().into_iter().collect();
        let mut leaf = String::from("null");
        if let Some(parent) = parent {
            let kept = 10 + random.below(files[parent].len() - 10);
            file.extend_from_slice(&files[parent][1..kept]);
            leaf = file.last().map_or(leaf, |line| format!("\"{}\"", id_of(line)));
        }
        for (at, line) in lines.enumerate() {
            let id = format!("{member:04x}{at:04x}");
            let old = id_of(&line).to_string();
            let above = line.find("\"parentId\":").map_or(0, |at| at + 11);
            let end = above + line[above..].find(',').unwrap_or_default();
            let line = format!("{}{leaf}{}", &line[..above], &line[end..]).replacen(&old, &id, 1);
            leaf = format!("\"{id}\"");
            file.push(line);
        }
        fs::write(path(member), file.join("\n") + "\n")?;
        files.push(file);
    }
    Ok(())
}

/// Returns the ID of an entry from a line of [`session`].
fn id_of(line: &str) -> &str {
    let start = line.find("\"id\":\"").map_or(0, |at| at + 6);
    &line[start..start + 8]
}
