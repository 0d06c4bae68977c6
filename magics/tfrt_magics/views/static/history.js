// What the events up to a given time mean for a program: the state of each value and operation, and who ran when.
//
// A history is a fold over the columns of the event log.  In a live run, it continues where it was; for an earlier
// time, it starts over.

import { shortened } from "./tensors.js";
import { STATES, WAITING, READY, RUNNING, AVAILABLE, ERROR, SKIPPED, CANCELLED, UNRECORDED } from "./theme.js";

const STATE_OF = { available: AVAILABLE, emplace: AVAILABLE, error: ERROR, skipped: SKIPPED, cancelled: CANCELLED };
const BEGINS = new Set(["begin", "start", "resume"]);
const ENDS = new Set(["end", "suspend"]);
const LEAVES = new Set(["end", "suspend", "return"]);
const CHAIN = /^!(?:tfrt|t)\.chain$|^!async\.token$/;
const CONTROL = "Control"; // the thread on which a kernel gets requests from the board; it computes nothing
const LINE = 60; // the maximum length of a line in characters
const CONSTANT = /(^|\.)constant(\.|$)/;
const ENDED = new Set(["done", "failed", "cancelled", "timed-out"]);

/** Yield each use of a value that an operation makes, by the same or another operation, in the order of the users. */
export function* edgesOf({ operations, values }) {
  for (const { id, operands } of operations) {
    for (const value of operands)
      if (values[value].op != null) yield { from: values[value].op, to: id, isChain: values[value].chain };
  }
}

/** What is known about a program's values and operations before it runs. */
export function tablesOf(program) {
  const { operations, functions } = program;
  const uses = operations.map(() => []);
  for (const { from, to } of edgesOf(program)) if (from !== to && uses[from].at(-1) !== to) uses[from].push(to);
  const isCompiled = functions.map(({ kind }) => kind === "func" || kind === "async");
  // In a region of `tfrt.jit`, a constant exists only if the region runs.
  return {
    uses,
    isCompiled,
    isCode: operations.map(({ function: function_, compiled }) => Boolean(compiled || isCompiled[function_])),
    isConstant: operations.map(({ kernel, compiled }) => !compiled && CONSTANT.test(kernel)),
  };
}

export class History {
  constructor(document, tables) {
    this.document = document;
    this.program = document.program;
    this.tables = tables;
    this.reset();
  }

  reset() {
    const { operations, values, functions } = this.program;
    this.next = 0;
    this.time = 0;
    this.values = {
      state: new Uint8Array(values.length),
      worker: new Int16Array(values.length).fill(-1),
      begin: new Float64Array(values.length).fill(NaN),
      end: new Float64Array(values.length).fill(NaN),
      count: new Uint32Array(values.length),
      failed: new Uint32Array(values.length),
      payload: new Map(),
    };
    this.operations = { state: new Uint8Array(operations.length), count: new Uint32Array(operations.length) };
    this.called = new Uint8Array(functions.length);
    this.spans = [];
    this.open = new Map();
    /** Spans of the compiled functions that the run calls.  These spans have no operation: `op` is -1. */
    this.frames = [];
    this.calls = new Map();
    /** For each value of an instance, when, on which thread, and in which span it was last made. */
    this.sources = new Map();
    this.queued = new Map();
    this.sleeps = [];
    this.asleep = new Map();
    this.steals = [];
  }

  /** Apply all events up to the time `until`. */
  goTo(until) {
    const { time } = this.document.events;
    if (this.next && time[this.next - 1] > until) this.reset();
    while (this.next < time.length && time[this.next] <= until) this.take(this.next++);
    this.time = Math.min(until, time.length ? time[time.length - 1] : 0);
  }

  take(i) {
    const { program } = this,
      { events } = this.document;
    const kind = events.kinds[events.kind[i]],
      op = events.op[i],
      value = events.value[i],
      time = events.time[i];
    if (kind === "call") {
      // The call of a function or, if there is an `op`, of one of its regions.
      if (this.called[value] === 0) this.called[value] = 1;
      if (op < 0 && this.tables.isCompiled[value]) this.enter(value, events.instance[i], events.worker[i], time);
      return;
    }
    this.takeThread(kind, events.worker[i], time);
    if (program.operations[op]) this.takeOperation(kind, op, value, events.instance[i], events.worker[i], time);
    else if (this.calls.has(events.instance[i])) this.takeFrame(kind, events.instance[i], events.worker[i], time);
    if (program.values[value]) this.takeValue(kind, value, events, i);
  }

