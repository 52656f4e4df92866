// pitree inside pi: /pitree opens the browser at the current session, and the status file reports the state of this pi.
//
// The extension opens no port. It reads and writes files asynchronously. Errors are shown as notifications and never reach
// the conversation. docs/json.md describes the status file. Written for pi 0.87.1, 1.5.2 and 1.6.0.
import { spawn } from "node:child_process";
import { type FSWatcher, accessSync, constants, existsSync, readFileSync, readlinkSync, unlinkSync, watch } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, hostname } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { BoundaryState, ContextEditEntryDraft, ExtensionAPI, ExtensionCommandContext, ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";

/** The version of the status file and of requests. */
const SCHEMA = 1;
/** The time in milliseconds after which it no longer matters that a session was closed. */
const CLOSED_FOR = 300_000;
/** The maximum size of a file that is read, in bytes. */
const MOST = 64 * 1024;
/** The maximum size of pitree's output and of its requests, in bytes. */
const MOST_OUTPUT = 4 * 1024 * 1024;
/** The maximum age of a request in milliseconds. An older one may be meant for an earlier process with the same PID. */
const ASKED = 6000;
/** The number of entries counted at a time, before other events are handled. */
const AT_ONCE = 2000;
/** Restores the terminal after a program was killed: alternate screen, mouse, bracketed paste, focus events, cursor. */
const RESET_TERMINAL = "\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l\x1b[?25h\x1b[0m";

type State = "working" | "waiting" | "blocked" | "error" | "idle";

/** The selection that pitree prints. */
interface Choice {
	path: string;
	entry: string | null;
	isLeaf: boolean;
	draft: string | null;
}

/** The result of running pitree. */
interface RunResult {
	stdout: string;
	stderr: string;
	code: number | null;
	signal: string | null;
}

/** Data shared by all copies of this extension in the process: one of them is active, and one status file is written. */
interface Shared {
	owner?: string;
	wanted?: string;
	writing?: Promise<void>;
}
const shared: Shared = ((globalThis as Record<symbol, unknown>)[Symbol.for("pitree")] ??= {}) as Shared;

export default function (pi: ExtensionAPI) {
	// The extension can be installed twice: as a package, and with `pitree pi install`.
	const here = import.meta.url;
	if (shared.owner !== undefined && shared.owner !== here) return;
	shared.owner = here;
	const live = new Live(pi);
	pi.on("session_shutdown", async (event) => {
		shared.owner = undefined;
		await live.end(event.reason === "quit");
	});
	pi.registerCommand("pitree", {
		description: "Browse all sessions as trees: Enter goes to the selection, f forks, Esc returns; stats: costs of this project",
		handler: async (args, ctx) => {
			try {
				await browse(args.trim(), ctx, live);
			} catch (error) {
				ctx.ui.notify(`pitree: ${words(error)}`, "error");
			}
		},
	});
	const key = chosenKey();
	if (key !== undefined) {
		// The handler of a key cannot switch sessions, but that of a command can.
		const handler = () => pi.sendUserMessage("/pitree", { expandPromptTemplates: true });
		pi.registerShortcut(key as Parameters<ExtensionAPI["registerShortcut"]>[0], { description: "Open pitree", handler });
	}
}

/** Returns the key that opens pitree: `"pitree": { "key": "…" }` in pi's settings.json. */
function chosenKey(): string | undefined {
	const agent = process.env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
	try {
		const key = JSON.parse(readFileSync(join(agent.replace(/^~(?=$|\/)/, homedir()), "settings.json"), "utf8"))?.pitree?.key;
		return typeof key === "string" && key !== "" ? key : undefined;
	} catch {
		return undefined; // no settings
	}
}

// --- The browser --------------------------------------------------------------------------------------------------

/** Runs pitree in the terminal, and goes to the selected session and entry. */
async function browse(query: string, ctx: ExtensionCommandContext, live: Live): Promise<void> {
	if (ctx.mode !== "tui") return ctx.ui.notify("/pitree works only in pi's terminal interface", "error");
	const program = findProgram();
	if (program === undefined) return ctx.ui.notify("pitree: no pitree program on the PATH; install it, or reinstall the npm package", "error");
	const file = ctx.sessionManager.getSessionFile();
	const leaf = ctx.sessionManager.getLeafId();
	const args = ["--print", "json"];
	// The file may not exist yet.
	if (file !== undefined) args.push("--at", file, ...(leaf ? ["--entry", leaf] : []));
	if (query === "stats") args.push("--statistics", ".");
	else if (query !== "") args.push("--", ...query.split(/\s+/));
	const draft = ctx.ui.getEditorText();
	const result = await live.away(() => run(program, args, ctx));
	if (result === undefined) return;
	const choice = result.code === 0 ? parseChoice(result.stdout) : undefined;
	if (choice === undefined) {
		// Without a selection, pitree exits with code 1 and prints nothing.
		const why = result.stderr.trim() || (result.signal ? `ended by ${result.signal}` : result.code === 0 ? "unexpected output" : "");
		if (why !== "") ctx.ui.notify(`pitree: ${why.replace(/^pitree: /, "")}`, "error");
		return;
	}
	if (!ctx.isIdle()) {
		ctx.ui.notify("pi is working; it will go to the selection when it finishes", "info");
		await ctx.waitForIdle();
	}
	if (choice.path === file) {
		if (choice.entry !== null && choice.entry !== ctx.sessionManager.getLeafId()) await goTo(choice.entry, ctx, draft);
		return;
	}
	const text = () => draftOf(choice.draft ?? "", draft);
	await ctx.switchSession(choice.path, {
		withSession: async (next) => {
			if (choice.entry === null || choice.isLeaf) next.ui.setEditorText(text());
			else await goTo(choice.entry, next, draft);
		},
	});
}

/** Goes to an entry. Text in the editor is kept after the text that pi puts there. */
async function goTo(entry: string, ctx: ExtensionCommandContext, draft: string): Promise<void> {
	// pi puts a message into the editor only if the editor is empty (0.87.1, 1.6.0).
	ctx.ui.setEditorText("");
	try {
		await ctx.navigateTree(entry, { summarize: false });
	} catch (error) {
		ctx.ui.notify(`pitree: ${words(error)}`, "error");
	} finally {
		const message = ctx.ui.getEditorText();
		if (draft !== "") ctx.ui.setEditorText(draftOf(message, draft));
	}
}

const draftOf = (message: string, draft: string): string => [message, draft].filter((text) => text.trim() !== "").join("\n\n");

/** Runs a program that takes over the terminal. Returns nothing if pi keeps the terminal. */
function run(program: string, args: string[], ctx: ExtensionCommandContext): Promise<RunResult | undefined> {
	return ctx.ui.custom<RunResult>((tui, _theme, _keys, done) => {
		tui.stop();
		let isDone = false;
		const end = (result: RunResult) => {
			if (isDone) return;
			isDone = true;
			if (result.signal !== null) process.stdout.write(RESET_TERMINAL);
			tui.start();
			tui.requestRender(true);
			done(result);
		};
		try {
			// pitree draws on the terminal, and prints the selection and errors to pipes.
			const child = spawn(program, args, { cwd: ctx.cwd, stdio: ["inherit", "pipe", "pipe"] });
			const [stdout, stderr] = [collect(child.stdout, MOST_OUTPUT), collect(child.stderr, MOST)];
			child.on("error", (error) => end({ stdout: "", stderr: words(error), code: null, signal: null }));
			child.on("close", (code, signal) => end({ stdout: stdout(), stderr: clean(stderr()), code, signal }));
		} catch (error) {
			end({ stdout: "", stderr: words(error), code: null, signal: null });
		}
		return { render: () => [], invalidate: () => {}, handleInput: () => {} };
	});
}

/** Collects the output of a program up to a maximum length. */
function collect(from: NodeJS.ReadableStream, most: number): () => string {
	const parts: Buffer[] = [];
	let length = 0;
	from.on("data", (part: Buffer) => {
		if (length < most) parts.push(part);
		length += part.length;
	});
	return () => Buffer.concat(parts).toString("utf8");
}

/** Parses the selection that pitree printed; returns nothing if it is invalid. */
function parseChoice(output: string): Choice | undefined {
	try {
		const { path, entry, isLeaf, draft } = JSON.parse(output);
		const text = (value: unknown) => (typeof value === "string" ? value : null);
		if (typeof path !== "string" || !isAbsolute(path) || !existsSync(path)) return undefined;
		return { path, entry: text(entry), isLeaf: isLeaf === true, draft: text(draft) };
	} catch {
		return undefined;
	}
}

/** Returns the pitree program: the one named in a file beside this one, that of the npm package, or the first on the PATH. */
function findProgram(): string | undefined {
	const name = process.platform === "win32" ? "pitree.exe" : "pitree";
	const runs = (path: string) => {
		try {
			accessSync(path, constants.X_OK);
			return isAbsolute(path);
		} catch {
			return false;
		}
	};
	const beside = () => readFileSync(join(dirname(fileURLToPath(import.meta.url)), "program"), "utf8").trim();
	const packaged = () => {
		const manifest = createRequire(import.meta.url).resolve(`pitree-${process.platform}-${process.arch}/package.json`);
		return join(dirname(manifest), "bin", name);
	};
	for (const place of [beside, packaged]) {
		try {
			const path = place();
			if (runs(path)) return path;
		} catch {
			// not found
		}
	}
	return (process.env.PATH ?? "").split(delimiter).map((dir) => join(dir, name)).find(runs);
}

// --- State of this pi ---------------------------------------------------------------------------------------------

/** The status file of this pi, which exists while a session is open, and the requests of pitree. */
class Live {
	#pi: ExtensionAPI;
	#file = join(stateDir(), "live", `${process.pid}.json`);
	#process?: { start: string; where: string };
	#ctx?: ExtensionContext;
	#watcher?: FSWatcher;
	#working = false;
	#compacts = false;
	#blocked = false;
	#isAway = false;
	#failed = false;
	#after: State = "idle";
	#state: State = "idle";
	#since = Date.now();
	#cost = 0;
	/** The number of entries included in the cost; undefined while those of a new session are being counted. */
	#counted?: number;
	/** The session name. Cached, because pi searches all entries for it. */
	#name?: string;
	/** Edits of the context that wait for the end of a turn. */
	#edits: ContextEditEntryDraft[] = [];
	/** Incremented when a session opens or closes; work of an earlier turn is discarded. */
	#turn = 0;

	constructor(pi: ExtensionAPI) {
		this.#pi = pi;
		pi.on("session_start", (_event, ctx) => this.#begin(ctx));
		pi.on("session_tree", (_event, ctx) => this.#report(ctx));
		pi.on("session_info_changed", ({ name }, ctx) => {
			this.#name = name;
			this.#report(ctx);
		});
		pi.on("model_select", (_event, ctx) => this.#report(ctx));
		// pi accepts edits of the context at these moments (0.87.1, 1.5.2, 1.6.0).
		pi.on("turn_end", (event, ctx) => {
			this.#report(ctx);
			return this.#append(event, ctx);
		});
		pi.on("agent_before_settle", (event, ctx) => this.#append(event, ctx));
		pi.on("agent_start", (_event, ctx) => {
			[this.#working, this.#failed, this.#compacts, this.#after] = [true, false, false, "waiting"];
			this.#report(ctx);
		});
		pi.on("message_end", ({ message }) => {
			if (message.role !== "assistant") return;
			this.#failed = message.stopReason === "error";
			this.#after = message.stopReason === "aborted" ? "idle" : "waiting";
		});
		pi.on("agent_settled", (_event, ctx) => {
			[this.#working, this.#compacts] = [false, false];
			if (this.#failed) this.#after = "error";
			this.#report(ctx);
		});
		pi.on("ui_prompt_start", (_event, ctx) => {
			this.#blocked = !this.#isAway;
			this.#report(ctx);
		});
		pi.on("ui_prompt_end", (_event, ctx) => {
			this.#blocked = false;
			this.#report(ctx);
		});
		const compacts = (is: boolean) => (_event: unknown, ctx: ExtensionContext) => {
			this.#compacts = is;
			this.#report(ctx);
		};
		pi.on("session_before_compact", compacts(true));
		pi.on("session_compact", compacts(false));
		pi.on("session_compact_failed", compacts(false));
	}

	/** Does work that pi treats as a question to the user, but is not one. */
	async away<T>(work: () => Promise<T>): Promise<T> {
		this.#isAway = true;
		try {
			return await work();
		} finally {
			this.#isAway = false;
		}
	}

	/** Stops reporting until the next session opens, or permanently. */
	async end(isFinal: boolean): Promise<void> {
		this.#turn++;
		const session = this.#ctx?.sessionManager.getSessionFile();
		this.#ctx = undefined;
		this.#watcher?.close();
		await this.#close(session);
		if (!isFinal) return;
		await shared.writing;
		this.#remove();
	}

	/** Records that this pi closed a session, so that pitree does not take its last line for a sign of a running pi. */
	async #close(session: string | undefined): Promise<void> {
		if (session === undefined) return;
		const at = Date.now();
		const folder = dirname(this.#file);
		const path = join(folder, `${process.pid}-${at}.closed`);
		try {
			// Many short pis leave many files.
			for (const name of await readdir(folder)) {
				const then = /^\d+-(\d+)\.closed$/.exec(name)?.[1];
				if (then !== undefined && Number(then) < at - CLOSED_FOR) await unlink(join(folder, name));
			}
			await writeFile(`${path}.new`, JSON.stringify({ schema: SCHEMA, session, at }), { mode: 0o600, flag: "wx" });
			await rename(`${path}.new`, path);
		} catch {
			// pitree then guesses for a while
		}
	}

	#remove = () => {
		shared.wanted = undefined;
		for (const path of [this.#file, `${this.#file}.new`]) {
			try {
				unlinkSync(path);
			} catch {
				// already missing
			}
		}
	};

	/** Starts reporting after a session was opened. */
	async #begin(ctx: ExtensionContext): Promise<void> {
		const turn = ++this.#turn;
		[this.#working, this.#after, this.#cost, this.#counted] = [!ctx.isIdle(), "idle", 0, undefined];
		if (this.#edits.length > 0) ctx.ui.notify(`pitree: ${this.#edits.length} edits of the closed session were dropped: no turn ended`, "warning");
		[this.#name, this.#edits] = [undefined, []];
		process.off("exit", this.#remove).on("exit", this.#remove);
		// This copies the list; other events are handled after it.
		const entries = ctx.sessionManager.getEntries();
		await breathe();
		this.#process ??= await thisProcess();
		if (turn !== this.#turn) return;
		this.#report(ctx);
		void this.#listen();
		let name: string | undefined;
		for (let at = 0; at < entries.length; at += AT_ONCE) {
			await breathe();
			if (turn !== this.#turn) return;
			for (const entry of entries.slice(at, at + AT_ONCE)) {
				if (entry.type === "session_info") name = entry.name?.trim() || undefined;
				this.#cost += costOf(entry);
			}
		}
		this.#counted = entries.length;
		this.#name ??= name;
		if (turn === this.#turn) this.#report(ctx);
	}

	/** Adds the cost of appended entries. pi sends no event for some of them. */
	#count(ctx: ExtensionContext): void {
		if (this.#counted === undefined) return;
		const entries = ctx.sessionManager.getEntries();
		for (const entry of entries.slice(this.#counted)) this.#cost += costOf(entry);
		this.#counted = entries.length;
	}

	/** Writes the current state to the status file. */
	#report(ctx: ExtensionContext): void {
		this.#ctx = ctx;
		try {
			const session = ctx.sessionManager.getSessionFile();
			if (session === undefined || this.#process === undefined) return;
			this.#count(ctx);
			const state: State = this.#blocked ? "blocked" : this.#working || this.#compacts ? "working" : this.#after;
			if (state !== this.#state) [this.#state, this.#since] = [state, Date.now()];
			const model = ctx.model;
			const status = {
				schema: SCHEMA,
				pid: process.pid,
				...this.#process,
				session,
				id: ctx.sessionManager.getSessionId(),
				name: this.#name ?? null,
				entry: ctx.sessionManager.getLeafId(),
				cwd: ctx.sessionManager.getCwd(),
				state,
				since: this.#since,
				model: model === undefined ? null : { provider: model.provider, id: model.id },
				cost: this.#cost,
			};
			shared.wanted = `${JSON.stringify(status)}\n`;
			shared.writing ??= this.#write().finally(() => {
				shared.writing = undefined;
			});
		} catch {
			// the file keeps the last state
		}
	}

	/** Writes the most recent state, one write at a time. */
	async #write(): Promise<void> {
		try {
			await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
			while (shared.wanted !== undefined) {
				const text = shared.wanted;
				shared.wanted = undefined;
				await unlink(`${this.#file}.new`).catch(() => {}); // from an earlier process with this PID
				await writeFile(`${this.#file}.new`, text, { mode: 0o600, flag: "wx" });
				await rename(`${this.#file}.new`, this.#file);
			}
		} catch {
			// pitree then guesses the state, as for a pi without this extension
		}
	}

	/** Waits for requests of pitree: files `PID.….ask` beside the status file. */
	async #listen(): Promise<void> {
		this.#watcher?.close();
		const dir = dirname(this.#file);
		const take = (name: string | null) => {
			if (name !== null && name.startsWith(`${process.pid}.`) && name.endsWith(".ask")) void this.#answer(join(dir, name));
		};
		try {
			await mkdir(dir, { recursive: true, mode: 0o700 });
			this.#watcher = watch(dir, { persistent: false }, (_event, name) => take(name));
			this.#watcher.on("error", () => this.#watcher?.close());
			for (const name of await readdir(dir)) take(name);
		} catch {
			// pitree gets no answer and reports that
		}
	}

	/** Appends the edits that wait. Those of another branch are dropped, because pi would refuse all of them. */
	#append(event: BoundaryState, ctx: ExtensionContext): { entries: BoundaryState["entries"] } | undefined {
		if (this.#edits.length === 0) return undefined;
		const branch = new Set(ctx.sessionManager.getBranch().map(({ id }) => id));
		const edits = this.#edits.filter(({ targetId }) => branch.has(targetId));
		const dropped = this.#edits.length - edits.length;
		this.#edits = [];
		if (dropped > 0) ctx.ui.notify(`pitree: ${dropped} edits of the context are of another branch`, "warning");
		return edits.length > 0 ? { entries: [...event.entries, ...edits] } : undefined;
	}

	/** Executes a request: a new name, a label, or edits of the context. pitree deletes a request that gets no answer in time. */
	async #answer(path: string): Promise<void> {
		try {
			const text = await readOwn(path);
			await unlink(path); // takes the request
			const answer = JSON.stringify({ schema: SCHEMA, ...this.#execute(text) });
			const to = path.replace(/ask$/, "answer");
			await writeFile(`${to}.new`, answer, { mode: 0o600, flag: "wx" });
			await rename(`${to}.new`, to);
		} catch {
			// deleted or not trusted
		}
	}

	#execute(text: string): { done: true } | { error: string } {
		try {
			const { session, name, label, edits } = JSON.parse(text);
			const manager = this.#ctx?.sessionManager;
			if (manager === undefined || manager.getSessionFile() !== session) return { error: "pi has opened another session" };
			if (typeof name === "string") {
				this.#pi.setSessionName(name);
			} else if (typeof label?.entry === "string" && typeof label.text === "string") {
				if (manager.getEntry(label.entry) === undefined) return { error: "pi does not know the entry" };
				this.#pi.setLabel(label.entry, label.text === "" ? undefined : label.text);
			} else if (Array.isArray(edits)) {
				const drafts = edits.map(({ target, replacement }) => ({ type: "context_edit" as const, targetId: String(target), replacement: JSON.parse(replacement) }));
				// A draft that pi refuses would cancel those of other extensions, too.
				const branch = new Map(manager.getBranch().map((entry) => [entry.id, entry]));
				if (!drafts.every(({ targetId, replacement }) => isEditable(branch.get(targetId)) && isReplacement(replacement))) return { error: "pi is on another branch, or cannot edit one of the messages" };
				this.#edits.push(...drafts);
			} else {
				return { error: "pi's extension does not know this request; run `pitree pi install` and restart pi" };
			}
			return { done: true };
		} catch (error) {
			return { error: words(error) };
		}
	}
}

/** Returns whether pi accepts an edit of an entry (1.6.0). */
const isEditable = (entry: SessionEntry | undefined): boolean =>
	entry?.type === "custom_message" || (entry?.type === "message" && ["user", "assistant", "toolResult"].includes(entry.message.role));

const isReplacement = (value: unknown): boolean => {
	const content = (value as { content?: unknown } | null)?.content;
	return value === null || typeof content === "string" || Array.isArray(content);
};

/** Reads a recent request. The file must be small, not a link, and accessible only by this user. */
async function readOwn(path: string): Promise<string> {
	const file: FileHandle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
	try {
		const stat = await file.stat();
		const isOwn = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
		const isLate = Date.now() - stat.mtimeMs > ASKED;
		if (!stat.isFile() || !isOwn || stat.size > MOST_OUTPUT || isLate) throw new Error("not trusted");
		return await file.readFile("utf8");
	} finally {
		await file.close();
	}
}

/** Returns the US dollars of an entry, of the same entries as pi's own statistics (`getSessionStats`, 0.87.1, 1.6.0). */
function costOf(entry: SessionEntry): number {
	const used = (): { cost?: { total?: unknown } } | undefined => {
		switch (entry.type) {
			case "message":
				return entry.message.role === "assistant" || entry.message.role === "toolResult" ? entry.message.usage : undefined;
			case "usage":
			case "branch_summary":
			case "compaction":
				return entry.usage;
		}
	};
	const cost = used()?.cost?.total;
	return typeof cost === "number" && Number.isFinite(cost) ? cost : 0;
}

/** Returns data that distinguishes this process from others with the same PID, also on other machines and in containers. */
async function thisProcess(): Promise<{ start: string; where: string }> {
	try {
		const read = async (path: string) => {
			const file = await open(path);
			return file.readFile("utf8").finally(() => file.close());
		};
		// Field 22, in clock ticks since boot. It comes after the name, which may contain any characters.
		const stat = await read("/proc/self/stat");
		const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
		const boot = (await read("/proc/sys/kernel/random/boot_id")).trim();
		return { start, where: `${boot} ${readlinkSync("/proc/self/ns/pid")}` };
	} catch {
		// On other systems: seconds since 1970.
		return { start: String(Math.round(Date.now() / 1000 - process.uptime())), where: hostname() };
	}
}

/** Returns pitree's state directory, located as in the program. */
function stateDir(): string {
	const home = homedir();
	if (process.platform === "win32") return join(process.env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "pitree", "data");
	if (process.platform === "darwin") return join(home, "Library", "Application Support", "pitree");
	const state = process.env.XDG_STATE_HOME ?? "";
	return join(isAbsolute(state) ? state : join(home, ".local", "state"), "pitree");
}

const words = (error: unknown): string => clean(error instanceof Error ? error.message : String(error));

/** Removes control characters. */
const clean = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
