// Resumes pi at an entry: pi's own navigateTree moves the leaf, and pi writes nothing to the session until the user sends
// a message. pitree starts it with `pi -e THIS --session FILE '/pitree-goto …'`.
import { open } from "node:fs/promises";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";

/** The maximum length of the line of a message, in bytes. */
const MOST = 64 * 1024 * 1024;

export default function (pi: ExtensionAPI) {
	const command = (name: string, description: string, work: (args: string, ctx: ExtensionCommandContext) => Promise<void>) =>
		pi.registerCommand(name, {
			description,
			handler: async (args, ctx) => {
				try {
					await work(args.trim(), ctx);
				} catch (error) {
					ctx.ui.notify(`pitree: ${error instanceof Error ? error.message : error}`, "error");
				}
			},
		});
	command("pitree-goto", "Go to an entry: ID or #INDEX [summarize]", async (args, ctx) => {
		const [, word = "", summarize] = /^(\S+)(\s+summarize)?$/.exec(args) ?? [];
		const index = /^#(\d+)$/.exec(word);
		const id = index ? ctx.sessionManager.getEntries()[Number(index[1])]?.id : word;
		if (id === undefined || id === "") throw new Error(`no entry ${word} in this session`);
		await ctx.waitForIdle();
		if (summarize) ctx.ui.setStatus("pitree", "summarizing the current branch …");
		try {
			const { cancelled } = await ctx.navigateTree(id, { summarize: Boolean(summarize) });
			if (cancelled) ctx.ui.notify("pitree: canceled; pi stays at the leaf", "warning");
		} finally {
			ctx.ui.setStatus("pitree", undefined);
		}
	});
	command("pitree-text", "Put a message into the editor: OFFSET LENGTH FILE, in bytes", async (args, ctx) => {
		const [, offset, length, path = ""] = /^(\d+) (\d+) (.+)$/s.exec(args) ?? [];
		if (!path || Number(length) > MOST) throw new Error("cannot put this message into the editor");
		const file = await open(path);
		try {
			const line = Buffer.alloc(Number(length));
			const { bytesRead } = await file.read(line, 0, line.length, Number(offset));
			const text = textOf(JSON.parse(line.toString("utf8", 0, bytesRead)));
			if (text && !ctx.ui.getEditorText().trim()) ctx.ui.setEditorText(text);
		} finally {
			await file.close();
		}
	});
}

/** Returns the text that pi's /tree puts into the editor for an entry (0.87.1, 1.6.0). */
function textOf(entry: { message?: { content?: unknown }; content?: unknown }): string {
	const content = entry.message?.content ?? entry.content;
	if (typeof content === "string") return content;
	const blocks: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : [];
	return blocks.map((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : "")).join("");
}
