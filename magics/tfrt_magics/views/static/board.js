// The board of one %%tfrt cell: what each value is, where it was computed and when.
//
// One ES module without libraries, used twice: as the widget of a running cell (the default export,
// for anywidget) and as the renderer of a saved run (`createBoard`, for the labextension).
// All text enters the page through `textContent`.

// A shape, a colour (Okabe and Ito) and a word for every state: none of them has to be seen.
const STATES = {
  unavailable: { shape: "○", colour: "var(--tfrt-wait)" },
  available: { shape: "●", colour: "#009e73" },
  error: { shape: "▲", colour: "#d55e00" },
  skipped: { shape: "◇", colour: "#e69f00" },
  cancelled: { shape: "■", colour: "#cc79a7" },
};

const STATUSES = {
  waiting: STATES.unavailable,
  running: STATES.unavailable,
  done: STATES.available,
  failed: STATES.error,
  cancelled: STATES.cancelled,
  "timed out": STATES.cancelled,
};

const UNDECIDED = new Set(["unavailable", "cancelled"]);

const COLUMNS = [
  { title: "state", key: (row) => Object.keys(STATES).indexOf(row.state) },
  { title: "name", key: (row) => row.name },
  { title: "value", key: (row) => asNumber(row.text ?? "") },
  { title: "type", key: (row) => row.type },
  { title: "worker", key: (row) => row.worker ?? "" },
  { title: "start + duration", key: (row) => row.resolved_ns ?? Infinity },
];

const STYLE = `
.tfrt-board { --tfrt-wait: #0072b2; --line: var(--jp-border-color2, #8885); --soft: var(--jp-ui-font-color2, inherit);
  color: var(--jp-ui-font-color1, inherit); font: 13px/1.4 var(--jp-ui-font-family, system-ui, sans-serif);
  border: 1px solid var(--line); border-radius: 6px; overflow: hidden; margin: 2px 0; }
[data-jp-theme-light=false] .tfrt-board { --tfrt-wait: #56b4e9; }
.tfrt-board code, .tfrt-board pre { font: 12px/1.45 var(--jp-code-font-family, ui-monospace, monospace);
  background: none; color: inherit; }
.tfrt-head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 14px; padding: 7px 12px; }
.tfrt-head b { font-weight: 600; }
.tfrt-soft { color: var(--soft); font-variant-numeric: tabular-nums; }
.tfrt-space { flex: 1 1 0; }
.tfrt-board input, .tfrt-board button.tfrt-cancel { font: inherit; color: inherit; padding: 1px 8px;
  background: var(--jp-layout-color1, transparent); border: 1px solid var(--line); border-radius: 4px; }
.tfrt-board input { width: 130px; }
.tfrt-board button.tfrt-cancel { cursor: pointer; }
.tfrt-progress { height: 3px; background: var(--jp-layout-color2, #8882); }
.tfrt-progress > div { height: 100%; width: 0; transition: width .12s linear; }
.tfrt-note { margin: 0; padding: 5px 12px; border-bottom: 1px solid var(--line); }
.tfrt-scroll { max-height: 420px; overflow: auto; }
.tfrt-board h4 { margin: 0; padding: 7px 12px 3px; font-size: 13px; font-weight: 600; color: inherit; }
.tfrt-board table { width: 100%; border-collapse: collapse; table-layout: auto; margin: 0; font-size: 12px;
  border: 0; color: inherit; }
.tfrt-board th { position: sticky; top: 0; text-align: left; padding: 0; font-weight: 400;
  background: var(--jp-layout-color0, Canvas); border-bottom: 1px solid var(--line); }
.tfrt-board th button { all: unset; cursor: pointer; padding: 3px 12px; color: var(--soft); }
.tfrt-board th[aria-sort]:not([aria-sort=none]) button { font-weight: 600; }
.tfrt-board td { text-align: left; padding: 2px 12px; white-space: nowrap; vertical-align: top; border: 0; }
.tfrt-board tbody tr { background: none; }
.tfrt-board tbody tr:hover { background: var(--jp-layout-color2, #8881); }
.tfrt-board tr.tfrt-result code { font-weight: 700; }
.tfrt-board td.tfrt-value { width: 99%; max-width: 0; overflow: hidden; text-overflow: ellipsis; }
.tfrt-board tr[aria-expanded=true] td.tfrt-value { white-space: pre-wrap; overflow-wrap: anywhere; }
.tfrt-track { position: relative; display: inline-block; width: 130px; height: 9px; margin-right: 8px;
  background: var(--jp-layout-color2, #8881); border-radius: 2px; vertical-align: -1px; }
.tfrt-track i { position: absolute; top: 0; bottom: 0; min-width: 2px; border-radius: 2px;
  left: calc(100% * var(--from) / var(--end)); width: calc(100% * (var(--to) - var(--from)) / var(--end)); }
.tfrt-track i.tfrt-open { width: auto; right: 0; opacity: .45; }
.tfrt-log { border-top: 1px solid var(--line); }
.tfrt-log summary { padding: 4px 12px; cursor: pointer; color: var(--soft); }
.tfrt-log pre { margin: 0; padding: 2px 12px 8px; max-height: 240px; overflow: auto; white-space: pre-wrap; }
.tfrt-board :is(button, input, tr, pre, summary):focus-visible { outline: 2px solid var(--jp-brand-color1, #0072b2);
  outline-offset: -2px; }
.tfrt-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (prefers-reduced-motion: reduce) { .tfrt-progress > div { transition: none; } }
`;

