// The table of values: for each function that ran, its results, and then its named values in program order.

import { button, count, duration, element, flash, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";
import { isShown } from "../history.js";
import { shortened, showPicture } from "../tensors.js";
import { createPrinted } from "./log.js";
import { SHAPES, STATES } from "../theme.js";

const NAMED = 8; // the maximum number of functions in a headline
const DECIDED = ["available", "error", "skipped", "unrecorded"];

const COLUMNS = [
  { title: "state", key: row => STATES.indexOf(row.state) },
  { title: "name", key: row => row.name },
  { title: "value", key: row => asNumber(row.text) },
  { title: "type", key: row => row.type },
  { title: "worker", key: row => row.worker },
  { title: "start", key: row => startOf(row) },
  { title: "duration", key: row => (isNaN(row.end - row.begin) ? Infinity : row.end - row.begin) },
];

/** When a row began or, if it has no begin, when it was resolved. */
const startOf = ({ begin, end }) => (isNaN(begin) ? (isNaN(end) ? Infinity : end) : begin);

function asNumber(text) {
  const number = Number(text);
  return text !== "" && !isNaN(number) ? number : text;
}

function compare(left, right) {
  if (typeof left === typeof right) return left < right ? -1 : left > right ? 1 : 0;
  return typeof left === "number" ? -1 : 1; // numbers come before words
}

/** The functions that have rows: those that were started, then those that other functions called. */
export function functionsOf(moment) {
  const { functions } = moment.program;
  const started = moment.document.functions
    .map(({ name }) => functions.find(each => each.name === name))
    .filter(Boolean);
  return [...started, ...functions.filter(each => !started.includes(each) && moment.history.called[each.id])];
}

export function namesOf(moment) {
  const all = functionsOf(moment),
    names = all
      .slice(0, NAMED)
      .map(({ name }) => `@${name}`)
      .join(", ");
  return all.length > NAMED ? `${names} and ${all.length - NAMED} more` : names;
}

/** The fields of a row that was computed once, by an unknown worker, at an unknown time. */
const UNTIMED = { worker: "", begin: NaN, end: NaN, count: 1 };

/** The rows for a function's results: `result`, or `result 0` and so on. */
export function resultsOf(moment, function_) {
  const { results, result_types: types, name } = function_;
  const said = moment.isEnd ? moment.document.results[name] : null;
  return (types ?? []).flatMap((type, place) => {
    const value = results[place];
    const known = value !== undefined && isRecorded(moment, value);
    if (!known && !(name in moment.document.results)) return []; // nothing is known about a called function
    const [state, text] = said?.[place] ?? (known ? [moment.state(value), moment.preview(value)] : ["waiting", ""]);
    return {
      ...UNTIMED,
      isResult: true,
      value,
      op: value === undefined ? null : moment.program.values[value].op,
      function: function_.id,
      name: types.length === 1 ? "result" : `result ${place}`,
      type,
      state,
      text,
      end: known ? moment.history.values.end[value] : NaN,
    };
  });
}

const isRecorded = (moment, value) =>
  isShown(moment, value) || !moment.tables.isCompiled[moment.program.values[value].function];

function rowOf(moment, value) {
  const { name, type, op, function: function_ } = moment.program.values[value];
  const { worker, begin, end, count: times } = moment.history.values;
  const row = {
    ...UNTIMED,
    value,
    op,
    function: function_,
    name,
    type,
    state: moment.state(value),
    text: moment.preview(value),
  };
  if (op != null && moment.tables.isConstant[op]) return row; // loaded, not computed: it has no worker and no time
  return Object.assign(row, {
    worker: moment.worker(worker[value]),
    begin: begin[value],
    end: end[value],
    isMore: moment.document.unlogged?.[op] === "more",
    count: Math.max(times[value], (moment.isEnd && moment.document.counts[value]) || 0),
  });
}

/** How often a row was computed, if more than once, with a `+` if later computations were not counted. */
export const timesOf = row => (row.count > 1 ? ` ×${count(row.count)}${row.isMore ? "+" : ""}` : "");

/**
 * The rows of a function: its results, and then its other named values.  Each value has one row; `tags` say which
 * results the value is.
 */
export function tableOf(moment, function_) {
  const rows = moment.store.valuesOf(moment, function_).map(value => rowOf(moment, value)),
    byValue = new Map(rows.map(row => [row.value, row])),
    found = new Set();
  for (const result of resultsOf(moment, function_)) {
    const row = byValue.get(result.value);
    if (row) (row.tags ??= []).push(result.name);
    found.add(row ?? result);
  }
  return [...found, ...rows.filter(row => !found.has(row))];
}

/**
 * How many named values are decided, how many there are, and a summary in words.  If a function has no named values,
 * its results are counted instead.
 */
export function progress(moment) {
  const counts = {};
  let [decided, total] = [0, 0];
  for (const function_ of functionsOf(moment)) {
    const values = moment.store.valuesOf(moment, function_);
    const states = values.length
      ? values.map(value => moment.state(value))
      : resultsOf(moment, function_).map(({ state }) => state);
    for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
    decided += states.filter(state => DECIDED.includes(state)).length;
    total += states.length;
  }
  const there = (counts.available ?? 0) + (counts.unrecorded ?? 0),
    others = [
      ["error", "failed"],
      ["skipped", "skipped"],
    ].flatMap(([state, word]) => (counts[state] ? [`${counts[state]} ${word}`] : []));
  return [decided, total, [`${there} of ${total} values`, ...others].join(", ")];
}

function createValues(store) {
  const headings = COLUMNS.map(({ title }, place) =>
    element(
      "div",
      { role: "columnheader", "aria-sort": "none" },
      button(title, () => sortBy(place)),
    ),
  );
  const search = element("input", {
    type: "search",
    placeholder: "filter",
    "aria-label": "Show only rows that contain",
    value: store.memory.filter ?? "",
    oninput: () => {
      store.memory.filter = search.value;
      store.changed();
    },
    onkeydown: event => event.stopPropagation(),
  });
  const head = element("div.headings", { role: "row" }, ...headings);
  const table = element("div.values", { role: "table", "aria-label": "Values" }, head);
  const printed = createPrinted(store);
  const node = element("div", {}, table, printed.node);
  const groups = new Map();
  let sorting = store.memory.sorting ?? { column: -1, sign: 0 };
  markSorting();

  /** Sort by a column: first click ascending, second click descending, third click in program order. */
  function sortBy(place) {
    const sign = sorting.column === place ? ({ 1: -1, 0: 1 }[sorting.sign] ?? 0) : 1;
    store.memory.sorting = sorting = { column: place, sign };
    markSorting();
    store.changed();
  }

  function markSorting() {
    const { column, sign } = sorting;
    headings.forEach((heading, at) =>
      heading.setAttribute("aria-sort", at !== column || !sign ? "none" : sign > 0 ? "ascending" : "descending"),
    );
  }

  /** Redraw the running rows, so that readers see time pass. */
  function tick() {
    if (node.isConnected) for (const { rows } of groups.values()) rows.redraw(({ state }) => state === "running");
  }
  store.tickers.add(tick);

  function groupOf(function_) {
    let group = groups.get(function_.id);
    if (!group) {
      const name = `@${function_.name}`;
      const title = element("h4", { "aria-hidden": true }, name); // the group has the name, as tables have no headings
      const rows = createRows({
        role: "rowgroup",
        label: name,
        itemRole: "row",
        height: 24,
        cells: [
          ["state", "ui"],
          ["name", "name"],
          ["value", "value"],
          ["type", "type soft"],
          ["worker", "worker ui soft"],
          ["when", "when ui soft"],
          ["took", "when ui soft"],
        ],
        draw: (row, item) => drawRow(row, item, store),
        choose: item => store.select(item.op, item.value ?? null),
      });
      group = { title, rows, node: element("section", { "data-function": function_.name }, title, rows.node) };
      groups.set(function_.id, group);
      table.append(group.node);
    }
    return group;
  }

  function show(moment) {
    const functions = functionsOf(moment);
    const wanted = search.value.toLowerCase();
    table.toggleAttribute("data-simple", !!store.document.simple);
    const end = Math.max(1, moment.time, store.end);
    for (const function_ of functions) {
      const group = groupOf(function_);
      group.title.hidden = functions.length === 1;
      let rows = tableOf(moment, function_);
      if (wanted)
        rows = rows.filter(({ name, state, type, worker, text, tags = [] }) =>
          [name, ...tags, state, type, worker, text].join(" ").toLowerCase().includes(wanted),
        );
      const { column, sign } = sorting;
      if (sign) rows.sort((a, b) => sign * compare(COLUMNS[column].key(a), COLUMNS[column].key(b)));
      for (const row of rows) Object.assign(row, { now: moment, whole: end });
      group.rows.show(rows);
    }
    for (const [id, group] of groups) group.node.hidden = !functions.some(each => each.id === id);
    printed.show(moment);
  }

  return { node, tools: [search], show, dispose: () => store.tickers.delete(tick) };
}

export const valuesView = { title: "Values", create: createValues, isEmpty: () => false };

/** Create the contents of a row's cells, when the row is drawn for the first time. */
function fill(row) {
  const { parts } = row;
  for (const cell of Object.values(parts)) cell.setAttribute("role", "cell");
  Object.assign(parts, {
    shape: element("span.shape", { "aria-hidden": true }),
    word: element("span"),
    bar: element("i"),
    time: element("span"),
    label: element("span"),
    tags: element("span"),
    picture: element("span.picture"),
    words: element("span"),
  });
  parts.track = element("span.track", { "aria-hidden": true }, parts.bar);
  parts.state.append(parts.shape, parts.word);
  parts.name.append(parts.label, parts.tags);
  parts.when.append(parts.track, parts.time);
}

function drawRow(row, item, store) {
  if (!row.parts.shape) fill(row);
  const { parts } = row,
    moment = item.now;
  const missing = item.isResult ? [] : moment.missing(item.op);
  const names = missing.map(value => moment.program.values[value].name || "a value without a name");
  const selected =
    store.selection &&
    (item.value != null
      ? store.selection.value === item.value || (store.selection.value == null && store.selection.op === item.op)
      : false);
  setAttributes(row, {
    "data-value": item.name,
    "data-state": item.state,
    "data-worker": item.worker || null,
    "data-op": item.op ?? null,
    "data-waits-for": names.length ? names.join(" ") : null,
    "aria-selected": !!selected,
  });
  row.classList.toggle("result", !!(item.isResult || item.tags));
  setText(parts.shape, SHAPES[item.state]);
  setText(parts.word, ` ${item.state}`);
  setText(parts.label, item.name);
  // The value that a function returns has one row, which can be found by either name.
  const tags = item.tags ?? [],
    text = shortened(item.text);
  if (parts.tags.textContent !== tags.map(tag => ` ${tag}${text}`).join("")) {
    parts.tags.replaceChildren(
      ...tags.map(tag =>
        element(
          "span.tag",
          { "data-value": tag, "data-state": item.state },
          ` ${tag}`,
          element("span.hidden", {}, text),
        ),
      ),
    );
  }
  for (const tag of parts.tags.children) tag.dataset.state = item.state;
  if (names.length) {
    const text = `waits for ${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`;
    if (parts.value.textContent !== text || !parts.value.firstElementChild) {
      parts.value.replaceChildren(
        button(
          text,
          event => {
            event.stopPropagation();
            store.selectValue(item.value);
          },
          { title: "Why is this not ready?", tabindex: "-1" },
        ),
      );
    }
  } else {
    if (parts.words.parentNode !== parts.value) parts.value.replaceChildren(parts.picture, parts.words);
    setText(parts.words, text + timesOf(item));
    showPicture(parts.picture, moment, item.value);
  }
  setText(parts.type, item.type);
  setText(parts.worker, item.worker);
  const from = startOf(item),
    isTimed = isFinite(from) && !item.isResult;
  parts.track.hidden = parts.time.hidden = !isTimed;
  flash(row, `${item.name}:${item.function}`, item.state);
  if (!isTimed) return void setText(parts.took, "");
  const isOpen = item.state === "running" || isNaN(item.end),
    to = isOpen ? Math.max(from, store.isLive ? store.clock : moment.time) : item.end,
    took = isNaN(item.begin) ? "" : duration(to - from) + (isOpen ? " …" : "");
  parts.bar.style.left = `${(100 * from) / Math.max(item.whole, to)}%`;
  parts.bar.style.width = `${(100 * (to - from)) / Math.max(item.whole, to)}%`;
  setText(parts.time, duration(from));
  setText(parts.took, took);
  parts.when.title = `began ${duration(from)} after the run's first event${took && `, took ${took}`}`;
}
