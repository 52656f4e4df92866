// Records the real pi's requests to the model at the entries of a session: navigates as `/tree` does, and sends a short prompt.
import { readFileSync } from "node:fs";
import { Talk } from "./talk.mjs";

const IMAGES = "Attached image(s) from tool result:";
const WORD = "What do you see?";

/** Summarizes a message of a request: the start of its text (up to `length`), the IDs of its tool calls, the ID of the call that it answers. */
function short({ role, content, tool_calls, tool_call_id }, length) {
	const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? `[${part.type}]`).join("\n");
	return { role, text: text.slice(0, length).toWellFormed(), ...(tool_calls && { calls: tool_calls.map((call) => call.id) }), ...(tool_call_id && { call: tool_call_id }) };
}

/** Returns the messages of a request without system messages. A result with images has their number. */
export function sent(messages, length = 80) {
	const last = messages.at(-1);
	if (short(last).text !== WORD) throw new Error(`the last message is ${JSON.stringify(last)}`);
	const all = messages.slice(0, -1).filter(({ role }) => role !== "system" && role !== "developer").map((message) => short(message, length));
	// This API gets the images of results in a message behind them.
	return all.flatMap((message, at) => {
		if (message.text.startsWith(IMAGES)) return [];
		const images = all[at + 1]?.text.startsWith(IMAGES) ? all[at + 1].text.split("[image_url]").length - 1 : 0;
		return [images > 0 ? { ...message, images } : message];
	});
}

/** Sends the prompt at pi's current entry; `length` limits the returned texts. */
export async function say(talk, length) {
	// Otherwise pi would compact or retry before it sends the context.
	await talk.ask("set_auto_compaction", { enabled: false });
	const before = talk.model.requests.length;
	await talk.say(WORD, { text: "All." });
	return sent(talk.model.requests[before], length);
}

/** Returns the entries of a session file. */
export const entriesOf = (file) => readFileSync(file, "utf8").trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));

/** Returns pi's request when it continues at each of the `wanted` entries, by entry ID. Writes to the session file. */
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
