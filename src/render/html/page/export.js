// Saves what is seen as a PNG: title, labels, axis and rows. Pictures for paper are made by `btfdb plot` as SVG; not for those.

/** The picture on a canvas of its own. */
function snapshot(app) {
  const { palette, layout, width } = app;
  const ratio = Math.max(2, app.ratio);
  const labels = byId("labels").offsetWidth;
  const [head, axisHeight] = [26, 30];
  const top = byId("scroller").scrollTop;
  const height = Math.min(app.height, layout.height - top);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round((labels + width) * ratio);
  canvas.height = Math.round((head + axisHeight + height) * ratio);
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = palette.paper;
  c.fillRect(0, 0, labels + width, head + axisHeight + height);
  c.textBaseline = "middle";
  c.fillStyle = palette.ink;
  c.font = palette.font(13, "600");
  c.fillText(app.picture.title, 8, head / 2, labels + width - 16);
  const axis = document.createElement("canvas");
  const pointer = app.pointer;
  app.pointer = null;
  drawAxis(app, axis, width, axisHeight, ratio);
  app.pointer = pointer;
  c.drawImage(axis, labels, head, width, axisHeight);
  c.font = palette.font(11, "600");
  c.fillText(byId("span").textContent, 8, head + axisHeight / 2);
  c.font = palette.font(10.5);
  c.fillStyle = palette.quiet;
  c.textAlign = "right";
  c.fillText(byId("base").textContent, labels - 8, head + axisHeight / 2);
  c.textAlign = "left";
  const rows = new Field(document.createElement("canvas"));
  rows.resize(width, height, ratio);
  const own = app.palette;
  app.palette = new Palette(app.picture, ratio);
  rows.draw(app, top);
  drawTop(app, rows.context, top);
  app.palette = own;
  c.drawImage(rows.canvas, labels, head + axisHeight, width, height);
  c.font = palette.font(12);
  for (const place of layout.between(top, top + height)) {
    c.fillStyle = palette.ink;
    const y = head + axisHeight + place.y - top;
    c.fillText(place.row.label, 8 + place.depth * 14, y + place.height / 2, labels - 16 - place.depth * 14);
    c.fillStyle = palette.grid;
    c.fillRect(0, y + place.height - 1, labels, 1);
  }
  return canvas;
}

function savePng(app) {
  snapshot(app).toBlob((blob) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: `${app.picture.title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "picture"}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    app.say("Saved as PNG.");
  }, "image/png");
}
