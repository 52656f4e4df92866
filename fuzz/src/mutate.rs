//! Deterministic mutations: flips bits; removes, duplicates and moves pieces; inserts words. The same number always
//! gives the same bytes.

/// Usual maximum size in bytes; occasional inputs have up to [`LONG`] bytes.
const USUAL: usize = 24 * 1024;
/// Size in bytes of inputs that test the limits of time and memory.
const LONG: usize = 256 * 1024;

/// A random number generator (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns any number.
    pub fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `most`, or 0 if `most` is 0.
    pub fn below(&mut self, most: usize) -> usize {
        if most == 0 { 0 } else { (self.any() % most as u64) as usize }
    }
}

/// Returns a mutation of some of the seeds.
pub fn mutated(random: &mut Random, seeds: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = seeds.get(random.below(seeds.len())).cloned().unwrap_or_default();
    let is_long = random.below(200) == 0;
    let most = if is_long { LONG } else { USUAL };
    if bytes.len() > most {
        // Part of a long session with its first line: without a header it would not be a session.
        let first = bytes.iter().position(|&byte| byte == b'\n').map_or(0, |at| at + 1).min(most / 2);
        let from = first + random.below(bytes.len() - most);
        bytes.drain(first..from);
        bytes.truncate(most);
    }
    // Sometimes unmodified.
    for _ in 0..random.below(9) {
        step(&mut bytes, random, seeds, words);
    }
    while is_long && !bytes.is_empty() && bytes.len() < LONG {
        let piece = piece(&bytes, random);
        let times = 1 + random.below(LONG / piece.len().max(1));
        bytes.extend(bytes[piece].repeat(times));
    }
    bytes.truncate(most);
    bytes
}

/// Returns a range of the bytes: an arbitrary one, or whole lines.
fn piece(bytes: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let longest = if random.below(4) == 0 { bytes.len() } else { 64 };
    let start = random.below(bytes.len() + 1);
    let end = (start + random.below(longest + 1)).min(bytes.len());
    if random.below(3) > 0 {
        return start..end;
    }
    let start = bytes[..start].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let end = bytes[end..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| end + at + 1);
    start..end
}

fn step(bytes: &mut Vec<u8>, random: &mut Random, seeds: &[Vec<u8>], words: &[&str]) {
    let at = random.below(bytes.len() + 1);
    let put = |bytes: &mut Vec<u8>, at: usize, what: &[u8]| drop(bytes.splice(at..at, what.iter().copied()));
    match random.below(12) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        1 => put(bytes, at, &[random.any() as u8]),
        2..5 => {
            let word = words.get(random.below(words.len())).copied().unwrap_or_default();
            let over = if random.below(2) == 0 { at } else { piece(&bytes[at..], random).end + at };
            bytes.splice(at..over.min(bytes.len()), word.bytes());
        }
        5 => {
            let other = seeds.get(random.below(seeds.len())).map_or(&[][..], |seed| seed);
            put(bytes, at, &other[piece(other, random)]);
        }
        6 => drop(bytes.drain(piece(bytes, random))),
        7 => {
            let copy = bytes[piece(bytes, random)].to_vec();
            let times = if random.below(8) == 0 { 100 } else { 1 };
            put(bytes, at, &copy[..copy.len().min(USUAL / times)].repeat(times));
        }
        8 => bytes.truncate(at.max(bytes.len() / 2)),
        9 => {
            // Replaces a number with another one.
            let digits: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at].is_ascii_digit()).take(5000).collect();
            if let Some(&at) = digits.get(random.below(digits.len())) {
                bytes[at] = b'0' + random.below(10) as u8;
            }
        }
        10 => {
            // Replaces the parent, target or ID of an entry with that of another entry.
            let ids = ids(bytes);
            if let [Some(from), Some(to)] = [0; 2].map(|_| ids.get(random.below(ids.len())).cloned()) {
                let id = bytes[from].to_vec();
                bytes.splice(to, id);
            }
        }
        _ => {
            let taken = piece(bytes, random);
            let copy: Vec<u8> = bytes.drain(taken).collect();
            let at = random.below(bytes.len() + 1);
            put(bytes, at, &copy);
        }
    }
}

/// Returns the positions of IDs.
fn ids(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut found = Vec::new();
    for (at, window) in bytes.windows(4).enumerate().take(100_000) {
        if window == b"d\":\"" {
            let end = bytes[at + 4..].iter().position(|&byte| byte == b'"').unwrap_or(0);
            found.push(at + 4..at + 4 + end);
        }
    }
    found
}

