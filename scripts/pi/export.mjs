// Exports the fixtures as session files with pitree (the program in PITREE), and opens them with the real pi: the leaf, the
// messages, the model, the thinking level and the labels must be those of the original at the same entry. Exports with less
// content have the same messages without it, and a family has one file for each member. Then the real pi resumes exports
// over RPC, and adds an answer after the exported entry.
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

/** Options of exports with less content. */
const LESS = ["--tools", "short", "--no-thinking", "--no-images"];
const SIGNATURES = ["thinkingSignature", "textSignature", "thoughtSignature"];
const NO_RESULT = "[result left out of this export]";

/** Returns a message as in an export with less content. Notes of images have no size here. */
const reduced = ({ ...message }) => {
	if (message.role === "toolResult") {
		message.content = [{ type: "text", text: NO_RESULT }];
		delete message.details;
		delete message.nestedCalls;
		message.toolCallId = message.toolCallId?.split("|")[0];
	}
	if (message.role === "bashExecution") {
		message.output = NO_RESULT;
		delete message.fullOutputPath;
	}
	if (!Array.isArray(message.content)) return message;
	const blocks = message.content.filter((block) => block?.type !== "thinking");
	message.content = blocks.map((block) => {
		if (block?.type === "image") return { type: "text", text: "[image]" };
		const copy = { ...block };
		for (const key of SIGNATURES) delete copy[key];
		if (copy.type === "toolCall") copy.id = copy.id?.split("|")[0];
		return copy;
	});
	return message;
};

/** Exports to a new file or directory, or returns the error. */
const exported = (session, ...options) => {
	const path = join(place, options.includes("--family") ? "family" : "export.jsonl");
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
		for (const [scope, ...less] of [["--branch"], ["--tree"], ["--context"], ["--tree", ...LESS], ["--context", ...LESS]]) {
			const what = `${session.slice(repository.length)} ${scope} ${less.length > 0 ? "with less content " : ""}${at ?? "leaf"}`;
			const { path, error } = exported(at ? `${session}@${at}` : session, "--format", "jsonl", scope, ...less);
			if (error) {
				if (!(version < 2 && scope === "--context" && error.includes("have no IDs"))) complain(`${what}: ${error}`);
				continue;
			}
			files++;
			original.branch(at ?? leaf);
			const header = JSON.parse(readFileSync(path, "utf8").split("\n")[0]);
			if (header.parentSession || header.id === original.getSessionId()) complain(`${what}: the header has a parent or the old id`);
			const opened = SessionManager.open(path);
			const found = state(opened);
			const wanted = state(original);
			if (scope === "--context") {
				// It has only the entries on which the context depends.
				found.at = wanted.at = found.labels = wanted.labels = null;
				const others = opened.getEntries().filter(({ id, type }) => !isOld && (!original.getEntry(id) || type === "label"));
				if (others.length > 0) complain(`${what}: entries ${JSON.stringify(others).slice(0, 300)}`);
			}
			if (less.length > 0) {
				wanted.messages = wanted.messages.map(reduced);
				found.messages = JSON.parse(JSON.stringify(found.messages).replace(/\[image left out of this export: [^\]]*\]/g, "[image]"));
			}
			if (isOld) found.at = wanted.at = null; // pi assigns ids
			for (const key of Object.keys(wanted)) {
				if (JSON.stringify(found[key]) === JSON.stringify(wanted[key])) continue;
				complain(`${what}: ${key} ${JSON.stringify(found[key])?.slice(0, 300)} instead of ${JSON.stringify(wanted[key])?.slice(0, 300)}`);
			}
		}
	}
}

// Families.
let members = 0;
const families = join(repository, "fixtures/families");
for (const folder of readdirSync(families)) {
	for (const file of readdirSync(join(families, folder), { recursive: true }).filter((file) => file.endsWith(".jsonl"))) {
		const { path, error } = exported(join(families, folder, file), "--format", "jsonl", "--family", "--dir", join(families, folder));
		if (error) {
			complain(`family of ${folder}/${file}: ${error}`);
			continue;
		}
		const made = readdirSync(path).filter((name) => name.endsWith(".jsonl"));
		members += made.length;
		for (const name of made) {
			const manager = SessionManager.open(join(path, name));
			if (!manager.getLeafId() || manager.getHeader().parentSession) complain(`family of ${folder}/${file}: ${name}`);
		}
		if (made.length === 0) complain(`family of ${folder}/${file}: no files`);
		rmSync(path, { recursive: true });
	}
}
if (members === 0) complain("no families");

// Resume.
const source = join(repository, "fixtures/sessions/--home-dev-talk--/talk-branches.jsonl");
const real = await home(join(place, "home"));
for (const [scope, ...less] of [["--branch"], ["--tree"], ["--context"], ["--context", ...LESS]]) {
	const { path } = exported(source, "--format", "jsonl", scope, ...less);
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
console.log(`${files} exports of ${sessions.length} sessions and ${members} of families opened by pi, ${bad} differences`);
process.exit(bad > 0 ? 1 : 0);
