// Questions to the kernel about a cell that is being written, over one comm per kernel.

const SERVICES = "tfrt_nb.services";
const ANSWER_PATIENCE = 10000; // ms; a busy kernel answers when its cell is over

/** `ask(model, question)` gives the answer for the cell of an editor's model, or null when no kernel answers. */
export function createServices(tracker) {
  const lines = new WeakMap(); // by kernel connection

  return (model, question) => {
    const panel = tracker.find(({ content }) =>
      [...(content.model?.cells ?? [])].some((cell) => cell === model || cell.sharedModel === model.sharedModel));
    const kernel = panel?.sessionContext.session?.kernel;
    if (!kernel) return Promise.resolve(null);
    if (!lines.get(kernel)?.isOpen()) lines.set(kernel, new Line(kernel));
    return lines.get(kernel).ask(question);
  };
}

class Line {
  constructor(kernel) {
    this.waiting = new Map();
    this.last = 0;
    this.comm = kernel.createComm(SERVICES);
    this.comm.onMsg = ({ content: { data } }) => this.end(data.id, data.answer);
    this.comm.onClose = () => { for (const id of [...this.waiting.keys()]) this.end(id, null); };
    this.comm.open();
  }

  isOpen() { return !this.comm.isDisposed; }

  ask(question) {
    return new Promise((resolve) => {
      const id = ++this.last;
      this.waiting.set(id, resolve);
      setTimeout(() => this.end(id, null), ANSWER_PATIENCE);
      this.comm.send({ id, ...question });
    });
  }

  end(id, answer) {
    this.waiting.get(id)?.(answer);
    this.waiting.delete(id);
  }
}
