// Builds a session with pi's SessionManager: messages, tool calls and branches.
import { clock, random } from "./deterministic.mjs";
import { pi } from "./pi.mjs";

const { SessionManager, generateDiffString, generateUnifiedPatch } = pi;

// Dollars per million tokens: input, output, cache read, cache write.
const MODELS = {
	"claude-sonnet-4-5": { provider: "anthropic", api: "anthropic-messages", price: [3, 15, 0.3, 3.75] },
	"claude-opus-4-5": { provider: "anthropic", api: "anthropic-messages", price: [5, 25, 0.5, 6.25] },
	"gpt-5.2-codex": { provider: "openai", api: "openai-responses", price: [1.75, 14, 0.175, 0] },
	"gemini-3-pro": { provider: "google", api: "google-generative-ai", price: [2, 12, 0.2, 0] },
};
const SYSTEM_PROMPT = 11840; // tokens
const between = (low, high) => low + random() * (high - low);
const money = (value) => Math.round(value * 1e6) / 1e6;
const text = (value) => ({ type: "text", text: value });
const callId = () => {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	return `toolu_01${Array.from({ length: 14 }, () => letters[Math.floor(random() * letters.length)]).join("")}`;
};

export class Story {
	constructor(manager, model) {
		this.manager = manager;
		this.use(model);
	}
	static start(cwd, folder, model) {
		return new Story(SessionManager.create(cwd, folder), model);
	}
	/** Creates a fork at an entry of another story. */
	static fork(parent, entryId, model) {
		const manager = SessionManager.open(parent.file);
		manager.createBranchedSession(entryId);
		return new Story(manager, model);
	}
	/** Creates a file in another project with the entire content of another story. */
	static forkInto(parent, cwd, folder, model) {
		return new Story(SessionManager.forkFrom(parent.file, cwd, folder), model);
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
		const ids = calls.map(callId);
		calls.forEach(([name, args], i) => blocks.push({ type: "toolCall", id: ids[i], name, arguments: args }));
		this.assistant(blocks, "toolUse");
		let last;
		calls.forEach(([name, , result, details, isError = false], i) => {
			clock.advance(name === "bash" ? between(700, 45_000) : between(8, 90));
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
	read(path, result, more) {
		return this.tools([["read", { path }, result]], more);
	}
	bash(command, result, more) {
		return this.tools([["bash", { command }, result]], more);
	}
	/** Appends a failing command. */
	bashFails(command, result, code, more) {
		return this.tools([["bash", { command }, `${result}\n\nCommand exited with code ${code}`, undefined, true]], more);
	}
	write(path, content, more) {
		return this.tools([["write", { path, content }, `Successfully wrote to ${path}`]], more);
	}
	/** Appends an edit of a file with the original text `before`; `edits` are pairs of old and new text. */
	edit(path, before, edits, more) {
		let after = before;
		for (const [oldText, newText] of edits) {
			if (after.split(oldText).length !== 2) throw new Error(`${path}: not exactly once: ${oldText}`);
			after = after.replace(oldText, () => newText);
		}
		const { diff, firstChangedLine } = generateDiffString(before, after);
		const details = { diff, patch: generateUnifiedPatch(path, before, after), firstChangedLine };
		const args = { path, edits: edits.map(([oldText, newText]) => ({ oldText, newText })) };
		return this.tools([["edit", args, `Successfully replaced ${edits.length} block(s) in ${path}.`, details]], more);
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
