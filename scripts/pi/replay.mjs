// Compares replayed files with snapshots: pi's own tools change files at random, and `pitree file` must restore each state.
// Usage: node replay.mjs PITREE [OPERATIONS] [SEED] [commands], with pi in PI. Prints the counts; fails if an exact state is
// wrong. With `commands`, shell commands change files too.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pi } from "./lib/pi.mjs";

const [pitree, count = "200", seed = "1", kind] = process.argv.slice(2);
let state = Number(seed);
const random = (below) => {
	state = (state * 1103515245 + 12345) % 2147483648;
	return Math.floor((state / 2147483648) * below);
};
const pick = (list) => list[random(list.length)];

const root = mkdtempSync(join(tmpdir(), "pitree-replay-"));
const cwd = join(root, "project");
mkdirSync(cwd);
const git = (...args) => execFileSync("git", ["-C", cwd, "-c", "user.name=a", "-c", "user.email=a@b", ...args], { encoding: "utf8" });
git("init", "-q");
git("commit", "-q", "--allow-empty", "-m", "start");
const session = pi.SessionManager.create(cwd, join(root, "sessions"));
const tools = { read: pi.createReadTool(cwd), write: pi.createWriteTool(cwd), edit: pi.createEditTool(cwd), bash: pi.createBashTool(cwd) };
const files = ["a.txt", "b.js", "dir/c.md", "crlf.txt", "long.txt"];
const path = (file) => join(cwd, file);
const lines = (file) => (existsSync(path(file)) ? readFileSync(path(file), "utf8").split("\n") : []);
let words = 0;
const word = () => `word${words++} ${pick(["é", "$$x", "tab\t", "plain", "“q”"])}`;

const content = (file) => {
	const ending = file === "crlf.txt" ? "\r\n" : "\n";
	const size = file === "long.txt" ? 2300 : 1 + random(40);
	return Array.from({ length: size }, word).join(ending) + pick([ending, ""]);
};
const operations = {
	write: (file) => ({ path: file, content: content(file) }),
	edit: (file) => {
		const all = lines(file);
		const line = () => pick(all.length ? all : ["missing"]).replace("\r", "") || "nothing";
		const edits = [{ oldText: random(8) ? line() : "not in the file", newText: random(5) ? `${word()}\n${word()}` : "" }];
		const other = line();
		if (!random(3) && other !== edits[0].oldText) edits.push({ oldText: other, newText: word() });
		return { path: pick([file, `./${file}`, path(file)]), edits };
	},
	read: (file) => (random(2) ? { path: file } : { path: file, offset: 1 + random(20), limit: 1 + random(20) }),
	bash: (file) => ({
		command: pick([
			`ls -la && cat ${file} | head -3`,
			`sed -i 's/plain/simple/' ${file}`,
			`cat > ${file} <<'EOF'\n${word()}\n${word()}\nEOF`,
			`rm -f ${file}`,
			"git status --short",
			`mv ${file} moved.txt`,
			"git checkout -q .",
			`(cd dir; ls)\ncat > ${file} <<'EOF'\n${word()}\nEOF`,
			`test -f missing && mv ${file} moved.txt || true`,
			`false && { ls; rm ${file}; }; ls`,
			`mv -n ${file} moved.txt 2>/dev/null || true`,
			`git commit -q --allow-empty -m "$(cat <<'EOF'\nDon't (stop\nEOF\n)" && sed -i 's/plain/flat/' ${file}`,
			`bash <<'EOF'\nsed -i 's/flat/even/' ${file}\nEOF`,
			"ls *.txt | xargs -I{} sed -i 's/simple/easy/' {}",
			`mv ${file} dir`,
		]),
	}),
};

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
session.appendMessage({ role: "user", content: "Change files", timestamp: Date.now() });
const snapshots = [];
for (let number = 0; number < Number(count); number++) {
	if (snapshots.length > 3 && !random(12)) {
		// The user goes back, and restores the files of that entry.
		const back = pick(snapshots);
		session.branch(back.entry);
		git("checkout", "-q", "-f", "--detach", back.commit);
		git("clean", "-qfd");
	}
	const name = pick(["write", "edit", "edit", "edit", "read", "read", ...(kind === "commands" ? ["bash"] : [])]);
	const args = operations[name](pick(files));
	const id = `call-${number}`;
	session.appendMessage({ role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }], api: "x", provider: "x", model: "x", usage, stopReason: "toolUse", timestamp: Date.now() });
	let result;
	try {
		result = { ...(await tools[name].execute(id, args)), isError: false };
	} catch (error) {
		result = { content: [{ type: "text", text: String(error.message) }], details: {}, isError: true };
	}
	const entry = session.appendMessage({ role: "toolResult", toolCallId: id, toolName: name, ...result, timestamp: Date.now() });
	git("add", "-A");
	git("commit", "-q", "--allow-empty", "-m", `${number}`);
	snapshots.push({ entry, commit: git("rev-parse", "HEAD").trim() });
}

const counts = { states: 0, exact: 0, wrong: 0, possible: 0, other: 0 };
for (const { entry, commit } of snapshots) {
	for (const file of [...files, "moved.txt"]) {
		const args = ["file", path(file), "--at", `${session.getSessionFile()}@${entry}`, "--json"];
		const run = spawnSync(pitree, args, { encoding: "utf8", maxBuffer: 1 << 28, env: { ...process.env, HOME: root } });
		if (run.status === 1) continue;
		const found = JSON.parse(run.stdout);
		if (found.exactness === "removed") continue;
		counts.states++;
		const shown = spawnSync("git", ["-C", cwd, "show", `${commit}:${file}`], { encoding: "utf8", maxBuffer: 1 << 28 });
		if (found.exactness === "exact") {
			counts.exact++;
			if (shown.status !== 0 || shown.stdout !== found.text) {
				counts.wrong++;
				console.log(`wrong: ${file} at ${entry}: ${found.reason}`);
			}
		} else if (found.exactness === "possibly changed") counts.possible++;
		else counts.other++;
	}
}
console.log(JSON.stringify(counts));
if (counts.wrong === 0) rmSync(root, { recursive: true });
else console.log(`kept ${root}`);
process.exitCode = counts.wrong ? 1 : 0;
