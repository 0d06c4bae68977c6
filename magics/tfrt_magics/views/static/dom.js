// Elements, text, and times: the little that the views share.  All text is set through `textContent`.

/**
 * Create an element.  `tag` may include classes, as in `div.soft`.  A property that the element does not have, such as
 * `aria-label`, becomes an attribute.
 */
export function element(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split("."),
    node = document.createElement(name);
  if (classes.length) node.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A button that keeps its keys from the notebook's shortcuts. */
export function button(text, onClick, attributes = {}) {
  return element("button", { type: "button", onclick: onClick, ...attributes }, text);
}

/** Set the attributes that differ; null removes an attribute. */
export function setAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
  }
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** How long a change stays visible, in milliseconds. */
export const SEEN = 600;

const stillness = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)"); // undefined in tests without a page

/** Whether the reader allows motion. */
export const mayMove = () => !stillness?.matches;

/** Flash a row that shows the same `item` as before in another state. */
export function flash(node, item, state) {
  const { last } = node;
  node.last = { item, state };
  if (last?.item !== item || last.state === state || !mayMove()) return;
  node.animate([{ backgroundColor: "color-mix(in srgb, var(--look) 45%, transparent)" }, {}], SEEN);
}

/** Format a duration with three significant digits: `850 ns`, `12.3 µs`, `1.23 ms`, `45.0 s`. */
export function duration(nanoseconds) {
  for (const [unit, size] of [
    ["s", 1e9],
    ["ms", 1e6],
    ["µs", 1e3],
  ]) {
    if (nanoseconds < 0.9995 * size) continue; // 999.6 ns is rounded to 1.00 µs
    const value = nanoseconds / size;
    return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(nanoseconds)} ns`;
}

/** Format a count in groups of three digits, such as `30 000`, so that it is readable. */
export const count = number => number.toLocaleString("fr");

/** Return a function that calls `action` at most once per frame. */
export function eachFrame(action) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      action();
    });
  };
}

/** Let the reader download a file. */
export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = element("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
