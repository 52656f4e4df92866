// Compares the listed cost of pitree (the program in PITREE) with pi's calculateCost, for each model of pi's table and
// requests of three sizes: below all tiers, between them and above all of them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calculateCost, models, usage } from "./lib/costs.mjs";

const place = mkdtempSync(join(tmpdir(), "pitree-costs-"));
const env = { PATH: process.env.PATH, HOME: place, TZ: "UTC" };
let [compared, bad] = [0, 0];
for (const size of [1_000, 150_000, 1_200_000]) {
	const file = join(place, "session.jsonl");
	const lines = [{ type: "session", version: 3, id: "costs", timestamp: "2026-01-05T09:00:00.000Z", cwd: place }];
	for (const [number, { provider, id }] of models.entries()) {
		const message = { role: "assistant", content: [], provider, model: id, usage: usage(size), stopReason: "stop", timestamp: 0 };
		lines.push({ type: "message", id: `m${number}`, parentId: number > 0 ? `m${number - 1}` : null, timestamp: lines[0].timestamp, message });
	}
	writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
	const args = ["stats", "--json", "--by", "provider", "--by", "model", "--dir", place, "--no-index"];
	const { status, stdout, stderr } = spawnSync(process.env.PITREE, args, { env, encoding: "utf8", maxBuffer: 1 << 28 });
	if (status !== 0) throw new Error(stderr);
	const rows = stdout.trim().split("\n").map((line) => JSON.parse(line)).filter(({ type }) => type === "row");
	const listed = new Map(rows.map(({ provider, model, listedCost }) => [`${provider}/${model}`, listedCost]));
	for (const model of models) {
		compared++;
		const name = `${model.provider}/${model.id}`;
		const [ours, theirs] = [listed.get(name), calculateCost(model, usage(size)).total];
		if (Math.abs(ours - theirs) <= 1e-9 * theirs) continue;
		bad++;
		console.error(`${name}, ${size} tokens: pitree ${ours}, pi ${theirs}`);
	}
}
rmSync(place, { recursive: true });
console.log(`${compared} costs of ${models.length} models, ${bad} differences`);
process.exit(bad === 0 && models.length > 1000 ? 0 : 1);
