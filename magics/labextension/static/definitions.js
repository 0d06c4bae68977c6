// F12, or a click with Ctrl or Cmd, goes to where a %value or an @function of a cell is defined.

import { OURS } from "./underlines.js";

/** The editor extension; `ask(model, question)` asks the kernel. */
export function createDefinitions({ view, ask }) {
  async function goTo(editor, model, cursor) {
    const text = editor.state.doc.toString();
    const found = await ask(model, { ask: "definition", text, cursor });
    if (!found || text !== editor.state.doc.toString()) return; // typing went on meanwhile
    const anchor = editor.state.doc.line(found.line).from + found.col - 1;
    editor.dispatch({ selection: { anchor, head: anchor + found.length }, scrollIntoView: true });
    editor.focus();
  }

  return ({ model }) => view.EditorView.domEventHandlers({
    keydown: (event, editor) => event.key === "F12" && begin(event, editor, model, editor.state.selection.main.head),
    mousedown: (event, editor) => (event.ctrlKey || event.metaKey) && begin(event, editor, model, editor.posAtCoords(event)),
  });

  /** Whether the event is ours; then nothing else happens. */
  function begin(event, editor, model, cursor) {
    if (cursor === null || !OURS.test(editor.state.doc.sliceString(0, 64))) return false;
    event.preventDefault();
    goTo(editor, model, cursor);
    return true;
  }
}
