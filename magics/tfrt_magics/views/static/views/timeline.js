// Who ran what, and when: a lane for each thread, and for what overlaps on it; for compiled code, a lane for each task.
//
// The axis starts with the first event.  Colors identify kernels; their list is the legend, and shows the totals of the
// run or of the area that the reader selects.

import { clipped, createCanvas } from "../canvas.js";
import { button, count, duration, element, flash, mayMove, SEEN, setAttributes, setText } from "../dom.js";
import { grouped, lanesOf, taskEnd } from "../lanes.js";
import { createRows } from "../rows.js";
import { ERROR, KERNEL_COLORS } from "../theme.js";

const LANE = 22,
  BAR = 14,
  AXIS = 22,
  EACH = 6,
  MOST_MOVING = 5000,
  MOST_KINDS = 10,
  MOST_ARROWS = 40, // more would hide the bars
  LABELS = 118;

/** An explanation of the picture, which a click unfolds. */
function legend() {
  const terms = Object.entries({
    worker: "computes; a stand-in does so while a worker waits in a kernel",
    blocking: "runs kernels that may wait",
    cell: "waits for the run, and may work meanwhile",
    "timers, event loop": "resume what sleeps",
    "an address": "is a machine of a cluster, and its worker",
    "a name and a line": "is a task of compiled code: a bar where it runs, a line where it is suspended",
    "lanes below each other": "overlap in time",
    "+ n more": "the others: a click, or the button below the lanes, unfolds them",
    "pale bar": "on its way to a cluster or back, or queued there; a red mark: its worker was lost",
    arrow: "leads to a kernel from what made it ready",
    "open bar": "ready, and queued",
    "thin line": "asleep: no work",
    "▾": "took work from another thread's queue",
    "drag, Ctrl + wheel": "move, zoom",
    "Shift + drag": "select an area, for its totals",
  });
  const list = terms.flatMap(([term, words]) => [element("dt", {}, term), element("dd", {}, words)]);
  return element("details.legend.soft", {}, element("summary", {}, "Legend"), element("dl", {}, ...list));
}

/**
 * The spans in the list, which has only the first and the last ones of an operation that ran often; and all spans by
 * operation.
 */
function listed(spans) {
  const byOperation = grouped(spans, span => span.op),
    kept = [];
  for (const all of byOperation.values())
    kept.push(...(all.length <= 2 * EACH ? all : [...all.slice(0, EACH), ...all.slice(-EACH)]));
  return { kept: kept.sort((a, b) => a.begin - b.begin), times: byOperation };
}

