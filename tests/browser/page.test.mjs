// Drives the pages of tests/it/page.rs in headless Chromium, as a person would: pointer and keys, and what is then to be read. Not for how a page looks, and no verdict on how fast it is.
//
//   BTFDB_PAGES=folder BTFDB_MODULES=folder node --test tests/browser/page.test.mjs     (tests/run.sh browser does it all)
//
// BTFDB_SHOTS, when it is set, is a folder for screenshots.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { chromium } = createRequire(join(resolve(process.env.BTFDB_MODULES), "here.js"))("playwright-core");
const pages = resolve(process.env.BTFDB_PAGES);
const shots = process.env.BTFDB_SHOTS;

let browser;
function launch(options = {}) {
  const args = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
  ];
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args, ...options });
}
before(async () => (browser = await launch()));
after(() => browser?.close());

/** Opens a page; its troubles are collected, and looked at when it is closed. */
async function open(name, { hash = "", of = browser, ...options } = {}) {
  const context = await of.newContext({ viewport: { width: 1600, height: 900 }, ...options });
  const page = await context.newPage();
  const troubles = [];
  // That a canvas is read often is what these tests do, not the page.
  const isTrouble = (message) => ["error", "warning"].includes(message.type()) && !message.text().includes("willReadFrequently");
  page.on("console", (message) => isTrouble(message) && troubles.push(message.text()));
  page.on("pageerror", (error) => troubles.push(error.stack));
  page.on("dialog", (dialog) => troubles.push(`a dialog: ${dialog.message()}`) && dialog.dismiss());
  // The browser asks for the file itself, and makes files of bytes that are in it (blob:); nothing else.
  page.on("request", (request) => /^(file|blob):/.test(request.url()) || troubles.push(`asks for ${request.url()}`));
  await page.goto(pathToFileURL(join(pages, `${name}.html`)).href + hash);
  if (options.javaScriptEnabled !== false) {
    await page.evaluate(async () => {
      window.app = await window.btfdb;
    });
  }
  page.done = async () => {
    assert.deepEqual(troubles, []);
    await context.close();
  };
  page.shot = (file) => shots && page.screenshot({ path: join(shots, `${file}.png`) });
  return page;
}

const view = (page) => page.evaluate(() => [app.view.from, app.view.to]);
const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const text = (page, id) => page.locator(`#${id}`).innerText();
/** Digits without the narrow spaces between their groups. */
const plain = (words) => words.replace(/\u202f/g, "");

/** Where the middle of a run is on the screen: the first of a state in a row that is so wide. */
const somewhere = (page, label, state, least = 30) =>
  page.evaluate(([label, state, least]) => {
    const row = app.picture.rows.find((row) => row.label === label);
    const track = row.tracks[0];
    const box = document.getElementById("field").getBoundingClientRect();
    const place = app.layout.of.get(row.index);
    const number = ["Active", "Running", "Ready", "Waiting", "Polling", "Parking", "Critical", "Held", "Wanted", "Gap"].indexOf(state);
    for (let i = 0; i < track.n; i++) {
      const [x0, x1] = [track.begin[i], track.end[i]].map((at) => ((at - app.view.from) / (app.view.to - app.view.from)) * box.width);
      if (x0 < 0 || x1 > box.width || track.state[i] !== number || x1 - x0 < least) continue;
      const y = box.top + place.y + place.height - 8 - document.getElementById("scroller").scrollTop;
      return { x: box.left + (x0 + x1) / 2, y, left: box.left + x0, right: box.left + x1, begin: track.begin[i], end: track.end[i], instance: track.instance[i], i };
    }
    return null;
  }, [label, state, least]);

const BEGIN = 86412345678901n;
const instant = (offset) => (BEGIN + BigInt(offset)).toString();

