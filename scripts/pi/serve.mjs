// The mock model (lib/model.mjs) for tests in another language: prints its address, then serves the answers from its standard
// input, one JSON object per line, and confirms each with an empty line. Exits at the end of input.
import { createInterface } from "node:readline";
import { Model } from "./lib/model.mjs";

const model = new Model();
console.log(await model.start());
for await (const line of createInterface({ input: process.stdin })) {
	model.answers.push(JSON.parse(line));
	console.log();
}
model.stop();
