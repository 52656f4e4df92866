// Exports the fixtures as session files with pitree (the program in PITREE), and opens them with the real pi: the leaf, the
// messages, the model, the thinking level and the labels must be those of the original at the same entry. Then the real pi
// resumes an export over RPC, and adds an answer after the exported entry.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pi, repository } from "./lib/pi.mjs";
import { say } from "./lib/probe.mjs";
import { home, Talk } from "./lib/talk.mjs";

const { SessionManager } = pi;
const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-export-")));
const env = { PATH: process.env.PATH, HOME: place, TZ: "UTC" };
let bad = 0;
let files = 0;
const complain = (what) => {
	bad++;
	console.error(what);
};

/** Exports to a new file, or returns the error. */
const exported = (session, ...options) => {
	const path = join(place, "export.jsonl");
	const args = ["export", session, "--force", "-o", path, "--no-index", "--no-redact", ...options];
	const { status, stderr } = spawnSync(process.env.PITREE, args, { env, encoding: "utf8" });
	return status === 0 ? { path } : { error: stderr };
};

/** Returns the last entry that is not a label. */
const placeOf = (manager) => {
	let at = manager.getEntry(manager.getLeafId());
	while (at?.type === "label") at = manager.getEntry(at.parentId);
	return at?.id ?? null;
};

const state = (manager) => {
	const { messages, model, thinkingLevel } = manager.buildSessionProjection();
	const path = new Set(manager.getBranch().map((entry) => entry.id));
	const labels = [...manager.labelsById].filter(([id]) => path.has(id) && manager.getEntry(id).type !== "label").sort();
	return { at: placeOf(manager), messages, model, thinkingLevel, labels };
};

const folders = ["--home-dev-app--", "--home-dev-talk--"].map((name) => join(repository, "fixtures/sessions", name));
folders.push(...readdirSync(join(repository, "assets/demo"), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => join(repository, "assets/demo", name)));
const sessions = folders.flatMap((folder) => readdirSync(folder).filter((file) => file.endsWith(".jsonl")).map((file) => join(folder, file)));
for (const session of sessions) {
	const copy = join(place, "original.jsonl");
	copyFileSync(session, copy);
	let original;
	try {
		original = SessionManager.open(copy);
	} catch {
		continue; // pi does not open it either
	}
	const leaf = original.getLeafId();
	const entries = original.getEntries().filter(({ type }) => type !== "label");
	if (!leaf || entries.length === 0) continue;
	const parents = new Set(entries.map(({ parentId }) => parentId));
	const ends = entries.filter(({ id }) => !parents.has(id)).map(({ id }) => id);
	const others = [entries[Math.floor(entries.length / 2)].id, entries[Math.floor(entries.length / 3)].id];
	const version = JSON.parse(readFileSync(session, "utf8").split("\n").find((line) => line.includes('"session"'))).version ?? 1;
	if (version > 3) continue;
	const isOld = version < 3;
	for (const at of [null, ...(isOld ? [] : new Set([...ends.slice(0, 4), ...others]))]) {
		for (const scope of ["--branch", "--tree"]) {
			const what = `${session.slice(repository.length)} ${scope} ${at ?? "leaf"}`;
			const { path, error } = exported(at ? `${session}@${at}` : session, "--format", "jsonl", scope);
			if (error) {
				complain(`${what}: ${error}`);
				continue;
			}
			files++;
			original.branch(at ?? leaf);
			const header = JSON.parse(readFileSync(path, "utf8").split("\n")[0]);
			if (header.parentSession || header.id === original.getSessionId()) complain(`${what}: the header has a parent or the old id`);
			const found = state(SessionManager.open(path));
			const wanted = state(original);
			if (isOld) found.at = wanted.at = null; // pi assigns ids
			for (const key of Object.keys(wanted)) {
				if (JSON.stringify(found[key]) === JSON.stringify(wanted[key])) continue;
				complain(`${what}: ${key} ${JSON.stringify(found[key])?.slice(0, 300)} instead of ${JSON.stringify(wanted[key])?.slice(0, 300)}`);
			}
		}
	}
}

// Resume.
const source = join(repository, "fixtures/sessions/--home-dev-talk--/talk-branches.jsonl");
const real = await home(join(place, "home"));
for (const scope of ["--branch", "--tree"]) {
	const { path } = exported(source, "--format", "jsonl", scope);
	const wanted = placeOf(SessionManager.open(path));
	// pi asks if the directory is missing.
	const cwd = join(place, "project");
	mkdirSync(cwd, { recursive: true });
	writeFileSync(path, readFileSync(path, "utf8").replace(/"cwd":"[^"]*"/, `"cwd":${JSON.stringify(cwd)}`));
	const talk = new Talk(real, cwd, "--session", path);
	const request = await say(talk);
	await talk.quit();
	const manager = SessionManager.open(path);
	const ids = manager.getBranch().map(({ id }) => id);
	if (request.length === 0) complain(`resume ${scope}: pi sent no messages`);
	if (!ids.includes(wanted) || manager.getEntries().length < 3) complain(`resume ${scope}: the answer is not after ${wanted}`);
}
real.model.stop?.();
rmSync(place, { recursive: true, force: true });
console.log(`${files} exports of ${sessions.length} sessions opened by pi, ${bad} differences`);
process.exit(bad > 0 ? 1 : 0);
