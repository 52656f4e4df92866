// Records how the real pi reads fixtures/, and writes fixtures/golden/: list.json, tree.json and rows/.
//
// pi works on a copy, because opening a file can repair or migrate it. Skipped, because pi's result is not usable:
//   cycle*, parent-is-itself-leaf   pi loops forever (getBranch follows the cycle), or omits the cycle
//   id-twice                        pi loses the first of the two entries
//   non-objects                     pi treats 5, "x", [] and true as entries without an ID
//   empty                           pi turns it into a new session with a new ID
// In version 1 files pi gives every entry a random ID: those IDs are null here.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { out, pi } from "./lib/pi.mjs";

process.env.TZ = "UTC";
process.env.HOME = "/home/dev"; // pi shortens it to ~

const NO_TREE = ["cycle", "cycle-leaf", "parent-is-itself-leaf", "id-twice", "non-objects", "empty"];
// pi draws the control characters and line breaks of the first two unchanged, and its /tree throws on the others.
const NO_ROWS = ["control-characters", "name-newline", "content-odd", "message-missing"];
const MODES = ["default", "no-tools", "user-only", "labeled-only", "all"];
const MTIME = new Date("2026-01-02T03:04:05.000Z");

const { SessionManager, TreeSelectorComponent, initTheme } = pi;
initTheme("dark");

const fixtures = join(out, "fixtures");
const golden = join(fixtures, "golden");
const copy = mkdtempSync(join(tmpdir(), "pitree-golden-"));
for (const part of ["sessions", "flat", "subagents"]) cpSync(join(fixtures, part), join(copy, part), { recursive: true });

const files = [];
for (const found of readdirSync(copy, { recursive: true, withFileTypes: true })) {
	if (!found.isFile()) continue;
	const path = join(found.parentPath, found.name);
	utimesSync(path, MTIME, MTIME);
	if (found.name.endsWith(".jsonl")) files.push(path);
}
const byPath = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
files.sort(byPath);
const text = (value) => (typeof value === "string" ? value.toWellFormed() : value);
const time = (date) => (Number.isNaN(date.getTime()) ? null : date.toISOString());
const short = (path) => relative(copy, path);
const write = (path, value) => writeFileSync(join(golden, path), `${JSON.stringify(value, null, "\t")}\n`);

rmSync(join(golden, "rows"), { recursive: true, force: true }); // changes.mjs writes changes/
mkdirSync(join(golden, "rows"), { recursive: true });

// The list of each folder, before any file is opened

const folders = [...readdirSync(join(copy, "sessions")).map((name) => join("sessions", name)), "flat", "subagents"];
const list = [];
for (const folder of folders) {
	for (const info of await SessionManager.listAll(join(copy, folder))) {
		list.push({
			path: short(info.path),
			id: text(info.id ?? null),
			cwd: text(info.cwd),
			name: text(info.name ?? null),
			firstMessage: text(info.firstMessage),
			messageCount: info.messageCount,
			created: time(info.created),
			modified: time(info.modified),
			parentSession: text(info.parentSessionPath ?? null),
		});
	}
}
write("list.json", list.sort((a, b) => byPath(a.path, b.path)));

// The trees

function contentText(content) {
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	return content
		.filter((block) => block?.type === "text" && typeof block.text === "string")
		.map((block) => block.text)
		.join("");
}
function entryText(entry) {
	switch (entry.type) {
		case "message":
			return entry.message?.role === "bashExecution" ? entry.message.command : contentText(entry.message?.content);
		case "custom_message":
			return contentText(entry.content);
		case "compaction":
		case "branch_summary":
			return entry.summary;
		case "session_info":
			return entry.name;
		case "label":
			return entry.label;
		case "model_change":
			return entry.modelId;
		case "thinking_level_change":
			return entry.thinkingLevel;
		default:
			return "";
	}
}
function walk(manager, hideIds) {
	const leaf = manager.getLeafId();
	const active = new Set(manager.getBranch());
	const rows = [];
	const stack = manager.getTree().map((node) => [node, 0]).reverse();
	while (stack.length > 0) {
		const [{ entry, children, label }, depth] = stack.pop();
		rows.push({
			id: hideIds ? null : (text(entry.id) ?? null),
			parentId: hideIds ? null : (text(entry.parentId) ?? null),
			depth,
			type: entry.type ?? null,
			role: (entry.type === "message" ? entry.message?.role : undefined) ?? null,
			timestamp: text(entry.timestamp) ?? null,
			label: text(label) ?? null,
			active: active.has(entry),
			leaf: entry.id === leaf,
			text: text(entryText(entry)) ?? "",
		});
		for (let i = children.length - 1; i >= 0; i--) stack.push([children[i], depth + 1]);
	}
	return rows;
}
function drawn(manager, mode) {
	const tall = 1_000_000;
	const selector = new TreeSelectorComponent(manager.getTree(), manager.getLeafId(), tall, () => {}, () => {}, () => {}, undefined, mode);
	const rows = selector.getTreeList().render(2000).map(stripVTControlCharacters);
	rows.pop(); // (n/m)
	if (rows[0] === "  No entries found") return [];
	return rows.map((row) => row.slice(2).trimEnd());
}
const trees = {};
const refused = [];
for (const path of files) {
	const name = basename(path, ".jsonl");
	if (NO_TREE.includes(name)) continue;
	let manager;
	try {
		manager = SessionManager.open(path);
	} catch {
		refused.push(short(path));
		continue;
	}
	trees[short(path)] = walk(manager, name.startsWith("v1-"));
	if (NO_ROWS.includes(name) || short(path).startsWith("subagents/")) continue;
	const sections = MODES.map((mode) => [`## ${mode}`, ...drawn(manager, mode)].join("\n"));
	writeFileSync(join(golden, "rows", `${basename(dirname(path))}__${name}.txt`), `${sections.join("\n")}\n`);
}
write("tree.json", { refused, ...trees });
rmSync(copy, { recursive: true });
console.log(`fixtures/golden: ${list.length} listed, ${Object.keys(trees).length} trees, ${refused.length} refused`);
process.exit(0); // an empty tree leaves a timer running
