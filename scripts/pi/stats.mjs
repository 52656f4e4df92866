// Holds random conversations with the real pi, from SEED (default 1), and compares the statistics of each session with those
// of pi (`get_session_stats`): tokens, cost and prompts. The sessions have two providers, a cache, failures with retries,
// stopped answers, compactions, branch summaries, forks of forks, and a tool with a usage of its own. pitree (the program in
// PITREE) also has to count each entry of a family once. All versions of pi (PIS) read the same sessions.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { any, random, seed } from "./lib/random.mjs";
import { entriesOf } from "./lib/probe.mjs";
import { cliOf, pis } from "./lib/pi.mjs";
import { home, Talk } from "./lib/talk.mjs";

const TALKS = 6;
const STEPS = 30;
seed(process.env.SEED ?? "1");

const some = () => 1 + Math.floor(random() * 5000);
const cache = () => any([{}, { cached: some() }, { cached: some(), written: some() }]);
const answer = () => ({ text: "An answer of some words.", ...cache() });
const tool = () => ({ tools: [any([["ask_model", { tokens: some() }], ["bash", { command: "true" }], ["bash", { command: "false" }]])], ...cache() });
const steps = [
	(talk) => talk.say("A question", answer()),
	(talk) => talk.say("A question", tool(), answer()),
	(talk) => talk.say("A question", tool(), tool(), answer()),
	(talk) => talk.say("A question", { status: 529 }, answer()),
	(talk) => talk.say("A question", { status: 529 }, { status: 529 }),
	(talk) => talk.stop("A question", { text: "It begins" }),
	(talk) => talk.compact("A summary of what was said."),
	(talk) => talk.ask("set_model", any([{ provider: "none", modelId: "none-1" }, { provider: "other", modelId: "other-1" }])),
	async (talk) => talk.command(any(["goto", "leave"]), any(await talk.entries()).id),
	async (talk) => talk.ask("fork", { entryId: any((await talk.ask("get_fork_messages")).messages)?.entryId }),
	(talk) => talk.ask("clone"),
];

const env = { PATH: process.env.PATH, HOME: "/nowhere", TZ: "UTC" };
/** Returns the total of pitree. */
function pitree(dir, pi) {
	const run = (...args) => {
		const { status, stdout, stderr } = spawnSync(process.env.PITREE, [...args, "--json", "--dir", dir, "--no-index"], { env: { ...env, HOME: pi.folder }, encoding: "utf8" });
		if (status !== 0) throw new Error(`pitree ${args.join(" ")}: ${stderr}`);
		return stdout.trim().split("\n").map((line) => JSON.parse(line));
	};
	const total = run("stats").at(-1);
	const rows = (by) => run("stats", "--by", by).slice(0, -1).reduce((sum, row) => sum + row.cost, 0);
	return { total, listed: run("ls", "--subagents"), branches: rows("branch"), prompts: rows("prompt") };
}

let files = 0;
const kinds = new Map();
const note = (kind) => kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
let bad = 0;
const versions = pis;
const isNear = (one, other) => Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), 1e-9);
function compare(what, ours, theirs) {
	if (isNear(ours, theirs)) return;
	bad++;
	console.error(`${what}: pitree ${ours}, pi ${theirs}`);
}
for (let number = 0; number < TALKS; number++) {
	const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-stats-")));
	const cwd = join(place, "project");
	const pi = await home(join(place, "home"), true);
	const sessions = join(place, "sessions");
	const extension = fileURLToPath(new URL("lib/usage_tool.mjs", import.meta.url));
	const talk = new Talk(pi, cwd, "--session-dir", sessions, "--extension", extension);
	await talk.say("A question", answer());
	await talk.take(STEPS, steps);
	await talk.quit();
	const costs = new Map();
	for (const file of readdirSync(sessions)) {
		files++;
		const alone = join(place, "alone", file.replace(".jsonl", ""));
		mkdirSync(alone, { recursive: true });
		const copy = join(alone, file);
		copyFileSync(join(sessions, file), copy);
		const { total, branches, prompts } = pitree(alone, pi);
		compare(`${number}/${file}: by branch`, branches, total.cost);
		compare(`${number}/${file}: by prompt`, prompts, total.cost);
		for (const version of versions) {
			// pi may append to the file.
			const opened = join(place, "opened.jsonl");
			copyFileSync(copy, opened);
			const reader = new Talk({ ...pi, cli: cliOf(version) }, cwd, "--session", opened);
			const stats = await reader.ask("get_session_stats");
			await reader.quit();
			for (const kind of ["input", "output", "cacheRead", "cacheWrite"]) {
				compare(`${number}/${file}: ${kind}`, total[kind], stats.tokens[kind]);
			}
			compare(`${number}/${file}: cost`, total.cost, stats.cost);
			compare(`${number}/${file}: prompts`, total.prompts, stats.userMessages);
		}
		for (const entry of entriesOf(copy)) {
			const used = entry.message?.usage ?? entry.usage;
			if (used?.cost?.total > 0) note(entry.message?.role ?? entry.type);
			if (used?.cacheRead > 0) note("cached");
			if (entry.message?.provider === "other") note("other provider");
			if (entry.message?.stopReason !== undefined) note(entry.message.stopReason);
			costs.set(entry.id, used?.cost?.total ?? 0);
		}
	}
	const { total, listed } = pitree(sessions, pi);
	const once = [...costs.values()].reduce((sum, cost) => sum + cost, 0);
	compare(`${number}: the family`, total.cost, once);
	compare(`${number}: own costs`, listed.reduce((sum, { ownCost }) => sum + ownCost, 0), once);
	pi.model.stop();
	rmSync(place, { recursive: true });
}
const missing = ["assistant", "toolResult", "compaction", "branch_summary", "cached", "other provider", "error", "aborted"].filter((kind) => !kinds.has(kind));
if (missing.length > 0) throw new Error(`the conversations have no ${missing.join(", no ")}; use another seed`);
console.log(`entries: ${[...kinds].map(([kind, count]) => `${kind} ${count}`).join(", ")}`);
console.log(`${files} sessions, compared with ${versions.length} versions of pi: ${bad} differences`);
process.exit(bad === 0 ? 0 : 1);
