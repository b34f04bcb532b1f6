// Everything beside the timeline: labels of rows, selection, the worst, list of rows, legend, tooltip. Texts of the recording go in as text only, never as markup. Not for what items are (describe.js).

const byId = (id) => document.getElementById(id);

/** An element with properties and children; strings become text. */
function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A small box of a colour, with its pattern if it has one. */
function swatch(colour, pattern = null, ratio = 1) {
  const element = make(pattern ? "canvas" : "span", { class: "swatch" });
  element.style.background = colour;
  if (pattern) {
    element.width = element.height = Math.round(12 * ratio);
    const c = element.getContext("2d");
    c.fillStyle = pattern;
    c.fillRect(0, 0, element.width, element.height);
  }
  return element;
}

function factList(facts) {
  const list = make("dl", { class: "facts" });
  for (const [what, text, exact] of facts) {
    const same = exact === undefined || exact === text;
    list.append(make("dt", {}, what), make("dd", {}, text, same ? null : make("small", {}, exact)));
  }
  return list;
}

/** The labels of the rows that are shown; made anew when rows change, else only marked. */
function fillLabels(app) {
  const { layout, palette } = app;
  const list = byId("labels");
  const items = layout.places.map((place) => {
    const { row } = place;
    const folded = layout.folded.has(row.index);
    const parent = layout.children.has(row.index);
    const fold = parent
      ? make("button", { class: "fold", "aria-expanded": String(!folded), "aria-label": `${folded ? "Unfold" : "Fold"} ${row.label}`, tabIndex: -1, onclick: () => app.fold(row.index) }, folded ? "▸" : "▾")
      : null;
    const process = isProcess(row) ? app.picture.names.indexOf(row.label) : -1;
    const colour = process >= 0 && app.byName && app.hasCores ? palette.ofName[process] : -1;
    const item = make(
      "li",
      {},
      fold,
      colour >= 0 ? swatch(palette.names[colour], palette.namePatterns[colour], app.ratio) : null,
      make("button", { class: "name", title: row.label, tabIndex: -1, onclick: () => app.selectRow(row.index) }, row.label),
      make("span", { class: "kind" }, word(KINDS[row.kind])),
      make("button", { class: "hide", title: "Hide this row (H)", "aria-label": `Hide ${row.label}`, tabIndex: -1, onclick: () => app.hide(row.index, true) }, "×"),
    );
    item.style.setProperty("--depth", place.depth);
    item.style.top = `${place.y}px`;
    item.style.height = `${place.height}px`;
    item.dataset.row = row.index;
    return item;
  });
  list.replaceChildren(...items);
  list.style.height = `${layout.height}px`;
  byId("empty").hidden = layout.places.length > 0;
  markLabels(app);
}

function markLabels(app) {
  for (const item of byId("labels").children) {
    const selected = Number(item.dataset.row) === app.row;
    item.classList.toggle("selected", selected);
    item.querySelector(".name").setAttribute("aria-current", String(selected));
  }
}

/** Shows one of the panels. */
function openTab(app, name, focus = false) {
  app.tab = name;
  for (const tab of byId("tabs").children) {
    const open = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(open));
    tab.tabIndex = open ? 0 : -1;
    byId(tab.getAttribute("aria-controls")).hidden = !open;
    if (open && focus) tab.focus();
  }
  fillTab(app);
}

function fillTab(app) {
  ({ selection: fillSelection, worst: fillWorst, rows: fillRows, legend: fillLegend })[app.tab](app);
}

