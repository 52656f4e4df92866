// Checks exported pages in a headless Chromium through the DevTools protocol: no script of a session runs, no request
// leaves, the console has no errors, and folds, search, branches and the tree work.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, pictures] = process.argv.slice(2);
const chromium = process.env.CHROMIUM ?? "chromium";
const profile = mkdtempSync(join(tmpdir(), "pitree-browser-"));
const args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"];
const browser = spawn(chromium, [...args, `--user-data-dir=${profile}`, "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });

const address = await new Promise((resolve, reject) => {
	let text = "";
	browser.stderr.on("data", (data) => {
		text += data;
		const found = /DevTools listening on (ws:\S+)/.exec(text);
		if (found) resolve(found[1]);
	});
	browser.on("error", reject);
	browser.on("exit", () => reject(new Error(`${chromium} ended: ${text}`)));
});

const socket = new WebSocket(address);
await new Promise((resolve) => socket.addEventListener("open", resolve));
const waiting = new Map();
let listener = () => {};
let count = 0;
socket.addEventListener("message", ({ data }) => {
	const message = JSON.parse(data);
	if (message.id) {
		waiting.get(message.id)(message);
		waiting.delete(message.id);
	} else listener(message);
});
let session;
const send = async (method, params = {}) => {
	const id = ++count;
	const answer = await new Promise((resolve) => {
		waiting.set(id, resolve);
		socket.send(JSON.stringify({ id, method, params, ...(session && { sessionId: session }) }));
	});
	if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
	return answer.result;
};
const { targetId } = await send("Target.createTarget", { url: "about:blank" });
({ sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true }));
for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(`${domain}.enable`);

const evaluate = async (expression) => {
	const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
	if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
	return result.value;
};

const press = async (key) => {
	for (const type of ["keyDown", "keyUp"]) {
		await send("Input.dispatchKeyEvent", { type, key, ...(type === "keyDown" && key.length === 1 && { text: key }) });
	}
};

/** Opens a page and returns what it should not do. */
const open = async (file, size = [1400, 900]) => {
	const problems = [];
	const url = pathToFileURL(file).href;
	await send("Emulation.setDeviceMetricsOverride", { width: size[0], height: size[1], deviceScaleFactor: 1, mobile: size[0] < 600 });
	const loaded = new Promise((resolve) => {
		listener = ({ method, params }) => {
			if (method === "Page.loadEventFired") resolve();
			if (method === "Network.requestWillBeSent" && params.request.url !== url && !params.request.url.startsWith("data:image/")) {
				problems.push(`request for ${params.request.url.slice(0, 200)}`);
			}
			if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.exception?.description ?? "exception");
			if (method === "Runtime.consoleAPICalled" && params.type !== "log") problems.push(`console.${params.type}`);
			if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) problems.push(params.entry.text);
			if (method === "Page.javascriptDialogOpening") problems.push("a dialog");
			if (method === "Page.frameNavigated" && params.frame.url !== url) problems.push(`went to ${params.frame.url}`);
		};
	});
	await send("Page.navigate", { url });
	await loaded;
	return problems;
};

// What holds for each page, after all its controls were used.
const elements = `(() => {
	const wrong = [];
	if (globalThis.hacked !== undefined) wrong.push("a script of the session ran");
	if (document.scripts.length !== 1) wrong.push(document.scripts.length + " scripts");
	const names = "iframe,frame,object,embed,form,link,base,svg,math,video,audio,portal,template,dialog";
	if (document.querySelector(names)) wrong.push("an element of the session");
	for (const link of document.querySelectorAll("nav ol a")) {
		if (!document.getElementById(decodeURIComponent(link.hash.slice(1)))) wrong.push("no prompt for " + link.textContent);
	}
	for (const element of document.querySelectorAll("*")) {
		for (const { name } of element.attributes) if (name.startsWith("on")) wrong.push("attribute " + name);
	}
	for (const link of document.links) if (!/^(https?|mailto|file):$/.test(link.protocol)) wrong.push("link to " + link.href);
	for (const link of document.links) if (link.protocol === "file:" && !/^(#|\\.\\/page-\\d+\\.html$|\\.\\/index\\.html$)/.test(link.getAttribute("href"))) wrong.push("file link");
	if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push("wider than the window");
	return wrong;
})()`;

