// Holds random conversations with the real pi, from SEED (default 1), and records its requests at some entries. The sessions
// and sent.json go to the folder PITREE_TALKS, where tests/agreement/sent.rs compares them with pitree's output.
// At some entries, preferably before and after context edits, pitree (the program in PITREE) also moves the leaf: when pi
// opens such a file, it must send the same as from its own `/tree`.
// (A seed does not reproduce the same bytes: the length of a stopped answer depends on timing.)
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { any, seed } from "./lib/random.mjs";
import { entriesOf, probe, say } from "./lib/probe.mjs";
import { answer, stepsWith, word } from "./lib/steps.mjs";
import { home, Talk } from "./lib/talk.mjs";

const TALKS = Number(process.env.TALKS ?? 9);
const STEPS = 35;
const PLACES = 14; // per file
const MOVES = 2; // per file
const folder = process.env.PITREE_TALKS;
const start = process.env.SEED ?? "1";
seed(start);

const steps = [
	...stepsWith(),
	(talk) => talk.ask("set_model", { provider: "none", modelId: any(["none-1", "none-2"]) }),
];

/** Returns pi's request after pitree moved the leaf of a copy of a session. */
async function moved(pi, cwd, file, id) {
	const copy = join(cwd, "moved.jsonl");
	copyFileSync(file, copy);
	const env = { PATH: process.env.PATH, HOME: pi.folder, XDG_STATE_HOME: join(pi.folder, "state") };
	const { status, stderr } = spawnSync(process.env.PITREE, ["resume", copy, id, "--print", "--allow-write"], { env, encoding: "utf8" });
	if (status !== 0) throw new Error(`pitree resume ${file} ${id}: ${stderr}`);
	const talk = new Talk(pi, cwd, "--session", copy);
	const sent = await say(talk);
	await talk.quit();
	return sent;
}

// A second pi adds to the first one's.
const results = join(folder, "sent.json");
const all = existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : {};
const before = Object.keys(all).length;
let moves = 0;
for (let number = 0; number < TALKS; number++) {
	const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-talk-")));
	const cwd = join(place, "project");
	const pi = await home(join(place, "home"));
	const sessions = join(place, "sessions");
	const talk = new Talk(pi, cwd, "--session-dir", sessions);
	await talk.say(word("asked"), answer());
	await talk.take(STEPS, steps);
	await talk.quit();
	const part = String(before + number);
	mkdirSync(join(folder, part));
	for (const file of readdirSync(sessions)) {
		const name = join(part, file);
		copyFileSync(join(sessions, file), join(folder, name));
		const entries = entriesOf(join(folder, name));
		const edited = entries.filter(({ type }) => type === "context_edit").flatMap(({ id, targetId }) => [id, targetId]);
		const isAnswer = ({ message }) => message?.role === "assistant";
		const chosen = new Set([...edited, ...entries.filter(isAnswer).map(({ id }) => id)].slice(0, MOVES));
		const rest = entries.map(({ id }) => id).filter((id) => !chosen.has(id));
		const places = new Set([...chosen, ...Array.from({ length: PLACES - MOVES }, () => any(rest))]);
		all[name] = await probe(pi, cwd, join(sessions, file), ({ id }) => places.has(id));
		for (const id of chosen) {
			moves++;
			const [ours, theirs] = [await moved(pi, cwd, join(folder, name), id), all[name][id]].map((sent) => JSON.stringify(sent));
			if (ours !== theirs) throw new Error(`${name} at ${id}: moved by pitree ${ours}, in /tree ${theirs}`);
		}
	}
	pi.model.stop();
	rmSync(place, { recursive: true });
}
writeFileSync(results, JSON.stringify(all));
const places = Object.values(all).reduce((sum, found) => sum + Object.keys(found).length, 0);
console.log(`seed ${start}: ${Object.keys(all).length} sessions, ${places} places, ${moves} of them moved to by pitree`);
process.exit(0);
