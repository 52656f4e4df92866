// Writes fixtures/: small session files that each cover one behavior, and fixtures/README.md with one line per file.
// Runs without pi. The files, valid and damaged, are like those that pi and other programs write; golden.mjs records how pi reads them.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { out } from "./lib/pi.mjs";
import { scenes } from "./lib/scenes.mjs";

const root = join(out, "fixtures");
const made = [];
const TALKS = "--home-dev-talk--"; // conversations.mjs writes them
const ROOT = "/fixtures-root"; // placeholder for the folder that contains sessions/ and flat/

// Building blocks

const START = Date.parse("2026-01-05T09:00:00.000Z");
const ms = (n) => START + n * 1000;
const iso = (n) => new Date(ms(n)).toISOString();
const usage = (total = 1200, cost = 0.0125) => ({
	input: total - 200,
	output: 200,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: total,
	cost: { input: cost - 0.005, output: 0.005, cacheRead: 0, cacheWrite: 0, total: cost },
});
const header = (id, more = {}) => ({ type: "session", version: 3, id, timestamp: iso(0), cwd: "/home/dev/app", ...more });
const entry = (type, id, parentId, n, fields) => ({ type, id, parentId, timestamp: iso(n), ...fields });
const message = (id, parentId, n, msg) => entry("message", id, parentId, n, { message: { ...msg, timestamp: ms(n) } });
const user = (id, parentId, n, content) => message(id, parentId, n, { role: "user", content });
const blocks = (content) => (typeof content === "string" ? [{ type: "text", text: content }] : content);
const assistant = (id, parentId, n, content, more = {}) =>
	message(id, parentId, n, {
		role: "assistant",
		content: blocks(content),
		api: "anthropic-messages",
		provider: "anthropic",
		model: "claude-sonnet-4-5",
		usage: usage(),
		stopReason: "stop",
		...more,
	});
const call = (id, name, args) => ({ type: "toolCall", id, name, arguments: args });
const result = (id, parentId, n, toolCallId, toolName, text, more = {}) =>
	message(id, parentId, n, { role: "toolResult", toolCallId, toolName, content: blocks(text), isError: false, ...more });
const label = (id, parentId, n, targetId, text) => entry("label", id, parentId, n, { targetId, ...(text === undefined ? {} : { label: text }) });
const name = (id, parentId, n, text) => entry("session_info", id, parentId, n, { name: text });
const json = (value) => JSON.stringify(value);
/** Lines are values (written as JSON) or strings (written unchanged). */
const lines = (list) => list.map((line) => `${typeof line === "string" ? line : json(line)}\n`).join("");

let folder;
function file(path, what, content) {
	const full = join(root, folder, path);
	mkdirSync(dirname(full), { recursive: true });
	writeFileSync(full, Array.isArray(content) ? lines(content) : content);
	made.push([folder, path, what]);
}

const sessions = join(root, "sessions");
mkdirSync(sessions, { recursive: true });
for (const part of readdirSync(sessions)) if (part !== TALKS) rmSync(join(sessions, part), { recursive: true });
rmSync(join(root, "flat"), { recursive: true, force: true });
rmSync(join(root, "subagents"), { recursive: true, force: true });

// ── Valid files of the current version ──────────────────────────────────────────────────────────────────────────────────
folder = "sessions/--home-dev-app--";

file("plain.jsonl", "one straight conversation, version 3: prompt, tool call, result, answer", [
	header("0195a001-0000-7000-8000-000000000001"),
	entry("model_change", "00000001", null, 1, { provider: "anthropic", modelId: "claude-sonnet-4-5" }),
	entry("thinking_level_change", "00000002", "00000001", 2, { thinkingLevel: "medium" }),
	user("00000003", "00000002", 10, "What is in the readme?"),
	assistant("00000004", "00000003", 14, [{ type: "thinking", thinking: "Read it first." }, { type: "text", text: "I'll read it." }, call("toolu_1", "read", { path: "/home/dev/app/README.md" })], { stopReason: "toolUse" }),
	result("00000005", "00000004", 15, "toolu_1", "read", "# App\n\nAn app."),
	assistant("00000006", "00000005", 19, "It says:\n\n- **App**\n- An app."),
	user("00000007", "00000006", 60, "Thanks"),
	assistant("00000008", "00000007", 63, "You are welcome."),
]);

file("branches.jsonl", "nested branches; a label, a cleared label, a label on a label entry; the leaf is on the second branch", [
	header("branches"),
	user("u1", null, 1, "Refactor the auth module"),
	assistant("a1", "u1", 2, "JWT or server sessions?"),
	user("u2", "a1", 3, "JWT"),
	assistant("a2", "u2", 4, "Done with JWT"),
	label("l1", "a2", 5, "a2", "jwt-works"),
	user("u3", "l1", 6, "Add refresh tokens"),
	assistant("a3", "u3", 7, "Refresh tokens are in"),
	user("u4", "a2", 20, "Rotate the keys instead"),
	assistant("a4", "u4", 21, "Keys rotate"),
	label("l2", "a4", 22, "u3", "soon gone"),
	label("l3", "l2", 23, "l1", "on a label"),
	user("u5", "a4", 24, "Rotate daily"),
	assistant("a5", "u5", 25, "Daily"),
	user("u6", "a1", 40, "Server sessions"),
	label("l4", "u6", 41, "u3"),
	assistant("a6", "l4", 42, "Done with server sessions"),
	user("u7", "a6", 43, "And Redis?"),
	assistant("a7", "u7", 44, "Possible"),
	user("u8", "a6", 50, "And Postgres?"),
	assistant("a8", "u8", 51, "Better"),
]);

file("label-again.jsonl", "a label set, set again, cleared with an empty text, set for the last time: the last one in the file wins", [
	header("label-again"),
	user("u1", null, 1, "One"),
	assistant("a1", "u1", 2, "Two"),
	label("l1", "a1", 3, "u1", "first"),
	label("l2", "l1", 4, "u1", "second"),
	label("l3", "l2", 5, "a1", "gone"),
	label("l4", "l3", 6, "a1", ""),
	label("l5", "l4", 7, "u1", "third"),
]);
file("label-chain.jsonl", "labels in the middle of the path: entries have them as parents, compactions name them as the first kept entry (the last one the label right before it), and labels are cleared and set again", [
	header("label-chain"), user("u1", null, 1, "One"), assistant("a1", "u1", 2, "Two"), label("l1", "a1", 3, "u1", "one"), label("l2", "l1", 4, "a1", "two"),
	user("u2", "l2", 5, "Three"), assistant("a2", "u2", 6, "Four"), label("l3", "a2", 7, "u1"), label("l4", "l3", 8, "a2", "four"),
	entry("compaction", "k1", "l4", 9, { summary: "Kept from a label on", firstKeptEntryId: "l2", tokensBefore: 1000 }), user("u3", "k1", 10, "Five"),
	label("l5", "u3", 11, "u1", "one again"), label("l6", "l5", 12, "a1", "two \"changed\""), label("l7", "l6", 13, "l1", "on a label"),
	entry("compaction", "k2", "l7", 14, { summary: "Kept from the label before", firstKeptEntryId: "l7", tokensBefore: 2000 }), user("u4", "k2", 15, "Six"), assistant("a3", "u4", 16, "Seven"),
	user("u5", "l3", 17, "A branch at a label"), label("l8", "u5", 18, "u5", "branch"), label("l9", "l8", 19, "a3", "other branch"),
]);
file("label-unknown-target.jsonl", "labels whose target is missing or not in the file", [
	header("label-unknown-target"),
	user("u1", null, 1, "One"),
	assistant("a1", "u1", 2, "Two"),
	label("l1", "a1", 3, "nowhere", "points nowhere"),
	entry("label", "l2", "l1", 4, { label: "no target" }),
]);
file("label-entry-leaf.jsonl", "resumed on an earlier branch by a neutral label entry: the last entry is the leaf, whatever its type", [
	header("label-entry-leaf"),
	user("u1", null, 1, "Question"),
	assistant("a1", "u1", 2, "First answer"),
	user("u2", "a1", 3, "Go left"),
	assistant("a2", "u2", 4, "Left"),
	user("u3", "a1", 5, "Go right"),
	assistant("a3", "u3", 6, "Right"),
	label("l1", "a2", 7, "a2"),
]);
file("several-roots.jsonl", "three roots (the first prompt edited twice), the leaf under the second", [
	header("several-roots"),
	user("u1", null, 1, "First try"),
	assistant("a1", "u1", 2, "Answer one"),
	user("u2", null, 3, "Second try"),
	assistant("a2", "u2", 4, "Answer two"),
	user("u3", null, 5, "Third try"),
	assistant("a3", "u3", 6, "Answer three"),
	user("u4", "a2", 7, "Go on with the second"),
	assistant("a4", "u4", 8, "Gladly"),
	user("u5", "a3", 9, "Left behind"),
	user("u6", "a3", 10, "Left behind too"),
	assistant("a5", "a4", 11, "The leaf"),
]);
file("children-order.jsonl", "children are sorted by time, not by position in the file; children with equal times keep the order of the file", [
	header("children-order"),
	user("u1", null, 1, "Root"),
	assistant("a1", "u1", 2, "Fork here"),
	user("late", "a1", 50, "late, but first in the file"),
	user("same1", "a1", 30, "same time, first"),
	user("early", "a1", 10, "early"),
	user("same2", "a1", 30, "same time, second"),
	user("same3", "a1", 30, "same time, third"),
	assistant("leaf", "same2", 60, "the leaf: its branch comes first in the drawing"),
]);
file("filter-reattach.jsonl", "the default filter hides the branch points: their children attach to the nearest visible ancestor", [
	header("filter-reattach"),
	user("u1", null, 1, "Root"),
	assistant("a1", "u1", 2, [call("t1", "ls", { path: "src" })], { stopReason: "toolUse" }),
	result("r1", "a1", 3, "t1", "ls", "main.rs"),
	entry("model_change", "m1", "r1", 4, { provider: "openai", modelId: "gpt-5.2-codex" }),
	user("u2", "m1", 5, "Branch one, below a hidden model change"),
	assistant("a2", "u2", 6, "One"),
	user("u3", "m1", 7, "Branch two, below the same"),
	entry("custom", "c1", "u3", 8, { customType: "note", data: { n: 1 } }),
	user("u4", "c1", 9, "Below a hidden custom entry"),
	user("u5", "c1", 10, "Beside it"),
	entry("thinking_level_change", "t9", "a2", 11, { thinkingLevel: "high" }),
	entry("session_info", "s1", "t9", 12, { name: "Filters" }),
	assistant("a3", "s1", 13, [call("t2", "bash", { command: "true" })], { stopReason: "toolUse" }),
	result("r2", "a3", 14, "t2", "bash", "(no output)"),
	result("r3", "a3", 15, "t2", "bash", "a sibling result"),
	label("l1", "r2", 16, "u3", "kept"),
	assistant("a4", "l1", 17, "The end"),
]);
file("filter-hidden-root.jsonl", "the default filter hides the only root: several visible roots", [
	header("filter-hidden-root"),
	entry("model_change", "m1", null, 1, { provider: "openai", modelId: "gpt-5.2-codex" }),
	user("u1", "m1", 2, "First try"),
	assistant("a1", "u1", 3, "Answer"),
	user("u2", "m1", 4, "Second try"),
	assistant("a2", "u2", 5, "Answer again"),
	user("u3", "a2", 6, "Left"),
	user("u4", "a2", 7, "Right"),
]);
file("deep-chain.jsonl", "a straight chain of 240 messages with one branch at its middle: no indentation", [
	header("deep-chain"),
	...Array.from({ length: 240 }, (_, i) => user(`n${i}`, i ? `n${i - 1}` : null, i, `message ${i}`)),
	user("side", "n119", 2000, "A side branch"),
	assistant("end", "n239", 2001, "The leaf"),
]);

