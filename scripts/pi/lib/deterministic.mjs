// A fake clock and seeded randomness. Import this BEFORE pi, so that pi's IDs and times are the same on every run.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { random } from "./random.mjs";

export { random, seed } from "./random.mjs";

const RealDate = Date;
let now = RealDate.parse("2026-01-01T00:00:00.000Z");

class FakeDate extends RealDate {
	constructor(...args) {
		if (args.length === 0) super(now);
		else super(...args);
	}
	static now() {
		return now;
	}
}
globalThis.Date = FakeDate;

export const clock = {
	set(time) {
		now = typeof time === "number" ? time : RealDate.parse(time);
	},
	advance(milliseconds) {
		now += Math.max(1, Math.round(milliseconds));
	},
	get now() {
		return now;
	},
};

function fill(array) {
	const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
	for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random() * 256);
	return array;
}
function randomUUID() {
	const hex = Buffer.from(fill(new Uint8Array(16))).toString("hex");
	const variant = "89ab"[parseInt(hex[16], 16) & 3];
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}
Math.random = random;
crypto.randomUUID = randomUUID;
crypto.randomFillSync = fill;
crypto.randomBytes = (size) => Buffer.from(fill(new Uint8Array(size)));
Object.defineProperty(globalThis, "crypto", {
	configurable: true,
	value: { getRandomValues: fill, randomUUID, subtle: crypto.webcrypto.subtle },
});
syncBuiltinESMExports();
