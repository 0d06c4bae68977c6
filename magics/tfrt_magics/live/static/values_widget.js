// Displayed values as an anywidget, shown as chips, for pages without tfrt-nb's extension and for ipywidgets boxes.
//
// A model has `rows`, one per line.  They are sent once; after that, only those that have `changed` are sent, by index.

import { createChips } from "./board/chips.js";
import { eachFrame } from "./board/dom.js";

/**
 * The store that `createChips` shows in one view.  anywidget passes a different object for the model to each function.
 */
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
  // This must be quick, because a model that is not ready after two seconds gets no further messages.
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
    host.style.minWidth = "14em"; // chips have no intrinsic width, and not every page gives them one
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
