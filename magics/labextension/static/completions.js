// Completions in cells with programs, in the kernel's order, and even while the kernel is busy.
//
// JupyterLab's own provider asks on the shell channel, where a request waits for the running cell to finish.  Also,
// JupyterLab sorts the items: once the user types, it uses localeCompare, which puts `add_s.f32` before `add.i32`.

import { isOurs } from "./colors.js";

const OURS = "CompletionProvider:tfrt";
const FIRST = 1000; // above the ranks of JupyterLab's own providers

/**
 * Register a provider of the completions that `ask(kernel, question)` returns.
 *
 * `completer` is JupyterLab's module, and `manager` its provider manager.  When `restored` resolves, all other
 * providers are turned off in cells with programs.
 */
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

  // JupyterLab waits for every provider that is applicable: a second for that of a busy kernel, 50 ms for the
  // debugger's.  Only ours knows the language of these cells.
  restored.then(() => {
    for (const provider of manager.getProviders?.().values() ?? []) {
      if (provider.identifier === OURS) continue;
      const { isApplicable } = provider;
      provider.isApplicable = async context => !isOurCell(context) && isApplicable.call(provider, context);
    }
  });
}

/**
 * Return a name, followed by its signature if that starts with a parenthesis.
 *
 * When JupyterLab filters its list, it ignores everything from a parenthesis on.
 */
function spaced(name, signature) {
  return signature.startsWith("(") ? `${name} ${signature}` : name;
}