file("name-set.jsonl", "a name, then another one: the last one counts, without surrounding spaces", [
	header("name-set"), user("u1", null, 1, "Hello"), name("n1", "u1", 2, "Old name"), assistant("a1", "n1", 3, "Hi"), name("n2", "a1", 4, "  New name  "),
]);
file("name-cleared.jsonl", "a name, then an empty one: no name", [
	header("name-cleared"), user("u1", null, 1, "Hello"), name("n1", "u1", 2, "Had a name"), assistant("a1", "n1", 3, "Hi"), name("n2", "a1", 4, "   "),
]);
file("name-missing.jsonl", "a session_info without name", [
	header("name-missing"), user("u1", null, 1, "Hello"), name("n1", "u1", 2, "Had a name"), entry("session_info", "n2", "n1", 3, {}), assistant("a1", "n2", 4, "Hi"),
]);
file("name-newline.jsonl", "a name with line breaks, tabs and spaces", [
	header("name-newline"), user("u1", null, 1, "Hello"), name("n1", "u1", 2, "  Two\nlines\tand  spaces \r\n"), assistant("a1", "n1", 3, "Hi"),
]);
file("name-other-branch.jsonl", "the last name is on an inactive branch, and still counts", [
	header("name-other-branch"), user("u1", null, 1, "Hello"), assistant("a1", "u1", 2, "Hi"), name("n1", "a1", 3, "On the main branch"),
	user("u2", "a1", 4, "A side branch"), name("n2", "u2", 5, "On the side branch"), user("u3", "n1", 6, "Back on the main branch"),
]);

