// Builds a session with pi's SessionManager: messages, tool calls and branches.
import { join } from "node:path";
import { clock, random } from "./deterministic.mjs";
import { pi } from "./pi.mjs";

const { SessionManager, generateDiffString, generateUnifiedPatch } = pi;

// Dollars per million tokens: input, output, cache read, cache write.
const MODELS = {
	"claude-sonnet-4-5": { provider: "anthropic", api: "anthropic-messages", price: [3, 15, 0.3, 3.75] },
	"claude-opus-4-5": { provider: "anthropic", api: "anthropic-messages", price: [5, 25, 0.5, 6.25] },
	"gpt-5.2-codex": { provider: "openai", api: "openai-responses", price: [1.75, 14, 0.175, 0] },
	"gpt-5.2": { provider: "openai", api: "openai-responses", price: [1.75, 14, 0.175, 0] },
	"gemini-3-pro": { provider: "google", api: "google-generative-ai", price: [2, 12, 0.2, 0] },
	"claude-haiku-4-5": { provider: "anthropic", api: "anthropic-messages", price: [1, 5, 0.1, 1.25] },
	"qwen3-coder:30b": { provider: "ollama", api: "openai-completions", price: [0, 0, 0, 0] },
};
const SYSTEM_PROMPT = 11840; // tokens
const between = (low, high) => low + random() * (high - low);
const DURATIONS = { bash: () => between(700, 45_000), subagent: () => between(240_000, 300_000) };
const money = (value) => Math.round(value * 1e6) / 1e6;
const text = (value) => ({ type: "text", text: value });
const callId = (provider) => {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	const id = Array.from({ length: 14 }, () => letters[Math.floor(random() * letters.length)]).join("");
	return (provider === "anthropic" ? "toolu_01" : "call_") + id;
};

export class Story {
	/** `files` is the working copy of the project. */
	constructor(manager, files, model) {
		this.manager = manager;
		this.files = files;
		this.use(model);
	}
	static start(files, folder, model) {
		return new Story(SessionManager.create(files.cwd, folder), files, model);
	}
	/** Creates a fork at an entry of another story. */
	static fork(parent, entryId, files, model) {
		const manager = SessionManager.open(parent.file);
		manager.createBranchedSession(entryId);
		return new Story(manager, files, model);
	}
	/** Creates a file in another project with the entire content of another story. */
	static forkInto(parent, files, folder, model) {
		return new Story(SessionManager.forkFrom(parent.file, files.cwd, folder), files, model);
	}
	/** Creates the session of a subagent, at the path that the extension pi-subagents passes to pi. */
	static subagent(parent, run, index, files, model) {
		const folder = join(parent.file.replace(/\.jsonl$/, ""), run, `run-${index}`);
		return new Story(SessionManager.open(join(folder, "session.jsonl"), folder, files.cwd), files, model);
	}
	use(model) {
		this.model = model;
	}
	get file() {
		return this.manager.getSessionFile();
	}
	get leaf() {
		return this.manager.getLeafId();
	}
	wait(minutes) {
		clock.advance(minutes * 60_000 + between(0, 9000));
	}

	// User actions

	user(content, ...images) {
		clock.advance(between(25_000, 260_000));
		const blocks = [text(content), ...images.map((data) => ({ type: "image", data, mimeType: "image/png" }))];
		return this.manager.appendMessage({ role: "user", content: blocks, timestamp: clock.now });
	}
	/** The prompt of a subagent. */
	task(content) {
		clock.advance(1_200);
		return this.manager.appendMessage({ role: "user", content: [text(content)], timestamp: clock.now });
	}
	/** `!command` in pi; with `hidden` it is `!!command`, which is not part of the model's context. */
	shell(command, output, { exitCode = 0, hidden } = {}) {
		clock.advance(between(4_000, 20_000));
		return this.manager.appendMessage({
			role: "bashExecution",
			command,
			output,
			exitCode,
			cancelled: false,
			truncated: false,
			timestamp: clock.now,
			...(hidden ? { excludeFromContext: true } : {}),
		});
	}
	switchModel(model) {
		clock.advance(2_000);
		this.use(model);
		return this.manager.appendModelChange(MODELS[model].provider, model);
	}
	thinking(level) {
		clock.advance(1_500);
		return this.manager.appendThinkingLevelChange(level);
	}
	name(value) {
		clock.advance(3_000);
		return this.manager.appendSessionInfo(value);
	}
	label(id, value) {
		clock.advance(2_500);
		return this.manager.appendLabelChange(id, value);
	}
	/** Continues from an earlier entry. */
	back(id) {
		this.wait(0.5);
		this.manager.branch(id);
	}
	/** Continues from an earlier entry with a summary of the abandoned branch. */
	backWithSummary(id, summary, files = {}) {
		this.wait(0.7);
		return this.manager.branchWithSummary(id, summary, { readFiles: [], modifiedFiles: [], ...files }, false);
	}

	// Model actions

