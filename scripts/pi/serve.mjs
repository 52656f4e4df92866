// The model that is none, for tests in another language: says where it listens, then gives the answers that it reads, one
// JSON object a line (lib/model.mjs). Ends with its input.
import { createInterface } from "node:readline";
import { Model } from "./lib/model.mjs";

const model = new Model();
console.log(await model.start());
for await (const line of createInterface({ input: process.stdin })) model.answers.push(JSON.parse(line));
model.stop();
