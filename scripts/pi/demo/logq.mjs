// A Rust command line tool: a parser bug, a search for speed with a compaction, a release.
import { barChart } from "../lib/png.mjs";

const cwd = "/home/demo/code/logq";

const LEXER = `fn string(&mut self) -> Result<Token, Error> {
    let start = self.pos;
    while let Some(c) = self.peek() {
        match c {
            '"' => break,
            '\\\\' => self.pos += 1,
            _ => {}
        }
        self.pos += 1;
    }
    let text = &self.input[start..self.pos];
    self.pos += 1;
    Ok(Token::String(text.to_owned()))
}
`;

function parser(s) {
	s.switchModel("claude-sonnet-4-5");
	s.user("`logq 'msg = \"say \\\"hi\\\"\"'` panics: byte index 17 is out of bounds. Reproduce, fix, test.");
	s.tools([["bash", { command: "cargo run -q -- 'msg = \"say \\\"hi\\\"' < tests/data/small.log" }, "thread 'main' panicked at src/query/lexer.rs:61:35:\nbyte index 17 is out of bounds of `msg = \"say \\\"hi\\\"`\n\nCommand exited with code 101", undefined, true], ["read", { path: "/home/demo/code/logq/src/query/lexer.rs", offset: 50, limit: 15 }, LEXER]], { think: "The user's shell example lacks the last quote after escaping; the lexer steps over the escaped character without checking that there is one." });
	const cause = s.say("Two bugs in one function:\n\n1. A backslash skips a character **without looking** whether there is one. At the end of the input `pos` runs past it.\n2. A string that never ends is accepted as if the quote were there.\n\nAnd a third one that nobody has met yet: `pos += 1` steps one *byte*, so `\\é` lands inside a character.");
	s.label(cause, "cause");
	const choose = s.user("Fix all three");
	s.edit("/home/demo/code/logq/src/query/lexer.rs", LEXER, [
		["    let start = self.pos;\n    while let Some(c) = self.peek() {\n        match c {\n            '\"' => break,\n            '\\\\' => self.pos += 1,\n            _ => {}\n        }\n        self.pos += 1;\n    }\n    let text = &self.input[start..self.pos];\n    self.pos += 1;\n    Ok(Token::String(text.to_owned()))\n", "    let start = self.pos;\n    let mut text = String::new();\n    while let Some(c) = self.next() {\n        match c {\n            '\"' => return Ok(Token::String(text)),\n            '\\\\' => text.push(self.next().ok_or(Error::Unterminated(start))?),\n            c => text.push(c),\n        }\n    }\n    Err(Error::Unterminated(start))\n"],
	]);
	s.bash("cargo test -q lexer", "running 14 tests\n..............\ntest result: ok. 14 passed; 0 failed; 0 ignored");
	const ok = s.say("Fixed. An open string is now an error that points at its first quote:\n\n```console\n$ logq 'msg = \"say'\nerror: this string never ends\n  msg = \"say\n        ^\n```");
	s.label(ok, "fixed");
	s.user("Can you fuzz it a bit?");
	s.bash("cargo fuzz run lexer -- -max_total_time=120 2>&1 | tail -3", "#4821733 DONE   cov: 412 ft: 1190 corp: 87/1934b exec/s: 39848 rss: 412Mb\nDone 4821733 runs in 121 second(s)");
	s.say("4.8 million inputs in two minutes, no panic.");
	s.back(choose);
	s.user("Or throw the lexer away and use winnow?");
	s.say("Possible, some 120 lines instead of 310. But your error messages point at exact columns, and you would have to rebuild that with `cut_err` and contexts. For a grammar of nine tokens I'd keep the hand-written one.");
	s.name("Lexer panics on escaped quotes");
	return { ok };
}

