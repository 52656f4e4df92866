// A pi extension that gives scripts access to functions of pi's terminal interface and of other extensions.
export default function (pi) {
	const command = (name, handler) => {
		const idle = async (text, ctx) => {
			await ctx.waitForIdle();
			await handler(text.trim(), ctx);
		};
		pi.registerCommand(name, { description: name, handler: idle });
	};
	// Navigates to an entry like pi's `/tree`, with or without a summary of the abandoned branch.
	command("goto", (id, ctx) => ctx.navigateTree(id, { summarize: false }));
	command("leave", (id, ctx) => ctx.navigateTree(id, { summarize: true }));
	command("note", (content) => pi.sendMessage({ customType: "note", content, display: true }));
	command("label", (text) => pi.setLabel(...text.split("=")));
	command("tools", (names) => pi.setActiveTools(names.split(",")));
	// Asks before some commands, until the user stops the calls.
	pi.on("tool_call", async ({ input }, { signal }) => {
		if (input.command === "ask" && !signal.aborted) await new Promise((stopped) => signal.addEventListener("abort", stopped));
	});
	// Replaces the text of answers that ask for it.
	pi.on("turn_end", ({ message, messageEntryId, entries }) => {
		if (!message.content.some?.((block) => block.text?.startsWith("Replace this"))) return;
		const edit = { type: "context_edit", targetId: messageEntryId, replacement: { content: "It was replaced." } };
		return { entries: [...entries, edit] };
	});
}
