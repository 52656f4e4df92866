// Controls the real pi over its RPC mode (one JSON object per line) with a mock model.
import { spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Model } from "./model.mjs";
import { cli } from "./pi.mjs";
import { any } from "./random.mjs";

/** The timeout of one command, in milliseconds. */
const PATIENCE = 60_000;
const COST = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };

/** Creates a home with settings for pi: the mock model with and without thinking, with images and with another API, and on
 * request a second provider. `defaultModel` is that of new sessions. */
export async function home(folder, withOther = false, defaultModel = "none-1") {
	const model = new Model();
	const baseUrl = await model.start();
	const agent = join(folder, "agent");
	mkdirSync(agent, { recursive: true });
	// pi counts the tokens of its path, which must not depend on the cache directory.
	symlinkSync(process.env.PI, join(folder, "pi"));
	const kind = (id, reasoning, input = ["text"]) => ({ id, name: id, contextWindow: 200_000, maxTokens: 4096, cost: COST, input, reasoning });
	const none = { baseUrl, apiKey: "none", api: "openai-completions", models: [kind("none-1", true), kind("none-2", false), kind("none-3", false, ["text", "image"])] };
	none.models.push({ ...kind("none-4", false), api: "openai-responses" });
	const cost = { input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 0 };
	const other = { ...none, models: [{ ...kind("other-1", false), cost }] };
	writeFileSync(join(agent, "models.json"), JSON.stringify({ providers: withOther ? { none, other } : { none } }));
	const settings = { defaultProvider: "none", defaultModel, defaultThinkingLevel: "low", defaultTools: ["+codemode"] };
	const retry = { enabled: true, maxRetries: 1, baseDelayMs: 1 };
	const compaction = { enabled: true, keepRecentTokens: 8, reserveTokens: 1000 };
	writeFileSync(join(agent, "settings.json"), JSON.stringify({ ...settings, retry, compaction, quietStartup: true }));
	return { folder, agent, model };
}

/** pi's errors for steps that do not apply, such as compacting an empty session. */
const NO_SENSE = /not been saved yet|Nothing to compact|Already compacted|Cannot clone|Invalid entry|not found|Cannot fork|too small|Failed to compact|Summarization failed/;

/** A running pi. */
export class Talk {
	#waiting = new Map();
	#listeners = new Set();
	#next = 1;

	/** Starts pi in `cwd`; `args` are arguments of pi, such as `--session FILE`. */
	constructor({ agent, folder, model, cli: program = cli }, cwd, ...args) {
		this.model = model;
		this.cwd = cwd;
		mkdirSync(cwd, { recursive: true });
		const extension = fileURLToPath(new URL("extension.mjs", import.meta.url));
		const env = { ...process.env, HOME: folder, PI_CODING_AGENT_DIR: agent, PI_OFFLINE: "1", TZ: "UTC" };
		if (program === cli) env.PI_PACKAGE_DIR = join(folder, "pi");
		const all = [program, "--mode", "rpc", "--extension", extension, ...args];
		this.child = spawn(process.execPath, all, { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
		this.ended = new Promise((ended) => this.child.on("exit", ended));
		createInterface({ input: this.child.stdout }).on("line", (line) => this.#take(JSON.parse(line)));
	}

	#take(message) {
		if (message.type === "response" && this.#waiting.has(message.id)) {
			const { done, failed } = this.#waiting.get(message.id);
			this.#waiting.delete(message.id);
			return message.success ? done(message.data) : failed(new Error(`${message.command}: ${message.error}`));
		}
		for (const listener of this.#listeners) listener(message);
	}
	/** Sends a command to pi; returns its response. */
	ask(type, fields = {}) {
		const id = String(this.#next++);
		const answer = new Promise((done, failed) => {
			const late = setTimeout(() => failed(new Error(`${type} takes too long`)), PATIENCE);
			this.#waiting.set(id, { done: (data) => (clearTimeout(late), done(data)), failed });
		});
		this.child.stdin.write(`${JSON.stringify({ id, type, ...fields })}\n`);
		return answer;
	}
	/** Waits for an event, on request until it came several times. */
	until(type, number = 1) {
		return new Promise((done) => {
			const listener = (event) => {
				if (event.type !== type || --number > 0) return;
				this.#listeners.delete(listener);
				done(event);
			};
			this.#listeners.add(listener);
		});
	}

	/** Sends a user prompt (a text, or `{ message, images }`) and waits until pi is idle after the answer. */
	async say(prompt, ...answers) {
		this.model.answers.push(...answers);
		const settled = this.until("agent_settled");
		await this.ask("prompt", typeof prompt === "string" ? { message: prompt } : prompt);
		await settled;
	}
	/** Sends a user prompt. After a failed answer, pi would compact first, and that would get the answer to the prompt. */
	async #promptOnly(message) {
		await this.ask("set_auto_compaction", { enabled: false });
		await this.ask("prompt", { message });
		await this.ask("set_auto_compaction", { enabled: true });
	}
	/** Sends a user prompt and stops the called tools when the given number of them has started. */
	async interrupt(message, answer, number = 1) {
		this.model.answers.push(answer);
		const [runs, settled] = [this.until("tool_execution_start", number), this.until("agent_settled")];
		await this.#promptOnly(message);
		await runs;
		await this.ask("abort");
		await settled;
	}
	/** Sends a user prompt and stops the answer. */
	async stop(message, answer) {
		this.model.answers.push({ ...answer, hang: true });
		const hangs = this.model.hangs();
		const settled = this.until("agent_settled");
		await this.#promptOnly(message);
		await hangs;
		await new Promise((later) => setTimeout(later, 100)); // until pi has read the received part
		await this.ask("abort");
		await settled;
	}
	/** Runs a command of the extension (extension.mjs). */
	command(name, text) {
		return this.ask("prompt", { message: `/${name} ${text}` });
	}
	async compact(summary) {
		this.model.answers.push({ text: summary });
		await this.ask("compact");
		this.model.answers.length = 0;
	}
	async entries() {
		return (await this.ask("get_entries")).entries;
	}
	async leaf() {
		return (await this.ask("get_entries")).leafId;
	}
	async file() {
		return (await this.ask("get_state")).sessionFile;
	}
	/** Takes random steps: functions of a conversation. Steps that do not apply are skipped. */
	async take(count, steps) {
		for (let step = 0; step < count; step++) {
			try {
				await any(steps)(this);
			} catch (error) {
				if (!NO_SENSE.test(error.message)) throw error;
			}
			this.model.answers.length = 0;
		}
	}
	async quit() {
		this.child.stdin.end();
		await this.ended;
	}
}