  enter(function_, instance, worker, begin) {
    const frame = { op: -1, function: function_, instance, worker, begin, end: NaN, queued: NaN };
    this.calls.set(instance, frame);
    this.frames.push(frame);
  }

  /** Record that a function that the run calls suspends, resumes, or returns. */
  takeFrame(kind, instance, worker, time) {
    const last = this.calls.get(instance);
    if (LEAVES.has(kind)) {
      if (isNaN(last.end)) last.end = time;
      if (kind === "suspend") last.isSuspended = true;
    } else if (BEGINS.has(kind) && last.isSuspended && !isNaN(last.end)) {
      this.enter(last.function, instance, worker, time);
      this.calls.get(instance).before = last;
    }
  }

  /** A key for a value of an instance.  In compiled code, objects do not say which instance they belong to. */
  sourceKey(value, instance) {
    return value + 2 ** 26 * (this.tables.isCompiled[this.program.values[value].function] ? 0 : instance);
  }

  /**
   * What made a starting operation ready: of its operands, or of the values that it awaited, the one that came last.
   */
  causeOf(op, instance, before) {
    const needed = before?.awaits >= 0 ? [before.awaits] : before ? [] : this.program.operations[op].operands;
    let cause = null;
    for (const value of needed) {
      const source = this.sources.get(this.sourceKey(value, instance));
      if (source && (cause === null || source.time >= cause.time)) cause = source;
    }
    return cause;
  }

  /** Record what a thread does without work: it sleeps, or it steals work from another thread's queue. */
  takeThread(kind, worker, time) {
    if (kind === "park") {
      this.asleep.set(worker, { worker, begin: time, end: NaN });
      this.sleeps.push(this.asleep.get(worker));
    } else if (kind === "wake") {
      const sleep = this.asleep.get(worker);
      if (sleep) sleep.end = time;
      else if (sleep === undefined) this.sleeps.push({ worker, begin: 0, end: time }); // asleep since before the run
      this.asleep.set(worker, null);
    } else if (kind === "steal") this.steals.push({ worker, time });
  }

  takeOperation(kind, op, value, instance, worker, time) {
    const { operations, values } = this,
      { results, function: function_ } = this.program.operations[op];
    this.called[function_] = 1;
    if (BEGINS.has(kind)) {
      operations.state[op] = RUNNING;
      operations.count[op] += kind !== "resume";
      for (const result of results) {
        values.begin[result] = time;
        values.worker[result] = worker;
        values.state[result] = RUNNING;
      }
      const span = this.begin(op, instance, worker, time);
      span.isInline = isNaN(span.queued) && !this.tables.isCode[op];
    } else if (ENDS.has(kind)) {
      this.close(op, instance, time);
      const isLate = kind === "end" && operations.state[op] === RUNNING;
      if (kind === "suspend") {
        const span = this.open.get(`${op}:${instance}`);
        if (span) span.awaits = value;
        operations.state[op] = WAITING;
        for (const result of results) {
          if (values.state[result] > RUNNING) continue;
          values.state[result] = WAITING;
          values.worker[result] = -1;
        }
      } else if (isLate && (!results.length || this.tables.isCompiled[function_])) operations.state[op] = AVAILABLE;
      else if (isLate) {
        // A result from a timer, a thread, or an event loop is in the lane of what resolves it, and until then in no
        // lane.
        Object.assign(this.begin(op, instance, -1, time), { isLate: true, cause: null });
        for (const result of results) values.worker[result] = -1;
      }
    } else if (kind === "enqueue") {
      this.queued.set(`${op}:${instance}`, { time, worker });
      if (operations.state[op] === WAITING) operations.state[op] = READY;
    } else if (STATE_OF[kind] && !results.length) {
      operations.state[op] = STATE_OF[kind];
      this.close(op, instance, time, { isError: STATE_OF[kind] === ERROR });
    }
  }

