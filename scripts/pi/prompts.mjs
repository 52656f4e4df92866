// Records the real pi's context at the entries of the fixtures in fixtures/golden/prompts.json. Each entry has its position,
// the result of pi's estimateTokens for each message (the sum if there are many) and for the entire context, a hash of the
// roles and texts from convertToLlm, and the model's tools, if any.
// The value is null if pi throws or does not return a number.
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { module, out, pi } from "./lib/pi.mjs";

// As in changes.mjs.
const NO_CONTEXT = ["cycle", "cycle-leaf", "parent-is-itself", "parent-is-itself-leaf", "id-twice", "non-objects", "empty", "message-missing"];
const MANY = 30;

const { SessionManager, convertToLlm, estimateTokens } = pi;
const { estimateProjectedContextTokens } = await module("dist/core/compaction/compaction.js");
const { getCurrentTools } = await module("../pi-ai/dist/utils/transcript.js");
const fixtures = join(out, "fixtures");
const folder = mkdtempSync(join(tmpdir(), "pitree-prompts-"));
for (const part of ["sessions", "flat"]) cpSync(join(fixtures, part), join(folder, part), { recursive: true });
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
	.filter((found) => found.isFile() && found.name.endsWith(".jsonl"))
	.map((found) => relative(folder, join(found.parentPath, found.name)))
	.sort();

function number(make) {
	try {
		const value = make();
		return Number.isFinite(value) ? value : null;
	} catch {
		return null;
	}
}
/** Converts content as providers do: joins the texts of an answer, and replaces an empty tool result with a word. */
function text({ role, content, sections, details }, model) {
	let blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);
	// transform-messages.js of pi-ai
	if (details?.imageUnsupportedByModel && details.imageUnsupportedByModel === model?.modelId) {
		blocks = blocks.map((block) => (block.type === "image" ? { type: "text", text: "(tool image omitted: model does not support images)" } : block));
	}
	const texts = blocks.filter((block) => block?.type === "text").map((block) => block.text ?? "");
	const joined = texts.join(role === "assistant" ? "" : "\n");
	if (role === "system") {
		const parts = [joined, ...Object.values(sections ?? {}).filter((part) => part !== null)];
		return parts.filter((part) => part.length > 0).join("\n\n");
	}
	if (role !== "toolResult" || joined.trim().length > 0) return joined;
	return blocks.some((block) => block?.type === "image") ? "(see attached image)" : "(no tool output)";
}
/** Returns the 32-bit FNV-1a hash of the UTF-8 bytes. */
function hash(string) {
	let hash = 0x811c9dc5;
	for (const byte of Buffer.from(string)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
	return hash;
}

const all = {};
let places = 0;
for (const file of files) {
	if (NO_CONTEXT.includes(basename(file, ".jsonl"))) continue;
	let manager;
	try {
		manager = SessionManager.open(join(folder, file));
	} catch {
		continue;
	}
	const entries = manager.getEntries();
	const step = Math.ceil(entries.length / 40);
	all[file] = [];
	for (const [at, entry] of entries.entries()) {
		if (at % step !== 0 || entry.id === undefined) continue;
		manager.branch(entry.id);
		const projection = manager.buildSessionProjection();
		const { messages } = manager.buildSessionContext();
		const tokens = messages.map((message) => number(() => estimateTokens(message)));
		const told = convertToLlm(messages).map((message) => `${message.role}\n${text(message, projection.model)}\n`);
		places++;
		all[file].push({
			at,
			tokens: tokens.length > MANY ? tokens.reduce((sum, one) => sum + one, 0) : tokens,
			total: number(() => estimateProjectedContextTokens(projection, manager.getBranch()).tokens),
			texts: hash(told.join("")),
			tools: getCurrentTools(messages).map(({ name }) => name).join() || undefined,
		});
	}
}
const body = Object.entries(all).map(([file, list]) => `${JSON.stringify(file)}: [${list.map((one) => `\n\t${JSON.stringify(one)}`).join(",")}\n]`);
writeFileSync(join(out, "fixtures/golden/prompts.json"), `{\n${body.join(",\n")}\n}\n`);
rmSync(folder, { recursive: true });
console.log(`fixtures/golden/prompts.json: ${Object.keys(all).length} sessions, ${places} places`);
process.exit(0);
