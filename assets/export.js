"use strict";
(() => {
	const main = document.querySelector("main");
	const entries = [...main.querySelectorAll(":scope > article")];
	if (entries.length === 0) return;
	const root = document.documentElement;
	const make = (name, text, className) => {
		const element = document.createElement(name);
		if (text) element.textContent = text;
		if (className) element.className = className;
		return element;
	};
	const roles = new Map(entries.map((entry) => [entry, entry.className]));
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	for (const entry of entries) entry.querySelector(":scope > a, :scope > small > a").href = `#${encodeURIComponent(entry.id)}`;
	// Without data-up, an entry follows the previous one.
	const parents = new Map(entries.map((entry, at) => [entry, "up" in entry.dataset ? byId.get(entry.dataset.up) : entries[at - 1]]));
	const parentOf = (entry) => parents.get(entry);
	const children = new Map();
	for (const entry of entries) {
		const parent = parentOf(entry);
		if (!children.has(parent)) children.set(parent, []);
		children.get(parent).push(entry);
	}
	const childrenOf = (entry) => children.get(entry) ?? [];

	// The shown branch: the chosen child of each branch point; the first one leads to the leaf.
	const chosen = new Map();
	let current = null;
	const isBranched = entries.some((entry) => childrenOf(entry).length > 1) || childrenOf(undefined).length > 1;
	let shown = new Set(entries);
	const refresh = () => {
		if (isBranched && !showsAll) {
			shown = new Set();
			let parent;
			for (;;) {
				const all = childrenOf(parent);
				if (all.length === 0) break;
				parent = chosen.get(parent) ?? all[0];
				shown.add(parent);
			}
		} else {
			shown = new Set(entries);
		}
		for (const entry of entries) entry.hidden = !shown.has(entry);
		for (const [entry, row] of rows) row.classList.toggle("off", !shown.has(entry));
	};
	const choose = (entry) => {
		for (let at = entry; at; at = parentOf(at)) chosen.set(parentOf(at), at);
	};
	const visible = () => entries.filter((entry) => shown.has(entry));

	const go = (entry, isSmooth) => {
		if (!entry) return;
		if (!shown.has(entry)) {
			choose(entry);
			refresh();
		}
		current?.classList.remove("current");
		rows.get(current)?.classList.remove("now");
		current = entry;
		entry.classList.add("current");
		rows.get(entry)?.classList.add("now");
		entry.scrollIntoView({ block: "start", behavior: isSmooth ? "smooth" : "auto" });
	};
	const step = (by, isWanted) => {
		const all = visible().filter((entry) => !isWanted || isWanted(entry));
		const at = current ? all.indexOf(current) : -1;
		if (at >= 0 || !current) return go(all[Math.max(0, Math.min(all.length - 1, at + by))]);
		const place = entries.indexOf(current);
		go(by > 0 ? all.find((entry) => entries.indexOf(entry) > place) : all.findLast((entry) => entries.indexOf(entry) < place));
	};

	// The toolbar.
	const bar = make("section", "", "bar");
	bar.setAttribute("aria-label", "Controls");
	const button = (text, title, action) => {
		const made = make("button", text);
		made.type = "button";
		made.title = title;
		made.addEventListener("click", action);
		return made;
	};
	const pressed = (made, is) => made.setAttribute("aria-pressed", String(is));

	// The tree: prompts and branches; each row folds those below it.
	const rows = new Map();
	const tree = make("nav", "", "tree");
	tree.setAttribute("aria-label", "Entries");
	tree.hidden = true;
	const nameOf = (entry) => {
		const number = entry.querySelector(":scope > h2:not(.i)");
		const element = entry.querySelector(":scope > span, h2.i, h3, h4, h5, h6, p:not(.branch), li, td, summary, pre, img");
		const text = (element?.textContent ?? "").trim().slice(0, 80);
		return `${number ? `${number.textContent}. ` : ""}${text}`.trim() || "entry";
	};
	const build = () => {
		const top = make("ul");
		// The lists in which the next prompts and the next other entries after an entry are.
		const lists = new Map([[undefined, { prompts: top, others: top, inner: top }]]);
		for (const entry of entries) {
			const parent = parentOf(entry);
			const above = lists.get(parent);
			const inner = make("ul");
			const isStart = childrenOf(parent).length > 1;
			const isOfUser = entry.classList.contains("P");
			if (isStart) lists.set(entry, { prompts: inner, others: inner, inner });
			else if (isOfUser) lists.set(entry, { prompts: above.prompts, others: inner, inner });
			else lists.set(entry, { ...above, inner });
			const row = make("div", "", roles.get(entry));
			const link = make("a", nameOf(entry));
			link.href = `#${encodeURIComponent(entry.id)}`;
			const fold = button("", "Fold", () => setFold(!inner.hidden));
			const setFold = (isFolded) => {
				inner.hidden = isFolded;
				fold.textContent = isFolded ? "▸" : "▾";
				fold.setAttribute("aria-expanded", String(!isFolded));
			};
			row.append(fold, link);
			const item = make("li");
			item.append(row, inner);
			(isStart ? above.inner : isOfUser ? above.prompts : above.others).append(item);
			rows.set(entry, row);
			folds.set(entry, { fold, inner, setFold });
		}
		for (const [entry, { fold, inner, setFold }] of folds) {
			if (inner.children.length === 0) {
				inner.remove();
				fold.style.visibility = "hidden";
			} else {
				setFold(entry.classList.contains("P") && !inner.querySelector(".P"));
			}
		}
		tree.append(top);
	};
	const folds = new Map();

	let showsAll = false;
	const treeButton = button("Tree", "Show the tree (b)", () => toggleTree());
	const toggleTree = () => {
		if (rows.size === 0) {
			build();
			refresh();
		}
		tree.hidden = !tree.hidden;
		root.classList.toggle("with-tree", !tree.hidden);
		pressed(treeButton, !tree.hidden);
	};
	tree.addEventListener("click", (event) => {
		if (event.target.closest("a") && innerWidth < 1024) toggleTree();
	});
	const toolsButton = button("Tools", "Show or hide tool calls (t)", () => toggleTools());
	const toggleTools = () => pressed(toolsButton, !root.classList.toggle("no-tools"));
	pressed(toolsButton, true);
	const foldsButton = button("Unfold", "Open or close all folds (o)", () => toggleFolds());
	let isOpen = false;
	const toggleFolds = () => {
		isOpen = !isOpen;
		for (const fold of main.querySelectorAll("article details")) fold.open = isOpen;
		pressed(foldsButton, isOpen);
	};
	const allButton = button("All branches", "Show all branches (a)", () => toggleAll());
	const toggleAll = () => {
		showsAll = !showsAll;
		pressed(allButton, showsAll);
		refresh();
	};
	const themeButton = button("Theme", "Dark or light", () => {
		const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
		root.dataset.theme = isDark ? "light" : "dark";
	});

	// Search in the texts of all entries.
	const search = make("input");
	search.type = "search";
	search.placeholder = "Search (/)";
	search.setAttribute("aria-label", "Search");
	const result = make("output");
	let hits = [];
	let hit = -1;
	const texts = new Map();
	const textOf = (entry) => {
		if (!texts.has(entry)) texts.set(entry, entry.textContent.toLowerCase());
		return texts.get(entry);
	};
	const mark = () => {
		if (!CSS.highlights) return;
		CSS.highlights.delete("found");
		const words = search.value.toLowerCase();
		if (!words || hit < 0) return;
		const ranges = [];
		const walker = document.createTreeWalker(hits[hit], NodeFilter.SHOW_TEXT);
		for (let node = walker.nextNode(); node && ranges.length < 1000; node = walker.nextNode()) {
			const text = node.data.toLowerCase();
			if (text.length !== node.data.length) continue;
			for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
				const range = new Range();
				range.setStart(node, at);
				range.setEnd(node, at + words.length);
				ranges.push(range);
			}
		}
		CSS.highlights.set("found", new Highlight(...ranges));
		let fold = ranges[0]?.startContainer.parentElement.closest("details");
		for (; fold; fold = fold.parentElement.closest("details")) fold.open = true;
		ranges[0]?.startContainer.parentElement.scrollIntoView({ block: "center" });
	};
	const find = (by) => {
		if (hits.length === 0) return;
		hit = (hit + by + hits.length) % hits.length;
		result.textContent = `${hit + 1} of ${hits.length}`;
		go(hits[hit]);
		mark();
	};
	search.addEventListener("input", () => {
		const words = search.value.toLowerCase();
		hits = words ? entries.filter((entry) => textOf(entry).includes(words)) : [];
		hit = -1;
		result.textContent = words ? (hits.length ? `${hits.length} entries` : "not found") : "";
		mark();
	});
	search.addEventListener("keydown", (event) => {
		if (event.key === "Enter") find(event.shiftKey ? -1 : 1);
		if (event.key === "Escape") search.blur();
	});

	bar.append(treeButton, search, result, toolsButton, foldsButton);
	if (isBranched) bar.append(allButton);
	bar.append(themeButton);
	document.body.prepend(bar);
	bar.after(tree);

	// Switches at branch points.
	for (const all of children.values()) {
		if (all.length < 2) continue;
		all.forEach((entry, at) => {
			let line = entry.querySelector(":scope > .branch");
			if (!line) {
				line = make("p", "", "branch");
				entry.prepend(line);
			}
			const controls = make("span", "", "switch");
			const to = (by) => {
				go(all[(at + by + all.length) % all.length]);
			};
			controls.append(button("‹", "Previous branch (←)", () => to(-1)), button("›", "Next branch (→)", () => to(1)));
			line.prepend(controls);
		});
	}
	const switchBranch = (by) => {
		for (let at = current ?? visible()[0]; at; at = parentOf(at)) {
			const all = childrenOf(parentOf(at));
			if (all.length > 1) return go(all[(all.indexOf(at) + by + all.length) % all.length]);
		}
	};

	// One button copies the block under the pointer, or the entry.
	const copy = async (text) => {
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			const area = make("textarea", text);
			document.body.append(area);
			area.select();
			document.execCommand("copy");
			area.remove();
		}
	};
	let block = null;
	const copyButton = button("Copy", "Copy this block", async () => {
		await copy(block.textContent);
		copyButton.textContent = "Copied";
	});
	copyButton.classList.add("copy");
	copyButton.hidden = true;
	main.append(copyButton);
	const offer = (event) => {
		const target = event.target.closest?.("pre");
		if (!target || target === block) {
			if (!target && event.target !== copyButton) copyButton.hidden = true;
			if (target) copyButton.hidden = false;
			return;
		}
		block = target;
		const box = target.getBoundingClientRect();
		copyButton.textContent = "Copy";
		copyButton.hidden = false;
		copyButton.style.top = `${box.top + scrollY + 4}px`;
		copyButton.style.left = `${box.right + scrollX - copyButton.offsetWidth - 6}px`;
	};
	main.addEventListener("pointerover", offer);

	// Keys.
	const isPrompt = (entry) => entry.classList.contains("P");
	const keys = {
		j: () => step(1),
		k: () => step(-1),
		n: () => step(1, isPrompt),
		p: () => step(-1, isPrompt),
		b: toggleTree,
		t: toggleTools,
		o: toggleFolds,
		a: () => isBranched && toggleAll(),
		c: () => current && copy(current.innerText),
		ArrowLeft: () => isBranched && switchBranch(-1),
		ArrowRight: () => isBranched && switchBranch(1),
		"/": () => search.focus(),
	};
	addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("input, textarea")) return;
		if (!Object.hasOwn(keys, event.key)) return;
		event.preventDefault();
		keys[event.key]();
	});
	const help = make("p", "Keys: j k next and previous entry · n p prompts · ← → branches · / search · b tree · t tools · o folds · c copy");
	document.querySelector("footer")?.prepend(help);

	const follow = () => {
		let id = location.hash.slice(1);
		try {
			id = decodeURIComponent(id);
		} catch {}
		go(byId.get(id));
	};
	addEventListener("hashchange", follow);
	let closed = [];
	addEventListener("beforeprint", () => {
		closed = [...document.querySelectorAll("details:not([open])")];
		for (const fold of closed) fold.open = true;
	});
	addEventListener("afterprint", () => closed.forEach((fold) => (fold.open = false)));
	refresh();
	if (location.hash) follow();
	else if (innerWidth >= 1280 && entries.length < 5000) toggleTree();
})();
