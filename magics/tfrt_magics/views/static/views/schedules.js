// Schedules: the outcomes of all schedules, with a replay of each; and a schedule that the reader chooses step by step.

import { button, element } from "../dom.js";
import { AVAILABLE } from "../theme.js";

export const RACE = "race: these two operations are unordered and access the same buffer";
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** The outcomes in words: how many there are, in how many schedules, and whether these are all. */
export function outcomesInWords({ count, schedules, is_complete: isComplete }) {
  const rest = isComplete ? "" : ", which are not all: the limit was reached";
  return `${counted(count, "outcome")} in ${counted(schedules, "schedule")}${rest}`;
}

const MOST_STEPS = 8; // the maximum number of steps of two compared orders, from the first difference on

/** The two orders to compare: those of the first outcome and of another, or two of the only outcome. */
function pairOf({ rows }, place) {
  if (rows.length < 2) return { orders: [rows[0]?.order ?? [], rows[0]?.other ?? []], heads: ["one order", "another"] };
  const second = Math.max(1, place);
  return { orders: [rows[0].order ?? [], rows[second].order ?? []], heads: ["outcome 1", `outcome ${second + 1}`] };
}

/** What the number of orders means: whether steps race, and whether that matters. */
function verdictOf({ count, schedules, is_complete: isComplete }) {
  if (count > 1) return null;
  if (schedules > 1) return `${schedules} orders, same outcome: nothing fixes the order.`;
  return isComplete ? "1 order: no two steps race." : null;
}

export function createOutcomes(store) {
  const node = element("div.detail", { hidden: true }),
    compared = element("div");
  let shown = null;

  /** Show two orders side by side, from the step before they first differ. */
  function compare(place) {
    const { outcomes } = store.document,
      { orders, heads } = pairOf(outcomes, place),
      [one, other] = orders;
    const length = Math.max(one.length, other.length);
    let same = 0;
    while (same < length && one[same] === other[same]) same++;
    if (!one.length || !other.length || same === length) return compared.replaceChildren();
    const first = Math.max(0, same - 1),
      last = Math.min(length, same + MOST_STEPS);
    const cell = op => {
      if (op === undefined) return element("td");
      const row = store.program.operations[op];
      if (!row) return element("td", {}, "a task");
      return element(
        "td",
        {},
        button(`line ${row.line}: ${store.textOf(op)}`, () => store.select(op)),
      );
    };
    const rows = [];
    for (let at = first; at < last; at++) {
      const isFirst = at === same;
      rows.push(
        element(
          "tr",
          { ...(isFirst && { "aria-current": true, "data-differs": true }) },
          element("td.soft", {}, `${at + 1}`),
          cell(one[at]),
          cell(other[at]),
        ),
      );
    }
    const more = length - last;
    compared.replaceChildren(
      element("div", {}, `The orders first differ at step ${same + 1}:`),
      element(
        "table",
        { "aria-label": "Two orders" },
        element(
          "thead",
          {},
          element("tr", {}, ...["step", ...heads].map(text => element("th.soft", { scope: "col" }, text))),
        ),
        element("tbody", {}, ...rows),
      ),
      ...(more > 0 ? [element("div.soft", {}, `and ${counted(more, "step")} more`)] : []),
    );
  }

  function choose(place) {
    [...node.querySelectorAll("[aria-label=Outcomes] tbody tr")].forEach((row, at) =>
      row.setAttribute("aria-current", at === place),
    );
    compare(place);
    store.replace({ ...store.document, ...store.document.outcomes.rows[place].run });
    store.goTo(0);
    store.play?.();
  }

  function textsOf(row, place) {
    const results = row.values
      .map((value, at) => `result${row.values.length === 1 ? "" : ` ${at}`} = ${value}`)
      .join("\n");
    return {
      outcome: `${place + 1}`,
      results,
      printed: row.printed,
      errors: row.errors.join("\n"),
      schedules: String(row.schedules),
    };
  }

  function rowOf(texts, place, heads, { run }) {
    const replay = run.events
      ? button("Replay", () => choose(place), { "aria-label": `Replay outcome ${place + 1}` })
      : "";
    const cells = heads.map(head => element("td", {}, element("pre", {}, texts[head])));
    return element("tr", { "aria-current": place === 0 }, ...cells, element("td", {}, replay));
  }

  function show() {
    const { outcomes, program } = store.document;
    node.hidden = !outcomes;
    if (!outcomes || shown === outcomes) return;
    shown = outcomes;
    const races = outcomes.races.map(pair =>
      element(
        "p.note",
        {},
        RACE,
        ...pair.map(op =>
          element(
            "div",
            {},
            button(`line ${program.operations[op]?.line}: ${store.textOf(op)}`, () => store.select(op)),
          ),
        ),
      ),
    );
    const texts = outcomes.rows.map(textsOf);
    // Leave out columns that are empty for all outcomes.
    const heads = Object.keys(texts[0] ?? {}).filter(head => texts.some(each => each[head]));
    const names = [...heads, "replay"].map(text => element("th.soft", { scope: "col" }, text));
    const rows = texts.map((each, place) => rowOf(each, place, heads, outcomes.rows[place]));
    const verdict = verdictOf(outcomes);
    node.replaceChildren(
      element("div", {}, outcomesInWords(outcomes)),
      ...(verdict ? [element("b", {}, verdict)] : []),
      element(
        "div",
        { style: "overflow-x: auto" },
        element(
          "table",
          { "aria-label": "Outcomes" },
          element("thead", {}, element("tr", {}, ...names)),
          element("tbody", {}, ...rows),
        ),
      ),
      compared,
      ...races,
    );
    compare(0);
    const more = outcomes.count - outcomes.rows.length;
    if (more > 0) node.append(element("div.soft", {}, `and ${counted(more, "outcome")} more`));
  }
  return { node, show };
}

