// The dataflow: operations as nodes, values as edges.  The canvas is for the eye, the tree for keyboards and screen
// readers.

import { clipped, createCanvas, READABLE } from "../canvas.js";
import { element, flash, mayMove, SEEN, setAttributes, setText } from "../dom.js";
import { extent, foldedLayout, functionKey, groupKey, routed, wallsOf } from "../folding.js";
import { edgesOf } from "../history.js";
import { createRows } from "../rows.js";
import { AVAILABLE, CANCELLED, ERROR, READY, RUNNING, SHAPES, SKIPPED, STATES, WAITING } from "../theme.js";

const ON_EDGE = 14; // the maximum length of a value on an edge in characters
const FONT = "ui-monospace, monospace",
  [LETTER, SMALLEST_LETTER] = [11, 9], // pixels; in a smaller picture, names are shortened instead
  BUTTON = 22,
  [NEAR, FAR] = [0.4, 0.15];
const LEAVING = 200; // at most this many edges leave the view below; more are a blot, and thousands take seconds

const FLOW = 0.08; // the part of a replay during which a value is shown on its way
const MOST_FLOWING = 60;

/** The state of a group: states that deserve attention come before usual ones. */
function stateOfGroup(codes) {
  for (const code of [ERROR, RUNNING, READY]) if (codes.includes(code)) return code;
  if (codes.every(code => code === AVAILABLE)) return AVAILABLE;
  return [CANCELLED, SKIPPED].find(code => codes.includes(code) && !codes.includes(WAITING)) ?? WAITING;
}

/** The longest chain of waiting: from the operation that ended last, back through the operands that came last. */
function criticalPath(moment) {
  const { operations, values } = moment.program,
    { end } = moment.history.values;
  const endOf = op => Math.max(...operations[op].results.map(value => end[value] || 0), 0);
  let here = operations.reduce((last, { id }) => (last == null || endOf(id) > endOf(last) ? id : last), null);
  const path = new Set();
  while (here != null && endOf(here) > 0 && !path.has(here)) {
    path.add(here);
    const before = operations[here].operands.map(value => values[value].op).filter(op => op != null && op !== here);
    here = before.reduce((last, op) => (last == null || endOf(op) > endOf(last) ? op : last), null);
  }
  return path;
}

