// The page as a whole: reads the data, keeps what is selected and shown, draws a frame when something has changed. Not for any part of it.

class App {
  constructor(picture) {
    this.picture = picture;
    this.clock = new Clock(picture.scale, picture.from);
    this.view = new View(this.clock, picture.span);
    this.layout = new Layout(picture.rows);
    this.search = new Search(picture);
    this.measure = new Measure();
    this.field = new Field(byId("base-layer"));
    this.overview = new Overview(byId("overview"));
    this.off = { states: new Set(), marks: new Set(), links: new Set() };
    this.worst = { all: true, question: null, at: -1, found: [] };
    this.hasCores = picture.rows.some((row) => row.kind === kind.Core);
    this.byName = true;
    this.size = picture.rows.reduce((sum, row) => sum + row.tracks.reduce((n, track) => n + track.n, 0), 0);
    /** The selected row as an index, and the selected item. */
    this.row = null;
    this.item = null;
    /** Where the pointer is, and on what. */
    this.pointer = null;
    this.grabbed = false;
    this.tab = "selection";
    this.frames = { count: 0, last: 0 };
  }

  start() {
    byId("title").textContent = this.picture.title;
    byId("description").textContent = this.picture.description;
    byId("description").title = this.picture.description;
    byId("whole").textContent = this.clock.length(this.picture.span);
    applyAddress(this, location.hash);
    if (this.row === null && this.picture.highlight) this.row = this.picture.highlight.row;
    listenToField(this);
    listenToAxes(this);
    listenToKeys(this);
    listenToControls(this);
    fillHelp();
    new ResizeObserver(() => this.resize()).observe(byId("scroller"));
    window.addEventListener("hashchange", () => {
      if (location.hash === this.address) return;
      applyAddress(this, location.hash);
      this.rowsChanged();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
    this.resize();
    openTab(this, this.tab);
  }

  resize() {
    const scroller = byId("scroller");
    const field = byId("field");
    this.height = scroller.clientHeight;
    field.style.height = `${this.height}px`;
    this.width = field.clientWidth;
    // As wide as the rows, which a scroll bar takes room from: one instant is at one place in all of them.
    for (const id of ["axis", "overview"]) byId(id).style.width = `${this.width}px`;
    this.ratio = window.devicePixelRatio || 1;
    this.recolour();
  }

  recolour() {
    this.palette = new Palette(this.picture, this.ratio);
    this.overview.key = null;
    fillLabels(this);
    if (this.tab === "legend") fillLegend(this);
    this.drawNow();
  }

  /** Paper is light. */
  print(on) {
    document.documentElement.toggleAttribute("data-print", on);
    this.recolour();
  }

  // ---- drawing ----

  changed() {
    this.waiting ??= requestAnimationFrame(() => this.drawNow());
  }

  /** Only what lies above the rows has changed. */
  topChanged() {
    this.waitingTop ??= requestAnimationFrame(() => {
      this.waitingTop = undefined;
      this.drawTop();
    });
  }

  drawNow() {
    if (this.waiting !== undefined) cancelAnimationFrame(this.waiting);
    this.waiting = undefined;
    const begun = performance.now();
    const { width, height, ratio } = this;
    const top = byId("scroller").scrollTop;
    this.ticks = ticksOf(this.view, this.clock, width);
    this.field.resize(width, height, ratio);
    this.field.draw(this, top);
    this.overview.draw(this, width, 46, ratio);
    byId("span").textContent = this.clock.roughly(this.view.span);
    byId("base").textContent = this.ticks.base === null ? "" : `from ${this.clock.inUnit(this.ticks.base)}`;
    byId("base").title = byId("base").textContent;
    this.drawTop();
    this.keepAddress();
    this.frames.count++;
    this.frames.last = performance.now() - begun;
  }

  drawTop() {
    const { width, height, ratio } = this;
    const c = fresh(byId("top-layer"), width, height, ratio);
    c.clearRect(0, 0, width, height);
    drawTop(this, c, byId("scroller").scrollTop);
    drawAxis(this, byId("axis"), width, 30, ratio);
    if (this.dragged_axis) {
      const a = byId("axis").getContext("2d");
      a.fillStyle = this.palette.measure.area;
      a.fillRect(this.dragged_axis[0], 0, this.dragged_axis[1] - this.dragged_axis[0], 30);
    }
    fillTip(this);
  }

  rowsChanged() {
    this.layout.arrange();
    this.search.run(this.search.query, this.layout.hidden);
    this.showFound();
    fillLabels(this);
    if (this.tab !== "selection") fillTab(this);
    fillMeasured(this);
    this.changed();
  }

  keepAddress() {
    clearTimeout(this.addressTimer);
    this.addressTimer = setTimeout(() => {
      this.address = addressOf(this);
      if (this.address !== location.hash) history.replaceState(null, "", this.address || location.href.split("#")[0]);
    }, 150);
  }

  say(text) {
    byId("live").textContent = text;
  }

  // ---- pointing and selecting ----

  /** The pointer is at {x, y} of the field, or nowhere. */
  point(at, snapping = true) {
    if (!at) {
      this.pointer = null;
    } else {
      const top = byId("scroller").scrollTop;
      const item = itemAt(this, at.x, at.y + top);
      const instant = this.measure.on ? this.instantAt(at, snapping) : this.view.at(at.x, this.width);
      this.pointer = { ...at, item, at: instant };
    }
    this.topChanged();
  }

  /** The instant at {x, y}, at a border near it when there is one. */
  instantAt({ x, y }, snapping) {
    const at = this.view.at(x, this.width);
    if (!snapping) return Math.round(at);
    const top = byId("scroller").scrollTop;
    const place = this.layout.at(y + top);
    const track = place && this.layout.trackAt(place, y + top - place.y);
    return snap(this, place, track, at, (7 / this.width) * this.view.span);
  }

  click(at) {
    const y = at.y + byId("scroller").scrollTop;
    const place = this.layout.at(y);
    this.select(single(itemAt(this, at.x, y)), place ? place.row.index : null);
  }

  select(item, row = item ? item.row.index : this.row) {
    this.item = item;
    this.row = row;
    markLabels(this);
    if (item && this.tab !== "worst") openTab(this, "selection");
    else fillTab(this);
    fillMeasured(this);
    if (item) this.say(sentence(this, item));
    this.showFound();
    this.changed();
  }

  selectRow(row) {
    this.row = row;
    this.item = null;
    this.scrollTo(row);
    markLabels(this);
    fillTab(this);
    fillMeasured(this);
    this.say(`Row ${this.picture.rows[row].label}, ${word(KINDS[this.picture.rows[row].kind])}.`);
    this.changed();
  }

  stepRow(by) {
    const { places } = this.layout;
    if (!places.length) return;
    const at = places.findIndex((place) => place.row.index === this.row);
    this.selectRow(places[at < 0 ? 0 : Math.min(Math.max(0, at + by), places.length - 1)].row.index);
  }

  /** The next or previous item of the row; the first that is seen when none is selected. */
  step(by) {
    if (!this.item) {
      const row = this.row ?? this.layout.places[0]?.row.index;
      const item = row === undefined ? null : firstSeen(this.picture.rows[row], this.view);
      if (item) this.select(item);
      return;
    }
    const item = beside(this.item, by);
    if (item) this.visit(item);
    else this.say("There is no more in this row.");
  }

  /** Selects an item and makes it visible. */
  visit(item) {
    this.layout.reveal(item.row.index);
    fillLabels(this);
    this.view.reveal(...extent(item));
    this.scrollTo(item.row.index);
    this.select(item);
  }

  scrollTo(row) {
    const place = this.layout.of.get(row);
    const scroller = byId("scroller");
    if (!place) return;
    if (place.y < scroller.scrollTop) scroller.scrollTop = place.y;
    else if (place.y + place.height > scroller.scrollTop + this.height) scroller.scrollTop = place.y + place.height - this.height;
  }

  goTo(row, begin, end, item = null) {
    this.layout.reveal(row.index);
    fillLabels(this);
    // An instant has no length that says how much to show around it.
    const room = end > begin ? Math.max((end - begin) * 0.6, NARROWEST * 2) : Math.min(this.view.span, this.view.limit / 40) / 2;
    this.view.show(begin - room, end + room);
    this.scrollTo(row.index);
    this.select(item, row.index);
  }

  zoomTo(item) {
    this.goTo(item.row, ...extent(item), item);
  }

  zoomToInstance() {
    const life = lifeOf(this, this.item);
    if (life) this.goTo(life.row, life.begin, life.end, this.item);
  }

  fit() {
    this.view.all();
    this.changed();
  }

  letGo() {
    if (this.measure.on || this.measure.a !== null) this.stopMeasuring();
    else this.select(null, this.item ? this.row : null);
  }

  // ---- searching ----

  find(text) {
    const time = /^\s*@(.*)$/.exec(text);
    this.search.run(time ? "" : text, this.layout.hidden);
    this.showFound(time ? " " : text);
    this.changed();
  }

  showFound(text = this.search.query) {
    const { search } = this;
    const ordinal = search.total && this.item && this.item.type !== "point" ? search.ordinal(this.item) : 0;
    byId("found").textContent = !text.trim() ? "" : ordinal ? `${grouped(String(ordinal))} of ${grouped(String(search.total))}` : grouped(String(search.total));
    for (const id of ["found-next", "found-previous"]) byId(id).disabled = !search.total;
  }

  found(by) {
    const time = /^\s*@(.*)$/.exec(byId("query").value);
    if (time) {
      const at = this.clock.parse(time[1]);
      if (at === null || at < 0 || at > this.picture.span) this.say("No such time in this picture.");
      else this.view.show(at - this.view.span / 2, at + this.view.span / 2);
      this.measure.a = at ?? this.measure.a;
      this.measureChanged();
      this.changed();
      return;
    }
    const item = this.search.next(by, this.item?.type === "point" ? null : this.item, by > 0 ? this.view.from : this.view.to);
    if (item) this.visit(item);
    else if (this.search.query) this.say("Nothing is found.");
  }

  // ---- the worst ----

  askWorst(change) {
    Object.assign(this.worst, change, { at: -1 });
    fillWorst(this);
  }

  goToWorst(i) {
    const hit = this.worst.found[i];
    if (!hit) return;
    this.worst.at = i;
    const row = this.worst.all ? hit.item.row.index : this.row;
    this.goTo(hit.item.row, hit.begin, hit.end, hit.item);
    this.row = row;
  }

  nextWorst() {
    if (this.tab !== "worst") openTab(this, "worst");
    this.goToWorst((this.worst.at + 1) % Math.max(1, this.worst.found.length));
  }

  nextViolation() {
    const all = violations(this, this.picture.rows);
    const after = this.item ? extent(this.item)[0] : this.view.from - 1;
    const hit = all.find((each) => each.begin > after) ?? all[0];
    if (hit) this.visit(hit.item);
    else this.say("There is no violation in this picture.");
  }

  // ---- measuring ----

  toggleMeasuring() {
    if (this.measure.on) this.stopMeasuring();
    else {
      this.measure.on = true;
      this.measureChanged();
    }
  }

  stopMeasuring() {
    this.measure.on = false;
    this.measure.clear();
    this.measureChanged();
  }

  measureItem(item) {
    [this.measure.a, this.measure.b] = extent(item);
    this.measureChanged();
  }

  measureChanged() {
    fillMeasured(this);
    this.changed();
  }

  // ---- rows ----

  hide(row, hidden) {
    if (hidden) {
      this.layout.hidden.add(row);
      if (this.row === row) {
        const at = this.layout.places.findIndex((place) => place.row.index === row);
        const next = this.layout.places.slice(at + 1).find((place) => place.row.parent !== row) ?? this.layout.places[at - 1];
        this.row = next ? next.row.index : null;
      }
      if (this.item?.row.index === row) this.item = null;
      this.say(`${this.picture.rows[row].label} is hidden.`);
    } else {
      this.layout.reveal(row);
    }
    this.rowsChanged();
  }

  hideAll(rows, hidden) {
    for (const row of rows) {
      if (hidden) this.layout.hidden.add(row);
      else this.layout.reveal(row);
    }
    this.rowsChanged();
  }

  showAllRows() {
    this.layout.hidden.clear();
    this.layout.folded.clear();
    this.rowsChanged();
  }

  fold(row) {
    if (!this.layout.children.has(row)) return;
    if (!this.layout.folded.delete(row)) this.layout.folded.add(row);
    this.rowsChanged();
  }

  move(row, by) {
    if (this.layout.move(row, by)) this.rowsChanged();
    this.scrollTo(row);
  }

  scaleRows(factor) {
    this.layout.scale = Math.min(4, Math.max(0.6, this.layout.scale * factor));
    this.rowsChanged();
  }

  toggleNames() {
    this.byName = !this.byName;
    this.overview.key = null;
    this.rowsChanged();
  }

  // ---- dialogs ----

  showHelp() {
    byId("help").showModal();
  }

  showTable() {
    byId("text-dialog").showModal();
  }
}

/** What lies above the rows: the selected item, the pointer, the cursors. */
function drawTop(app, c, top) {
  const { palette, view, width, height, measure, layout } = app;
  const outline = (item, colour, wide) => {
    const place = layout.of.get(item.row.index);
    if (!place) return;
    const [x0, x1] = extent(item).map((at) => Math.min(Math.max(view.x(at, width), -9), width + 9));
    let [y, high] = [place.y - top + place.gutterTop, place.gutter + 1];
    if (item.type === "run" || item.type === "group") [y, high] = [place.y - top + layout.trackTop(place, item.track), place.trackHeight];
    if (item.type === "point") [y, high] = [place.y - top + place.curveTop, place.curve];
    c.strokeStyle = colour;
    c.lineWidth = wide;
    const around = item.type === "mark" ? 6 : item.type === "point" ? 3 : 1;
    c.strokeRect(Math.round(x0) - around + 0.5, y - 0.5, Math.max(2 * around, Math.round(x1 - x0) + 2 * around - 1), high + 1);
  };
  if (app.pointer?.item) outline(app.pointer.item, palette.ink, 1);
  if (app.item) outline(app.item, palette.select, 2.5);
  const line = (at, colour, dash) => {
    const x = Math.round(view.x(at, width)) + 0.5;
    c.strokeStyle = colour;
    c.lineWidth = 1;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, height);
    c.stroke();
    c.setLineDash([]);
  };
  if (measure.a !== null && measure.b !== null) {
    const [x0, x1] = [measure.a, measure.b].map((at) => view.x(at, width)).sort((a, b) => a - b);
    c.fillStyle = palette.measure.area;
    c.fillRect(x0, 0, x1 - x0, height);
  }
  for (const [name, at, colour] of [["A", measure.a, palette.measure.a], ["B", measure.b, palette.measure.b]]) {
    if (at === null) continue;
    line(at, colour, []);
    const x = view.x(at, width);
    const outside = (name === "A") === (measure.b === null || measure.a <= measure.b);
    c.fillStyle = colour;
    c.fillRect(outside ? x - 15 : x, 0, 15, 16);
    c.font = palette.font(11, "600");
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = palette.paper;
    c.fillText(name, outside ? x - 7.5 : x + 7.5, 8.5);
    c.textAlign = "left";
  }
  if (app.pointer && !app.grabbed) line(app.pointer.at, palette.cursor, [2, 3]);
  if (app.linksLeftOut) {
    c.font = palette.font(11);
    c.textAlign = "right";
    c.textBaseline = "bottom";
    c.fillStyle = palette.quiet;
    c.fillText(`${plural(app.linksLeftOut, "link")} here: zoom in to see them`, width - 8, height - 5);
    c.textAlign = "left";
  }
}

async function load() {
  const begun = performance.now();
  const data = byId("data");
  byId("loading").hidden = false;
  byId("text").hidden = true;
  const picture = decode(await inflate(data.textContent));
  data.remove();
  addLevels(picture);
  byId("loading").hidden = true;
  // Without a script this is all there is; with one it is a table beside the timeline.
  byId("text").hidden = false;
  byId("text-dialog").append(byId("text"), make("form", { method: "dialog" }, make("button", {}, "Close")));
  byId("app").hidden = false;
  const app = new App(picture);
  app.start();
  app.loadTime = performance.now() - begun;
  return app;
}

/** For tests, and for those who look behind the page. */
window.btfdb = load().catch((error) => {
  byId("loading").hidden = false;
  byId("loading").textContent = `The picture cannot be read: ${error.message}`;
  byId("text").hidden = false;
  throw error;
});
