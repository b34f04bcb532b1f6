// Pointer and keys → what the page does (main.js). Not for what there is to do.

/** Pixels that a press may move and still is a click. */
const CLICK = 4;

function listenToField(app) {
  const field = byId("field");
  const place = (e) => {
    const box = field.getBoundingClientRect();
    return { x: e.clientX - box.left, y: e.clientY - box.top };
  };
  let press = null;

  field.addEventListener("wheel", (e) => {
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 16 : 1;
    const [dx, dy] = [e.deltaX * unit, e.deltaY * unit];
    if (e.altKey) {
      byId("scroller").scrollTop += dy;
    } else if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      app.view.pan(((e.shiftKey && !dx ? dy : dx) / app.width) * app.view.span);
    } else {
      app.view.zoom(Math.exp(Math.max(-1, Math.min(1, dy / 300))), app.view.at(place(e).x, app.width));
    }
    app.changed();
    app.point(place(e));
  }, { passive: false });

  field.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    field.focus({ preventScroll: true });
    field.setPointerCapture(e.pointerId);
    const at = place(e);
    press = { ...at, view: { from: app.view.from, to: app.view.to }, scroll: byId("scroller").scrollTop, moved: false, measuring: e.shiftKey };
    if (e.shiftKey) {
      app.measure.clear();
      app.measure.a = app.measure.drag = app.instantAt(at, !e.altKey);
      app.measureChanged();
    }
  });

  field.addEventListener("pointermove", (e) => {
    const at = place(e);
    if (!press) {
      app.point(at, !e.altKey);
      return;
    }
    press.moved ||= Math.hypot(at.x - press.x, at.y - press.y) >= CLICK;
    if (press.measuring) {
      app.measure.b = app.instantAt(at, !e.altKey);
      app.measureChanged();
    } else if (press.moved) {
      app.grabbed = true;
      field.classList.add("grabbing");
      const ticks = ((press.x - at.x) / app.width) * (press.view.to - press.view.from);
      const from = Math.min(Math.max(0, press.view.from + ticks), app.view.limit - app.view.span);
      app.view.show(from, from + app.view.span);
      byId("scroller").scrollTop = press.scroll + press.y - at.y;
      app.changed();
    }
  });

  const release = (e) => {
    if (!press) return;
    const at = place(e);
    const { moved, measuring } = press;
    press = null;
    app.grabbed = false;
    field.classList.remove("grabbing");
    app.measure.drag = null;
    if (measuring) {
      if (!moved) app.measure.b = null;
      app.measureChanged();
    } else if (!moved && app.measure.on) {
      app.measure.click(app.instantAt(at, !e.altKey));
      app.measureChanged();
    } else if (!moved) {
      app.click(at);
    }
    app.point(at);
  };
  field.addEventListener("pointerup", release);
  field.addEventListener("pointercancel", release);
  field.addEventListener("pointerleave", () => press || app.point(null));
  field.addEventListener("dblclick", () => app.item && !app.measure.on && app.zoomTo(app.item));
  byId("scroller").addEventListener("scroll", () => app.changed());
}

/** The axis: what is dragged over is shown. The overview: what is pointed at is. */
function listenToAxes(app) {
  const axis = byId("axis");
  const overview = byId("overview");
  const x = (canvas, e) => e.clientX - canvas.getBoundingClientRect().left;
  let begin = null;
  axis.addEventListener("pointerdown", (e) => {
    axis.setPointerCapture(e.pointerId);
    begin = x(axis, e);
  });
  axis.addEventListener("pointermove", (e) => {
    if (begin === null) return;
    app.dragged_axis = [begin, x(axis, e)].sort((a, b) => a - b);
    app.topChanged();
  });
  axis.addEventListener("pointerup", (e) => {
    const [left, right] = [begin, x(axis, e)].sort((a, b) => a - b);
    begin = null;
    app.dragged_axis = null;
    if (right - left >= CLICK) app.view.show(app.view.at(left, app.width), app.view.at(right, app.width));
    app.changed();
  });
  axis.addEventListener("wheel", (e) => {
    e.preventDefault();
    app.view.zoom(Math.exp(e.deltaY / 300), app.view.at(x(axis, e), app.width));
    app.changed();
  }, { passive: false });

  let held = false;
  const go = (e) => {
    const middle = (x(overview, e) / app.width) * app.view.limit;
    const from = Math.min(Math.max(0, middle - app.view.span / 2), app.view.limit - app.view.span);
    app.view.show(from, from + app.view.span);
    app.changed();
  };
  overview.addEventListener("pointerdown", (e) => {
    overview.setPointerCapture(e.pointerId);
    held = true;
    go(e);
  });
  overview.addEventListener("pointermove", (e) => held && go(e));
  overview.addEventListener("pointerup", () => (held = false));
  overview.addEventListener("dblclick", () => app.fit());
  overview.addEventListener("wheel", (e) => {
    e.preventDefault();
    app.view.zoom(Math.exp(e.deltaY / 300));
    app.changed();
  }, { passive: false });
}

