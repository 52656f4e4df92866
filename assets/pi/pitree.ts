// pitree inside pi: /pitree opens the browser on the session that runs, and a small file tells pitree what this pi is doing.
//
// Nothing else is done. No port is opened; files are read and written beside pi's loop; whatever fails here is said, and
// never reaches the conversation. The live file is described in docs/json.md. Written for pi 0.87.1 and 1.5.2.
import { spawn } from "node:child_process";
import { type FSWatcher, accessSync, constants, existsSync, readFileSync, readlinkSync, unlinkSync, watch } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir, hostname } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext, SessionEntry } from "@earendil-works/pi-coding-agent";

/** The form of the live file and of what is asked. */
const SCHEMA = 1;
/** As large as a file that is read may be, in bytes. */
const MOST = 64 * 1024;
/** As much of what pitree prints is taken, in bytes. */
const MOST_PRINTED = 4 * 1024 * 1024;
/** As long somebody waits for what was asked, in milliseconds; it may have been asked of an earlier process of this number. */
const ASKED = 6000;
/** As many entries are added up at a time: then others have their turn. */
const AT_ONCE = 2000;
/** What leaves the alternate screen, the mouse, the pasting and the keys of a program that was killed. */
const LEFT_OPEN = "\x1b[?1049l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[?1004l\x1b[?25h\x1b[0m";

type State = "working" | "waiting" | "blocked" | "error" | "idle";

/** What pitree prints of what was chosen. */
interface Choice {
	path: string;
	entry: string | null;
	isLeaf: boolean;
	draft: string | null;
}

/** How pitree ended. */
interface Ended {
	printed: string;
	said: string;
	code: number | null;
	signal: string | null;
}

/** What all that is loaded of this extension in a process share: one of them is active, and one file is written. */
interface Shared {
	owner?: string;
	wanted?: string;
	writing?: Promise<void>;
}
const shared: Shared = ((globalThis as Record<symbol, unknown>)[Symbol.for("pitree")] ??= {}) as Shared;