file("usage-entries.jsonl", "usage entries: they have a cost and are in no view", [
	header("usage-entries"), user("u1", null, 1, "Hello"), assistant("a1", "u1", 2, "Hi"),
	entry("usage", "x1", "a1", 3, { kind: "title", provider: "anthropic", model: "claude-haiku-4-5", usage: usage(500, 0.006), note: "session title" }),
	user("u2", "x1", 4, "Bye"), assistant("a2", "u2", 5, "Bye", { usage: usage(2400, 0.02) }),
	entry("usage", "x2", "a2", 6, { kind: "embedding", provider: "openai", model: "text-embedding-3-small", usage: { input: 90, output: 0, cacheRead: 0, cacheWrite: 0 } }),
]);
file("usage-incomplete.jsonl", "answers without usage, without totalTokens, without cost, and with a cost that is not a number", [
	header("usage-incomplete"), user("u1", null, 1, "Hello"),
	assistant("a1", "u1", 2, "no usage", { usage: undefined }),
	assistant("a2", "a1", 3, "no total", { usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 } }),
	assistant("a3", "a2", 4, "no cost", { usage: { input: 10, output: 5, totalTokens: 15 } }),
	assistant("a4", "a3", 5, "odd cost", { usage: { input: "10", output: null, totalTokens: 15, cost: { total: "free" } } }),
	assistant("a5", "a4", 6, "usage is null", { usage: null }),
	assistant("a6", "a5", 7, "all there"),
]);
file("context-edit.jsonl", "context edits: one omits its target, one replaces the text of an answer, one that of a custom message", [
	header("context-edit"), user("u1", null, 1, "A very long prompt"), assistant("a1", "u1", 2, "A very long answer"),
	entry("context_edit", "e1", "a1", 3, { targetId: "a1", replacement: { content: [{ type: "text", text: "Short answer" }] } }),
	user("u2", "e1", 4, "Forget this one"), assistant("a2", "u2", 5, "Forgotten"),
	entry("context_edit", "e2", "a2", 6, { targetId: "u2", replacement: null }),
	entry("custom_message", "c1", "e2", 7, { customType: "hint", content: "A hint", display: true }),
	entry("context_edit", "e3", "c1", 8, { targetId: "c1", replacement: { content: "Another hint" } }),
	user("u3", "e3", 9, "Go on"), assistant("a3", "u3", 10, "Going on"),
]);
file("custom-message.jsonl", "custom messages with a text, with blocks, and one that is not displayed", [
	header("custom-message"), user("u1", null, 1, "Hello"),
	entry("custom_message", "c1", "u1", 2, { customType: "reminder", content: "Stand-up at\nten", display: true }),
	entry("custom_message", "c2", "c1", 3, { customType: "lint", content: [{ type: "text", text: "2 warnings, " }, { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }, { type: "text", text: "1 error" }], display: true, details: { file: "a.ts" } }),
	entry("custom_message", "c3", "c2", 4, { customType: "hidden", content: "not displayed", display: false }),
	assistant("a1", "c3", 5, "Hi"),
]);
file("custom-entry.jsonl", "custom entries: with data of each kind, and without data", [
	header("custom-entry"), user("u1", null, 1, "Hello"),
	...[{ a: [1, 2, { b: null }] }, "text", 5, null, [], undefined].map((data, i) => ({ type: "custom", customType: `kind-${i}`, data, id: `c${i}`, parentId: i ? `c${i - 1}` : "u1", timestamp: iso(2 + i) })),
	assistant("a1", "c5", 20, "Hi"),
]);
file("bash-execution.jsonl", "commands of the user: successful, failed, canceled, truncated, and hidden from the model", [
	header("bash-execution"), user("u1", null, 1, "Hello"),
	...[
		{ command: "git status", output: "clean", exitCode: 0, cancelled: false, truncated: false },
		{ command: "false", output: "", exitCode: 1, cancelled: false, truncated: false },
		{ command: "sleep 100", output: "", cancelled: true, truncated: false },
		{ command: "yes |\n\thead -100000", output: "y\ny", exitCode: 0, cancelled: false, truncated: true, fullOutputPath: "/tmp/pi-bash-1.log" },
		{ command: "cat .env", output: "SECRET=1", exitCode: 0, cancelled: false, truncated: false, excludeFromContext: true },
	].map((run, i) => message(`b${i}`, i ? `b${i - 1}` : "u1", 2 + i, { role: "bashExecution", ...run })),
	assistant("a1", "b4", 20, "Hi"),
]);
file("system-message.jsonl", "a system message, and one with content null", [
	header("system-message"), message("s1", null, 1, { role: "system", content: "You are a careful engineer." }), user("u1", "s1", 2, "Hello"),
	assistant("a1", "u1", 3, "Hi"), message("s2", "a1", 4, { role: "system", content: null }), user("u2", "s2", 5, "Bye"),
]);
file("compaction.jsonl", "two compactions on the path: the last one counts; its first kept entry is before it", [
	header("compaction"), user("u1", null, 1, "Start"), assistant("a1", "u1", 2, "Started"),
	entry("compaction", "k1", "a1", 3, { summary: "First summary", firstKeptEntryId: "u1", tokensBefore: 50_400 }),
	user("u2", "k1", 4, "Next"), message("s1", "u2", 5, { role: "system", content: "dropped by the compaction" }), assistant("a2", "s1", 6, "Nexted"),
	user("u3", "a2", 7, "Kept from here"), assistant("a3", "u3", 8, "Kept"),
	entry("compaction", "k2", "a3", 9, { summary: "## Goal\nSecond summary", firstKeptEntryId: "u3", tokensBefore: 123_500, details: { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] }, usage: usage(9000, 0.04), fromHook: false }),
	user("u4", "k2", 10, "After"), assistant("a4", "u4", 11, "Aftered"),
]);
file("compaction-keeps-none.jsonl", "a compaction whose first kept entry is itself: no earlier entry is kept", [
	header("compaction-keeps-none"), user("u1", null, 1, "Start"), assistant("a1", "u1", 2, "Started"),
	entry("compaction", "k1", "a1", 3, { summary: "All of it", firstKeptEntryId: "k1", tokensBefore: 999, systemMessage: { role: "system", content: "Kept system message", timestamp: ms(3) } }),
	user("u2", "k1", 4, "After"), assistant("a2", "u2", 5, "Aftered"),
]);
file("compaction-unknown-kept.jsonl", "a compaction whose first kept entry is unknown", [
	header("compaction-unknown-kept"), user("u1", null, 1, "Start"), assistant("a1", "u1", 2, "Started"),
	entry("compaction", "k1", "a1", 3, { summary: "Summary", firstKeptEntryId: "nowhere", tokensBefore: 1500 }),
	user("u2", "k1", 4, "After"),
]);
file("compaction-edits.jsonl", "the kept range contains an older compaction; context edits that count, that are before the context, that later ones undo, and that omit the summary", [
	header("compaction-edits"), user("u1", null, 1, "One"), entry("context_edit", "e1", "u1", 2, { targetId: "u2", replacement: null }), assistant("a1", "e1", 3, "Two"),
	entry("compaction", "k1", "a1", 4, { summary: "Older", firstKeptEntryId: "u1", tokensBefore: 1000 }), user("u2", "k1", 5, "Three"), assistant("a2", "u2", 6, "Four"),
	entry("context_edit", "e2", "a2", 7, { targetId: "a2", replacement: null }), user("u3", "e2", 8, "Five"), entry("compaction", "k2", "u3", 9, { summary: "Newer", firstKeptEntryId: "a1", tokensBefore: 2000 }),
	user("u4", "k2", 10, "Six"), entry("context_edit", "e3", "u4", 11, { targetId: "a2", replacement: { content: "Back again" } }), entry("context_edit", "e4", "e3", 12, { targetId: "k2", replacement: null }),
	entry("branch_summary", "b1", "e4", 13, { fromId: "root", summary: "" }), assistant("a3", "b1", 14, "Seven", { provider: undefined, model: undefined }),
]);
file("branch-summary.jsonl", "branch summaries: of a branch, and of everything after the root", [
	header("branch-summary"), user("u1", null, 1, "Start"), assistant("a1", "u1", 2, "Started"), user("u2", "a1", 3, "Left"), assistant("a2", "u2", 4, "Lefted"),
	entry("branch_summary", "b1", "a1", 5, { fromId: "a2", summary: "Tried left:\nno good", details: { readFiles: [], modifiedFiles: [] } }),
	user("u3", "b1", 6, "Right"), assistant("a3", "u3", 7, "Righted"),
	entry("branch_summary", "b2", null, 8, { fromId: "root", summary: "From the root" }),
	user("u4", "b2", 9, "New start"),
]);
file("tool-calls-only.jsonl", "answers with tool calls and without text: hidden, except at the leaf", [
	header("tool-calls-only"), user("u1", null, 1, "List"),
	assistant("a1", "u1", 2, [call("t1", "ls", {})], { stopReason: "toolUse" }), result("r1", "a1", 3, "t1", "ls", "a\nb"),
	assistant("a2", "r1", 4, [{ type: "thinking", thinking: "hm" }, { type: "text", text: "  \n" }, call("t2", "ls", { path: "/home/dev" })], { stopReason: "toolUse" }), result("r2", "a2", 5, "t2", "ls", "app"),
	assistant("a3", "r2", 6, [call("t3", "ls", { path: "/home/device" })], { stopReason: "toolUse" }),
]);
file("errors.jsonl", "answers that failed, were aborted or reached the maximum length, with and without text; a tool that failed", [
	header("errors"), user("u1", null, 1, "Try"),
	assistant("a1", "u1", 2, [], { stopReason: "error", errorMessage: "529 overloaded\nplease\ttry again later, this message is longer than eighty characters so that it is cut off" }),
	assistant("a2", "a1", 3, [], { stopReason: "aborted", errorMessage: "Operation aborted" }),
	assistant("a3", "a2", 4, "Half an ans", { stopReason: "aborted", errorMessage: "Operation aborted" }),
	assistant("a4", "a3", 5, "Text and an error", { stopReason: "error", errorMessage: "network" }),
	assistant("a5", "a4", 6, [], { stopReason: "length" }),
	assistant("a6", "a5", 7, [call("t1", "bash", { command: "exit 3" })], { stopReason: "toolUse" }),
	result("r1", "a6", 8, "t1", "bash", "\n\nCommand exited with code 3", { isError: true }),
	assistant("a7", "r1", 9, [], { stopReason: "error" }),
	assistant("a8", "a7", 10, [], { stopReason: "stop" }),
	assistant("a9", "a8", 11, [call("t2", "bash", { command: "sleep 9" })], { stopReason: "aborted" }),
	user("u2", "a9", 12, "again"),
]);
const diagnostic = (type, more) => ({ type, timestamp: ms(3), ...more });
file("diagnostics.jsonl", "answers with `diagnostics`: dropped thinking, a fallback with an error, an empty list, and damaged ones", [
	header("diagnostics"), user("u1", null, 1, "Go on"),
	assistant("a1", "u1", 2, "Going on", { diagnostics: [
		diagnostic("anthropic_thread_fallback", { error: { message: "409 thread not found" }, details: { reason: "thread_not_found" } }),
		diagnostic("anthropic_input_transformations", { details: { transformations: [{ type: "thinking_dropped", path: "messages.1.content.0", reason: "model_changed" }, { type: "cache_control_dropped", path: "system.0" }] } }),
	] }),
	user("u2", "a1", 3, "And on"), assistant("a2", "u2", 4, "On", { diagnostics: [] }),
	user("u3", "a2", 5, "And on"), assistant("a3", "u3", 6, "On", { diagnostics: [5, "text", null, {}, { type: "odd", error: "text", details: { transformations: "none" } }] }),
	user("u4", "a3", 7, "And on"), assistant("a4", "u4", 8, "On", { diagnostics: "text" }),
]);
file("deferred.jsonl", "answers that the provider delivers later: `stopReason` deferred with a handle, and pending", [
	header("deferred"), user("u1", null, 1, "Take your time"),
	assistant("a1", "u1", 2, [], { stopReason: "deferred", deferred: { provider: "anthropic", modelId: "claude-sonnet-4-5", api: "anthropic-messages", id: "batch_1:row_1", expiresAt: ms(86_400), pollAfterMs: 60_000 } }),
	user("u2", "a1", 3, "And now?"), assistant("a2", "u2", 4, "Some of", { stopReason: "pending" }),
	user("u3", "a2", 5, "And now?"), assistant("a3", "u3", 6, "All of it."),
]);
file("compaction-in-call.jsonl", "compactions between a call and its result: one keeps the call, the other does not", [
	header("compaction-in-call"), user("u1", null, 1, "List"), assistant("a1", "u1", 2, [call("t1", "ls", {})], { stopReason: "toolUse" }),
	entry("compaction", "k1", "a1", 3, { summary: "They list files.", firstKeptEntryId: "a1", tokensBefore: 1000 }), result("r1", "k1", 4, "t1", "ls", "a"),
	assistant("a2", "r1", 5, "There is a."), user("u2", "a2", 6, "Once more"), assistant("a3", "u2", 7, [call("t2", "ls", {}), call("t3", "ls", {})], { stopReason: "toolUse" }),
	result("r2", "a3", 8, "t2", "ls", "a"), entry("compaction", "k2", "r2", 9, { summary: "They listed files.", firstKeptEntryId: "k2", tokensBefore: 2000 }),
	result("r3", "k2", 10, "t3", "ls", "a"), assistant("a4", "r3", 11, "Still a."),
]);
file("header-more-fields.jsonl", "a header with fields that pi does not know", [
	{ ...header("header-more-fields"), metadata: { team: "web", tags: ["a", null], parentSession: "no" }, "odd key \u2028": 1e3 }, user("u1", null, 1, "Hello"),
	assistant("a1", "u1", 2, "Hi"), entry("label", "l1", "a1", 3, { targetId: "a1", label: "greeted" }), user("u2", "l1", 4, "Bye"),
]);
file("tool-result-unknown-call.jsonl", "tool results without a call: with a name, without a name, and without an ID", [
	header("tool-result-unknown-call"), user("u1", null, 1, "Go"), result("r1", "u1", 2, "nowhere", "read", "text"),
	result("r2", "r1", 3, "nowhere", undefined, "text"), result("r3", "r2", 4, undefined, "bash", "text"), assistant("a1", "r3", 5, "Done"),
]);
const toolCalls = [
	["read", { path: "/home/dev/app/src/a.ts" }], ["read", { path: "src/a.ts", offset: 10, limit: 31 }], ["read", { path: "src/a.ts", offset: 10 }],
	["read", { path: "src/a.ts", limit: 5 }], ["read", { file_path: "old/name.ts" }], ["read", {}],
	["write", { path: "/home/dev/app/new.ts", content: "x" }], ["write", { file_path: "old.ts", content: "x" }],
	["edit", { path: "src/a.ts", edits: [{ oldText: "a", newText: "b" }] }], ["edit", { path: "/etc/hosts", oldText: "a", newText: "b" }],
	["bash", { command: "npm test" }], ["bash", { command: "echo one\n\techo two && echo a command of more than fifty characters" }], ["bash", { command: "  exactly fifty characters here, not one more 0123  " }], ["bash", {}],
	["grep", { pattern: "foo\\(", path: "/home/dev/app/src" }], ["grep", { pattern: "foo" }], ["find", { pattern: "*.rs", path: "src" }], ["find", { pattern: "*.rs" }],
	["ls", { path: "/home/dev" }], ["ls", {}],
	["web_search", { query: "short" }], ["web_search", { query: "a query that is a good deal longer than forty characters", depth: 3 }], ["ping", {}], ["日本", { 引数: "値段の高い値段の高い値段の高い値段の高い値段の高い値段の高い" }],
	["powershell", { command: "Get-ChildItem" }],
];
file("tools-all.jsonl", "a call of each tool that pi draws in a special way, with unusual arguments, and custom tools", [
	header("tools-all"), user("u1", null, 1, "Use them all"),
	assistant("a1", "u1", 2, [{ type: "text", text: "All of them." }, ...toolCalls.map(([tool, args], i) => call(`t${i}`, tool, args))], { stopReason: "toolUse" }),
	...toolCalls.map(([tool], i) => result(`r${i}`, i ? `r${i - 1}` : "a1", 3 + i, `t${i}`, tool, `result ${i}`)),
	assistant("a2", `r${toolCalls.length - 1}`, 60, "Done"),
]);
file("edit-diff.jsonl", "an edit with a diff in the details of its result", [
	header("edit-diff"), user("u1", null, 1, "Fix the typo"),
	assistant("a1", "u1", 2, [call("t1", "edit", { path: "README.md", edits: [{ oldText: "Helo", newText: "Hello" }] })], { stopReason: "toolUse" }),
	result("r1", "a1", 3, "t1", "edit", "Successfully replaced 1 block(s) in README.md.", { details: { diff: " 1 # App\n 2 \n-3 Helo, world.\n+3 Hello, world.\n 4 \n   ...", patch: "--- README.md\n+++ README.md\n@@ -1,4 +1,4 @@\n # App\n \n-Helo, world.\n+Hello, world.\n \n", firstChangedLine: 3 } }),
	assistant("a2", "r1", 4, "Fixed."),
]);
file("roles-all.jsonl", "every message role that pi writes, in one file", [
	header("roles-all"), message("s1", null, 1, { role: "system", content: "System" }), user("u1", "s1", 2, [{ type: "text", text: "User" }]), assistant("a1", "u1", 3, [{ type: "text", text: "Assistant" }, call("t1", "ls", {})], { stopReason: "toolUse" }),
	result("r1", "a1", 4, "t1", "ls", "Tool result"), message("b1", "r1", 5, { role: "bashExecution", command: "ls", output: "a", exitCode: 0, cancelled: false, truncated: false }),
	message("c1", "b1", 6, { role: "custom", customType: "note", content: "Custom", display: true }), message("y1", "c1", 7, { role: "branchSummary", summary: "Branch", fromId: "a1" }),
	message("z1", "y1", 8, { role: "compactionSummary", summary: "Compaction", tokensBefore: 5000 }), assistant("a2", "z1", 9, "Done"),
]);
file("images.jsonl", "images in a prompt and in a tool result, and a prompt with only an image", [
	header("images"),
	user("u1", null, 1, [{ type: "text", text: "What is " }, { type: "image", data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", mimeType: "image/png" }, { type: "text", text: "this?" }]),
	assistant("a1", "u1", 2, [call("t1", "read", { path: "shot.png" })], { stopReason: "toolUse" }),
	result("r1", "a1", 3, "t1", "read", [{ type: "text", text: "Read image file [image/png]" }, { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }]),
	assistant("a2", "r1", 4, "A pixel."), user("u2", "a2", 5, [{ type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }]), assistant("a3", "u2", 6, "Another one."),
]);
file("wide-text.jsonl", "text with wide and zero-width characters: CJK, emoji, joined emoji, flags, combining marks, right to left", [
	header("wide-text"), user("u1", null, 1, "日本語のテキスト、한국어, 中文"), assistant("a1", "u1", 2, "👩‍🍳 👨‍👩‍👧‍👦 🏳️‍🌈 🇯🇵 👍🏽 ❤️"),
	user("u2", "a1", 3, "e\u0301 a\u0308 Z\u0351\u036b\u0343"), assistant("a2", "u2", 4, "עברית ואנגלית, العربية"), label("l1", "a2", 5, "a2", "標籤 🏷️"), name("n1", "l1", 6, "名前 🦀"), user("u3", "n1", 7, "ﬁ ligature, Ｆｕｌｌｗｉｄｔｈ, a\u200bb\u00a0c\u3000d"),
]);
file("long-text.jsonl", "texts of more than the 200 characters that pi draws, and of many lines", [
	header("long-text"), user("u1", null, 1, "word ".repeat(60).trim()), assistant("a1", "u1", 2, Array.from({ length: 80 }, (_, i) => `line ${i}`).join("\n")), user("u2", "a1", 3, "\n\n\t  indented\n\n"),
]);
file("whitespace-first-message.jsonl", "the first prompts are empty or white space; pi uses the white space unchanged", [
	header("whitespace-first-message"), user("u1", null, 1, ""), user("u2", "u1", 2, []), user("u3", "u2", 3, " \n "), user("u4", "u3", 4, "The real one"), assistant("a1", "u4", 5, "Hi"),
]);
file("first-message-empty-block.jsonl", "the first prompt has an empty text block, the next two blocks: they are joined by a space", [
	header("first-message-empty-block"), user("u1", null, 1, [{ type: "text", text: "" }]), user("u2", "u1", 2, [{ type: "text", text: "two" }, { type: "text", text: "blocks" }]), assistant("a1", "u2", 3, [{ type: "text", text: "and " }, { type: "text", text: "two" }]),
]);
file("header-only.jsonl", "only a header", [header("header-only")]);
file("no-messages.jsonl", "entries, but no message", [header("no-messages"), entry("model_change", "m1", null, 1, { provider: "openai", modelId: "gpt-5.2-codex" }), name("n1", "m1", 2, "Only a name")]);
file("assistant-only.jsonl", "no user message", [header("assistant-only"), assistant("a1", null, 1, "Nobody asked")]);
file("header-no-cwd.jsonl", "a header without cwd", [header("header-no-cwd", { cwd: undefined }), user("u1", null, 1, "Where am I?")]);
file("header-cwd-odd.jsonl", "a header whose cwd is not a string", [header("header-cwd-odd", { cwd: 5 }), user("u1", null, 1, "Where am I?")]);
file("header-windows.jsonl", "a session from Windows: cwd and parentSession with backslashes", [
	header("header-windows", { cwd: "C:\\Users\\dev\\app", parentSession: "C:\\Users\\dev\\.pi\\agent\\sessions\\--C--Users-dev-app--\\gone.jsonl" }), user("u1", null, 1, "dir"),
]);
file("header-id-dotted.jsonl", "a header whose ID is not a UUID", [header("my.session_1-x"), user("u1", null, 1, "Hello")]);
file("header-id-odd.jsonl", "a header with an ID that pi does not write: spaces, slashes, another alphabet", [header("ein Name/../mit Ümläuten 🦀"), user("u1", null, 1, "Hello")]);
file("header-newer-version.jsonl", "a newer version, with unknown header fields", [header("header-newer-version", { version: 9, encryption: "none", tags: ["a"] }), user("u1", null, 1, "Hello")]);
file("fork-parent.jsonl", "the parent of fork-child.jsonl and fork-grandchild.jsonl", [
	header("fork-parent"), user("u1", null, 1, "Shared prompt"), assistant("a1", "u1", 2, "Shared answer"), user("u2", "a1", 3, "Only in the parent"), assistant("a2", "u2", 4, "Parent's answer"),
]);
file("fork-child.jsonl", "forked from fork-parent.jsonl after a1: the same IDs up to there", [
	header("fork-child", { timestamp: iso(100), parentSession: `${ROOT}/sessions/--home-dev-app--/fork-parent.jsonl` }), user("u1", null, 1, "Shared prompt"), assistant("a1", "u1", 2, "Shared answer"), label("l1", "a1", 3, "a1", "split"), user("u2b", "l1", 101, "Only in the child"), assistant("a2b", "u2b", 102, "Child's answer"),
]);
file("fork-grandchild.jsonl", "forked from fork-child.jsonl at once, without entries of its own", [
	header("fork-grandchild", { timestamp: iso(200), parentSession: `${ROOT}/sessions/--home-dev-app--/fork-child.jsonl` }), user("u1", null, 1, "Shared prompt"), assistant("a1", "u1", 2, "Shared answer"), user("u2b", "a1", 101, "Only in the child"), label("l9", "u2b", 3, "a1", "split"),
]);
file("fork-parent-gone.jsonl", "forked from a missing file", [header("fork-parent-gone", { parentSession: `${ROOT}/sessions/--home-dev-app--/never-was.jsonl` }), user("u1", null, 1, "Orphan")]);
file("fork-of-itself.jsonl", "parentSession names the file itself", [header("fork-of-itself", { parentSession: `${ROOT}/sessions/--home-dev-app--/fork-of-itself.jsonl` }), user("u1", null, 1, "Ouroboros")]);
file("fork-ring-a.jsonl", "forked from fork-ring-b.jsonl, which was forked from this one", [header("fork-ring-a", { parentSession: `${ROOT}/sessions/--home-dev-app--/fork-ring-b.jsonl` }), user("u1", null, 1, "Ring A")]);
file("fork-ring-b.jsonl", "forked from fork-ring-a.jsonl, which was forked from this one", [header("fork-ring-b", { parentSession: `${ROOT}/sessions/--home-dev-app--/fork-ring-a.jsonl` }), user("u1", null, 1, "Ring B")]);

// ── Files of old versions ───────────────────────────────────────────────────────────────────────────────────────────
folder = "sessions/--home-dev-old--";
const v1 = (id, more = {}) => ({ type: "session", id, timestamp: iso(0), cwd: "/home/dev/old", ...more });
const bare = (line) => ({ ...line, id: undefined, parentId: undefined });

file("v1-linear.jsonl", "version 1: no IDs, entries in file order; a compaction by index (the header has index 0); a hookMessage", [
	v1("v1-linear", { provider: "anthropic", modelId: "claude-sonnet-4", thinkingLevel: "off" }),
	bare(user("", null, 1, "First prompt")), bare(assistant("", null, 2, "First answer")), bare(user("", null, 3, "Second prompt")), bare(assistant("", null, 4, "Second answer")),
	bare(entry("compaction", "", null, 5, { summary: "What was said first", firstKeptEntryIndex: 3, tokensBefore: 64_000 })),
	bare(message("", null, 6, { role: "hookMessage", customType: "reminder", content: "From a hook", display: true })),
	bare(entry("model_change", "", null, 7, { provider: "openai", modelId: "gpt-5" })), bare(entry("thinking_level_change", "", null, 8, { thinkingLevel: "high" })),
	bare(user("", null, 9, "Third prompt")), bare(assistant("", null, 10, "Third answer")),
]);
file("v1-branched-from.jsonl", "version 1 with branchedFrom, the old name of parentSession", [
	v1("v1-branched-from", { branchedFrom: `${ROOT}/sessions/--home-dev-old--/v1-linear.jsonl` }), bare(user("", null, 1, "First prompt")), bare(assistant("", null, 2, "Another answer")),
]);
file("v1-index-odd.jsonl", "version 1: compactions that keep the header, with an index beyond the end, and without an index", [
	v1("v1-index-odd"), bare(user("", null, 1, "One")), bare(entry("compaction", "", null, 2, { summary: "Index 0", firstKeptEntryIndex: 0, tokensBefore: 1000 })),
	bare(assistant("", null, 3, "Two")), bare(entry("compaction", "", null, 4, { summary: "Index 99", firstKeptEntryIndex: 99, tokensBefore: 2000 })),
	bare(user("", null, 5, "Three")), bare(entry("compaction", "", null, 6, { summary: "No index", tokensBefore: 3000 })), bare(assistant("", null, 7, "Four")),
]);
file("v1-index-later.jsonl", "version 1: compactions that keep from a later entry on, with and without an ID of their own, from themselves, from a fraction, and from a second header; lines that pi drops", [
	v1("v1-index-later"), bare(user("", null, 1, "One")), "", "not JSON", "null", bare(assistant("", null, 2, "Two")),
	bare(entry("compaction", "", null, 3, { summary: "Itself", firstKeptEntryIndex: 3, tokensBefore: 1000 })), bare(entry("compaction", "", null, 4, { firstKeptEntryIndex: 5, summary: "Later, no id", firstKeptEntryId: "x", tokensBefore: 2000 })),
	bare(user("", null, 5, "Three")), bare(entry("compaction", "", null, 6, { summary: "Later, an id", firstKeptEntryIndex: 7, tokensBefore: 3000 })), user("u4", "old", 7, "Four"),
	bare(entry("compaction", "", null, 8, { summary: "A fraction", firstKeptEntryIndex: 1.5, tokensBefore: 4000 })), v1("second", { version: 1 }),
	bare(entry("compaction", "", null, 9, { summary: "A header", firstKeptEntryIndex: 9, tokensBefore: 5000 })), bare(user("", null, 10, "Five")),
	bare(entry("compaction", "", null, 11, { summary: "Behind the header", firstKeptEntryIndex: 11, tokensBefore: 6000 })), bare(assistant("", null, 12, "Six")), '{"type":"message","torn',
]);
file("v1-with-ids.jsonl", "version 1 in the header, but the entries have IDs and branches: pi replaces the IDs and links the entries in file order", [
	v1("v1-with-ids"), user("u1", null, 1, "One"), assistant("a1", "u1", 2, "Two"), user("u2", "u1", 3, "A branch, were it version 3"), label("l1", "u2", 4, "a1", "lost"),
]);
file("v2-hook-message.jsonl", "version 2: IDs and branches; a hookMessage, whose role is now custom", [
	v1("v2-hook-message", { version: 2 }), user("u1", null, 1, "Hello"), message("h1", "u1", 2, { role: "hookMessage", customType: "reminder", content: [{ type: "text", text: "From a hook" }], display: true }),
	assistant("a1", "h1", 3, "Hi"), user("u2", "u1", 4, "A branch"), assistant("a2", "u2", 5, "Branched"),
]);
file("v2-labels.jsonl", "version 2: a label, a name and a compaction by index, which pi ignores now; IDs stay when pi migrates the file", [
	v1("v2-labels", { version: 2 }), user("u1", null, 1, "Hello"), assistant("a1", "u1", 2, "Hi"), label("l1", "a1", 3, "a1", "kept"), name("n1", "l1", 4, "Named"),
	entry("compaction", "k1", "n1", 5, { summary: "By index", firstKeptEntryIndex: 1, tokensBefore: 1000 }), user("u2", "k1", 6, "Go on"), assistant("a2", "u2", 7, "On"),
]);
file("2025-11-30T10-00-00-000Z_0195a0ff-0000-7000-8000-000000000002.jsonl", "a file with a name as pi writes it", [
	v1("0195a0ff-0000-7000-8000-000000000002", { version: 3, timestamp: "2025-11-30T10:00:00.000Z" }), { ...user("u1", null, 1, "Last year"), timestamp: "2025-11-30T10:00:05.000Z" }, assistant("a1", "u1", 2, "This year"),
]);

// ── Damaged and unusual files ───────────────────────────────────────────────────────────────────────────────────────
folder = "sessions/--home-dev-odd--";
const odd = (id, more = {}) => header(id, { cwd: "/home/dev/odd", ...more });
const hello = [user("u1", null, 1, "Hello"), assistant("a1", "u1", 2, "Hi")];

file("orphan.jsonl", "a parentId that is not in the file: another root", [odd("orphan"), ...hello, user("u2", "lost", 3, "My parent is lost"), assistant("a2", "u2", 4, "So am I"), user("u3", "a1", 5, "Here is the leaf")]);
file("orphan-leaf.jsonl", "the parent of the leaf is unknown: the active path starts there", [odd("orphan-leaf"), ...hello, user("u2", "lost", 3, "My parent is lost"), assistant("a2", "u2", 4, "I am the leaf")]);
file("parent-later.jsonl", "a parent after its child", [odd("parent-later"), assistant("a1", "u1", 2, "The child first"), user("u1", null, 1, "Then the parent"), user("u2", "a1", 3, "The leaf")]);
file("parent-is-itself.jsonl", "an entry that is its own parent: a root; the leaf is elsewhere", [odd("parent-is-itself"), ...hello, user("u2", "u2", 3, "My own parent"), assistant("a2", "u2", 4, "Its child"), user("u3", "a1", 5, "The leaf")]);
file("parent-is-itself-leaf.jsonl", "an entry that is its own parent, on the active path (pi hangs)", [odd("parent-is-itself-leaf"), ...hello, user("u2", "u2", 3, "My own parent"), assistant("a2", "u2", 4, "The leaf")]);
file("parent-missing.jsonl", "entries without parentId: roots", [odd("parent-missing"), ...hello, { ...user("u2", null, 3, "No parentId"), parentId: undefined }, assistant("a2", "u2", 4, "Its child")]);
file("parent-odd.jsonl", "a parentId that is a number, an empty string, or false: roots", [odd("parent-odd"), ...hello, user("u2", 5, 3, "A number"), user("u3", "", 4, "An empty text"), user("u4", false, 5, "False"), user("u5", "a1", 6, "The leaf")]);
file("cycle.jsonl", "two entries that are each other's parents, with a child, beside a healthy root (pi does not show them)", [odd("cycle"), ...hello, user("c1", "c2", 3, "Round"), assistant("c2", "c1", 4, "and round"), user("c3", "c2", 5, "Below the cycle"), user("u2", "a1", 6, "The leaf")]);
file("cycle-leaf.jsonl", "a cycle of three entries, with the leaf below them (pi hangs)", [odd("cycle-leaf"), ...hello, user("c1", "c3", 3, "One"), assistant("c2", "c1", 4, "Two"), user("c3", "c2", 5, "Three"), assistant("c4", "c3", 6, "The leaf")]);
file("id-twice.jsonl", "two entries with the same ID (pi loses the first)", [odd("id-twice"), ...hello, user("u2", "a1", 3, "First with this id"), assistant("u2", "a1", 4, "Second with this id"), user("u3", "u2", 5, "A child of which?")]);
file("id-missing.jsonl", "an entry without an ID", [odd("id-missing"), ...hello, { ...user("", "a1", 3, "I have no id"), id: undefined }, user("u2", "a1", 4, "The leaf")]);
file("id-number.jsonl", "an entry whose ID is a number, and an entry that has it as its parent", [odd("id-number"), ...hello, user(7, "a1", 3, "My id is a number"), assistant("a2", 7, 4, "Its child")]);

file("torn-last-line.jsonl", "the last line is truncated, without a newline", lines([odd("torn-last-line"), ...hello]) + json(user("u2", "a1", 3, "This line is torn")).slice(0, 60));
file("torn-with-newline.jsonl", "a truncated line, and a complete one after it", [odd("torn-with-newline"), ...hello, json(user("u2", "a1", 3, "Torn")).slice(0, 50), user("u3", "a1", 4, "Whole")]);
file("no-final-newline.jsonl", "the last line is complete, but has no newline", lines([odd("no-final-newline"), ...hello]).trimEnd());
file("glued-lines.jsonl", "two values on one line: pi drops both", [odd("glued-lines"), ...hello, json(user("u2", "a1", 3, "Glued")) + json(assistant("a2", "u2", 4, "to this")), user("u3", "a1", 5, "On its own line")]);
file("glued-header.jsonl", "the header and the first entry on one line; the next line is another header", [json(odd("glued-header-lost")) + json(user("u0", null, 1, "Lost")), odd("glued-header"), ...hello]);
file("blank-lines.jsonl", "empty lines and lines of white space, also before the header", ["", "   ", odd("blank-lines"), "", hello[0], "\t", "\r", "\u00a0\u3000", hello[1], "", ""]);
file("garbage-before-header.jsonl", "lines before the header that are not JSON", ["not json", '{"type":"mess', odd("garbage-before-header"), ...hello]);
file("crlf.jsonl", "lines end in CR LF", lines([odd("crlf"), ...hello, user("u2", "a1", 3, "One\r\nTwo")]).replaceAll("\n", "\r\n"));
file("lone-cr.jsonl", "a CR between two values, and one between two tokens: pi's list reads it as the end of a line, pi's tree as white space", [odd("lone-cr"), ...hello, `${json(user("u2", "a1", 3, "Before the CR"))}\r${json(user("u3", "a1", 4, "After the CR"))}`, json(user("u4", "a1", 5, "CR as white space")).replace('"type":', '"type":\r'), user("u5", "a1", 6, "The leaf")]);
file("spaces-in-json.jsonl", "white space around the tokens and around the values", [odd("spaces-in-json"), ...hello, `  ${json(user("u2", "a1", 3, "Spaced")).replaceAll('":', '" : ').replaceAll(',"', ' ,\t"')} \t`]);

file("key-order.jsonl", "keys in another order: a custom entry whose data has id, type, message and parentId; a message before its type", [
	odd("key-order"), ...hello,
	{ type: "custom", customType: "state", data: { type: "message", id: "inner", parentId: "inner-parent", timestamp: "1999-01-01T00:00:00.000Z", message: { role: "user", content: "not a message" }, list: [{ id: "inner2", type: "session_info", name: "not a name" }] }, id: "c1", parentId: "a1", timestamp: iso(3) },
	{ message: { content: [{ text: 'text with "type":"label" and \\"id\\":\\"x\\" in it', type: "text" }], timestamp: ms(4), role: "user" }, timestamp: iso(4), parentId: "c1", id: "u2", type: "message" },
	{ data: { session: { type: "session", id: "inner" } }, timestamp: iso(5), id: "c2", customType: "type", parentId: "u2", type: "custom" },
	{ timestamp: iso(6), label: "label", targetId: "u2", parentId: "c2", type: "label", id: "l1" },
	{ details: { id: "inner3", parentId: null, type: "message" }, content: '{"type":"message","id":"in a string"}', type: "custom_message", display: true, customType: "trap", id: "m1", parentId: "l1", timestamp: iso(7) },
]);
file("header-key-order.jsonl", "a header whose type is last, after an object", [json({ meta: { type: "message", id: "inner", cwd: "/not/this" }, cwd: "/home/dev/odd", timestamp: iso(0), id: "header-key-order", version: 3, type: "session" }), ...hello]);
file("escaped-keys.jsonl", "keys and values written with escapes", [
	'{"\\u0074ype":"\\u0073ession","v\\u0065rsion":3,"\\u0069d":"escaped-k\\u0065ys","timestamp":"2026-01-05T09:00:00.000Z","c\\u0077d":"\\/home\\/dev\\/odd"}',
	'{"\\u0074ype":"mess\\u0061ge","\\u0069d":"u1","parent\\u0049d":null,"timestamp":"2026-01-05T09:00:01.000Z","m\\u0065ssage":{"r\\u006fle":"us\\u0065r","cont\\u0065nt":"H\\u00e9llo \\ud83e\\udd80","timestamp":1767603601000}}',
	'{"type":"message","id":"a\\u0031","parentId":"u1","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"te\\u0078t","text":"Hi"}],"timestamp":1767603602000}}',
	'{"type":"s\\u0065ssion_info","id":"n1","parentId":"\\u00611","timestamp":"2026-01-05T09:00:03.000Z","n\\u0061me":"Escaped"}',
]);
file("keys-twice.jsonl", "keys that occur twice: the last wins, in the header, in an entry, in a message", [
	'{"type":"message","type":"session","version":3,"id":"first","id":"keys-twice","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/first","cwd":"/home/dev/odd"}',
	'{"type":"label","id":"x","parentId":"x","timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"assistant","content":"first"},"type":"message","id":"u1","parentId":null,"message":{"role":"user","content":"first","content":"second","timestamp":1,"timestamp":1767603601000}}',
	'{"type":"message","id":"a1","parentId":"u1","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","type":"text","text":"first","text":"second"}],"timestamp":1767603602000}}',
	'{"type":"session_info","id":"n1","parentId":"a1","timestamp":"2026-01-05T09:00:03.000Z","name":"first","name":"second"}',
]);
file("proto-keys.jsonl", "keys that are special in JavaScript", [odd("proto-keys"), '{"type":"message","id":"__proto__","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","__proto__":{"type":"label"},"message":{"role":"user","content":"constructor","timestamp":1767603601000}}', assistant("constructor", "__proto__", 2, "toString"), label("l1", "constructor", 3, "__proto__", "hasOwnProperty")]);
file("unknown-types.jsonl", "unknown entry types and message roles, a type that is not a string, and no type", [
	odd("unknown-types"), ...hello, entry("telemetry", "x1", "a1", 3, { payload: { a: 1 } }), message("x2", "x1", 4, { role: "oracle", content: "From the future" }),
	message("x3", "x2", 5, { role: "vision", content: [{ type: "hologram", data: "…" }, { type: "text", text: "and text" }] }), entry("checkpoint", "x4", "x3", 6, {}), { ...entry("", "x5", "x4", 7, {}), type: 12 }, { id: "x6", parentId: "x5", timestamp: iso(8), note: "no type" },
	assistant("a2", "x6", 9, [{ type: "hologram", data: 1 }, { type: "text", text: "An unknown block" }]), user("u2", "a2", 10, "Still here"),
]);
file("lone-surrogate.jsonl", "half of an emoji as an escape, as pi writes it when it truncates a text: in a prompt, a name, a label, an answer", [
	odd("lone-surrogate"), user("u1", null, 1, "cut emoji \ud83d"), assistant("a1", "u1", 2, [{ type: "text", text: "\udd80 low half first" }]), name("n1", "a1", 3, "name \ud83d"), label("l1", "n1", 4, "u1", "label \ud83d"), user("u2", "l1", 5, "whole 🦀"),
]);
file("invalid-utf8.jsonl", "bytes that are not UTF-8, in a prompt and in an answer", Buffer.concat([
	Buffer.from(lines([odd("invalid-utf8")])), Buffer.from(json(user("u1", null, 1, "bad @@ byte")).replace("@@", "\x01"), "latin1").map((b) => (b === 1 ? 0xff : b)), Buffer.from("\n"),
	Buffer.from(json(assistant("a1", "u1", 2, "cut \x01\x02 sequence")).replace("\\u0001", "\x01").replace("\\u0002", "\x02"), "latin1").map((b) => (b === 1 ? 0xe2 : b === 2 ? 0x82 : b)), Buffer.from("\n"),
	Buffer.from(json(user("u2", "a1", 3, "The leaf")) + "\n"),
]));
file("deep-nesting.jsonl", "data with 10,000 nested arrays, which JavaScript parses", [odd("deep-nesting"), ...hello, `{"type":"custom","customType":"deep","data":${"[".repeat(10_000)}${"]".repeat(10_000)},"id":"c1","parentId":"a1","timestamp":"${iso(3)}"}`, user("u2", "c1", 4, "Still here")]);
file("huge-number.jsonl", "numbers beyond a double: 1e999, a time of 400 digits, many decimals", [odd("huge-number"), ...hello, `{"type":"custom","customType":"big","data":[1e999,-1e999,1e-999,${"9".repeat(400)},0.${"3".repeat(60)}],"id":"c1","parentId":"a1","timestamp":"${iso(3)}"}`, user("u2", "c1", 4, "Still here")]);
file("non-objects.jsonl", "lines that are JSON but not objects: a number, a string, null, a list, true", [odd("non-objects"), hello[0], "5", '"x"', "null", "[]", "true", "0", '""', hello[1], user("u2", "a1", 3, "The leaf")]);
file("not-json.jsonl", "lines that JavaScript's JSON.parse rejects and other parsers accept: NaN, a comment, a trailing comma, single quotes, a control character", [
	odd("not-json"), ...hello, json(user("u2", "a1", 3, "NaN")).replace(/\d+\}\}$/, "NaN}}"), `${json(user("u3", "a1", 3, "comment"))} // x`, json(user("u4", "a1", 3, "comma")).replace(/\}$/, ",}"), json(user("u5", "a1", 3, "quotes")).replaceAll('"', "'"), json(user("u6", "a1", 3, "tab@here")).replace("@", "\t"), json(user("u7", "a1", 3, "zero")).replace(/(\d+)\}\}$/, "0$1}}"), user("u8", "a1", 4, "The leaf"),
]);
file("second-header.jsonl", "another header in the middle: ignored", [odd("second-header"), ...hello, odd("second-header-b", { cwd: "/elsewhere", timestamp: iso(50) }), user("u2", "a1", 3, "The leaf")]);
file("line-separators.jsonl", "U+2028 and U+2029 in texts, raw and escaped, and U+0085: none of them ends a line", [odd("line-separators"), ...hello, json(user("u2", "a1", 3, "escaped @ separator")).replace("@", "\\u2028"), user("u3", "u2", 4, "raw \u2028 separator and \u2029 paragraph"), user("u4", "u3", 5, "plain \u0085 next line")]);
file("control-characters.jsonl", "control characters and terminal escapes in texts, names, labels, tool arguments", [
	odd("control-characters", { cwd: "/home/dev/odd\u001b]0;title\u0007" }), user("u1", null, 1, "\u001b[31mred\u001b[0m \u001b]8;;http://example.com\u0007link\u001b]8;;\u0007 bell\u0007 back\b\b nul\u0000 del\u007f"),
	assistant("a1", "u1", 2, [{ type: "text", text: "clear \u001b[2J\u001b[H c1 \u009b31m \u202eoverride\u202c \u2066isolate\u2069 \ufeffbom" }, call("t1", "bash", { command: "printf '\u001b[?1049h'\u0007" }), call("t2", "\u001b[5mtool", { a: "\u001b" })], { stopReason: "toolUse" }),
	result("r1", "a1", 3, "t1", "bash", "\u001b[1;1Htop\r\n\ttab\u000bvt\u000cff"), label("l1", "r1", 4, "u1", "la\u001b[7mbel\u0007"), name("n1", "l1", 5, "na\u001b[7mme\u0007\u0000"), user("u2", "n1", 6, "The leaf"),
]);
file("content-kinds.jsonl", "content that is missing, a string, blocks, an empty list", [odd("content-kinds"), { ...user("u1", null, 1, undefined) }, user("u2", "u1", 2, "a text"), user("u3", "u2", 3, [{ type: "text", text: "blocks" }]), user("u4", "u3", 4, []), assistant("a1", "u4", 5, "", { content: "an assistant with a text" }), assistant("a2", "a1", 6, "", { content: undefined }), result("r1", "a2", 7, "t", "read", "", { content: undefined }), user("u5", "r1", 8, "The leaf")]);
file("content-null-user.jsonl", "a user message with content null: pi drops the whole session from its list", [odd("content-null-user"), ...hello, user("u2", "a1", 3, null), assistant("a2", "u2", 4, "Nothing was asked")]);
file("content-null-assistant.jsonl", "an answer with content null: pi drops the whole session from its list", [odd("content-null-assistant"), ...hello, user("u2", "a1", 3, "Go on"), assistant("a2", "u2", 4, "", { content: null }), user("u3", "a2", 5, "The leaf")]);
file("content-null-tool-result.jsonl", "a tool result with content null: harmless", [odd("content-null-tool-result"), ...hello, result("r1", "a1", 3, "t", "read", "", { content: null }), user("u2", "r1", 4, "The leaf")]);
file("content-null-block.jsonl", "blocks that are null or not objects: pi drops the session from its list", [odd("content-null-block"), ...hello, user("u2", "a1", 3, [null, { type: "text", text: "after null" }, 5, "x"]), assistant("a2", "u2", 4, "Fine")]);
file("content-odd.jsonl", "content that is a number or an object, a text block whose text is missing or not a string", [odd("content-odd"), ...hello, user("u2", "a1", 3, [{ type: "text" }, { type: "text", text: "t" }]), assistant("a2", "u2", 4, [{ type: "text", text: 5 }]), user("u3", "a2", 5, "The leaf")]);
file("message-missing.jsonl", "message entries without a message, with null, and with a string (pi drops the session from its list)", [odd("message-missing"), ...hello, entry("message", "x1", "a1", 3, {}), entry("message", "x2", "x1", 4, { message: null }), entry("message", "x3", "x2", 5, { message: "text" }), user("u2", "x3", 6, "The leaf")]);
file("role-missing.jsonl", "a message without a role, and one whose role is a number", [odd("role-missing"), ...hello, message("x1", "a1", 3, { content: "no role" }), message("x2", "x1", 4, { role: 5, content: "role 5" }), user("u2", "x2", 5, "The leaf")]);