function fillSelection(app) {
  const panel = byId("panel-selection");
  const { item, clock } = app;
  if (!item) {
    panel.replaceChildren(...aboutPicture(app));
    return;
  }
  const { title, colour, facts } = describe(app, item);
  const parts = [make("h2", {}, title), factList(facts)];
  const button = (text, key, enabled, action) => make("button", { disabled: !enabled, title: key, onclick: action }, text);
  parts.push(
    make(
      "div",
      { class: "buttons" },
      button("‹ Previous", ",", beside(item, -1), () => app.step(-1)),
      button("Next ›", ".", beside(item, 1), () => app.step(1)),
      button("Zoom to it", "Z", true, () => app.zoomTo(item)),
      button("Measure it", "", true, () => app.measureItem(item)),
    ),
  );
  const life = lifeOf(app, item);
  if (life) {
    const spent = STACK.filter((number) => life.spent[number] > 0);
    const rows = spent.map((number) => [word(STATES[number]), clock.length(life.spent[number]), clock.exactLength(life.spent[number])]);
    parts.push(
      make("h3", { class: "name" }, `${lifeName(app, life)}${life.complete ? "" : " (cut off)"}`),
      factList([
        ["From first to last", clock.length(life.end - life.begin), clock.exactLength(life.end - life.begin)],
        ["Stretches", String(life.pieces)],
        ...rows,
      ]),
      make("div", { class: "buttons" }, button("Zoom to instance", "I", true, () => app.zoomToInstance())),
    );
  }
  parts.push(...whyParts(app, item));
  panel.replaceChildren(...parts);
}

/** The instance that a run belongs to. */
function lifeOf(app, item) {
  if (item?.type !== "run" || item.track.merged?.has(item.index)) return null;
  if (instanceOf(item.track, item.index) === null) return null;
  return livesOf(item.row, app.picture.span).get(lifeKey(item.row, item.track, item.index)) ?? null;
}

function aboutPicture(app) {
  const { picture, clock } = app;
  const total = picture.rows.reduce((sum, row) => sum + row.tracks.reduce((n, track) => n + track.n, 0), 0);
  const marks = picture.rows.reduce((sum, row) => sum + row.marks.n, 0);
  const parts = [
    make("p", { class: "quiet" }, "Click a stretch or a mark, or press . for the first that is seen. ? shows all keys."),
    make("h3", {}, "Picture"),
    factList([
      ["Begin", clock.instant(0), clock.exactInstant(0)],
      ["End", clock.instant(picture.span), clock.exactInstant(picture.span)],
      ["Length", clock.length(picture.span), clock.exactLength(picture.span)],
      ["Rows", grouped(String(picture.rows.length))],
      ["Stretches", grouped(String(total))],
      ["Marks", grouped(String(marks))],
      ["Links", grouped(String(picture.links.n))],
    ]),
  ];
  if (picture.highlight) {
    const { row, begin, end, label } = picture.highlight;
    const show = () => app.goTo(picture.rows[row], begin, end);
    parts.push(make("h3", {}, "Made for"), make("p", {}, label), make("div", { class: "buttons" }, make("button", { onclick: show }, "Show it")));
  }
  if (picture.response) parts.push(make("h3", {}, "What the response is made of"), causeList(app, picture.response.causes));
  if (picture.description.length > 90) parts.push(make("h3", {}, "Description"), make("p", {}, picture.description));
  parts.push(...noteList(picture));
  return parts;
}

function noteList(picture) {
  if (!picture.notes.length) return [];
  return [make("h3", {}, "Notes"), make("ul", { class: "notes" }, ...picture.notes.map((note) => make("li", {}, note)))];
}

