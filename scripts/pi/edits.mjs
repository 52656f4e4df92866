// Edits the context of random conversations with pitree (the program in PITREE), alternately in a fork and in the session,
// from SEED. The real pi (PI) then resumes the file: it must send the messages that pitree lists, with a result for each call,
// and count the same tokens; after `pitree undo`, it must send what it sent before. A refusal must not write anything.
// Messages of random branches are also copied to forks of others. A difference names the session, which is then kept, and
// the command. With PITREE_LONG_TESTS=1 (`--long`), more conversations and edits.
// (A seed does not reproduce the same bytes: the length of a stopped answer depends on timing.)
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { module, pi as exported, pis } from "./lib/pi.mjs";
import { barChart } from "./lib/png.mjs";
import { entriesOf, say } from "./lib/probe.mjs";
import { any, random, seed } from "./lib/random.mjs";
import { answer, stepsWith, word } from "./lib/steps.mjs";
import { home, Talk } from "./lib/talk.mjs";

const [TALKS, SETS] = process.env.PITREE_LONG_TESTS === "1" ? [14, 5] : [4, 3];
const [STEPS, PICKS] = [30, 2];
const NO_RESULT = "No result provided";
const NO_IMAGE = /\n?(\(tool image omitted: model does not support images\)|\[image_url\])/g;
const { estimateProjectedContextTokens } = await module("dist/core/compaction/compaction.js");
const { version } = JSON.parse(readFileSync(join(process.env.PI, "package.json"), "utf8"));
const start = process.env.SEED ?? "1";
seed(start);

const chart = barChart([0.3, 0.6, 0.9]);
const image = { type: "image", data: chart, mimeType: "image/png" };
const steps = stepsWith([
	() => ["bash", { command: `seq ${any([300, 3000])}` }],
	() => ["bash", { command: "test -e flag || ! touch flag" }],
	() => ["bash", { command: `echo ${["ghp", "_16C7e42F292c6912E7710c838347Ae178B4a"].join("")} ${word("secret")}` }],
	() => ["read", { path: "notes.txt" }],
	() => ["read", { path: "chart.png" }],
]);
// One has images, the other one thinking. 0.87.1 sends the thinking of another model as text, and only 1.6 records that a
// model did not receive an image.
const showImage = (talk) => talk.say({ message: word("asked"), images: [image] }, answer());
const changeModel = (talk) => talk.ask("set_model", { provider: "none", modelId: any(["none-1", "none-2"]) });
const kindsOfTalks = [
	{ model: "none-3", hasChart: true, more: [showImage] },
	{ model: "none-1", hasChart: process.env.PI === pis[0], more: version === "0.87.1" ? [] : [changeModel] },
];

let [sessions, made, picked, refused, empty, comparisons, differences] = [0, 0, 0, 0, 0, 0, 0];
const kinds = new Map();

/** Returns random options of `pitree context`. */
function choose(messages, entries) {
	const isEditable = ({ role, from, text }) => role !== "system" && ["message", "custom_message"].includes(from) && text !== NO_RESULT;
	const idsOf = (list) => list.map(({ entryId }) => entryId);
	const editable = idsOf(messages.filter(isEditable));
	const ids = random() < 0.1 || editable.length === 0 ? entries.map(({ id }) => id) : editable;
	const long = idsOf(messages.filter(({ toolCallId, text }) => toolCallId && text.length > 300));
	const options = [];
	if (random() < 0.8) options.push("--omit", ...Array.from({ length: 1 + Math.floor(random() * 4) }, () => any(ids)));
	if (random() < 0.4) options.push("--shorten", any(["bash>1kB", "read>0", any(ids), ...long]));
	if (random() < 0.3) options.push("--suggest");
	if (random() < 0.15) options.push("--keep-last", String(1 + Math.floor(random() * 4)));
	return options.length > 0 ? options : ["--omit", any(ids)];
}
/** Returns sent messages without the calls that pi answers itself, which pitree does not list there. */
const normal = (messages) => messages.map(({ call, text, ...rest }) => ({ ...rest, text, ...(call && text !== NO_RESULT && { call }) }));
/** Returns messages that pitree lists as `say` and `normal` return sent ones. */
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
	for (const [at, message] of all.entries()) {
		const next = all[at + 1];
		if (!message.images || next?.role !== "tool") continue;
		next.images = message.images + (next.images ?? 0);
		delete message.images;
	}
	return normal(all);
}
/** Returns the calls without a result and the results without a call; pi's own results count only for the calls in `open`. */
function unpaired(messages, open = new Set()) {
	const found = [];
	let waiting = new Set();
	for (const { role, text, calls = [], call } of [...messages, { role: "end" }]) {
		if (role !== "tool") {
			found.push(...[...waiting].map((id) => [id, "has no result"]));
			waiting = new Set(calls);
		} else if (!waiting.delete(call)) found.push([call, "has no call"]);
		else if (text === NO_RESULT && !open.has(call)) found.push([call, "is answered by pi"]);
	}
	return found;
}
/** Returns the calls that have no result on a branch. */
function unanswered(entries) {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const parents = new Set(entries.map(({ parentId }) => parentId));
	return entries.filter(({ id }) => !parents.has(id)).flatMap((tip) => {
		const path = [];
		for (let entry = tip; entry; entry = byId.get(entry.parentId)) path.push(entry.message ?? {});
		const answered = new Set(path.map(({ toolCallId }) => toolCallId));
		const blocks = path.flatMap(({ role, content }) => (role === "assistant" ? content : []));
		return blocks.filter(({ type, id }) => type === "toolCall" && !answered.has(id)).map(({ id }) => id);
	});
}
/** Returns pi's estimate of the tokens of a session. */
function estimated(file) {
	const manager = exported.SessionManager.open(file);
	return estimateProjectedContextTokens(manager.buildSessionProjection(), manager.getBranch()).tokens;
}

