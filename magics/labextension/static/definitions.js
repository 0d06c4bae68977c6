// Keys for names in programs.  F12, or a click with Ctrl or Cmd, goes to the definition of a %value or an @function, in
// this cell or in the cell of a --with program.  Shift-F12 selects all uses of the name, and F2 renames it.

import { isOurs } from "./colors.js";
import { toKernel, toPage } from "./services.js";

/**
 * Return a factory for the editor extension.
 *
 * `ask(model, question)` asks the kernel about a cell, and `panelOf(model)` returns the cell's notebook.
 */
export function createDefinitions({ apputils, state, view, ask, panelOf }) {
  /** Ask the kernel about the name at `cursor`.  Return null if the text has changed since. */
  async function about(editor, model, question, cursor) {
    const text = editor.state.doc.toString();
    const found = await ask(model, { ...question, text, cursor: toKernel(text, cursor) });
    return text === editor.state.doc.toString() ? found : null;
  }

  async function goTo(editor, model, cursor) {
    const found = await about(editor, model, { ask: "definition" }, cursor);
    if (!found) return;
    if (found.source) {
      const { content } = panelOf(model),
        place = content.widgets.findIndex(cell => cell.model.sharedModel.getSource().includes(found.source));
      editor = content.widgets[place]?.editor?.editor;
      if (!editor) return; // the cell is gone, or too far out of view to have an editor
      content.activeCellIndex = place;
    }
    const anchor = editor.state.doc.line(found.line).from + found.col - 1;
    editor.dispatch({ selection: { anchor, head: anchor + found.length }, scrollIntoView: true });
    editor.focus();
  }

  /** Select all uses, so that what the user types next replaces all of them. */
  async function selectUses(editor, model, cursor) {
    const found = await about(editor, model, { ask: "references" }, cursor);
    if (!found?.length) return;
    const ranges = pageRanges(editor, found).map(([from, to]) => state.EditorSelection.range(from, to));
    const main = Math.max(
      0,
      ranges.findIndex(({ from, to }) => from <= cursor && cursor <= to),
    );
    editor.dispatch({ selection: state.EditorSelection.create(ranges, main) });
  }

  async function rename(editor, model, cursor) {
    const places = await about(editor, model, { ask: "references" }, cursor);
    if (!places?.length) return;
    const [[from, to]] = pageRanges(editor, places),
      title = `Rename ${editor.state.doc.sliceString(from, to)}`;
    const { button, value } = await apputils.InputDialog.getText({
      title,
      label: `${places.length} ${places.length === 1 ? "place" : "places"}; the new name:`,
      text: editor.state.doc.sliceString(from + 1, to),
    });
    const found = button.accept && value ? await about(editor, model, { ask: "rename", name: value }, cursor) : null;
    if (found?.problem) await apputils.showErrorMessage(title, found.problem);
    else if (found)
      editor.dispatch({
        changes: pageRanges(editor, found.places).map(([from, to]) => ({ from, to, insert: found.text })),
      });
    editor.focus();
  }

  const KEYS = { F12: goTo, "Shift-F12": selectUses, F2: rename };

  return ({ model }) => [
    state.EditorState.allowMultipleSelections.of(true),
    view.EditorView.domEventHandlers({
      keydown: (event, editor) => {
        const action =
          event.ctrlKey || event.altKey || event.metaKey ? null : KEYS[(event.shiftKey ? "Shift-" : "") + event.key];
        return Boolean(action) && begin(event, editor, model, action, editor.state.selection.main.head);
      },
      mousedown: (event, editor) =>
        (event.ctrlKey || event.metaKey) && begin(event, editor, model, goTo, editor.posAtCoords(event)),
    }),
  ];

  /** In a cell with a program, start `action` instead of the event's default.  Return whether it was started. */
  function begin(event, editor, model, action, cursor) {
    if (cursor === null || !isOurs(editor.state.doc)) return false;
    event.preventDefault();
    action(editor, model, cursor);
    return true;
  }
}

function pageRanges(editor, places) {
  const text = editor.state.doc.toString();
  return places.map(place => place.map(offset => toPage(text, offset)));
}
