// The line of the selected operation, marked in the cell's own editor.

const editors = new Map(); // the cell's id: what marks a line in its editors

/** Mark `line` (from 1) of the cell with this id; null marks none. */
export function markLine(cell, line) {
  for (const mark of editors.get(cell) ?? []) mark(line);
}

/** The editor extension. */
export function createCurrentLine({ state, view }) {
  const choose = state.StateEffect.define();
  const look = view.Decoration.line({ class: "tfrt-current" });
  const field = state.StateField.define({
    create: () => view.Decoration.none,
    update(marks, transaction) {
      const effect = transaction.effects.find((each) => each.is(choose));
      if (!effect) return marks.map(transaction.changes);
      const { doc } = transaction.state;
      return effect.value >= 1 && effect.value <= doc.lines ? view.Decoration.set([look.range(doc.line(effect.value).from)]) : view.Decoration.none;
    },
    provide: (self) => view.EditorView.decorations.from(self),
  });
  const theme = view.EditorView.baseTheme({
    ".tfrt-current": { backgroundColor: "color-mix(in srgb, var(--jp-brand-color1, #0072b2) 16%, transparent)", boxShadow: "inset 3px 0 var(--jp-brand-color1, #0072b2)" } });

  return ({ model }) => {
    if (model?.type !== "code") return [];
    const follow = view.ViewPlugin.define((editor) => {
      const mark = (line) => editor.dispatch({ effects: choose.of(line) });
      if (!editors.has(model.id)) editors.set(model.id, new Set());
      editors.get(model.id).add(mark);
      return { destroy: () => editors.get(model.id)?.delete(mark) };
    });
    return [field, theme, follow];
  };
}
