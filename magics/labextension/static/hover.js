// Tooltips in programs: an explanation of the name under the mouse, the same that Shift-Tab shows, and an operation's
// signature while the user types the operation.

import { element } from "./board/dom.js";
import { isOurs } from "./colors.js";
import { toKernel } from "./services.js";

const STYLE = [
  "margin:0;padding:4px 8px;max-width:72ch;max-height:40vh;overflow:auto;white-space:pre-wrap",
  "font-size:var(--jp-code-font-size)",
].join(";");

/** Return a factory for the extension that explains names; `ask(model, question)` asks the kernel about a cell. */
export function createHover({ view, ask }) {
  return ({ model }) =>
    view.hoverTooltip(async (editor, pos) => {
      if (!isOurs(editor.state.doc)) return null;
      const text = editor.state.doc.toString(),
        found = await ask(model, { ask: "hover", text, cursor: toKernel(text, pos) });
      if (!found || text !== editor.state.doc.toString()) return null; // the user has typed more since
      const { from, to } = editor.state.wordAt(pos) ?? { from: pos, to: pos };
      return {
        pos: from,
        end: to,
        create: () => ({ dom: element("pre.tfrt-hover", { style: STYLE, role: "tooltip" }, found) }),
      };
    });
}

/**
 * Return a factory for the extension that shows signatures.
 *
 * A signature appears after the user types a space, a comma, or an opening bracket.  Escape hides it.
 */
export function createSignature({ state, view, ask }) {
  const replace = state.StateEffect.define();
  const field = state.StateField.define({
    create: () => null,
    update(tooltip, transaction) {
      const effect = transaction.effects.find(each => each.is(replace));
      return effect ? effect.value : tooltip;
    },
    provide: self => view.showTooltip.from(self),
  });
  const hide = editor => {
    if (editor.state.field(field)) editor.dispatch({ effects: replace.of(null) });
  };

  function tooltip(pos, { line, part }) {
    const [from, to] = part.length ? part : [0, 0];
    const create = () => ({
      dom: element(
        "pre.tfrt-signature",
        { style: STYLE, role: "status" },
        line.slice(0, from),
        element("b", {}, line.slice(from, to)),
        line.slice(to),
      ),
    });
    return { pos, above: true, create };
  }

  async function look(editor, model) {
    const text = editor.state.doc.toString(),
      { head } = editor.state.selection.main;
    const found = await ask(model, { ask: "signature", text, cursor: toKernel(text, head) }).catch(() => null);
    if (text !== editor.state.doc.toString()) return; // the user has typed more since
    if (found) editor.dispatch({ effects: replace.of(tooltip(head, found)) });
    else hide(editor);
  }

  return ({ model }) => {
    const follow = view.EditorView.updateListener.of(
      ({ view: editor, state: now, docChanged, selectionSet, transactions }) => {
        const isOpen = now.field(field) !== null;
        if (!docChanged) {
          if (isOpen && selectionSet) queueMicrotask(() => hide(editor));
          return;
        }
        const { head } = now.selection.main,
          isTyped = transactions.some(each => each.isUserEvent("input.type"));
        if (isOpen || (isTyped && /[ ,({]/.test(now.sliceDoc(head - 1, head)))) {
          if (isOurs(now.doc)) queueMicrotask(() => look(editor, model));
        }
      },
    );
    const keys = view.EditorView.domEventHandlers({
      keydown: ({ key }, editor) => {
        if (key === "Escape") hide(editor);
        return false;
      },
      blur: (_, editor) => hide(editor),
    });
    return [field, follow, keys];
  };
}
