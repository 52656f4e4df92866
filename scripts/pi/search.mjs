// Runs the search of pi's session picker on the fixtures, and writes fixtures/golden/search.json: for each query the files
// with literal matches, and those with fuzzy matches too.
// Sessions without a string ID in the header are skipped: the picker throws on them.
import { readdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { module, out, pi } from "./lib/pi.mjs";

const QUERIES = [
	// Words
	"", "hello", "HELLO hi", "leaf", "the leaf", "hello the leaf", "jwt redis", "message 239", "nothing-like-this", "é", "É", "héllo", "ä", "ümläuten", "ÜMLÄUTEN",
	"日本語", "한국어", "名前", "🦀", "👩‍🍳", "👍", "עברית", "العربية", "ﬁ", "ｆｕｌｌｗｉｄｔｈ", "fullwidth", "a\u200bb", "\u00a0", "c\u3000d", "hello\u00a0hi", "hello\thi\n",
	"/home/dev/old", "DEV/OLD", "c:\\users", "0195a001", "my.session_1-x", "in the readme?", "**app**", "an.", "ans", "second second", "prototype", "constructor",
	"escaped", "new name", "named", "fork-ring", "rmt", "odd", "dev app", "flat-two two", "\u0130",
	// Phrases
	'"hello hi"', '"hello  \t hi"', '"HELLO HI"', '"it. it says: - **app**"', '"says: - **App** - An"', '"two lines and spaces"', '"lines and"', '"blocks and two"', '"hi the"',
	'"é ä"', '"名前 🦀"', '"d ä"', '"b c d"', '""', '" "', '"leaf" hello', 'x"hello hi"', 'hello"the leaf"', '"home/dev/app"', '"new name" hello', '"one two" three', '"one\ntwo"',
	// Unclosed quotes
	'"hello hi', 'hello "hi', '"', 'hello"', '"hello hi" "the', '\\"x\\"', '"type":"label"', 'say "type', '"a" "b" "c',
	// Patterns
	"re:leaf$", "re:^hello hi$", "re:", "re: hello  hi", "re:(", "re:[", "re:a{2,1}", "re:\\bparent'?s\\b", "re:^(?!hello).*leaf", "re:(?<=fork )here", "re:(\\w+) \\1$", "re:\\u00e9|\\xE4",
	"re:[A-Z]{3} with", "re:says:\\s+-", "re:says:.+-", "re:^$", "re:\\d{4}-\\d{4}-7000", "re:C:\\\\Users", "re:[\\u4e00-\\u9fff]{2}", "re:\\bd\\b", "re:^(first|third)", "re:hello|jwt",
	"re:\\.{1,2}$", "re:^.*session_\\d", "re:[^\\x00-\\x7f]", "re:one\\r?\\ntwo", "re:\"id\\\\\"", "re:[]", "re:a[^]b", "re:(?<w>hi) \\k<w>", "re:\\w+\\W+\\w+\\?", "  re:Hello  ",
	"re:(?i)x", "re:a++", "re:\\p{L}", "re:^\\s", "re:\\s$", "re:É|Ä",
];

const { SessionManager } = pi;
const { parseSearchQuery, matchSession } = await module("dist/modes/interactive/components/session-selector-search.js");

const fixtures = join(out, "fixtures");
const folders = [...readdirSync(join(fixtures, "sessions")).map((name) => join("sessions", name)), "flat", "subagents"];
const sessions = [];
for (const folder of folders) {
	const found = await SessionManager.listAll(join(fixtures, folder));
	sessions.push(...found.filter((session) => typeof session.id === "string"));
}

/** The picker ranks a fuzzy match of a word one million lower. */
const isLiteral = (score) => score < 1_500_000;
const paths = (found) => found.map((session) => relative(fixtures, session.path)).sort();
const golden = QUERIES.map((query) => {
	const parsed = parseSearchQuery(query);
	const parts = parsed.mode === "tokens" ? parsed.tokens.map((token) => ({ ...parsed, tokens: [token] })) : [parsed];
	const isFound = (session, isGood) => {
		const results = parts.map((part) => matchSession(session, part));
		return results.every(({ matches, score }) => matches && isGood(score));
	};
	const literal = paths(sessions.filter((session) => isFound(session, isLiteral)));
	const scattered = paths(sessions.filter((session) => isFound(session, () => true))).filter((path) => !literal.includes(path));
	return { query, error: parsed.error ?? null, literal, scattered };
});
writeFileSync(join(fixtures, "golden/search.json"), `${JSON.stringify(golden, null, "\t")}\n`);
console.log(`fixtures/golden/search.json: ${golden.length} queries on ${sessions.length} sessions`);
