// Wavy lines under what the diagnostics in a cell's output are about.

const MIME = "application/vnd.tfrt.diagnostics+json";

/** The editor extension: decorations that follow the outputs of the editor's own cell. */
export function createUnderlines({ state, view }) {
  const replace = state.StateEffect.define();

  const field = state.StateField.define({
    create: () => view.Decoration.none,
    update(marks, transaction) {
      const moved = marks.map(transaction.changes);
      const effect = transaction.effects.find((each) => each.is(replace));
      return effect ? decorations(effect.value, transaction.state.doc) : moved;
    },
    provide: (self) => view.EditorView.decorations.from(self),
  });

  function decorations(diagnostics, document) {
    const ranges = diagnostics
      .filter(({ line }) => line >= 1 && line <= document.lines)
      .map((diagnostic) => decoration(diagnostic, document.line(diagnostic.line)))
      .filter((range) => range !== null);
    return view.Decoration.set(ranges, true);
  }

  function decoration({ col, end, sev, msg }, line) {
    const from = Math.min(line.from + col - 1, Math.max(line.from, line.to - 1));
    const to = Math.min(Math.max(line.from + end - 1, from + 1), line.to);
    if (from >= to) return null; // an empty line has nothing to underline
    return view.Decoration.mark({ class: "tfrt-underline", attributes: { "data-severity": sev, title: `${sev}: ${msg}` } }).range(from, to);
  }

  const wavy = (colour) => ({
    textDecoration: `underline wavy ${colour}`, textDecorationSkipInk: "none", textUnderlineOffset: "3px" });
  const theme = view.EditorView.baseTheme({
    ".tfrt-underline": wavy("var(--jp-info-color1, #0072b2)"),
    ".tfrt-underline[data-severity=error]": wavy("var(--jp-error-color1, #d55e00)"),
    ".tfrt-underline[data-severity=warning]": wavy("var(--jp-warn-color1, #e69f00)"),
  });

  return ({ model }) => {
    const outputs = model?.outputs;
    if (!outputs?.changed) return []; // not a code cell
    const follow = view.ViewPlugin.define((editor) => {
      const read = () => editor.dispatch({ effects: replace.of(diagnosticsIn(outputs)) });
      outputs.changed.connect(read);
      // An editor may not change while it is being made.
      Promise.resolve().then(read);
      return { destroy: () => outputs.changed.disconnect(read) };
    });
    return [field, theme, follow];
  };
}

function diagnosticsIn(outputs) {
  return outputs.toJSON().flatMap((output) => output.data?.[MIME] ?? []);
}
