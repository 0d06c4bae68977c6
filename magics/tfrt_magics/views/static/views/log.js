// What was printed, when, and by which line.

import { duration, element, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";

const LOG_LINE = 22, // the height of a line of the log
  NEWEST = 3,
  NEWEST_PIECES = 60,
  WIDEST = 400;

/** Convert the log's entries to lines; a piece without a newline continues in the next piece of its operation. */
function linesOf(log) {
  const lines = [],
    latest = new Map();
  for (const [time, op, text] of log) {
    for (const part of String(text).match(/[^\n]*\n|[^\n]+/g) ?? []) {
      let line = latest.get(op);
      if (!line?.isOpen) {
        line = { time, op, text: "" };
        lines.push(line);
        latest.set(op, line);
      }
      line.text += part.replace("\n", "");
      line.isOpen = !part.endsWith("\n");
    }
  }
  return lines;
}

/** The newest printed lines, which are shown beside the values. */
export function createPrinted(store) {
  const text = element("pre"),
    more = element("span.soft");
  const node = element("div.printed", { role: "group", "aria-label": "Printed", hidden: true }, more, text);

  function show(moment) {
    const log = store.document.log.filter(([time]) => moment.isEnd || time <= moment.time),
      newest = linesOf(log.slice(-NEWEST_PIECES)),
      earlier = log.length > NEWEST_PIECES || newest.length > NEWEST;
    // In a replay, the lines that are printed later already have their place, so that nothing moves.
    const all = linesOf(store.document.log.slice(-NEWEST_PIECES));
    text.style.minHeight = `${1.5 * Math.min(NEWEST, all.length)}em`;
    node.hidden = !all.length;
    setText(more, earlier ? "printed … (all of it is in Log)" : "printed");
    setText(
      text,
      newest
        .slice(-NEWEST)
        .map(line => line.text.slice(0, WIDEST))
        .join("\n"),
    );
  }
  return { node, show };
}

function createLog(store) {
  const rows = createRows({
    label: "Printed by the program",
    height: LOG_LINE,
    cells: [
      ["when", "soft ui"],
      ["where", "soft ui"],
      ["text", ""],
    ],
    draw: drawItem,
    choose,
  });
  const more = element("p.note.soft", { hidden: true }),
    whole = element("pre.detail.whole", { hidden: true });
  const node = element("div.log", {}, rows.node, more, whole);

  /** Select the operation that printed a line, and show the whole line if its row cuts it off. */
  function choose({ op, text }, row) {
    whole.hidden = row.scrollWidth <= row.clientWidth;
    setText(whole, text);
    if (op != null) store.select(op);
  }

  function show(moment) {
    const dropped = store.document.log_dropped;
    rows.node.style.minHeight = `${LOG_LINE * lineCount(store)}px`; // so that nothing below moves in a replay
    rows.show(linesOf(store.document.log.filter(([time]) => moment.isEnd || time <= moment.time)));
    more.hidden = !dropped;
    more.textContent = `… and ${dropped} more characters`;
  }

  function drawItem(row, line) {
    const operation = store.program.operations[line.op];
    setAttributes(row, {
      "data-op": operation ? line.op : null,
      "aria-current": (operation && store.chosen === line.op) || null,
    });
    setText(row.parts.when, duration(line.time));
    setText(row.parts.text, line.text);
    setText(row.parts.where, operation ? `line ${operation.line}` : "");
  }

  return { node, show };
}

const linesIn = new WeakMap(); // for each log, its length and its line count when last counted

/** The number of lines, counted again only if the log has grown. */
function lineCount({ document: { log } }) {
  if (linesIn.get(log)?.length !== log.length) linesIn.set(log, { length: log.length, lines: linesOf(log).length });
  return linesIn.get(log).lines;
}

export const logView = {
  title: "Log",
  create: createLog,
  badge: lineCount,
  isEmpty: store => !store.document.log.length,
};