function whatComes(moment, op) {
  if (moment.stateOf(op) === "running") return " … is running";
  return moment.program.operations[op].operands.some(value => moment.code(value) > AVAILABLE)
    ? " … is skipped: an input failed"
    : "";
}

/** The operations that the reader may run next, while the run waits for a choice. */
export function createReady(store, ask) {
  const list = element("div.bar", { role: "group", "aria-label": "Ready" });
  const end = button("Run to end", () => ask({ step: store.document.run }));
  const here = button("Run to here", () => ask({ step: store.document.run, op: store.selection.op, until: true }));
  const node = element(
    "div.detail",
    { hidden: true },
    element("div.soft", {}, "Ready: choose what runs next"),
    list,
    end,
    " ",
    here,
  );
  let shown = "",
    focused = -1;

  /**
   * Keep the focus for a reader who steps by keyboard: move it to the button that replaces the focused one or, at the
   * end, to the view.
   */
  function follow(next) {
    if (!next) return;
    const isLost = focused >= 0 && document.activeElement === document.body;
    if (isLost || node.contains(list.getRootNode().activeElement)) next.focus({ preventScroll: true });
    focused = -1;
  }

  function show(moment) {
    const ready = store.isOver ? null : store.document.ready,
      wasShown = !node.hidden;
    const place = [...list.children].indexOf(list.getRootNode().activeElement);
    if (place >= 0) focused = place;
    if (wasShown && !ready) follow(list.getRootNode().querySelector("[role=tabpanel]"));
    node.hidden = !ready || !ask;
    if (node.hidden) return;
    const chosen = store.chosen;
    // In compiled code, only tasks, and async functions that continue, are steps.
    const step = store.program.operations[chosen];
    here.hidden =
      !step || ready.includes(chosen) || (store.tables.isCompiled[step.function] && !/execute|call/.test(step.kernel));
    const words = ready.map(op => (op < 0 ? "a task of compiled code" : store.textOf(op) + whatComes(moment, op)));
    if (shown === (shown = words.join("\n"))) return;
    list.replaceChildren(
      ...ready.map((op, at) => button(words[at], () => ask({ step: store.document.run, op }), { "data-op": op })),
    );
    if (focused >= 0) follow(list.children[Math.min(focused, ready.length - 1)]);
  }
  return { node, show };
}