	say(content, { think, stop = "stop", error } = {}) {
		const blocks = [];
		if (think) blocks.push({ type: "thinking", thinking: think, thinkingSignature: "" });
		if (content) blocks.push(text(content));
		return this.assistant(blocks, stop, error);
	}
	fails(error) {
		return this.assistant([], "error", error);
	}
	aborted(content = "") {
		return this.assistant(content ? [text(content)] : [], "aborted", "Operation aborted");
	}
	/** One assistant message with tool calls `[name, arguments, result, details?, isError?]`, and their results. */
	tools(calls, { say, think } = {}) {
		const blocks = [];
		if (think) blocks.push({ type: "thinking", thinking: think, thinkingSignature: "" });
		if (say) blocks.push(text(say));
		const ids = calls.map(() => callId(MODELS[this.model].provider));
		calls.forEach(([name, args], i) => blocks.push({ type: "toolCall", id: ids[i], name, arguments: args }));
		this.assistant(blocks, "toolUse");
		let last;
		calls.forEach(([name, , result, details, isError = false], i) => {
			clock.advance(DURATIONS[name]?.() ?? between(8, 90));
			last = this.manager.appendMessage({
				role: "toolResult",
				toolCallId: ids[i],
				toolName: name,
				content: typeof result === "string" ? [text(result)] : result,
				details,
				isError,
				timestamp: clock.now,
			});
		});
		return last;
	}
	bash(command, result, more) {
		return this.tools([["bash", { command }, result]], more);
	}
	/** Appends a failing command. */
	bashFails(command, result, code, more) {
		return this.tools([["bash", { command }, `${result}\n\nCommand exited with code ${code}`, undefined, true]], more);
	}
	grep(pattern, path, result, more) {
		return this.tools([["grep", { pattern, path }, result]], more);
	}

	// Steps that use the files of the project

	/** Sets the content of a file before this session. */
	has(path, content) {
		this.files.track(path, content);
	}
	/** Reads one or more files in one message. */
	read(paths, more) {
		return this.tools([paths].flat().map((path) => ["read", { path }, this.files.get(path)]), more);
	}
	write(path, content, more) {
		this.files.set(path, content);
		return this.tools([["write", { path, content }, `Successfully wrote to ${path}`]], more);
	}
	/** Appends an edit of a file; `edits` are pairs of old and new text. */
	edit(path, edits, more) {
		const before = this.files.get(path);
		let after = before;
		for (const [oldText, newText] of edits) {
			if (after.split(oldText).length !== 2) throw new Error(`${path}: not exactly once: ${oldText}`);
			after = after.replace(oldText, () => newText);
		}
		this.files.set(path, after);
		const { diff, firstChangedLine } = generateDiffString(before, after);
		const details = { diff, patch: generateUnifiedPatch(path, before, after), firstChangedLine };
		const args = { path, edits: edits.map(([oldText, newText]) => ({ oldText, newText })) };
		return this.tools([["edit", args, `Successfully replaced ${edits.length} block(s) in ${path}.`, details]], more);
	}
	/** Appends an edit whose text is not in the file. */
	editFails(path, oldText, newText, more) {
		const error = `Could not find the exact text in ${path}. The old text must match exactly including all whitespace and newlines.`;
		return this.tools([["edit", { path, edits: [{ oldText, newText }] }, error, undefined, true]], more);
	}
	commit(subject, { branch = "main", ...more } = {}) {
		const quoted = `'${subject.replaceAll("'", "'\\''")}'`;
		return this.bash(`git add -A && git commit -m ${quoted}`, this.files.commit(subject, branch), more);
	}
	/** Drops all changes since the last commit, and new files. */
	discard(more) {
		this.files.discard();
		return this.bash("git restore . && git clean -fdq && git status --short", "(no output)", more);
	}
	/** Drops changes of files that git has. */
	restore(more) {
		const created = this.files.restore();
		return this.bash("git restore . && git status --short", created.map((path) => `?? ${path}`).join("\n"), more);
	}

	// Actions of pi and its extensions

	compact(summary, keptId, tokens) {
		clock.advance(between(9_000, 16_000));
		return this.manager.appendCompaction(summary, keptId, tokens, { readFiles: [], modifiedFiles: [] }, false);
	}
	custom(type, data) {
		clock.advance(30);
		return this.manager.appendCustomEntry(type, data);
	}
	note(type, content, display = true) {
		clock.advance(200);
		return this.manager.appendCustomMessageEntry(type, content, display);
	}

	assistant(content, stopReason, errorMessage) {
		clock.advance(between(900, 3_000));
		const started = clock.now;
		const { provider, api } = MODELS[this.model];
		const usage = this.usage(content, stopReason);
		clock.advance(900 + usage.output * between(16, 31));
		return this.manager.appendMessage({
			role: "assistant",
			content,
			api,
			provider,
			model: this.model,
			usage,
			stopReason,
			...(errorMessage ? { errorMessage } : {}),
			timestamp: started,
		});
	}
	usage(content, stopReason) {
		if (stopReason === "error") {
			return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
		}
		let context = SYSTEM_PROMPT;
		let cached = 0;
		for (const entry of this.manager.getBranch()) {
			const size = JSON.stringify(entry).length;
			if (entry.type === "compaction") [context, cached] = [SYSTEM_PROMPT + size / 3 + 9000, 0];
			else if (entry.message?.role === "toolResult") context += size * 4 + 2900; // real files are longer than the excerpts shown here
			else if (entry.message?.role === "assistant" && entry.message.stopReason !== "error") {
				cached = context;
				context += size / 3.4;
			} else context += size / 3.6;
		}
		const [priceIn, priceOut, priceRead, priceWrite] = MODELS[this.model].price;
		const caches = priceWrite > 0;
		const cacheRead = Math.round(cached);
		const fresh = Math.round(context - cached);
		const input = caches ? Math.round(between(3, 12)) : fresh;
		const cacheWrite = caches ? fresh : 0;
		const output = Math.round(JSON.stringify(content).length / 2.2 + between(60, 420));
		const cost = {
			input: money((input * priceIn) / 1e6),
			output: money((output * priceOut) / 1e6),
			cacheRead: money((cacheRead * priceRead) / 1e6),
			cacheWrite: money((cacheWrite * priceWrite) / 1e6),
		};
		const total = money(cost.input + cost.output + cost.cacheRead + cost.cacheWrite);
		return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite, cost: { ...cost, total } };
	}
}
