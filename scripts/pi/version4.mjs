// Creates sessions of version 4 with the session repository of pi's core, which no pi uses yet (0.87.1), and writes
//   fixtures/version4/                 the sessions
//   fixtures/golden/version4.json      their metadata, names, leaves, labels and entries, as the repository reads them
// The output is reproducible: time and randomness are faked (lib/deterministic.mjs).
import { mkdirSync, mkdtempSync, rmSync, cpSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { clock } from "./lib/deterministic.mjs";
import { module, out } from "./lib/pi.mjs";

const core = (path) => module(join("../pi-agent-core/dist/harness", path));
const { JsonlSessionRepo, branchTip, insertUsage, laneConfig, laneState, setValue } = await core("session/index.js");
const { NodeExecutionEnv } = await core("env/nodejs.js");
const { BACKGROUND_CONTEXT: context } = await core("context.js");

const CWD = "/home/dev/next";
const root = mkdtempSync(join(tmpdir(), "pitree-version4-"));
process.on("exit", () => rmSync(root, { recursive: true }));
const open = (sessionsRoot) => new JsonlSessionRepo({ fileSystem: new NodeExecutionEnv({ cwd: "/" }), sessionsRoot, now: () => clock.now });
const usage = (total) => ({ input: 100, output: 50, cacheRead: 0, cacheWrite: 0, totalTokens: 150, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total } });

/** Appends a prompt and its answer; returns their IDs. */
async function talk(branch, prompt, answer) {
	clock.advance(10_000);
	const user = await branch.appendMessage({ role: "user", content: [{ type: "text", text: prompt }], timestamp: clock.now }, context);
	clock.advance(5_000);
	const content = [{ type: "text", text: answer }];
	const model = { api: "anthropic-messages", provider: "anthropic", model: "claude-sonnet-4-5" };
	const message = { role: "assistant", content, ...model, usage: usage(0.01), stopReason: "stop", timestamp: clock.now };
	return [user, await branch.appendMessage(message, context)];
}

const repo = open(root);
clock.set("2026-02-01T09:00:00.000Z");
/** Creates a session with an empty main branch. */
async function create() {
	const session = await repo.create({ cwd: CWD }, context);
	const main = await session.createBranch("main", null, context);
	const model = { provider: "anthropic", modelId: "claude-sonnet-4-5" };
	await session.setValue(laneConfig("main"), { model, thinkingLevel: "off", activeToolNames: [] }, context);
	await session.setValue(laneState("main"), { currentOperationId: null, lastOperationId: null, inbox: [] }, context);
	return [session, main];
}
const moveTo = (session, entry) => session.setValue(branchTip("main"), entry, context);

// The leaf is not the last entry; a label is cleared.
const [session, main] = await create();
const [, first] = await talk(main, "Which parser fits version 4?", "A streaming one.");
await session.setLabel(first, "begin", context);
await session.setName(" Parsers for version 4 ", context);
const [, second] = await talk(main, "Show the streaming parser.", "Here is the tokenizer.");
await session.setLabel(second, "wrong", context);
await session.setLabel(second, undefined, context);
await moveTo(session, first);
await talk(main, "What about a table?", "A table of transitions is slower.");
await main.appendCustomEntry("notes", { text: "compare both" }, context);
await moveTo(session, second);
await session.mutate((mutator) => mutator.commit([insertUsage({ id: "usage-1", usage: usage(0.5), adjustment: true })], context), context);

// A fork of one branch, which goes on.
clock.advance(3_600_000);
const fork = await repo.fork(session.metadata, { scope: "branch", branch: "main", entryId: first, position: "at" }, context);
await talk(await fork.branch("main", context), "Only the table, please.", "Only the table.");

// pi resumes before the first message; the name is cleared.
clock.advance(3_600_000);
const [empty, itsMain] = await create();
await talk(itsMain, "Start over?", "Yes.");
await empty.setName("Gone", context);
await empty.setName(undefined, context);
await moveTo(empty, null);

// A session of version 3 that its first change converts.
clock.advance(3_600_000);
const old = [
	{ type: "session", version: 3, id: "01a10000-0000-7000-8000-00000000000a", timestamp: new Date(clock.now).toISOString(), cwd: CWD },
	{ type: "message", id: "aaaaaaa1", parentId: null, message: { role: "user", content: "An old question", timestamp: clock.now } },
	{ type: "message", id: "aaaaaaa2", parentId: "aaaaaaa1", message: { role: "assistant", content: [{ type: "text", text: "An old answer" }], provider: "anthropic", model: "claude-sonnet-4-5", usage: usage(0.02), stopReason: "stop", timestamp: clock.now } },
	{ type: "label", id: "aaaaaaa3", parentId: "aaaaaaa2", targetId: "aaaaaaa2", label: "old label" },
	{ type: "compaction", id: "aaaaaaa4", parentId: "aaaaaaa3", summary: "Summary of the old part", firstKeptEntryId: "aaaaaaa2", tokensBefore: 1000 },
	{ type: "session_info", id: "aaaaaaa5", parentId: "aaaaaaa4", name: "Converted" },
].map((entry) => ({ timestamp: new Date(clock.now).toISOString(), ...entry }));
const path = join(root, "--home-dev-next--", `2026-02-01T12-00-00-000Z_${old[0].id}.jsonl`);
writeFileSync(path, old.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
const converted = await repo.open((await repo.list({}, context)).find(({ id }) => id === old[0].id), context);
await talk(await converted.branch("main", context), "Is it converted?", "It is.");

for (const one of [session, fork, empty, converted]) await one.close(context);

// What a new repository reads.
const read = [];
const reader = open(root);
for (const metadata of await reader.list({}, context)) {
	const one = await reader.open(metadata, context);
	const entries = await one.findEntries({ order: "asc" }, context);
	const labels = {};
	for (const { id } of entries) {
		const label = await one.getLabel(id, context);
		if (label !== undefined) labels[id] = label;
	}
	const { id, cwd, createdAt, parentSessionId = null } = metadata;
	const name = (await one.getName(context)) ?? null;
	const leaf = await (await one.branch("main", context)).getTipId(context);
	const rows = entries.map(({ id, parentId, type, timestamp }) => ({ id, parentId, type, timestamp }));
	read.push({ file: basename(metadata.path), id, cwd, createdAt, parentSessionId, name, leaf, labels, entries: rows });
	await one.close(context);
}
mkdirSync(join(out, "fixtures/golden"), { recursive: true });
rmSync(join(out, "fixtures/version4"), { recursive: true, force: true });
cpSync(root, join(out, "fixtures/version4"), { recursive: true });
writeFileSync(join(out, "fixtures/golden/version4.json"), `${JSON.stringify(read, null, "\t")}\n`);
