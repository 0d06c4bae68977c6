// The board that a cell shows while its program is compiled: all values that its source names, all of them unavailable.
//
// The page draws this board without the kernel, which is busy.  It is not an output, so no file contains it.

import { createBoard } from "./board/board.js";
import { MIME, unpack } from "./board/document.js";
import { element } from "./board/dom.js";
import { Store } from "./board/store.js";

const BEFORE = 100; // ms before the board appears; most programs are running by then
const VALUE = String.raw`%[\w$.-]+`;
const PROGRAM_LINE = new RegExp(String.raw`^\s*(?:(${VALUE}(?:\s*,\s*${VALUE})*)\s*=\s*)?"?([\w.-]+)(.*)`);
const RETURN = new RegExp(String.raw`^\s*(?:tfrt\.)?return\s+(${VALUE}(?:\s*,\s*${VALUE})*)\s*:\s*(.*?)\s*(?://.*)?$`);
const FUNCTION = /^\s*func(?:\.func)?\s+(?:private\s+)?@([\w$.-]+)/;

/**
 * Return the body of a run document with the functions, operations, values, and results that the lines of `source`
 * name.
 *
 * This is not a parser, but the result is right for most programs.
 */
export function outlineOf(source) {
  const functions = [],
    operations = [],
    values = [];
  let known = new Map();
  for (const [place, text] of source.split("\n").entries()) {
    const name = text.match(FUNCTION)?.[1];
    if (name) {
      known = new Map();
      functions.push({ id: functions.length, name, kind: "host", arguments: [], results: [], result_types: [] });
    }
    const [, returned, types] = (functions.length && text.match(RETURN)) || [];
    if (returned) {
      // A line in a region is replaced by the function's own, which comes later.
      const results = returned.split(",").map(each => known.get(each.trim()));
      Object.assign(functions.at(-1), {
        results: results.includes(undefined) ? [] : results,
        result_types: types.split(/\s*,\s*/).slice(0, results.length),
      });
    }
    const [, names, kernel, rest] = (!name && functions.length && text.match(PROGRAM_LINE)) || [];
    if (!names) continue;
    const at = { function: functions.length - 1, parent: null, region: 0, line: place + 1 },
      id = operations.length;
    const operands = (rest.match(new RegExp(VALUE, "g")) ?? []).map(each => known.get(each)).filter(each => each >= 0);
    const results = names.split(",").map(each => {
      known.set(each.trim(), values.length);
      return values.push({ id: values.length, name: each.trim(), type: "", op: id, function: at.function }) - 1;
    });
    operations.push({ id, kernel, text: text.trim(), ...at, operands, results, regions: [] });
  }
  const started = functions.map(({ name }) => ({ name, status: "waiting" })),
    results = Object.fromEntries(functions.map(({ name }) => [name, []]));
  return { program: { functions, operations, values }, source, functions: started, results };
}

/**
 * Show this board in the cell whose execution `message`, an `execute_input`, reports on `panel`.
 *
 * The board disappears when the cell's run or an error appears, or when the execution is over.
 */
export function showSkeleton(panel, message) {
  const { code } = message.content;
  const isIts = ({ outputArea }) => outputArea?.future?.msg.header.msg_id === message.parent_header.msg_id;
  const cell = /^\s*%%tfrt\b/.test(code) && panel.content.widgets.find(isIts);
  if (!cell) return;
  const { future, model, node } = cell.outputArea;
  const host = element("div", { inert: true, "aria-hidden": true, style: "margin-left: var(--jp-cell-prompt-width)" });
  let board = null,
    isOver = false;

  /** Keep the board below what the program prints; remove it when the cell's run or an error appears. */
  function look() {
    const all = model.toJSON();
    if (all.some(({ output_type: type, data }) => type === "error" || data?.[MIME])) end();
    else if (board) node.append(host); // moves it below output that has arrived since
  }

  function end() {
    isOver = true;
    clearTimeout(timer);
    model.changed.disconnect(look);
    board?.remove();
    host.remove();
  }

  const timer = setTimeout(async () => {
    const body = outlineOf(code.slice(code.indexOf("\n") + 1));
    if (!body.program.values.length) return;
    const store = new Store(await unpack({ status: "compiling", body }));
    if (isOver) return;
    board = createBoard(host, store);
    host.className = "tfrt-skeleton"; // replaces `tfrt-board`, so that nothing takes this for a usable board
    look();
  }, BEFORE);
  model.changed.connect(look);
  future.done.then(end, end);
}
