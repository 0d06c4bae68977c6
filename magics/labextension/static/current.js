// The line of the selected operation, marked in the cell's own editor; and the line of the cursor, for boards.

const editors = new Set(); // what marks a line in an editor, if it is of the cell

const boards = new Set(); // what hears where the cursor is

/** Call `hear(cell, line, text)` when the reader puts the cursor on a line of a cell; gives what ends that. */
export function onCursor(hear) {
  boards.add(hear);
  return () => boards.delete(hear);
}

/** Mark the line of the cell with this id that has this `text`: `line`, or else the first; null marks none. */
export function markLine(cell, line, text) {
  for (const mark of editors) mark(cell, line, text);
}

/** The editor extension. */
export function createCurrentLine({ state, view }) {
  const choose = state.StateEffect.define();
  const look = view.Decoration.line({ class: "tfrt-current" });
  const field = state.StateField.define({
    create: () => view.Decoration.set([]),
    update: (marks, { changes, effects }) => effects.find(each => each.is(choose))?.value ?? marks.map(changes),
    provide: self => view.EditorView.decorations.from(self),
  });
  const theme = view.EditorView.baseTheme({
    ".tfrt-current": {
      backgroundColor: "color-mix(in srgb, var(--jp-brand-color1, #0072b2) 16%, transparent)",
      boxShadow: "inset 3px 0 var(--jp-brand-color1, #0072b2)",
    },
  });

  return ({ model }) => {
    if (model?.type !== "code") return [];
    return [
      field,
      theme,
      view.ViewPlugin.define(editor => {
        const mark = (cell, line, text) => {
          if (cell !== model.id) return;
          const { doc } = editor.state,
            lines = `${doc}`.split("\n");
          const place = lines[line - 1] === text ? line : lines.indexOf(text) + 1;
          editor.dispatch({ effects: choose.of(view.Decoration.set(place ? [look.range(doc.line(place).from)] : [])) });
        };
        editors.add(mark);
        return {
          update({ selectionSet, docChanged, state: { doc, selection } }) {
            if (!selectionSet || docChanged || !editor.hasFocus) return;
            const { number, text } = doc.lineAt(selection.main.head);
            for (const hear of boards) hear(model.id, number, text);
          },
          destroy: () => editors.delete(mark),
        };
      }),
    ];
  };
}
