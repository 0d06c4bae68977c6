// Colors MLIR in cells that start with %%tfrt, using the theme's own palette.

import { TOKENS } from "./board/tokens.js";

const PROGRAM = /^\s*(?:func|async\.func|module)\b/m;

/** Return whether a cell contains a program: a %%tfrt_check cell may contain Python instead. */
export function isOurs(document) {
  const text = document.sliceString(0, 2000),
    [, check] = /^\s*%%tfrt(?:(?!\w)|(_check)(?!\w))/.exec(text) ?? [, null];
  return check === undefined || (check !== null && PROGRAM.test(text));
}

const LONG = 10000; // characters: longer lines are not colored

const OPTIONS = [
  [/^%%\w+/, "meta"],
  [/^--?[\w-]+/, "attributeName"],
  [/^[^\s-][^\s]*/, "string"],
];

/** A StreamLanguage mode: the options on the first line, MLIR below. */
const MODE = {
  name: "tfrt",
  startState: () => ({ inOptions: true, depth: 0 }),
  token(stream, state) {
    if (stream.string.length > LONG) {
      stream.skipToEnd();
      return null;
    }
    if (stream.sol() && !stream.match(/^\s*%%/, false)) state.inOptions = false;
    if (stream.eatSpace()) return null;
    for (const [pattern, token] of state.inOptions ? OPTIONS : TOKENS) {
      if (stream.match(pattern)) return token;
    }
    const mark = stream.next();
    if (mark === "{" && !state.inOptions) state.depth++;
    if (mark === "}") state.depth = Math.max(0, state.depth - 1);
    return null;
  },
  indent: ({ depth }, after, { unit }) => Math.max(0, depth - /^\s*\}/.test(after)) * unit,
  languageData: {
    commentTokens: { line: "//" },
    indentOnInput: /^\s*\}$/,
    closeBrackets: { brackets: ["(", "[", "{", "<", '"'] },
  },
};

/**
 * Return a factory for the editor extension.
 *
 * The extension is a compartment with the highest precedence, which is reconfigured when a program appears in the cell
 * or disappears from it.  Setting the cell's MIME type instead would lose a race with the kernel's language.
 */
export function createColors({ language, state, view }) {
  const mlir = new language.LanguageSupport(language.StreamLanguage.define(MODE));

  return () => {
    const slot = new state.Compartment();
    // Programs are indented by two columns, Python by four.
    const content = on =>
      on ? state.Prec.highest([mlir, language.indentOnInput(), language.indentUnit.of("  ")]) : [];
    const isOn = current => slot.get(current) !== undefined && slot.get(current).length !== 0;
    const follow = state.EditorState.transactionExtender.of(transaction => {
      if (!transaction.docChanged) return null;
      const on = isOurs(transaction.newDoc);
      return on === isOn(transaction.startState) ? null : { effects: slot.reconfigure(content(on)) };
    });
    // The document arrives after the editor is created, sometimes without a transaction of its own.
    const start = view.ViewPlugin.define(editor => {
      Promise.resolve().then(() => {
        if (isOurs(editor.state.doc) && !isOn(editor.state)) {
          editor.dispatch({ effects: slot.reconfigure(content(true)) });
        }
      });
      return {};
    });
    return [slot.of([]), follow, start];
  };
}