/** What a key does in the timeline; what is not here is left to the browser. */
function keyActions(app) {
  const zoom = (factor) => () => {
    app.view.zoom(factor, app.pointer && app.pointer.at !== null ? app.pointer.at : undefined);
    app.changed();
  };
  const pan = (share) => () => {
    app.view.pan(share * app.view.span);
    app.changed();
  };
  const tab = (name) => () => openTab(app, name);
  return {
    "+": zoom(1 / 1.5), "=": zoom(1 / 1.5), w: zoom(1 / 1.5), "-": zoom(1.5), "−": zoom(1.5), s: zoom(1.5),
    a: pan(-0.15), ArrowLeft: pan(-0.15), d: pan(0.15), ArrowRight: pan(0.15), A: pan(-0.8), D: pan(0.8),
    f: () => app.fit(), 0: () => app.fit(), Home: pan(-Infinity), End: pan(Infinity),
    z: () => app.item && app.zoomTo(app.item), i: () => app.zoomToInstance(),
    ",": () => app.step(-1), ".": () => app.step(1),
    ArrowUp: () => app.stepRow(-1), ArrowDown: () => app.stepRow(1),
    "Shift+ArrowUp": () => app.row !== null && app.move(app.row, -1), "Shift+ArrowDown": () => app.row !== null && app.move(app.row, 1),
    n: () => app.found(1), N: () => app.found(-1), "/": () => byId("query").select(),
    m: () => app.toggleMeasuring(), x: () => app.nextWorst(), v: () => app.nextViolation(),
    h: () => app.row !== null && app.hide(app.row, true), u: () => app.showAllRows(), " ": () => app.row !== null && app.fold(app.row),
    "[": () => app.scaleRows(1 / 1.2), "]": () => app.scaleRows(1.2),
    r: tab("rows"), l: tab("legend"), c: () => app.toggleNames(), t: () => app.showTable(), p: () => savePng(app), "?": () => app.showHelp(),
    Escape: () => app.letGo(),
  };
}

function listenToKeys(app) {
  const actions = keyActions(app);
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || document.querySelector("dialog[open]")) return;
    const target = e.target;
    if (target.closest("input:not([type=checkbox]), select, textarea")) return;
    const control = target.closest("button, [role=tab], input, a");
    if (control && [" ", "Enter"].includes(e.key)) return;
    if (target.closest("[role=tab]") && e.key.startsWith("Arrow")) return;
    const name = e.shiftKey && e.key.startsWith("Arrow") ? `Shift+${e.key}` : e.key;
    const lower = e.key.length === 1 && !["A", "D", "N"].includes(e.key) ? e.key.toLowerCase() : e.key;
    const action = actions[name] ?? actions[lower];
    if (!action || e.altKey) return;
    e.preventDefault();
    action();
  });
}

function listenToControls(app) {
  const click = (id, action) => byId(id).addEventListener("click", action);
  click("fit", () => app.fit());
  click("zoom-in", () => app.view.zoom(1 / 1.5) ?? app.changed());
  click("zoom-out", () => app.view.zoom(1.5) ?? app.changed());
  click("measure", () => app.toggleMeasuring());
  click("png", () => savePng(app));
  click("table", () => app.showTable());
  click("help-button", () => app.showHelp());
  click("found-next", () => app.found(1));
  click("found-previous", () => app.found(-1));
  const query = byId("query");
  let timer = 0;
  const search = () => {
    clearTimeout(timer);
    app.find(query.value);
  };
  query.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, app.size > 200000 ? 250 : 60);
  });
  query.addEventListener("keydown", (e) => {
    if (e.key === "Enter") {
      search();
      app.found(e.shiftKey ? -1 : 1);
    } else if (e.key === "Escape") {
      query.value = "";
      search();
      byId("field").focus();
    }
  });
  const tabs = [...byId("tabs").children];
  tabs.forEach((tab, i) => {
    const name = tab.id.replace("tab-", "");
    tab.addEventListener("click", () => openTab(app, name));
    tab.addEventListener("keydown", (e) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
      if (by) openTab(app, tabs[(i + by + tabs.length) % tabs.length].id.replace("tab-", ""), true);
    });
  });
}
