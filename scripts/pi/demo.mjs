// Writes the demo sessions of `pitree --demo` with the real pi: assets/demo/<project folder>/<session>.jsonl
// The output is reproducible: time and randomness are faked (lib/deterministic.mjs).
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clock, seed } from "./lib/deterministic.mjs";
import { out } from "./lib/pi.mjs";
import { Story } from "./lib/story.mjs";
import { WorkingCopy } from "./lib/working_copy.mjs";
import docs from "./demo/docs.mjs";
import infra from "./demo/infra.mjs";
import logq from "./demo/logq.mjs";
import webshop from "./demo/webshop.mjs";

/** The present of the samples. The program shifts all their times by the difference to the real present. */
export const NOW = Date.parse("2026-11-20T15:00:00.000Z");

const HOME = "/home/demo";
const temporary = mkdtempSync(join(tmpdir(), "pitree-demo-"));
const sessions = join(temporary, ".pi/agent/sessions");
const folderOf = (cwd) => join(sessions, `--${cwd.replace(/^\//, "").replaceAll("/", "-")}--`);

// In order of their start times, because pi's IDs increase with time.
const chapters = [...webshop, ...logq, ...infra, ...docs].sort((a, b) => (a.at < b.at ? -1 : 1));
const told = {};
const projects = {};
const damaged = [];
let latest = 0;
for (const { key, at, cwd, model = "claude-sonnet-4-5", forkOf, subagentOf, isDamaged, tell } of chapters) {
	seed(key);
	clock.set(at);
	const files = (projects[cwd] ??= new WorkingCopy(cwd));
	files.discard();
	const [parentKey, mark] = forkOf ?? subagentOf ?? [];
	const parent = told[parentKey];
	if (parentKey && !parent) throw new Error(`${key} is older than its parent ${parentKey}`);
	let story;
	if (subagentOf) story = Story.subagent(parent.story, ...subagentOf.slice(1), files, model);
	else if (!forkOf) story = Story.start(files, folderOf(cwd), model);
	else if (mark) story = Story.fork(parent.story, parent.marks[mark], files, model);
	else story = Story.forkInto(parent.story, files, folderOf(cwd), model);
	told[key] = { story, marks: tell(story, parent?.marks) ?? {} };
	if (isDamaged) damaged.push(story.file);
	latest = Math.max(latest, clock.now);
	if (clock.now >= NOW) throw new Error(`${key} ends after the present: ${new Date(clock.now).toISOString()}`);
}

/** Damages a file as a full disk does: one line is mixed with another one, and the last line is incomplete. */
function damage(path) {
	const lines = readFileSync(path, "utf8").trimEnd().split("\n");
	const middle = Math.floor(lines.length / 2);
	lines[middle] = lines[middle].slice(0, 90) + lines[middle].slice(30, 60);
	const last = lines.pop();
	writeFileSync(path, `${lines.join("\n")}\n${last.slice(0, Math.floor(last.length / 2))}`);
}
damaged.forEach(damage);

const target = join(out, "assets/demo");
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(sessions, target, { recursive: true });
let [count, entries, bytes] = [0, 0, 0];
for (const name of readdirSync(target, { recursive: true })) {
	if (!name.endsWith(".jsonl")) continue;
	const path = join(target, name);
	const content = readFileSync(path, "utf8").replaceAll(temporary, HOME);
	writeFileSync(path, content);
	count++;
	entries += content.trimEnd().split("\n").length - 1;
	bytes += Buffer.byteLength(content);
}
rmSync(temporary, { recursive: true });
console.log(`assets/demo: ${count} sessions, ${entries} entries, ${Math.round(bytes / 1024)} KB`);
console.log(`NOW is ${NOW} ms; the newest entry is ${Math.round((NOW - latest) / 60_000)} minutes older`);