/** What `delta` makes of the keyframe `base`.  Both are JSON; neither is changed. */
export function applyDelta(base, delta) {
  const sections = base.sections.map((section, place) => {
    const [status, ...hidden] = delta.sections[place];
    return { ...section, status, hidden, rows: [...section.rows] };
  });
  for (const [place, position, row] of delta.rows) sections[place].rows[position] = row;
  const { status, note, elapsed_ns, log_dropped } = delta;
  const log = base.log.slice(0, delta.log[0]) + delta.log[1];
  return { ...base, status, note, elapsed_ns, log_dropped, log, sections };
}

/** How many values are decided.  Results stand for the values of a function that names none. */
export function progress(sections) {
  let [resolved, total] = [0, 0];
  for (const { rows, hidden } of sections) {
    const named = rows.filter((row) => !row.is_result);
    const counted = named.length ? named : rows;
    resolved += counted.filter((row) => !UNDECIDED.has(row.state)).length + hidden[0];
    total += counted.length + hidden[1];
  }
  return [resolved, total];
}

/** Three digits that matter: `850 ns`, `12.3 µs`, `1.23 ms`, `45.0 s`. */
export function duration(nanoseconds) {
  for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]]) {
    if (nanoseconds < size) continue;
    const value = nanoseconds / size;
    return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(nanoseconds)} ns`;
}

const isOver = (status) => status !== "running" && status !== "waiting";

function asNumber(text) {
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(left, right) {
  if (typeof left === typeof right) return left < right ? -1 : left > right ? 1 : 0;
  return typeof left === "number" ? -1 : 1; // numbers before words
}

function element(tag, properties = {}, ...children) {
  const { attributes = {}, ...rest } = properties;
  const node = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

function shapeOf(mark) {
  const shape = element("span", { textContent: mark.shape, attributes: { "aria-hidden": "true" } });
  shape.style.color = mark.colour;
  return shape;
}

/**
 * A board in `host`, showing `snapshot`.
 *
 * Returns `show(snapshot)`, to be called with every new one, and `remove()`.
 * `cancel`, when given, is called when the reader asks to stop the run.
 */
export function createBoard(host, snapshot, { cancel = null } = {}) {
  const head = createHead(cancel, (text) => tables.forEach((table) => table.filter(text)));
  const note = element("p", { className: "tfrt-note", hidden: true });
  const scroll = element("div", { className: "tfrt-scroll" });
  const log = createLog();
  const root = element(
    "div",
    { className: "tfrt-board", attributes: { role: "group", "aria-label": "%%tfrt run" } },
    element("style", { textContent: STYLE }),
    ...head.nodes, note, scroll, log.node,
  );
  let tables = [];

  function show(next) {
    head.show(next);
    note.textContent = next.note;
    note.hidden = !next.note;
    if (tables.length !== next.sections.length) {
      tables = next.sections.map(() => createTable());
      scroll.replaceChildren(...tables.map((table) => table.node));
    }
    tables.forEach((table, place) => table.show(next.sections[place], next));
    log.show(next);
  }

  show(snapshot);
  host.append(root);
  return { show, remove: () => { head.stop(); root.remove(); } };
}

function createHead(cancel, onFilter) {
  const status = element("b");
  const count = element("span", { className: "tfrt-soft" });
  const time = element("span", { className: "tfrt-soft" });
  const queue = element("span", { className: "tfrt-soft" });
  const search = element("input", { type: "search", placeholder: "filter",
    attributes: { "aria-label": "Show only rows that contain" } });
  search.addEventListener("input", () => onFilter(search.value));
  // Without this the notebook takes the keys for its own shortcuts.
  search.addEventListener("keydown", (event) => event.stopPropagation());
  const stop = element("button", { className: "tfrt-cancel", textContent: "Cancel", hidden: !cancel });
  // It stays enabled: a click can reach the kernel late, and a second one does no harm.
  stop.addEventListener("click", () => cancel());
  const bar = element("div");
  const progressbar = element("div",
    { className: "tfrt-progress", attributes: { role: "progressbar", "aria-valuemin": "0" } }, bar);
  const spoken = element("div", { className: "tfrt-hidden", attributes: { role: "status", "aria-live": "polite" } });
  const clock = createClock((nanoseconds) => { time.textContent = duration(nanoseconds); });
  const speak = createSpeaker(spoken);

  function show(snapshot) {
    const mark = STATUSES[snapshot.status];
    const [resolved, total] = progress(snapshot.sections);
    const text = `${resolved} of ${total} values`;
    status.replaceChildren(shapeOf(mark), ` ${snapshot.status}`);
    count.textContent = text;
    queue.textContent = snapshot.work_queue;
    bar.style.width = `${total ? (100 * resolved) / total : isOver(snapshot.status) ? 100 : 0}%`;
    bar.style.background = mark.colour;
    progressbar.setAttribute("aria-valuenow", resolved);
    progressbar.setAttribute("aria-valuemax", total);
    progressbar.setAttribute("aria-valuetext", text);
    stop.hidden = !cancel || isOver(snapshot.status);
    clock.set(snapshot.elapsed_ns, !isOver(snapshot.status));
    speak(`${snapshot.status}, ${text}. ${snapshot.note}`, isOver(snapshot.status));
  }

  const line = element("div", { className: "tfrt-head" }, status, count, time, queue,
    element("span", { className: "tfrt-space" }), search, stop);
  return { nodes: [line, progressbar, spoken], show, stop: () => clock.set(0, false) };
}

/** Counts on between two snapshots, so that a quiet run is seen to go on. */
function createClock(draw) {
  let timer = null;
  let start = 0;
  return {
    set(nanoseconds, isRunning) {
      start = performance.now() - nanoseconds / 1e6;
      draw(nanoseconds);
      if (isRunning && timer === null) {
        timer = setInterval(() => draw((performance.now() - start) * 1e6), 100);
      } else if (!isRunning && timer !== null) {
        clearInterval(timer);
        timer = null;
      }
    },
  };
}

/** A screen reader hears at most one sentence in two seconds, and always the last one. */
function createSpeaker(node) {
  let last = -Infinity;
  return (sentence, isLast) => {
    const now = performance.now();
    if (!isLast && now - last < 2000) return;
    last = now;
    if (node.textContent !== sentence) node.textContent = sentence;
  };
}

function createTable() {
  const title = element("h4");
  const headings = COLUMNS.map(createHeading);
  const body = element("tbody");
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...headings)), body);
  const more = element("p", { className: "tfrt-note tfrt-soft", hidden: true });
  const node = element("section", {}, title, table, more);
  let rows = [];
  let sorting = { column: -1, direction: 1 };
  let wanted = "";

  function createHeading(column, place) {
    const button = element("button", { type: "button", textContent: column.title });
    button.addEventListener("click", () => sortBy(place));
    return element("th", { scope: "col", attributes: { "aria-sort": "none" } }, button);
  }

  /** First click: rising.  Second: falling.  Third: the order of the program. */
  function sortBy(place) {
    if (sorting.column !== place) sorting = { column: place, direction: 1 };
    else if (sorting.direction === 1) sorting = { column: place, direction: -1 };
    else sorting = { column: -1, direction: 1 };
    headings.forEach((heading, at) => heading.setAttribute("aria-sort",
      at !== sorting.column ? "none" : sorting.direction === 1 ? "ascending" : "descending"));
    arrange();
  }

  function arrange() {
    const { column, direction } = sorting;
    const ordered = column < 0 ? rows
      : [...rows].sort((a, b) => direction * compare(COLUMNS[column].key(a.data), COLUMNS[column].key(b.data)));
    body.append(...ordered.map((row) => row.node));
    match();
  }

  function match() {
    for (const row of rows) row.node.hidden = !row.contains(wanted);
  }

  function show(section, snapshot) {
    title.replaceChildren(shapeOf(STATUSES[section.status]), ` @${section.name} `,
      element("span", { className: "tfrt-soft", textContent: section.status }));
    more.textContent = `… and ${section.hidden[1]} more values`;
    more.hidden = !section.hidden[1];
    const times = section.rows.map((row) => row.resolved_ns ?? row.started_ns ?? 0);
    const open = section.rows.some((row) => row.started_ns != null && row.resolved_ns == null);
    node.style.setProperty("--end", Math.max(1, ...times, open && section.status === "running" ? snapshot.elapsed_ns : 0));
    if (rows.length !== section.rows.length) {
      rows = section.rows.map(() => createRow());
      body.replaceChildren();
      rows[0]?.node.setAttribute("tabindex", "0");
    }
    const changed = rows.filter((row, place) => row.show(section.rows[place]));
    if (changed.length) (sorting.column >= 0 || !body.children.length ? arrange : match)();
  }

  body.addEventListener("keydown", (event) => onRowKey(event, body));
  return { node, show, filter: (text) => { wanted = text.toLowerCase(); match(); } };
}

/** Arrows walk through the rows, of which one can be reached with Tab; Enter unfolds a long value. */
function onRowKey(event, body) {
  const visible = [...body.children].filter((row) => !row.hidden);
  const here = visible.indexOf(event.target);
  const there = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: visible.length - 1 }[event.key];
  if (event.key === "Enter") toggle(event.target);
  else if (there === undefined || here < 0) return;
  else if (visible[there]) focusRow(body, visible[there]);
  event.preventDefault();
  event.stopPropagation();
}

function focusRow(body, row) {
  for (const other of body.children) other.setAttribute("tabindex", "-1");
  row.setAttribute("tabindex", "0");
  row.focus();
}

function toggle(row) {
  row.setAttribute("aria-expanded", row.getAttribute("aria-expanded") !== "true");
}

function createRow() {
  const [state, type, worker] = ["", "", ""].map(() => element("td"));
  const name = element("code");
  const value = element("td", { className: "tfrt-value" });
  const when = element("td", { className: "tfrt-soft" });
  const node = element("tr", { attributes: { tabindex: "-1", "aria-expanded": "false" } },
    state, element("td", {}, name), value, type, worker, when);
  const row = { node, data: {}, show, contains };
  let seen = "";
  node.addEventListener("dblclick", () => toggle(node));

  function show(data) {
    if (data === row.data) return false; // a delta keeps the objects of the rows that it leaves alone
    row.data = data;
    const text = JSON.stringify(data);
    if (text === seen) return false;
    seen = text;
    node.classList.toggle("tfrt-result", Boolean(data.is_result));
    node.dataset.state = data.state;
    node.dataset.name = data.name;
    state.replaceChildren(shapeOf(STATES[data.state]), ` ${data.state}`);
    name.textContent = data.name;
    value.replaceChildren(element("code", { textContent: data.text ?? "" }), repeated(data));
    value.title = data.text ?? "";
    type.replaceChildren(element("code", { textContent: data.type }));
    worker.textContent = data.worker ?? "";
    when.replaceChildren(...timing(data));
    return true;
  }

  function contains(text) {
    const { name, state, type, worker = "" } = row.data;
    return !text || [name, state, type, worker, row.data.text ?? ""].join(" ").toLowerCase().includes(text);
  }
  return row;
}

const repeated = (data) =>
  data.count > 1 ? element("span", { className: "tfrt-soft", textContent: ` ×${data.count}` }) : "";

/** A bar on the section's time axis, and the numbers that it shows. */
function timing(data) {
  const from = data.started_ns ?? data.resolved_ns;
  if (from == null) return [];
  const bar = element("i", { className: data.resolved_ns == null ? "tfrt-open" : "" });
  bar.style.setProperty("--from", from);
  bar.style.setProperty("--to", data.resolved_ns ?? from);
  bar.style.background = STATES[data.state].colour;
  const track = element("span", { className: "tfrt-track", attributes: { "aria-hidden": "true" } }, bar);
  const length = data.resolved_ns == null ? "…" : duration(data.resolved_ns - from);
  const text = data.started_ns == null ? duration(from) : `${duration(from)} + ${length}`;
  return [track, text];
}

function createLog() {
  const summary = element("summary", { textContent: "Printed" });
  const text = element("pre", { tabIndex: 0, attributes: { role: "log", "aria-label": "Printed by the program" } });
  const node = element("details", { className: "tfrt-log", open: true, hidden: true }, summary, text);
  let seen = "";

  function show({ log, log_dropped: dropped }) {
    const full = dropped ? `${log}\n… and ${dropped} more characters` : log;
    if (full === seen) return;
    const isAtEnd = text.scrollTop + text.clientHeight >= text.scrollHeight - 4;
    if (full.startsWith(seen)) text.append(full.slice(seen.length));
    else text.textContent = full;
    seen = full;
    node.hidden = !full;
    if (isAtEnd) text.scrollTop = text.scrollHeight; // follow the end, unless the reader scrolled up
  }
  return { node, show };
}

/** For anywidget: one closure per model, so that all its views show the same state. */
export default () => {
  let keyframe;
  let latest;
  const boards = new Set();

  function show(snapshot) {
    latest = snapshot;
    for (const board of boards) board.show(snapshot);
  }

  return {
    initialize({ model }) {
      keyframe = latest = model.get("snapshot");
      model.on("change:snapshot", () => show((keyframe = model.get("snapshot"))));
      model.on("msg:custom", (message) => {
        if (message.kind === "delta") show(applyDelta(keyframe, message));
      });
    },
    render({ model, el }) {
      const board = createBoard(el, latest, { cancel: () => model.send({ kind: "cancel" }) });
      boards.add(board);
      return () => { boards.delete(board); board.remove(); };
    },
  };
};
