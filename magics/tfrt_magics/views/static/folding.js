// The graph's layout with some boxes folded: a folded box hides its contents, and everything below it moves up.

/** The height of a folded operation or function. */
const HEAD = 28;

export const functionKey = function_ => `@${function_}`;
export const groupKey = leader => `group ${leader}`;

const GROUP = 300; // the maximum width of a folded group
const ROOM = 8; // the distance between an edge and a node that it passes

/** The size of the picture that is shown. */
export function extent({ x, y, w, h, boxes, shown, groups }) {
  let [width, height] = [1, 1];
  const add = (right, bottom) => {
    [width, height] = [Math.max(width, right), Math.max(height, bottom)];
  };
  for (let i = 0; i < y.length; i++) if (shown[i] === i) add(x[i] + w[i], y[i] + h[i]);
  for (const box of boxes) if (!box.isHidden) add(box.x + box.w, box.y + box.h);
  for (const { ops, rectangle } of groups)
    if (shown[ops[0]] === ops[0]) add(rectangle[0] + rectangle[2], rectangle[1] + rectangle[3]);
  return { width: width + 16, height: height + 16 };
}

/**
 * The places in a layout whose boxes `folded` (ids of operations, `functionKey`s, and `groupKey`s) are closed.
 *
 * `shown[i]` is the operation that represents operation `i`: itself, the operation that hides it, the first operation
 * of its folded group, or null in a folded function.  `groups` are the layout's groups with their current `rectangle`;
 * `groupOf` maps each operation in a group to that group.
 */
export function foldedLayout(layout, { operations }, folded) {
  const { x: oldX = [], y: oldY = [], w: oldW = [], h: oldH = [], boxes: oldBoxes = [] } = layout ?? {};
  const count = Math.min(operations.length, oldX.length);
  const [x, y, w, h] = [oldX, oldY, oldW, oldH].map(list => list.slice(0, count)),
    shown = operations.map(({ id }) => (id < count ? id : null));
  const boxes = oldBoxes.map(box => ({
    ...box,
    isFolded: folded.has(box.op ?? functionKey(box.function)),
    isHidden: false,
    rows: new Map(),
  }));
  const groupOf = new Map();
  const groups = (layout?.groups ?? [])
    .filter(({ ops }) => ops.every(op => op < count))
    .map(group => {
      const isFolded = folded.has(groupKey(group.ops[0])),
        one = { ...group, isFolded, rectangle: [group.x, group.y, group.w, isFolded ? HEAD : group.h] };
      for (const op of group.ops) groupOf.set(op, one);
      return one;
    });
  const order = layout?.order ?? [];
  const places = { x, y, w, h, boxes, shown, groups, groupOf, order };
  if (!folded.size) return places;
  // Until all places are known, the first operation of a group has the group's place.
  const top = i => groupOf.get(i)?.y ?? oldY[i],
    old = i => groupOf.get(i)?.h ?? oldH[i];
  const keyOf = (parent, region, function_) => (parent == null ? functionKey(function_) : `${parent} ${region}`);
  const boxOf = new Map(boxes.map(box => [keyOf(box.op, box.region, box.function), box]));
  for (let i = 0; i < count; i++) {
    if (groupOf.has(i) && groupOf.get(i).ops[0] !== i) continue;
    const { parent, region, function: function_ } = operations[i],
      rows = boxOf.get(keyOf(parent, region, function_))?.rows;
    rows?.set(top(i), [...(rows.get(top(i)) ?? []), i]);
  }
  // From inner to outer boxes: compute heights, and how far each row moves up in its box.
  const before = new Map(),
    after = new Map(),
    raised = new Map();
  for (const box of [...boxes].reverse()) {
    let saved = 0;
    for (const row of [...box.rows.entries()].sort(([a], [b]) => a - b).map(([, row]) => row)) {
      for (const i of row) {
        raised.set(i, saved);
        if (groupOf.has(i)) h[i] = groupOf.get(i).rectangle[3];
        if (after.has(i)) h[i] = folded.has(i) ? HEAD : oldH[i] - before.get(i) + after.get(i);
      }
      saved += row.reduce((most, i) => Math.max(most, old(i)), 0) - row.reduce((most, i) => Math.max(most, h[i]), 0);
    }
    const height = box.isFolded ? HEAD : box.h - saved;
    if (box.op != null) {
      before.set(box.op, Math.max(before.get(box.op) ?? 0, box.h));
      after.set(box.op, Math.max(after.get(box.op) ?? 0, height));
    }
    box.saved = box.h - height;
    box.h = height;
  }
  // From outer to inner boxes: compute places.
  let up = 0;
  boxes.forEach((box, place) => {
    const former = oldBoxes[place],
      { op } = box;
    if (op == null) {
      box.y = former.y - up;
      up += box.saved;
    } else {
      box.y = y[op] + former.y - oldY[op];
      box.isHidden = box.isFolded || shown[op] !== op;
    }
    const visible = op == null ? (box.isFolded ? null : undefined) : box.isHidden ? shown[op] : undefined;
    for (const row of box.rows.values()) {
      for (const i of row) {
        y[i] = box.y + top(i) - former.y - raised.get(i);
        if (visible !== undefined) shown[i] = visible;
      }
    }
  });
  for (const group of groups) {
    const [first] = group.ops,
      wide = Math.min(GROUP, group.w),
      { rectangle } = group;
    rectangle[1] = y[first];
    if (group.isFolded) [rectangle[0], rectangle[2]] = [group.x + (group.w - wide) / 2, wide];
    const hiding = shown[first] === first ? null : shown[first];
    for (const op of group.ops) {
      if (shown[first] !== first) shown[op] = hiding;
      else if (group.isFolded) shown[op] = first;
      y[op] = oldY[op] + rectangle[1] - group.y;
      h[op] = HEAD;
    }
    if (group.isFolded) [x[first], y[first], w[first], h[first]] = rectangle;
  }
  return places;
}

