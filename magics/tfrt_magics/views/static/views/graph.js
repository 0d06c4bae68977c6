// The dataflow: operations as nodes, values as edges.  A canvas for the eye, a tree for keyboard and screen reader.

import { createCanvas } from "../canvas.js";
import { element, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";
import { SHAPES } from "../theme.js";

export const firstLine = (text) => text.split("\n", 1)[0].trim();

/** The longest chain of waiting: from what ended last, back through the operand that came last. */
export function criticalPath(moment) {
  const { operations, values } = moment.program, { end } = moment.history.values;
  const endOf = (op) => Math.max(...operations[op].results.map((value) => end[value] || 0), 0);
  let here = operations.reduce((last, { id }) => (last == null || endOf(id) > endOf(last) ? id : last), null);
  const path = new Set();
  while (here != null && endOf(here) > 0 && !path.has(here)) {
    path.add(here);
    const before = operations[here].operands.map((value) => values[value].op).filter((op) => op != null && op !== here);
    here = before.reduce((last, op) => (last == null || endOf(op) > endOf(last) ? op : last), null);
  }
  return path;
}

export function createGraph(store) {
  const rows = createRows({ role: "tree", label: "Graph", itemRole: "treeitem", height: 24, create: createItem, draw: drawItem, choose: (item) => store.select(item.id) });
  const canvas = createCanvas({ draw, size, hit, height: 360, describe: (x, y) => { const op = at(x, y); return op ? firstLine(op.text) : ""; } });
  const side = element("div", { className: "side scroll" }, rows.node);
  const node = element("div", { className: "split graph" }, canvas.node, side);
  let moment = null, path = new Set();

  function show(next) {
    moment = next;
    path = store.isOver && moment.isEnd ? criticalPath(moment) : new Set();
    rows.show(moment.program.operations);
    canvas.resize(Math.max(110, Math.min(380, Math.round(size().height * 1.05))));
  }

  function createItem() {
    const shape = element("span", { className: "shape", attributes: { "aria-hidden": "true" } });
    const text = element("span");
    const row = element("div", {}, shape, text);
    row.parts = { shape, text };
    return row;
  }

  function drawItem(row, operation) {
    const state = moment.stateOfOperation(operation.id);
    const text = firstLine(operation.text);
    const feeds = [...new Set(store.tables.uses[operation.id].map((user) => moment.program.operations[user].line))];
    setAttributes(row, { "data-op": operation.id, "data-line": operation.line, "data-state": state, "data-feeds": feeds.join(","),
      "data-function": moment.program.functions[operation.function].name, "aria-level": depthOf(operation) + 1, "aria-label": `${text}, ${state}`,
      "aria-selected": store.selection?.op === operation.id ? "true" : "false" });
    row.style.paddingLeft = `${8 + 14 * depthOf(operation)}px`;
    setText(row.parts.shape, SHAPES[state]);
    setText(row.parts.text, text);
  }

  function depthOf(operation) {
    let depth = 0;
    for (let { parent } = operation; parent != null; { parent } = store.program.operations[parent]) depth++;
    return depth;
  }

  const layout = () => store.document.layout ?? { x: [], y: [], w: [], h: [], boxes: [] };

  function size() {
    const { x, y, w, h, boxes } = layout();
    let [width, height] = [1, 1];
    for (let i = 0; i < x.length; i++) {
      width = Math.max(width, x[i] + w[i]);
      height = Math.max(height, y[i] + h[i]);
    }
    for (const box of boxes ?? []) [width, height] = [Math.max(width, box.x + box.w), Math.max(height, box.y + box.h)];
    return { width: width + 16, height: height + 16 };
  }

  function at(x, y) {
    const places = layout();
    for (let i = places.x.length - 1; i >= 0; i--) {
      if (x >= places.x[i] && y >= places.y[i] && x <= places.x[i] + places.w[i] && y <= places.y[i] + places.h[i]) return store.program.operations[i];
    }
    return null;
  }

  function hit(x, y) {
    const operation = at(x, y);
    store.select(operation ? operation.id : null);
  }

  function draw(context, { x, y, scale, width, height, palette }) {
    if (!moment) return;
    const { operations } = store.program, places = layout();
    context.scale(scale, scale);
    context.translate(-x, -y);
    const [right, bottom] = [x + width / scale, y + height / scale];
    const isSeen = (i) => places.x[i] <= right && places.x[i] + places.w[i] >= x && places.y[i] <= bottom && places.y[i] + places.h[i] >= y;
    drawBoxes(context, places, palette, scale);
    drawEdges(context, places, palette, scale, x, y, right, bottom);
    const isReadable = scale > 0.45;
    for (let i = 0; i < operations.length && i < places.x.length; i++) {
      if (!isSeen(i)) continue;
      const state = moment.stateOfOperation(i);
      context.fillStyle = palette.paper;
      context.strokeStyle = palette[state];
      context.lineWidth = (store.selection?.op === i ? 3.5 : path.has(i) ? 2.5 : 1.2) / Math.max(scale, 0.5);
      context.beginPath();
      context.roundRect(places.x[i], places.y[i], places.w[i], places.h[i], 5);
      context.fill();
      context.save();
      context.globalAlpha = store.selection?.op === i ? 0.4 : 0.16;
      context.fillStyle = palette[state];
      context.fill();
      context.restore();
      context.stroke();
      if (isReadable) label(context, operations[i], state, places, i, palette);
    }
  }

  function label(context, operation, state, places, i, palette) {
    context.save();
    context.beginPath();
    context.rect(places.x[i], places.y[i], places.w[i], places.h[i]);
    context.clip();
    context.font = "11px ui-monospace, monospace";
    context.textBaseline = "middle";
    const middle = places.y[i] + Math.min(places.h[i], 28) / 2;
    context.fillStyle = palette[state];
    context.fillText(SHAPES[state], places.x[i] + 6, middle);
    context.fillStyle = palette.ink;
    context.fillText(firstLine(operation.text), places.x[i] + 19, middle);
    context.restore();
  }

  function drawBoxes(context, places, palette, scale) {
    context.font = "11px ui-monospace, monospace";
    context.textBaseline = "top";
    for (const box of places.boxes ?? []) {
      context.strokeStyle = palette.line;
      context.lineWidth = 1 / Math.max(scale, 0.5);
      context.strokeRect(box.x, box.y, box.w, box.h);
      context.fillStyle = palette.soft;
      if (box.op == null && scale > 0.45) context.fillText(`@${store.program.functions[box.function].name}`, box.x + 6, box.y + 6);
    }
  }

  function drawEdges(context, places, palette, scale, left, top, right, bottom) {
    const { operations, values } = store.program;
    for (const isChain of [false, true]) {
      context.beginPath();
      for (let i = 0; i < operations.length && i < places.x.length; i++) {
        for (const value of operations[i].operands) {
          const from = values[value].op;
          if (from == null || values[value].chain !== isChain || from >= places.x.length) continue;
          const [x1, y1] = [places.x[from] + places.w[from] / 2, places.y[from] + places.h[from]];
          const [x2, y2] = [places.x[i] + places.w[i] / 2, places.y[i]];
          if (Math.max(x1, x2) < left || Math.min(x1, x2) > right || Math.max(y1, y2) < top || Math.min(y1, y2) > bottom) continue;
          const bend = Math.max(10, Math.abs(y2 - y1) / 2);
          context.moveTo(x1, y1);
          if (scale < 0.15) context.lineTo(x2, y2);
          else context.bezierCurveTo(x1, y1 + bend, x2, y2 - bend, x2, y2);
        }
      }
      context.setLineDash(isChain ? [5, 4] : []);
      context.strokeStyle = palette.soft;
      context.globalAlpha = 0.7;
      context.lineWidth = 1 / Math.max(scale, 0.5);
      context.stroke();
      context.globalAlpha = 1;
      context.setLineDash([]);
    }
  }

  return { title: "Graph", node, show, isEmpty: () => !store.program.operations.length, picture: canvas.picture, dispose: canvas.dispose };
}
