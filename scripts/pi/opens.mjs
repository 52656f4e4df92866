// Opens the fixtures that pitree changed, and files that it repaired (tests/agreement/changes.rs), with the real pi, and
// compares the results.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pi } from "./lib/pi.mjs";

const { SessionManager } = pi;
const folder = process.env.PITREE_MADE;
const wanted = JSON.parse(readFileSync(join(folder, "wanted.json"), "utf8"));
const listed = new Set((await SessionManager.listAll(folder)).map(({ path }) => path));
let bad = 0;
for (const { path, what, ...want } of wanted) {
	const before = readFileSync(path);
	const manager = SessionManager.open(path);
	const { entries, messages, model, thinkingLevel } = manager.buildSessionProjection();
	const labels = [...manager.labelsById]
		.filter(([id]) => manager.getEntry(id))
		.map(([id, label]) => [id, label, Date.parse(manager.labelTimestampsById.get(id))])
		.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
	const found = {
		leaf: manager.getLeafId(),
		name: want.name === null ? null : (manager.getSessionName() ?? ""),
		entries: manager.getEntries().length,
		labels,
		context: entries.filter((one) => one.messages.length > 0).map((one) => one.sourceEntry.id),
		messages: messages.length,
		model: model && [model.provider ?? "", model.modelId ?? ""],
		thinkingLevel,
	};
	for (const [key, value] of Object.entries(found)) {
		if (JSON.stringify(value) === JSON.stringify(want[key])) continue;
		bad++;
		console.error(`${what}: ${key}: pi ${JSON.stringify(value)}, pitree ${JSON.stringify(want[key])}`);
	}
	// Repaired files are listed, and their trees have all entries.
	if (what.endsWith(": repaired")) {
		let count = 0;
		const stack = [...manager.getTree()];
		for (let node = stack.pop(); node; node = stack.pop()) {
			count++;
			stack.push(...node.children);
		}
		if (count !== want.entries || !listed.has(path)) {
			bad++;
			console.error(`${what}: ${count} of ${want.entries} entries in the tree, ${listed.has(path) ? "" : "not "}listed`);
		}
	}
	// A moved session is listed in its new working directory only, and `pi -c` resumes it there.
	if (what.endsWith(": moved")) {
		const there = (await SessionManager.list("/moved/to", folder)).map((one) => one.path);
		const before = (await SessionManager.list("/old", folder)).map((one) => one.path);
		const recent = SessionManager.continueRecent("/moved/to", folder).getSessionFile();
		if (there.join() !== path || before.includes(path) || recent !== path) {
			bad++;
			console.error(`${what}: listed in /moved/to: ${there}; in /old: ${before}; resumed: ${recent}`);
		}
	}
	if (manager.getBranch()[0]?.parentId && what.includes("fork")) console.error(`${what}: the first entry has a parent`);
	if (!readFileSync(path).equals(before)) {
		bad++;
		console.error(`${what}: pi changed the file when it opened it`);
	}
}
console.log(`${wanted.length} files opened by pi, ${bad} differences`);
process.exit(bad === 0 ? 0 : 1);