/**
 * The nodes that an edge must go around, by rows from top to bottom.  Each row has its `top`, its `bottom`, and its
 * nodes' `sides` from left to right.  `isWall(op)` returns whether an operation is such a node.
 */
export function wallsOf({ x, y, w, h, shown }, isWall) {
  const rows = new Map();
  shown.forEach((op, i) => {
    if (op !== i || !isWall(i)) return;
    const row = rows.get(y[i]) ?? { top: y[i], bottom: y[i], sides: [] };
    row.bottom = Math.max(row.bottom, y[i] + h[i]);
    row.sides.push([x[i], x[i] + w[i]]);
    rows.set(y[i], row);
  });
  const sorted = [...rows.values()].sort((a, b) => a.top - b.top);
  for (const { sides } of sorted) sides.sort(([a], [b]) => a - b);
  return sorted;
}

/** The points of an edge from top to bottom: two for each row that it passes, beside the row's nodes. */
export function routed([x1, y1, x2, y2], walls) {
  const points = [[x1, y1]];
  let low = 0,
    high = walls.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (walls[middle].top < y1) low = middle + 1;
    else high = middle;
  }
  for (let at = low; at < walls.length && walls[at].bottom < y2; at++) {
    const { top, bottom, sides } = walls[at],
      [fromX, fromY] = points.at(-1),
      middle = (top + bottom) / 2,
      x = fromX + ((x2 - fromX) * (middle - fromY)) / (y2 - fromY);
    const wall = sides.findIndex(([left, right]) => x > left - ROOM / 2 && x < right + ROOM / 2);
    const [left, right] = sides[wall] ?? [],
      beside = wall < 0 ? x : x - left < right - x ? left - ROOM : right + ROOM;
    points.push([beside, top], [beside, bottom]);
  }
  return [...points, [x2, y2]];
}
