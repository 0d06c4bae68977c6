// Marks the selected operation's line in the cell's editor, and tells boards which line the cursor is on.

const editors = new Set(); // `mark(cell, line, text)` of each editor, which ignores other cells

const boards = new Set(); // `hear(cell, line, text)` of each board

/** Call `hear(cell, line, text)` whenever the user moves the cursor in a cell.  Return a function that stops this. */
export function onCursor(hear) {
  boards.add(hear);
  return () => boards.delete(hear);
}

/**
 * Mark a line in the cell whose id is `cell`: `line` if it consists of `text`, otherwise the first line that does.  If
 * `line` is null or no line matches, no line is marked.
 */
export function markLine(cell, line, text) {
  for (const mark of editors) mark(cell, line, text);
}

/** Return a factory for the editor extension. */
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
