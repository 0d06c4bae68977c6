// The selected operation or value in full, and why it is not ready.

import { button, element, setText } from "./dom.js";
import { largePicture } from "./tensors.js";

const DEEP = 6,
  WIDE = 8;
const BECAUSE = {
  ready: () => "has all its inputs and is queued",
  running: ({ worker, simple }) =>
    simple ? "is running" : worker ? `runs on ${worker}` : "waits for a timer, an event loop or another thread",
  error: () => "failed",
  skipped: () => "was skipped: an input failed, or its branch was not taken",
  cancelled: () => "was cancelled",
  unrecorded: () => "may have run",
};

export function createDetail(store) {
  const title = element("div.code"),
    body = element("div");
  const node = element("div.detail", { hidden: true, role: "note", "aria-label": "Selected" }, title, body);
  let shown = "";

  function show(moment) {
    const { selection } = store,
      operation = selection ? moment.program.operations[selection.op] : null;
    node.hidden = !selection || selection.isCursor; // otherwise, the page would move with the cursor
    if (node.hidden) return;
    setText(title, operation ? store.textOf(operation.id) : (moment.program.values[selection.value]?.name ?? ""));
    const parts = [];
    const values = selection.value != null ? [selection.value] : (operation?.results ?? []);
    for (const value of values) {
      const text = moment.preview(value);
      if (text)
        parts.push(
          element("pre", {}, `${moment.program.values[value].name} = ${text}`),
          ...largePicture(moment, value),
        );
    }
    if (operation) parts.push(element("div.soft", {}, `line ${operation.line}, ${moment.stateOf(operation.id)}`));
    if (operation && moment.missing(operation.id).length)
      parts.push(element("div", {}, "It waits for:"), chain(moment, operation.id, DEEP, new Set()));
    const text = parts.map(part => part.textContent + (part.src ?? "")).join("\n");
    if (text !== shown) body.replaceChildren(...parts);
    shown = text;
  }

  /**
   * List what an operation waits for, and what that waits for, down to operations that are running or will never run.
   */
  function chain(moment, op, depth, seen) {
    const list = element("ul"),
      missing = moment.missing(op);
    for (const value of missing.slice(0, WIDE)) {
      const { name, op: maker } = moment.program.values[value],
        state = moment.state(value);
      const item = element(
        "li",
        {},
        button(name || "a value", () => store.select(maker, value)),
      );
      const deeper = maker != null && moment.missing(maker).length > 0 && depth > 0 && !seen.has(maker);
      const why = BECAUSE[state]?.({
        worker: moment.worker(moment.history.values.worker[value]),
        simple: store.document.simple,
      });
      item.append(
        ` ${why ?? (maker == null ? "is an argument that is not there yet" : deeper ? "waits for:" : "waits")}`,
      );
      if (deeper) item.append(chain(moment, maker, depth - 1, new Set([...seen, maker])));
      list.append(item);
    }
    if (missing.length > WIDE) list.append(element("li", {}, `and ${missing.length - WIDE} more`));
    return list;
  }
  return { node, show };
}
