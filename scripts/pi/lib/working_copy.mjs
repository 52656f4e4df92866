// The files of one project, and what git reports about them. The sessions of a project share them.
import { pi } from "./pi.mjs";
import { random } from "./random.mjs";

const { generateUnifiedPatch } = pi;

const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

export class WorkingCopy {
	#files = new Map();
	#head = new Map();

	constructor(cwd) {
		this.cwd = cwd;
	}
	#name(path) {
		return path.replace(`${this.cwd}/`, "");
	}
	get(path) {
		const content = this.#files.get(this.#name(path));
		if (content === undefined) throw new Error(`${this.cwd} has no ${path}`);
		return content;
	}
	set(path, content) {
		this.#files.set(this.#name(path), content);
	}
	/** Sets the content of a file that git already has. */
	track(path, content) {
		this.set(path, content);
		this.#head.set(this.#name(path), content);
	}
	/** Drops all changes since the last commit, and new files. */
	discard() {
		this.#files = new Map(this.#head);
	}
	/** Drops changes of files that git has; returns the new files. */
	restore() {
		const created = [...this.#files].filter(([path]) => !this.#head.has(path));
		this.#files = new Map([...this.#head, ...created]);
		return created.map(([path]) => path);
	}
	/** Commits all changes; returns the output of `git commit`. */
	commit(subject, branch) {
		const created = [];
		let [changed, added, removed] = [0, 0, 0];
		for (const [path, content] of this.#files) {
			const before = this.#head.get(path);
			if (before === content) continue;
			changed++;
			if (before === undefined) created.push(` create mode 100644 ${path}\n`);
			for (const line of generateUnifiedPatch(path, before ?? "", content).split("\n").slice(2)) {
				if (line.startsWith("+") && !line.startsWith("+++ ")) added++;
				if (line.startsWith("-") && !line.startsWith("--- ")) removed++;
			}
		}
		if (changed === 0) throw new Error(`nothing to commit: ${subject}`);
		this.#head = new Map(this.#files);
		const hash = Math.floor(random() * 0xfffffff).toString(16).padStart(7, "0");
		const parts = [count(changed, "file") + " changed"];
		if (added > 0) parts.push(`${count(added, "insertion")}(+)`);
		if (removed > 0) parts.push(`${count(removed, "deletion")}(-)`);
		return `[${branch} ${hash}] ${subject}\n ${parts.join(", ")}\n${created.join("")}`;
	}
}