/// Typical strings in session files.
pub const SESSION: &[&str] = &[
    "\n",
    "\r\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1e999",
    "1e-999",
    "0.1",
    "9007199254740993",
    "\\ud83d",
    "\\ude00",
    "\\u0000",
    "\\u001b[31m",
    "\u{202e}",
    "\u{feff}",
    "漢",
    "👩‍👩‍👧",
    "e\u{301}",
    "{\"type\":\"session\",\"id\":\"x\"}\n",
    "{\"type\":\"session\",\"version\":2,\"id\":\"x\"}\n",
    "\"version\":1,",
    "\"version\":3,",
    "\"type\":\"message\",",
    "\"type\":\"label\",",
    "\"type\":\"compaction\",",
    "\"type\":\"branch_summary\",",
    "\"type\":\"custom_message\",",
    "\"type\":\"custom\",",
    "\"type\":\"session_info\",",
    "\"type\":\"model_change\",",
    "\"type\":\"thinking_level_change\",",
    "\"type\":\"usage\",",
    "\"type\":\"context_edit\",",
    "\"id\":\"u1\",",
    "\"id\":null,",
    "\"id\":7,",
    "\"parentId\":null,",
    "\"parentId\":\"u1\",",
    "\"targetId\":\"u1\",",
    "\"label\":\"x\",",
    "\"name\":\"x\",",
    "\"role\":\"user\",",
    "\"role\":\"assistant\",",
    "\"role\":\"toolResult\",",
    "\"role\":\"bashExecution\",",
    "\"role\":\"hookMessage\",",
    "\"content\":\"x\",",
    "\"content\":[],",
    "\"content\":null,",
    "{\"type\":\"text\",\"text\":\"x\"}",
    "{\"type\":\"thinking\",\"thinking\":\"x\"}",
    "\"toolCallId\":\"call-1\",",
    "{\"type\":\"toolCall\",\"id\":\"call-1\",\"name\":\"edit\",\"arguments\":{\"path\":\"a\",\"oldText\":\"b\",\"newText\":\"c\"}}",
    "\"firstKeptEntryId\":\"u1\",",
    "\"firstKeptEntryIndex\":1,",
    "\"tokensBefore\":1e400,",
    "\"replacement\":null,",
    "\"usage\":{\"input\":1,\"output\":2,\"cost\":{\"total\":0.1}},",
    "\"timestamp\":\"2026-01-05T09:00:00.000Z\",",
    "\"timestamp\":-1e18,",
    "\"timestamp\":1767603600000,",
    "\"isError\":true,",
    "\"stopReason\":\"aborted\",",
    "\"parentSession\":\"/x.jsonl\",",
    "\"cwd\":\"/x\",",
    "\"__proto__\":{},",
    "\"details\":{\"diff\":\"-a\\n+b\"},",
];

/// Typical strings in messages.
pub const DOCUMENT: &[&str] = &[
    "\n",
    "\n\n",
    "    ",
    "\t",
    "# ",
    "###### ",
    "> ",
    "- ",
    "1. ",
    "999999999. ",
    "* * *",
    "```",
    "```rust\n",
    "~~~",
    "`",
    "**",
    "__",
    "~~",
    "[a](b)",
    "![a](b)",
    "<b>",
    "<!--",
    "-->",
    "&amp;",
    "&#27;",
    "&#x202e;",
    "| a | b |\n",
    "|---|:-:|\n",
    "|",
    "\\",
    "- [x] ",
    "[^1]",
    "[^1]: x",
    "<https://x>",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{200b}",
    "漢字",
    "👩‍👩‍👧",
    "e\u{301}\u{301}",
    "\r",
    "\u{2028}",
    "\u{0}",
    "fn main() {\n",
    "/* ",
    "\"\"\"",
    "$(",
    "<script>",
    "@@ -1 +1 @@\n",
    "+a\n",
    "-a\n",
    "\\n",
    "\\u001b",
    "\"",
    "}",
    "{\"type\":\"text\",\"text\":\"x\"}",
];

/// Typical strings in queries.
pub const QUERY: &[&str] = &[
    " ",
    "\"",
    "-",
    ":",
    "re:",
    "re:/",
    "[a-z]+",
    "(a|b)*",
    "(((",
    "\\b",
    "{1000}",
    ".*.*.*",
    "(?i)",
    "$",
    "^",
    "file:",
    "edited:",
    "label:",
    "tool:",
    "model:",
    "in:",
    "in:~",
    "is:named",
    "is:live",
    "is:fork",
    "after:",
    "before:",
    "2026-01-05",
    "yesterday",
    "3d",
    "99999999999w",
    "cost:>",
    "cost:0.1",
    "size:<1mb",
    "entries:>=",
    "18446744073709551616",
    "all:",
    "*",
    "**/",
    "?",
    "[",
    "é",
    "ſ",
    "İ",
    "漢",
    "👩‍👩‍👧",
    "\u{1b}",
    "\u{202e}",
    "\u{0}",
    "~/",
    "/",
    "\\",
];

/// Typical strings in config.toml.
pub const CONFIG: &[&str] = &[
    "\n",
    "=",
    "[keys]\n",
    "[queries]\n",
    "[queries.x]\n",
    "[[queries]]\n",
    "[",
    "]",
    "\"",
    "'",
    "'''",
    "\"\"\"",
    "#",
    ",",
    "{",
    "}",
    "theme = ",
    "\"dark\"",
    "true",
    "1",
    "-1",
    "1e400",
    "9999999999999999999",
    "pi = [\"pi\"]\n",
    "trash = []\n",
    "dirs = [\"~\"]\n",
    "up = [\"k\"]\n",
    "quit = []\n",
    "\"ctrl+x\"",
    "\"ctrl+alt+shift+f12\"",
    "\"漢\"",
    "\"\\u001b\"",
    "\"shift+\"",
    "query = \"is:named\"\n",
    "key = \"ctrl+x\"\n",
    "1979-05-27",
    "\u{1b}",
    "\u{202e}",
    "\u{feff}",
    ".",
];
