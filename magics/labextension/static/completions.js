// Tab in cells with programs, in the kernel's order and answered while it is busy.
//
// JupyterLab's own way asks on the shell channel, which waits for the cell that runs, and sorts what it shows: after
// the first key by localeCompare, so that `add_s.f32` comes before `add.i32`.

import { isOurs } from "./colours.js";

const OURS = "CompletionProvider:tfrt";
const FIRST = 1000; // above the ranks of JupyterLab's own providers

/** Let `manager` offer what `ask(kernel, question)` answers; `completer` is JupyterLab's module. */
export function provideCompletions({ completer, manager, ask, restored }) {
  const isOurCell = ({ editor, session }) => {
    const document = editor?.editor?.state?.doc;
    return Boolean(document && session?.kernel && isOurs(document));
  };

  class RankedModel extends completer.CompleterModel {
    completionItems() {
      const items = super.completionItems(),
        { query } = this;
      if (items?.[0]?.place === undefined) return items; // not ours
      const place = item => item.place + (item.insertText.startsWith(query) ? 0 : items.length);
      return items.sort((a, b) => place(a) - place(b));
    }
  }

  manager.registerProvider({
    identifier: OURS,
    rank: FIRST,
    renderer: null,
    modelFactory: async () => new RankedModel(),
    isApplicable: async context => isOurCell(context),
    fetch: async ({ text, offset }, { session }) => {
      const found = (await ask(session.kernel, { ask: "complete", text, cursor: offset }))?.answer;
      const items = (found?.items ?? []).map(({ text, kind, type }, place) => ({
        label: kind === "function" || kind === "kernel" || kind === "operation" ? spaced(text, type) : text,
        insertText: text,
        type: kind === "value" && type ? `${kind} ${type}` : kind,
        place,
      }));
      return { start: found?.start ?? offset, end: offset, items };
    },
    resolve: async (item, { editor, session }, patch) => {
      const text = editor.model.sharedModel.getSource(),
        { start, value } = patch ?? { start: text.length, value: "" };
      const written = text.slice(0, start) + value;
      const found = await ask(session.kernel, { ask: "hover", text: written, cursor: [...written].length });
      return { ...item, documentation: found?.answer ?? undefined };
    },
    shouldShowContinuousHint: (isVisible, { sourceChange }) =>
      !isVisible && (sourceChange ?? []).some(({ insert }) => /^[\w.%@!]$/.test(insert ?? "")),
  });

  // JupyterLab waits for every provider: a second for a busy kernel's, 50 ms for the debugger's.  Ours alone knows the
  // language of these cells.
  restored.then(() => {
    for (const provider of manager.getProviders?.().values() ?? []) {
      if (provider.identifier === OURS) continue;
      const { isApplicable } = provider;
      provider.isApplicable = async context => !isOurCell(context) && isApplicable.call(provider, context);
    }
  });
}

/** A name with its signature; what follows a parenthesis does not count when JupyterLab filters its list. */
function spaced(name, signature) {
  return signature.startsWith("(") ? `${name} ${signature}` : name;
}