const untimed = (line) => ({ ...line, timestamp: undefined, message: line.message && { ...line.message, timestamp: undefined } });
const timed = (line, own, inner) => ({ ...line, timestamp: own, message: { ...line.message, timestamp: inner } });
file("time-missing.jsonl", "no timestamps: siblings keep the order of the file, and the time of the file counts", [odd("time-missing", { timestamp: undefined }), ...hello.map(untimed), untimed(user("u2", "a1", 3, "Sibling one")), untimed(user("u3", "a1", 4, "Sibling two"))]);
file("time-numbers.jsonl", "timestamps of entries as numbers, of messages as strings; that of the header is a number", [odd("time-numbers", { timestamp: ms(0) }), timed(hello[0], ms(1), iso(1)), timed(hello[1], ms(2), iso(2)), timed(user("u2", "a1", 0, "Later sibling"), ms(9), iso(9)), timed(user("u3", "a1", 0, "Earlier sibling"), ms(3), iso(3))]);
file("time-offset.jsonl", "ISO times with offsets, without milliseconds, and dates without a time", [odd("time-offset", { timestamp: "2026-01-05T10:00:00+01:00" }), timed(hello[0], "2026-01-05T04:00:01-05:00", undefined), timed(hello[1], "2026-01-05T09:00:02Z", undefined), timed(user("u2", "a1", 0, "Later sibling"), "2026-01-05T12:30:00.5+03:00", undefined), timed(user("u3", "a1", 0, "Earlier sibling"), "2026-01-05", undefined)]);
file("time-garbage.jsonl", "timestamps that are not times", [odd("time-garbage", { timestamp: "yesterday" }), timed(hello[0], "soon", "later"), timed(hello[1], {}, null), timed(user("u2", "a1", 3, "Sibling one"), "x", "y"), timed(user("u3", "a1", 4, "Sibling two"), "y", "x")]);
file("time-garbage-header-good.jsonl", "only the header has a time", [odd("time-garbage-header-good"), untimed(hello[0]), untimed(hello[1])]);
file("time-message-text.jsonl", "message.timestamp is a string: the time of the entry counts", [odd("time-message-text"), timed(hello[0], iso(1), "2030-01-01T00:00:00.000Z"), timed(hello[1], iso(2), "2031-01-01T00:00:00.000Z")]);
file("time-zero.jsonl", "message times of 0 and less: they do not count as activity", [odd("time-zero"), timed(hello[0], iso(1), 0), timed(hello[1], iso(2), -5)]);
file("time-fraction.jsonl", "a message time with a fraction, and one in the far future", [odd("time-fraction"), timed(hello[0], iso(1), ms(1) + 0.75), timed(hello[1], iso(2), ms(2) + 0.999)]);
file("time-tool-result-latest.jsonl", "the newest message is a tool result: only prompts and answers count", [odd("time-tool-result-latest"), ...hello, result("r1", "a1", 5000, "t", "read", "late"), name("n1", "r1", 6000, "Later still")]);

