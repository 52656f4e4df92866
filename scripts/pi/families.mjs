// Creates families of forks with the real pi and writes
//   fixtures/families/CASE/            the sessions of each family, some of them moved or deleted after pi wrote them
//   fixtures/golden/families.json      the path to each leaf in each of them, from pi's getBranch
// The output is reproducible: time and randomness are faked (lib/deterministic.mjs).
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { clock, seed } from "./lib/deterministic.mjs";
import { out, pi } from "./lib/pi.mjs";
import { Story } from "./lib/story.mjs";

const { SessionManager } = pi;
const MODEL = "claude-sonnet-4-5";
const CWD = "/home/dev/family";

/** Appends a prompt and its answer; returns the answer's ID. */
function talk(story, prompt, answer) {
	story.user(prompt);
	return story.say(answer);
}
function begin(folder) {
	const story = Story.start({ cwd: CWD }, folder, MODEL);
	const first = talk(story, "What is it about?", "Forks.");
	story.label(first, "begin");
	const second = talk(story, "And then?", "Forks of forks.");
	return { story, first, second };
}
function fork(parent, entry, prompt) {
	clock.advance(3_600_000);
	const story = Story.fork(parent, entry, { cwd: CWD }, MODEL);
	return { story, last: prompt && talk(story, prompt, `${prompt} Done.`) };
}

const cases = {
	// Each fork continues, and so does its parent; some entries have labels.
	deep(folder) {
		const { story, second } = begin(folder);
		const child = fork(story, second, "One level down.");
		child.story.label(child.last, "first fork");
		const more = talk(child.story, "Further.", "Further.");
		const grandchild = fork(child.story, more, "Two levels down.");
		const third = fork(grandchild.story, grandchild.last, "Three levels down.");
		talk(third.story, "The end.", "The end.");
		talk(story, "The parent goes on.", "It does.");
		child.story.back(child.last);
		talk(child.story, "Another branch of the fork.", "Here.");
	},
	// Three forks at the same entry, one of them without entries of its own.
	"same-entry"(folder) {
		const { story, first } = begin(folder);
		for (const prompt of ["The left one.", "The right one.", undefined]) fork(story, first, prompt);
	},
	// A fork in another project that contains the entire parent.
	across(folder) {
		const { story } = begin(folder);
		clock.advance(3_600_000);
		const other = Story.forkInto(story, { cwd: "/home/dev/other" }, join(dirname(folder), "--home-dev-other--"), MODEL);
		talk(other, "In another project.", "Yes.");
	},
	deleted(folder) {
		const { story, first, second } = begin(folder);
		fork(story, first, "Left alone.");
		fork(story, second, "Left alone too.");
		rmSync(story.file);
	},
	// The parent's file was moved to another folder.
	moved(folder) {
		const { story, first } = begin(folder);
		fork(story, first, "Where is it?");
		const elsewhere = join(dirname(folder), "--home-dev-elsewhere--");
		mkdirSync(elsewhere, { recursive: true });
		renameSync(story.file, join(elsewhere, basename(story.file)));
	},
	// pi assigned IDs to the entries before forking the session.
	"version-1"(folder) {
		const lines = [
			{ type: "session", id: "old-session", timestamp: new Date(clock.now).toISOString(), cwd: CWD, provider: "anthropic", modelId: MODEL, thinkingLevel: "off" },
			...["Long ago.", "Yes."].map((text, at) => ({
				type: "message",
				timestamp: new Date(clock.now + 1000 * (at + 1)).toISOString(),
				message: { role: at ? "assistant" : "user", content: [{ type: "text", text }], timestamp: clock.now + 1000 * (at + 1) },
			})),
		];
		mkdirSync(folder, { recursive: true });
		const file = join(folder, "2025-06-01T00-00-00-000Z_old-session.jsonl");
		writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
		clock.advance(60_000);
		const story = new Story(SessionManager.open(file), { cwd: CWD }, MODEL);
		fork(story, story.leaf, "Much later.");
		talk(story, "The old one goes on.", "It does.");
	},
};

const temporary = realpathSync(mkdtempSync(join(tmpdir(), "pitree-families-")));
const target = join(out, "fixtures/families");
rmSync(target, { recursive: true, force: true });
mkdirSync(join(out, "fixtures/golden"), { recursive: true });
const paths = {};
for (const [at, [name, make]] of Object.entries(cases).entries()) {
	seed(name);
	clock.set(`2026-0${at + 1}-05T09:00:00.000Z`);
	const folder = join(temporary, name, "--home-dev-family--");
	make(folder);
	for (const file of readdirSync(join(temporary, name), { recursive: true, withFileTypes: true }).filter((file) => file.isFile())) {
		const path = join(file.parentPath, file.name);
		const text = readFileSync(path, "utf8");
		const manager = SessionManager.open(path);
		const entries = manager.getEntries();
		const parents = new Set(entries.map((entry) => entry.parentId));
		const ends = entries.filter((entry) => !parents.has(entry.id));
		const key = relative(temporary, path);
		paths[key] = Object.fromEntries(ends.map(({ id }) => [id, manager.getBranch(id).map((entry) => entry.id)]));
		if (readFileSync(path, "utf8") !== text) throw new Error(`${key}: pi wrote while it was read`);
		writeFileSync(path, text.replaceAll(temporary, "/fixtures-root/families"));
	}
}
cpSync(temporary, target, { recursive: true });
rmSync(temporary, { recursive: true });
const sorted = Object.keys(paths).sort();
const body = sorted.map((file) => `\t${JSON.stringify(file)}: ${JSON.stringify(paths[file])}`);
writeFileSync(join(out, "fixtures/golden/families.json"), `{\n${body.join(",\n")}\n}\n`);
console.log(`fixtures: ${sorted.length} sessions of ${Object.keys(cases).length} families`);
