// Wavy lines under mistakes: those that a cell's output reports and, during typing, those that the kernel finds.
// F8 goes to the next mistake, and Shift-F8 to the previous one; Ctrl-. or Cmd-. makes the change that a note suggests.

import { isOurs } from "./colors.js";
import { toKernel, toPage } from "./services.js";

const DIAGNOSTICS_MIME = "application/vnd.tfrt.diagnostics+json";

const PAUSE = 60; // ms after the last keystroke until the cell is checked
const LARGE = 1e6; // characters: larger cells are not checked during typing
const SENT = 9.5e6; // the server closes a page's connection if one message is larger

/**
 * Return a factory for the editor extension, which underlines mistakes that the cell's outputs and its text contain.
 *
 * `ask(model, question)` asks the kernel about a cell; it is undefined on pages without a notebook tracker.
 */
export function createUnderlines({ state, view, ask }) {
  const replace = state.StateEffect.define();

  const field = state.StateField.define({
    create: () => view.Decoration.none,
    update(marks, transaction) {
      const moved = marks.map(transaction.changes);
      const effect = transaction.effects.find(each => each.is(replace));
      return effect ? decorations(effect.value, transaction.state.doc) : moved;
    },
    provide: self => view.EditorView.decorations.from(self),
  });

  function decorations(diagnostics, document) {
    const ranges = diagnostics
      .filter(
        each =>
          [each?.line, each?.col, each?.end].every(Number.isInteger) && each.line >= 1 && each.line <= document.lines,
      )
      .map(diagnostic => decoration(diagnostic, document.line(diagnostic.line)))
      .filter(range => range !== null);
    return view.Decoration.set(ranges, true);
  }

  function decoration({ col, end, sev, msg }, line) {
    const from = Math.min(line.from + col - 1, Math.max(line.from, line.to - 1));
    const to = Math.min(Math.max(line.from + end - 1, from + 1), line.to);
    if (from >= to) return null; // an empty line has nothing to underline
    return view.Decoration.mark({
      class: "tfrt-underline",
      attributes: { "data-severity": sev, title: `${sev}: ${msg}` },
    }).range(from, to);
  }

  const wavy = color => ({
    textDecoration: `underline wavy ${color}`,
    textDecorationSkipInk: "none",
    textUnderlineOffset: "3px",
  });
  const theme = view.EditorView.baseTheme({
    ".tfrt-underline": wavy("var(--jp-info-color1, #0072b2)"),
    ".tfrt-underline[data-severity=error]": wavy("var(--jp-error-color1, #d55e00)"),
    ".tfrt-underline[data-severity=warning]": wavy("var(--jp-warn-color1, #e69f00)"),
  });

  return ({ model }) => {
    const outputs = model?.outputs;
    if (!outputs?.changed) return []; // not a code cell
    const follow = view.ViewPlugin.define(editor => {
      let timer = null,
        isAsking = false,
        isOver = false;
      const show = diagnostics => {
        // Even an effect that changes nothing makes the editor measure all of itself: milliseconds in each run.
        if (isOver || !(diagnostics.length || editor.state.field(field).size)) return;
        editor.dispatch({ effects: replace.of(diagnostics) });
      };
      const read = () => show([...diagnosticsIn(outputs), ...tooLarge(editor.state.doc)]);
      const look = async () => {
        if (isAsking || isOver || !isOurs(editor.state.doc)) return;
        if (editor.state.doc.length > LARGE) {
          read();
          return;
        }
        const text = editor.state.doc.toString();
        isAsking = true;
        const found = await ask(model, { ask: "lint", text, cursor: 0 }).catch(() => null);
        isAsking = false;
        if (isOver) return;
        if (text !== editor.state.doc.toString())
          look(); // the user has typed more since
        else if (found !== null) show(found);
      };
      outputs.changed.connect(read);
      // An editor must not be changed while it is being created.
      Promise.resolve().then(read);
      return {
        update: ({ docChanged, focusChanged }) => {
          // On focus, a cell with outputs keeps its run's underlines: a check of the text alone could not find them.
          if (!ask || !(docChanged || (focusChanged && !outputs.length))) return;
          clearTimeout(timer);
          timer = setTimeout(look, PAUSE);
        },
        destroy: () => {
          isOver = true;
          clearTimeout(timer);
          outputs.changed.disconnect(read);
        },
      };
    });
    return [field, theme, follow, keys(model)];
  };

  function keys(model) {
    return view.EditorView.domEventHandlers({
      keydown: (event, editor) => {
        const isFix = event.key === "." && (event.ctrlKey || event.metaKey);
        if (!(isFix || event.key === "F8") || !isOurs(editor.state.doc)) return false;
        event.preventDefault();
        if (!isFix) goToMistake(editor, event.shiftKey ? -1 : 1);
        else if (ask) writeFix(editor, model);
        return true;
      },
    });
  }

  function goToMistake(editor, step) {
    const starts = new Set();
    for (const each = editor.state.field(field).iter(); each.value; each.next())
      if (each.value.spec.attributes["data-severity"] !== "note") starts.add(each.from);
    const { from } = editor.state.selection.main,
      all = [...starts].sort((a, b) => (a - b) * step);
    const anchor = all.find(start => (start - from) * step > 0) ?? all[0]; // after the last one, wrap around
    if (anchor !== undefined) editor.dispatch({ selection: { anchor }, scrollIntoView: true });
  }

  /** Apply the first fix on the cursor's line, or else the cell's only fix. */
  async function writeFix(editor, model) {
    const text = editor.state.doc.toString(),
      cursor = editor.state.selection.main.head;
    const found = await ask(model, { ask: "fixes", text, cursor: toKernel(text, cursor) });
    if (!found?.length || text !== editor.state.doc.toString()) return;
    const { from: start, to: end } = editor.state.doc.lineAt(cursor);
    const edits = found.map(({ start, end, text: insert }) => ({
      from: toPage(text, start),
      to: toPage(text, end),
      insert,
    }));
    const changes = edits.find(({ from }) => start <= from && from <= end) ?? (edits.length === 1 ? edits[0] : null);
    if (changes) editor.dispatch({ changes, selection: { anchor: changes.from + changes.insert.length } });
  }
}

/** Return a list that contains an error if the document is too large to be sent to the kernel. */
function tooLarge(document) {
  const megabytes = (document.length / 1e6).toFixed(1);
  return document.length > SENT && isOurs(document)
    ? [
        {
          line: 1,
          col: 1,
          end: 9,
          sev: "error",
          msg:
            `this cell has ${megabytes} MB: Jupyter's server takes at most 10 MB from a page; ` +
            "read the value from a file instead",
        },
      ]
    : [];
}

function diagnosticsIn(outputs) {
  return outputs.toJSON().flatMap(output => output.data?.[DIAGNOSTICS_MIME] ?? []);
}
