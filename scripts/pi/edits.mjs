// Edits the context of random conversations with pitree (the program in PITREE), alternately in a fork and in the session,
// from SEED. The real pi (PI) then resumes the file. It must send the messages that pitree lists, with a result for each call,
// and count the same tokens; after `pitree undo`, it must send what it sent before. A refusal must not write anything.
// A difference names a session and a command. (A seed does not reproduce the same bytes: the length of a stopped answer
// depends on timing.) With PITREE_LONG_TESTS=1, more sessions and edits.
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { module, pi as exported, pis } from "./lib/pi.mjs";
import { barChart } from "./lib/png.mjs";
import { entriesOf, say } from "./lib/probe.mjs";
import { any, random, seed } from "./lib/random.mjs";
import { answer, stepsWith, word } from "./lib/steps.mjs";
import { home, Talk } from "./lib/talk.mjs";

const [TALKS, SETS] = process.env.PITREE_LONG_TESTS === "1" ? [14, 5] : [4, 3];
const STEPS = 30;
const NO_RESULT = "No result provided";
const { version } = JSON.parse(readFileSync(join(process.env.PI, "package.json"), "utf8"));
const { estimateProjectedContextTokens } = await module("dist/core/compaction/compaction.js");
const start = process.env.SEED ?? "1";
seed(start);

const image = Buffer.from(barChart([0.3, 0.6, 0.9]), "base64");
const steps = [
	...stepsWith([
		() => ["bash", { command: `seq ${any([30, 3000])}` }],
		() => ["bash", { command: "test -e flag || ! touch flag" }],
		() => ["bash", { command: `echo ${["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].join("")} ${word("secret")}` }],
		() => ["read", { path: any(["chart.png", "notes.txt"]) }],
	]),
];
const showImage = async (talk) => {
	const settled = talk.until("agent_settled");
	talk.model.answers.push(answer());
	await talk.ask("prompt", { message: word("asked"), images: [{ type: "image", data: image.toString("base64"), mimeType: "image/png" }] });
	await settled;
};
const changeModel = (talk) => talk.ask("set_model", { provider: "none", modelId: any(["none-1", "none-2"]) });
// One has images, the other one thinking. 0.87.1 sends the thinking of another model as text, and only 1.6 records that a
// model did not receive an image.
const kindsOfTalks = [
	{ model: "none-3", hasImage: true, more: [showImage] },
	{ model: "none-1", hasImage: process.env.PI === pis[0], more: version === "0.87.1" ? [] : [changeModel] },
];

let comparisons = 0;
let differences = 0;
let [sessions, made, refused, idle] = [0, 0, 0, 0];
const kinds = new Map();

/** The sets of edits of one conversation. */
class Edits {
	#number = 0;

