// Six real pis (PI) in a real tmux, two of them in one directory, with pitree's extension and the mock model: pitree (PITREE)
// lists them and goes to the right pane while panes are moved, renamed and closed, 30 times from SEED. Then `pitree next`,
// notifications of pis that are not in focus, and names by pi. Exit code 1 on a difference.
import { execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cli, repository } from "./lib/pi.mjs";
import { any, random, seed } from "./lib/random.mjs";
import { home } from "./lib/talk.mjs";

const ROUNDS = 30;
const start = process.env.SEED ?? "1";
seed(start);
if (spawnSync("tmux", ["-V"]).status !== 0 || spawnSync("script", ["-V"]).status !== 0) {
	console.log("skipped: no tmux, or no script of util-linux");
	process.exit(0);
}
const place = realpathSync(mkdtempSync(join(tmpdir(), "pitree-running-")));
const { folder, agent, model } = await home(join(place, "home"));
const extension = join(agent, "extensions/pitree");
mkdirSync(extension, { recursive: true });
cpSync(join(repository, "assets/pi/pitree.ts"), join(extension, "index.ts"));
writeFileSync(join(extension, "program"), process.env.PITREE);
const told = join(place, "told");
const teller = join(place, "tell.sh");
writeFileSync(teller, `#!/bin/sh\nprintf '%s|%s\\n' "$1" "$2" >>'${told}'\n`);
const program = join(place, "pi.sh");
writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`);
for (const script of [teller, program]) chmodSync(script, 0o755);
const settings = join(folder, ".config/pitree");
mkdirSync(settings, { recursive: true });
writeFileSync(join(settings, "config.toml"), `notify = [${JSON.stringify(teller)}]\npi = [${JSON.stringify(program)}]\n`);
const env = { PATH: process.env.PATH, HOME: folder, PI_CODING_AGENT_DIR: agent, PI_OFFLINE: "1", TERM: "xterm-256color", TMUX_TMPDIR: place, TZ: "UTC" };

const run = (...words) => spawnSync(words[0], words.slice(1), { env, encoding: "utf8" });
const pitree = (...args) => run(process.env.PITREE, ...args);
/** Returns the output of a tmux command. */
function tmux(...args) {
	const { status, stdout, stderr } = run("tmux", "-L", "pis", "-f", "/dev/null", ...args);
	if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
	return stdout.trimEnd();
}
/** Waits until a condition holds. */
async function until(what, holds) {
	for (const end = Date.now() + 60_000; ; ) {
		const found = holds();
		if (found) return found;
		if (Date.now() > end) throw new Error(`${what}: not within 60 s\n${pitree("live").stdout}`);
		await new Promise((later) => setTimeout(later, 50));
	}
}
let differences = 0;
function same(what, found, wanted) {
	if (JSON.stringify(found) === JSON.stringify(wanted)) return;
	differences++;
	console.error(`seed ${start}: ${what}\n  expected ${JSON.stringify(wanted)}\n  found    ${JSON.stringify(found)}`);
}
const live = () => JSON.parse(pitree("live", "--json").stdout).pis;
const states = (state) => live().filter((pi) => pi.state === state);
/** Returns the processes of the panes that clients show. */
const shown = () => tmux("list-clients", "-F", "#{pane_pid}").split("\n").map(Number);
const panes = () => tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_pid} #{window_id} #{session_name}").split("\n").map((line) => line.split(" "));

try {
	const dirs = ["shop", "shop", "docs", "logs", "infra", "tools"].map((name) => join(place, name));
	for (const [at, dir] of dirs.entries()) {
		mkdirSync(dir, { recursive: true });
		const words = at === 0 ? ["new-session", "-d", "-x", "150", "-y", "40", "-s", "a"] : at === 3 ? ["new-session", "-d", "-x", "150", "-y", "40", "-s", "b"] : ["new-window", "-d", "-t", at < 3 ? "=a:" : "=b:"];
		tmux(...words, "-c", dir, `exec '${process.execPath}' '${cli}'`);
	}
	await until("six idle pis", () => states("idle").length === 6);
	spawn("script", ["-qfc", "tmux -L pis attach -t a", "/dev/null"], { env, stdio: ["pipe", "ignore", "ignore"] });
	await until("a client", () => tmux("list-clients") !== "");
	// A title of its own for each, one after the other, so that the first one waits longest.
	const order = [];
	for (const [, pid] of panes()) {
		const pane = panes().find(([, other]) => other === pid)[0];
		model.answers.push({ text: `Answer to ${pid}` });
		await until("a session", () => {
			if (!tmux("capture-pane", "-p", "-t", pane).includes(`prompt of ${pid}`)) tmux("send-keys", "-t", pane, "-l", `prompt of ${pid}`);
			tmux("send-keys", "-t", pane, "Enter");
			return spawnSync("sleep", ["0.5"]) && live().some((pi) => String(pi.pid) === pid && pi.state === "waiting" && existsSync(pi.path));
		});
		order.push(Number(pid));
	}
	same("pis in one directory", live().filter(({ cwd }) => cwd === dirs[0]).length, 2);

	let right = 0;
	for (let round = 0; round < ROUNDS; round++) {
		const list = panes();
		const [one, other] = [any(list), any(list)];
		const moves = {
			rename: () => (tmux("rename-window", "-t", one[0], `window ${round}`), tmux("rename-session", "-t", one[3], `${one[3][0]}${round}`)),
			swap: () => tmux("swap-pane", "-d", "-s", one[0], "-t", other[0]),
			join: () => one[2] !== other[2] && run("tmux", "-L", "pis", "join-pane", "-d", "-s", one[0], "-t", other[0]),
			break: () => run("tmux", "-L", "pis", "break-pane", "-d", "-s", one[0]),
			move: () => run("tmux", "-L", "pis", "move-window", "-d", "-s", one[2], "-t", `${other[3]}:${50 + round}`),
			close: () => tmux("kill-pane", "-t", tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", `${one[3]}:`, "exec sleep 60")),
		};
		const move = any(Object.keys(moves));
		moves[move]();
		const pi = any(live());
		const went = pitree("live", "--go", pi.path);
		const is = went.status === 0 && shown().every((pid) => pid === pi.pid);
		if (is) right++;
		else same(`after ${move}: ${went.stderr}`, shown(), [pi.pid]);
	}
	console.log(`${right} of ${ROUNDS} times in the right pane`);

	same("next", [pitree("next").status, shown()], [0, [order[0]]]);
	// A pi out of focus tells, the one in focus does not.
	const follow = spawn(process.env.PITREE, ["live", "--follow", "--notify"], { env, stdio: "ignore" });
	await new Promise((later) => setTimeout(later, 1000));
	const ask = async (pid) => {
		const since = live().find((pi) => pi.pid === pid).since;
		const pane = panes().find(([, other]) => Number(other) === pid)[0];
		// Shorter work is the same wait.
		model.answers.push({ tools: [["bash", { command: "sleep 4" }]] }, { text: "Again." });
		tmux("send-keys", "-t", pane, "-l", "again");
		tmux("send-keys", "-t", pane, "Enter");
		await until("an answer", () => live().some((pi) => pi.pid === pid && pi.state === "waiting" && pi.since > since));
	};
	const away = order.find((pid) => !shown().includes(pid));
	await ask(shown()[0]);
	await ask(away);
	const lines = () => (existsSync(told) ? readFileSync(told, "utf8").trimEnd().split("\n") : []);
	await until("a notification", () => lines().length > 0);
	await new Promise((later) => setTimeout(later, 4000));
	same("notifications", lines().map((line) => line.includes(`prompt of ${away}`)), [true]);
	follow.kill();

	const skipped = pitree("name", "--all-unnamed", "--yes");
	same("names of open sessions", [skipped.status, /skipped 6 sessions that a pi has open/.test(skipped.stderr)], [1, true]);
	const files = live().map(({ path }) => path);
	run("tmux", "-L", "pis", "kill-server");
	await until("no pi", () => live().length === 0);
	model.answers.push(...files.map((_, at) => ({ text: `"Title ${at}"` })));
	// Not `pitree`: the mock model runs in this process.
	const named = await promisify(execFile)(process.env.PITREE, ["name", "--all-unnamed", "--yes"], { env });
	const names = files.map((file) => JSON.parse(readFileSync(file, "utf8").trimEnd().split("\n").pop()).name);
	same(`names: ${named.stderr}`, names.sort(), files.map((_, at) => `Title ${at}`));
	const digests = model.requests.slice(-files.length).map((messages) => JSON.stringify(messages));
	same("digests", digests.every((text) => text.includes("prompt of ") && text.includes("Answer to ")), true);
} finally {
	run("tmux", "-L", "pis", "kill-server");
	model.stop();
	rmSync(place, { recursive: true });
}
process.exit(differences === 0 ? 0 : 1);
