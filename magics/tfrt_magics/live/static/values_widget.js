// A widget of values, an anywidget: a line for each, `● answer = 42 : i32`, as `lines.py` writes them into saved files.
//
// A model has `rows`, or is one row itself; `looks` has a shape and a color for each state.  This module imports nothing,
// because each value that a page shows brings it along.

const COLUMNS = ["name", "state", "text", "type", "error", "place", "picture"];
const SLICE = 500; // rows in a frame
const QUIET = 1000; // ms between two announcements

const rowsOf = (model) => model.get("rows") ?? [COLUMNS.map((name) => model.get(name) ?? "")];
const asObject = (row) => Object.fromEntries(COLUMNS.map((name, i) => [name, row[i]]));

function node(tag, text = "", style = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  made.style.cssText = style;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** What follows the name, in words. */
function wordsOf({ state, text, type, error, place }) {
  const said = state === "available" ? `= ${text}` : state;
  return `${said}${error && `: ${error}`}${error && place && `, at ${place}`}${type && ` : ${type}`}`;
}

function lineOf(row, looks) {
  const line = asObject(row), [shape, color] = looks[line.state] ?? ["?", "inherit"];
  const made = node("div", "", "white-space:pre-wrap;overflow-wrap:anywhere;min-height:1.5em", { role: "listitem", "data-name": line.name, "data-state": line.state });
  made.append(node("span", shape, `color:${color}`, { "aria-hidden": "true" }), " ", node("b", line.name), ` ${wordsOf(line)}`);
  if (line.picture.startsWith("data:image/png;base64,")) made.append(document.createElement("br"), node("img", "", "width:160px;image-rendering:pixelated", { alt: "heat map", src: line.picture }));
  return made;
}

export default {
  // Must be quick: a model that is not ready in two seconds hears nothing more.
  initialize({ model }) {
    // Rows are sent once, and then those that changed.
    model.on("change:changed", () => {
      const rows = [...model.get("rows")];
      for (const [i, row] of Object.entries(model.get("changed"))) rows[i] = row;
      model.set("rows", rows);
    });
  },

  render({ model, el }) {
    // What has the focus can be scrolled by keys.
    const list = node("div", "", "font-family:var(--jp-code-font-family,monospace);font-size:13px;line-height:1.5;max-height:420px;overflow:auto", { role: "list", "aria-label": "values", tabindex: "0" });
    const spoken = node("div", "", "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)", { role: "status", "aria-live": "polite" });
    el.append(list, spoken);
    const looks = model.get("looks"), fresh = [];
    let drawn = [], asked = false, timer = null;

    function draw() {
      asked = false;
      const rows = rowsOf(model);
      let left = SLICE;
      for (let i = 0; i < rows.length && left > 0; i++) {
        if (drawn[i] === rows[i] || String(drawn[i]) === String(rows[i])) continue;
        left--;
        const line = lineOf(rows[i], looks), before = list.children[i];
        if (drawn[i]) fresh.push(asObject(rows[i]));
        drawn[i] = rows[i];
        if (before) before.replaceWith(line);
        else list.append(line);
      }
      while (list.children.length > rows.length) list.lastChild.remove();
      drawn.length = Math.min(drawn.length, rows.length);
      if (left === 0) ask();
      if (fresh.length) timer ??= setTimeout(speak, drawn.length > 1 ? QUIET / 4 : 0);
    }

    /** One sentence for what changed: a value by itself, many as a count. */
    function speak() {
      timer = null;
      const said = fresh.splice(0);
      spoken.textContent = said.length > 1 ? `${said.length} values changed` : `${said[0].name} ${wordsOf(said[0])}`;
    }

    function ask() {
      if (!asked) requestAnimationFrame(draw);
      asked = true;
    }

    for (const name of ["rows", ...COLUMNS]) model.on(`change:${name}`, ask);
    draw();
    return () => clearTimeout(timer);
  },
};
