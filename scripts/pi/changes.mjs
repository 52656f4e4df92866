// Applies pi's own changes to the fixtures with the real pi, and writes fixtures/golden/changes/:
//   contexts.json   the model's context at the entries of every file, by position in the file
//   NAME.txt        for some files: the lines that pi appends for names and labels, the forks that it creates, the v3 form
//                   of an old file
// New IDs become <id1>…, new times <time>, new session IDs <session>; paths start at the fixtures' folder.
import { clock } from "./lib/deterministic.mjs"; // must come before pi
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { out, pi } from "./lib/pi.mjs";

// Skipped: pi loops forever on the first ones, loses entries of id-twice, invents an ID for empty, and throws on message-missing.
const NO_CONTEXT = ["cycle", "cycle-leaf", "parent-is-itself", "parent-is-itself-leaf", "id-twice", "non-objects", "empty", "message-missing"];
// Entries to fork at; "*" means every entry.
const FORKS = {
	"label-chain": ["l2", "u2", "k1", "l7", "k2", "a3", "l9"],
	"label-again": ["a1", "l3", "l5"],
	"label-unknown-target": ["l2"],
	branches: ["a2", "u4", "l4"],
	compaction: ["k1", "a2", "a4"],
	"compaction-keeps-none": ["k1", "a2"],
	"compaction-unknown-kept": ["u2"],
	"compaction-edits": ["a3"],
	"branch-summary": ["a1"],
	"several-roots": "*",
	"fork-child": ["l1", "a2b"],
	"v2-hook-message": ["a1", "a2"],
	"v2-labels": ["a1", "a2"],
	orphan: "*",
	"parent-missing": "*",
	"parent-odd": "*",
	"key-order": "*",
	"keys-twice": "*",
	"escaped-keys": "*",
	"spaces-in-json": "*",
	"id-number": "*",
	"proto-keys": "*",
	"lone-surrogate": ["u2"],
	crlf: ["a1"],
	"compaction-in-call": ["r1", "a4"],
};
const NAMES = ["A name", "  line\r\n\nbreaks \n", "quotes \" \\ / é 漢 🦀 \u2028", ""];
const LABELS = ["A label", "quotes \" \\ é 🦀", undefined];
const NOW = "2030-03-04T05:06:07.089Z";

const { SessionManager } = pi;
const fixtures = join(out, "fixtures");
const golden = join(fixtures, "golden/changes");
rmSync(golden, { recursive: true, force: true });
mkdirSync(golden, { recursive: true });

const folder = mkdtempSync(join(tmpdir(), "pitree-changes-"));
for (const part of ["sessions", "flat"]) cpSync(join(fixtures, part), join(folder, part), { recursive: true });
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
	.filter((found) => found.isFile() && found.name.endsWith(".jsonl"))
	.map((found) => relative(folder, join(found.parentPath, found.name)))
	.sort();
clock.set(NOW);

/** Returns a session manager for a fresh copy. */
function open(file) {
	const path = join(folder, file);
	cpSync(join(fixtures, file), path);
	try {
		return SessionManager.open(path);
	} catch {
		return undefined;
	}
}
/** Returns the lines with new IDs, times and the folder replaced. */
function normal(lines, old, session) {
	const ids = new Map();
	for (const line of lines) {
		const { id, type } = JSON.parse(line);
		if (type !== "session" && !old.has(id)) ids.set(id, `<id${ids.size + 1}>`);
	}
	let text = lines.map((line) => `${line}\n`).join("");
	for (const [id, name] of ids) text = text.replaceAll(`"${id}"`, `"${name}"`);
	if (session) text = text.replaceAll(session, "<session>");
	return text.replaceAll(NOW, "<time>").replaceAll(`${folder}/`, "");
}

const contexts = {};
let changed = 0;
for (const file of files) {
	const name = basename(file, ".jsonl");
	if (NO_CONTEXT.includes(name)) continue;
	const manager = open(file);
	if (!manager) continue;
	const entries = manager.getEntries();
	const place = new Map(entries.map((entry, at) => [entry.id, at]));
	const step = Math.ceil(entries.length / 40);
	contexts[file] = [];
	for (const [at, entry] of entries.entries()) {
		if (at % step !== 0 || entry.id === undefined) continue;
		manager.branch(entry.id);
		const { entries: seen, messages, model, thinkingLevel } = manager.buildSessionProjection();
		if (messages.length !== manager.buildSessionContext().messages.length) throw new Error(file);
		const giving = seen.filter((one) => one.messages.length > 0).map((one) => place.get(one.sourceEntry.id));
		contexts[file].push({ at, entries: giving.length > 60 ? giving.length : giving, messages: messages.length, model, thinkingLevel: thinkingLevel ?? null });
	}
	manager.resetLeaf();
	if (manager.buildSessionContext().messages.length !== 0) throw new Error(file);

	const isOld = name.startsWith("v1-") || name.startsWith("v2-");
	if (!FORKS[name] && !isOld) continue;
	changed++;
	let text = "";
	const section = (title, part) => {
		text += `## ${title}\n${part}`;
	};
	const before = new Set(name.startsWith("v1-") ? [] : place.keys());
	if (isOld) section("migrated", normal(readFileSync(join(folder, file), "utf8").trimEnd().split("\n"), before));
	const append = (title, change) => {
		const manager = open(file);
		const old = new Set(manager.getEntries().map((entry) => entry.id));
		change(manager);
		const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
		section(title, normal(lines.slice(-1), old));
	};
	if (!name.startsWith("v1-")) {
		for (const value of NAMES) append(`name ${JSON.stringify(value)}`, (manager) => manager.appendSessionInfo(value));
		const { id } = entries[0];
		for (const value of LABELS) append(`label ${JSON.stringify(id)} ${JSON.stringify(value ?? null)}`, (manager) => manager.appendLabelChange(id, value));
	}
	for (const id of FORKS[name] === "*" ? place.keys() : (FORKS[name] ?? [])) {
		const manager = open(file);
		const made = manager.createBranchedSession(id);
		const lines = [manager.getHeader(), ...manager.getEntries()].map((line) => JSON.stringify(line));
		if (existsSync(made)) {
			if (readFileSync(made, "utf8") !== lines.map((line) => `${line}\n`).join("")) throw new Error(made);
			rmSync(made);
		}
		section(`fork ${JSON.stringify(id)}`, normal(lines, before, manager.getSessionId()));
	}
	writeFileSync(join(golden, `${name}.txt`), text);
}
const body = Object.entries(contexts).map(
	([file, list]) => `${JSON.stringify(file)}: [${list.map((one) => `\n\t${JSON.stringify(one).toWellFormed()}`).join(",")}\n]`,
);
writeFileSync(join(golden, "contexts.json"), `{\n${body.join(",\n")}\n}\n`);
rmSync(folder, { recursive: true });
console.log(`fixtures/golden/changes: ${Object.keys(contexts).length} contexts, ${changed} changed`);
