// F12, or a click with Ctrl or Cmd, goes to where a %value or an @function is defined, in this cell or in that of a
// program of --with.

import { isOurs } from "./colours.js";

/** The editor extension; `ask(model, question)` asks the kernel, `panelOf(model)` is the notebook of a cell. */
export function createDefinitions({ view, ask, panelOf }) {
  async function goTo(editor, model, cursor) {
    const text = editor.state.doc.toString();
    const found = await ask(model, { ask: "definition", text, cursor });
    if (!found || text !== editor.state.doc.toString()) return; // typing went on meanwhile
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

  return ({ model }) =>
    view.EditorView.domEventHandlers({
      keydown: (event, editor) => event.key === "F12" && begin(event, editor, model, editor.state.selection.main.head),
      mousedown: (event, editor) =>
        (event.ctrlKey || event.metaKey) && begin(event, editor, model, editor.posAtCoords(event)),
    });

  /** Whether the event is ours; then nothing else happens. */
  function begin(event, editor, model, cursor) {
    if (cursor === null || !isOurs(editor.state.doc)) return false;
    event.preventDefault();
    goTo(editor, model, cursor);
    return true;
  }
}
