// The run document, as files contain it and as messages extend it.
//
// Head: run, session, client, cell, execution (the cell's number), status, note, work_queue, elapsed, simple (whether
// workers and the queue are hidden).
//
// Body: program, layout, source, functions, events (in columns), workers, dropped, counts, absent (arguments that have
// not arrived), cancelled (values), remote (for each call on a cluster, the operation and its moments: time, what,
// worker), unlogged (states of operations in compiled code), previews, pictures (of tensors: address, smallest and
// largest number), results, log, outcomes.  A document of displayed values has only lines.
//
// In a file, the body is JSON: deflated and in base64 (`packed`) or, if it is small, as text (`body`), which a busy
// page need not inflate.  `bridge/record.py` writes long lists as columns; earlier versions wrote them unchanged.  A
// file that was saved during the run contains the body unchanged.

export const MIME = "application/vnd.tfrt.run.v2+json";
const EVENT_COLUMNS = ["time", "kind", "op", "value", "instance", "worker", "payload"];

const EMPTY = () => ({
  program: { functions: [], operations: [], values: [] },
  layout: null,
  source: "",
  functions: [],
  events: { kinds: [], ...Object.fromEntries(EVENT_COLUMNS.map(name => [name, []])) },
  workers: [],
  dropped: 0,
  counts: {},
  absent: [],
  cancelled: [],
  unlogged: null,
  remote: [],
  previews: {},
  pictures: {},
  results: {},
  log: [],
  log_dropped: 0,
  stages: null,
  lines: null,
});

/** Return the document in a file; for invalid text, return a document that says so. */
export async function unpack(data) {
  const { packed, body, ...head } = data,
    empty = { ...head, ...EMPTY() };
  try {
    const text = isText(body) ? body : packed && (await inflate(packed));
    return checked({ ...empty, ...(text ? unfolded(JSON.parse(text)) : body) });
  } catch (problem) {
    return { ...checked(empty), note: `This run cannot be read: ${problem.message}` };
  }
}

const MAX_ROWS = 2 ** 20; // a few characters in a file could ask for any number of rows

/** Convert the columns in a body back to lists and rows. */
function unfolded(body) {
  const { program, source } = body;
  if (program?.operations) {
    const lines = isText(source) ? source.split("\n") : [];
    program.operations = rowsOf(program.operations);
    program.values = rowsOf(program.values);
    for (const row of program.operations) row.text ??= lines[row.line - 1]?.slice(row.column - 1, row.end_column - 1);
  }
  for (const part of [body.layout, body.events])
    for (const name of Object.keys(part ?? {})) part[name] = listOfColumn(part[name]);
  return body;
}

function listOfColumn(column) {
  if (Object(column) !== column || Array.isArray(column)) return column;
  const { same, count, steps } = column;
  const numbers = isText(steps) ? [...new Int16Array(bytesOf(steps).buffer)] : steps;
  let sum = 0;
  if (numbers) return numbers.map(step => (sum += step));
  if (!(count <= MAX_ROWS)) throw new Error("too long");
  return Array(count).fill(same);
}

function rowsOf(table) {
  if (!table.columns) return table;
  if (!(table.count <= MAX_ROWS)) throw new Error("too long");
  const rows = Array.from({ length: table.count }, (_, id) => ({ id }));
  for (const [name, column] of Object.entries(table.columns)) {
    const places = column.places && listOfColumn(column.places);
    listOfColumn(places ? column.items : column).forEach((item, place) => {
      rows[places ? places[place] : place][name] = item;
    });
  }
  return rows;
}

/**
 * Leave out the parts that views could not draw, and name them in the note, so that views can trust the rest.  Users
 * sometimes edit outputs by hand.
 */
function checked(found) {
  const wrong = Object.entries(checksOf(found.program ?? {}))
      .filter(([name, check]) => !check(found[name]))
      .map(([name]) => name),
    empty = EMPTY();
  if (wrong.includes("program")) throw new Error("its program is damaged");
  for (const name of wrong) found[name] = empty[name];
  if (wrong.length)
    found.note = `${found.note ?? ""} What this file says of ${wrong.join(", ")} cannot be read.`.trim();
  return found;
}

const isText = value => typeof value === "string",
  isNumber = Number.isFinite;
const maybe = check => value => value == null || check(value);
/** Whether an address is a picture in the file itself: pictures must not come from the network. */
const isPicture = address => isText(address) && address.startsWith("data:image/png;base64,");
/** Whether a value is the line of a displayed value. */
const isLine = value =>
  having({
    name: isText,
    state: isText,
    text: maybe(isText),
    type: maybe(isText),
    error: maybe(isText),
    place: maybe(isText),
    elapsed: maybe(isNumber),
    picture: maybe(isPicture),
  })(value);
const listOf = check => value => Array.isArray(value) && value.every(check);
const tableOfAll = check => value => Object(value) === value && Object.values(value).every(check);
/** Return a check of an object's parts by name, or of a list's items by position. */
const having =
  (checks, all = Object.entries(checks)) =>
  value =>
    value != null && all.every(([name, check]) => check(value[name]));

