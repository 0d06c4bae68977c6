// The run document: as a file holds it, as messages extend it.
//
// Head: run, session, client, cell, status, note, work_queue, elapsed.  Body: program, layout, source, functions, events in
// columns, workers, dropped, counts, absent (arguments that have not come), cancelled (values), previews, results, log, outcomes.  In a file the body is deflated JSON in base64 (`packed`);
// a file that was saved while the run went on has it as it is (`body`).

export const MIME = "application/vnd.tfrt.run.v2+json";
export const EVENT_COLUMNS = ["time", "kind", "op", "value", "instance", "worker", "payload"];

const EMPTY = () => ({ program: { functions: [], operations: [], values: [] }, layout: null, source: "", functions: [],
  events: { kinds: [], ...Object.fromEntries(EVENT_COLUMNS.map((name) => [name, []])) }, workers: [], dropped: 0, counts: {}, absent: [], cancelled: [], previews: {}, results: {},
  log: [], log_dropped: 0, stages: null });

/** The document in a file; text that is none is a document that says so. */
export async function unpack(data) {
  const { packed, body, ...head } = data;
  try {
    const found = body ?? (packed ? JSON.parse(await inflate(packed)) : {});
    return { ...head, ...EMPTY(), ...found, ...checked(found) };
  } catch (problem) {
    return { ...head, ...EMPTY(), status: head.status ?? "failed", note: `This run cannot be read: ${problem.message}` };
  }
}

/** Outputs are edited by hand at times: what is not a document is refused or left out here, so that views need not doubt. */
function checked(found) {
  const { program, events, stages } = found, kindOf = (value) => (Array.isArray(value) ? "list" : typeof value);
  const lists = [program?.functions, program?.operations, program?.values, ...(events ? EVENT_COLUMNS.map((name) => events[name]) : [])];
  if (program && !lists.every(Array.isArray)) throw new Error("its program or its events are no lists");
  if (events && EVENT_COLUMNS.some((name) => events[name].length !== events.time.length)) throw new Error("its columns differ in length");
  const wrong = Object.entries(EMPTY()).filter(([name, value]) => name in found && kindOf(found[name] ?? 0) !== kindOf(value ?? {}));
  return { ...Object.fromEntries(wrong), stages: Array.isArray(stages?.rows) && stages.rows.every(({ name, ops, marks }) => name && Array.isArray(ops) && typeof marks === "string") ? stages : null };
}

/** Bytes from base64. */
export const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

async function inflate(text) {
  return new Response(new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}

/** The document as it is, for a file that is saved before the run is over. */
export function asFile(document) {
  const body = Object.fromEntries(Object.keys(EMPTY()).map((name) => [name, document[name]]));
  const head = Object.fromEntries(Object.entries(document).filter(([name]) => !(name in body)));
  return { ...head, body };
}

/**
 * Extend `document` by a message; false where events between the two are missing.
 *
 * `from` is the number of events before those of the message.
 */
export function extend(document, message) {
  for (const name of ["status", "note", "elapsed", "functions", "workers", "dropped", "counts", "absent", "cancelled", "results", "log_dropped", "outcomes", "ready"]) {
    if (message[name] !== undefined) document[name] = message[name];
  }
  Object.assign(document.previews, message.previews);
  if (message.log) document.log.splice(message.log_from, Infinity, ...message.log);
  if (!message.events) return true;
  const { events } = document, have = events.time.length;
  if (message.from > have) return false;
  const skip = have - message.from;
  if (message.events.kinds) events.kinds = message.events.kinds;
  for (const name of EVENT_COLUMNS) for (let i = skip; i < message.events[name].length; i++) events[name].push(message.events[name][i]);
  return true;
}
