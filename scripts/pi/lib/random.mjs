// Seeded random numbers.
let state = 1;
/** Returns a number in [0, 1) (mulberry32). */
export function random() {
	state = (state + 0x6d2b79f5) | 0;
	let t = Math.imul(state ^ (state >>> 15), 1 | state);
	t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
	return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
/** Returns an item of a list. */
export const any = (list) => list[Math.floor(random() * list.length)];
/** Restarts the random sequence with a text as the seed. */
export function seed(text) {
	state = 2166136261;
	for (const byte of Buffer.from(text)) state = Math.imul(state ^ byte, 16777619);
}