test("a page shows its picture and asks for nothing", async () => {
  const page = await open("small");
  assert.equal(await text(page, "title"), "engine-idle: tasks and cores");
  assert.equal(await page.locator("#labels li").count(), 21);
  assert.match(await text(page, "panel-selection"), /3 activations before the window/);
  const inked = await page.evaluate(() => {
    const canvas = document.getElementById("base-layer");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  assert.ok(inked > 20, "it is drawn in colours");
  await page.shot("overview-light");
  await page.done();
});

test("names of the recording are text, never markup", async () => {
  const page = await open("small");
  for (const words of ["<img", "</script>", "onmouseover", "{{data}}"]) {
    await page.fill("#query", words);
    await page.press("#query", "Enter");
    assert.match(await text(page, "found"), /^1 of 1$/, words);
    assert.ok((await text(page, "panel-selection")).includes(words));
  }
  assert.equal(await page.locator("img").count(), 0);
  await page.done();
});

test("the wheel zooms at the pointer, dragging pans, F shows all", async () => {
  const page = await open("small");
  const field = await page.locator("#field").boundingBox();
  const [from, to] = await view(page);
  const x = field.x + field.width / 4;
  await page.mouse.move(x, field.y + 100);
  for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -240);
  await frame(page);
  const [nearFrom, nearTo] = await view(page);
  assert.ok(nearTo - nearFrom < (to - from) / 20);
  const before = from + (to - from) / 4;
  const after = nearFrom + (nearTo - nearFrom) / 4;
  assert.ok(Math.abs(before - after) < (nearTo - nearFrom) / 100, "what is below the pointer stays there");
  await page.mouse.down();
  await page.mouse.move(x + 100, field.y + 100, { steps: 4 });
  await page.mouse.up();
  const [pannedFrom, pannedTo] = await view(page);
  assert.ok(Math.abs(pannedTo - pannedFrom - (nearTo - nearFrom)) < 1);
  assert.ok(Math.abs(nearFrom - pannedFrom - (100 / field.width) * (nearTo - nearFrom)) < 2);
  await page.keyboard.press("f");
  assert.deepEqual(await view(page), [from, to]);
  await page.done();
});

test("keys zoom, pan and choose rows", async () => {
  const page = await open("small");
  await page.focus("#field");
  const span = async () => (await view(page)).reduce((from, to) => to - from);
  const whole = await span();
  for (const [key, smaller] of [["+", true], ["w", true], ["-", false], ["s", false]]) {
    const before = await span();
    await page.keyboard.press(key);
    assert.equal((await span()) < before, smaller, key);
  }
  assert.equal(await span(), whole);
  for (let i = 0; i < 8; i++) await page.keyboard.press("+");
  for (const [key, by] of [["d", 1], ["ArrowRight", 1], ["a", -1], ["ArrowLeft", -1]]) {
    const before = (await view(page))[0];
    await page.keyboard.press(key);
    assert.equal(Math.sign((await view(page))[0] - before), by, key);
  }
  await page.keyboard.press("0");
  assert.equal(await span(), whole);
  const selected = () => page.locator("#labels li.selected .name").innerText();
  assert.equal(await selected(), "T_5ms", "the row that the picture was made for");
  await page.keyboard.press("ArrowUp");
  assert.equal(await selected(), "T_1ms");
  await page.keyboard.press("Shift+ArrowUp");
  assert.deepEqual((await page.locator("#labels .name").allInnerTexts()).slice(2, 4), ["T_1ms", "ISR_Timer"]);
  await page.keyboard.press("?");
  assert.ok(await page.locator("#help").isVisible());
  await page.shot("help");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#help").isVisible()));
  await page.done();
});

test("hovering tells exactly what is there, a click selects it, keys go on to its neighbours", async () => {
  const page = await open("small");
  await page.evaluate(() => {
    app.view.show(60e6, 66e6);
    app.drawNow();
  });
  const run = await somewhere(page, "T_10ms", "Running");
  await page.mouse.move(run.x, run.y);
  await frame(page);
  const tip = plain(await text(page, "tip"));
  assert.ok(tip.includes(`${instant(run.begin)}\u00a0ns`), tip);
  assert.ok(tip.includes(`${instant(run.end)}\u00a0ns`), tip);
  assert.ok(tip.includes(`(${run.end - run.begin}\u00a0ns)`), tip);
  await page.shot("tooltip");
  await page.mouse.click(run.x, run.y);
  const selection = plain(await text(page, "panel-selection"));
  assert.ok(selection.includes(`#${run.instance}`), selection);
  assert.ok(selection.includes(instant(run.begin)));
  assert.match(plain(await page.locator("#live").textContent()), /^T_10ms: .*Begin/);
  await page.keyboard.press(".");
  assert.equal(await page.evaluate(() => app.item.index), run.i + 1);
  await page.keyboard.press(",");
  assert.equal(await page.evaluate(() => app.item.index), run.i);
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => app.item), null);
  await page.done();
});