function fillWorst(app) {
  const panel = byId("panel-worst");
  const { worst, clock, picture } = app;
  const rows = worst.all || app.row === null ? picture.rows.filter((row) => !app.layout.hidden.has(row.index)) : [picture.rows[app.row]];
  const asked = questions(app, rows);
  const question = asked.find((each) => each.name === worst.question) ?? asked[0];
  const scope = make("select", { "aria-label": "Of which rows", onchange: (e) => app.askWorst({ all: e.target.value === "all" }) });
  scope.append(make("option", { value: "all", selected: worst.all }, "Of all shown rows"));
  if (app.row !== null) scope.append(make("option", { value: "row", selected: !worst.all }, `Of ${picture.rows[app.row].label}`));
  const metric = make("select", { "aria-label": "What is measured", onchange: (e) => app.askWorst({ question: e.target.value }) });
  for (const each of asked) metric.append(make("option", { value: each.name, selected: each === question }, each.name));
  const parts = [metric, make("p", {}), scope];
  if (question) {
    const found = question.find();
    worst.found = found;
    const list = make("ol", { class: "hits" });
    found.forEach((hit, i) => {
      const length = hit.value === null ? clock.roughly(hit.begin) : clock.roughly(hit.value);
      const title = hit.value === null ? clock.instant(hit.begin) : `${clock.length(hit.value)} at ${clock.instant(hit.begin)}`;
      list.append(
        make("li", {}, make("button", { title, "aria-current": String(worst.at === i), onclick: () => app.goToWorst(i) }, make("span", { class: "rank" }, String(i + 1)), make("span", { class: "what" }, hit.text), make("span", {}, length))),
      );
    });
    parts.push(list);
    if (question.note) parts.push(make("p", { class: "quiet" }, question.note + "."));
    parts.push(make("p", { class: "quiet" }, "X goes to the worst, then to the next worst."));
  } else {
    parts.push(make("p", { class: "quiet" }, "Nothing that could be long or wrong."));
    worst.found = [];
  }
  panel.replaceChildren(...parts);
}

function fillRows(app) {
  const panel = byId("panel-rows");
  const { layout, picture } = app;
  let filter = panel.querySelector("input");
  if (!filter) {
    filter = make("input", { type: "search", placeholder: "Filter rows", "aria-label": "Filter the list of rows", oninput: () => fillRows(app) });
    const every = (hidden) => () => app.hideAll(listed(), hidden);
    const listed = () => [...panel.querySelectorAll("ol.rows li")].map((item) => Number(item.dataset.row));
    panel.append(
      filter,
      make("div", { class: "buttons" }, make("button", { onclick: every(false), title: "Show all rows in the list" }, "Show listed"), make("button", { onclick: every(true), title: "Hide all rows in the list" }, "Hide listed")),
      make("ol", { class: "rows" }),
      make("p", { class: "quiet" }, "Drag a row, or use ▲ and ▼ (Shift with arrow keys in the timeline), to order rows of the same parent."),
    );
  }
  const text = filter.value.trim().toLowerCase();
  const items = [];
  for (const { row: index, depth } of layout.tree()) {
    const row = picture.rows[index];
    if (text && !`${row.label} ${row.id} ${word(KINDS[row.kind])}`.toLowerCase().includes(text)) continue;
    const box = make("input", { type: "checkbox", checked: !layout.hidden.has(index), onchange: (e) => app.hide(index, !e.target.checked) });
    const up = make("button", { title: "Up", "aria-label": `Move ${row.label} up`, onclick: () => app.move(index, -1) }, "▲");
    const down = make("button", { title: "Down", "aria-label": `Move ${row.label} down`, onclick: () => app.move(index, 1) }, "▼");
    const item = make("li", { draggable: true }, make("span", { class: "grip", "aria-hidden": "true" }, "⠿"), make("label", {}, box, make("span", {}, row.label)), up, down);
    item.style.setProperty("--depth", depth);
    item.dataset.row = index;
    item.addEventListener("dragstart", (e) => {
      app.dragged = index;
      e.dataTransfer.effectAllowed = "move";
      e.dataTransfer.setData("text/plain", row.label);
    });
    item.addEventListener("dragover", (e) => {
      if (app.dragged === undefined || picture.rows[app.dragged].parent !== row.parent) return;
      e.preventDefault();
      item.classList.add("drop");
    });
    item.addEventListener("dragleave", () => item.classList.remove("drop"));
    item.addEventListener("drop", (e) => {
      e.preventDefault();
      if (layout.moveBefore(app.dragged, index)) app.rowsChanged();
    });
    items.push(item);
  }
  panel.querySelector("ol.rows").replaceChildren(...items);
}