file("not-a-session-entry-first.jsonl", "not a session: the first value is an entry", [...hello, odd("too late")]);
file("not-a-session-array.jsonl", "not a session: the first value is a list", ["[]", odd("too late"), ...hello]);
file("not-a-session-number.jsonl", "not a session: the first value is a number", ["5", odd("too late"), ...hello]);
file("null-before-header.jsonl", "null before the header: pi skips it", ["null", "0", "false", '""', odd("null-before-header"), ...hello]);
file("not-a-session-id-number.jsonl", "not a session: the ID in the header is a number", [odd(42), ...hello]);
file("not-a-session-id-missing.jsonl", "not a session: the header has no ID", [odd(undefined), ...hello]);
file("not-a-session-text.jsonl", "not a session: no line is JSON", "Just some notes.\nNo JSON here.\n");
file("not-a-session-other-json.jsonl", "not a session: JSON lines of another program", ['{"level":"info","msg":"started"}', '{"level":"info","msg":"stopped"}']);
file("bom.jsonl", "a byte order mark before the header: the header is not JSON, so the file is not a session", `\ufeff${lines([odd("bom"), ...hello])}`);
file("bom-then-header.jsonl", "a byte order mark on its own line, then the header", ["\ufeff", odd("bom-then-header"), ...hello]);
file("empty.jsonl", "an empty file (pi turns it into a new session when it opens it)", "");
file("only-newlines.jsonl", "a file with only newlines", "\n\n\n");