const use = `(async () => {
	const wrong = [];
	const frame = () => new Promise((resolve) => setTimeout(resolve, 0));
	const buttons = [...document.querySelectorAll(".bar button")];
	const named = (name) => buttons.find((button) => button.textContent === name);
	const entries = [...document.querySelectorAll("article")];
	if (entries.length === 0) return wrong;
	if (!document.querySelector(".tree") || document.querySelector(".tree").hidden) named("Tree").click();
	if (document.querySelectorAll(".tree a").length !== entries.length) wrong.push("the tree lacks entries");
	for (const fold of document.querySelectorAll(".tree button")) fold.click();
	const folds = document.querySelectorAll("article details");
	const closed = [...document.querySelectorAll("article details.T:not([open])")];
	if (closed.some((tool) => tool.querySelector("pre.diff, summary em"))) wrong.push("a change or a failure is folded");
	named("Unfold").click();
	if ([...folds].some((fold) => !fold.open)) wrong.push("folds stay closed");
	named("Unfold").click();
	if ([...folds].some((fold) => fold.open)) wrong.push("folds stay open");
	const hidden = () => entries.filter((entry) => entry.hidden).length;
	const all = named("All branches");
	if (all) {
		const before = hidden();
		if (before === 0) wrong.push("no branch is hidden");
		const next = [...document.querySelectorAll(".switch button:last-child")].find((button) => button.checkVisibility());
		const from = next.closest("article");
		next.click();
		if (!from.hidden) wrong.push("the branch was not switched");
		all.click();
		if (hidden() !== 0) wrong.push("not all branches are shown");
		all.click();
	} else if (hidden() > 0) wrong.push("entries are hidden");
	named("Tools").click();
	if ([...document.querySelectorAll("details.T")].some((tool) => tool.checkVisibility())) wrong.push("tools are visible");
	named("Tools").click();
	const text = entries.at(-1).textContent.trim().split("\\n")[0].slice(0, 12).toLowerCase();
	const search = document.querySelector(".bar input");
	search.value = text;
	search.dispatchEvent(new Event("input"));
	await frame();
	if (text && !/^\\d+ entries$/.test(document.querySelector(".bar output").textContent)) wrong.push("nothing found for " + text);
	search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
	if (text && !document.querySelector("article.current")) wrong.push("no current entry");
	search.value = "no such words";
	search.dispatchEvent(new Event("input"));
	if (document.querySelector(".bar output").textContent !== "not found") wrong.push("found what is not there");
	location.hash = entries[0].querySelector("a[href]").hash;
	await frame();
	await frame();
	if (!entries[0].classList.contains("current") || entries[0].hidden) wrong.push("the permalink does not work");
	named("Theme").click();
	for (const link of [...document.querySelectorAll("article > a, small a")].slice(0, 20)) link.click();
	await frame();
	return wrong;
})()`;

// Rules of axe for accessibility, in light and dark.
const axe = readFileSync(process.env.AXE, "utf8");
const violations = async () => {
	await evaluate(`${axe};undefined`);
	const found = [];
	for (const value of ["light", "dark"]) {
		await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
		found.push(...(await evaluate(`axe.run({ resultTypes: ["violations"] }).then(({ violations }) =>
			violations.map(({ id, nodes }) => "axe, ${value}: " + id + ": " + nodes[0].html.slice(0, 150)))`)));
	}
	await send("Emulation.setEmulatedMedia", { features: [] });
	return found;
};

let failed = 0;
const files = readdirSync(folder).filter((file) => file.endsWith(".html")).sort();
for (const file of files) {
	const problems = await open(join(folder, file));
	try {
		problems.push(...(await violations()), ...(await evaluate(elements)), ...(await evaluate(use)), ...(await evaluate(elements)));
		const onPhone = await open(join(folder, file), [390, 844]);
		problems.push(...[...onPhone, ...(await evaluate(elements))].map((problem) => `phone: ${problem}`));
	} catch (error) {
		problems.push(String(error));
	}
	if (problems.length === 0) continue;
	failed++;
	console.error(`${file}:\n  ${[...new Set(problems)].slice(0, 8).join("\n  ")}`);
}

// The policy blocks what got into a page, and this check detects it.
const page = readFileSync(join(folder, files[0]), "utf8");
const intruders = "<script>globalThis.hacked = 1</script><img src=https://evil.example/a.png onerror=globalThis.hacked=1>";
writeFileSync(join(profile, "intruded.html"), page.replace("<main>", `<main>${intruders}`));
const found = [...(await open(join(profile, "intruded.html"))), ...(await evaluate(elements))];
if (await evaluate("globalThis.hacked !== undefined")) found.length = 0;
if (found.length < 3) {
	failed++;
	console.error(`the policy does not block, or the check does not see it: ${found}`);
}

// Keys, and a page without scripts.
const sample = join(folder, process.env.SAMPLE ?? files.findLast((file) => file.startsWith("sample-2026")));
const problems = await open(sample);
await press("n");
await press("j");
const place = await evaluate(`[...document.querySelectorAll("article:not([hidden])")].indexOf(document.querySelector("article.current"))`);
if (place < 1) problems.push("j and n do not move");
await press("/");
if (!(await evaluate(`document.activeElement.type === "search"`))) problems.push("/ does not focus the search");
await send("Emulation.setScriptExecutionDisabled", { value: true });
await open(sample);
await send("Emulation.setScriptExecutionDisabled", { value: false });
if (!(await evaluate(`!document.querySelector(".bar") && [...document.querySelectorAll("article")].every((entry) => !entry.hidden && entry.checkVisibility())`))) problems.push("a page without scripts is not readable");
if (problems.length > 0) {
	failed++;
	console.error(`${sample}:\n  ${problems.join("\n  ")}`);
}

if (pictures) {
	mkdirSync(pictures, { recursive: true });
	for (const [name, size, scheme] of [["light", [1400, 900], "light"], ["dark", [1400, 900], "dark"], ["phone", [390, 844], "light"]]) {
		await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
		await open(sample, size);
		await evaluate(`document.querySelectorAll("main details").forEach((fold, at) => (fold.open = at % 3 === 1)), scrollTo(0, 0)`);
		const { data } = await send("Page.captureScreenshot", { format: "png" });
		writeFileSync(join(pictures, `${name}.png`), Buffer.from(data, "base64"));
	}
}
socket.close();
browser.removeAllListeners("exit");
browser.kill();
await new Promise((resolve) => browser.on("exit", resolve));
rmSync(profile, { recursive: true, force: true });
console.log(`${files.length} pages, ${failed} with problems`);
process.exit(failed > 0 ? 1 : 0);
