// Who ran what, and when: a lane for each worker.  The axis starts with the first event.

import { clipped, createCanvas } from "../canvas.js";
import { count, duration, element, flash, mayMove, SEEN, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";

const LANE = 22,
  BAR = 14,
  AXIS = 22,
  EACH = 6,
  MOST_MOVING = 5000,
  LABELS = 84;

/** What is in the picture, for who asks. */
function legend() {
  const terms = Object.entries({
    worker: "computes; a stand-in does so while a worker waits in a kernel",
    blocking: "runs kernels that may wait",
    cell: "waits for the run, and may work meanwhile",
    "timers, event loop": "resume what sleeps",
    "an address": "is a machine of a cluster",
    "open bar": "ready, and queued",
    "thin line": "asleep: no work",
    "▾": "took work from another thread's queue",
    "drag, Ctrl + wheel": "move, zoom",
  });
  const list = terms.flatMap(([term, words]) => [element("dt", {}, term), element("dd", {}, words)]);
  return element("details.legend.soft", {}, element("summary", {}, "Legend"), element("dl", {}, ...list));
}

/** The spans that the list has: of an operation that ran often the first and the last ones; and how often each ran. */
function listed(spans) {
  const byOperation = new Map();
  for (const span of spans) {
    if (!byOperation.has(span.op)) byOperation.set(span.op, []);
    byOperation.get(span.op).push(span);
  }
  const kept = [];
  for (const all of byOperation.values())
    kept.push(...(all.length <= 2 * EACH ? all : [...all.slice(0, EACH), ...all.slice(-EACH)]));
  return { kept: kept.sort((a, b) => a.begin - b.begin), times: byOperation };
}

export function createTimeline(store) {
  const rows = createRows({
    label: "Timeline",
    height: 24,
    cells: [
      ["text", ""],
      ["where", "soft"],
      ["when", "soft"],
    ],
    draw: drawItem,
    choose: span => store.select(span.op),
  });
  const canvas = createCanvas({
    draw,
    size,
    hit,
    height: 80,
    isFlat: true,
    memory: (store.memory.timeline ??= {}),
    isStable: () => store.isOver,
    left: LABELS,
    describe: (x, y) => about(at(x, y)),
  });
  const note = element("p.note.soft");
  const started = performance.now();
  const node = element(
    "div.timeline",
    {},
    canvas.node,
    legend(),
    note,
    element("div.scroll", { style: "max-height: 200px; overflow: auto" }, rows.node),
  );
  let moment = null,
    lanes = [],
    lane = new Map(),
    times = new Map(),
    kept = [];

  /** All spans of the run so far, also those after the chosen time: the picture has a hand at that time. */
  const spans = () => store.live.spans;
  const endOf = span => (isNaN(span.end) ? Math.max(span.begin, whole()) : span.end);
  /** How far the run has come. */
  const whole = () => Math.max(store.clock, store.live.time);

  function show(next) {
    moment = next;
    const workers = [
      ...new Set([...spans(), ...store.live.sleeps, ...store.live.steals].map(({ worker }) => worker)),
    ].sort((a, b) => a - b);
    lanes = workers.map(worker => ({ worker, label: moment.worker(worker) || "other thread" }));
    lane = new Map(workers.map((worker, place) => [worker, place]));
    ({ kept, times } = listed(spans()));
    setText(note, words());
    note.hidden = !note.textContent;
    rows.show(kept);
    canvas.resize(Math.min(64, Math.max(1, lanes.length)) * LANE + AXIS);
  }

  function words() {
    const repeated = [...times]
      .filter(([op, all]) => Math.max(totalOf(op), all.length) > Math.min(all.length, 2 * EACH))
      .slice(0, 4)
      .map(([op, all]) => `${nameOf(op)} ran ${count(Math.max(totalOf(op), all.length))} times`);
    const often = repeated.length
      ? [`${repeated.join(", ")}: the list has the first and last rounds of those that are kept. `]
      : [];
    const lost = store.document.dropped ? [`${count(store.document.dropped)} events were not kept. `] : [];
    return [...often, ...lost].join("");
  }

  const operationOf = op => store.program.operations[op];
  const nameOf = op => store.program.values[operationOf(op).results[0]]?.name || operationOf(op).kernel;
  const totalOf = op =>
    Math.max(
      0,
      ...operationOf(op).results.map(value => store.document.counts[value] ?? 0),
      store.live.operations.count[op],
    );

  function drawItem(row, span) {
    const end = endOf(span);
    setAttributes(row, {
      "data-op": span.op,
      "data-worker": moment.worker(span.worker),
      "data-begin": Math.round(span.begin),
      "data-end": Math.round(end),
      "data-function": moment.program.functions[operationOf(span.op).function].name,
      "aria-current": store.chosen === span.op || null,
    });
    flash(row, span, span.end <= moment.time);
    setText(row.parts.text, store.textOf(span.op));
    setText(row.parts.where, moment.worker(span.worker));
    setText(row.parts.when, whenOf(span));
  }

  function size() {
    return { width: Math.max(1, whole()) * 1.02, height: lanes.length * LANE + AXIS };
  }

  function at(x, y) {
    const place = Math.floor(y / LANE);
    return (
      spans().findLast(
        span =>
          lane.get(span.worker) === place &&
          x >= span.begin &&
          x <= Math.max(endOf(span), span.begin + size().width / 300),
      ) ?? null
    );
  }

  /** When it ran; and how long it was queued before, or whether the thread that made it ready ran it at once. */
  function whenOf(span) {
    const { begin, queued, isInline } = span;
    const how = queued >= 0 ? `, queued ${duration(begin - queued)}` : isInline ? ", inline" : "";
    return `${duration(begin)} + ${duration(endOf(span) - begin)}${how}`;
  }

  const about = span => (span ? `${store.textOf(span.op)}\n${whenOf(span)}` : "");

  function hit(x, y) {
    store.select(at(x, y)?.op ?? null);
  }

  function draw(pen, { x, scale, width, height, palette }) {
    if (!moment) return false;
    let isMoving = !store.isOver && spans().length < MOST_MOVING; // of more, messages move the picture
    const across = time => LABELS + (time - x) * scale;
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    const drawGround = (place, wide) => {
      pen.fillStyle = place % 2 ? palette.shade : palette.paper;
      pen.fillRect(0, place * LANE, wide, LANE);
    };
    lanes.forEach((_, place) => drawGround(place, width));
    drawThreads(pen, across, width, palette);
    const last = new Map(); // bars narrower than a pixel at the same place are one
    for (const span of spans()) {
      const left = across(span.begin),
        right = across(endOf(span));
      if (right < LABELS || left > width) continue;
      const place = lane.get(span.worker),
        isChosen = store.chosen === span.op;
      if (right - left < 1 && !isChosen && last.get(place) === Math.round(left)) continue;
      last.set(place, Math.round(left));
      const isLater = span.begin > moment.time;
      pen.globalAlpha = isLater ? 0.25 : 0.85;
      pen.fillStyle = isChosen
        ? palette.accent
        : isNaN(span.end) && !store.isOver
          ? palette.running
          : palette[moment.stateOf(span.op)];
      pen.fillRect(left, place * LANE + (LANE - BAR) / 2, Math.max(1.5, right - left), BAR);
      const fresh = mayMove() ? 1 - age(span) : 0;
      if (fresh > 0) {
        isMoving = true;
        pen.globalAlpha = fresh;
        pen.strokeStyle = palette.accent;
        pen.lineWidth = 3;
        pen.strokeRect(left - 1, place * LANE + 1, Math.max(1.5, right - left) + 2, LANE - 2);
        pen.lineWidth = 1;
      }
      if (right - left > 40) {
        pen.globalAlpha = 1;
        pen.fillStyle = isLater ? palette.ink : palette.paper;
        clipped(pen, left, place * LANE, right - left - 2, LANE, () =>
          pen.fillText(operationOf(span.op).kernel, Math.max(left, LABELS) + 4, place * LANE + LANE / 2),
        );
      }
    }
    pen.globalAlpha = 1;
    lanes.forEach(({ label }, place) => {
      drawGround(place, LABELS - 4);
      pen.fillStyle = palette.soft;
      pen.fillText(label.length > 14 ? `…${label.slice(-13)}` : label, 8, place * LANE + LANE / 2);
    });
    drawAxis(pen, { x, scale, width, height, palette }, across);
    if (!moment.isEnd) {
      pen.fillStyle = palette.accent;
      pen.fillRect(across(moment.time) - 1, 0, 2, height);
    }
    return isMoving && mayMove();
  }

  const drawnAs = new WeakMap();

  /** How much of the time is over for which a bar that has begun or ended is seen: 1 for all of it. */
  function age(span) {
    const look = span.begin > moment.time ? 0 : span.end <= moment.time ? 2 : 1,
      last = drawnAs.get(span),
      now = performance.now();
    // In a live run, a bar that is new has just begun.
    const isNew = last ? last.look !== look : !store.isOver && now - started > SEEN;
    if (!last || isNew) drawnAs.set(span, { look, at: isNew ? now : -Infinity });
    return Math.min(1, (now - drawnAs.get(span).at) / SEEN);
  }

  /** Sleeps as lines, steals as marks, and what waits in the queue, behind the bars of what ran meanwhile. */
  function drawThreads(pen, across, width, palette) {
    const last = new Map();
    pen.fillStyle = palette.soft;
    pen.globalAlpha = 0.4;
    for (const sleep of store.live.sleeps) {
      const left = across(sleep.begin),
        right = across(endOf(sleep));
      if (right >= LABELS && left <= width)
        pen.fillRect(left, lane.get(sleep.worker) * LANE + LANE / 2 - 1, Math.max(1, right - left), 2);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.ready;
    for (const span of spans()) {
      const left = across(span.queued),
        wide = across(span.begin) - left; // not a number where it was not queued
      if (wide > 1 && left < width && left + wide > LABELS)
        pen.strokeRect(left, lane.get(span.worker) * LANE + LANE / 2 - 3, wide, 6);
    }
    pen.fillStyle = palette.accent;
    for (const { worker, time } of store.live.steals) {
      const left = Math.round(across(time));
      if (left < LABELS || left > width || last.get(worker) === left) continue; // those at one place are one
      last.set(worker, left);
      pen.fillText("▾", left - 4, lane.get(worker) * LANE + 5);
    }
  }

  function drawAxis(pen, { x, scale, width, height, palette }, across) {
    const rough = 90 / scale,
      power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough);
    pen.fillStyle = palette.soft;
    for (let time = Math.max(0, Math.ceil(x / step) * step); across(time) < width - 45; time += step) {
      pen.fillRect(across(time), height - AXIS, 1, 4);
      pen.fillText(duration(time), across(time) + 3, height - AXIS / 2 + 2);
    }
  }

  /** The first span of the selected operation comes into view. */
  const reveal = () => rows.reveal(kept.findIndex(({ op }) => op === store.chosen));

  return {
    title: "Timeline",
    node,
    tools: canvas.tools,
    show,
    reveal,
    isEmpty: () => !store.live.spans.length || !store.isProgram,
    dispose: canvas.dispose,
  };
}
