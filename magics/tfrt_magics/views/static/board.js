// The board of one %%tfrt cell: a frame around views of one run document.
//
// A page needs only `createBoard`; the labextension's renderer and the documentation call it.

import { button, count, duration, element, setAttributes, setText } from "./dom.js";
import { createDetail } from "./detail.js";
import { textOf } from "./export.js";
import { createHead, createProblem, createResults } from "./head.js";
import { adoptStyle, isDark, onOtherColors, STATUSES } from "./theme.js";
import { graphView } from "./views/graph.js";
import { logView } from "./views/log.js";
import { createOutcomes, createReady } from "./views/schedules.js";
import { sourceView, stagesView } from "./views/source.js";
import { timelineView } from "./views/timeline.js";
import { namesOf, valuesView } from "./views/values.js";

const VIEWS = [valuesView, graphView, timelineView, logView, sourceView, stagesView];

// A focused board gets plain keys, which Notebook 7 would otherwise take first.  Escape returns to the cell.
addEventListener(
  "keydown",
  ({ target, key, ctrlKey, metaKey }) => {
    if (!target.matches?.(".tfrt-board")) return;
    target.toggleAttribute("data-lm-suppress-shortcuts", !(ctrlKey || metaKey));
    if (key === "Escape") target.closest(".jp-Cell")?.focus();
  },
  true,
);

/**
 * Show `store` as a board in `host`, an empty element.
 *
 * `ask(question)` asks the kernel and returns its answer or null; without `ask`, the board has no controls for the run.
 * `canAsk()` returns whether a kernel is there.
 *
 * `code()` returns the source of the module that this file is joined into, for an exported page.  `linkOf(source)`
 * returns the address of a page that opens a program, or null if there is no such page.  `onSelect(line)` is called
 * with the cell's selected line, or with null if no line is selected.
 */
export function createBoard(
  host,
  store,
  { ask = null, canAsk = () => ask !== null, code = null, linkOf = null, onSelect = () => {} } = {},
) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  adoptStyle(root);
  const head = createHead(store, ask, canAsk, code, linkOf);
  const problem = createProblem(store),
    results = createResults(store);
  const replay = createReplay(store);
  const detail = createDetail(store);
  const outcomes = createOutcomes(store),
    ready = createReady(store, ask);
  const note = element("p.note", { hidden: true });
  const tabs = createTabs(store, ask, canAsk);
  // The notebook's search and "copy output" read only what is outside the shadow root, so put the same there as text.
  const text = element("div", { slot: "text", "aria-hidden": true });
  host.classList.add("tfrt-board");
  host.append(text);
  root.replaceChildren(
    head.line,
    head.progressbar,
    head.spoken,
    problem.node,
    note,
    results.node,
    ready.node,
    outcomes.node,
    tabs.node,
    tabs.panel,
    detail.node,
    replay.node,
    element("div.hidden", {}, element("slot", { name: "text" })),
  );
  let written = null,
    timer = null,
    line = null;

  function show(moment) {
    const { document, status } = store;
    setAttributes(host, {
      role: "group", // not a landmark: a page may have many boards, and several with the same name
      "data-run": document.run,
      "data-status": status,
      "data-time": Math.round(Math.min(moment.time, store.end)),
      "aria-label": `${namesOf(moment) || "%%tfrt"}: ${STATUSES[status].word}`,
      "data-dark": isDark(host) ? "" : null,
    });
    head.show(moment);
    const words = [document.note, STATUSES[status].why].filter(Boolean).join(" ");
    setText(note, words);
    note.hidden = !words;
    for (const part of [problem, results, ready, outcomes, tabs, detail, replay]) part.show(moment);
    write();
    const chosen = store.program.operations[store.chosen]?.line ?? null;
    if (chosen !== line) onSelect((line = chosen));
  }

  /** Update the text outside the shadow root at most four times a second, and at once when the run is over. */
  function write() {
    const now = () => {
      timer = null;
      setText(text, textOf(store.now));
    };
    if (written === (written = store.status)) timer ??= setTimeout(now, 250);
    else now(clearTimeout(timer));
  }

  store.listeners.add(show);
  const forget = onOtherColors(store.changed);
  show(store.now);
  return {
    select: tabs.select,
    /** Mark the operation on the cell's line that has this text, where the cursor is. */
    selectLine(line, text) {
      if (store.selectLine(line, text)) requestAnimationFrame(() => tabs.reveal());
    },
    remove() {
      store.listeners.delete(show);
      forget();
      clearTimeout(timer);
      for (const part of [head, replay, tabs]) part.dispose();
      if (line !== null) onSelect(null);
      text.remove();
      root.replaceChildren();
    },
  };
}

