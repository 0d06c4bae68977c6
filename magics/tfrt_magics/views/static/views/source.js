// The program with the state of each operation beside its line.

import { element, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";
import { SHAPES, STATES } from "../theme.js";

/** Of a longer line the beginning is shown. */
export const MOST_LETTERS = 2000;

export function createSource(store, label = "Source") {
  const rows = createRows({ label, height: 20, cells: [["number", "line-number"], ["shape", "shape"], ["text", ""], ["word", "hidden"]], draw: drawItem,
    choose: ({ operations }) => { if (operations?.length) store.select(operations[0].id); } });
  const node = element("div.source", {}, rows.node);
  let moment = null, program = null, byLine = new Map(), lines = [];

  function show(next) {
    moment = next;
    if (program !== store.program) {
      program = store.program;
      byLine = new Map();
      for (const operation of program.operations) byLine.set(operation.line, [...(byLine.get(operation.line) ?? []), operation]);
    }
    lines = store.document.source.trimEnd().split("\n").map((text, place) => ({ text, number: place + 1, operations: byLine.get(place + 1) }));
    lines = lines.filter(({ text, number }) => number > 1 || text);
    rows.show(lines);
  }

  function drawItem(row, { text, number, operations }) {
    const codes = operations?.map(({ id }) => STATES.indexOf(moment.stateOf(id))) ?? [];
    const state = codes.length ? STATES[Math.max(...codes)] : null;
    setAttributes(row, { "data-line": number, "data-state": state, "data-op": operations?.[0].id ?? null,
      "aria-current": operations?.some(({ id }) => id === store.chosen) || null });
    setText(row.parts.number, String(number));
    setText(row.parts.shape, state ? SHAPES[state] : "");
    setText(row.parts.word, state ? `, ${state}` : "");
    setText(row.parts.text, text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text);
  }

  /** The line of the selected operation comes into view. */
  function reveal() {
    rows.reveal(lines.findIndex(({ operations }) => operations?.some(({ id }) => id === store.chosen)));
  }

  return { title: "Source", node, show, reveal, isEmpty: () => !store.document.source.trim() };
}
