// Displayed values: a line for each, `● answer = 42 : i32`, and the selected one in full.

import { count, duration, element, setAttributes, setText } from "./dom.js";
import { createRows } from "./rows.js";
import { announce } from "./announce.js";
import { shortened } from "./tensors.js";
import { adoptStyle, isDark, onOtherColors, SHAPES, STATUSES } from "./theme.js";

const UNCOUNTED = 8; // with more lines than this, a heading counts them
const OWN_SHAPES = { unavailable: "○", broken: "✕" };

/** The shape of a state. */
export const shapeOf = state => OWN_SHAPES[state] ?? SHAPES[state] ?? "?";

/** The words after a line's name. */
export function wordsOf({ state, text = "", error = "", place = "", type = "" }) {
  const said =
    state === "available"
      ? `= ${shortened(text)}`
      : `${state}${error ? `: ${error}` : ""}${place ? `, at ${place}` : ""}`;
  return said + (type ? ` : ${type}` : "");
}

/** Show `store`, whose document has lines, as chips in `host`, an empty element, as `createBoard` shows a board. */
export function createChips(host, store) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  adoptStyle(root);
  const title = element("div.head.soft", { hidden: true }),
    note = element("p.note", { hidden: true });
  const rows = createRows({
    label: "Displayed values",
    height: 24,
    cells: [
      ["shape", "shape"],
      ["name", "name"],
      ["picture", "picture"],
      ["words", ""],
    ],
    draw,
    choose,
  });
  const panel = element("div.panel.scroll.chips", {}, rows.node),
    detail = element("div.detail", { hidden: true, role: "note", "aria-label": "Selected" });
  // The notebook's search and "copy output" read only what is outside the shadow root.
  const text = element("div", { slot: "text", "aria-hidden": true });
  host.classList.add("tfrt-values");
  host.append(text);
  root.replaceChildren(note, title, panel, detail, element("div.hidden", {}, element("slot", { name: "text" })));
  let known = store.document.lines.map(({ state }) => state),
    chosen = null,
    written = false,
    timer = null;

  function draw(row, item) {
    const { parts } = row,
      { line, place } = item;
    setAttributes(row, {
      "data-value": line.name,
      "data-state": line.state,
      "aria-current": place === chosen ? "true" : null,
      title: line.name,
    });
    setText(parts.shape, shapeOf(line.state));
    parts.shape.setAttribute("aria-hidden", true);
    // Add spaces, for screen readers and for readers who copy a line.
    setText(parts.name, ` ${line.name}`);
    setText(parts.words, ` ${wordsOf(line)}`);
    if (Boolean(line.picture) !== Boolean(parts.picture.firstChild))
      parts.picture.replaceChildren(...(line.picture ? [element("img", { src: line.picture, alt: "heat map" })] : []));
  }

  function choose({ place }) {
    chosen = chosen === place ? null : place;
    show();
  }

  /** Show the selected line in full, or the only line if it has a picture. */
  function showDetail(lines) {
    const line = lines[chosen] ?? (lines.length === 1 && lines[0].picture ? lines[0] : null);
    detail.hidden = !line;
    if (!line) return;
    const facts = [
      ["name", line.name],
      ["state", line.state],
      ["type", line.type],
      ["at", line.place],
      ["after", line.elapsed == null ? "" : duration(line.elapsed * 1e9)],
    ];
    const words = element(
      "div.soft",
      {},
      facts
        .filter(([, fact]) => fact)
        .map(fact => fact.join(" "))
        .join(", "),
    );
    const said = `${line.error ?? ""}${line.text ?? ""}`,
      full = said + words.textContent;
    if (detail.dataset.full === full) return;
    detail.dataset.full = full;
    detail.replaceChildren(
      ...(said ? [element("pre", {}, said)] : []),
      ...(line.picture ? [element("img", { src: line.picture, alt: `heat map of ${line.name}` })] : []),
      words,
    );
  }

  function show() {
    const { document, status } = store,
      { lines } = document;
    const decided = lines.filter(({ state }) => state !== "unavailable").length;
    setAttributes(host, {
      role: "group", // not a landmark: a page may have many boards, and several with the same name
      "data-run": document.run,
      "data-status": status,
      "data-dark": isDark(host) ? "" : null,
      "aria-label": lines.length === 1 ? lines[0].name : `${count(lines.length)} displayed values`,
    });
    title.hidden = lines.length <= UNCOUNTED;
    setText(title, `${count(decided)} of ${count(lines.length)} values`);
    const words = [document.note, STATUSES[status].why].filter(Boolean).join(" ");
    setText(note, words);
    note.hidden = !words;
    rows.show(lines.map((line, place) => ({ line, place })));
    showDetail(lines);
    const changed = lines.filter(({ state }, place) => state !== known[place]);
    if (changed.length) announce(changed.map(line => `${line.name} ${wordsOf(line)}`));
    known = lines.map(({ state }) => state);
    write(decided === lines.length);
  }

  /** Update the text outside the shadow root at most four times a second, and at once when all values are decided. */
  function write(isOver) {
    const now = () => {
      timer = null;
      setText(
        text,
        store.document.lines.map(line => `${shapeOf(line.state)} ${line.name} ${wordsOf(line)}\n`).join(""),
      );
    };
    if (written && !isOver) timer ??= setTimeout(now, 250);
    else now(clearTimeout(timer));
    written = true;
  }

  store.listeners.add(show);
  const forget = onOtherColors(store.changed);
  show();
  return {
    remove() {
      store.listeners.delete(show);
      forget();
      clearTimeout(timer);
      text.remove();
      root.replaceChildren();
    },
  };
}