/** The edits of the sessions of one conversation. */
class Edits {
	#number = 0;
	differs = false;

	constructor(place, pi, cwd) {
		Object.assign(this, { place, pi, cwd });
	}
	/** Runs pitree; returns its exit code, its errors, and the lines that it prints. */
	pitree(...args) {
		const env = { PATH: process.env.PATH, HOME: this.pi.folder, XDG_STATE_HOME: join(this.pi.folder, "state"), TZ: "UTC" };
		const { status, stdout, stderr } = spawnSync(process.env.PITREE, args, { env, encoding: "utf8" });
		return { status, stderr, stdout, lines: args.includes("--json") ? stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)) : [] };
	}
	/** Returns the messages that pitree lists, and the tokens. */
	listed(...place) {
		const { status, stderr, lines } = this.pitree("context", ...place, "--json");
		if (status !== 0) throw new Error(`pitree context ${place.join(" ")}: ${stderr}`);
		const { tokens } = lines.pop();
		return { messages: lines, tokens };
	}
	/** Returns the messages that pi sends when it resumes a copy, and the copy. */
	async sent(file) {
		const copy = join(this.place, `resumed-${++this.#number}.jsonl`);
		copyFileSync(file, copy);
		const talk = new Talk(this.pi, this.cwd, "--session", copy);
		const messages = await say(talk, Infinity);
		await talk.quit();
		return { messages, copy };
	}
	/** Copies messages of one branch to a fork of another one: pi sends what pitree lists, and the sources stay as they are. */
	async pick(files) {
		const [onto, from] = [any(files), any(files)];
		const entry = (file, isEnd) => any(entriesOf(file).filter(({ message }) => message && isEnd(message)))?.id;
		// After a call pi waits for its result.
		const [a, b] = [`${onto}@${entry(onto, ({ stopReason }) => stopReason === "stop")}`, any([from, `${from}@..${entry(from, () => true)}`])];
		if (a.endsWith("@undefined")) return;
		const contents = [onto, from].map((file) => readFileSync(file));
		this.what = `pitree pick ${a} ${b}`;
		// Calls without a result on a branch, and images that the other model did not receive, are copied too.
		const open = new Set([onto, from].flatMap((file) => unanswered(entriesOf(file))));
		const withoutImages = (list) => list.map(({ images, text, ...rest }) => ({ ...rest, text: text.replace(NO_IMAGE, "") }));
		const { status, stderr, stdout } = this.pitree("pick", a, b);
		if (status !== 0) {
			return this.same("a refusal", /nothing to copy/.test(stderr) ? "" : `${status} ${stderr}`, "");
		}
		picked++;
		const made = stdout.trim();
		this.same("the sources", [onto, from].map((file, at) => readFileSync(file).equals(contents[at])), [true, true]);
		const after = this.listed(made);
		const sent = (await this.sent(made)).messages;
		this.same("the messages of the copy", withoutImages(short(after.messages)), withoutImages(normal(sent)));
		this.same("calls without results in the copy", unpaired(sent, open), []);
		this.same("the tokens of the copy", after.tokens, estimated(made));
		this.same("undo", this.pitree("undo").status, 0);
		this.same("the copy after undo", existsSync(made), false);
	}
	same(what, found, wanted) {
		comparisons++;
		const [ours, theirs] = [found, wanted].map((value) => [value].flat().map((one) => JSON.stringify(one)));
		const at = Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) => at).find((at) => ours[at] !== theirs[at]);
		if (at === undefined) return;
		differences++;
		this.differs = true;
		const [one, other] = [ours, theirs].map((list) => `${list[at]?.slice(0, 500)} (${at + 1} of ${list.length})`);
		console.error(`seed ${start}, pi ${version}: ${this.what}: ${what}\n  expected ${other}\n  found    ${one}`);
	}

	/** Edits a copy of a session and undoes that; returns the edited file, as continued by pi, unless pitree refused. */
	async check(source, isFork) {
		const folder = join(this.place, `set-${++this.#number}`);
		const file = join(folder, "session.jsonl");
		mkdirSync(folder);
		copyFileSync(source, file);
		const content = readFileSync(file);
		const entries = entriesOf(file);
		const at = random() < 0.2 ? [any(entries.filter(({ type }) => type === "message")).id] : [];
		const before = this.listed(file, ...at);
		const was = short(before.messages);
		const open = new Set(unpaired(was.filter(({ text }) => text !== NO_RESULT)).map(([id]) => id));
		const options = [...at, ...choose(before.messages, entries), isFork ? "--fork" : "--here"];
		this.what = `pitree context ${source} ${options.join(" ")}`;
		if (at.length === 0) {
			this.same("the messages before", was, normal((await this.sent(file)).messages));
			this.same("the tokens before", before.tokens, estimated(file));
		}

		const plan = this.pitree("context", file, ...options, "--dry-run", "--json");
		this.same("the files after --dry-run", [...readdirSync(folder), readFileSync(file).equals(content)], ["session.jsonl", true]);
		const { status, lines, stderr } = this.pitree("context", file, ...options, "--yes", "--json");
		this.same("the exit code of --dry-run", plan.status, status);
		if (status !== 0) {
			const isEmpty = status === 1 && stderr.includes("nothing to edit");
			if (isEmpty) empty++;
			else refused++;
			this.same("a refusal", isEmpty || status === 2 ? "" : `${status} ${stderr}`, "");
			this.same("the files after a refusal", [...readdirSync(folder), readFileSync(file).equals(content)], ["session.jsonl", true]);
			return undefined;
		}
		made++;
		const { path, tokensBefore, tokensAfter } = lines.pop();
		this.same("the edits of --dry-run", plan.lines.slice(0, -1), lines);
		for (const { edit } of lines) kinds.set(edit, (kinds.get(edit) ?? 0) + 1);
		const now = readFileSync(file);
		this.same("the file with the edits", [dirname(path), path !== file], [folder, isFork]);
		this.same("the session", [now.subarray(0, content.length).equals(content), now.length > content.length], [true, !isFork]);

		const after = this.listed(path);
		this.same("the tokens", [before.tokens, after.tokens, after.tokens], [tokensBefore, tokensAfter, estimated(path)]);
		const of = (list) => new Set(list.map(({ entryId }) => entryId));
		const [edited, omitted] = [of(lines), of(lines.filter(({ edit }) => edit === "omit"))];
		const rest = ({ messages }) => short(messages.filter(({ entryId }) => !edited.has(entryId)));
		this.same("the messages without edits", rest(after), rest(before));
		this.same("omitted messages", after.messages.filter(({ entryId }) => omitted.has(entryId)), []);
		const { messages, copy } = await this.sent(path);
		this.same("the messages", short(after.messages), normal(messages));
		this.same("calls without results, or results without calls", unpaired(messages, open), []);

		const undone = this.pitree("undo");
		this.same("the errors of undo", undone.status === 0 ? "" : undone.stderr, "");
		if (isFork) this.same("the fork after undo", existsSync(path), false);
		else this.same("the messages after undo", normal((await this.sent(path)).messages), was);
		return copy;
	}
}