function createTabs(store, ask, canAsk) {
  const made = new Map(); // the parts of each view that has been shown
  const id = `tfrt-${Math.random().toString(36).slice(2, 8)}`;
  const panel = element("div.panel.scroll", { id, role: "tabpanel", tabindex: "0" });
  const list = element("div", { role: "tablist", "aria-label": "Views" });
  const tools = element("span.bar");
  const node = element("div.tabs", {}, list, element("span.space"), tools);
  const tabs = VIEWS.map(view => button(view.title, () => select(view.title), { role: "tab", "aria-controls": id }));
  const badges = tabs.map(tab => tab.appendChild(element("span.badge", { "aria-hidden": true })));
  let shown = null;
  const scrolled = new Map();

  function select(title) {
    store.memory.tab = title;
    show(store.now);
  }

  function show(moment) {
    const seen = VIEWS.filter(view => !view.isEmpty(store, canAsk));
    const view = seen.find(({ title }) => title === (store.memory.tab ?? "Values")) ?? seen[0];
    const nodes = tabs.filter((_, place) => seen.includes(VIEWS[place]));
    if (nodes.length !== list.children.length) list.replaceChildren(...nodes);
    VIEWS.forEach((each, place) => {
      setAttributes(tabs[place], { "aria-selected": each === view, tabindex: each === view ? 0 : -1 });
      const badge = nodes.includes(tabs[place]) && each.badge?.(store);
      setText(badges[place], badge ? count(badge) : "");
    });
    if (!made.has(view)) made.set(view, view.create(store, ask));
    const isNew = shown !== view,
      parts = made.get(view);
    if (isNew) {
      if (shown) scrolled.set(shown, panel.scrollTop); // without a shown view, reading this would only force a layout
      shown = view;
      panel.setAttribute("aria-label", view.title);
      panel.replaceChildren(parts.node);
      tools.replaceChildren(...(parts.tools ?? []));
    }
    parts.show(moment);
    if (isNew && store.selection) requestAnimationFrame(() => parts.reveal?.());
    if (scrolled.has(view)) panel.scrollTop = scrolled.get(view);
    scrolled.delete(view);
  }

  list.addEventListener("keydown", event => {
    const nodes = [...list.children],
      here = nodes.indexOf(event.target);
    if (here < 0) return;
    const there = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: nodes.length - 1 }[event.key];
    if (there == null) return;
    const node = nodes[(there + nodes.length) % nodes.length];
    node.click();
    node.focus();
    event.preventDefault();
  });
  return {
    node,
    panel,
    show,
    select,
    reveal: () => made.get(shown)?.reveal?.(),
    dispose() {
      for (const parts of made.values()) parts.dispose?.();
    },
  };
}

/** A slider through the time of a finished run, with play, pause, and one event forward or back. */
function createReplay(store) {
  const slider = element("input", {
    type: "range",
    min: 0,
    step: "any",
    "aria-label": "Replay",
    style: "flex: 1 1 120px",
    oninput: () => {
      pause();
      store.goTo(Number(slider.value));
    },
  });
  const named = label => ({ "aria-label": label, title: label });
  const play = button("▶", () => (timer === null ? start() : pause()));
  const back = button(
    "‹",
    () => {
      pause();
      store.step(-1);
    },
    named("Step back"),
  );
  const forth = button(
    "›",
    () => {
      pause();
      store.step(1);
    },
    named("Step forward"),
  );
  const speed = element(
    "select",
    { "aria-label": "Speed" },
    ...[20, 8, 3, 0].map(value =>
      element("option", { value, selected: value === 8 }, value ? `replay in ${value} s` : "replay as it was"),
    ),
  );
  const time = element("span.soft");
  const node = element(
    "div.bar",
    { role: "group", "aria-label": "Replay controls" },
    play,
    back,
    forth,
    slider,
    time,
    speed,
  );
  let timer = null,
    last = 0;

  /** Play the run.  A step every 33 ms is smooth enough without an animation. */
  function start() {
    clearInterval(timer);
    if (store.isLive) store.goTo(0);
    last = performance.now();
    timer = setInterval(() => {
      const now = performance.now(),
        seconds = Number(speed.value) || Math.max(0.001, store.end / 1e9);
      store.goTo(Math.min(store.time, store.end) + ((now - last) / 1000 / seconds) * store.end);
      last = now;
      if (store.isLive) pause();
    }, 33);
    store.changed();
  }

  store.play = start;

  function pause() {
    clearInterval(timer);
    timer = null;
    store.changed();
  }

  function show(moment) {
    node.hidden = !store.isOver || !store.end;
    if (node.hidden) return;
    slider.max = store.end;
    const now = Math.min(store.time, store.end);
    if (Number(slider.value) !== now) slider.value = now;
    slider.setAttribute("aria-valuetext", `${duration(now)} of ${duration(store.end)}`);
    setText(time, `${duration(now)} / ${duration(store.end)}`);
    setText(play, timer === null ? "▶" : "❙❙");
    setAttributes(play, named(timer === null ? "Play" : "Pause"));
  }

  return { node, show, dispose: () => clearInterval(timer) };
}
