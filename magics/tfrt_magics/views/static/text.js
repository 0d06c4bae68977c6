// A run as text, for the clipboard, for the notebook's search and for "copy output".

import { duration } from "./dom.js";
import { SHAPES, STATUSES } from "./theme.js";
import { outcomesInWords, RACE } from "./views/schedules.js";
import { functionsOf, namesOf, progress, tableOf, timesOf } from "./views/values.js";

const ROWS = 200, WIDTH = 400, LOG = 20000;

export function textOf(moment) {
  const { document, status } = moment.store;
  const [decided, total] = progress(moment);
  const head = `${namesOf(moment)}: ${STATUSES[status].word}, ${decided} of ${total} values${moment.store.isOver ? `, ${moment.store.isLive ? "" : `${duration(moment.time)} of `}${duration(moment.store.end)}` : ""}`;
  const parts = [head, document.note, document.outcomes && outcomesInWords(document.outcomes)].filter(Boolean);
  for (const pair of document.outcomes?.races ?? []) {
    parts.push(RACE, ...pair.map((op) => `  line ${moment.program.operations[op]?.line}: ${moment.store.textOf(op)}`));
  }
  for (const function_ of functionsOf(moment)) {
    const rows = tableOf(moment, function_);
    parts.push(...rows.slice(0, ROWS).map((row) =>
      [`${SHAPES[row.state]} ${row.state}`, [row.name, ...(row.tags ?? [])].join(" "), row.text.slice(0, WIDTH) + timesOf(row), row.type, row.worker].filter(Boolean).join("  ")));
    if (rows.length > ROWS) parts.push(`… and ${rows.length - ROWS} more values`);
  }
  const log = document.log.map(([, , text]) => text).join("").slice(0, LOG);
  return [...parts, log].filter(Boolean).join("\n");
}