  takeValue(kind, value, events, i) {
    const state = STATE_OF[kind];
    if (state === undefined) return;
    const { values, operations } = this,
      { op: maker, function: function_ } = this.program.values[value],
      time = events.time[i],
      worker = events.worker[i];
    this.called[function_] = 1;
    // The value was made again, without a begin event.
    if (values.state[value] > RUNNING) [values.begin[value], values.worker[value]] = [NaN, -1];
    values.state[value] = state;
    values.end[value] = time;
    values.count[value]++;
    if (kind === "skipped")
      values.worker[value] = -1; // it ran nowhere, even if an earlier iteration of a loop did
    else if (values.worker[value] < 0) values.worker[value] = worker;
    if (events.payload[i] != null) values.payload.set(value, events.payload[i]);
    values.failed[value] += state === ERROR;
    if (values.failed[value] && values.count[value] > 1) {
      // In mapped calls, one error makes the value an error, whatever came last.
      values.state[value] = ERROR;
      values.payload.set(value, `${values.failed[value]} of ${values.count[value]} failed`);
    }
    if (maker == null) return;
    operations.state[maker] = Math.max(
      state,
      ...this.program.operations[maker].results.map(each => values.state[each]),
    );
    const span = this.close(maker, events.instance[i], time, { worker, isError: state === ERROR });
    this.sources.set(this.sourceKey(value, events.instance[i]), { time, worker, span });
  }

  /** Adopt the given states, without the events that led to them. */
  adopt(frame) {
    for (const [value, word, worker] of frame) {
      const state = STATES.indexOf(word),
        known = this.program.values[value];
      if (state < 0 || !known) continue;
      this.called[known.function] = 1;
      if (this.values.state[value] < AVAILABLE) this.values.state[value] = state;
      if (worker) this.values.worker[value] = this.document.workers.indexOf(worker);
      if (known.op != null && this.operations.state[known.op] < AVAILABLE) this.operations.state[known.op] = state;
    }
  }

  begin(op, instance, worker, begin) {
    const key = `${op}:${instance}`,
      queued = this.queued.get(key),
      last = this.open.get(key),
      before = last?.awaits === undefined ? null : last;
    const span = { op, instance, worker, begin, end: NaN, queued: queued?.time ?? NaN, before };
    // A task runs because it was queued; a kernel runs because its last operand arrived.
    span.cause = this.causeOf(op, instance, before) ?? (queued && this.tables.isCode[op] ? queued : null);
    this.queued.delete(key);
    this.open.set(key, span);
    this.spans.push(span);
    return span;
  }

  close(op, instance, time, { worker = -1, isError = false } = {}) {
    const span = this.open.get(`${op}:${instance}`);
    if (!span) return null;
    if (span.worker < 0) span.worker = worker;
    span.isError ||= isError;
    // Each result of the operation closes the span, and the last one counts.
    span.end = isNaN(span.end) ? time : Math.max(span.end, time);
    return span;
  }
}

/**
 * The run at one moment, for views: states as words, including states that follow from the run's end or from operands.
 */
export class Moment {
  constructor(document, tables, history, { isEnd, status }) {
    Object.assign(this, { document, tables, history, isEnd, status, program: document.program });
    this.left = !isEnd || !ENDED.has(status) ? null : status === "done" || status === "failed" ? SKIPPED : CANCELLED;
  }

  get time() {
    return this.history.time;
  }

  /**
   * The state of a value.  Unless `isExact`, a ready value may count as waiting, which avoids recursion through a chain
   * of thousands.
   */
  code(value, isExact = true) {
    const found = this.history.values.state[value];
    // The operation that should have resolved the value no longer ran.
    if (found > AVAILABLE && this.document.cancelled.includes(value)) return CANCELLED;
    if (found >= AVAILABLE) return found;
    const { op, function: function_, parent } = this.program.values[value];
    if (parent != null) return this.code(parent, isExact); // an argument of a `tfrt.jit` is the value outside
    const isCalled = this.history.called[function_];
    if (
      isCalled &&
      (op == null
        ? this.program.functions[function_].arguments.includes(value) && !this.document.absent.includes(value)
        : this.tables.isConstant[op])
    )
      return AVAILABLE;
    if (this.left !== null) return op != null && this.tables.isCode[op] ? this.codeOf(op) : this.rest([value]);
    if (found !== WAITING || op == null || !isExact) return found;
    return this.codeOf(op) === READY ? READY : WAITING;
  }