// ── Flat layout of a custom session folder ──────────────────────────────────────────────────────────────────────
folder = "flat";
file("2026-01-05T09-00-00-000Z_flat-one.jsonl", "a session of a project in a flat folder", [header("flat-one", { cwd: "/home/dev/one" }), user("u1", null, 1, "In project one"), assistant("a1", "u1", 2, "One")]);
file("2026-01-06T09-00-00-000Z_flat-two.jsonl", "a session of another project in the same folder", [header("flat-two", { cwd: "/home/dev/two" }), user("u1", null, 5, "In project two"), assistant("a1", "u1", 6, "Two"), name("n1", "a1", 7, "Two")]);
file("renamed-by-hand.jsonl", "a fork of the first one, in another project, with an arbitrary file name", [header("flat-three", { cwd: "/home/dev/two", parentSession: `${ROOT}/flat/2026-01-05T09-00-00-000Z_flat-one.jsonl` }), user("u1", null, 1, "In project one"), assistant("a1", "u1", 2, "One"), user("u2", "a1", 9, "Now in project two")]);

// ── Other files in session folders ──────────────────────────────────────────────────────────────────────────────────
folder = "subagents";
const stamp = "2026-01-05T09-00-00-000Z_0195a0aa-0000-7000-8000-000000000003";
file(`${stamp}.jsonl`, "a session with subagents", [header("0195a0aa-0000-7000-8000-000000000003"), user("u1", null, 1, "Ask a helper"), assistant("a1", "u1", 2, "Asked")]);
file(`${stamp}/abc123/run-0/session.jsonl`, "the session of its subagent, three folders deeper: pi's list does not show it", [header("0195a0ab-0000-7000-8000-000000000004", { parentSession: `${ROOT}/subagents/${stamp}.jsonl` }), user("u1", null, 1, "You are a helper"), assistant("a1", "u1", 2, "Helped")]);
file("x.jsonl.deleted.123", "not a session, by its name: written by another program", [header("x-deleted"), user("u1", null, 1, "Deleted")]);
file("x.jsonl.backup", "not a session, by its name", [header("x-backup"), user("u1", null, 1, "Backup")]);
file("notes.txt", "not a session", "Notes.\n");
file("folder.jsonl/inside.txt", "the folder has the name of a session file", "Not a session.\n");

