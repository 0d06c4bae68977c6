// Our MIME type drawn: the board of a run, the same from its first event to the reopened file.

import { createBoard } from "./board/board.js";
import { MIME } from "./board/document.js";
import { markLine } from "./current.js";

/** A renderer factory for JupyterLab; `safe`, because a board enters no HTML of the notebook's. */
export function createRenderer({ Widget }, runs) {
  class RunOutput extends Widget {
    constructor({ resolver }) {
      super();
      this.resolver = resolver;
    }

    /** Called again on every change of the output: the board stays. */
    async renderModel(model) {
      const data = Object(model.data[MIME]);
      if (!this.run || this.run.id !== data.run) {
        this.board?.remove();
        this.board = null;
        this.run = runs.runFor(data, this.resolver);
        const { run } = this;
        const store = await run.ready;
        if (this.run !== run || this.isDisposed) return;
        this.board = createBoard(this.node, store, { ask: (question) => run.ask(question), canAsk: () => run.kernel !== null,
          code: async () => (await fetch(import.meta.url)).text(), onSelect: (line) => markLine(this.cellId(), line, store.document.source.split("\n")[line - 1]) });
      }
      if (this.run.head.status === "running" && data.status !== "running") this.run.adopt(data);
    }

    cellId() {
      return this.run.panel?.content.widgets.find(({ node }) => node.contains(this.node))?.model.id ?? this.run.head.cell;
    }

    dispose() {
      this.board?.remove();
      super.dispose();
    }
  }
  return { safe: true, mimeTypes: [MIME], createRenderer: (options) => new RunOutput(options) };
}