export default function (pi: ExtensionAPI) {
	// It may be installed twice, as a package and by `pitree pi install`.
	const here = import.meta.url;
	if (shared.owner !== undefined && shared.owner !== here) return;
	shared.owner = here;
	const live = new Live(pi);
	pi.on("session_shutdown", async (event) => {
		shared.owner = undefined;
		await live.end(event.reason === "quit");
	});
	pi.registerCommand("pitree", {
		description: "Browse all sessions as trees: Enter goes there, f forks, Esc comes back",
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
		// A key's handler can't switch sessions; a command's can, at any time.
		const handler = () => pi.sendUserMessage("/pitree", { expandPromptTemplates: true });
		pi.registerShortcut(key as Parameters<ExtensionAPI["registerShortcut"]>[0], { description: "Open pitree", handler });
	}
}

/** The key that opens pitree: `"pitree": { "key": "…" }` in pi's settings.json. */
function chosenKey(): string | undefined {
	const agent = process.env.PI_CODING_AGENT_DIR || join(homedir(), ".pi", "agent");
	try {
		const key = JSON.parse(readFileSync(join(agent.replace(/^~(?=$|\/)/, homedir()), "settings.json"), "utf8"))?.pitree?.key;
		return typeof key === "string" && key !== "" ? key : undefined;
	} catch {
		return undefined; // without settings there is no key
	}
}

// --- The browser --------------------------------------------------------------------------------------------------

/** Gives the terminal to pitree, and goes where it was told. */
async function browse(query: string, ctx: ExtensionCommandContext, live: Live): Promise<void> {
	if (ctx.mode !== "tui") return ctx.ui.notify("pitree needs pi's terminal program", "error");
	const program = findProgram();
	if (program === undefined) return ctx.ui.notify("pitree: there is no program pitree on the PATH; install it, or the npm package again", "error");
	const file = ctx.sessionManager.getSessionFile();
	const leaf = ctx.sessionManager.getLeafId();
	const args = ["--print", "json"];
	// pi writes the file with the first answer, and may be at it.
	if (file !== undefined) args.push("--at", file, ...(leaf ? ["--entry", leaf] : []));
	if (query !== "") args.push("--", ...query.split(/\s+/));
	const draft = ctx.ui.getEditorText();
	const ended = await live.away(() => run(program, args, ctx));
	if (ended === undefined) return;
	const choice = ended.code === 0 ? chosen(ended.printed) : undefined;
	if (choice === undefined) {
		// One that is left without a choice ends with 1, and says nothing.
		const why = ended.said.trim() || (ended.signal ? `it was ended by ${ended.signal}` : ended.code === 0 ? "its answer can't be understood" : "");
		if (why !== "") ctx.ui.notify(`pitree: ${why.replace(/^pitree: /, "")}`, "error");
		return;
	}
	if (!ctx.isIdle()) {
		ctx.ui.notify("pi is working: it goes to what was chosen when it is done", "info");
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

/** Goes to an entry; what was being typed stays behind what comes to stand in the editor. */
async function goTo(entry: string, ctx: ExtensionCommandContext, draft: string): Promise<void> {
	// pi gives a message back only where nothing is being typed (0.87.1, 1.5.2).
	ctx.ui.setEditorText("");
	try {
		await ctx.navigateTree(entry, { summarize: false });
	} catch (error) {
		ctx.ui.notify(`pitree: ${words(error)}`, "error");
	} finally {
		const given = ctx.ui.getEditorText();
		if (draft !== "") ctx.ui.setEditorText(draftOf(given, draft));
	}
}

const draftOf = (given: string, draft: string): string => [given, draft].filter((text) => text.trim() !== "").join("\n\n");

/** Runs a program that has the terminal to itself; nothing if pi can't give it away. */
function run(program: string, args: string[], ctx: ExtensionCommandContext): Promise<Ended | undefined> {
	return ctx.ui.custom<Ended>((tui, _theme, _keys, done) => {
		tui.stop();
		let over = false;
		const end = (ended: Ended) => {
			if (over) return;
			over = true;
			if (ended.signal !== null) process.stdout.write(LEFT_OPEN);
			tui.start();
			tui.requestRender(true);
			done(ended);
		};
		try {
			// It draws on the terminal; what was chosen, and what went wrong, comes by pipes.
			const child = spawn(program, args, { cwd: ctx.cwd, stdio: ["inherit", "pipe", "pipe"] });
			const [printed, said] = [gather(child.stdout, MOST_PRINTED), gather(child.stderr, MOST)];
			child.on("error", (error) => end({ printed: "", said: words(error), code: null, signal: null }));
			child.on("close", (code, signal) => end({ printed: printed(), said: clean(said()), code, signal }));
		} catch (error) {
			end({ printed: "", said: words(error), code: null, signal: null });
		}
		return { render: () => [], invalidate: () => {}, handleInput: () => {} };
	});
}

/** What comes out of a program, to some length. */
function gather(from: NodeJS.ReadableStream, most: number): () => string {
	const parts: Buffer[] = [];
	let length = 0;
	from.on("data", (part: Buffer) => {
		if (length < most) parts.push(part);
		length += part.length;
	});
	return () => Buffer.concat(parts).toString("utf8");
}

/** What was chosen; nothing, if it is not said as pitree says it. */
function chosen(printed: string): Choice | undefined {
	try {
		const { path, entry, isLeaf, draft } = JSON.parse(printed);
		const text = (value: unknown) => (typeof value === "string" ? value : null);
		if (typeof path !== "string" || !isAbsolute(path) || !existsSync(path)) return undefined;
		return { path, entry: text(entry), isLeaf: isLeaf === true, draft: text(draft) };
	} catch {
		return undefined;
	}
}

/** The program: the one that is named beside this file, that of the package, or the first one on the PATH. */
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
			// it is not there
		}
	}
	return (process.env.PATH ?? "").split(delimiter).map((dir) => join(dir, name)).find(runs);
}

// --- What this pi is doing ----------------------------------------------------------------------------------------

