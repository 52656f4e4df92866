// Makes session files that pi wrote at some time, somewhere, the same bytes each time: ids are counted, an entry is a second
// younger than the one before, and folders have the names of the fixtures'.
import { readFileSync } from "node:fs";

const START = Date.parse("2026-01-05T09:00:00.000Z");
const CWD = "/home/dev/talk";

/** What `made`, the files of `[name, path]` in the order in which pi made them, would be in `folder`, by their names; `number` is in
 * the ids of the sessions. */
export function normal(made, number, folder, cwd, home) {
	const ids = new Map();
	const times = new Map();
	const texts = made.map(([, path]) => readFileSync(path, "utf8"));
	for (const line of texts.flatMap((text) => text.trimEnd().split("\n"))) {
		const { type, id } = JSON.parse(line);
		if (ids.has(id)) continue;
		times.set(id, START + ids.size * 1000);
		const at = (ids.size + 1).toString(16);
		ids.set(id, type === "session" ? `0195c0de-0000-7000-${8000 + number}-${at.padStart(12, "0")}` : at.padStart(8, "c0000000"));
	}
	const line = (text) => {
		const value = JSON.parse(text);
		const time = times.get(value.id);
		value.timestamp = new Date(time).toISOString();
		return JSON.stringify(value, (key, inner) => {
			if (key === "timestamp" && typeof inner === "number") return time;
			if (key === "durationMs") return 1500;
			if (typeof inner !== "string") return inner;
			return inner.replace(/Wall time [\d.]+ seconds/, "Wall time 0.1 seconds");
		});
	};
	const names = [...made.map(([name, path]) => [path, `${folder}/${name}.jsonl`]), ...ids, [cwd, CWD], [process.env.PI, "/usr/lib/node_modules/pi"], [home, "/home/dev"]];
	return texts.map((text, at) => {
		let out = `${text.trimEnd().split("\n").map(line).join("\n")}\n`;
		for (const [is, should] of names) out = out.replaceAll(is, should);
		return [made[at][0], out];
	});
}
