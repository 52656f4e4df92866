// Random steps of conversations with the real pi (talk.mjs).
import { any, random } from "./random.mjs";

let words = 0;
/** Returns a text that occurs only once. */
export const word = (what) => `${what} ${++words}`;
const somewhere = async (talk) => any(await talk.entries()).id;
const calls = [
	() => ["bash", { command: `echo ${word("echoed")}` }],
	() => ["bash", { command: "true" }],
	() => ["read", { path: word("missing") }],
	() => ["write", { path: `file-${++words}`, content: "x" }],
	() => ["fly", { to: "the moon" }],
	() => ["codemode", { code: `return (await tools.bash({ command: "echo ${word("nested")}" })).output` }],
];
/** Returns a random answer of the model. */
export const answer = () =>
	any([
		() => ({ text: word("said") }),
		() => ({ text: word("said"), think: word("thought") }),
		() => ({ text: word("Replace this answer") }),
		() => ({ think: word("thought") }),
		() => ({ text: "" }),
		() => ({ text: " \n" }),
	])();
/** Returns random steps of a conversation (`Talk.take`); `more` are calls of tools that also occur in them. */
export function stepsWith(more = []) {
	const known = [...calls, ...more];
	const tools = () => Array.from({ length: 1 + Math.floor(random() * 3) }, () => any(known)());
	return [
		(talk) => talk.say(word("asked"), answer()),
		(talk) => talk.say(word("asked"), { tools: tools(), text: any(["", word("said")]) }, answer()),
		(talk) => talk.say(word("asked"), { tools: tools() }, { tools: tools() }, answer()),
		(talk) => talk.say(word("asked"), { text: word("cut off"), stop: "length" }),
		(talk) => talk.say(word("asked"), { tools: tools() }, { text: word("cut off"), stop: "length" }),
		(talk) => talk.say(word("asked"), { text: word("cut off"), stop: "length" }, { status: 400 }, { status: 400 }),
		(talk) => talk.say(word("asked"), { status: 400 }),
		(talk) => talk.say(word("asked"), { status: 529 }, any([answer(), { status: 529 }])),
		(talk) => talk.say(word("asked"), { tools: tools() }, { status: 400 }),
		(talk) => talk.stop(word("asked"), any([{ text: word("stopped") }, { think: word("stopped") }, { tools: tools() }, {}])),
		(talk) => talk.interrupt(word("asked"), { tools: [["bash", { command: "sleep 20" }], ...tools()] }),
		(talk) => talk.ask("bash", { command: `echo ${word("shell")}`, excludeFromContext: random() < 0.5 }),
		(talk) => talk.compact(word("summed up")),
		(talk) => talk.ask("set_session_name", { name: word("name") }),
		(talk) => talk.ask("set_thinking_level", { level: any(["off", "low", "high"]) }),
		(talk) => talk.command("note", word("noted")),
		async (talk) => talk.command("label", `${await somewhere(talk)}=${word("label")}`),
		(talk) => talk.command("tools", any(["read,bash,write,codemode", "bash,codemode", "read,bash,edit,write,codemode"])),
		async (talk) => talk.command("goto", await somewhere(talk)),
		async (talk) => talk.command("goto", await somewhere(talk)),
		async (talk) => talk.command("leave", await somewhere(talk)),
		async (talk) => talk.ask("fork", { entryId: any((await talk.ask("get_fork_messages")).messages)?.entryId }),
		(talk) => talk.ask("clone"),
	];
}
