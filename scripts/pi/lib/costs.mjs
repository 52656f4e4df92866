// The models of all pis (PIS) with their prices, and pi's calculation of costs.
import { module, pis } from "./pi.mjs";

const COMPAT = "../pi-ai/dist/compat.js";
export const { calculateCost } = await module(COMPAT);

/** Returns the four prices in the order of assets/prices.toml. */
export const rates = ({ input, output, cacheRead, cacheWrite }) => [input, output, cacheRead, cacheWrite].map((price) => price ?? 0);
const isPriced = ({ cost }) => cost && [cost, ...(cost.tiers ?? [])].some((prices) => rates(prices).some((price) => price > 0));
const found = new Map();
for (const pi of pis) {
	const { getModels, getProviders } = await module(COMPAT, pi);
	for (const provider of getProviders()) {
		// Models that only an older pi has keep their prices.
		for (const model of getModels(provider).filter(isPriced)) if (!found.has(`${provider}\0${model.id}`)) found.set(`${provider}\0${model.id}`, { ...model, provider });
	}
}
/** The models with prices, sorted. */
export const models = [...found.keys()].sort().map((key) => found.get(key));
/** Returns the usage of a request with so much input, a part of it cached, some for one hour. */
export const usage = (size) => ({
	input: size / 2,
	output: 1000,
	cacheRead: size / 4,
	cacheWrite: size / 4,
	cacheWrite1h: size / 10,
	cost: {},
});