  /** The state of values without an event at the end: the event was not kept, or the values were never made. */
  rest(values) {
    return values.some(each => this.document.counts[each]) ? AVAILABLE : this.left;
  }

  codeOf(op) {
    const found = this.history.operations.state[op];
    if (this.isEnd && this.left === null && found === WAITING && this.document.ready?.includes(op)) return READY;
    const { operands, results, function: function_, parent } = this.program.operations[op];
    const isCalled = this.history.called[function_];
    if (found > AVAILABLE) return Math.max(...results.map(each => this.code(each)), 0) || found;
    if (found === AVAILABLE) return found;
    if (isCalled && this.tables.isConstant[op]) return AVAILABLE;
    if (this.left !== null) return this.tables.isCode[op] ? this.unlogged(op) : this.rest(results);
    // In compiled code, only a queued task is ready; a task that has started waits inside.
    if (found !== WAITING || !isCalled || this.history.operations.count[op] || this.tables.isCode[op]) return found;
    const isEntered = parent == null || this.history.operations.count[parent] > 0;
    return isEntered && operands.every(value => this.code(value, false) === AVAILABLE) ? READY : WAITING;
  }

  /**
   * Operations that compiled code only computes leave no events.  The run says at its end what it knows about them.
   */
  unlogged(op) {
    const { unlogged } = this.document,
      found = STATES.indexOf(unlogged?.[op]);
    return found < 0 ? (unlogged ? this.left : UNRECORDED) : found;
  }

  state(value) {
    return STATES[this.code(value)];
  }
  stateOf(op) {
    return STATES[this.codeOf(op)];
  }

  /** The operands that an operation waits for; for a task that has started, also the values that it awaits. */
  missing(op) {
    if (op == null || this.codeOf(op) !== WAITING) return [];
    const { operations } = this.program,
      all = [...operations[op].operands];
    if (this.history.operations.count[op]) {
      for (const { parent, kernel, operands } of operations)
        if (parent === op && /async.await/.test(kernel)) all.push(...operands);
    }
    return [...new Set(all)].filter(value => this.code(value) < AVAILABLE);
  }

  worker(number) {
    const name = this.document.workers[number];
    return number < 0 || this.document.simple || name === CONTROL ? "" : (name ?? `worker ${number}`);
  }

  /** The text of a value: at the end, of the last value that was made; at an earlier time, of the value in the log. */
  preview(value) {
    const code = this.code(value),
      { kind } = this.program.functions[this.program.values[value].function];
    // The row of a batch says how many of its calls are over.
    if (code === CANCELLED || (code < AVAILABLE && kind !== "batch")) return "";
    const { payload, count } = this.history.values,
      { parent } = this.program.values[value];
    if (parent != null) return this.preview(parent);
    const found = this.document.previews[value];
    if (
      !this.isEnd &&
      count[value] &&
      payload.has(value) &&
      (found === undefined || count[value] !== this.totals?.[value])
    )
      return String(payload.get(value));
    return found ?? (payload.has(value) ? String(payload.get(value)) : "");
  }

  /** A value as text in a line with other text; "" for a value that only orders kernels. */
  line(value) {
    const text = CHAIN.test(this.program.values[value].type) ? "" : shortened(this.preview(value));
    return text.length > LINE ? `${text.slice(0, LINE - 1)}…` : text;
  }

  /** The results of an operation as text, such as `= 3, 1`, or the error that all of them have. */
  lineOf(results) {
    const texts = results.map(value => this.line(value)).filter(Boolean);
    if (!texts.length || results.some(value => this.code(value) !== AVAILABLE)) return texts[0] ?? "";
    return `= ${texts.join(", ")}`;
  }
}

/**
 * Whether a value has a row.  In compiled code, only values that the run records or that the dialect makes have rows.
 */
export function isShown(moment, value) {
  const { name, type, function: function_, op } = moment.program.values[value];
  if (!name) return false;
  if (!moment.tables.isCompiled[function_]) return true;
  return (
    type.startsWith("!async.") ||
    moment.history.values.count[value] > 0 ||
    moment.document.previews[value] !== undefined ||
    (op != null && moment.history.operations.count[op] > 0)
  );
}
