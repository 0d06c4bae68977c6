// What a board shows: a run document, a time, and a selection.  Views read the store and are redrawn when it changes.

import { History, isShown, Moment, tablesOf } from "./history.js";
import { eachFrame } from "./dom.js";
import { STATUSES } from "./theme.js";

const SKEW = 1e8; // at most this many ns pass between the start of a cell and the first event of its run

/** What the reader has chosen on a cell's boards.  The boards of the cell's next runs start with the same choices. */
const memories = new Map();

function memoryOf(cell) {
  if (cell == null) return {};
  if (!memories.has(cell)) memories.set(cell, {});
  return memories.get(cell);
}

export class Store {
  /** `status` returns the run's status as this page knows it, which may be more than the document says. */
  constructor(document, status = () => document.status) {
    this.listeners = new Set();
    this.changed = () => {}; // a board draws the first document when it is made
    /** Functions that are called ten times a second during the run, between its messages. */
    this.tickers = new Set();
    this.memory = memoryOf(document.cell);
    this.selection = null;
    this.time = Infinity;
    this.readStatus = status;
    this.replace(document);
    this.changed = eachFrame(() => {
      for (const each of this.listeners) each(this.now);
    });
  }

  /** Replace the document by another one of the same run: the final one, or one that has what was missing. */
  replace(document) {
    this.document = document;
    if (this.program !== document.program) {
      this.program = document.program;
      this.tables = tablesOf(document.program);
    }
    this.live = new History(document, this.tables);
    this.past = null;
    this.changed();
  }

  get status() {
    const { outcomes, functions } = this.document;
    const status = outcomes ? functions[0]?.status : this.readStatus(); // a replayed schedule has its own status
    return Object.keys(STATUSES).includes(status) ? status : "saved-while-running";
  }

  get isOver() {
    return !["compiling", "running"].includes(this.status);
  }
  /** The time of the last event, or of the stop, because what was running then has no later event. */
  get end() {
    const { elapsed, events } = this.document,
      last = events.time.at(-1) ?? 0;
    return last && ["cancelled", "timed-out"].includes(this.status) ? Math.max(last, elapsed ?? 0) : last;
  }

  /**
   * The current time in the run, in nanoseconds since its first event.
   *
   * A message says how long the cell has taken so far.  The run started later than the cell, by no more than the
   * smallest difference between the cell's time and the newest event in any message.
   */
  get clock() {
    const { end } = this,
      { elapsed = 0 } = this.document,
      now = performance.now() * 1e6;
    if (this.isOver) return end;
    if (elapsed !== this.heard?.elapsed)
      this.heard = { elapsed, at: now, skew: Math.max(0, Math.min(this.heard?.skew ?? SKEW, elapsed - end)) };
    return Math.max(end, elapsed - this.heard.skew + now - this.heard.at);
  }
  get isLive() {
    return this.time >= this.end;
  }

  /** The run at the chosen time. */
  get now() {
    this.live.goTo(Infinity);
    let history = this.live;
    if (!this.isLive) {
      this.past ??= new History(this.document, this.tables);
      this.past.goTo(this.time);
      history = this.past;
    }
    const moment = new Moment(this.document, this.tables, history, { isEnd: this.isLive, status: this.status });
    moment.totals = this.live.values.count;
    moment.store = this;
    return moment;
  }

  goTo(time) {
    this.time = time >= this.end ? Infinity : Math.max(0, time);
    this.changed();
  }

  /** Go to the time of the next or the previous event. */
  step(direction) {
    const { time } = this.document.events;
    const now = Math.min(this.time, this.end);
    const found = direction > 0 ? time.find(each => each > now) : time.findLast(each => each < now);
    this.goTo(found ?? (direction > 0 ? Infinity : 0));
  }

  /** The selected operation, or null. */
  get chosen() {
    return this.selection?.op ?? null;
  }

  /** Whether the document has a program's operations; those of a batch are only its calls. */
  get isProgram() {
    const { operations, functions } = this.program;
    return operations.length > 0 && functions[0]?.kind !== "batch";
  }

  /** The first line of an operation's text. */
  textOf(op) {
    return this.program.operations[op]?.text.split("\n", 1)[0].trim() ?? "";
  }

  select(op, value = null) {
    this.selection = op == null && value == null ? null : { op, value };
    this.changed();
  }

  /**
   * Select the operation on a line of the cell, which may have moved since; return false if nothing new is selected.
   */
  selectLine(line, text) {
    const lines = this.document.source.split("\n"),
      place = lines[line - 1] === text ? line : lines.indexOf(text) + 1,
      found = place && this.program.operations.find(row => row.line === place);
    if (!found || this.chosen === found.id) return false;
    this.select(found.id);
    this.selection.isCursor = true;
    return true;
  }

  /** Adopt states of values from the kernel, as `[value, state, worker]`, for a page whose events begin later. */
  present(frame) {
    this.live.goTo(Infinity);
    this.live.adopt(frame);
    this.changed();
  }

  /** The values of a function that have rows, in program order. */
  valuesOf(moment, { id }) {
    if (this.byFunction?.program !== this.program) {
      this.byFunction = { program: this.program, lists: this.program.functions.map(() => []) };
      const names = this.program.functions.map(() => new Set());
      for (const { id, name, op, function: function_ } of this.program.values) {
        // A region's argument that has the name of the value passed to it is not a value of its own.
        if (!name || !names[function_] || (op == null && names[function_].has(name))) continue;
        names[function_].add(name);
        this.byFunction.lists[function_].push(id);
      }
    }
    const all = this.byFunction.lists[id] ?? [];
    return this.tables.isCompiled[id] ? all.filter(value => isShown(moment, value)) : all;
  }

  selectValue(value) {
    this.select(this.program.values[value].op, value);
  }
}
