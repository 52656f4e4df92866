// Where the real pi is: the folder of its package, from PI_PACKAGE (scripts/pi/run sets it).
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = process.env.PI_PACKAGE;
if (!folder) {
	console.error("PI_PACKAGE is not set: start this through scripts/pi/run");
	process.exit(2);
}
/** Import one of pi's modules by its path inside the package. */
export const pi = (path) => import(pathToFileURL(join(folder, path)).href);
/** The repository. */
export const repository = resolve(fileURLToPath(import.meta.url), "../../../..");
/** Where results go: the repository, or the folder in OUT (for --check). */
export const out = process.env.OUT ? resolve(process.env.OUT) : repository;
