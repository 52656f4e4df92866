// The real pi, from the folder of its package in PI (scripts/pi/run sets it).
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

if (!process.env.PI) {
	console.error("PI is not set: use scripts/pi/run");
	process.exit(2);
}
const bundled = (file, folder = process.env.PI) => join(folder, "dist/bundle", file);
/** pi's public exports. */
export const pi = await import(pathToFileURL(bundled("index.js")).href);
/** The program. */
export const cli = bundled("cli.js");
/** Returns the program of the package in a folder. */
export const cliOf = (folder) => bundled("cli.js", folder);
/** Imports a module of pi by its path in the package. */
export const module = (path, folder = process.env.PI) => import(pathToFileURL(join(folder, path)).href);
/** The packages of all pis, the newest first. */
export const pis = process.env.PIS?.trim().split("\n") ?? [process.env.PI];
/** The root of the repository. */
export const repository = resolve(fileURLToPath(import.meta.url), "../../../..");
/** The output directory: the repository, or the folder in OUT (for --check). */
export const out = process.env.OUT ? resolve(process.env.OUT) : repository;
