// A mock model: a local server for OpenAI's chat completions API, as pi uses it, and for texts of its responses API. It returns predefined answers in order and
// records the requests, which show the model's context.
import { createServer } from "node:http";

/**
 * An answer: `text` and `think` are its texts, `tools` its tool calls (`[name, arguments]`), `stop` the stop reason
 * (`length`), `model` the reported model, `status` an HTTP error, `cached` and `written` tokens of the cache, `dropped` the
 * reported transformations of the request; with `hang` the answer never ends.
 */
export class Model {
	/** The remaining answers. When empty, the answer is `Done.` */
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
	/** Resolves when the next hanging answer has started. */
	hangs() {
		return new Promise((begun) => this.#hung.push(begun));
	}

	#respond({ input, model }, response) {
		this.requests.push(input);
		const { text = "Done.", dropped } = this.answers.shift() ?? {};
		const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] };
		const usage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
		const events = [
			{ type: "response.created", response: { id: "resp_1" } },
			{ type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
			{ type: "response.output_item.done", output_index: 0, item },
			{ type: "response.completed", response: { id: "resp_1", model, status: "completed", output: [item], usage, input_transformations: dropped } },
		];
		response.writeHead(200, { "content-type": "text/event-stream" });
		response.end(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""));
	}
	async #answer(request, response) {
		let body = "";
		for await (const part of request) body += part;
		if (request.url.endsWith("/responses")) return this.#respond(JSON.parse(body), response);
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
		if (answer.cached !== undefined) {
			used.prompt_tokens += answer.cached + (answer.written ?? 0);
			used.prompt_tokens_details = { cached_tokens: answer.cached + (answer.written ?? 0), cache_write_tokens: answer.written ?? 0 };
		}
		send({}, { choices: [{ index: 0, delta: {}, finish_reason: reason }] });
		send({}, { choices: [], usage: { ...used, total_tokens: used.prompt_tokens + used.completion_tokens } });
		response.end("data: [DONE]\n\n");
	}
}
