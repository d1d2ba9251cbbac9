// SPDX-License-Identifier: BSD-2-Clause
// Run by flamegraph.sh with the folder of the sample SVGs (tests/unit/analyze_flamegraph_samples.c).
"use strict";
const assert = require("assert");
const path = require("path");
const { test } = require("./chromium.js");
const dir = process.argv[2];

// In the page: what is drawn, as plain data.
const HELPERS = `
	window.boxes = () => [...document.querySelectorAll(".fg-frame")].map(e => {
		const r = e.querySelector("rect"), at = r.getBoundingClientRect(), t = e.querySelector("text");
		return { i: +e.getAttribute("data-i"), last: +e.getAttribute("data-last"), name: e.box ? svg().nameOf(e.box) : "",
			text: t ? t.textContent : "", css: e.getAttribute("class"), fill: r.getAttribute("class"),
			x: at.left, y: at.top, w: +r.getAttribute("width"), depth: Math.round(at.top / 17) };
	});
	window.svg = () => document.querySelector("svg.flamegraph").flamegraph;
	window.matchedText = () => document.querySelector(".fg-matched").textContent;
	window.tipText = () => { const t = document.querySelector(".fg-tip");
		return t.getAttribute("visibility") === "visible" ? [...t.querySelectorAll("text")].map(e => e.textContent) : null; };`;

async function open(b, name, address) {
	const ms = await b.open(path.join(dir, name + ".svg"), address);
	await b.eval(HELPERS);
	await b.settle();
	return ms;
}

const boxes = b => b.eval("boxes()");
const matched = b => b.eval("matchedText()");
const named = async (b, name, nth = 0) => {
	const found = (await boxes(b)).filter(x => x.name === name);
	assert(found.length > nth, "no frame named " + name);
	return found[nth];
};
const clickOn = async (b, name, nth) => {
	const at = await named(b, name, nth);
	await b.click(at.x + Math.min(at.w / 2, 20), at.y + 8);
};
const search = async (b, text) => {
	await b.key("f", 2);
	await b.eval("svg().input.select()");
	await b.type(text);
};

// Children lie within their parent and never add up to more; the drawn ones of a family leave no holes.
const checkGeometry = all => {
	const rows = new Map();
	for (const x of all)
		rows.set(x.y, [...(rows.get(x.y) || []), x]);
	for (const row of rows.values()) {
		row.sort((a, c) => a.x - c.x);
		for (let i = 1; i < row.length; i++)
			assert(row[i].x >= row[i - 1].x + row[i - 1].w - 0.05, "frames overlap: " + JSON.stringify([row[i - 1], row[i]]));
	}
};

