/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes every svg.flamegraph of the document interactive: reads the graph from the <metadata> elements (format:
 * flamegraph_data.c), lays it out for the available width and draws the visible rows. Nothing is fetched, evaluated or
 * inserted as markup: names are set only through textContent.
 */
(function () {
"use strict";

const SVG = "http://www.w3.org/2000/svg", XHTML = "http://www.w3.org/1999/xhtml";
const ROW = 17, PAD = 8;
const NARROW = 760;	/* px: below this the controls have separate lines */
const ALONE = 0.7;	/* px: narrower siblings are merged into boxes ... */
const RUN = 2;		/* ... of about this width, which can be zoomed; */
const FAINT = 0.1;	/* merged boxes narrower than this are not drawn */
const OUTLINED = 8;	/* px: merged frames of at least this width have a dashed outline */
const KINDS = "uikjgn";
const KIND_NAMES = ["user", "inlined", "kernel", "JIT", "group", ""];
const SMALL = 0;	/* the frame for merged frames, which are not in the file */

function el(name, attrs, parent, text) {
	const e = document.createElementNS(SVG, name);
	for (const k in attrs)
		e.setAttribute(k, attrs[k]);
	if (text !== undefined)
		e.textContent = text;
	if (parent)
		parent.appendChild(e);
	return e;
}

/* ---- the data ---- */

const DIGIT = new Int8Array(128);
for (let i = 0; i < 64; i++)
	DIGIT["ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".charCodeAt(i)] = i;

function numbers(text) {
	let at = 0;
	return function () {
		let v = 0, place = 1, c;
		do {
			c = DIGIT[text.charCodeAt(at++)];
			v += (c & 31) * place;
			place *= 32;
		} while (c & 32);
		return v;
	};
}

/* Same hash as in flamegraph_static.c, over the UTF-8 bytes of the name. */
function shade(name) {
	let h = 2166136261;
	for (const b of new TextEncoder().encode(name))
		h = Math.imul(h ^ b, 16777619);
	return (h ^ h >>> 16) & 3;
}

function decodeFrames(svg) {
	const strings = svg.querySelector(".fg-strings").textContent.split("\n");
	const next = numbers(svg.querySelector(".fg-frames").textContent);
	const frames = new Array(next());
	for (let i = 0; i < frames.length; i++) {
		const name = strings[next()], kind = next();
		frames[i] = { name: name, kind: kind, binary: strings[next()], file: strings[next()], line: next() };
		frames[i].label = strings[next()] || name;
		frames[i].css = KINDS[kind] + shade(name);
	}
	return frames;
}

/* Boxes are in preorder: the first child of i is i + 1, the next sibling of c is end[c]. */
function decode(svg) {
	const diff = svg.hasAttribute("data-diff");
	const next = numbers(svg.querySelector(".fg-boxes").textContent), n = next();
	const g = {
		frames: decodeFrames(svg), n: n, diff: diff,
		frame: new Int32Array(n), kids: new Int32Array(n), parent: new Int32Array(n), depth: new Int32Array(n),
		end: new Int32Array(n), total: new Float64Array(n),
		self: [new Float64Array(n), new Float64Array(n)], sum: [new Float64Array(n), new Float64Array(n)],
	};
	const open = [], left = [];
	for (let i = 0; i < n; i++) {
		g.frame[i] = next();
		g.kids[i] = next();
		g.self[0][i] = next();
		g.self[1][i] = diff ? next() : 0;
		while (left.length && left[left.length - 1] === 0) {
			left.pop();
			g.end[open.pop()] = i;
		}
		g.parent[i] = open.length ? open[open.length - 1] : -1;
		g.depth[i] = open.length;
		if (left.length)
			left[left.length - 1]--;
		open.push(i);
		left.push(g.frame[i] === SMALL ? 0 : g.kids[i]);
	}
	while (open.length)
		g.end[open.pop()] = n;
	for (let i = n - 1; i >= 0; i--) {
		for (let k = 0; k < 2; k++) {
			g.sum[k][i] += g.self[k][i];
			if (i)
				g.sum[k][g.parent[i]] += g.sum[k][i];
		}
		g.total[i] = g.sum[0][i] + g.sum[1][i];
	}
	return g;
}

/* ---- formatting of numbers and names ---- */

function scaled(v, units, step) {
	let u = 0;
	while (u + 1 < units.length && v >= step[u])
		v /= step[u++];
	return (u === 0 || v >= 100 ? String(Math.round(v)) : v.toPrecision(3)) + " " + units[u];
}

function figure(v, unit) {
	if (unit === "ns")
		return scaled(v, ["ns", "\u00b5s", "ms", "s", "min", "h"], [1000, 1000, 1000, 60, 60]);
	if (unit === "bytes")
		return scaled(v, ["B", "KiB", "MiB", "GiB", "TiB"], [1024, 1024, 1024, 1024]);
	const name = unit === "count" ? "samples" : unit;
	return Math.round(v).toString().replace(/\B(?=(\d{3})+$)/g, ",") + " " + (v === 1 ? name.replace(/s$/, "") : name);
}

function percent(part, all) {
	const p = all > 0 ? 100 * part / all : 0;
	return (p !== 0 && p < 0.01 ? "<0.01" : p.toFixed(2)) + "%";
}

/* Removes the contents of (), <> and {} from a name, except "operator()", "(anonymous namespace)" and similar. */
function plain(name) {
	let out = "", depth = 0;
	for (let i = 0; i < name.length; i++) {
		const c = name[i], named = !depth && /operator$|^$|::$/.test(out.slice(-8));
		if (c === "(" && named) {
			const close = name.indexOf(")", i);
			if (close < 0)
				return name;
			out += name.slice(i, close + 1);
			i = close;
		} else if ((c === "<" || c === ">" || c === "-") && !depth && /operator.?$/.test(out.slice(-9))) {
			out += c;
		} else if (c === "(" || c === "<" || c === "{") {
			depth++;
		} else if (c === ")" || c === ">" || c === "}") {
			if (name[i - 1] !== "-")
				depth = Math.max(0, depth - 1);
		} else if (!depth) {
			out += c;
		}
	}
	return out.replace(/ const$/, "").replace(/^::/, "") || name;
}

/* Shortens a name to `room` characters. For code, the last component of the name is preferred. */
function fit(name, room, code) {
	if (room < 3)
		return "";
	if (name.length <= room)
		return name;
	const bare = code ? plain(name) : name;
	if (bare.length <= room)
		return bare;
	const last = code ? bare.replace(/^.*::/, "") : bare;
	if (last.length && last.length <= room)
		return last;
	return Array.from(last || bare).slice(0, room - 1).join("") + "\u2026";
}

/* ---- layout ---- */

/*
 * A view shows a range of siblings, first..last, at full width: one frame, or several narrow ones. Returns rows by depth
 * of boxes {x, w, i, last, count, faded}, where i..last is also a range of siblings.
 */
function layout(g, view, width) {
	const rows = [], inner = width - 2 * PAD, top = g.depth[view.first];
	let base = 0;
	function put(depth, box) {
		(rows[depth] = rows[depth] || []).push(box);
	}
	for (let i = g.parent[view.first]; i >= 0; i = g.parent[i])
		put(g.depth[i], { x: PAD, w: inner, i: i, last: i, count: 1, faded: true });
	for (let c = view.first; c <= view.last; c = g.end[c])
		base += g.total[c];
	const scale = base > 0 ? inner / base : 0;
	const todo = [[view.first, g.end[view.last], PAD, top]];
	while (todo.length) {
		const family = todo.pop(), depth = family[3], alone = family[0] === view.first;
		let x = family[2], run = null;
		for (let c = family[0]; c < family[1]; c = g.end[c]) {
			const w = g.total[c] * scale;
			if (w >= ALONE || (alone && view.first === view.last)) {
				if (run && run.w >= FAINT)
					put(depth, run);
				run = null;
				put(depth, { x: x, w: w, i: c, last: c, count: 1, faded: false });
				if (g.end[c] > c + 1)
					todo.push([c + 1, g.end[c], x, depth + 1]);
			} else if (w > 0) {
				run = run || { x: x, w: 0, i: c, last: c, count: 0, faded: false };
				run.w += w;
				run.last = c;
				run.count += g.frame[c] === SMALL ? g.kids[c] : 1;
				if (run.w >= RUN) {
					put(depth, run);
					run = null;
				}
			}
			x += w;
		}
		if (run && run.w >= FAINT)
			put(depth, run);
	}
	return { rows: rows, base: base };
}

/* Weight of the matching frames in a view, counting each sample once, and of merged frames, whose names are unknown. */
function matched(g, view, hit) {
	let sum = 0, unknown = 0;
	const end = g.end[view.last];
	for (let i = g.parent[view.first]; i >= 0; i = g.parent[i])
		if (hit[g.frame[i]])
			return { sum: Infinity, unknown: 0 };
	for (let i = view.first; i < end;) {
		if (hit[g.frame[i]]) {
			sum += g.total[i];
			i = g.end[i];
			continue;
		}
		if (g.frame[i] === SMALL)
			unknown += g.total[i];
		i++;
	}
	return { sum: sum, unknown: unknown };
}

/* ---- the interactive graph ---- */

class Flamegraph {
	constructor(svg, first) {
		this.svg = svg;
		this.g = decode(svg);
		this.unit = svg.getAttribute("data-unit");
		this.down = svg.getAttribute("data-grows") === "down";
		this.alone = svg === document.documentElement;
		this.remembers = first;
		this.view = { first: 0, last: 0 };
		this.pattern = "";
		this.hit = null;
		this.focus = -1;
		this.width = 0;
		this.head = svg.querySelector(".fg-head");
		this.frames = svg.querySelector(".fg-frames-view");
		this.titles = ["fg-title", "fg-subtitle"].map(c => svg.querySelector("." + c)).map(e => [e, e.textContent]);
		svg.setAttribute("width", "100%");
		svg.setAttribute("tabindex", "0");
		svg.setAttribute("role", "application");
		svg.setAttribute("aria-label", this.titles[0][1] + ": arrow keys move, Enter zooms, Escape resets, / searches");
		this.measure();
		this.makeControls();
		this.listen();
		this.recall();
		const s = this.scroller();
		if (!this.down && (this.alone || s !== window))
			s.scrollTo(0, s === window ? document.documentElement.scrollHeight : s.scrollHeight);
		if (this.alone && this.plan)
			this.reveal(this.g.depth[this.view.first]);
	}

	/* Measures the width of a character in the font in use. */
	measure() {
		const probe = el("text", { x: 0, y: -100 }, this.svg, "0".repeat(50));
		this.char = (probe.getComputedTextLength && probe.getComputedTextLength() / 50) || 6.63;
		probe.remove();
	}

	makeControls() {
		const head = this.head;
		this.box = el("foreignObject", { width: 260, height: 24 }, head);
		this.input = document.createElementNS(XHTML, "input");
		this.input.setAttribute("type", "text");
		this.input.setAttribute("placeholder", "search: regular expression");
		this.input.setAttribute("aria-label", "Search frames by regular expression");
		this.input.setAttribute("spellcheck", "false");
		this.box.appendChild(this.input);
		this.searchButton = this.button("Search", 62, () => this.input.focus());
		this.resetButton = this.button("Reset zoom", 86, () => this.zoom(0, 0));
		this.matchedText = el("text", { "class": "fg-dim fg-matched" }, head);
		this.matchedText.setAttribute("aria-live", "polite");
		this.tip = el("g", { "class": "fg-tip", visibility: "hidden" }, this.svg);
	}

	button(text, width, act) {
		const b = el("g", { "class": "fg-button", role: "button", tabindex: "0" }, this.head);
		el("rect", { width: width, height: 24, rx: 4 }, b);
		el("text", { x: width / 2, y: 16 }, b, text);
		b.addEventListener("click", act);
		b.addEventListener("keydown", e => {
			if (e.key === "Enter" || e.key === " ") {
				e.preventDefault();
				e.stopPropagation();
				act();
			}
		});
		return b;
	}

	/* ---- drawing ---- */

	relayout() {
		const width = Math.floor(this.svg.getBoundingClientRect().width);
		if (width < 50) /* not shown yet */
			return;
		this.width = width;
		this.headHeight = width < NARROW ? 118 : 72;
		this.plan = layout(this.g, this.view, width);
		const before = this.height || 0;
		this.height = this.headHeight + this.plan.rows.length * ROW + PAD;
		this.svg.setAttribute("viewBox", "0 0 " + width + " " + this.height);
		this.svg.setAttribute("height", this.height);
		this.frames.textContent = "";
		this.rows = [];
		this.placeControls();
		/* With the root at the bottom, scroll to keep the same rows under the pointer. */
		if (!this.down && before && this.height !== before)
			this.scroller().scrollBy(0, this.height - before);
		this.drawInSight();
		this.showMatched();
	}

	placeControls() {
		const w = this.width, narrow = w < NARROW, y = narrow ? 70 : 8;
		const field = Math.max(60, Math.min(260, w - 62 - 86 - 2 * PAD - 12));
		const x = narrow ? PAD : w - PAD - 86 - 62 - field - 12;
		this.head.querySelector("rect").setAttribute("height", this.headHeight - 4);
		this.searchButton.setAttribute("transform", "translate(" + (x + field + 6) + "," + y + ")");
		this.resetButton.setAttribute("transform", "translate(" + (x + field + 74) + "," + y + ")");
		this.box.setAttribute("x", x);
		this.box.setAttribute("y", y);
		this.box.setAttribute("width", field);
		this.matchedText.setAttribute("x", narrow ? PAD : w - PAD);
		this.matchedText.setAttribute("y", narrow ? 110 : 62);
		this.matchedText.setAttribute("text-anchor", narrow ? "start" : "end");
		for (const t of this.titles) {
			const title = t[0].classList.contains("fg-title");
			const room = Math.floor(((title && !narrow ? x : w) - 2 * PAD) / (title ? 8.5 : 6.4));
			t[0].textContent = t[1].length > room ? t[1].slice(0, Math.max(0, room - 1)) + "\u2026" : t[1];
		}
	}

	scroller() {
		for (let e = this.svg.parentElement; e; e = e.parentElement)
			if (e.scrollHeight > e.clientHeight && /auto|scroll/.test(getComputedStyle(e).overflowY))
				return e === document.body || e === document.documentElement ? window : e;
		return window;
	}

	/* The visible part of the graph, in graph coordinates. */
	sight() {
		const at = this.svg.getBoundingClientRect(), s = this.scroller();
		const clip = s === window ? { top: 0, bottom: window.innerHeight } : s.getBoundingClientRect();
		const top = Math.max(0, clip.top, 0) - at.top, bottom = Math.min(clip.bottom, window.innerHeight) - at.top;
		return { top: Math.max(0, top), bottom: Math.min(this.height, bottom) };
	}

	rowY(depth) {
		return this.headHeight + (this.down ? depth : this.plan.rows.length - 1 - depth) * ROW;
	}

	/* Rows are drawn when they first become visible; the header stays at the top. */
	drawInSight() {
		if (!this.plan)
			return;
		const s = this.sight(), margin = 30 * ROW;
		this.head.setAttribute("transform", "translate(0," + Math.min(s.top, this.height) + ")");
		for (let d = 0; d < this.plan.rows.length; d++) {
			const y = this.rowY(d);
			if (!this.rows[d] && y + ROW >= s.top - margin && y <= s.bottom + margin)
				this.rows[d] = this.drawRow(d, y);
		}
	}

	drawRow(depth, y) {
		const row = el("g", { "class": "fg-row", transform: "translate(0," + y + ")" }, null);
		for (const b of this.plan.rows[depth])
			this.drawBox(b, row);
		this.frames.appendChild(row);
		return row;
	}

	drawBox(b, row) {
		const g = this.g, frame = g.frames[g.frame[b.i]], small = b.i !== b.last || g.frame[b.i] === SMALL;
		const e = el("g", { "class": this.boxClass(b), "data-i": b.i, "data-last": b.last }, row);
		const room = Math.floor((b.w - 6) / this.char);
		el("rect", {
			x: b.x.toFixed(2), width: Math.max(b.w > 1.5 ? b.w - 0.5 : b.w, 0.1).toFixed(2), height: ROW - 1,
			"class": small || frame.kind === 5 ? b.w < OUTLINED ? "n0" : "n1" : this.css(b.i, frame),
		}, e);
		const text = room < 3 ? "" : fit(small ? this.nameOf(b) : frame.label, room, !small && frame.kind <= 1);
		if (text)
			el("text", { x: (b.x + 3).toFixed(2), y: 12, "class": frame.kind === 1 && !small ? "in" : "" }, e, text);
		e.box = b;
	}

	boxClass(b) {
		return "fg-frame" + (b.faded ? " fg-faded" : "") + (this.hits(b) ? " fg-hit" : "") +
			(b.i === this.focus ? " fg-focus" : "");
	}

	/* Whether a box, or any frame of a merged box, matches. */
	hits(b) {
		const g = this.g;
		if (!this.hit)
			return false;
		if (b.i === b.last)
			return !!this.hit[g.frame[b.i]];
		for (let c = b.i; c < g.end[b.last]; c++)
			if (this.hit[g.frame[c]])
				return true;
		return false;
	}

	css(i, frame) {
		if (!this.g.diff)
			return frame.css;
		const was = this.g.sum[0][i], is = this.g.sum[1][i], share = (is - was) / Math.max(was, is);
		const steps = [0.05, 0.15, 0.35, 0.65].filter(s => Math.abs(share) >= s).length;
		return "d" + (share < 0 ? 4 - steps : 4 + steps);
	}

	nameOf(b) {
		const frame = this.g.frame[b.i];
		if (b.i !== b.last || frame === SMALL) {
			const n = frame === SMALL && b.i === b.last ? this.g.kids[b.i] : b.count;
			return "(" + n.toLocaleString("en") + " small frame" + (n === 1 ? "" : "s") + ")";
		}
		return this.g.frames[frame].name;
	}

	/* ---- details ---- */

	details(b) {
		const g = this.g, small = b.i !== b.last || g.frame[b.i] === SMALL;
		const frame = g.frames[g.frame[b.i]], lines = [this.nameOf(b)];
		let sum = [0, 0], self = [0, 0];
		for (let c = b.i; c <= b.last; c = g.end[c])
			for (let k = 0; k < 2; k++) {
				sum[k] += g.sum[k][c];
				self[k] += g.self[k][c];
			}
		if (small)
			lines.push(g.frame[b.i] === SMALL && b.i === b.last ?
				"too small to be stored individually in this file" : "too narrow to draw individually: click to zoom in");
		else
			lines.push([KIND_NAMES[frame.kind], frame.binary, frame.file + (frame.file && frame.line ? ":" + frame.line : "")]
				.filter(s => s).join(" \u00b7 "));
		if (g.diff) {
			this.diffDetails(lines, sum);
			return lines.filter(s => s);
		}
		let total = "total  " + figure(sum[0], this.unit) + ", " + percent(sum[0], g.total[0]);
		if (this.view.first !== 0 && !b.faded)
			total += " of all, " + percent(sum[0], this.plan.base) + " of this view";
		lines.push(total);
		if (!small && !this.down)
			lines.push("self   " + figure(self[0], this.unit) + ", " + percent(self[0], g.total[0]));
		return lines.filter(s => s);
	}

	diffDetails(lines, sum) {
		const g = this.g, change = sum[1] - sum[0];
		lines.push("old    " + figure(sum[0], this.unit) + ", " + percent(sum[0], g.sum[0][0]));
		lines.push("new    " + figure(sum[1], this.unit) + ", " + percent(sum[1], g.sum[1][0]));
		lines.push("change " + (change < 0 ? "\u2212" : "+") + figure(Math.abs(change), this.unit) +
			(sum[0] > 0 ? ", " + (change < 0 ? "\u2212" : "+") + percent(Math.abs(change), sum[0]) : ", new"));
	}

	showTip(b, x, y) {
		const s = this.sight(), most = Math.max(20, Math.min(100, Math.floor((this.width - 40) / this.char)));
		const lines = [];
		for (const text of this.details(b)) {
			const chars = Array.from(text);
			for (let at = 0, n = 0; at < chars.length; at += most, n++) {
				if (n === 8) {
					lines.push(["\u2026 " + (chars.length - at) + " more characters", lines.length]);
					break;
				}
				lines.push([chars.slice(at, at + most).join(""), text === this.nameOf(b)]);
			}
		}
		this.tip.textContent = "";
		const card = el("rect", { rx: 4, height: lines.length * 16 + 10 }, this.tip);
		let w = 0;
		lines.forEach((line, n) => {
			const t = el("text", { x: 8, y: 17 + n * 16, "class": line[1] === true ? "" : "fg-tip-dim" }, this.tip, line[0]);
			w = Math.max(w, t.getComputedTextLength ? t.getComputedTextLength() : line[0].length * this.char);
		});
		const h = lines.length * 16 + 10;
		card.setAttribute("width", w + 16);
		const tx = Math.max(2, Math.min(x + 12, this.width - w - 20));
		const ty = y + 20 + h < s.bottom ? y + 20 : Math.max(s.top, y - h - 10);
		this.tip.setAttribute("transform", "translate(" + tx + "," + ty + ")");
		this.tip.setAttribute("visibility", "visible");
	}

	hideTip() {
		this.tip.setAttribute("visibility", "hidden");
	}

	/* ---- zoom ---- */

	zoom(first, last) {
		const g = this.g;
		if (!(first >= 0 && first < g.n && last >= first && last < g.n && g.parent[first] === g.parent[last]))
			first = last = 0;
		this.view = { first: first, last: last };
		this.hideTip();
		this.resetButton.classList.toggle("fg-off", first === 0);
		this.relayout();
		if (!this.recalling && this.plan)
			this.reveal(g.depth[first]);
		this.remember();
	}

	clicked(b) {
		if (b.i === this.view.first && b.last === this.view.last)
			this.zoom(0, 0); /* second click: zoom out */
		else
			this.zoom(b.i, b.last);
	}

	/* ---- search ---- */

	search(pattern) {
		let re = null;
		this.pattern = pattern;
		this.input.classList.remove("fg-bad");
		if (pattern)
			try { /* case-sensitive if the pattern has upper case */
				re = new RegExp(pattern, /[A-Z]/.test(pattern.replace(/\\./g, "")) ? "" : "i");
			} catch (e) {
				this.input.classList.add("fg-bad");
			}
		this.hit = re && this.g.frames.map((f, i) => i !== SMALL && (re.test(f.name) || re.test(f.label)));
		this.frames.classList.toggle("fg-searching", !!re);
		for (const e of this.frames.querySelectorAll(".fg-frame"))
			e.setAttribute("class", this.boxClass(e.box));
		this.showMatched(pattern && !re);
		this.remember();
	}

	showMatched(bad) {
		const g = this.g, t = this.matchedText;
		t.classList.toggle("fg-found", !!this.hit);
		if (!this.hit || !this.plan) {
			t.textContent = bad ? "not a regular expression" : "";
			return;
		}
		const m = matched(g, this.view, this.hit), sum = Math.min(m.sum, this.plan.base);
		let text = "matched " + percent(sum, this.plan.base);
		if (!g.diff)
			text += " (" + figure(sum, this.unit) + ")";
		if (this.view.first !== 0)
			text += " of this view";
		if (m.unknown > 0)
			text += ", up to " + percent(m.unknown, this.plan.base) + " more in merged frames";
		t.textContent = text;
	}

	/* ---- the view is stored in the URL: #s=PATTERN&z=FIRST-LAST, or ?s=PATTERN ---- */

	remember() {
		if (!this.remembers || this.recalling)
			return;
		const parts = [];
		if (this.pattern)
			parts.push("s=" + encodeURIComponent(this.pattern));
		if (this.view.first)
			parts.push("z=" + this.view.first + (this.view.last !== this.view.first ? "-" + this.view.last : ""));
		try {
			history.replaceState(null, "", parts.length ? "#" + parts.join("&") : location.pathname + location.search);
		} catch (e) {
			/* sandboxed and data: documents have no URL */
		}
	}

	recall() {
		const want = {}, address = this.remembers ? location.search.slice(1) + "&" + location.hash.slice(1) : "";
		for (const part of address.split("&")) {
			const at = part.indexOf("=");
			try {
				if (at > 0)
					want[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
			} catch (e) {
				/* not one of our parameters */
			}
		}
		this.recalling = true;
		const z = /^(\d+)(?:-(\d+))?$/.exec(want.z || "");
		this.zoom(z ? +z[1] : 0, z ? +(z[2] || z[1]) : 0);
		if (want.s) {
			this.input.value = want.s;
			this.search(want.s);
		}
		this.recalling = false;
	}

	/* ---- mouse and keyboard ---- */

	boxAt(target) {
		const e = target.closest && target.closest(".fg-frame");
		return e && this.frames.contains(e) ? e.box : null;
	}

	listen() {
		this.svg.addEventListener("click", e => {
			const b = this.boxAt(e.target);
			if (b)
				this.clicked(b);
		});
		this.svg.addEventListener("mousemove", e => {
			const b = this.boxAt(e.target), at = this.svg.getBoundingClientRect();
			if (b)
				this.showTip(b, e.clientX - at.left, e.clientY - at.top);
			else
				this.hideTip();
		});
		this.svg.addEventListener("mouseleave", () => this.hideTip());
		(this.alone ? window : this.svg).addEventListener("keydown", e => this.key(e));
		this.input.addEventListener("input", () => this.search(this.input.value));
		window.addEventListener("scroll", () => {
			if (!this.waiting) {
				this.waiting = true;
				requestAnimationFrame(() => {
					this.waiting = false;
					this.drawInSight();
				});
			}
		}, true);
		window.addEventListener("resize", () => this.resized());
		if (window.ResizeObserver)
			new ResizeObserver(() => this.resized()).observe(this.svg);
	}

	resized() {
		if (Math.floor(this.svg.getBoundingClientRect().width) !== this.width)
			this.relayout();
		else
			this.drawInSight();
	}

	key(e) {
		const typing = document.activeElement === this.input;
		if (e.key === "f" && (e.ctrlKey || e.metaKey) && !typing) { /* a second Ctrl-F opens the browser's search */
			e.preventDefault();
			this.input.focus();
			this.input.select();
		} else if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		} else if (e.key === "Escape") {
			this.escape(typing);
		} else if (!typing && e.key === "/") {
			e.preventDefault();
			this.input.focus();
		} else if (!typing && e.key === "Enter" && this.focus >= 0) {
			this.clicked({ i: this.focus, last: this.focus });
		} else if (!typing && e.key.slice(0, 5) === "Arrow") {
			e.preventDefault();
			this.move(e.key);
		}
	}

	/* Resets the search first, then the zoom. */
	escape(typing) {
		if (this.pattern) {
			this.input.value = "";
			this.search("");
		} else {
			this.focus = -1;
			this.zoom(0, 0);
		}
		if (typing)
			this.input.blur();
	}

	/* Moves the focus to an adjacent box. */
	move(key) {
		const rows = this.plan.rows, g = this.g, deeper = key === (this.down ? "ArrowDown" : "ArrowUp");
		let depth, at;
		if (this.focus < 0) {
			depth = g.depth[this.view.first];
			at = 0;
		} else {
			depth = g.depth[this.focus];
			at = (rows[depth] || []).findIndex(b => b.i === this.focus);
			if (key === "ArrowLeft" || key === "ArrowRight")
				at += key === "ArrowLeft" ? -1 : 1;
			else if (deeper)
				at = (rows[++depth] || []).findIndex(b => g.parent[b.i] === this.focus);
			else
				at = (rows[--depth] || []).findIndex(b => b.i === g.parent[this.focus]);
		}
		const b = rows[depth] && rows[depth][at];
		if (b)
			this.setFocus(b, depth);
	}

	/* Scrolls the minimum needed to show a row below the header. */
	reveal(depth) {
		const y = this.rowY(depth), s = this.sight();
		if (y < s.top + this.headHeight)
			this.scroller().scrollBy(0, y - s.top - this.headHeight - ROW);
		else if (y + 2 * ROW > s.bottom)
			this.scroller().scrollBy(0, y + 2 * ROW - s.bottom);
		this.drawInSight();
	}

	setFocus(b, depth) {
		const y = this.rowY(depth);
		this.focus = b.i;
		this.reveal(depth);
		for (const e of this.frames.querySelectorAll(".fg-frame"))
			e.setAttribute("class", this.boxClass(e.box));
		this.showTip(b, Math.max(b.x, 0), y);
		this.svg.setAttribute("aria-label", this.details(b).join(", "));
	}
}

let first = true;
for (const svg of document.querySelectorAll("svg.flamegraph")) {
	svg.flamegraph = new Flamegraph(svg, first);
	first = false;
}
})();
