// The program with the state of each operation beside its line.

import { element, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";
import { SHAPES, STATES } from "../theme.js";

export function createSource(store) {
  const rows = createRows({ role: "list", label: "Source", itemRole: "listitem", height: 20, create: createItem, draw: drawItem,
    choose: ({ operations }) => { if (operations?.length) store.select(operations[0].id); } });
  const node = element("div", { className: "source" }, rows.node);
  let moment = null, program = null, byLine = new Map();

  function show(next) {
    moment = next;
    if (program !== store.program) {
      program = store.program;
      byLine = new Map();
      for (const operation of program.operations) byLine.set(operation.line, [...(byLine.get(operation.line) ?? []), operation]);
    }
    const lines = store.document.source.split("\n");
    rows.show(lines.map((text, place) => ({ text, number: place + 1, operations: byLine.get(place + 1) })).filter(({ text, number }) => number > 1 || text));
  }

  function createItem() {
    const number = element("span", { className: "line-number", attributes: { "aria-hidden": "true" } });
    const [shape, word, text] = ["shape", "hidden", ""].map((className) => element("span", { className }));
    const row = element("div", {}, number, shape, " ", text, word);
    row.parts = { number, shape, word, text };
    return row;
  }

  function drawItem(row, { text, number, operations }) {
    const codes = operations?.map(({ id }) => STATES.indexOf(moment.stateOfOperation(id))) ?? [];
    const state = codes.length ? STATES[Math.max(...codes)] : null;
    setAttributes(row, { "data-line": number, "data-state": state, "data-op": operations?.[0].id ?? null,
      "aria-current": operations?.some(({ id }) => id === store.selection?.op) ? "true" : null });
    setText(row.parts.number, String(number));
    setText(row.parts.shape, state ? SHAPES[state] : "");
    setText(row.parts.word, state ? `, ${state}` : "");
    setText(row.parts.text, text);
  }

  return { title: "Source", node, show, isEmpty: () => !store.document.source.trim() };
}
