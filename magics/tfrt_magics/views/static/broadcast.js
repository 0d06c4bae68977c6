// Questions to a Python that runs in a worker of this page, which has no control channel.

export const TARGET = "tfrt";

const WORKER_PATIENCE = 3000; // ms to wait for a reply from a worker, which sends none while it is busy

/**
 * Ask the worker on the channel of the page's session `client`; see `bridge.broadcast`.
 *
 * Return null if the worker is too busy to answer.
 */
export function broadcast(client, question) {
  const line = new BroadcastChannel(`${TARGET}-${client}`),
    id = `${Date.now()}-${Math.random()}`;
  return new Promise(resolve => {
    const end = answer => {
      clearTimeout(timer);
      line.close();
      resolve(answer);
    };
    const timer = setTimeout(end, WORKER_PATIENCE, null);
    line.onmessage = ({ data }) => {
      const { reply, answer } = JSON.parse(data);
      if (reply === id) end(answer);
    };
    line.postMessage(JSON.stringify({ id, question }));
  });
}
