// The head of a board: the state of the run, what has failed, and the results.

import { button, count, duration, element, flash, setAttributes, setText } from "./dom.js";
import { exports, textOf } from "./export.js";
import { shortened, showPicture } from "./tensors.js";
import { ERROR, SHAPES, STATUSES } from "./theme.js";
import { functionsOf, namesOf, progress, resultsOf } from "./views/values.js";

const TICK = 100; // ms
const MOST_RESULTS = 8;
const HAS_FUNCTION = /\bfunc\b.*@/; // but not a Python function

/** The facts for which the head has no room. */
function factsOf({ document, end, isOver }) {
  const { elapsed, simple, work_queue: queue } = document;
  return [
    end && isOver && `the run, from first to last event: ${duration(end)}`,
    elapsed && isOver && `the whole cell: ${duration(elapsed)}`,
    queue && !simple && `work queue: ${queue}`,
  ]
    .filter(Boolean)
    .join("\n");
}

/** A button that copies `text()` to the clipboard. */
function copier(name, text, properties) {
  const node = button(
    name,
    async () => {
      const done = await navigator.clipboard?.writeText(text()).then(
        () => true,
        () => false,
      ); // plain http has no clipboard
      setText(node, done ? "Copied" : "Not copied");
      setTimeout(() => setText(node, name), 1500);
    },
    properties,
  );
  return node;
}

export function createHead(store, ask, canAsk, code, linkOf) {
  const shape = element("span.shape", { "aria-hidden": true });
  const title = element("b");
  const [values, time] = [0, 1].map(() => element("span.soft"));
  const cancel = button("Cancel", async () => {
    if (!(await ask({ cancel: store.document.run }))) setText(cancel, "No answer: restart the kernel?");
  });
  const copy = copier("Copy", () => textOf(store.now));
  const share = copier("Share", () => linkOf(store.document.source), { title: "Copy a link that opens this program" });
  const exporting = exports(store, ask, canAsk, code);
  const bar = element("div");
  const progressbar = element(
    "div.progress",
    { role: "progressbar", "aria-valuemin": "0", "aria-label": "values decided" },
    bar,
  );
  const spoken = element("div.hidden", { role: "status", "aria-live": "polite" });
  const line = element(
    "div.head",
    {},
    element("span", {}, shape, title),
    values,
    time,
    element("span.space"),
    cancel,
    copy,
    share,
    ...exporting.nodes,
  );
  let said = -Infinity,
    clock = null;

  function show(moment) {
    const { document, status, isOver } = store,
      { look, word } = STATUSES[status],
      standing = `${namesOf(moment)} ${word}`;
    const [decided, total, text] = progress(moment);
    const isPast = isOver && !store.isLive;
    line.dataset.state = isPast ? "ready" : look;
    setText(shape, isPast ? "↻" : SHAPES[look]);
    setText(title, ` ${isPast ? `${namesOf(moment)} replay` : standing}`);
    setText(values, text);
    time.title = factsOf(store);
    share.hidden = !linkOf || !HAS_FUNCTION.test(store.document.source);
    bar.style.width = `${total ? (100 * decided) / total : 100}%`;
    bar.style.background = `var(--${look})`;
    setAttributes(progressbar, { "aria-valuenow": decided, "aria-valuemax": total, "aria-valuetext": text });
    cancel.hidden = isOver || !ask;
    tick(isPast ? `${duration(moment.time)} of ${duration(store.end)}` : null);
    speak(`${standing}, ${text}. ${document.note ?? ""}`, isOver);
  }

  /** Show the time, which advances between messages so that a quiet run is seen to continue; or show `past`. */
  function tick(past = null) {
    const { isOver, end } = store;
    setText(time, past ?? (!isOver ? `${(store.clock / 1e9).toFixed(1)} s` : end ? duration(end) : ""));
    if (!isOver) {
      clock ??= setInterval(() => {
        tick();
        for (const each of store.tickers) each();
      }, TICK);
    } else clock = clearInterval(clock);
  }

  /** Let a screen reader announce at most one sentence every two seconds, but always the last one. */
  function speak(sentence, isLast) {
    const now = performance.now();
    store.speaker ??= spoken; // if a run has several boards, only one speaks
    if (store.speaker !== spoken || (!isLast && now - said < 2000)) return;
    said = now;
    setText(spoken, sentence);
  }

  return {
    line,
    progressbar,
    spoken,
    show,
    dispose() {
      clearInterval(clock);
      if (store.speaker === spoken) store.speaker = null;
    },
  };
}

