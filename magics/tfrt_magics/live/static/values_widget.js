// Displayed values as an anywidget, for pages without tfrt-nb's extension, and for boxes of ipywidgets: the same chips.
//
// A model has `rows`, a line each.  They are sent once; then come those that have `changed`, by their places.

import { createChips } from "./board/chips.js";
import { eachFrame } from "./board/dom.js";

/** What `createChips` shows, for one view: each call of ours has an object of its own for the model. */
function storeOf(model) {
  const listeners = new Set();
  return {
    listeners,
    changed: eachFrame(() => {
      for (const each of listeners) each();
    }),
    get document() {
      return { lines: model.get("rows") };
    },
    get status() {
      return model.get("state") === "unavailable" ? "running" : "done";
    },
  };
}

export default {
  // Must be quick: a model that is not ready after two seconds hears nothing more.
  initialize({ model }) {
    model.on("change:changed", () => {
      const rows = [...model.get("rows")];
      for (const [place, row] of Object.entries(model.get("changed"))) rows[place] = row;
      model.set("rows", rows);
    });
  },

  render({ model, el }) {
    const host = document.createElement("div"),
      store = storeOf(model);
    host.style.minWidth = "14em"; // chips have no width of their own, and not every page gives them one
    el.append(host);
    const chips = createChips(host, store),
      events = ["change:rows", "change:state"];
    for (const event of events) model.on(event, store.changed);
    return () => {
      for (const event of events) model.off(event, store.changed);
      chips.remove();
    };
  },
};
