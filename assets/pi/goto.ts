// What pitree starts pi with, to go on at an entry: pi's own navigateTree moves the leaf, and nothing is written to the
// session until something is said. Begun by pitree (`pi -e THIS --session FILE '/pitree-goto …'`); it does nothing else.
import { open } from "node:fs/promises";
import type { ExtensionAPI, ExtensionCommandContext } from "@earendil-works/pi-coding-agent";

/** As long as the line of a message may be, in bytes. */
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
	command("pitree-goto", "Goes on at an entry: ID or #PLACE [summarize]", async (args, ctx) => {
		const [, word = "", summarize] = /^(\S+)(\s+summarize)?$/.exec(args) ?? [];
		const place = /^#(\d+)$/.exec(word);
		const id = place ? ctx.sessionManager.getEntries()[Number(place[1])]?.id : word;
		if (id === undefined || id === "") throw new Error(`there is no entry ${word} in this session`);
		await ctx.waitForIdle();
		if (summarize) ctx.ui.setStatus("pitree", "pi sums up the branch that is left …");
		try {
			const { cancelled } = await ctx.navigateTree(id, { summarize: Boolean(summarize) });
			if (cancelled) ctx.ui.notify("pitree: the session stays where it was left", "warning");
		} finally {
			ctx.ui.setStatus("pitree", undefined);
		}
	});
	command("pitree-text", "Gives a message back to be edited: OFFSET LENGTH FILE, in bytes", async (args, ctx) => {
		const [, offset, length, path = ""] = /^(\d+) (\d+) (.+)$/s.exec(args) ?? [];
		if (!path || Number(length) > MOST) throw new Error("this is no message that could be given back");
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

/** The text of an entry of a session, as pi's /tree gives it back (0.87.1, 1.5.2). */
function textOf(entry: { message?: { content?: unknown }; content?: unknown }): string {
	const content = entry.message?.content ?? entry.content;
	if (typeof content === "string") return content;
	const blocks: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : [];
	return blocks.map((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : "")).join("");
}
