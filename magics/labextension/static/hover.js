// The mouse over a name in a program: what it is, as Shift-Tab says it.

import { element } from "./board/dom.js";
import { isOurs } from "./colours.js";
import { toKernel } from "./services.js";

/** The editor extension; `ask(model, question)` asks the kernel. */
export function createHover({ view, ask }) {
  return ({ model }) =>
    view.hoverTooltip(async (editor, pos) => {
      if (!isOurs(editor.state.doc)) return null;
      const text = editor.state.doc.toString(),
        found = await ask(model, { ask: "hover", text, cursor: toKernel(text, pos) });
      if (!found || text !== editor.state.doc.toString()) return null; // typing went on meanwhile
      const { from, to } = editor.state.wordAt(pos) ?? { from: pos, to: pos };
      const style = [
        "margin:0;padding:4px 8px;max-width:72ch;max-height:40vh;overflow:auto;white-space:pre-wrap",
        "font-size:var(--jp-code-font-size)",
      ].join(";");
      return {
        pos: from,
        end: to,
        create: () => ({ dom: element("pre.tfrt-hover", { style, role: "tooltip" }, found) }),
      };
    });
}
