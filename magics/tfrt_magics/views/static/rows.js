// A list that draws only the rows in view, and through which the arrow keys move.

import { element } from "./dom.js";

const ALL = 300; // up to this many rows are all drawn
const MARGIN = 12;

/**
 * Rows of equal height inside a node that scrolls.
 *
 * Each row has `cells`, pairs of a name in the row's `parts` and a class; `draw(node, item)` fills them.  `show(items)`
 * updates the list.  `press(item, key)` handles the left and right arrow keys, and returns the index of the row to go
 * to, or null.
 */
export function createRows({
  role = "list",
  label,
  itemRole = "listitem",
  height,
  cells,
  draw,
  choose = () => {},
  press = () => null,
}) {
  const node = element("div.rows", { role, ...(label && { "aria-label": label }) });
  let items = [],
    drawn = new Map(),
    active = 0,
    scroller = null;

  function show(next) {
    items = next;
    active = Math.max(0, Math.min(active, items.length - 1));
    node.style.height = `${items.length * height}px`;
    if (!scroller) follow();
    refresh();
  }

  function follow() {
    scroller = node.closest(".scroll") ?? null;
    scroller?.addEventListener("scroll", refresh, { passive: true });
  }

  /** How much of the list is above the visible part, in pixels. */
  const above = () => scroller.getBoundingClientRect().top - node.getBoundingClientRect().top;

  function range() {
    if (items.length <= ALL) return [0, items.length];
    if (!scroller) return [0, Math.min(items.length, 60)];
    const first = Math.floor(above() / height) - MARGIN;
    return [Math.max(0, first), Math.min(items.length, first + Math.ceil(scroller.clientHeight / height) + 2 * MARGIN)];
  }

  function refresh() {
    const [first, last] = range();
    const before = drawn;
    drawn = new Map();
    const spare = [];
    for (const [place, row] of before) {
      if (place >= first && place < last) continue;
      row.remove();
      spare.push(row);
    }
    for (let place = first; place < last; place++) {
      const row = before.get(place) ?? spare.pop() ?? make();
      drawn.set(place, row);
      row.place = place;
      row.tabIndex = place === active ? 0 : -1;
      row.style.top = `${place * height}px`;
      draw(row, items[place]);
      // Screen readers follow the order of the nodes, not their positions.
      if (node.children[place - first] !== row) node.insertBefore(row, node.children[place - first] ?? null);
    }
  }

  function make() {
    const row = element("div.row");
    row.parts = {};
    for (const [name, className] of cells) row.append((row.parts[name] = element("span", { className })));
    row.setAttribute("role", itemRole);
    return row;
  }

  /** Scroll the list, but not the page, so that a row is in view. */
  function reveal(place) {
    if (place < 0 || !items.length) return;
    active = Math.min(place, items.length - 1);
    if (!scroller) follow();
    if (scroller) {
      const top = above();
      if (active * height < top || (active + 1) * height > top + scroller.clientHeight) {
        scroller.scrollTop += active * height - top - scroller.clientHeight / 2;
      }
    }
    refresh();
  }

  function goTo(place) {
    reveal(Math.max(0, place));
    drawn.get(active)?.focus();
  }

  node.addEventListener("keydown", event => {
    const here = event.target.place;
    if (here == null) return;
    const there = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      Home: 0,
      End: items.length - 1,
      PageDown: here + 15,
      PageUp: here - 15,
    }[event.key];
    if (there != null) goTo(there);
    else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const place = press(items[here], event.key);
      // If the key has folded an item, the list changes in the next frame.
      if (place !== null) requestAnimationFrame(() => goTo(place));
    } else if (event.key === "Enter" || event.key === " ") choose(items[here], event.target);
    else return;
    event.preventDefault();
  });
  node.addEventListener("click", event => {
    const row = event.target.closest(".row");
    if (!row || row.place == null) return;
    active = row.place;
    for (const [place, each] of drawn) each.tabIndex = place === active ? 0 : -1;
    choose(items[row.place], row, event);
  });

  /** Redraw the rows in view whose items satisfy `isWanted`. */
  function redraw(isWanted) {
    for (const [place, row] of drawn) if (isWanted(items[place])) draw(row, items[place]);
  }

  return { node, show, reveal, redraw };
}
