// Normalizes session files written by pi so that they are reproducible: IDs are numbered, entries are one second apart,
// and folders have the names used in the fixtures.
import { readFileSync } from "node:fs";

const START = Date.parse("2026-01-05T09:00:00.000Z");
const CWD = "/home/dev/talk";

/** Returns the normalized files of `made` by name, as if written in `folder`. `made` lists `[name, path]` in order of creation;
 * `number` becomes part of the session IDs. */
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
		const { message } = value;
		if (message?.stopReason === "aborted" && message.thinkingLevel !== undefined && message.durationMs === undefined) {
			// pi has the duration of a stopped answer only if its request had begun (1.6.0).
			const { thinkingLevel, ...rest } = message;
			value.message = { ...rest, durationMs: 0, thinkingLevel };
		}
		return JSON.stringify(value, (key, inner) => {
			if (key === "timestamp" && typeof inner === "number") return time;
			if (key === "durationMs") return 1500;
			if (typeof inner !== "string") return inner;
			return inner.replace(/Wall time [\d.]+ seconds/, "Wall time 0.1 seconds");
		});
	};
	const names = [...made.map(([name, path]) => [path, `${folder}/${name}.jsonl`]), ...ids, [cwd, CWD], [`${home}/pi`, "/usr/lib/node_modules/pi"], [home, "/home/dev"]];
	return texts.map((text, at) => {
		let out = `${text.trimEnd().split("\n").map(line).join("\n")}\n`;
		for (const [is, should] of names) out = out.replaceAll(is, should);
		return [made[at][0], out];
	});
}