function createGraph(store) {
  const rows = createRows({
    role: "tree",
    label: "Graph",
    itemRole: "treeitem",
    height: 24,
    cells: [
      ["twist", "twist"],
      ["shape", "shape"],
      ["text", ""],
    ],
    draw: drawItem,
    choose: (item, row, event) => {
      if (event?.target === row.parts.twist || item.key !== undefined) toggle(keyOf(item));
      else store.select(item.id);
    },
    press,
  });
  const canvas = createCanvas({
    draw,
    drawMap,
    size,
    hit,
    height: 360,
    memory: (store.memory.graph ??= {}),
    describe: (x, y) => {
      const { op, group } = at(x, y);
      if (group) return `${nameOfGroup(group)}, ${progressOf(group)}\nClick to ${group.isFolded ? "unfold" : "fold"}`;
      return op == null
        ? ""
        : [store.textOf(op), moment.lineOf(store.program.operations[op].results)].filter(Boolean).join("\n");
    },
  });
  const side = element("div.scroll", {}, rows.node);
  const looks = element("span.looks");
  const legend = element(
    "p.legend.soft",
    {},
    looks,
    "Thick border: the chain of values that took longest. Dashed: order alone. Drag to move, Ctrl + wheel to zoom.",
  );
  const node = element("div.split.graph", {}, element("div", {}, canvas.node, legend), side);
  const seen = new Map(); // for each operation, the state that was drawn, and when it changed
  const folded = new Set();
  let moment = null,
    path = new Set(),
    places = null,
    placed,
    known, // the layout whose groups were folded
    edges = [],
    walls = [],
    items = [],
    depths = [],
    isMoving = false,
    chosen;

  const isBox = op => !!store.program.operations[op]?.regions?.length;
  const isOpen = op => isBox(op) && !folded.has(op);
  /**
   * The key of an item that can be folded.  An item is an operation, or `{ key, name }` for a folded function or a
   * group.
   */
  const keyOf = item => item.key ?? (isBox(item.id) ? item.id : null);

  function show(next) {
    moment = next;
    path = store.isOver && moment.isEnd ? criticalPath(moment) : new Set();
    arrange();
    for (const group of places.groups) {
      const codes = group.ops.map(op => moment.codeOf(op));
      Object.assign(group, {
        state: STATES[stateOfGroup(codes)],
        done: codes.filter(code => code >= AVAILABLE).length,
      });
    }
    rows.show(items);
    say();
    const { width, height } = size(),
      scale = Math.min(1.05, (canvas.node.clientWidth || width) / width);
    canvas.resize(Math.max(110, Math.min(380, Math.round(height * Math.max(scale, READABLE)))));
    if (chosen !== (chosen = store.chosen)) look();
  }

  /** Update the legend, which has words for the shapes that are present. */
  function say() {
    const present = new Set();
    for (const { id } of store.program.operations.slice(0, 2000)) present.add(moment.stateOf(id));
    setText(
      looks,
      STATES.filter(state => present.has(state))
        .map(state => `${SHAPES[state]} ${state}. `)
        .join(""),
    );
  }

  const nameOfGroup = ({ ops }) => `${store.program.operations[ops[0]].kernel} ×${ops.length}`;
  const progressOf = ({ ops, done }) => `${done} of ${ops.length} decided`;

  /** Update places, edges, and items after a box was folded or unfolded. */
  function arrange() {
    if (placed === store.document.layout) return;
    placed = store.document.layout;
    // Fold the groups of a layout only once, because the reader may unfold them.
    if (known !== placed) for (const { ops } of placed?.groups ?? []) folded.add(groupKey(ops[0]));
    known = placed;
    const { operations, functions } = store.program;
    places = foldedLayout(placed, operations.length ? store.program : { operations: [] }, folded);
    depths = [];
    for (const { id, parent } of operations) depths[id] = parent == null ? 0 : depths[parent] + 1;
    const closed = functions
      .filter(({ id }) => folded.has(functionKey(id)))
      .map(({ id, name }) => ({ key: functionKey(id), name, function: id }));
    const open = [];
    for (const row of operations) {
      const group = places.groupOf.get(row.id),
        isShown = !places.x.length || row.id >= places.x.length || places.shown[row.id] === row.id;
      if (!isShown) continue;
      if (group?.ops[0] === row.id)
        open.push({ key: groupKey(row.id), name: nameOfGroup(group), function: row.function, group });
      if (!group?.isFolded) open.push(row);
    }
    items = closed.length ? [...open, ...closed].sort((a, b) => a.function - b.function) : open;
    walls = wallsOf(places, op => !isOpen(op));
    connect();
  }

  /** Collect the edges between visible nodes, each once. */
  function connect() {
    const { shown, order } = places,
      found = new Set(),
      { operations } = store.program;
    edges = [];
    const add = (maker, user, isChain) => {
      const from = shown[maker] ?? null,
        to = shown[user] ?? null;
      if (from === null || to === null || from === to) return;
      const key = (from * operations.length + to) * 2 + isChain;
      if ((from !== maker || to !== user) && found.has(key)) return;
      found.add(key);
      edges.push({ from, to, isChain });
    };
    for (const { from, to, isChain } of edgesOf(store.program)) add(from, to, isChain);
    for (const [from, to] of order) add(from, to, true);
  }

  function toggle(key) {
    if (key == null) return;
    if (!folded.delete(key)) folded.add(key);
    placed = undefined;
    store.changed();
  }

  /** Handle an arrow key: left folds an item, or else goes to the enclosing item; right unfolds it. */
  function press(item, name) {
    const key = keyOf(item),
      isFolded = folded.has(key);
    if (name === "ArrowRight" && isFolded) toggle(key);
    else if (name === "ArrowLeft" && key !== null && !isFolded) toggle(key);
    else if (name === "ArrowLeft" && item.parent != null) return items.findIndex(({ id }) => id === item.parent);
    else if (name === "ArrowLeft" && item.key == null) {
      toggle(functionKey(item.function));
      arrange();
      return items.findIndex(each => each.key === functionKey(item.function));
    }
    return null;
  }

  function drawItem(row, item) {
    const { twist, shape, text } = row.parts,
      key = keyOf(item),
      isFolded = folded.has(key);
    const state = item.key == null ? moment.stateOf(item.id) : null,
      words = state ? store.textOf(item.id) : item.group ? item.name : `@${item.name}`,
      depth = depths[item.id ?? item.group?.ops[0]] ?? 0;
    const feeds = state
      ? [...new Set(store.tables.uses[item.id].map(user => moment.program.operations[user].line))].join(",")
      : null;
    setAttributes(row, {
      "data-op": item.id ?? null,
      "data-line": item.line ?? null,
      "data-state": state ?? item.group?.state,
      "data-group": item.group ? item.group.ops.length : null,
      "data-feeds": feeds,
      "data-function": moment.program.functions[item.function].name,
      "aria-level": depth + 1,
      "aria-label": `${words}, ${state ?? (item.group ? `${progressOf(item.group)}, ${item.group.state}` : "folded")}`,
      "aria-expanded": key === null ? null : !isFolded,
      "aria-selected": state !== null && store.chosen === item.id,
    });
    row.style.paddingLeft = `${4 + 14 * depth}px`;
    setText(twist, key === null ? "" : isFolded ? "▸" : "▾");
    setText(shape, SHAPES[state ?? item.group?.state] ?? "");
    setText(text, words);
    if (state) flash(row, item.id, state);
  }

  function size() {
    arrange();
    return { ...extent(places), start: places.x[0] + places.w[0] / 2 };
  }

  const rectangleOf = i => [places.x[i], places.y[i], places.w[i], places.h[i]];

  const isIn = (x, y, left, top, width, height) => x >= left && y >= top && x <= left + width && y <= top + height;

  /** What is at a point of the picture: `op`, and a `key` if a click there folds or unfolds a box. */
  function at(x, y) {
    // Operations in a region have higher ids than the operation around them, so the innermost one is found first.
    for (let i = places.y.length - 1; i >= 0; i--) {
      if (places.shown[i] !== i || !isIn(x, y, ...rectangleOf(i))) continue;
      const group = places.groupOf.get(i);
      if (group?.isFolded) return { op: null, key: groupKey(i), group };
      const isButton = isBox(i) && isIn(x, y, places.x[i] + places.w[i] - BUTTON, places.y[i], BUTTON, BUTTON);
      return { op: i, key: isButton ? i : null };
    }
    const group = places.groups.find(
      ({ ops, rectangle: [left, top, w] }) => places.shown[ops[0]] === ops[0] && isIn(x, y, left, top, w, BUTTON),
    );
    if (group) return { op: null, key: groupKey(group.ops[0]), group };
    const box = places.boxes.find(each => each.op == null && isIn(x, y, each.x, each.y, each.w, BUTTON));
    return { op: null, key: box ? functionKey(box.function) : null };
  }

  function hit(x, y) {
    const { op, key } = at(x, y);
    if (key !== null) toggle(key);
    else store.select(op);
  }

  /** How much of the time for which an operation's last change stays visible has passed: 1 for all of it. */
  function age(op, state) {
    const last = seen.get(op),
      now = performance.now();
    // An operation that is drawn for the first time does not light up.
    if (last?.state !== state) seen.set(op, { state, at: last ? now : -Infinity });
    return Math.min(1, (now - seen.get(op).at) / SEEN);
  }

  function draw(pen, { x, y, scale, width, height, palette }) {
    if (!moment) return false;
    isMoving = false;
    pen.scale(scale, scale);
    pen.translate(-x, -y);
    const [right, bottom] = [x + width / scale, y + height / scale],
      isNear = scale >= NEAR;
    pen.font = `${Math.max(LETTER, SMALLEST_LETTER / scale)}px ${FONT}`;
    pen.textBaseline = "middle";
    drawBoxes(pen, palette, scale, isNear);
    const nodes = places.shown.filter(
      (op, i) =>
        op === i &&
        places.x[i] <= right &&
        places.x[i] + places.w[i] >= x &&
        places.y[i] <= bottom &&
        places.y[i] + places.h[i] >= y,
    );
    // Open boxes come first, because the edges inside them must stay visible.
    drawNodes(pen, nodes.filter(isOpen), palette, scale, isNear);
    drawEdges(pen, palette, scale, x, y, right, bottom);
    drawNodes(
      pen,
      nodes.filter(i => !isOpen(i)),
      palette,
      scale,
      isNear,
    );
    if (isNear) drawFlow(pen, palette, x, y, right, bottom);
    return isMoving && mayMove();
  }

  function drawNodes(pen, nodes, palette, scale, isNear) {
    const far = {};
    for (const i of nodes) {
      const [left, top, w, h] = rectangleOf(i),
        own = places.groupOf.get(i),
        group = own?.isFolded ? own : null;
      const state = group?.state ?? moment.stateOf(i),
        isChosen = group ? group.ops.includes(store.chosen) : store.chosen === i;
      if (scale < FAR && !isChosen && !path.has(i) && !isOpen(i)) {
        (far[state] ??= new Path2D()).rect(left, top, w, h);
        continue;
      }
      pen.fillStyle = palette.paper;
      pen.strokeStyle = palette[state];
      pen.lineWidth = (isChosen ? 3.5 : path.has(i) ? 2.5 : 1.2) / Math.max(scale, 0.5);
      pen.beginPath();
      pen.roundRect(left, top, w, h, 5);
      pen.fill();
      const light = mayMove() ? lightOf(i, state) : 0;
      pen.globalAlpha = (isChosen ? 0.4 : isOpen(i) ? 0.06 : 0.16) + light * (isOpen(i) ? 0.1 : 0.5);
      pen.fillStyle = palette[state];
      pen.fill();
      pen.globalAlpha = 1;
      pen.stroke();
      if (group) {
        pen.fillStyle = palette[state];
        pen.fillRect(left + 3, top + h - 6, ((w - 6) * group.done) / group.ops.length, 4);
      }
      if (isNear) label(pen, i, state, left, top, w, palette, group);
    }
    for (const state in far) {
      pen.fillStyle = palette[state];
      pen.fill(far[state]);
    }
  }

  /** How bright an operation is: a change lights up and fades, and a running operation glows and dims. */
  function lightOf(op, state) {
    const left = 1 - age(op, state),
      runs = state === "running" && !store.isOver;
    isMoving ||= left > 0 || runs;
    return Math.max(left, runs ? 0.25 + 0.25 * Math.sin(performance.now() / 250) : 0);
  }

  /**
   * Draw values on their way to their users: in a replay for a part of its time, so that a step shows them, too; in a
   * live run for as long as a change stays visible.
   */
  function drawFlow(pen, palette, left, top, right, bottom) {
    const { operations, values } = store.program,
      { end } = moment.history.values,
      isPast = store.isOver && !store.isLive;
    let drawn = 0;
    for (const { id, operands } of operations) {
      const to = places.shown[id] ?? null;
      for (const value of to === null ? [] : operands) {
        const maker = values[value].op,
          from = places.shown[maker] ?? null;
        if (from === null || from === to || moment.state(value) !== "available") continue;
        const passed = isPast
          ? (moment.time - (end[value] || 0)) / (FLOW * store.end)
          : store.isOver
            ? 1
            : age(maker, moment.stateOf(maker));
        if (!(passed >= 0 && passed < 1) || drawn++ > MOST_FLOWING) continue;
        isMoving ||= !isPast;
        const [x, y] = along(routed(edgeOf(from, to), walls), mayMove() ? passed : 0.5);
        if (x > left && x < right && y > top && y < bottom)
          drawValue(pen, palette, x, y, moment.line(value).slice(0, ON_EDGE));
      }
    }
  }

  function drawValue(pen, palette, x, y, text) {
    const width = text ? pen.measureText(text).width + 8 : 6,
      height = text ? 15 : 6;
    pen.fillStyle = palette.available;
    pen.beginPath();
    pen.roundRect(x - width / 2, y - height / 2, width, height, 4);
    pen.fill();
    pen.fillStyle = palette.paper;
    pen.fillText(text, x - width / 2 + 4, y);
  }

  /** Where an edge starts and ends. */
  function edgeOf(from, to) {
    const { x, y, w, h } = places;
    return [x[from] + w[from] / 2, y[from] + h[from], x[to] + w[to] / 2, y[to]];
  }

  const bendOf = ([, y1, , y2]) => Math.min(60, Math.max(6, Math.abs(y2 - y1) / 2));

  /** A point on the curves between an edge's points. */
  function along(points, whole) {
    const pieces = points.length - 1,
      at = Math.min(pieces - 1, Math.floor(whole * pieces)),
      part = whole * pieces - at;
    const piece = [...points[at], ...points[at + 1]],
      [x1, y1, x2, y2] = piece,
      bend = bendOf(piece),
      rest = 1 - part;
    const [a, b, c, d] = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
    return [(a + b) * x1 + (c + d) * x2, a * y1 + b * (y1 + bend) + c * (y2 - bend) + d * y2];
  }

  function label(pen, i, state, left, top, width, palette, group) {
    const middle = top + (group ? 11 : 14),
      room = width - (isBox(i) || group ? BUTTON : 4),
      [name, kernel] = group ? [nameOfGroup(group), progressOf(group)] : wordsOf(i);
    const letter = pen.measureText("m").width, // the font is monospaced
      before = 6 + 2 * letter,
      most = (room - before) / letter;
    const cut = (text, most) => (text.length > most ? `${text.slice(0, Math.max(0, most - 1))}…` : text);
    clipped(pen, left, top, room, 28, () => {
      pen.fillStyle = palette[state];
      pen.fillText(SHAPES[state], left + 6, middle);
      pen.fillStyle = palette.ink;
      pen.fillText(cut(name, most), left + before, middle);
      pen.fillStyle = palette.soft;
      const start = name.length + (name && kernel ? 2 : 0);
      if (start < most - 2) pen.fillText(cut(kernel, most - start), left + before + start * letter, middle);
    });
    pen.fillStyle = palette.soft;
    if (isBox(i) || group) pen.fillText(group || folded.has(i) ? "▸" : "▾", left + room + 6, middle);
  }

  /** The words in a node: first its value, then how the value is computed, as in `%sum = 3`, `tfrt.add.i32 %a, %b`. */
  function wordsOf(op) {
    const text = store.textOf(op),
      { results } = store.program.operations[op];
    if (!results.length || !text.includes(" = ")) return [text, ""];
    const [names] = text.split(" = ", 1),
      said = moment.lineOf(results);
    const kernel = places.groupOf.has(op) ? "" : text.slice(names.length + 3); // the head of the group shows the kernel
    return [`${names}${said && !said.startsWith("=") ? ":" : ""} ${said}`.trim(), kernel];
  }

  /** Draw all nodes, with a few pixels for each. */
  function drawMap(pen, palette) {
    const paths = {};
    const { width, height } = size(),
      least = Math.max(width / 75, height / 75);
    places.shown.forEach((op, i) => {
      if (op !== i || isOpen(i)) return;
      const own = places.groupOf.get(i),
        [left, top, w, h] = rectangleOf(i);
      (paths[own?.isFolded ? own.state : moment.stateOf(i)] ??= new Path2D()).rect(
        left,
        top,
        Math.max(w, least),
        Math.max(h, least),
      );
    });
    for (const state in paths) {
      pen.fillStyle = palette[state];
      pen.fill(paths[state]);
    }
  }

  function drawBoxes(pen, palette, scale, isNear) {
    for (const group of places.groups) {
      if (group.isFolded || places.shown[group.ops[0]] !== group.ops[0]) continue;
      const [left, top, w, h] = group.rectangle;
      pen.strokeStyle = palette.line;
      pen.lineWidth = 1 / Math.max(scale, 0.5);
      pen.strokeRect(left, top, w, h);
      pen.fillStyle = palette.soft;
      if (isNear) pen.fillText(`▾ ${nameOfGroup(group)}, ${progressOf(group)}`, left + 6, top + 13);
    }
    for (const box of places.boxes) {
      if (box.isHidden) continue;
      pen.strokeStyle = palette.line;
      pen.lineWidth = 1 / Math.max(scale, 0.5);
      pen.strokeRect(box.x, box.y, box.w, box.h);
      pen.fillStyle = palette.soft;
      if (box.op == null && isNear)
        pen.fillText(
          `${box.isFolded ? "▸" : "▾"} @${store.program.functions[box.function].name}`,
          box.x + 6,
          box.y + 13,
        );
    }
  }

  function drawEdges(pen, palette, scale, left, top, right, bottom) {
    for (const isDashed of [false, true]) {
      let leaving = 0;
      pen.beginPath();
      for (const edge of edges) {
        if (edge.isChain !== isDashed) continue;
        const [x1, y1, x2, y2] = edgeOf(edge.from, edge.to);
        if (
          Math.max(x1, x2) < left ||
          Math.min(x1, x2) > right ||
          Math.max(y1, y2) < top ||
          Math.min(y1, y2) > bottom ||
          (y2 > bottom && leaving++ > LEAVING)
        )
          continue;
        if (scale < FAR) {
          pen.moveTo(x1, y1);
          pen.lineTo(x2, y2);
        } else {
          const points = pathOf(edge);
          pen.moveTo(...points[0]);
          for (let at = 1; at < points.length; at++) {
            const [[fromX, fromY], [toX, toY]] = [points[at - 1], points[at]],
              bend = bendOf([fromX, fromY, toX, toY]);
            pen.bezierCurveTo(fromX, fromY + bend, toX, toY - bend, toX, toY);
          }
        }
      }
      pen.setLineDash(isDashed ? [5, 4] : []);
      pen.strokeStyle = palette.soft;
      pen.globalAlpha = 0.7;
      pen.lineWidth = 1 / Math.max(scale, 0.5);
      pen.stroke();
      pen.globalAlpha = 1;
      pen.setLineDash([]);
    }
  }

  /** The points of an edge, which passes through no node; computed when the edge is first in view. */
  const pathOf = edge => (edge.points ??= routed(edgeOf(edge.from, edge.to), walls));

  /** Bring the selected operation into view, in the picture and in the list. */
  function reveal() {
    rows.reveal(items.findIndex(({ id }) => id === store.chosen));
    look();
  }

  function look() {
    const at = places.shown[store.chosen];
    if (at == null) return;
    const [left, top, w, h] = rectangleOf(at);
    canvas.reveal(left, top, w, isOpen(at) ? BUTTON : h);
  }

  return { node, tools: canvas.tools, show, reveal, dispose: canvas.dispose };
}

export const graphView = { title: "Graph", create: createGraph, isEmpty: store => !store.isProgram };