/** The file that says what this pi is doing, as long as a session is open; and what pitree asks of it. */
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
	/** The entries that are in the cost; none while those of a session that was just opened are added up. */
	#counted?: number;
	/** pi looks through all entries for it. */
	#name?: string;
	/** Counts what takes a while: what began before does not count any more. */
	#turn = 0;

	constructor(pi: ExtensionAPI) {
		this.#pi = pi;
		pi.on("session_start", (_event, ctx) => this.#begin(ctx));
		pi.on("session_tree", (_event, ctx) => this.#tell(ctx));
		pi.on("session_info_changed", ({ name }, ctx) => {
			this.#name = name;
			this.#tell(ctx);
		});
		pi.on("model_select", (_event, ctx) => this.#tell(ctx));
		pi.on("turn_end", (_event, ctx) => this.#tell(ctx));
		pi.on("agent_start", (_event, ctx) => {
			[this.#working, this.#failed, this.#compacts, this.#after] = [true, false, false, "waiting"];
			this.#tell(ctx);
		});
		pi.on("message_end", ({ message }) => {
			if (message.role !== "assistant") return;
			this.#failed = message.stopReason === "error";
			this.#after = message.stopReason === "aborted" ? "idle" : "waiting";
		});
		pi.on("agent_settled", (_event, ctx) => {
			[this.#working, this.#compacts] = [false, false];
			if (this.#failed) this.#after = "error";
			this.#tell(ctx);
		});
		pi.on("ui_prompt_start", (_event, ctx) => {
			this.#blocked = !this.#isAway;
			this.#tell(ctx);
		});
		pi.on("ui_prompt_end", (_event, ctx) => {
			this.#blocked = false;
			this.#tell(ctx);
		});
		const compacts = (is: boolean) => (_event: unknown, ctx: ExtensionContext) => {
			this.#compacts = is;
			this.#tell(ctx);
		};
		pi.on("session_before_compact", compacts(true));
		pi.on("session_compact", compacts(false));
		pi.on("session_compact_failed", compacts(false));
	}

	/** Does something that is no question to the person, though pi takes it for one. */
	async away<T>(work: () => Promise<T>): Promise<T> {
		this.#isAway = true;
		try {
			return await work();
		} finally {
			this.#isAway = false;
		}
	}

	/** Ends telling; for good, or until the next session is open. */
	async end(forGood: boolean): Promise<void> {
		this.#turn++;
		this.#ctx = undefined;
		this.#watcher?.close();
		if (!forGood) return;
		await shared.writing;
		this.#remove();
	}

	#remove = () => {
		shared.wanted = undefined;
		for (const path of [this.#file, `${this.#file}.new`]) {
			try {
				unlinkSync(path);
			} catch {
				// it is not there
			}
		}
	};

	/** A session is open. */
	async #begin(ctx: ExtensionContext): Promise<void> {
		const turn = ++this.#turn;
		[this.#working, this.#after, this.#cost, this.#counted] = [!ctx.isIdle(), "idle", 0, undefined];
		this.#name = undefined;
		process.off("exit", this.#remove).on("exit", this.#remove);
		// A copy of the list. Others have their turn after it.
		const entries = ctx.sessionManager.getEntries();
		await breathe();
		this.#process ??= await thisProcess();
		if (turn !== this.#turn) return;
		this.#tell(ctx);
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
		if (turn === this.#turn) this.#tell(ctx);
	}

	/** Adds the entries to the cost that were appended since: pi announces some of them with no event. */
	#count(ctx: ExtensionContext): void {
		if (this.#counted === undefined) return;
		const entries = ctx.sessionManager.getEntries();
		for (const entry of entries.slice(this.#counted)) this.#cost += costOf(entry);
		this.#counted = entries.length;
	}

	/** Writes down how it is now. */
	#tell(ctx: ExtensionContext): void {
		this.#ctx = ctx;
		try {
			const session = ctx.sessionManager.getSessionFile();
			if (session === undefined || this.#process === undefined) return;
			this.#count(ctx);
			const state: State = this.#blocked ? "blocked" : this.#working || this.#compacts ? "working" : this.#after;
			if (state !== this.#state) [this.#state, this.#since] = [state, Date.now()];
			const model = ctx.model;
			const said = {
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
			shared.wanted = `${JSON.stringify(said)}\n`;
			shared.writing ??= this.#write().finally(() => {
				shared.writing = undefined;
			});
		} catch {
			// what can't be told stays as it was told last
		}
	}

	/** Writes what is wanted, one after the other, the newest only. */
	async #write(): Promise<void> {
		try {
			await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
			while (shared.wanted !== undefined) {
				const text = shared.wanted;
				shared.wanted = undefined;
				await unlink(`${this.#file}.new`).catch(() => {}); // one of an earlier process of this number
				await writeFile(`${this.#file}.new`, text, { mode: 0o600, flag: "wx" });
				await rename(`${this.#file}.new`, this.#file);
			}
		} catch {
			// pitree guesses then, as it does of a pi without this extension
		}
	}

	/** Listens to what pitree asks: files `PID.….ask` beside the live file. */
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
			// then pitree gets no answer, and says so
		}
	}

	/** Does what is asked: a new name, or a label. Whoever asks takes the question back if it stays unanswered. */
	async #answer(path: string): Promise<void> {
		try {
			const text = await readOwn(path);
			await unlink(path); // from now on it is this process that does it
			const answer = JSON.stringify({ schema: SCHEMA, ...this.#obey(text) });
			const to = path.replace(/ask$/, "answer");
			await writeFile(`${to}.new`, answer, { mode: 0o600, flag: "wx" });
			await rename(`${to}.new`, to);
		} catch {
			// it was taken back, or is not to be trusted
		}
	}

	#obey(text: string): { done: true } | { error: string } {
		try {
			const { session, name, label } = JSON.parse(text);
			const manager = this.#ctx?.sessionManager;
			if (manager === undefined || manager.getSessionFile() !== session) return { error: "it has another session open now" };
			if (typeof name === "string") {
				this.#pi.setSessionName(name);
			} else if (typeof label?.entry === "string" && typeof label.text === "string") {
				if (manager.getEntry(label.entry) === undefined) return { error: "it does not know the entry" };
				this.#pi.setLabel(label.entry, label.text === "" ? undefined : label.text);
			} else {
				return { error: "it does not know what is asked" };
			}
			return { done: true };
		} catch (error) {
			return { error: words(error) };
		}
	}
}

/** The whole of what was asked just now: a file that is this user's alone, no link, and not large. */
async function readOwn(path: string): Promise<string> {
	const file: FileHandle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
	try {
		const stat = await file.stat();
		const isOwn = process.getuid === undefined || (stat.uid === process.getuid() && (stat.mode & 0o077) === 0);
		const isLate = Date.now() - stat.mtimeMs > ASKED;
		if (!stat.isFile() || !isOwn || stat.size > MOST || isLate) throw new Error("not to be trusted");
		return await file.readFile("utf8");
	} finally {
		await file.close();
	}
}

/** Returns the US dollars of an entry, of the same entries as pi's own statistics (`getSessionStats`, 0.87.1, 1.5.2). */
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

/** What tells this process from an earlier one of its number, and from those of another machine or container. */
async function thisProcess(): Promise<{ start: string; where: string }> {
	try {
		const read = async (path: string) => {
			const file = await open(path);
			return file.readFile("utf8").finally(() => file.close());
		};
		// Behind the name, which may hold anything: the 22nd field, in ticks since the start of the machine.
		const stat = await read("/proc/self/stat");
		const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
		const boot = (await read("/proc/sys/kernel/random/boot_id")).trim();
		return { start, where: `${boot} ${readlinkSync("/proc/self/ns/pid")}` };
	} catch {
		// Elsewhere in seconds since 1970.
		return { start: String(Math.round(Date.now() / 1000 - process.uptime())), where: hostname() };
	}
}

/** pitree's state directory, as the program itself finds it. */
function stateDir(): string {
	const home = homedir();
	if (process.platform === "win32") return join(process.env.LOCALAPPDATA ?? join(home, "AppData", "Local"), "pitree", "data");
	if (process.platform === "darwin") return join(home, "Library", "Application Support", "pitree");
	const state = process.env.XDG_STATE_HOME ?? "";
	return join(isAbsolute(state) ? state : join(home, ".local", "state"), "pitree");
}

const words = (error: unknown): string => clean(error instanceof Error ? error.message : String(error));

/** Nothing that a terminal would act on. */
const clean = (text: string): string => text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, "");
