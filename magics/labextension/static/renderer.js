// A saved run as the same board that showed it live: sorted, filtered and read without a kernel.

const MIME = "application/vnd.tfrt.run.v1+json";

/** A renderer factory for JupyterLab; `safe`, because a board enters no HTML of the notebook's. */
export function createRenderer({ Widget }) {
  class SavedRun extends Widget {
    async renderModel(model) {
      const { createBoard } = await import("./board.js");
      this.board?.remove();
      this.board = createBoard(this.node, model.data[MIME]);
    }

    dispose() {
      this.board?.remove();
      super.dispose();
    }
  }
  return { safe: true, mimeTypes: [MIME], createRenderer: () => new SavedRun() };
}
