// The program with each operation's state beside its line; and the program's stages on its way to the processor.

import { button, element, flash, setAttributes, setText } from "../dom.js";
import { createRows } from "../rows.js";
import { SHAPES, STATES } from "../theme.js";
import { showProgramText } from "../tokens.js";

/** Only this many characters of a line are shown. */
const MOST_LETTERS = 2000;

function createSource(store, label = "Source") {
  const rows = createRows({
    label,
    height: 20,
    cells: [
      ["number", "line-number"],
      ["shape", "shape"],
      ["text", ""],
      ["beside", "beside"],
      ["word", "hidden"],
    ],
    draw: drawItem,
    choose: ({ operations }) => {
      if (operations?.length) store.select(operations[0].id);
    },
  });
  const node = element("div.source", {}, rows.node);
  let moment = null,
    program = null,
    byLine = new Map(),
    lines = [];

  function show(next) {
    moment = next;
    if (program !== store.program) {
      program = store.program;
      byLine = new Map();
      for (const operation of program.operations)
        byLine.set(operation.line, [...(byLine.get(operation.line) ?? []), operation]);
    }
    lines = store.document.source
      .trimEnd()
      .split("\n")
      .map((text, place) => ({ text, number: place + 1, operations: byLine.get(place + 1) }));
    lines = lines.slice(lines.findIndex(({ text }) => text));
    rows.show(lines);
  }

  function drawItem(row, { text, number, operations }) {
    const codes = operations?.map(({ id }) => STATES.indexOf(moment.stateOf(id))) ?? [];
    const state = codes.length ? STATES[Math.max(...codes)] : null;
    setAttributes(row, {
      "data-line": number,
      "data-state": state,
      "data-op": operations?.[0].id ?? null,
      "aria-current": operations?.some(({ id }) => id === store.chosen) || null,
    });
    setText(row.parts.number, String(number));
    setText(row.parts.shape, state ? SHAPES[state] : "");
    setText(row.parts.word, state ? `, ${state}` : "");
    showProgramText(row.parts.text, text.length > MOST_LETTERS ? `${text.slice(0, MOST_LETTERS)}…` : text);
    setText(row.parts.beside, valuesOf(operations));
    flash(row, number, state);
  }

  /** The results so far of the operations on a line. */
  const valuesOf = operations =>
    (operations ?? [])
      .map(({ results }) => moment.lineOf(results))
      .filter(Boolean)
      .join(", ");

  /** Bring the line of the selected operation into view. */
  function reveal() {
    rows.reveal(lines.findIndex(({ operations }) => operations?.some(({ id }) => id === store.chosen)));
  }

  return { node, show, reveal };
}

export const sourceView = {
  title: "Source",
  create: store => createSource(store),
  isEmpty: store => !store.document.source.trim(),
};

/**
 * The program, and beside it the text that each pass, LLVM, and the BEF writer make of it.
 *
 * The kernel makes these texts when the view is opened; `ops` says which operation each line belongs to.  `ask` asks
 * the kernel, if there is one.
 */
function createStages(store, ask) {
  const source = createSource(store, "Program");
  const list = element("div.bar.stages", { role: "group", "aria-label": "Stages" });
  const about = element("p.note.soft");
  const rows = createRows({
    label: "Stage",
    height: 20,
    cells: [
      ["mark", "line-number"],
      ["text", ""],
    ],
    draw: drawItem,
    choose: ({ op }) => {
      if (op >= 0) store.select(op);
    },
  });
  const text = element("div.scroll", {}, rows.node);
  const node = element(
    "div",
    {},
    list,
    about,
    element("div.split.even.source", {}, element("div.scroll", {}, source.node), text),
  );
  let chosen = null,
    shown = null,
    asked = false,
    problem = "",
    drawn = null,
    selected = null;

  function show(moment) {
    if (!store.document.stages && !asked) request();
    source.show(moment);
    const stages = store.document.stages?.rows ?? [];
    if (shown !== stages) {
      shown = stages;
      list.replaceChildren(
        ...stages.map(({ name }, place) => button(name, () => choose(place), { "data-stage": name })),
      );
      chosen ??= Math.max(
        0,
        stages.findIndex(({ marks }) => /[-+]/.test(marks)),
      );
    }
    const stage = stages[chosen] ?? stages[0];
    [...list.children].forEach((each, place) => each.setAttribute("aria-pressed", stages[place] === stage));
    const why = store.document.stages?.problem || problem || "The kernel compiles it again …";
    setText(about, stage ? stage.about : why);
    about.hidden = !about.textContent;
    text.hidden = !stage;
    if (stage && stage !== drawn) {
      drawn = stage;
      selected = null;
      drawn.lines ??= placedLines(stage);
      text.scrollTop = 0;
      rows.node.style.minWidth = `${Math.max(...drawn.lines.map(line => line.text.length)) + 8}ch`;
    }
    rows.show(drawn?.lines ?? []);
    if (drawn && selected !== store.chosen) reveal();
  }

  /** Bring the lines of the selected operation into view, here and in the program. */
  function reveal() {
    const op = (selected = store.chosen);
    rows.reveal((drawn?.lines ?? []).findIndex(line => op !== null && line.op === op));
    source.reveal();
  }

  function choose(place) {
    chosen = place;
    store.changed();
  }

  async function request() {
    asked = true;
    const answer = await ask?.({ stages: store.document.run });
    if (!answer || answer.status === "unknown") problem = "The kernel is gone: run the cell again to see its stages.";
    store.changed();
  }

  function drawItem(row, { text, op, mark }) {
    setAttributes(row, {
      "data-op": op >= 0 ? op : null,
      "data-line": store.program.operations[op]?.line ?? null,
      "data-mark": mark.trim() || null,
      "aria-current": op === store.chosen || null,
    });
    row.classList.toggle("add", mark === "+");
    row.classList.toggle("cut", mark === "-");
    setText(row.parts.mark, mark);
    (drawn.name === "BEF" ? setText : showProgramText)(row.parts.text, text); // bytes are no program
  }

  return { node, show, reveal };
}

export const stagesView = {
  title: "Stages",
  create: createStages,
  isEmpty: (store, canAsk) => !store.document.stages && !(canAsk() && store.isProgram),
};

function placedLines({ text, ops, marks }) {
  return String(text)
    .split("\n")
    .map((line, place) => ({
      text: line.slice(0, MOST_LETTERS),
      op: Number(ops[place] ?? -1),
      mark: marks[place] ?? " ",
    }));
}
