// Writes the demo sessions of `pitree --demo` with the real pi: assets/demo/<project folder>/<session>.jsonl
// The output is reproducible: time and randomness are faked (lib/deterministic.mjs).
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clock, seed } from "./lib/deterministic.mjs";
import { out } from "./lib/pi.mjs";
import { Story } from "./lib/story.mjs";
import docs from "./demo/docs.mjs";
import infra from "./demo/infra.mjs";
import logq from "./demo/logq.mjs";
import webshop from "./demo/webshop.mjs";

const HOME = "/home/demo";
const temporary = mkdtempSync(join(tmpdir(), "pitree-demo-"));
const sessions = join(temporary, ".pi/agent/sessions");
const folderOf = (cwd) => join(sessions, `--${cwd.replace(/^\//, "").replaceAll("/", "-")}--`);

// In order of their start times, because pi's IDs increase with time.
const chapters = [...webshop, ...logq, ...infra, ...docs].sort((a, b) => (a.at < b.at ? -1 : 1));
const told = {};
for (const { key, at, cwd, model = "claude-sonnet-4-5", forkOf, tell } of chapters) {
	seed(key);
	clock.set(at);
	let story;
	let parent;
	if (!forkOf) story = Story.start(cwd, folderOf(cwd), model);
	else {
		const [parentKey, mark] = forkOf;
		parent = told[parentKey];
		if (!parent) throw new Error(`${key} is older than its parent ${parentKey}`);
		story = mark ? Story.fork(parent.story, parent.marks[mark], model) : Story.forkInto(parent.story, cwd, folderOf(cwd), model);
	}
	told[key] = { story, marks: tell(story, parent?.marks) ?? {} };
}

const target = join(out, "assets/demo");
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(sessions, target, { recursive: true });
let [count, bytes] = [0, 0];
for (const name of readdirSync(target, { recursive: true })) {
	if (!name.endsWith(".jsonl")) continue;
	const path = join(target, name);
	const content = readFileSync(path, "utf8").replaceAll(temporary, HOME);
	writeFileSync(path, content);
	count++;
	bytes += Buffer.byteLength(content);
}
rmSync(temporary, { recursive: true });
console.log(`assets/demo: ${count} sessions, ${Math.round(bytes / 1024)} KB`);
