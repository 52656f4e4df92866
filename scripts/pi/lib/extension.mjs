// An extension of pi that lets a script do what its terminal program and other extensions do.
export default function (pi) {
	const command = (name, handler) => {
		const idle = async (text, ctx) => {
			await ctx.waitForIdle();
			await handler(text.trim(), ctx);
		};
		pi.registerCommand(name, { description: name, handler: idle });
	};
	// As pi's `/tree`: goes on from an entry, with a summary of what is left behind or without one.
	command("goto", (id, ctx) => ctx.navigateTree(id, { summarize: false }));
	command("leave", (id, ctx) => ctx.navigateTree(id, { summarize: true }));
	command("note", (content) => pi.sendMessage({ customType: "note", content, display: true }));
	command("label", (text) => pi.setLabel(...text.split("=")));
	command("tools", (names) => pi.setActiveTools(names.split(",")));
	// An answer that says so gets other words.
	pi.on("turn_end", ({ message, messageEntryId, entries }) => {
		if (!message.content.some?.((block) => block.text?.startsWith("Replace this"))) return;
		const edit = { type: "context_edit", targetId: messageEntryId, replacement: { content: "It was replaced." } };
		return { entries: [...entries, edit] };
	});
}