// ── README ──────────────────────────────────────────────────────────────────────────────────────────────────────────
for (const { name, also = [], what } of scenes) made.push([`sessions/${TALKS}`, [name, ...also].map((one) => `${one}.jsonl`).join("`, `"), what]);
const titles = {
	"sessions/--home-dev-app--": "Valid files of the current version",
	"sessions/--home-dev-old--": "Files of old versions",
	"sessions/--home-dev-odd--": "Damaged and unusual files",
	[`sessions/${TALKS}`]: "Conversations of the real pi with a scripted model",
	flat: "A flat folder, like a custom session directory",
	subagents: "Files that are not sessions, and sessions in deeper folders",
};
let readme = `# Fixtures

Session files for the tests; each shows one behavior. \`scripts/pi/fixtures.mjs\` writes them and this page. Change the
script, and run \`scripts/pi/run fixtures\`. In a \`parentSession\`, \`${ROOT}\` stands for this folder.

The real pi writes two folders:

| folder | content | script |
|---|---|---|
| \`sessions/${TALKS}/\` | conversations with a scripted model, from \`scripts/pi/lib/scenes.mjs\` | \`scripts/pi/conversations.mjs\` |
| \`families/\` | families of forks | \`scripts/pi/families.mjs\` |

\`golden/\` contains the output of the real pi for these files:

| file | content | script |
|---|---|---|
| \`list.json\` | its list of sessions | \`scripts/pi/golden.mjs\` |
| \`tree.json\` | its trees | \`scripts/pi/golden.mjs\` |
| \`rows/\` | the rows of \`/tree\` with each filter | \`scripts/pi/golden.mjs\` |
| \`prompts.json\` | its model context at the entries | \`scripts/pi/prompts.mjs\` |
| \`changes/\` | the files after its changes | \`scripts/pi/changes.mjs\` |
| \`search.json\` | the results of its session picker | \`scripts/pi/search.mjs\` |
| \`sent.json\` | the messages that it sends to the model in the conversations | \`scripts/pi/conversations.mjs\` |
| \`families.json\` | the paths that it finds in the families | \`scripts/pi/families.mjs\` |
| \`costs.json\` | the costs that it computes for requests of some models | \`scripts/pi/prices.mjs\` |
`;
for (const [part, title] of Object.entries(titles)) {
	readme += `\n## ${title}: \`${part}/\`\n\n| file | what it shows |\n|---|---|\n`;
	for (const [where, path, what] of made) if (where === part) readme += `| \`${path}\` | ${what.replaceAll("|", "\\|")} |\n`;
}
writeFileSync(join(root, "README.md"), readme);
writeFileSync(join(root, ".gitattributes"), "# These files are what they are, byte for byte.\n* -text\n");
console.log(`fixtures: ${made.length} files`);
