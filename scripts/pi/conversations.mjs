// Holds conversations with the real pi over its RPC mode, with a mock model, and writes
//   fixtures/sessions/--home-dev-talk--/   the sessions that pi wrote (lib/scenes.mjs), normalized to be reproducible
//   fixtures/golden/sent.json              pi's request to the model at each of their entries, and at those of some fixtures
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { normal } from "./lib/normal.mjs";
import { out } from "./lib/pi.mjs";
import { probe } from "./lib/probe.mjs";
import { scenes } from "./lib/scenes.mjs";
import { home, Talk } from "./lib/talk.mjs";

const ROOT = "/fixtures-root/sessions/--home-dev-talk--";
const folder = join(out, "fixtures/sessions/--home-dev-talk--");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
mkdirSync(join(out, "fixtures/golden"), { recursive: true });

/** Fixtures of fixtures.mjs whose entries pi sends, too. */
const FIXTURES = ["deferred", "diagnostics", "compaction-in-call"];

const all = {};
for (const [number, { name, also = [], play, probes }] of scenes.entries()) {
	const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-talk-")));
	const cwd = join(place, "project");
	const pi = await home(join(place, "home"));
	const sessions = join(place, "sessions");
	const talk = new Talk(pi, cwd, "--session-dir", sessions);
	await play(talk);
	await talk.quit();
	const age = (path) => JSON.parse(readFileSync(path, "utf8").split("\n", 1)[0]).timestamp;
	const paths = readdirSync(sessions).map((file) => join(sessions, file)).sort((a, b) => (age(a) < age(b) ? -1 : 1));
	const names = [name, ...also];
	if (paths.length !== names.length) throw new Error(`${name}: ${paths.length} files`);
	for (const [one, text] of normal(paths.map((path, at) => [names[at], path]), number, ROOT, cwd, pi.folder)) {
		writeFileSync(join(folder, `${one}.jsonl`), text);
		const copy = join(place, `${one}.jsonl`);
		writeFileSync(copy, text.replace("/home/dev/talk", cwd));
		all[`sessions/--home-dev-talk--/${one}.jsonl`] = await probe(pi, cwd, copy, probes);
		if (statSync(copy).size <= text.length) throw new Error(`${one}: pi wrote nothing`);
	}
	pi.model.stop();
	rmSync(place, { recursive: true });
}
for (const name of FIXTURES) {
	const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-talk-")));
	const pi = await home(join(place, "home"));
	const copy = join(place, `${name}.jsonl`);
	const file = `sessions/--home-dev-app--/${name}.jsonl`;
	const text = readFileSync(join(out, "fixtures", file), "utf8").replace("/home/dev/app", place);
	writeFileSync(copy, text.replaceAll('"claude-sonnet-4-5"', '"none-1"').replaceAll('"anthropic"', '"none"'));
	all[file] = await probe(pi, place, copy);
	pi.model.stop();
	rmSync(place, { recursive: true });
}
const places = Object.values(all).reduce((sum, found) => sum + Object.keys(found).length, 0);
const body = Object.entries(all).map(([file, found]) => {
	const lines = Object.entries(found).map(([id, messages]) => `\n\t${JSON.stringify(id)}: ${JSON.stringify(messages)}`);
	return `${JSON.stringify(file)}: {${lines.join(",")}\n}`;
});
writeFileSync(join(out, "fixtures/golden/sent.json"), `{\n${body.join(",\n")}\n}\n`);
console.log(`fixtures: ${Object.keys(all).length} files, ${places} places`);
process.exit(0);
