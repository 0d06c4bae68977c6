// Questions to the kernel: on its control channel, which answers while a cell is busy; in JupyterLite, whose kernels
// have none, on a BroadcastChannel, which they hear whenever their worker has a turn (see bridge.broadcast).

export const TARGET = "tfrt";

/** Python counts characters, JavaScript units of UTF-16: an offset of the page for the kernel, and back. */
export const toKernel = (text, index) => [...text.slice(0, index)].length;
export const toPage = (text, offset) => [...text].slice(0, offset).join("").length;

const PATIENCE = 1000; // ms for a reply after the kernel has said that it is idle
/** Whether kernels are workers of this page: JupyterLite. */
export const IN_PAGE = document.querySelector("[data-jupyter-lite-root]") !== null;
const LITE_PATIENCE = 3000; // ms for a reply of a worker, which says nothing while it is busy

/** What a kernel of JupyterLite answers to the page with this session; null where it is too busy to hear. */
function broadcast(kernel, question) {
  const line = new BroadcastChannel(`${TARGET}-${kernel.clientId}`),
    id = `${Date.now()}-${Math.random()}`;
  return new Promise(resolve => {
    const end = answer => {
      clearTimeout(timer);
      line.close();
      resolve(answer);
    };
    const timer = setTimeout(end, LITE_PATIENCE, null);
    line.onmessage = ({ data }) => {
      const { reply, answer } = JSON.parse(data);
      if (reply === id) end(answer);
    };
    line.postMessage(JSON.stringify({ id, question }));
  });
}

/** `ask(kernel, content)` gives the answer of the kernel's control thread; null where nothing answers. */
export function createAsk({ KernelMessage }) {
  if (IN_PAGE) {
    const ask = async (kernel, content) => (kernel ? broadcast(kernel, content) : null);
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

  const known = new WeakSet(); // kernels that have our comm: we do not ask again until they restart
  const forget = (kernel, status) => {
    if (status !== "idle" && status !== "busy") known.delete(kernel);
  };

  /** A kernel says first that it has our comm: others would log an error. */
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
  /** For a kernel whose comm has just spoken. */
  ask.now = (kernel, content) => request(kernel, TARGET, content);
  return ask;
}

/**
 * About cells that are being written: `ask(model, question)` gives the answer for the cell of an editor's model, or
 * null
 * when no kernel answers; `panelOf(model)` is the notebook that it is in.
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
