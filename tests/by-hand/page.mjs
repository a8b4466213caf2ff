// Looks at pages in five sizes and schemes, runs axe-core, takes pictures and counts sheets of paper: node tests/by-hand/page.mjs AXE_MIN_JS PICTURES PAGE.html ...
// For each page and view: what axe-core finds, whether anything overflows, a picture; and the sheets of paper.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { tmpdir } from "node:os";

const [axe, pictures, ...pages] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "page-"));
const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
    "--hide-scrollbars", `--user-data-dir=${profile}`, "about:blank"];
const browser = spawn("chromium", flags, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
let number = 0, rest = "", session, loaded;
const answers = new Map();
browser.stdio[4].on("data", (bytes) => {
    const parts = (rest + bytes).split("\0");
    rest = parts.pop();
    for (const message of parts.map((text) => JSON.parse(text))) {
        if (message.id) answers.get(message.id)(message);
        if (message.method === "Page.loadEventFired") loaded?.();
    }
});
const call = (method, params = {}) => new Promise((done, failed) => {
    const id = ++number;
    answers.set(id, (message) => message.error ? failed(new Error(`${method}: ${message.error.message}`)) : done(message.result));
    browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + "\0");
});
const ask = async (expression) => {
    const answer = await call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails) throw new Error(JSON.stringify(answer.exceptionDetails));
    return answer.result.value;
};

mkdirSync(pictures, { recursive: true });
const { targetId } = await call("Target.createTarget", { url: "about:blank" });
session = (await call("Target.attachToTarget", { targetId, flatten: true })).sessionId;
await call("Page.enable");
await call("Page.setBypassCSP", { enabled: true });
const views = [[1280, "light"], [800, "light"], [390, "light"], [1280, "dark"], [390, "dark"]];
let wrong = 0;
for (const page of pages) {
    const name = basename(page, ".html");
    for (const [width, scheme] of views) {
        const size = { width, height: width < 600 ? 844 : 960, deviceScaleFactor: 1, mobile: width < 600 };
        await call("Emulation.setDeviceMetricsOverride", size);
        const features = [{ name: "prefers-color-scheme", value: scheme }];
        await call("Emulation.setEmulatedMedia", { media: "screen", features });
        const load = new Promise((done) => { loaded = done; });
        await call("Page.navigate", { url: `file://${resolve(page)}` });
        await load;
        const { data } = await call("Page.captureScreenshot", { format: "png" });
        writeFileSync(join(pictures, `${name}-${width}-${scheme}.png`), Buffer.from(data, "base64"));
        await ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
        await ask(readFileSync(axe, "utf8") + ";0");
        const found = await ask(`axe.run().then((all) => all.violations.flatMap((one) => one.nodes.map((node) =>
            [one.id, node.target.join(" "), node.failureSummary.split("\\n")[1] ?? ""].join(" | "))))`);
        const overflows = await ask("document.documentElement.scrollWidth > innerWidth");
        wrong += found.length + overflows;
        console.log(`${name} ${width} ${scheme}: ${found.length} violations${overflows ? ", overflows" : ""}`);
        found.slice(0, 20).forEach((line) => console.log(`    ${line}`));
    }
    await call("Emulation.setEmulatedMedia", { media: "", features: [] });
    const load = new Promise((done) => { loaded = done; });
    await call("Page.navigate", { url: `file://${resolve(page)}` });
    await load;
    const { data } = await call("Page.printToPDF", { preferCSSPageSize: true, printBackground: true });
    const pdf = Buffer.from(data, "base64");
    writeFileSync(join(pictures, `${name}.pdf`), pdf);
    const sheets = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g).length;
    const script = await ask("[...document.scripts].filter((one) => !/json/.test(one.type)).reduce((n, one) => n + one.text.length, 0)");
    console.log(`${name}: ${sheets} sheets, scripts of ${script} characters`);
}
await call("Browser.close");
process.exitCode = wrong ? 1 : 0;