for (let number = 0; number < TALKS; number++) {
	const { model, hasChart, more } = kindsOfTalks[number % 2];
	const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-edits-")));
	const cwd = join(place, "project");
	const pi = await home(join(place, "home"), false, model);
	const folder = join(place, "sessions");
	const talk = new Talk(pi, cwd, "--session-dir", folder);
	if (hasChart) writeFileSync(join(cwd, "chart.png"), Buffer.from(chart, "base64"));
	writeFileSync(join(cwd, "notes.txt"), "A note\n".repeat(50));
	await talk.say(word("asked"), answer());
	await talk.take(STEPS, [...steps, ...more]);
	// A compaction at the end leaves little to edit.
	await talk.take(3, steps.slice(1, 3));
	await talk.quit();
	const files = readdirSync(folder).map((file) => join(folder, file));
	sessions += files.length;
	const edits = new Edits(place, pi, cwd);
	let last;
	for (let set = 0; set < SETS; set++) {
		// Half of the edited files are edited again.
		last = await edits.check(last && random() < 0.5 ? last : any(files), (number + set) % 2 === 0);
	}
	for (let pick = 0; pick < PICKS; pick++) await edits.pick(files);
	pi.model.stop();
	if (!edits.differs) rmSync(place, { recursive: true });
}
const sets = made + refused + empty;
const counts = [...kinds].map(([kind, count]) => `${kind} ${count}`).join(", ");
console.log(`seed ${start}, pi ${version}: ${sessions} sessions, ${sets} sets of edits, ${refused} refused, ${empty} with nothing to edit (${counts}), ${picked} branches copied; ${comparisons} comparisons, ${differences} differences`);
process.exit(differences === 0 && made * 2 >= sets ? 0 : 1);
