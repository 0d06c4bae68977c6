// The board of a run as an anywidget, for pages without tfrt-nb's extension: JupyterLab, Voila, marimo, VS Code, Colab.
//
// `run` is the run's document in the file format; messages extend it during the run.  The board has no controls,
// because the kernel may get a widget's messages only after the running cell has finished, which is too late to cancel
// the run.

import { createBoard } from "./board/board.js";
import { extend, unpack } from "./board/document.js";
import { Store } from "./board/store.js";

const SLICE = 2000; // events per turn of the event loop
const EVENTS = ["time", "kind", "op", "value", "instance", "worker", "payload"];

const turn = () => new Promise(resolve => setTimeout(resolve));

/**
 * The runs that this module knows, by id, because `initialize` and `render` get different objects for the same model.
 */
const runs = new Map();

function runOf(model) {
  const id = model.get("run").run;
  if (!runs.has(id)) runs.set(id, new WidgetRun(model));
  return runs.get(id);
}

class WidgetRun {
  constructor(model) {
    this.model = model;
    this.adopt();
  }

  get status() {
    return this.head.status;
  }

  /** Take the model's document: the first one, the document of another run, or the final document of this run. */
  adopt() {
    const head = (this.head = this.model.get("run"));
    this.ready = unpack(head)
      .then(document => this.fill(head, document))
      .then(() => (this.head === head ? this.store : this.ready));
  }

  /**
   * Fill the store in slices, because a page that draws a large board at once does not respond to its other widgets.
   */
  async fill(head, document) {
    const { events } = document,
      all = EVENTS.map(name => events[name]),
      count = events.time.length;
    for (const name of EVENTS) events[name] = [];
    for (let first = 0; first < count || !first; first += SLICE) {
      if (this.head !== head) return; // a newer document has arrived
      EVENTS.forEach((name, i) => events[name].push(...all[i].slice(first, first + SLICE)));
      if (!this.store) this.store = new Store(document, () => this.status);
      else if (!first) this.store.replace(document);
      else this.store.changed();
      this.store.now; // applies the events
      if (first + SLICE < count) await turn();
    }
  }

  /** Extend the document by a message; if events in between are missing, ask for them. */
  async take(message) {
    const store = await this.ready;
    if (this.status !== "running") return;
    if (!extend(store.document, message)) this.model.send({ from: store.document.events.time.length });
    if (message.frame) store.present(message.frame);
    store.changed();
  }
}

export default {
  initialize({ model }) {
    const run = runOf(model);
    model.on("change:run", () => run.adopt());
    model.on("msg:custom", ({ tfrt }) => {
      if (tfrt) run.take(tfrt);
    });
  },

  async render({ model, el, signal }) {
    const run = runOf(model),
      host = document.createElement("div");
    host.style.minWidth = "20em"; // a board has no intrinsic width, and not every page gives it one
    el.append(host);
    const store = await run.ready;
    if (signal?.aborted) return undefined;
    const text = model.get("_esm"),
      code = text ? async () => text.replace("export default", "const boardWidget =") : null;
    const board = createBoard(host, store, { code });
    return () => board.remove();
  },
};
