// What was printed, when, and by which line.

import { duration, element, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";

/** The entries of the log as lines; a piece without an end of line goes on in the next of its operation. */
export function linesOf(log) {
  const lines = [], latest = new Map();
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

export function createLog(store) {
  const rows = createRows({ label: "Printed by the program", height: 22, cells: [["when", "soft ui"], ["text", ""], ["where", "soft ui"]], draw: drawItem,
    choose: (line) => { if (line.op != null) store.select(line.op); } });
  const more = element("p.note.soft", { hidden: true });
  const node = element("div.log", {}, rows.node, more);

  function show(moment) {
    const dropped = store.document.log_dropped;
    rows.show(linesOf(store.document.log.filter(([time]) => moment.isEnd || time <= moment.time)));
    more.hidden = !dropped;
    more.textContent = `… and ${dropped} more characters`;
  }

  function drawItem(row, line) {
    const operation = store.program.operations[line.op];
    setAttributes(row, { "data-op": operation ? line.op : null, "aria-current": (operation && store.chosen === line.op) || null });
    setText(row.parts.when, duration(line.time));
    setText(row.parts.text, line.text);
    setText(row.parts.where, operation ? `line ${operation.line}` : "");
  }

  return { title: "Log", node, show, isEmpty: () => !store.document.log.length };
}
