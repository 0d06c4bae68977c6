// Displayed values as an anywidget, for pages without tfrt-nb's extension, and for boxes of ipywidgets: the same chips.
//
// A model has `rows`, a line each.  They are sent once; then come those that have `changed`, by their places.

import { createChips } from "./board/chips.js";
import { eachFrame } from "./board/dom.js";

/** What `createChips` shows.  By model: JupyterLab has a module for each model, marimo one for all. */
const stores = new WeakMap();

function storeOf(model) {
  if (stores.has(model)) return stores.get(model);
  const listeners = new Set();
  const store = {
    listeners,
    changed: eachFrame(() => { for (const each of listeners) each(); }),
    get document() { return { lines: model.get("rows") }; },
    get status() { return model.get("state") === "unavailable" ? "running" : "done"; },
  };
  stores.set(model, store);
  return store;
}

export default {
  // Must be quick: a model that is not ready after two seconds hears nothing more.
  initialize({ model }) {
    model.on("change:changed", () => {
      const rows = [...model.get("rows")];
      for (const [place, row] of Object.entries(model.get("changed"))) rows[place] = row;
      model.set("rows", rows);
    });
    for (const name of ["rows", "state"]) model.on(`change:${name}`, () => storeOf(model).changed());
  },

  render({ model, el }) {
    const host = document.createElement("div");
    el.append(host);
    const chips = createChips(host, storeOf(model));
    return () => chips.remove();
  },
};