test("a click on an instance shows the parts of its response, and a click on a part goes there", async () => {
  const page = await open("small");
  const place = await somewhere(page, "T_10ms", "Ready", 3) ?? await somewhere(page, "T_10ms", "Running", 3);
  await page.mouse.click(place.x, place.y);
  const shown = await page.evaluate((instance) => {
    const row = app.picture.rows.find((row) => row.label === "T_10ms");
    const found = app.picture.explanations.get(`${row.index} ${instance}`);
    return { parts: found.parts.length, whole: found.parts.reduce((sum, part) => sum + part.length, 0), begin: found.begin };
  }, place.instance);
  assert.ok(shown.parts > 1);
  assert.match(await text(page, "panel-selection"), /Why its response took/i);
  assert.ok((await text(page, "panel-selection")).includes("behind <img src=x onerror=alert(1)>"), "a name is text");
  const lists = page.locator("#panel-selection ol.why");
  assert.equal(await lists.nth(1).locator("li").count(), shown.parts);
  await page.shot("explained");
  await lists.nth(1).locator("button").first().click();
  await frame(page);
  const [from, to] = await view(page);
  assert.ok(from <= shown.begin && to >= shown.begin && to - from <= 2.5 * shown.whole, "the part is seen");
  assert.match(await text(page, "panel-selection"), /Why its response took/i);
  await page.done();
});

