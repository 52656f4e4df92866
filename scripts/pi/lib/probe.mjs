// What the real pi sends to a model at the entries of a session: it goes there as its `/tree` does, and says a word.
import { readFileSync } from "node:fs";
import { Talk } from "./talk.mjs";

const WORD = "What do you see?";

/** A message of a request, short: the start of its text, the ids of the calls in it, the id of the call that it answers. */
function short({ role, content, tool_calls, tool_call_id }) {
	const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? `[${part.type}]`).join("\n");
	return { role, text: text.slice(0, 80).toWellFormed(), ...(tool_calls && { calls: tool_calls.map((call) => call.id) }), ...(tool_call_id && { call: tool_call_id }) };
}

/** What is sent besides the system's messages. */
export function sent(messages) {
	const last = messages.at(-1);
	if (short(last).text !== WORD) throw new Error(`the last message is ${JSON.stringify(last)}`);
	return messages.slice(0, -1).filter(({ role }) => role !== "system" && role !== "developer").map(short);
}

/** Says the word where pi is. */
export async function say(talk) {
	// pi would compact, or ask again, before it sends what is there.
	await talk.ask("set_auto_compaction", { enabled: false });
	const before = talk.model.requests.length;
	await talk.say(WORD, { text: "All." });
	return sent(talk.model.requests[before]);
}

/** The entries of a session file. */
export const entriesOf = (file) => readFileSync(file, "utf8").trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));

/** By the ids of the entries `wanted` of a session, what is sent when pi goes on there; the file is written to. */
export async function probe(home, cwd, file, wanted = () => true) {
	const entries = entriesOf(file);
	const talk = new Talk(home, cwd, "--session", file);
	const found = {};
	for (const entry of entries.filter(wanted)) {
		await talk.command("goto", entry.id);
		found[entry.id] = await say(talk);
	}
	await talk.quit();
	return found;
}
