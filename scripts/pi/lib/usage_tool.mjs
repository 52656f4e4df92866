// A pi extension with a tool that reports a usage of its own, as tools that ask a model do.
export default function (pi) {
	pi.registerTool({
		name: "ask_model",
		label: "Ask a model",
		description: "Asks a model.",
		parameters: { type: "object", properties: { tokens: { type: "number" } }, required: ["tokens"] },
		async execute(_id, { tokens }) {
			const cost = { input: tokens * 2e-6, output: 1e-5, cacheRead: 0, cacheWrite: 0, total: tokens * 2e-6 + 1e-5 };
			const usage = { input: tokens, output: 7, cacheRead: 0, cacheWrite: 0, totalTokens: tokens + 7, cost };
			return { content: [{ type: "text", text: "It answered." }], details: {}, usage };
		},
	});
}