	constructor(place, pi, cwd) {
		[this.place, this.pi, this.cwd] = [place, pi, cwd];
		this.differs = false;
	}
	/** Runs pitree; returns its exit code and the lines that it prints. */
	pitree(...args) {
		const env = { PATH: process.env.PATH, HOME: this.pi.folder, XDG_STATE_HOME: join(this.pi.folder, "state"), TZ: "UTC" };
		const { status, stdout, stderr } = spawnSync(process.env.PITREE, args, { env, encoding: "utf8" });
		return { status, stderr, lines: args.includes("--json") ? stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)) : [] };
	}
	/** Returns the messages that pitree lists, and the tokens. */
	listed(file, ...at) {
		const { status, stderr, lines } = this.pitree("context", file, ...at, "--json");
		if (status !== 0) throw new Error(`pitree context ${file} ${at}: ${stderr}`);
		const { tokens } = lines.pop();
		return { messages: lines, tokens };
	}
	/** Returns the messages that pi sends when it resumes a copy, and the copy. */
	async sent(file) {
		const copy = join(this.place, "resumed", `${++this.#number}.jsonl`);
		mkdirSync(dirname(copy), { recursive: true });
		copyFileSync(file, copy);
		const talk = new Talk(this.pi, this.cwd, "--session", copy);
		const messages = await say(talk, Infinity);
		await talk.quit();
		return { messages, copy };
	}
	same(what, ours, theirs) {
		comparisons++;
		const [a, b] = [ours, theirs].map((value) => (Array.isArray(value) ? value : [value]).map((one) => JSON.stringify(one)));
		const at = a.findIndex((one, at) => one !== b[at]);
		if (at < 0 && a.length === b.length) return;
		differences++;
		this.differs = true;
		const [ours1, theirs1] = [a, b].map((list) => `${list.length}: ${(list[at < 0 ? a.length : at] ?? "nothing").slice(0, 500)}`);
		console.error(`seed ${start}, pi ${version}, ${this.what}: ${what}\n  expected ${theirs1}\n  got      ${ours1}`);
	}

	/** Makes a set of edits of a copy of a session, and undoes it; returns the edited file after pi resumed it, if any. */
	async check(source, isFork) {
		const folder = join(this.place, `set-${++this.#number}`);
		mkdirSync(folder);
		const file = join(folder, "session.jsonl");
		copyFileSync(source, file);
		const content = readFileSync(file);
		const entries = entriesOf(file);
		const at = random() < 0.2 ? [any(entries.filter(({ type }) => type === "message")).id] : [];
		const before = this.listed(file, ...at);
		const options = [...at, ...choose(before.messages, entries), isFork ? "--fork" : "--here"];
		this.what = `pitree context ${source} ${options.join(" ")}`;
		if (at.length === 0) {
			this.same("the messages before", short(before.messages), normal((await this.sent(file)).messages));
			this.same("the tokens before", before.tokens, estimated(file));
		}
		const open = new Set(unpaired(short(before.messages).filter(({ text }) => text !== NO_RESULT)).map(([id]) => id));

		const plan = this.pitree("context", file, ...options, "--dry-run", "--json");
		const { status, lines, stderr } = this.pitree("context", file, ...options, "--yes", "--json");
		this.same("the exit code of --dry-run", plan.status, status);
		if (status !== 0) {
			if (status === 2) refused++;
			else idle++;
			this.same("an exit code of 2, or 1 with nothing to edit", `${status}: ${stderr}`.match(/^2|1: .*nothing to edit/s) ? "yes" : `${status}: ${stderr}`, "yes");
			this.same("the files after a refusal", [readdirSync(folder).join(), readFileSync(file).equals(content)], ["session.jsonl", true]);
			return undefined;
		}
		made++;
		const { path, tokensBefore, tokensAfter } = lines.pop();
		plan.lines.pop();
		this.same("the lines of --dry-run", plan.lines, lines);
		for (const { edit } of lines) kinds.set(edit, (kinds.get(edit) ?? 0) + 1);
		this.same("the place", [dirname(path), path !== file, readFileSync(file).subarray(0, content.length).equals(content)], [folder, isFork, true]);
		if (isFork) this.same("the session beside a fork", readFileSync(file).length, content.length);

		const after = this.listed(path);
		this.same("tokensBefore", tokensBefore, before.tokens);
		this.same("tokensAfter", tokensAfter, after.tokens);
		this.same("the tokens", after.tokens, estimated(path));
		const edited = new Set(lines.map(({ entryId }) => entryId));
		const others = ({ messages }) => short(messages.filter(({ entryId }) => !edited.has(entryId)));
		this.same("the messages without edits", others(after), others(before));
		const gone = new Set(lines.filter(({ edit }) => edit === "omit").map(({ entryId }) => entryId));
		this.same("omitted messages", after.messages.filter(({ entryId }) => gone.has(entryId)), []);
		const { messages, copy } = await this.sent(path);
		this.same("the messages", short(after.messages), normal(messages));
		this.same("calls without results, or results without calls", unpaired(messages, open), []);

		const undone = this.pitree("undo");
		this.same("the exit code of undo", `${undone.status}${undone.status ? undone.stderr : ""}`, "0");
		if (isFork) this.same("the fork after undo", existsSync(path), false);
		else {
			this.same("the messages after undo", normal((await this.sent(path)).messages), short(before.messages));
			this.same("pitree's messages after undo", short(this.listed(path).messages), short(before.messages));
		}
		return copy;
	}
}