/** Return a check for each part of a program's document. */
function checksOf({ functions, operations, values }) {
  const [isFunction, isOperation, isValue] = [functions, operations, values].map(
    list => value => value >= 0 && list?.[value]?.id === value,
  );
  const rowsOf = checks =>
    listOf(
      (value, place) => having(checks)(value) && value.id === place && maybe(parent => parent < place)(value.parent),
    );
  const numbers = listOf(isNumber),
    texts = listOf(isText),
    places = listOf(isValue),
    column = listOf(maybe(isNumber));
  const run = {
    workers: texts,
    dropped: isNumber,
    previews: tableOfAll(isText),
    pictures: maybe(tableOfAll(having([isPicture, maybe(isNumber), maybe(isNumber)]))),
    log: listOf(having([isNumber, maybe(isNumber), isText])),
    events: value =>
      having({
        kinds: texts,
        time: numbers,
        kind: numbers,
        op: column,
        value: column,
        instance: column,
        worker: column,
        payload: listOf(each => Object(each) !== each),
      })(value) && EVENT_COLUMNS.every(name => value[name].length === value.time.length),
  };
  return {
    ...run,
    lines: maybe(listOf(isLine)),
    unlogged: maybe(tableOfAll(isText)),
    remote: maybe(
      listOf(
        ([op, moments]) => isOperation(op) && listOf(having([isNumber, isText, isText]))(moments) && moments.length,
      ),
    ),
    run: maybe(isText),
    note: maybe(isText),
    work_queue: maybe(isText),
    elapsed: maybe(isNumber),
    source: isText,
    log_dropped: isNumber,
    absent: numbers,
    cancelled: numbers,
    functions: listOf(having({ name: isText })),
    counts: tableOfAll(isNumber),
    results: tableOfAll(listOf(having([isText, isText]))),
    ready: maybe(listOf(op => op < 0 || isOperation(op))),
    program: having({
      functions: rowsOf({ name: isText, arguments: places, results: places, result_types: maybe(texts) }),
      operations: rowsOf({
        kernel: isText,
        text: isText,
        line: isNumber,
        function: isFunction,
        parent: maybe(isOperation),
        operands: places,
        results: places,
        regions: maybe(Array.isArray),
      }),
      values: rowsOf({ name: maybe(isText), type: isText, function: isFunction, op: maybe(isOperation) }),
    }),
    layout: maybe(
      having({
        x: numbers,
        y: numbers,
        w: numbers,
        h: numbers,
        groups: maybe(listOf(having({ ops: listOf(isOperation), x: isNumber, y: isNumber, w: isNumber, h: isNumber }))),
        order: maybe(listOf(listOf(isOperation))),
        boxes: listOf(
          having({ x: isNumber, y: isNumber, w: isNumber, h: isNumber, function: isFunction, op: maybe(isOperation) }),
        ),
      }),
    ),
    stages: maybe(
      having({
        problem: maybe(isText),
        rows: listOf(having({ name: isText, about: isText, text: isText, marks: isText, ops: column })),
      }),
    ),
    outcomes: maybe(
      having({
        count: isNumber,
        schedules: isNumber,
        races: listOf(listOf(isOperation)),
        rows: listOf(
          having({
            values: texts,
            errors: texts,
            printed: isText,
            schedules: isNumber,
            order: maybe(numbers),
            other: maybe(numbers),
            run: having(run),
          }),
        ),
      }),
    ),
  };
}

/** Decode base64.  This is a loop because `Uint8Array.from` takes half a second for a few megabytes. */
export function bytesOf(text) {
  const characters = atob(text),
    bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

async function inflate(text) {
  const reader = new Blob([bytesOf(text)])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"))
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let found = "";
  // A few kilobytes can inflate to gigabytes.
  for (let part; !(part = await reader.read()).done; found += part.value)
    if (found.length > 2 ** 28) throw new Error("too long");
  return found;
}

/** Return the document in the file format, without packing it, for a file that is saved before the run is over. */
export function asFile(document) {
  const body = Object.fromEntries(Object.keys(EMPTY()).map(name => [name, document[name]]));
  const head = Object.fromEntries(Object.entries(document).filter(([name]) => !(name in body)));
  return { ...head, body };
}

/**
 * Extend `document` by a message; return false if events between the two are missing.
 *
 * `from` is the number of events that precede the events in the message.
 */
export function extend(document, message) {
  const { from, events: added, previews, pictures, log, log_from: logFrom, ...others } = message,
    { frame, bundle, stages, lines = {}, ...rest } = others;
  Object.assign(document, rest);
  // Keep resolved values: an answer may be older than a message that has overtaken it.
  for (const [place, line] of Object.entries(lines))
    if (document.lines?.[place]?.state === "unavailable") document.lines[place] = line;
  Object.assign(document.previews, previews);
  Object.assign((document.pictures ??= {}), pictures);
  // An answer contains the log from its start, including the lines that messages have brought.
  if (log) document.log.splice(logFrom, Infinity, ...log);
  if (!added) return true;
  const { events } = document,
    have = events.time.length;
  if (from > have) return false;
  if (added.kinds) events.kinds = added.kinds;
  for (const name of EVENT_COLUMNS)
    for (let i = have - from; i < added[name].length; i++) events[name].push(added[name][i]);
  return true;
}
