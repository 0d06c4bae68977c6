// Questions to the kernel, on its control channel, which the kernel answers even while a cell runs.
//
// JupyterLite's kernels have no control channel.  They listen on a BroadcastChannel instead, and receive a message when
// their worker's event loop runs (see bridge.broadcast).

import { broadcast, TARGET } from "./board/broadcast.js";

/** Convert an offset for the kernel or back: Python counts characters, and JavaScript counts UTF-16 code units. */
export const toKernel = (text, index) => [...text.slice(0, index)].length;
export const toPage = (text, offset) => [...text].slice(0, offset).join("").length;

const PATIENCE = 1000; // ms to wait for a reply after the kernel has reported that it is idle
/** Whether this page is JupyterLite, whose kernels are workers of the page. */
export const IN_PAGE = document.querySelector("[data-jupyter-lite-root]") !== null;

/** Return `ask(kernel, content)`, which returns the answer of the kernel's control thread, or null if there is none. */
export function createAsk({ KernelMessage }) {
  if (IN_PAGE) {
    const ask = async (kernel, content) => (kernel ? broadcast(kernel.clientId, content) : null);
    return Object.assign(ask, { now: ask });
  }
  function request(kernel, name, content) {
    const message = KernelMessage.createMessage({
      channel: "control",
      msgType: `${name}_request`,
      session: kernel.clientId,
      username: kernel.username,
      content,
    });
    return new Promise(resolve => {
      const future = kernel.sendControlMessage(message, false, false);
      const end = value => {
        resolve(value);
        future.dispose();
      };
      future.onReply = reply => end(reply.content);
      future.done.then(
        () => setTimeout(end, PATIENCE, null),
        () => resolve(null),
      );
    });
  }

  const known = new WeakSet(); // kernels that have our comm: we do not check again until they restart
  const forget = (kernel, status) => {
    if (status !== "idle" && status !== "busy") known.delete(kernel);
  };

  /** First check that the kernel has our comm: a kernel without it would log an error. */
  const ask = async (kernel, content) => {
    if (!kernel) return null;
    if (!known.has(kernel)) {
      const found = await request(kernel, "comm_info", { target_name: TARGET });
      if (!Object.keys(found?.comms ?? {}).length) return null;
      known.add(kernel);
      kernel.statusChanged.connect(forget);
    }
    const answer = await request(kernel, TARGET, content);
    if (answer === null) known.delete(kernel);
    return answer;
  };
  /** Ask without that check, because the kernel's comm has just sent a message. */
  ask.now = (kernel, content) => request(kernel, TARGET, content);
  return ask;
}

/**
 * Return the functions that editor extensions need.
 *
 * `ask(model, question)` returns the kernel's answer about the cell of an editor's model, or null if no kernel answers.
 * `panelOf(model)` returns the notebook that contains the cell.
 */
export function createServices({ services, tracker }) {
  const ask = createAsk(services);
  const panelOf = model =>
    tracker.find(({ content }) =>
      [...(content.model?.cells ?? [])].some(({ sharedModel }) => sharedModel === model.sharedModel),
    );
  return {
    panelOf,
    ask: async (model, question) =>
      (await ask(panelOf(model)?.sessionContext.session?.kernel, question))?.answer ?? null,
  };
}