/** What occurs in the picture, each with how it looks; unticked it is not drawn. */
function fillLegend(app) {
  const panel = byId("panel-legend");
  const { picture, palette } = app;
  const { rows, links } = picture;
  const states = new Set(rows.flatMap((row) => row.tracks.flatMap((track) => track.levels.states)));
  const marks = new Set(MARKS.map((_, number) => number).filter((number) => rows.some((row) => row.marks.levels.all & (1 << number))));
  const section = (title, numbers, off, words, draw) => {
    if (!numbers.length) return [];
    const list = make("div", { class: "legend" });
    for (const number of numbers) {
      const canvas = make("canvas", { "aria-hidden": "true" });
      draw(fresh(canvas, 30, 18, app.ratio), number);
      const toggle = (e) => {
        if (e.target.checked) off.delete(number);
        else off.add(number);
        app.changed();
      };
      list.append(make("label", {}, make("input", { type: "checkbox", checked: !off.has(number), onchange: toggle }), canvas, make("span", {}, word(words[number]))));
    }
    return [make("h3", {}, title), list];
  };
  const box = (c, number) => {
    const height = Math.round(16 * LOOKS[number].height);
    const rectangle = [1, 17 - height, 28, height];
    c.fillStyle = palette.states[number];
    c.fillRect(...rectangle);
    if (palette.patterns[number]) {
      c.save();
      c.setTransform(1, 0, 0, 1, 0, 0);
      c.fillStyle = palette.patterns[number];
      c.fillRect(...rectangle.map((value) => value * app.ratio));
      c.restore();
    }
    c.strokeStyle = palette.outline;
    c.lineWidth = 1;
    if (LOOKS[number].outline) c.strokeRect(1.5, 17.5 - height, 27, height - 1);
  };
  const line = (c, number) => {
    c.strokeStyle = c.fillStyle = palette.links[number];
    c.setLineDash(number === 0 ? [3, 2] : []);
    c.beginPath();
    c.moveTo(2, 9);
    c.lineTo(26, 9);
    c.stroke();
    arrowHead(c, 2, 9, 27, 9);
  };
  const present = LINKS.map((_, number) => number).filter((number) => links.kind.includes(number));
  const parts = [
    ...section("States", STACK.filter((number) => states.has(number)), app.off.states, STATES, box),
    ...section("Marks", [...marks], app.off.marks, MARKS, (c, number) => glyph(c, number, 15, 3, 14, palette)),
    ...section("Links", present, app.off.links, LINKS, line),
  ];
  if (app.hasCores) {
    const named = (e) => {
      app.byName = e.target.checked;
      app.rowsChanged();
    };
    parts.push(make("h3", {}, "Cores"), make("label", {}, make("input", { type: "checkbox", checked: app.byName, onchange: named }), make("span", {}, "A colour for each process (C)")));
  }
  parts.push(
    make("h3", {}, "Reading it"),
    make("p", { class: "quiet" }, "Where stretches are narrower than a pixel, a column shows their shares of its time. Paler boxes stand for several merged stretches; their filled part is the share of time covered."),
    ...noteList(picture),
  );
  panel.replaceChildren(...parts);
}

/** What lies between the cursors. */
function fillMeasured(app) {
  const panel = byId("measured");
  const { measure, clock } = app;
  const facts = measure.facts(clock);
  panel.hidden = !measure.on && !facts.length;
  byId("measure").setAttribute("aria-pressed", String(measure.on));
  byId("field").classList.toggle("measuring", measure.on);
  if (panel.hidden) return;
  const parts = [make("h2", {}, "Measure")];
  if (measure.b !== null) parts.push(make("div", { class: "big" }, clock.length(measure.b - measure.a)));
  else parts.push(make("p", { class: "quiet" }, `Click for ${measure.a === null ? "A" : "B"}. Borders attract; Alt does not.`));
  parts.push(factList(facts));
  if (measure.b !== null && app.row !== null) {
    const row = app.picture.rows[app.row];
    const [from, to] = [Math.min(measure.a, measure.b), Math.max(measure.a, measure.b)];
    const spent = to > from ? spentBetween(row, from, to) : [];
    if (spent.length) {
      const share = (ticks) => `${clock.length(ticks)} (${((100 * ticks) / (to - from)).toFixed(2)} %)`;
      parts.push(make("h3", {}, `${row.label} in between`), factList(spent.map(([number, ticks]) => [word(STATES[number]), share(ticks)])));
    }
  }
  const clear = () => app.stopMeasuring();
  const zoom = () => app.view.show(...padded(Math.min(measure.a, measure.b), Math.max(measure.a, measure.b))) ?? app.changed();
  parts.push(make("div", { class: "buttons" }, make("button", { onclick: zoom, disabled: measure.b === null }, "Zoom to it"), make("button", { onclick: clear }, "Clear")));
  panel.replaceChildren(...parts);
}

