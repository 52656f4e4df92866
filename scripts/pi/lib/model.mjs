// A model that is none: a server on the loopback that speaks OpenAI's chat completions, as pi asks for them. It gives the
// answers that it was told to give, one after the other, and keeps what it was sent: that is what a model sees.
import { createServer } from "node:http";

/**
 * An answer: `text` and `think` are said, `tools` are called (`[name, arguments]`), `stop` is why it ends (`length`), `model`
 * which model says that it answered, `status` an HTTP error, `hang` an answer that doesn't end.
 */
export class Model {
	/** The answers to come. Without one it says `Done.` */
	answers = [];
	/** The `messages` of each request. */
	requests = [];
	#calls = 0;
	#hung = [];

	async start() {
		this.server = createServer((request, response) => this.#answer(request, response));
		await new Promise((ready) => this.server.listen(0, "127.0.0.1", ready));
		return `http://127.0.0.1:${this.server.address().port}/v1`;
	}
	stop() {
		this.server.closeAllConnections();
		this.server.close();
	}
	/** When the next answer that hangs has begun. */
	hangs() {
		return new Promise((begun) => this.#hung.push(begun));
	}

	async #answer(request, response) {
		let body = "";
		for await (const part of request) body += part;
		if (!request.url.endsWith("/chat/completions")) return response.writeHead(404).end();
		const { messages, model } = JSON.parse(body);
		this.requests.push(messages);
		const answer = this.answers.shift() ?? { text: "Done." };
		if (answer.status) {
			response.writeHead(answer.status, { "content-type": "application/json" });
			return response.end(JSON.stringify({ error: { message: answer.error ?? "The request is wrong", type: "invalid_request_error" } }));
		}
		response.writeHead(200, { "content-type": "text/event-stream" });
		const send = (delta, rest = {}) => {
			const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: answer.model ?? model };
			response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`);
		};
		send({ role: "assistant" });
		if (answer.think) send({ reasoning_content: answer.think });
		for (const word of answer.text?.match(/\S+\s*|\s+/g) ?? []) send({ content: word });
		(answer.tools ?? []).forEach(([name, args], index) => {
			const id = `call_${String(++this.#calls).padStart(4, "0")}`;
			send({ tool_calls: [{ index, id, type: "function", function: { name, arguments: JSON.stringify(args) } }] });
		});
		if (answer.hang) {
			this.#hung.shift()?.();
			return;
		}
		const reason = answer.stop ?? (answer.tools ? "tool_calls" : "stop");
		const used = { prompt_tokens: 1000 + 10 * messages.length, completion_tokens: 100 };
		send({}, { choices: [{ index: 0, delta: {}, finish_reason: reason }] });
		send({}, { choices: [], usage: { ...used, total_tokens: used.prompt_tokens + used.completion_tokens } });
		response.end("data: [DONE]\n\n");
	}
}
