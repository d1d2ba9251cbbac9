// SPDX-License-Identifier: BSD-2-Clause
// Drives headless Chromium over its own debugging pipe: real pointer and key events, no package and no port needed.
"use strict";
const { spawn, spawnSync } = require("child_process");
const fs = require("fs"), os = require("os"), path = require("path");

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
	"--hide-scrollbars", "--remote-debugging-pipe"];

class Browser {
	constructor() {
		this.profile = fs.mkdtempSync(path.join(os.tmpdir(), "obana-browser-"));
		this.process = spawn("chromium", [...FLAGS, "--user-data-dir=" + this.profile, "about:blank"],
			{ stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
		this.replies = new Map();
		this.last = 0;
		this.complaints = []; // exceptions, console errors, requests that left the file
		this.waiting = [];
		let rest = "";
		this.process.stdio[4].on("data", data => {
			const parts = (rest + data).split("\0");
			rest = parts.pop();
			for (const part of parts)
				this.received(JSON.parse(part));
		});
	}

	received(m) {
		if (m.id && this.replies.has(m.id)) {
			const [done, failed] = this.replies.get(m.id);
			this.replies.delete(m.id);
			return m.error ? failed(new Error(m.error.message)) : done(m.result);
		}
		if (m.method === "Runtime.exceptionThrown")
			this.complaints.push(m.params.exceptionDetails.exception?.description || m.params.exceptionDetails.text);
		if (m.method === "Log.entryAdded" && m.params.entry.level === "error")
			this.complaints.push(m.params.entry.text);
		if (m.method === "Network.requestWillBeSent" && !/^(file|data|about):/.test(m.params.request.url))
			this.complaints.push("asked for " + m.params.request.url);
		if (m.method === "Page.javascriptDialogOpening")
			this.complaints.push("dialog: " + m.params.message);
		this.waiting = this.waiting.filter(w => w.method !== m.method || w.done());
	}

	send(method, params = {}, top = false) {
		const id = ++this.last;
		return new Promise((done, failed) => {
			this.replies.set(id, [done, failed]);
			this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId: top ? undefined : this.session }) + "\0");
		});
	}

	event(method) {
		return new Promise(done => this.waiting.push({ method, done: () => { done(); return false; } }));
	}

	async start(width = 1280, height = 900) {
		const { targetInfos } = await this.send("Target.getTargets", {}, true);
		const page = targetInfos.find(t => t.type === "page");
		this.session = (await this.send("Target.attachToTarget", { targetId: page.targetId, flatten: true }, true)).sessionId;
		for (const domain of ["Page", "Runtime", "Log", "Network"])
			await this.send(domain + ".enable");
		await this.size(width, height);
	}

	size(width, height) {
		return this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
	}

	async navigate(url) {
		const loaded = this.event("Page.loadEventFired");
		await this.send("Page.navigate", { url });
		await loaded;
	}

	// Milliseconds until the page is loaded. A fresh document even when only the #hash differs.
	async open(file, address = "") {
		await this.navigate("about:blank");
		const start = Date.now();
		await this.navigate("file://" + path.resolve(file) + address);
		return Date.now() - start;
	}

	async eval(expression) {
		const r = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
		if (r.exceptionDetails)
			throw new Error(r.exceptionDetails.exception?.description || r.exceptionDetails.text);
		return r.result.value;
	}

	settle() {
		return this.eval("new Promise(d => requestAnimationFrame(() => requestAnimationFrame(() => d(1))))");
	}

	async mouse(type, x, y) {
		await this.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
	}

	async click(x, y) {
		await this.mouse("mouseMoved", x, y);
		await this.mouse("mousePressed", x, y);
		await this.mouse("mouseReleased", x, y);
		await this.settle();
	}

	async key(key, modifiers = 0) {
		const code = { Escape: 27, Enter: 13, ArrowUp: 38, ArrowDown: 40, ArrowLeft: 37, ArrowRight: 39 }[key] || key.toUpperCase().charCodeAt(0);
		const event = { key, modifiers, windowsVirtualKeyCode: code, code: key.length === 1 ? "Key" + key.toUpperCase() : key };
		await this.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...event });
		await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
		await this.settle();
	}

	async type(text) {
		await this.send("Input.insertText", { text });
		await this.settle();
	}

	async screenshot(file) {
		const { data } = await this.send("Page.captureScreenshot", { format: "png" });
		fs.writeFileSync(file, Buffer.from(data, "base64"));
	}

	dark(on) {
		return this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: on ? "dark" : "light" }] });
	}

	scripts(on) {
		return this.send("Emulation.setScriptExecutionDisabled", { value: !on });
	}

	async stop() {
		const gone = new Promise(done => this.process.on("exit", done));
		this.send("Browser.close", {}, true).catch(() => {});
		const timer = setTimeout(() => this.process.kill("SIGKILL"), 5000);
		await gone;
		clearTimeout(timer);
		fs.rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
	}
}

// Runs body(browser); a failed check or a complaint of the page fails the test.
function test(body) {
	if (spawnSync("chromium", ["--version"]).error) {
		console.log("chromium is not installed");
		process.exit(77);
	}
	(async () => {
		const b = new Browser();
		let failed = null;
		setTimeout(() => { // a page that hangs
			console.error("no end after 120 s");
			b.process.kill("SIGKILL");
			fs.rmSync(b.profile, { recursive: true, force: true });
			process.exit(1);
		}, 120000).unref();
		try {
			await b.start();
			await body(b);
			if (b.complaints.length)
				throw new Error("the page complained: " + b.complaints.join("; "));
		} catch (e) {
			failed = e;
		}
		await b.stop();
		if (failed) {
			console.error(failed.stack || String(failed));
			process.exit(1);
		}
	})();
}

module.exports = { test };