/** A stretch with room around it. */
function padded(begin, end) {
  const room = Math.max((end - begin) * 0.15, NARROWEST / 2);
  return [begin - room, end + room];
}

/** The tooltip beside the pointer. */
function fillTip(app) {
  const tip = byId("tip");
  const { pointer } = app;
  const item = pointer?.item;
  tip.hidden = !item || app.grabbed;
  if (tip.hidden) return;
  const { title, colour, facts } = describe(app, item);
  const shown = facts.map(([what, text, exact]) => [what, exact && exact !== text ? `${text}  (${exact})` : text]);
  tip.replaceChildren(make("strong", {}, swatch(colour), title), factList(shown));
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const x = pointer.x + 16 + width < app.width ? pointer.x + 16 : Math.max(4, pointer.x - 12 - width);
  const y = Math.max(4, Math.min(pointer.y + 18, app.height - height - 6));
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

const KEYS = [
  ["Move in time", [["Wheel, + −, W S", "zoom at the pointer"], ["Drag, ← →, A D", "pan; Shift+wheel too"], ["F, 0", "show all"], ["Z, I", "zoom to the selected item, to its instance"], ["Overview", "drag: go there; double click: show all"], ["Axis", "drag: zoom to what is dragged over"]]],
  ["Select", [["Click", "an item; of several on one pixel the longest"], [", .", "previous, next item of the row"], ["↑ ↓", "row above, below"], ["X", "the worst, the next worst (tab Worst)"], ["V", "next violation or lost activation"], ["Esc", "let go"]]],
  ["Search", [["/", "names, states, kinds; #12: instance; @412ms: time"], ["Enter, n", "next match"], ["Shift+Enter, N", "previous match"]]],
  ["Measure", [["M", "then click twice: A and B; or drag with Shift"], ["Alt", "cursors do not jump to borders"]]],
  ["Rows", [["H", "hide the selected row"], ["U", "show all rows again"], ["Shift+↑ ↓", "move the selected row"], ["Space", "fold, unfold its children"], ["[ ]", "lower, higher rows"], ["R, L", "list of rows, legend"]]],
  ["More", [["C", "colours of cores: processes or states"], ["T", "the rows as a table"], ["P", "PNG of what is seen"], ["?", "this help"]]],
];

function fillHelp() {
  const dialog = byId("help");
  const keys = (text) => text.split(", ").flatMap((part, i) => [i ? " " : "", ...part.split(" ").flatMap((key, k) => [k ? " " : "", make("kbd", {}, key)])]);
  const sections = KEYS.map(([title, list]) => make("section", {}, make("h3", {}, title), make("dl", {}, ...list.flatMap(([key, text]) => [make("dt", {}, ...(key === ", ." ? [make("kbd", {}, ","), " ", make("kbd", {}, ".")] : keys(key))), make("dd", {}, text)]))));
  dialog.replaceChildren(
    make("h2", { id: "help-title" }, "Keys and pointer"),
    make("div", {}, ...sections),
    make("p", { class: "quiet" }, "The address of the page keeps the window and the row: copy it to come back to what is seen. Nothing is fetched or sent."),
    make("form", { method: "dialog" }, make("button", { autofocus: true }, "Close")),
  );
}