/** Returns random options of `pitree context`. */
function choose(messages, entries) {
	const isEditable = ({ role, from, text }) => role !== "system" && ["message", "custom_message"].includes(from) && text !== NO_RESULT;
	const editable = messages.filter(isEditable).map(({ entryId }) => entryId);
	const pool = random() < 0.1 || editable.length === 0 ? entries.map(({ id }) => id) : editable;
	const results = messages.filter(({ toolCallId }) => toolCallId).map(({ entryId }) => entryId);
	const options = [];
	if (random() < 0.8) options.push("--omit", ...Array.from({ length: 1 + Math.floor(random() * 4) }, () => any(pool)));
	if (random() < 0.3) options.push("--shorten", any(["bash>1kB", "read>0", ...results]));
	if (random() < 0.3) options.push("--suggest");
	if (random() < 0.15) options.push("--keep-last", String(1 + Math.floor(random() * 4)));
	return options.length > 0 ? options : ["--omit", any(pool)];
}
/** Returns messages that pitree lists in the form of `say`. */
function short(messages) {
	const one = ({ role, text, toolCalls, toolCallId, images = 0 }) => ({
		role: role === "toolResult" ? "tool" : role,
		text: role === "user" ? [text, ...Array(images).fill("[image_url]")].join("\n") : text,
		...(toolCalls && { calls: toolCalls.map(({ id }) => id) }),
		...(toolCallId && { call: toolCallId }),
		...(images > 0 && role !== "user" && { images }),
	});
	const all = messages.filter(({ role }) => role !== "system").map(one);
	// This API gets the images of results behind the last of them.
	all.forEach((message, at) => {
		const next = all[at + 1];
		if (message.role !== "tool" || next?.role !== "tool" || !message.images) return;
		next.images = message.images + (next.images ?? 0);
		delete message.images;
	});
	return normal(all);
}
/** Returns sent messages without the calls that pi answers itself, which pitree does not list there. */
const normal = (messages) => messages.map(({ call, text, ...rest }) => ({ ...rest, text, ...(call && text !== NO_RESULT && { call }) }));
/** Returns the calls without a result and the results without a call; pi's own results count only for the calls in `open`. */
function unpaired(messages, open = new Set()) {
	const found = [];
	let waiting = new Set();
	for (const { role, text, calls = [], call } of [...messages, { role: "end" }]) {
		if (role === "tool") {
			if (!waiting.delete(call)) found.push([call, "has no call"]);
			else if (text === NO_RESULT && !open.has(call)) found.push([call, "is answered by pi"]);
			continue;
		}
		found.push(...[...waiting].map((id) => [id, "has no result"]));
		waiting = new Set(calls);
	}
	return found;
}
/** Returns pi's estimate of the tokens of a session. */
function estimated(file) {
	const manager = exported.SessionManager.open(file);
	return estimateProjectedContextTokens(manager.buildSessionProjection(), manager.getBranch()).tokens;
}

for (let number = 0; number < TALKS; number++) {
	const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-edits-")));
	const cwd = join(place, "project");
	const { model, hasImage, more } = kindsOfTalks[number % 2];
	const pi = await home(join(place, "home"), false, model);
	const folder = join(place, "sessions");
	const talk = new Talk(pi, cwd, "--session-dir", folder);
	if (hasImage) writeFileSync(join(cwd, "chart.png"), image);
	writeFileSync(join(cwd, "notes.txt"), "A note\n".repeat(50));
	await talk.say(word("asked"), answer());
	await talk.take(STEPS, [...steps, ...more]);
	// A compaction at the end leaves little to edit.
	await talk.take(3, steps.slice(1, 3));
	await talk.quit();
	const sources = readdirSync(folder).map((file) => join(folder, file));
	sessions += sources.length;
	const edits = new Edits(place, pi, cwd);
	for (let set = 0; set < SETS; set++) {
		const next = await edits.check(any(sources), (number + set) % 2 === 0);
		// Half of the time it is edited again.
		if (next && random() < 0.5) sources.splice(0, sources.length, next);
	}
	pi.model.stop();
	if (!edits.differs) rmSync(place, { recursive: true });
}
const sets = made + refused + idle;
console.log(`seed ${start}, pi ${version}: ${sessions} sessions, ${sets} sets of edits (${made} made, ${refused} refused, ${idle} with nothing to edit): ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(", ")}; ${comparisons} comparisons, ${differences} differences`);
process.exit(differences === 0 && made * 2 >= sets ? 0 : 1);