function speed(s) {
	s.switchModel("claude-opus-4-5");
	s.thinking("high");
	s.user("logq reads 1.2 GB in 9 s, ripgrep counts lines in it in 0.3 s. Where does the time go? Flame graph attached.", barChart([0.2, 0.9, 0.8, 0.3, 0.15, 0.1, 0.1, 0.05], [90, 160, 220]));
	s.bash("perf report --stdio --percent-limit 4 | head -8", "  41.20%  logq  serde_json::read::SliceRead::parse_str\n  22.91%  logq  alloc::raw_vec::RawVec::reserve\n  11.37%  logq  logq::time::parse_rfc3339\n   6.02%  logq  core::str::validations");
	s.say("The picture and `perf` agree:\n\n| share | where | why |\n|---:|---|---|\n| 41 % | parsing JSON strings | **every** field is parsed, most are never asked for |\n| 23 % | growing buffers | a `String` a field |\n| 11 % | time stamps | parsed to compare, though RFC 3339 in UTC compares as text |\n\nSo the answer is not a faster parser but **less parsing**.", { think: "The big win: find the candidate lines with memmem for the literal in the query before any JSON is parsed." });
	const plan = s.user("Go. Smallest step first.");
	const first = s.bash("hyperfine -w1 'target/release/logq level=error big.log'", "  Time (mean ± σ):      5.871 s ±  0.044 s", { say: "Step 1: borrow the fields (`&RawValue`) instead of owning them." });
	s.label(first, "5.9 s");
	s.say("9.0 → 5.9 s. Step 2: time stamps compare as bytes when both end in `Z`.");
	s.bash("hyperfine -w1 'target/release/logq level=error big.log'", "  Time (mean ± σ):      5.102 s ±  0.031 s");
	s.compact("## Goal\nMake logq fast on big files (1.2 GB: 9.0 s at the start).\n\n## Done\n1. fields borrowed: 5.9 s\n2. time stamps compared as bytes: 5.1 s\n\n## Next\n3. look for the query's literals in the raw line before parsing it", plan, 91544);
	s.user("and now step 3");
	const WORKER = "for line in chunk.split(|b| *b == b'\\n') {\n    let record = Record::parse(line)?;\n    if query.matches(&record) {\n        out.push(line);\n    }\n}\n";
	s.edit("src/scan.rs", WORKER, [["    let record = Record::parse(line)?;\n", "    if !literals.iter().all(|l| l.find(line).is_some()) {\n        continue; // cannot match, whatever it says\n    }\n    let record = Record::parse(line)?;\n"]]);
	s.bashFails("cargo test -q", "test scan::escaped ... FAILED\nassertion failed: a line with \"\\u0065rror\" is missing", 101);
	s.say("A good test you had there: JSON may **spell** `error` as `\\u0065rror`. A line with a backslash in it has to be parsed in any case.");
	s.edit("src/scan.rs", WORKER.replace("    let record", "    if !literals.iter().all(|l| l.find(line).is_some()) {\n        continue; // cannot match, whatever it says\n    }\n    let record"), [["    if !literals.iter().all(|l| l.find(line).is_some()) {", "    if memchr(b'\\\\', line).is_none() && !literals.iter().all(|l| l.find(line).is_some()) {"]]);
	const best = s.bash("cargo test -q 2>&1 | tail -1 && hyperfine -w1 'target/release/logq level=error big.log'", "test result: ok. 131 passed; 0 failed\n  Time (mean ± σ):     612.4 ms ±   8.1 ms");
	s.label(best, "0.61 s 🚀");
	s.say("**0.61 s**, 15 times faster than this morning, and right. The rest is reading the file; two threads would bring it to about 0.35 s.");
	s.back(best);
	s.user("try mmap instead of read()");
	s.bash("hyperfine -w1 -L io read,mmap 'target/release/logq --io {io} level=error big.log'", "  read ran\n    1.09 ± 0.02 times faster than mmap");
	s.say("`mmap` is 9 % *slower* here: the page faults cost more than the copy. Keep `read()`.");
	s.name("Speed: 9 s → 0.6 s");
}

function release(s) {
	s.user("Write the release notes for 0.8.0 from the commits since v0.7.2. Users read them, so no internals.");
	s.bash("git log --format=%s v0.7.2..", "Skip lines that cannot match before parsing\nCompare time stamps as bytes\nLexer: an open string is an error\nLexer: escapes may be any character\n--since takes '2h' and 'yesterday'\nDeps\nClippy");
	s.say("## logq 0.8.0\n\n**Up to 15 times faster.** A query for a rare word in 1.2 GB of logs takes 0.6 s instead of 9 s.\n\n### New\n- `--since` takes `2h`, `30m`, `yesterday`\n\n### Fixed\n- `\\\"` in a string no longer ends in a panic\n- a string that is never closed is reported, with its place\n\n> Thanks to everyone who sent slow logs!");
	s.user("perfect, ship it");
	s.bash("git tag -s v0.8.0 -m 'logq 0.8.0' && git push --follow-tags", "To github.com:demo/logq.git\n * [new tag]         v0.8.0 -> v0.8.0");
	s.say("Tagged and pushed. 📦");
}

export default [
	{ key: "parser", cwd, at: "2026-10-19T18:30:02.114Z", tell: parser },
	{ key: "speed", cwd, at: "2026-11-08T07:55:26.530Z", tell: speed, model: "claude-opus-4-5" },
	{ key: "release", cwd, at: "2026-11-09T16:04:44.901Z", tell: release },
];
