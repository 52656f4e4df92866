// The conversations that conversations.mjs holds with the real pi. Each becomes a fixture of the same name; `also` lists the
// additional sessions in the order in which pi creates them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { barChart } from "./png.mjs";

const tool = (name, args) => ({ tools: [[name, args]] });
const script = (code) => tool("codemode", { code });
/** Returns the ID of the last message with the given role. */
const last = async (talk, role) => (await talk.entries()).findLast((entry) => entry.message?.role === role).id;

export const scenes = [
	{
		name: "talk",
		what: "a conversation: tools, `!` and `!!`, a name, a label, another thinking level, another model, and a model that reports another name",
		async play(talk) {
			await talk.say(
				"Write a list of fruit",
				{ think: "A list. Three will do.", text: "I write it.", tools: [["write", { path: "fruit.txt", content: "apple\npear\nplum\n" }]] },
				{ tools: [["read", { path: "fruit.txt", offset: 2, limit: 1 }], ["bash", { command: "wc -l fruit.txt" }]] },
				{ text: "There are three kinds of fruit in `fruit.txt`." },
			);
			await talk.ask("bash", { command: "cat fruit.txt" });
			await talk.ask("bash", { command: "echo not for the model", excludeFromContext: true });
			await talk.ask("set_session_name", { name: "Fruit" });
			await talk.say("Make it plums", tool("edit", { path: "fruit.txt", edits: [{ oldText: "pear", newText: "plum" }] }), { text: "Two plums now." });
			await talk.command("label", `${await last(talk, "assistant")}=plums`);
			await talk.ask("set_thinking_level", { level: "high" });
			await talk.say("Why plums?", { think: "They asked for plums.", text: "You asked for them.", model: "none-1-2026-01-05" });
			await talk.ask("set_model", { provider: "none", modelId: "none-2" });
			await talk.say("And who are you?", { text: "Another model." });
			await talk.command("note", "Fruit is in season.");
		},
	},
	{
		name: "talk-cut-off",
		what: "answers that reached the maximum length, and one that failed and was repeated: pi omits them with a `context_edit`",
		async play(talk) {
			await talk.say("Tell a story", { text: "Once upon a time" });
			const recovered = [{ text: "A story was begun." }, { text: "They asked for more of it." }];
			await talk.say("Tell more of it", { text: "There was a king who had", stop: "length" }, ...recovered, { text: "There was a king who had a daughter." });
			await talk.say("And then?", { status: 529, error: "overloaded" }, { text: "She went to sea." });
			await talk.say("Look into the log", tool("bash", { command: "echo storm" }), { text: "There was a", stop: "length" }, ...recovered, { text: "There was a storm." });
		},
	},
	{
		name: "talk-cut-off-last",
		what: "the last answer reached the maximum length, and pi failed to repeat it: the file ends with its `context_edit`",
		async play(talk) {
			await talk.say("Tell a story", { text: "Once upon a time there was a king." });
			await talk.say("Go on", { text: "And one day he", stop: "length" }, { status: 400 }, { status: 400 });
		},
	},
	{
		name: "talk-failed",
		what: "answers that failed, and answers that were stopped while they wrote text, while they thought and while they called a tool",
		async play(talk) {
			await talk.say("Hello", { text: "Hello." });
			await talk.say("Fail", { status: 400 });
			await talk.stop("Wait", { text: "I begin to" });
			await talk.stop("Think", { think: "I begin to think" });
			await talk.stop("Call", { text: "I look.", tools: [["bash", { command: "ls" }]] });
			await talk.say("Say nothing", { text: "" });
			await talk.say("Only think", { think: "Nothing to say." });
			await talk.say("Use what is not there", tool("fly", { to: "the moon" }), { text: "I can't." });
			await talk.say("Read what is not there", tool("read", { path: "nowhere.txt" }), { text: "It is not there." });
		},
	},
	{
		name: "talk-batch",
		what: "Esc before a batch of tool calls ran, at a question of an extension: pi 1.6 gives each the result `Operation aborted`, before an aborted answer; then a running command was stopped",
		async play(talk) {
			const calls = [["write", { path: "a.txt", content: "a\n" }], ["bash", { command: "ask" }], ["write", { path: "b.txt", content: "b\n" }]];
			await talk.interrupt("Write both", { text: "I write them.", tools: calls }, 2);
			await talk.interrupt("Wait", tool("bash", { command: "sleep 20" }));
			await talk.say("Is b.txt there?", tool("read", { path: "b.txt" }), { text: "No." });
		},
	},
	{
		name: "talk-image-unseen",
		what: "a text model read an image, and received a placeholder",
		async play(talk) {
			writeFileSync(join(talk.cwd, "chart.png"), Buffer.from(barChart([0.3, 0.6, 0.9]), "base64"));
			await talk.say("Look at the chart", tool("read", { path: "chart.png" }), { text: "I cannot see it." });
		},
	},
	{
		name: "talk-image",
		what: "the same, and again with a model for images, which receives both",
		// Navigation keeps the model, which is that of the last entry here.
		probes: ({ id }) => id > "c000000a",
		async play(talk) {
			writeFileSync(join(talk.cwd, "chart.png"), Buffer.from(barChart([0.3, 0.6, 0.9]), "base64"));
			await talk.say("Look at the chart", tool("read", { path: "chart.png" }), { text: "I cannot see it." });
			await talk.ask("set_model", { provider: "none", modelId: "none-3" });
			await talk.say("And now?", tool("read", { path: "chart.png" }), { text: "Three bars." });
		},
	},
	{
		name: "talk-diagnostics",
		what: "an answer for which the provider dropped two parts of the request: pi 1.6 records them in `diagnostics`",
		async play(talk) {
			await talk.ask("set_model", { provider: "none", modelId: "none-4" });
			await talk.say("Hello", { text: "Hello." });
			const dropped = ["rs_1", "rs_2"].map((id) => ({ type: "reasoning", id, action: "removed", reason: "prefix_mismatch" }));
			await talk.say("Go on", { text: "I went on.", dropped });
		},
	},
	{
		name: "talk-script",
		what: "scripts (codemode) that read, write, edit and fail: their tool calls are in `nestedCalls`",
		async play(talk) {
			await talk.say(
				"Change the colours by a script",
				script(
					'await tools.write({ path: "colours.txt", content: "red\\ngreen\\n" });\n' +
						'await tools.edit({ path: "colours.txt", edits: [{ oldText: "green", newText: "blue" }] });\n' +
						'const { output } = await tools.bash({ command: "sort colours.txt" });\n' +
						'store("colours", 2);\nreturn output;',
				),
				{ text: "Red and blue." },
			);
			await talk.say("And one that fails", script('await tools.read({ path: "colours.txt" });\nawait tools.read({ path: "nowhere.txt" });'), { text: "It failed." });
		},
	},
	{
		name: "talk-compacted",
		what: "compacted twice; the second one keeps entries after the first; answers were replaced, and a tool was removed",
		async play(talk) {
			await talk.say("First", { text: "One." });
			await talk.say("Second", { text: "Replace this answer." });
			await talk.say("Third", tool("bash", { command: "echo three" }), { text: "Three." });
			await talk.compact("They counted to three.");
			await talk.command("tools", "read,bash,write,codemode");
			await talk.say("Fourth", { text: "Four." });
			await talk.say("Fifth", { text: "Replace this one, too." });
			await talk.compact("They counted to five.");
			await talk.say("Sixth", { text: "Six." });
		},
	},
	{
		name: "talk-branches",
		also: ["talk-fork", "talk-clone"],
		what: "branches as in `/tree`, with and without a summary of the branch that was left; before the first message, and between a call and its result",
		async play(talk) {
			await talk.say("Plan a journey", { text: "By ship or by train?" });
			const asked = await talk.leaf();
			await talk.say("By ship", tool("bash", { command: "echo ship" }), { text: "The ship sails on Monday." });
			const called = (await talk.entries()).find((entry) => entry.message?.stopReason === "toolUse").id;
			talk.model.answers.push({ text: "They wanted to go by ship." });
			await talk.command("leave", asked);
			talk.model.answers.length = 0;
			await talk.say("By train", { text: "The train leaves at nine." });
			await talk.command("goto", called);
			await talk.say("What happened?", { text: "The call was never answered." });
			const first = (await talk.entries()).find((entry) => entry.message?.role === "user").id;
			await talk.command("goto", first);
			await talk.say("Plan a dinner", { text: "Fish or soup?" });
			await talk.say("Soup", { text: "Soup it is." });
			// Two more files: a fork before the last message, and a clone of that fork.
			await talk.ask("fork", { entryId: await last(talk, "user") });
			await talk.say("Fish", { text: "Fish it is." });
			await talk.ask("clone");
			await talk.say("With what?", { text: "With rice." });
		},
	},
];