function createTimeline(store) {
  const rows = createRows({
    label: "Timeline",
    height: 24,
    cells: [
      ["text", ""],
      ["where", "soft"],
      ["when", "soft"],
    ],
    draw: drawItem,
    choose: span => store.select(span.op < 0 ? null : span.op),
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
    onArea: select,
  });
  const kinds = element("div.kinds.soft", { role: "group", "aria-label": "Kernels" });
  const heading = element("span"),
    clear = button("Clear", () => select(null), { "aria-label": "Clear the selected area" });
  const totals = element("div.bar.soft.area", { role: "status", hidden: true }, heading, clear);
  const note = element("p.note.soft");
  const folds = element("div.bar.soft.folds", { role: "group", "aria-label": "Folded lanes" }),
    foldOf = new Map(); // the buttons, by lane key
  const started = performance.now();
  const node = element(
    "div.timeline",
    {},
    canvas.node,
    folds,
    totals,
    kinds,
    legend(),
    note,
    element("div.scroll", { style: "max-height: 200px; overflow: auto" }, rows.node),
  );
  const unfolded = new Set();
  let moment = null,
    lanes = [],
    first = new Map(), // the topmost lane of each worker
    places = new Map(), // the lane of each bar of a thread
    colorOf = new Map(),
    momentsOf = new Map(), // the moments of each wait for a cluster
    colors = new Map(), // the name of the color of each operation
    arranged = {},
    area = null,
    times = new Map(),
    kept = [];

  /** All spans of the run so far, including those after the chosen time, which a line in the picture marks. */
  const spans = () => store.live.spans;
  const endOf = span => (isNaN(span.end) ? Math.max(span.begin, whole()) : span.end);
  /** How far the run has come. */
  const whole = () => Math.max(store.clock, store.live.time);

  function show(next) {
    moment = next;
    const { live } = store,
      { remote } = store.document,
      found = { live, next: live.next, remote, unfolded: unfolded.size };
    // A change of the chosen time alone moves no lane.
    if (Object.keys(found).some(key => arranged[key] !== found[key])) {
      arranged = found;
      arrange();
    }
    setText(note, words());
    note.hidden = !note.textContent;
    rows.show(kept);
    canvas.resize(Math.max(1, lanes.length) * LANE + AXIS);
  }

  function arrange() {
    const { live } = store;
    lanes = lanesOf(live, store, { labelOf, taskLabel, unfolded });
    [first, places] = [new Map(), new Map()];
    lanes.forEach((lane, place) => {
      if (lane.isTask) return;
      for (const worker of lane.workers ?? [lane.worker]) if (!first.has(worker)) first.set(worker, place);
      for (const bar of lane.bars) places.set(bar, place);
    });
    findMoments();
    tellFolds();
    ({ kept, times } = listed([...live.frames, ...spans()]));
    tell();
  }

  function unfold(key) {
    if (!unfolded.delete(key)) unfolded.add(key);
    arranged = {};
    store.changed();
  }

  /**
   * Show a button for each lane into which others are or were folded, because lanes of a canvas cannot get the focus.
   */
  function tellFolds() {
    const rests = new Map(lanes.filter(lane => lane.isRest).map(lane => [lane.key, lane.label])),
      keys = [...new Set([...rests.keys(), ...unfolded])].slice(0, MOST_KINDS);
    const buttons = keys.map(key => {
      if (!foldOf.has(key))
        foldOf.set(
          key,
          button("", () => unfold(key)),
        );
      const made = foldOf.get(key),
        isOpen = unfolded.has(key),
        name = lanes.find(lane => lane.key === key && !lane.isRest)?.label ?? "";
      const shown = isOpen ? `fold ${name || key}` : `${name} ${rests.get(key)}`.trim();
      setText(made, shown);
      setAttributes(made, { "aria-expanded": isOpen });
      return made;
    });
    // Do not replace a button that stays, so that it keeps the focus.
    if (buttons.some((made, at) => folds.children[at] !== made) || folds.children.length > buttons.length)
      folds.replaceChildren(...buttons);
    folds.hidden = !buttons.length;
  }

  /** Assign the moments of calls on a cluster to the spans that wait for the calls, in the order of the calls. */
  function findMoments() {
    momentsOf = new Map();
    const { remote } = store.document;
    setAttributes(node, { "data-remote": remote?.length ? "" : null });
    if (!remote?.length) return;
    const late = spans().filter(span => span.isLate),
      waits = grouped(late, span => span.op);
    for (const [op, all] of grouped(remote, ([op]) => op))
      all.forEach(([, moments], at) => {
        const span = waits.get(op)?.[at];
        if (span) momentsOf.set(span, moments);
      });
  }

  /** The moments so far of the call that a span waits for. */
  function momentsTo(span) {
    const moments = momentsOf.get(span) ?? [];
    return moments.length && isNaN(span.end) ? [...moments, [whole(), "", ""]] : moments;
  }

  /**
   * Describe the call that a span waits for: `queued there 3 ms, ran there 300 ms, came back in 2 ms`, and lost
   * workers.
   */
  function journey(span) {
    const moments = momentsTo(span);
    const parts = moments.slice(0, -1).map(([time, what], at) => {
      const took = duration(moments[at + 1][0] - time);
      return {
        sent: `sent in ${took}`,
        queued: `queued there ${took}`,
        running: `ran there ${took}`,
        back: `came back in ${took}`,
        lost: "its worker was lost, tried again",
      }[what];
    });
    return parts
      .filter(Boolean)
      .map(part => `, ${part}`)
      .join("");
  }

  const labelOf = worker => (worker < 0 ? "waiting" : moment.worker(worker) || "other thread");
  const operationOf = op => store.program.operations[op];
  const taskLabel = op => `${labelOfOperation(op)}, line ${operationOf(op).line}`;
  const isTask = op => store.tables.isCode[op];

  /**
   * The label of an operation: the name of its first result, or its kernel; and the function that it calls in compiled
   * code.
   */
  function labelOfOperation(op) {
    const { results, kernel } = operationOf(op),
      name = store.program.values[results[0]]?.name || kernel,
      called = isTask(op) && /call @([\w.$-]+)/.exec(store.textOf(op));
    return called ? `${name} @${called[1]}` : name;
  }

  const textOf = span => (span.op < 0 ? `@${store.program.functions[span.function].name}` : store.textOf(span.op));
  const nameOf = span => (span.op < 0 ? textOf(span) : labelOfOperation(span.op));
  /** What has a color of its own: a kernel, a task, or a function. */
  const kindOf = span =>
    span.op < 0 ? textOf(span) : isTask(span.op) ? taskLabel(span.op) : operationOf(span.op).kernel;

  /** The name of a span's color in a palette. */
  function colorName(span) {
    const key = span.op < 0 ? -1 - span.function : span.op;
    if (!colors.has(key)) colors.set(key, `kernel${colorOf.get(kindOf(span)) ?? 0}`);
    return colors.get(key);
  }

  const totalOf = op =>
    op < 0
      ? 0
      : Math.max(
          0,
          ...operationOf(op).results.map(value => store.document.counts[value] ?? 0),
          store.live.operations.count[op],
        );

  function words() {
    const repeated = [...times]
      .filter(([op, all]) => Math.max(totalOf(op), all.length) > Math.min(all.length, 2 * EACH))
      .slice(0, 4)
      .map(([op, all]) => `${nameOf({ op })} ran ${count(Math.max(totalOf(op), all.length))} times`);
    const often = repeated.length
      ? [`${repeated.join(", ")}: the list has the first and last rounds of those that are kept. `]
      : [];
    const { dropped, events } = store.document,
      all = count(dropped + events.time.length);
    const lost = dropped
      ? [`${count(dropped)} events were not kept: this shows the first and the newest of ${all}. `]
      : [];
    return [...often, ...lost].join("");
  }

  /** Select an area of the picture, or nothing. */
  function select(next) {
    if (next) {
      const [top, bottom] = [next.top, next.bottom].map(y => Math.floor(y / LANE));
      area = { begin: next.left, end: next.right, top: Math.max(0, top), bottom: Math.min(lanes.length - 1, bottom) };
    } else area = null;
    tell();
    canvas.redraw();
  }

  /** Fill in the legend of kernels: how often and for how long each ran, in the whole run or in the selected area. */
  function tell() {
    const found = new Map();
    const chosen = area ? lanes.slice(area.top, area.bottom + 1) : lanes;
    for (const lane of chosen) {
      if (lane.isTask) continue; // its parts are also in the lanes of threads
      for (const bar of lane.bars) {
        const end = endOf(bar);
        if (area && (bar.begin > area.end || end < area.begin)) continue;
        const kind = kindOf(bar),
          one = found.get(kind) ?? { kind, op: bar.op, count: 0, ran: 0, waited: 0 },
          time = area ? Math.min(end, area.end) - Math.max(bar.begin, area.begin) : end - bar.begin;
        one[bar.isLate ? "waited" : "ran"] += time;
        one.count += area ? 1 : !bar.isLate && !bar.before;
        found.set(kind, one);
      }
    }
    // Colors follow the program, so that they stay the same while the run grows.
    const order = [...found.values()].sort((a, b) => a.op - b.op);
    if (!area) [colorOf, colors] = [new Map(order.map(({ kind }, at) => [kind, at % KERNEL_COLORS])), new Map()];
    const rows = order.sort((a, b) => b.ran + b.waited - a.ran - a.waited);
    kinds.replaceChildren(
      ...rows.slice(0, MOST_KINDS).map(kindNode),
      ...(rows.length > MOST_KINDS ? [element("span", {}, `and ${count(rows.length - MOST_KINDS)} more`)] : []),
    );
    totals.hidden = !area;
    if (!area) return;
    const bars = rows.reduce((sum, each) => sum + each.count, 0),
      busy = rows.reduce((sum, each) => sum + each.ran, 0),
      waited = rows.reduce((sum, each) => sum + each.waited, 0);
    const parts = [
      `${duration(Math.max(0, area.begin))} to ${duration(area.end)}`,
      `${count(bars)} bar${bars === 1 ? "" : "s"}`,
      `ran ${duration(busy)}`,
      ...(waited ? [`waited ${duration(waited)}`] : []),
    ];
    setText(heading, `Selected: ${parts.join(", ")}`);
  }

  function kindNode({ kind, count: times, ran, waited }) {
    const parts = [
      `${count(times)}×`,
      ...(ran || !waited ? [duration(ran)] : []),
      ...(waited ? [`waits ${duration(waited)}`] : []),
    ];
    const swatch = element("i", { "aria-hidden": true });
    swatch.style.background = `var(--kernel${colorOf.get(kind) ?? 0})`;
    return element("span", { "data-kind": kind }, swatch, element("b", {}, kind), ` ${parts.join(", ")}`);
  }

  function drawItem(row, span) {
    const end = endOf(span),
      function_ = span.op < 0 ? span.function : operationOf(span.op).function;
    setAttributes(row, {
      "data-op": span.op < 0 ? null : span.op,
      "data-worker": moment.worker(span.worker),
      "data-begin": Math.round(span.begin),
      "data-end": Math.round(end),
      "data-function": moment.program.functions[function_].name,
      "aria-current": (span.op >= 0 && store.chosen === span.op) || null,
    });
    flash(row, span, span.end <= moment.time);
    setText(row.parts.text, textOf(span));
    setText(row.parts.where, moment.worker(span.worker));
    setText(row.parts.when, whenOf(span));
    row.title = row.parts.when.textContent;
  }

  function size() {
    return { width: Math.max(1, whole()) * 1.02, height: lanes.length * LANE + AXIS };
  }

  function at(x, y) {
    const lane = lanes[Math.floor(y / LANE)],
      slack = size().width / 300;
    const isHere = bar => x >= bar.begin && x <= Math.max(lane.isTask ? wholeEnd(bar) : endOf(bar), bar.begin + slack);
    const found = lane?.bars.findLast(isHere) ?? null;
    if (!found || !lane.isTask) return { lane, span: found };
    return { lane, task: found, span: found.parts.findLast(part => part.begin <= x) ?? found.parts[0] };
  }

  const wholeEnd = task => {
    const end = taskEnd(task);
    return isNaN(end) ? whole() : end;
  };

  /** When a span ran; and how long it was queued before, or whether the thread that made it ready ran it at once. */
  function whenOf(span) {
    const { begin, queued, isInline, before } = span;
    const how = before
      ? `, resumed after ${duration(begin - before.end)}`
      : queued >= 0
        ? `, queued ${duration(begin - queued)}`
        : isInline
          ? ", inline"
          : "";
    const then =
      span.awaits === undefined ? "" : `, then waits for ${store.program.values[span.awaits]?.name ?? "an object"}`;
    return `${duration(begin)} + ${duration(endOf(span) - begin)}${how}${then}${journey(span)}`;
  }

  function about({ lane, span, task }) {
    if (!span) return lane?.isRest ? "Click to unfold" : "";
    const parts = task ? task.parts.map(part => `${moment.worker(part.worker)}: ${whenOf(part)}`) : [whenOf(span)];
    return [textOf(span), ...parts.slice(0, 12)].join("\n");
  }

  function hit(x, y) {
    const { lane, span } = at(x, y);
    const isLabel = x < canvas.start();
    const isFold = lane?.isRest ? isLabel || !span : isLabel && unfolded.has(lane?.key);
    if (isFold) return unfold(lane.key);
    store.select(span?.op >= 0 ? span.op : null);
  }

  function draw(pen, view) {
    if (!moment) return false;
    const { x, scale, width, height, palette } = view;
    const across = time => LABELS + (time - x) * scale;
    const seen = { from: x, to: x + (width - LABELS) / scale };
    let isMoving = !store.isOver && spans().length < MOST_MOVING; // with more spans, only messages move the picture
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    let shade = 0;
    lanes.forEach((lane, place) => {
      shade += place > 0 && (lane.isFirst || lane.key === "threads");
      lane.shade = shade % 2;
      drawGround(pen, palette, lane, place, 0, width);
    });
    drawThreads(pen, across, width, palette);
    drawArrows(pen, across, seen, palette, true);
    lanes.forEach((lane, place) => {
      if (lane.isTask) drawTasks(pen, lane, place, across, seen, palette);
      else isMoving = drawBars(pen, lane, place, across, seen, palette) || isMoving;
    });
    pen.globalAlpha = 1;
    drawArrows(pen, across, seen, palette, false);
    if (area) {
      pen.fillStyle = pen.strokeStyle = palette.accent;
      const box = [
        across(area.begin),
        area.top * LANE,
        (area.end - area.begin) * scale,
        (area.bottom - area.top + 1) * LANE,
      ];
      pen.globalAlpha = 0.15;
      pen.fillRect(...box);
      pen.globalAlpha = 1;
      pen.strokeRect(...box);
    }
    lanes.forEach((lane, place) => {
      // Labels are drawn last, because they cover bars that extend to the left of the view.
      drawGround(pen, palette, lane, place, 0, LABELS - 4);
      pen.fillStyle = lane.isRest ? palette.accent : palette.soft;
      // The names of threads, such as addresses of machines, differ at their ends.
      const { label } = lane;
      clipped(pen, 0, place * LANE, LABELS - 6, LANE, () =>
        pen.fillText(
          lane.worker !== undefined && label.length > 18 ? `…${label.slice(-17)}` : label,
          8,
          place * LANE + LANE / 2,
        ),
      );
    });
    drawAxis(pen, view, across);
    if (!moment.isEnd) {
      pen.fillStyle = palette.accent;
      pen.fillRect(across(moment.time) - 1, 0, 2, height);
    }
    return isMoving && mayMove();
  }

  function drawGround(pen, palette, { shade }, place, left, wide) {
    pen.fillStyle = shade ? palette.shade : palette.paper;
    pen.fillRect(left, place * LANE, wide, LANE);
  }

  /** The bars of a lane that are in view.  Bars of one lane do not overlap, so a binary search finds the first one. */
  function* inView({ bars, isRest, isTask }, { from, to }) {
    let low = 0,
      high = isRest || isTask ? 0 : bars.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (endOf(bars[middle]) < from) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < bars.length && bars[at].begin <= to; at++)
      if (at < low + 1 || isTask || endOf(bars[at]) >= from) yield bars[at];
  }

  function colorOfSpan(span, palette) {
    if (isNaN(span.end) && !store.isOver) return palette.running;
    // Of several calls, only those that failed are red.  The objects of compiled code do not say which call made them.
    const failed = isTask(span.op) ? moment.codeOf(span.op) === ERROR : span.isError && span.end <= moment.time;
    return failed ? palette.error : palette[colorName(span)];
  }

  function drawBars(pen, lane, place, across, seen, palette) {
    let isMoving = false,
      last = NaN; // bars narrower than a pixel at the same place are drawn once
    for (const span of inView(lane, seen)) {
      const left = across(span.begin),
        right = across(endOf(span)),
        isChosen = span.op >= 0 && store.chosen === span.op;
      if (right - left < 1 && !isChosen && last === Math.round(left)) continue;
      last = Math.round(left);
      const isLater = span.begin > moment.time;
      pen.globalAlpha = isLater ? 0.25 : lane.isRest ? 0.4 : 1;
      pen.fillStyle = isChosen ? palette.accent : colorOfSpan(span, palette);
      pen.fillRect(left, place * LANE + (LANE - BAR) / 2, Math.max(1.5, right - left), BAR);
      drawMoments(pen, span, across, place, palette);
      const fresh = mayMove() ? 1 - age(span) : 0;
      if (fresh > 0) {
        isMoving = true;
        pen.globalAlpha = fresh;
        pen.strokeStyle = palette.accent;
        pen.lineWidth = 3;
        pen.strokeRect(left - 1, place * LANE + 1, Math.max(1.5, right - left) + 2, LANE - 2);
        pen.lineWidth = 1;
      }
      if (!lane.isRest) drawName(pen, nameOf(span), isLater || momentsOf.has(span), left, right, place, palette);
    }
    return isMoving;
  }

  /** Draw over a wait for a cluster: pale where the call travels or is queued, and a mark where a worker was lost. */
  function drawMoments(pen, span, across, place, palette) {
    const moments = momentsTo(span);
    for (let at = 0; at + 1 < moments.length; at++) {
      const [time, what] = moments[at],
        [left, right] = [across(time), across(moments[at + 1][0])];
      pen.globalAlpha = what === "running" ? 0 : what === "queued" ? 0.45 : 0.7;
      pen.fillStyle = palette.paper;
      pen.fillRect(left, place * LANE + (LANE - BAR) / 2, right - left, BAR);
      pen.globalAlpha = 1;
      if (what !== "lost") continue;
      pen.fillStyle = palette.error;
      pen.fillRect(left - 1.5, place * LANE + 1, 3, LANE - 2);
    }
  }

  function drawName(pen, text, isLater, left, right, place, palette) {
    const from = Math.max(left, LABELS);
    if (right - from < 16) return;
    pen.globalAlpha = 1;
    pen.fillStyle = isLater ? palette.ink : palette.paper;
    clipped(pen, from, place * LANE, right - from - 2, LANE, () =>
      pen.fillText(text, from + 4, place * LANE + LANE / 2),
    );
  }

  /** Draw a line from a task's begin to its end, and a bar with its worker's name for each part that runs. */
  function drawTasks(pen, lane, place, across, seen, palette) {
    const middle = place * LANE + LANE / 2;
    for (const task of inView(lane, seen)) {
      const right = across(wholeEnd(task)),
        left = across(task.begin);
      if (right < LABELS) continue;
      pen.globalAlpha = task.begin > moment.time ? 0.25 : 1;
      pen.strokeStyle = palette[colorName(task.parts[0])];
      pen.setLineDash([3, 3]);
      pen.beginPath();
      pen.moveTo(left, middle);
      pen.lineTo(Math.max(right, left + 2), middle);
      pen.stroke();
      pen.setLineDash([]);
      for (const part of task.parts) {
        const [from, to] = [across(part.begin), across(endOf(part))];
        if (to < LABELS || from > across(seen.to)) continue;
        const isLater = part.begin > moment.time;
        pen.globalAlpha = isLater ? 0.25 : lane.isRest ? 0.4 : 1;
        pen.fillStyle = part.op >= 0 && store.chosen === part.op ? palette.accent : colorOfSpan(part, palette);
        pen.fillRect(from, middle - BAR / 2, Math.max(1.5, to - from), BAR);
        if (!lane.isRest) drawName(pen, moment.worker(part.worker), isLater, from, to, place, palette);
      }
    }
  }

  /**
   * Draw arrows from what made kernels ready to where they start: for the selected operation or, if there are few, all.
   * With `isWithin`, draw those within a lane, which are under its bars and their names; otherwise, draw the others.
   */
  function drawArrows(pen, across, seen, palette, isWithin) {
    const found = [];
    // Without a selection, consider all spans in view, and draw no arrow if there are many.  Otherwise, consider the
    // spans of the selected operation.
    const of = lane => (store.chosen === null ? inView(lane, seen) : lane.bars.filter(({ op }) => op === store.chosen));
    for (const lane of lanes) {
      if (lane.isTask || lane.isRest) continue;
      for (const span of of(lane)) {
        if (span.cause && span.begin <= moment.time) found.push(span);
        if (found.length > MOST_ARROWS) return;
      }
    }
    const isChosen = store.chosen !== null;
    for (const span of found) {
      const { time, worker, span: source } = span.cause,
        from = places.get(source) ?? first.get(worker),
        to = places.get(span);
      if (from === undefined || to === undefined || (from === to) !== isWithin) continue;
      const [x1, x2] = [across(Math.min(time, span.begin)), across(span.begin)];
      if (x2 < LABELS || (from === to && x2 - x1 < 4)) continue;
      const [y1, y2] = [from, to].map(place => place * LANE + LANE / 2),
        tip = y2 - Math.sign(y2 - y1) * (BAR / 2);
      pen.strokeStyle = pen.fillStyle = isChosen ? palette.accent : palette.ink;
      pen.globalAlpha = isChosen ? 1 : 0.55;
      pen.lineWidth = isChosen ? 2 : 1;
      pen.beginPath();
      pen.moveTo(Math.max(x1, LABELS), y1);
      const bend = (tip - y1) / 2;
      if (from === to) pen.lineTo(x2, y2);
      else pen.bezierCurveTo(Math.max(x1, LABELS), y1 + bend, x2, tip - bend, x2, tip);
      pen.stroke();
      pen.beginPath();
      // The first lineTo of a path acts as a moveTo.
      const down = from === to ? 0 : Math.sign(y2 - y1);
      if (down)
        for (const [dx, dy] of [
          [0, 0],
          [-3, -5 * down],
          [3, -5 * down],
        ])
          pen.lineTo(x2 + dx, tip + dy);
      else
        for (const [dx, dy] of [
          [0, 0],
          [-5, -3],
          [-5, 3],
        ])
          pen.lineTo(x2 + dx, y2 + dy);
      pen.fill();
      pen.lineWidth = 1;
    }
    pen.globalAlpha = 1;
  }

  const drawnAs = new WeakMap();

  /** How much of the time for which the begin or end of a bar stays visible has passed: 1 for all of it. */
  function age(span) {
    const look = span.begin > moment.time ? 0 : span.end <= moment.time ? 2 : 1,
      last = drawnAs.get(span),
      now = performance.now();
    // In a live run, a new bar has just begun.
    const isNew = last ? last.look !== look : !store.isOver && now - started > SEEN;
    if (!last || isNew) drawnAs.set(span, { look, at: isNew ? now : -Infinity });
    return Math.min(1, (now - drawnAs.get(span).at) / SEEN);
  }

  /** Draw sleeps as lines, steals as marks, and queued kernels as open bars, all under the bars of running kernels. */
  function drawThreads(pen, across, width, palette) {
    const last = new Map();
    pen.fillStyle = palette.soft;
    pen.globalAlpha = 0.4;
    for (const sleep of store.live.sleeps) {
      const left = across(sleep.begin),
        right = across(endOf(sleep));
      if (right >= LABELS && left <= width)
        pen.fillRect(left, first.get(sleep.worker) * LANE + LANE / 2 - 1, Math.max(1, right - left), 2);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.ready;
    for (const span of spans()) {
      const left = across(span.queued),
        wide = across(span.begin) - left; // NaN if the span was not queued
      if (wide > 1 && left < width && left + wide > LABELS)
        pen.strokeRect(left, places.get(span) * LANE + LANE / 2 - 3, wide, 6);
    }
    pen.fillStyle = palette.accent;
    for (const { worker, time } of store.live.steals) {
      const left = Math.round(across(time));
      if (left < LABELS || left > width || last.get(worker) === left) continue; // drawn once per place
      last.set(worker, left);
      pen.fillText("▾", left - 4, first.get(worker) * LANE + 5);
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

  /** Bring the first span of the selected operation into view. */
  const reveal = () => rows.reveal(kept.findIndex(({ op }) => op === store.chosen));

  return { node, tools: canvas.tools, show, reveal, dispose: canvas.dispose };
}

export const timelineView = {
  title: "Timeline",
  create: createTimeline,
  isEmpty: store => store.document.simple || !(store.live.spans.length || store.live.frames.length) || !store.isProgram,
};