async function zooming(b) {
	await open(b, "small");
	const before = await boxes(b), full = (await named(b, "all")).w;
	checkGeometry(before);
	assert.strictEqual(before.length, 17);
	assert(Math.abs((await named(b, "main")).w - full * 0.95) < 1);

	await clickOn(b, "write_out");
	let now = await boxes(b);
	assert.strictEqual((await named(b, "write_out")).w, full, "the clicked frame takes the full width");
	assert.strictEqual((await named(b, "vfs_write")).w, full, "its child is drawn, as wide as its share");
	assert((await named(b, "main")).css.includes("fg-faded"), "its callers stay, faded");
	assert(!now.some(x => x.name === "next_token"), "the rest is gone");
	assert.match(await b.eval("location.hash"), /^#z=\d+$/);

	await clickOn(b, "write_out");
	assert.deepStrictEqual((await boxes(b)).map(x => x.name), before.map(x => x.name), "a second click leads back");

	await clickOn(b, "parse");
	await b.key("Escape");
	assert.strictEqual((await boxes(b)).length, before.length, "Escape leads back");

	await clickOn(b, "parse");
	const reset = await b.eval("(r => [r.left + 5, r.top + 5])(svg().resetButton.getBoundingClientRect())");
	await b.click(...reset);
	assert.strictEqual((await boxes(b)).length, before.length, "the button leads back");

	await clickOn(b, "eval");
	await clickOn(b, "main");
	assert.strictEqual((await named(b, "main")).w, full, "a faded caller is zoomed to");
	assert((await boxes(b)).some(x => x.name === "next_token"));
}

async function searching(b) {
	await open(b, "small");
	await search(b, "^parse$");
	// parse: 40 directly under main, and 25 under main;eval, where it calls eval;parse again: counted once.
	assert.strictEqual(await matched(b), "matched 65.00% (65 samples)");
	assert.strictEqual((await boxes(b)).filter(x => x.css.includes("fg-hit")).length, 3);
	assert.match(await b.eval("location.hash"), /s=%5Eparse%24/);
	await b.eval("svg().input.blur()");
	await clickOn(b, "write_out");
	assert.strictEqual(await matched(b), "matched 0.00% (0 samples) of this view");
	await clickOn(b, "vfs_write");
	await search(b, "main");
	assert.strictEqual(await matched(b), "matched 100.00% (20 samples) of this view", "a caller that matches counts");
	await search(b, "(");
	assert.strictEqual(await matched(b), "not a regular expression");
	assert(await b.eval("svg().input.classList.contains('fg-bad')"));
	await search(b, "PARSE");
	assert.strictEqual(await matched(b), "matched 0.00% (0 samples) of this view", "capitals are meant");
	await b.key("Escape");
	assert.strictEqual(await matched(b), "", "Escape first ends the search");
	await b.key("Escape");
	assert.strictEqual((await boxes(b)).length, 17, "then the zoom");

	await open(b, "small", "?s=vfs");
	assert.strictEqual(await matched(b), "matched 20.00% (20 samples)", "?s= is searched for");
	await open(b, "small", "#s=vfs&z=" + (await named(b, "eval")).i);
	assert.strictEqual(await matched(b), "matched 0.00% (0 samples) of this view", "the address keeps search and zoom");
	for (const bad of ["#z=99999", "#z=5-2", "#z=-1", "#s=%E0%A4%A", "#z=1e3"]) {
		await open(b, "small", bad);
		assert.strictEqual((await boxes(b)).length, 17, bad);
	}
}

async function details(b) {
	await open(b, "small");
	const at = await named(b, "parse");
	await b.mouse("mouseMoved", at.x + 10, at.y + 8);
	assert.deepStrictEqual(await b.eval("tipText()"),
		["parse", "user \u00b7 /usr/bin/demo \u00b7 demo.cc:10", "total  40 samples, 40.00%", "self   30 samples, 30.00%"]);
	await b.mouse("mouseMoved", 5, 600);
	assert.strictEqual(await b.eval("tipText()"), null);
	await clickOn(b, "main");
	await b.mouse("mouseMoved", 5, 600);
	const jit = await named(b, "LazyCompile:*work app.js:1");
	await b.mouse("mouseMoved", jit.x + 10, jit.y + 8);
	assert.deepStrictEqual((await b.eval("tipText()")).slice(1, 3), ["JIT", "total  10 samples, 10.00% of all, 10.53% of this view"]);

	await open(b, "diff");
	for (const [name, want] of [["grew", ["old    100 ns, 10.00%", "new    300 ns, 30.00%", "change +200 ns, +200.00%"]],
		["gone", ["old    50 ns, 5.00%", "new    0 ns, 0.00%", "change \u221250 ns, \u2212100.00%"]], ["new", null]]) {
		const box = await named(b, name);
		await b.mouse("mouseMoved", box.x + 5, box.y + 8);
		const tip = await b.eval("tipText()");
		if (want)
			assert.deepStrictEqual(tip.slice(2), want);
		else
			assert.match(tip[4], /, new$/);
	}
	const css = Object.fromEntries((await boxes(b)).map(x => [x.name, x.fill]));
	assert.deepStrictEqual([css.grew, css.shrank, css.same, css.new, css.gone, css.slightly_less], ["d8", "d0", "d4", "d8", "d0", "d3"]);
}

async function kinds(b) {
	await open(b, "small");
	const fill = Object.fromEntries((await boxes(b)).map(x => [x.name, x.fill[0]]));
	assert.deepStrictEqual([fill.main, fill.next_token, fill.vfs_write, fill["LazyCompile:*work app.js:1"], fill.all], ["u", "i", "k", "j", "g"]);
	// With and without scripts the same classes: the shades are computed twice.
	const live = Object.fromEntries((await boxes(b)).map(x => [x.name, x.fill]));
	await b.scripts(false);
	await b.open(path.join(dir, "small.svg"));
	const still = await b.eval(`[...document.querySelectorAll(".fg-frames-view g")].map(e =>
		[e.querySelector("title").textContent.replace(/ \\([0-9.]+%\\)$/, ""), e.querySelector("rect").getAttribute("class")])`);
	await b.scripts(true);
	assert.strictEqual(still.length, 17, "the graph shows without scripts");
	for (const [name, css] of still)
		assert.strictEqual(css, live[name], name);
}

async function inverted(b) {
	await open(b, "inverted");
	const all = await boxes(b), root = await named(b, "all");
	checkGeometry(all);
	assert(all.every(x => x.y >= root.y), "the leaves hang under the root");
	// Self of parse: 30 under main and 25 at the end of the recursion.
	assert(Math.abs((await named(b, "parse")).w / root.w - 0.55) < 0.01);
	const group = await named(b, "demo (4711)");
	assert.strictEqual(group.y, root.y + 17, "whose stack it is comes first");
	await clickOn(b, "parse");
	const callers = (await boxes(b)).filter(x => x.y === (root.y + 3 * 17)).map(x => [x.name, Math.round(x.w / root.w * 55)]);
	assert.deepStrictEqual(callers, [["main", 30], ["eval", 25]]);
}

async function hostile(b) {
	await open(b, "hostile");
	assert.strictEqual(await b.eval("typeof window.evil"), "undefined");
	for (const name of ["<script>window.evil=1</script>", "a]]>b", "\"onload='evil()'", "constructor", "__proto__", "&#0;", "-->"])
		await named(b, name);
	assert.strictEqual(await b.eval("document.querySelectorAll('script').length"), 1, "no element came from a name");
	assert.strictEqual(await b.eval("document.querySelectorAll('img, svg svg').length"), 0);
	const huge = (await boxes(b)).find(x => x.name.startsWith("xxxx"));
	assert(huge.name.length <= 4096 && huge.text.endsWith("\u2026") && huge.text.length < 60);
	for (const x of await boxes(b)) {
		await b.click(x.x + 2, x.y + 8);
		await b.eval("tipText()");
		await b.key("Escape");
	}
	await search(b, "x{20}");
	assert.match(await matched(b), /^matched 20\.00%/);
	const tip = await named(b, "tip");
	await b.mouse("mouseMoved", tip.x + 5, tip.y + 8);
	assert.strictEqual((await b.eval("tipText()"))[1], "user \u00b7 <b>bin</b> \u00b7 <script>window.evil=4</script>:1");
	assert.strictEqual(await b.eval("typeof window.evil"), "undefined");
}

async function deep(b) {
	await open(b, "deep");
	assert(await b.eval("innerHeight + scrollY >= document.documentElement.scrollHeight - 1"), "starts at the root, below");
	await named(b, "all");
	await b.eval("svg().zoom(901, 901)"); // level_900: only the deepest branch is left
	await b.settle();
	const at = await named(b, "level_900");
	assert(at.w > 1200);
	await b.eval("scrollTo(0, 0)");
	await b.settle();
	assert((await named(b, "level_999")).y > 0, "the deepest frame is drawn when scrolled to");
	assert(await b.eval("svg().head.getBoundingClientRect().top >= -1"), "the header stays in sight");
	const rows = (await boxes(b)).length;
	assert(rows < 400, "only rows in sight are drawn at once");
	await b.key("Escape");
	await b.eval("scrollTo(0, 8000)");
	await b.settle();
	assert(await b.eval("Math.abs(svg().head.getBoundingClientRect().top) <= 1"), "the header follows");
}

async function big(b) {
	const ms = await open(b, "big");
	assert(ms < 5000, "opens in " + ms + " ms");
	checkGeometry(await boxes(b));
	for (let n = 0; n < 6; n++) {
		const deepest = await b.eval("svg().plan.rows.length");
		const wide = (await boxes(b)).filter(x => !x.css.includes("fg-faded") && x.i > 0 && x.w > 40 && x.text).sort((a, c) => a.y - c.y)[0];
		const took = await b.eval(`(t => { svg().zoom(${wide.i}, ${wide.last}); return performance.now() - t; })(performance.now())`);
		assert(took < 1000, "zooms in " + took + " ms");
		assert(await b.eval("svg().plan.rows.length") >= Math.min(deepest, 3));
		checkGeometry(await boxes(b));
	}
	await b.key("Escape");
	const took = await b.eval("(t => { svg().search('method_1'); return performance.now() - t; })(performance.now())");
	assert(took < 1000, "searches in " + took + " ms");
	assert.match(await matched(b), /^matched \d+\.\d\d% \(.* h\), up to \d+\.\d\d% more in merged frames$|^matched \d+\.\d\d% \(/);
	await open(b, "big-inverted");
	checkGeometry(await boxes(b));
}

// 50,000 frames side by side: nothing is lost, and every single one can be reached by clicking runs open.
async function flat(b) {
	await open(b, "flat");
	let run = (await boxes(b)).find(x => x.last !== x.i);
	assert.match(run.name, /^\(\d+ small frames\)$/);
	const total = (await b.eval("svg().plan.rows[2].reduce((n, x) => n + x.count, 0)"));
	assert.strictEqual(total, 50000);
	await b.click(run.x + 1, run.y + 8);
	const leaves = (await boxes(b)).filter(x => /^leaf_/.test(x.name));
	assert(leaves.length > 20 && leaves.every(x => x.w > 5), "a run opens to its frames");
	await b.key("Escape");
	await search(b, "^leaf_49999$");
	assert.match(await matched(b), /^matched <0\.01% \(1 sample\)/);
}

async function widths(b) {
	for (const width of [400, 800, 1900]) {
		await b.size(width, 700);
		await open(b, "small");
		const all = await boxes(b);
		assert(Math.abs((await named(b, "all")).w - (width - 16)) < 1.5, "takes the whole width of " + width);
		for (const x of all)
			assert(x.text.length * 6.6 <= x.w, "text fits: " + x.text);
		const inside = await b.eval(`[...document.querySelectorAll(".fg-button, foreignObject")].every(e =>
			(r => r.left >= 0 && r.right <= innerWidth)(e.getBoundingClientRect()))`);
		assert(inside, "controls are inside at " + width);
	}
	await b.size(1000, 700);
	await b.settle();
	assert(Math.abs((await named(b, "all")).w - 984) < 1.5, "follows the window");
	await b.size(1280, 900);
}

async function keys(b) {
	await open(b, "small");
	const focus = () => b.eval("svg().focus < 0 ? null : svg().g.frames[svg().g.frame[svg().focus]].name");
	for (const [key, want] of [["ArrowUp", "all"], ["ArrowUp", "demo (4711)"], ["ArrowUp", "_start"], ["ArrowUp", "main"], ["ArrowUp", "parse"],
		["ArrowRight", "eval"], ["ArrowLeft", "parse"], ["ArrowDown", "main"]]) {
		await b.key(key);
		assert.strictEqual(await focus(), want, key);
	}
	assert.strictEqual((await b.eval("tipText()"))[0], "main");
	await b.key("Enter");
	assert.strictEqual((await named(b, "main")).w, 1263.5);
	await open(b, "none");
	await b.key("ArrowUp");
	await search(b, "x");
	assert.strictEqual(await matched(b), "matched 0.00% (0 samples)");
}

test(async b => {
	for (const part of [zooming, searching, details, kinds, inverted, hostile, deep, big, flat, widths, keys]) {
		const start = Date.now();
		try {
			await part(b);
		} catch (e) {
			e.message = part.name + ": " + e.message;
			throw e;
		}
		console.log(part.name + ": right (" + (Date.now() - start) + " ms)");
	}
});
