// Compares the time of pitree's list with that of the real pi's listAll on the same files. Runs both alternately and prints
// the fastest time and the median. SPEED_DIR is the session directory, PITREE the program, SPEED_ROUNDS the rounds (5).
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pi } from "./lib/pi.mjs";

const { PITREE, SPEED_DIR: dir } = process.env;
const rounds = Number(process.env.SPEED_ROUNDS ?? 5);
const cache = mkdtempSync(join(tmpdir(), "pitree-speed-"));
// pi lists project folders only in its default directory, not in one given as an argument.
process.env.PI_CODING_AGENT_DIR = cache;
symlinkSync(dir, join(cache, "sessions"));
const run = (args) => {
	const { status, stdout, stderr } = spawnSync(PITREE, [...args, "--dir", dir], {
		env: { ...process.env, XDG_CACHE_HOME: cache },
		maxBuffer: 1 << 30,
	});
	if (status > 1) throw new Error(`pitree ${args.join(" ")}: ${stderr}`);
	return stdout.toString().trim().split("\n").length;
};
const ways = {
	"pi: SessionManager.listAll": async () => (await pi.SessionManager.listAll()).length,
	"pitree ls --json --no-index": () => run(["ls", "--json", "--no-index"]),
	"pitree ls --json, index": () => run(["ls", "--json"]),
	"pitree search --json, index": () => run(["search", "--json", process.env.SPEED_WORD ?? "token"]),
};
run(["ls", "--json"]); // creates the index and warms the file cache
const times = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
const found = {};
for (let round = 0; round < rounds; round++) {
	for (const [way, list] of Object.entries(ways)) {
		const start = performance.now();
		found[way] = await list();
		times[way].push(performance.now() - start);
	}
}
rmSync(cache, { recursive: true });
if (found["pi: SessionManager.listAll"] === 0) throw new Error(`pi finds no sessions in ${dir}`);
const fastest = (way) => Math.min(...times[way]);
for (const [way, all] of Object.entries(times)) {
	const median = all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)];
	const ratio = fastest("pi: SessionManager.listAll") / fastest(way);
	console.log(`${fastest(way).toFixed(1).padStart(9)} ms (${median.toFixed(1)})  ${ratio.toFixed(1).padStart(6)}x  ${way}: ${found[way]}`);
}
