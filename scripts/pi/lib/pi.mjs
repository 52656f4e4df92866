// The real pi, from the folder of its package in PI (scripts/pi/run sets it).
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

if (!process.env.PI) {
	console.error("PI is not set: start this through scripts/pi/run");
	process.exit(2);
}
/** A file of pi's package: of its bundle, from 1.5 on, which finds all that it needs in itself. */
const bundled = (file) => ["dist/bundle", "dist"].map((part) => join(process.env.PI, part, file)).find(existsSync);
/** What pi gives to those who build on it. */
export const pi = await import(pathToFileURL(bundled("index.js")).href);
/** The program. */
export const cli = bundled("cli.js");
/** Import one of its modules by its path inside the package. */
export const module = (path) => import(pathToFileURL(join(process.env.PI, path)).href);
/** The repository. */
export const repository = resolve(fileURLToPath(import.meta.url), "../../../..");
/** Where results go: the repository, or the folder in OUT (for --check). */
export const out = process.env.OUT ? resolve(process.env.OUT) : repository;