/** The text of a run's first error; a click on it leads to where the error happened. */
export function createProblem(store) {
  const shape = element("span.shape", { "aria-hidden": true }, SHAPES.error),
    words = element("span"),
    place = element("span.soft");
  const node = button("", () => (at == null ? null : store.selectValue(at)), { className: "problem", hidden: true });
  node.append(shape, " ", words, place);
  let at = null;

  /**
   * The value that failed first, preferably one that an operation made; if there is none, the text of a failed result.
   */
  function first(moment) {
    const { state, end } = moment.history.values,
      isMade = value => moment.program.values[value].op != null;
    let found = null;
    for (let i = state.indexOf(ERROR); i >= 0; i = state.indexOf(ERROR, i + 1))
      if (found === null || (isMade(i) === isMade(found) ? end[i] < end[found] : isMade(i))) found = i;
    if (found !== null || !moment.isEnd) return [found, found === null ? "" : moment.preview(found)];
    const results = Object.values(moment.document.results).flat();
    return [null, results.find(([word]) => word === "error")?.[1] ?? ""];
  }

  function show(moment) {
    let text = "";
    if (store.status !== "done") [at, text] = first(moment);
    // In a replay, keep the line's place before the error happens, so that nothing below it moves.
    node.hidden &&= !text;
    node.hidden ||= !text && store.isLive;
    node.style.visibility = text ? "" : "hidden";
    if (!text) return;
    const { name, op } = moment.program.values[at] ?? {},
      line = moment.program.operations[op]?.line;
    setText(words, text);
    setText(place, [name && ` ${name}`, line && ` line ${line}`].filter(Boolean).join(","));
  }
  return { node, show };
}

/** The functions' results, in large letters: `answer = 42 : i32`. */
export function createResults(store) {
  const node = element("div.outcome", { role: "group", "aria-label": "Results" });
  const items = [];

  function itemAt(place) {
    if (!items[place]) {
      const item = button("", () => (item.at == null ? null : store.selectValue(item.at)));
      item.parts = ["name", "", "picture", "type.soft"].map(names => element(`span${names && `.${names}`}`));
      item.append(...item.parts);
      items[place] = item;
    }
    return items[place];
  }

  function show(moment) {
    const started = functionsOf(moment).filter(({ name }) => name in moment.document.results);
    const all = started
      .flatMap(function_ => resultsOf(moment, function_).map(row => ({ ...row, from: function_.name })))
      .filter(({ type, state }) => state === "error" || !/chain|!async.token/.test(type));
    const rows = all.slice(0, MOST_RESULTS);
    node.hidden = !rows.length;
    rows.forEach((row, place) => draw(itemAt(place), moment, row, started.length > 1 ? `@${row.from} ` : ""));
    const more = all.length - rows.length;
    node.replaceChildren(
      ...items.slice(0, rows.length),
      ...(more > 0 ? [element("span.soft", {}, `and ${count(more)} more`)] : []),
    );
  }

  function draw(item, moment, row, from) {
    const [name, words, picture, type] = item.parts,
      own = moment.program.values[row.value]?.name ?? "";
    item.at = row.value;
    // The result of a kernel that did not run has the error that the kernel was skipped for.
    const state = row.state === "error" && row.value != null ? moment.state(row.value) : row.state;
    setAttributes(item, { "data-result": row.name, "data-state": state });
    setText(name, from + (/^%[^\d]/.test(own) ? own.slice(1) : row.name));
    setText(words, state === "available" ? ` = ${shortened(row.text)}` : ` ${SHAPES[state]} ${state}`);
    setText(type, row.type && ` : ${row.type}`);
    showPicture(picture, moment, row.value);
    flash(item, `${row.from} ${row.name}`, state);
  }
  return { node, show };
}
