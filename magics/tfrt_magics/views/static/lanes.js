// The lanes of a timeline.  Overlapping bars of one thread are in lanes below each other; too many are folded into one.

const MOST_ROWS = 64; // in total, until the reader unfolds the rest
const MOST_ROWS_UNFOLDED = 256; // more would need a larger canvas than browsers support
const [MOST_BELOW, MOST_BELOW_TASK] = [6, 3]; // lanes per thread or task, until the reader unfolds the rest
const MOST_UNFOLDED = 40;
const MOST_TASKS = 24; // rows of tasks, which are above the threads
const TASK = /^async\.(execute|call)$/;

/** Group items by key, in their order. */
export function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const key = keyOf(item),
      group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

/**
 * The lane of each of `bars`, which are sorted by when they begin: the first free lane, or `most` if no lane is free.
 *
 * `endOf(bar)` returns when a bar ends; a bar that has not ended keeps its lane.  The result contains the lanes, and
 * how many of them are used.
 */
export function packed(bars, most, endOf) {
  const ends = [];
  const places = bars.map(bar => {
    let place = ends.findIndex(end => end <= bar.begin);
    if (place < 0) place = Math.min(ends.length, most);
    if (place < most) ends[place] = endOf(bar);
    return place;
  });
  return { places, count: ends.length };
}

/**
 * The tasks of compiled code, by operation.  Each lasts from when it is queued to its end, and lists its running parts.
 */
function tasksOf(spans, { operations }, { isCode }) {
  const tasks = new Map(),
    latest = new Map();
  for (const span of spans) {
    if (!isCode[span.op] || !TASK.test(operations[span.op].kernel)) continue;
    let task = span.before ? latest.get(span.before) : null;
    if (!task) {
      task = { op: span.op, begin: isNaN(span.queued) ? span.begin : span.queued, parts: [] };
      if (!tasks.has(span.op)) tasks.set(span.op, []);
      tasks.get(span.op).push(task);
    }
    task.parts.push(span);
    latest.set(span, task);
  }
  return tasks;
}

/** When a task ends; NaN while it runs or is suspended. */
export function taskEnd({ parts }) {
  const { awaits, isSuspended, end } = parts.at(-1);
  return awaits === undefined && !isSuspended ? end : NaN;
}

/**
 * All lanes from top to bottom: `{ key, label, bars, worker, isTask, isFirst, isRest }`.  In a lane with `isRest`, bars
 * overlap.
 *
 * `history` is the run so far.  `labelOf` names a worker, and `taskLabel` names an operation.  `unfolded` contains the
 * keys of the lanes that the reader has unfolded.
 */
export function lanesOf(history, { program, tables }, { labelOf, taskLabel, unfolded }) {
  const lanes = [];
  const endOf = bar => (isNaN(bar.end) ? Infinity : bar.end);

  function add(key, label, bars, more = {}) {
    const most = unfolded.has(key) ? MOST_UNFOLDED : more.isTask ? MOST_BELOW_TASK : MOST_BELOW;
    const { places, count } = packed(bars, most, more.isTask ? task => taskEnd(task) || Infinity : endOf);
    const rows = Array.from({ length: Math.max(1, count) }, (_, at) => ({
      key,
      label: at ? "" : label,
      bars: [],
      ...more,
    }));
    rows[0].isFirst = true;
    const rest = { key, bars: [], ...more, isRest: true };
    places.forEach((place, at) => (rows[place] ?? rest).bars.push(bars[at]));
    if (rest.bars.length) rows.push({ ...rest, label: `+ ${rest.bars.length.toLocaleString("fr")} more` });
    lanes.push(...rows);
  }

  const { frames, spans, sleeps, steals } = history;
  for (const [function_, parts] of grouped(frames, frame => frame.function)) {
    const whole = { op: -1, function: function_, begin: parts[0].begin, parts };
    add(`@${function_}`, `@${program.functions[function_].name}`, [whole], { isTask: true });
  }
  let left = 0;
  const tasks = [...tasksOf(spans, program, tables)].sort(([, [a]], [, [b]]) => a.begin - b.begin);
  for (const [op, all] of tasks) {
    if (lanes.length < (unfolded.has("tasks") ? MOST_ROWS_UNFOLDED : MOST_TASKS))
      add(`task ${op}`, taskLabel(op), all, { isTask: true });
    else left++;
  }
  if (left) lanes.push({ key: "tasks", label: `+ ${left} more tasks`, bars: [], isTask: true, isRest: true });

  const all = frames.length ? [...frames, ...spans].sort((a, b) => a.begin - b.begin) : spans;
  const byWorker = grouped(all, bar => bar.worker);
  const isThere = new Set(byWorker.keys());
  for (const { worker } of [...sleeps, ...steals]) isThere.add(worker);
  const workers = [...isThere].sort((a, b) => (a < 0) - (b < 0) || a - b); // those that wait are last
  const room = unfolded.has("threads") ? lanes.length + MOST_ROWS_UNFOLDED : MOST_ROWS - 1;
  const rest = { key: "threads", bars: [], isRest: true, workers: [] };
  for (const worker of workers) {
    if (lanes.length < room) add(`thread ${worker}`, labelOf(worker), byWorker.get(worker) ?? [], { worker });
    else {
      rest.workers.push(worker);
      for (const bar of byWorker.get(worker) ?? []) rest.bars.push(bar);
    }
  }
  if (rest.workers.length) lanes.push({ ...rest, label: `+ ${rest.workers.length.toLocaleString("fr")} more threads` });
  return lanes;
}
