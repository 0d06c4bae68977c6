// Questions to the kernel about a cell that is being written, over one comm per kernel.

const SERVICES = "tfrt_nb.services";
const ANSWER_PATIENCE = 10000; // ms; a busy kernel answers when its cell is over

/**
 * `ask(model, question)` gives the answer for the cell of an editor's model, or null when no kernel answers;
 * `panelOf(model)` is the notebook that it is in.
 */
export function createServices(tracker) {
  const lines = new WeakMap(); // by kernel connection
  const panelOf = (model) => tracker.find(({ content }) => [...(content.model?.cells ?? [])].some(({ sharedModel }) => sharedModel === model.sharedModel));

  const ask = async (model, question) => {
    const kernel = panelOf(model)?.sessionContext.session?.kernel;
    if (!kernel) return null;
    if (lines.get(kernel)?.isClosed() ?? true) lines.set(kernel, open(kernel));
    return lines.get(kernel).ask(question);
  };
  return { ask, panelOf };
}

function open(kernel) {
  const waiting = new Map(), comm = kernel.createComm(SERVICES);
  let last = 0;
  function end(id, answer) {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  }
  comm.onMsg = ({ content: { data } }) => end(data.id, data.answer);
  comm.onClose = () => [...waiting.keys()].forEach((id) => end(id, null));
  comm.open();
  return {
    isClosed: () => comm.isDisposed,
    ask: (question) => new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      setTimeout(end, ANSWER_PATIENCE, id, null);
      comm.send({ id, ...question });
    }),
  };
}
