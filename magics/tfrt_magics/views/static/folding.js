// The graph's layout with some boxes folded: what is in a folded box is hidden, and what is below moves up.

/** The height of a folded operation or function. */
const HEAD = 28;

export const functionKey = function_ => `@${function_}`;

/** How large the picture is of what is shown. */
export function extent({ x, y, w, h, boxes, shown }) {
  let [width, height] = [1, 1];
  const add = (right, bottom) => {
    [width, height] = [Math.max(width, right), Math.max(height, bottom)];
  };
  for (let i = 0; i < y.length; i++) if (shown[i] === i) add(x[i] + w[i], y[i] + h[i]);
  for (const box of boxes) if (!box.isHidden) add(box.x + box.w, box.y + box.h);
  return { width: width + 16, height: height + 16 };
}

/**
 * The places of a layout in which the boxes `folded` (ids of operations, `functionKey`s) are closed.
 *
 * `shown[i]` is what stands for operation `i`: itself, the operation that hides it, or null in a folded function.
 */
export function foldedLayout(layout, { operations }, folded) {
  const { x = [], y: oldY = [], w = [], h: oldH = [], boxes: oldBoxes = [] } = layout ?? {};
  const count = Math.min(operations.length, x.length);
  const y = oldY.slice(0, count),
    h = oldH.slice(0, count),
    shown = operations.map(({ id }) => (id < count ? id : null));
  const boxes = oldBoxes.map(box => ({
    ...box,
    isFolded: folded.has(box.op ?? functionKey(box.function)),
    isHidden: false,
    rows: new Map(),
  }));
  const places = { x, y, w, h, boxes, shown };
  if (!folded.size) return places;
  const keyOf = (parent, region, function_) => (parent == null ? functionKey(function_) : `${parent} ${region}`);
  const boxOf = new Map(boxes.map(box => [keyOf(box.op, box.region, box.function), box]));
  for (let i = 0; i < count; i++) {
    const { parent, region, function: function_ } = operations[i],
      rows = boxOf.get(keyOf(parent, region, function_))?.rows;
    rows?.set(oldY[i], [...(rows.get(oldY[i]) ?? []), i]);
  }
  // From the inner boxes to the outer ones: heights, and by how much each row moves up in its box.
  const before = new Map(),
    after = new Map(),
    raised = new Map();
  for (const box of [...boxes].reverse()) {
    let saved = 0;
    for (const row of [...box.rows.entries()].sort(([a], [b]) => a - b).map(([, row]) => row)) {
      for (const i of row) {
        raised.set(i, saved);
        if (after.has(i)) h[i] = folded.has(i) ? HEAD : oldH[i] - before.get(i) + after.get(i);
      }
      saved += Math.max(...row.map(i => oldH[i])) - Math.max(...row.map(i => h[i]));
    }
    const height = box.isFolded ? HEAD : box.h - saved;
    if (box.op != null) {
      before.set(box.op, Math.max(before.get(box.op) ?? 0, box.h));
      after.set(box.op, Math.max(after.get(box.op) ?? 0, height));
    }
    box.saved = box.h - height;
    box.h = height;
  }
  // From the outer boxes to the inner ones: places.
  let up = 0;
  boxes.forEach((box, place) => {
    const old = oldBoxes[place],
      { op } = box;
    if (op == null) {
      box.y = old.y - up;
      up += box.saved;
    } else {
      box.y = y[op] + old.y - oldY[op];
      box.isHidden = box.isFolded || shown[op] !== op;
    }
    const visible = op == null ? (box.isFolded ? null : undefined) : box.isHidden ? shown[op] : undefined;
    for (const row of box.rows.values()) {
      for (const i of row) {
        y[i] = box.y + oldY[i] - old.y - raised.get(i);
        if (visible !== undefined) shown[i] = visible;
      }
    }
  });
  return places;
}