test("search counts, goes from match to match, and begins anew", async () => {
  const page = await open("small");
  await page.keyboard.press("/");
  await page.keyboard.type("t_100ms ready");
  await page.keyboard.press("Enter");
  const all = await page.evaluate(() => {
    const track = app.picture.rows.find((row) => row.label === "T_100ms").tracks[0];
    return Array.from(track.state.keys()).filter((i) => track.state[i] === 2);
  });
  assert.equal(await text(page, "found"), `1 of ${all.length}`);
  assert.equal(await page.evaluate(() => app.item.index), all[0]);
  await page.focus("#field");
  await page.keyboard.press("n");
  assert.equal(await text(page, "found"), `2 of ${all.length}`);
  assert.equal(await page.evaluate(() => app.item.index), all[1]);
  await page.keyboard.press("Shift+N");
  await page.keyboard.press("Shift+N");
  assert.equal(await text(page, "found"), `${all.length} of ${all.length}`);
  await page.fill("#query", "#7 t_10ms running");
  await page.press("#query", "Enter");
  assert.match(await text(page, "panel-selection"), /#7/);
  await page.fill("#query", "nothing like this");
  await page.press("#query", "Enter");
  assert.equal(await text(page, "found"), "0");
  await page.fill("#query", "@86412.4s");
  await page.press("#query", "Enter");
  assert.equal(await page.evaluate(() => app.measure.a), Number(86412400000000n - BEGIN));
  await page.done();
});

test("two clicks measure, borders attract, and Shift does it at once", async () => {
  const page = await open("small", { colorScheme: "dark" });
  await page.evaluate(() => {
    app.view.show(60e6, 66e6);
    app.drawNow();
  });
  const run = await somewhere(page, "T_100ms", "Ready", 60);
  await page.focus("#field");
  await page.keyboard.press("m");
  await page.mouse.click(run.left + 3, run.y);
  await page.mouse.click(run.right - 3, run.y);
  assert.deepEqual(await page.evaluate(() => [app.measure.a, app.measure.b]), [run.begin, run.end]);
  const words = plain(await text(page, "measured"));
  assert.ok(words.includes(`${run.end - run.begin}\u00a0ns`), words);
  assert.ok(words.includes(instant(run.begin)) && words.includes(instant(run.end)), words);
  const hertz = Number((1e9 / (run.end - run.begin) / 1e3).toPrecision(6));
  assert.ok(words.includes(`${hertz}\u00a0kHz`) || words.includes("\u00a0Hz"), words);
  await page.shot("measure-dark");
  await page.keyboard.press("Escape");
  assert.ok(!(await page.locator("#measured").isVisible()));
  await page.keyboard.down("Shift");
  await page.mouse.move(run.left + 2, run.y);
  await page.mouse.down();
  await page.mouse.move(run.right - 2, run.y, { steps: 3 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  assert.deepEqual(await page.evaluate(() => [app.measure.a, app.measure.b]), [run.begin, run.end]);
  await page.done();
});

test("rows are hidden, shown, filtered, moved and folded", async () => {
  const page = await open("small");
  const labels = () => page.locator("#labels .name").allInnerTexts();
  await page.click("#tab-rows");
  await page.locator("ol.rows label", { hasText: "ISR_Timer" }).locator("input").uncheck();
  assert.ok(!(await labels()).includes("ISR_Timer"));
  await page.fill("#panel-rows input[type=search]", "isr");
  assert.deepEqual(await page.locator("ol.rows label").allInnerTexts(), ["ISR_Timer", "ISR_Can", "ISR_Merged"]);
  await page.locator("ol.rows li", { hasText: "ISR_Can" }).hover();
  await page.locator("ol.rows li", { hasText: "ISR_Can" }).getByTitle("Up").click();
  await page.focus("#field");
  await page.keyboard.press("u");
  assert.ok((await labels()).includes("ISR_Timer"));
  const order = await labels();
  assert.ok(order.indexOf("ISR_Can") < order.indexOf("T_100ms"));
  assert.ok(order.includes("T_10ms/runnables"));
  await page.locator("#labels .fold").click();
  assert.ok(!(await labels()).includes("T_10ms/runnables"));
  await page.locator("#labels .name", { hasText: /^Core_0$/ }).click();
  await page.keyboard.press("h");
  assert.ok(!(await labels()).includes("Core_0"));
  await page.fill("#panel-rows input[type=search]", "");
  await page.getByText("Hide listed").click();
  assert.deepEqual(await labels(), []);
  assert.ok(await page.locator("#empty").isVisible());
  await page.done();
});

test("runnables are asked about by themselves, one execution apart from another", async () => {
  const page = await open("small");
  await page.click("#tab-worst");
  const select = page.locator("#panel-worst select").first();
  const what = () => page.locator("#panel-worst ol.hits .what").allInnerTexts();
  assert.equal(await select.inputValue(), "Response time");
  const runnables = /^(Filter|Lookup|ControlLaw) #\d+$/;
  assert.ok((await what()).every((text) => /^(T|ISR)_/.test(text)));
  await select.selectOption("Runnable: from start to end");
  const listed = await what();
  assert.ok(listed.length > 5 && listed.every((text) => runnables.test(text)), listed.join());
  // In the row of a process, executions of two runnables have the same number.
  const longest = await page.evaluate(() => {
    const row = app.picture.rows.find((row) => row.kind === 3);
    const lives = new Map();
    for (const track of row.tracks) {
      for (let i = 0; i < track.n; i++) {
        const key = `${app.picture.names[track.name[i]]} #${track.instance[i]}`;
        const life = lives.get(key) ?? [track.begin[i], track.end[i]];
        lives.set(key, [Math.min(life[0], track.begin[i]), Math.max(life[1], track.end[i])]);
      }
    }
    const inside = [...lives.values()].filter(([begin, end]) => begin > 0 && end < app.picture.span);
    return Math.max(...inside.map(([begin, end]) => end - begin));
  });
  assert.equal(await page.evaluate(() => app.worst.found[0].value), longest);
  const cut = await page.evaluate(() => app.picture.rows.flatMap((row) => [...row.cut].map((instance) => `${row.label} #${instance.trim()}`)));
  assert.equal(cut.length, 1);
  assert.ok(!(await page.evaluate(() => app.worst.found.map((one) => one.text))).includes(cut[0]), "nothing is said of what a gap cuts off");
  await page.locator("#panel-worst ol.hits button").first().click();
  await page.click("#tab-selection");
  assert.match(await page.locator("#panel-selection h3").innerText(), runnables);
  await page.done();
});

test("the worst is found, and violations", async () => {
  const page = await open("small");
  await page.focus("#field");
  await page.keyboard.press("x");
  const longest = await page.evaluate(() => {
    let best = 0;
    for (const row of app.picture.rows.filter((row) => ["Task", "Isr"].includes(["Core", "Task", "Isr"][row.kind]))) {
      const lives = new Map();
      const track = row.tracks[0];
      for (let i = 0; i < track.n; i++) {
        if (Number.isNaN(track.instance[i]) || track.merged?.has(i) || row.cut.has(` ${track.instance[i]}`)) continue;
        const life = lives.get(track.instance[i]) ?? [track.begin[i], 0, track.state[i]];
        life[1] = track.end[i];
        lives.set(track.instance[i], life);
      }
      for (const [begin, end, state] of lives.values()) {
        if ((begin > 0 || state === 0) && end < app.picture.span) best = Math.max(best, end - begin);
      }
    }
    return best;
  });
  assert.equal(await page.locator("#panel-worst select").first().inputValue(), "Response time");
  assert.equal(await page.evaluate(() => app.worst.found[0].value), longest);
  const [from, to] = await view(page);
  assert.ok(to - from < 4 * longest && to - from > longest, "it is what is seen");
  await page.shot("worst");
  await page.keyboard.press("x");
  assert.equal(await page.locator("ol.hits [aria-current=true] .rank").innerText(), "2");
  await page.keyboard.press("v");
  assert.match(await page.locator("#live").textContent(), /activation lost/);
  await page.done();
});

test("the address keeps what is seen", async () => {
  const page = await open("small");
  await page.evaluate(() => app.view.show(50e6, 60e6));
  await page.locator("#labels .name", { hasText: /^T_2ms$/ }).click();
  await page.waitForFunction(() => location.hash.includes("row=task%3AT_2ms"));
  const hash = await page.evaluate(() => location.hash);
  assert.equal(hash, `#from=${BEGIN + 50000000n}&to=${BEGIN + 60000000n}&row=task%3AT_2ms`);
  await page.done();
  const again = await open("small", { hash });
  assert.deepEqual(await view(again), [50e6, 60e6]);
  assert.equal(await again.locator("#labels li.selected .name").innerText(), "T_2ms");
  await again.evaluate(() => (location.hash = "#from=1&to=x&row=%"));
  await frame(again);
  assert.deepEqual(await view(again), [50e6, 60e6], "nonsense changes nothing");
  await again.done();
});

test("legend, table, PNG and print", async () => {
  const page = await open("small", { acceptDownloads: true });
  await page.click("#tab-legend");
  const colours = () => page.evaluate(() => {
    const canvas = document.getElementById("base-layer");
    return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size;
  });
  const before = await colours();
  await page.locator("#panel-legend label", { hasText: /^polling/ }).locator("input").uncheck();
  await frame(page);
  assert.ok((await colours()) < before);
  await page.shot("legend");
  await page.focus("#field");
  await page.keyboard.press("t");
  assert.equal(await page.locator("#text tbody tr").count(), 21);
  await page.keyboard.press("Escape");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("p")]);
  assert.equal(download.suggestedFilename(), "engine-idle_tasks_and_cores.png");
  if (shots) await download.saveAs(join(shots, "saved.png"));
  await page.emulateMedia({ media: "print" });
  assert.ok(!(await page.locator("#tools").isVisible()));
  await page.done();
});

test("a narrow window scrolls, a sharp screen is drawn sharply", async () => {
  const page = await open("small", { viewport: { width: 800, height: 500 }, deviceScaleFactor: 2 });
  const size = await page.evaluate(() => {
    const canvas = document.getElementById("base-layer");
    return [canvas.width / canvas.clientWidth, document.documentElement.scrollWidth <= innerWidth];
  });
  assert.deepEqual(size, [2, true]);
  await page.focus("#field");
  for (let i = 0; i < 22; i++) await page.keyboard.press("ArrowDown");
  assert.ok((await page.evaluate(() => document.getElementById("scroller").scrollTop)) > 0);
  await page.shot("narrow");
  await page.done();
});

test("an instant is at one place above the rows and in them, where a scroll bar takes room", async () => {
  // A browser that is driven has none of its own accord.
  const of = await launch({ ignoreDefaultArgs: ["--hide-scrollbars"] });
  try {
    const page = await open("small", { of, viewport: { width: 1000, height: 500 } });
    const places = () => page.evaluate(() => ["field", "axis", "overview"].map((id) => {
      const { left, right } = document.getElementById(id).getBoundingClientRect();
      return [left, right];
    }));
    const [field, axis, overview] = await places();
    const column = await page.evaluate(() => document.getElementById("scroller").getBoundingClientRect().right);
    assert.ok(column - field[1] >= 5, "there is a scroll bar");
    assert.deepEqual([axis, overview], [field, field]);
    await page.shot("scroll bar");
    await page.setViewportSize({ width: 1400, height: 600 });
    await frame(page);
    const wider = await places();
    assert.ok(wider[0][1] > field[1]);
    assert.deepEqual(wider.slice(1), [wider[0], wider[0]]);
    await page.done();
  } finally {
    await of.close();
  }
});

test("without a script there is a table", async () => {
  const page = await open("small", { javaScriptEnabled: false });
  assert.equal(await page.locator("#text tbody tr").count(), 21);
  assert.ok(await page.locator("#text").isVisible());
  assert.match(await page.locator("#text").innerText(), /drawn by a script, which does not run here/);
  await page.done();
});

test("a million stretches are drawn, and the right one is below the pointer", async (t) => {
  const page = await open("million");
  const [size, loadTime] = await page.evaluate(() => [app.size, app.loadTime]);
  assert.ok(size > 1e6);
  const frames = await page.evaluate(() => {
    const times = [];
    for (let i = 0; i < 20; i++) {
      app.view.zoom(1 / 1.8, app.view.limit * 0.37);
      app.drawNow();
      times.push(app.frames.last);
    }
    app.fit();
    app.drawNow();
    return times.sort((a, b) => a - b);
  });
  t.diagnostic(`${size} stretches: read in ${loadTime.toFixed(0)} ms, a frame takes ${frames[10].toFixed(1)} ms (median)`);
  await page.shot("million");
  // Many share a pixel: the sums of the levels against a plain loop over all of them.
  const row = await page.locator("#labels .name", { hasText: /^T_1ms$/ }).boundingBox();
  const field = await page.locator("#field").boundingBox();
  const at = { x: field.x + 400, y: row.y + row.height - 2 };
  await page.mouse.move(at.x, at.y);
  await frame(page);
  const same = await page.evaluate(() => {
    const { item } = app.pointer;
    const { track } = item;
    const [from, to] = [track.begin[item.first], track.begin[item.last - 1]];
    let [count, running, longest, length] = [0, 0, -1, -1];
    for (let i = 0; i < track.n; i++) {
      if (track.begin[i] < from || track.begin[i] > to) continue;
      count++;
      if (track.state[i] === 1) running += track.end[i] - track.begin[i];
      if (track.end[i] - track.begin[i] > length) [longest, length] = [i, track.end[i] - track.begin[i]];
    }
    return { type: item.type, found: item.last - item.first, count, running, longest };
  });
  assert.equal(same.type, "group");
  assert.equal(same.found, same.count);
  assert.ok(same.count > 10);
  const grouped = String(same.count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  assert.match(await text(page, "tip"), new RegExp(`${grouped} runs here`));
  const shown = await page.evaluate((ticks) => app.clock.length(ticks), same.running);
  assert.ok((await text(page, "tip")).includes(shown));
  await page.mouse.click(at.x, at.y);
  assert.equal(await page.evaluate(() => app.item.track.end[app.item.index] - app.item.track.begin[app.item.index]), await page.evaluate(([i]) => app.item.track.end[i] - app.item.track.begin[i], [same.longest]));
  // And near, one by one.
  await page.keyboard.press("z");
  await page.mouse.move(field.x + field.width / 2, at.y);
  await frame(page);
  const near = await page.evaluate(() => [app.pointer.item.type, app.pointer.item.index === app.item.index]);
  assert.deepEqual(near, ["run", true]);
  await page.done();
});
