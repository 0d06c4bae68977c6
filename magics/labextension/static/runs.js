// The runs that this page knows.  A run's board looks the same while it runs and after its file is reopened.
//
// For each notebook, a watcher routes the kernel's messages to runs, whether or not the runs are displayed.  The
// renderer of our MIME type displays runs.
//
// A page receives a live run's events without requests.  If it has missed events, it requests them once, on the control
// channel, which the kernel answers even while a cell runs.

import { createBoard } from "./board/board.js";
import { TARGET } from "./board/broadcast.js";
import { createChips } from "./board/chips.js";
import { asFile, extend, MIME, unpack } from "./board/document.js";
import { fragmentOf } from "./board/link.js";
import { Store } from "./board/store.js";
import { markLine, onCursor } from "./current.js";
import { createAsk, IN_PAGE } from "./services.js";
import { showSkeleton } from "./skeleton.js";

const RELOAD = 5000; // ms that a window may take to reload
const DEAD = ["dead", "restarting", "autorestarting", "terminating"];

/**
 * Return the runs of this page.
 *
 * `start()` starts to watch the tracker's notebooks; `runFor(data, resolver)` returns the run of an output.
 */
export function createRuns({ services, tracker }) {
  const runs = new Map(),
    locks = new Map(),
    tried = new Set();
  const ask = createAsk(services);
  const panelOf = resolver => tracker?.find(panel => panel.content.rendermime.resolver === resolver);

  /** Return the run of an output.  Several outputs can show the same run. */
  function runFor(data, panel) {
    let run = runs.get(data.run);
    if (!run) runs.set(data.run, (run = new Run(data)));
    if (panel && run.panel !== panel && (!run.panel || run.panel.isDisposed)) run.connect(panel);
    return run;
  }

  /** Return whether an open notebook of this page has the run. */
  const isOpen = id => runs.has(id) && !runs.get(id).panel?.isDisposed;

  const cellsOf = panel => [...(panel?.content.model?.cells ?? [])];

  /** Yield a notebook's outputs that hold a run, displayed or not: outputs that are out of view have no renderer. */
  function* outputsOf(panel) {
    for (const { type, outputs } of cellsOf(panel))
      for (let i = 0; type === "code" && i < outputs.length; i++) if (outputs.get(i).data?.[MIME]) yield outputs.get(i);
  }

  function watch(panel) {
    const context = panel.sessionContext;
    const mine = () => [...runs.values()].filter(run => run.panel === panel);
    const loseAll = () => mine().forEach(run => run.lose());
    context.iopubMessage.connect((_, message) => {
      if (message.header.msg_type === "execute_input") showSkeleton(panel, message);
      for (const run of mine()) if (message.header.session !== run.head.session) run.lose(); // another process answers
      const data =
        message.header.msg_type === "comm_msg" && message.content.comm_id.startsWith(TARGET) && message.content.data;
      // The kernel asks which pages have this extension.
      if (data?.who && context.session?.kernel) ask.now(context.session.kernel, { here: true });
      if (!data?.run) return;
      if (isOpen(data.run)) runs.get(data.run).take(data);
      else restore(panel, [data]);
    });
    context.statusChanged.connect((_, status) => {
      if (DEAD.includes(status)) loseAll();
    });
    context.kernelChanged.connect((_, { newValue }) => {
      if (!newValue && !context.isDisposed) loseAll();
    }); // closing a notebook also disconnects it from its kernel
    context.connectionStatusChanged.connect(greet);
    panel.context.saveState.connect((_, state) => {
      if (state === "started") mine().forEach(run => run.beforeSave());
    });
    panel.context.ready
      .then(() => {
        for (const { data } of outputsOf(panel)) runFor(data[MIME], panel);
      })
      .then(greet);

    /**
     * Ask for what the page has missed.
     *
     * Requests wait for the connection: JupyterLab would hold earlier ones until a busy kernel's cell is finished.
     */
    async function greet() {
      await panel.context.ready;
      const kernel = context.session?.kernel;
      if (kernel?.connectionStatus !== "connected") return;
      mine().forEach(run => run.catchUp());
      // Runs that finished while no page was open send nothing.  Ask for them, but only if a cell mentions tfrt.
      if (!cellsOf(panel).some(cell => cell.sharedModel.getSource().includes(TARGET))) return;
      const found = (await ask(kernel, {}))?.runs ?? [],
        newest = new Map();
      for (const { cell, execution = 0 } of found) newest.set(cell, Math.max(execution, newest.get(cell) ?? 0));
      for (const [cell, last] of newest)
        await restore(
          panel,
          found.filter(run => run.cell === cell && (run.execution ?? 0) === last),
        );
    }
  }

  /**
   * Restore outputs that are missing from the document because the page was reloaded before the document was saved.
   *
   * `execution` lists the runs of one execution of a cell of this kernel.  If the document was saved after a run had
   * started, the run is not restored: the user has replaced or removed its output.
   */
  async function restore(panel, execution) {
    const cell = cellsOf(panel).find(each => each.id === execution[0].cell && each.type === "code");
    const missing = execution.filter(({ run }) => cell && !isOpen(run) && !tried.has(run));
    for (const { run } of missing) tried.add(run); // once, even if it fails
    const isKept = () =>
      [...outputsOf(panel)].some(({ data }) =>
        ["session", "cell", "execution"].every(part => data[MIME][part] === execution[0][part]),
      );
    for (const { run } of missing) {
      if (!(await mayWrite(run))) continue; // another window writes it
      const found = await ask(panel.sessionContext.session?.kernel, { run }),
        data = found?.bundle;
      if (!data || isOpen(run) || found.began * 1000 < Date.parse(panel.context.contentsModel?.last_modified)) continue;
      if (!isKept()) cell.outputs.clear(); // the outputs are from an earlier execution
      cell.outputs.add({ output_type: "display_data", data, metadata: {} });
      makeHome(run);
      runFor(data[MIME], panel);
    }
  }

  /** One run, as this page knows it; `head` contains what a file says about it besides the body, such as its id. */
  class Run {
    constructor(head) {
      Object.assign(this, {
        head,
        id: head.run,
        panel: null,
        isAlive: false,
        hasGap: false,
        isAsking: false,
        hasAsked: false,
        waiting: [],
        last: null,
      });
      this.ready = unpack(head).then(document => {
        this.store = new Store(document, () => this.status);
        for (const message of this.waiting.splice(0)) this.take(message);
        return this.store;
      });
    }

    /** The status of the run.  If a file says "running", the page believes it only after the kernel confirms it. */
    get status() {
      return this.head.status === "running" && !this.isAlive ? "saved-while-running" : this.head.status;
    }
    get kernel() {
      return this.panel?.sessionContext.session?.kernel ?? null;
    }

    ask(question) {
      this.hasAsked ||= "stages" in question;
      if ("cancel" in question && this.head.flag) URL.revokeObjectURL(this.head.flag); // a busy worker polls it
      return ask(this.kernel, { ...question, run: this.id });
    }

    async connect(panel) {
      this.panel = panel;
      if (this.head.status !== "running") return;
      this.isAlive = this.kernel?.clientId === this.head.client; // this page executed the cell
      if (this.isAlive) makeHome(this.id);
      // In an Output widget, which draws later, the run may have missed its end, and no cell output will report it.
      if (!this.isAlive || !this.outputs().length) this.catchUp();
      if (isHome(this.id)) mayWrite(this.id); // lock it now, so that no other window holds the lock at the end
      this.store?.changed();
    }

    /** Ask the kernel for the events after the last one in the document. */
    async catchUp() {
      if (this.kernel?.connectionStatus !== "connected" || this.head.status !== "running" || this.isAsking) return;
      this.isAsking = true;
      await this.ready;
      const found = await this.ask({ last: this.store.document.events.time.length });
      this.isAsking = false;
      if (!found || found.status === "unknown") this.lose();
      else this.take(found);
    }

    take(message) {
      if (message.stages) this.takeStages(message);
      if (this.head.status !== "running") return;
      if (!this.store) {
        this.waiting.push(message);
        return;
      }
      this.isAlive = true;
      const { document } = this.store;
      if (message.status === "running" || message.bundle)
        this.hasGap = !extend(document, message) && message.status === "running";
      if (message.frame) this.store.present(message.frame);
      if (message.status !== "running") this.end(message.bundle);
      else if (this.hasGap) this.catchUp();
      this.store.changed();
    }

    /** Show the program's stages, which the kernel sends when a page asks.  The page that asked saves them. */
    async takeStages({ stages, bundle }) {
      await this.ready;
      this.store.document.stages = stages;
      this.store.changed();
      if (bundle && this.hasAsked) this.write(() => bundle, this.outputs());
    }

    end(bundle) {
      this.adopt(bundle[MIME]);
      this.last = bundle;
      this.persist();
    }

    /** Replace the document that grew during the run with the final one. */
    adopt(head) {
      if (this.head.status !== "running" && head.status === this.head.status) return;
      this.head = head;
      this.ready = unpack(head).then(document => {
        this.store.replace(document);
        return this.store;
      });
    }

    /** End the run because its kernel is gone: no more events will arrive. */
    lose() {
      // If this page has not seen the run alive, the file is right as it is.
      if (this.head.status !== "running" || !this.isAlive || !this.store) return;
      const { document } = this.store;
      document.status = "kernel-gone";
      this.head = { ...this.head, status: "kernel-gone" };
      this.last = { [MIME]: asFile(document), "text/plain": "The kernel was lost while this ran." };
      this.persist();
      this.store.changed();
    }

    /**
     * Write the run into its outputs, because the notebook is about to be saved.
     *
     * A file that is saved during the run contains its events so far.  A file that is saved later contains the whole
     * run, no matter which window saves it.
     */
    beforeSave() {
      if (this.last) this.write(() => this.last);
      else if (this.status === "running" && this.store)
        this.write(({ data }) => ({ ...data, [MIME]: asFile(this.store.document) }));
    }

    write(dataFor, outputs = this.stale()) {
      for (const output of outputs) output.setData({ data: dataFor(output), metadata: output.metadata });
    }

    outputs() {
      return [...outputsOf(this.panel)].filter(({ data }) => data[MIME].run === this.id);
    }

    stale() {
      return this.outputs().filter(({ data }) => data[MIME].status === "running");
    }

    /** Write the end into the document once: in the window that ran the cell or, if that is closed, in another one. */
    async persist() {
      if (!this.stale().length || this.panel.context.contentsModel?.writable === false || !(await mayWrite(this.id)))
        return;
      this.write(() => this.last);
    }
  }

  /** Session storage records which runs this window executed: it survives a reload, and each window has its own. */
  const key = run => `${TARGET}:${run}`;
  const isHome = run => sessionStorage.getItem(key(run)) !== null;
  const makeHome = run => sessionStorage.setItem(key(run), "home");

  /**
   * Return whether this window may write the run into the document.
   *
   * It may if it holds the run's lock.  The browser gives the lock to one window, and frees it when that window is
   * closed or reloaded.  Other windows that get the lock wait for RELOAD ms, so that the window that ran the cell can
   * take it back.
   */
  async function mayWrite(run) {
    if (!navigator.locks) return true; // plain HTTP from another machine has no locks
    const how = isHome(run) ? { steal: true } : { ifAvailable: true };
    if (!locks.has(run))
      locks.set(
        run,
        new Promise(resolve =>
          navigator.locks
            .request(key(run), how, lock => {
              if (!lock) locks.delete(run); // ask again next time
              resolve(lock !== null);
              return lock && new Promise(() => {}); // held until the page is closed
            })
            .catch(() => locks.delete(run)),
        ),
      ); // rejected if the window that ran the cell takes the lock back
    if (!(await locks.get(run)) || isHome(run)) return locks.has(run);
    await new Promise(resolve => setTimeout(resolve, RELOAD));
    return locks.has(run);
  }

  function start() {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(`${TARGET}:`)) mayWrite(name.slice(TARGET.length + 1)); // after a reload, take the lock back
    tracker?.widgetAdded.connect((_, panel) => watch(panel));
    tracker?.forEach(watch);
  }

  return { start, runFor: (data, resolver) => runFor(data, panelOf(resolver)) };
}

/**
 * Return JupyterLab's renderer factory for our MIME type.
 *
 * A run looks the same while it runs and after its file is reopened.  The factory is `safe`, because a board never
 * inserts HTML from the notebook.
 */
export function createRenderer({ Widget }, runs) {
  class RunOutput extends Widget {
    constructor({ resolver }) {
      super();
      this.resolver = resolver;
      this.forget = onCursor((cell, line, text) => {
        if (this.board?.selectLine && cell === this.cellId()) this.board.selectLine(line, text);
      });
    }

    /** Show the output.  JupyterLab calls this method again whenever the output changes; the board stays. */
    async renderModel(model) {
      const data = Object(model.data[MIME]);
      if (!this.run || this.run.id !== data.run) {
        this.board?.remove();
        this.board = null;
        this.run = runs.runFor(data, this.resolver);
        const { run } = this;
        const store = await run.ready;
        if (this.run !== run || this.isDisposed) return;
        this.board = store.document.lines
          ? createChips(this.node, store)
          : createBoard(this.node, store, {
              ask: question => run.ask(question),
              canAsk: () => run.kernel !== null,
              code: async () => (await fetch(import.meta.url)).text(),
              linkOf: IN_PAGE ? source => location.origin + location.pathname + fragmentOf(source.trim()) : null,
              onSelect: line => markLine(this.cellId(), line, store.document.source.split("\n")[line - 1]),
            });
      }
      if (this.run.head.status === "running" && data.status !== "running") this.run.adopt(data);
    }

    cellId() {
      return (
        this.run.panel?.content.widgets.find(({ node }) => node.contains(this.node))?.model?.id ?? this.run.head.cell
      ); // without a model, the cell is being closed
    }

    dispose() {
      this.forget();
      this.board?.remove();
      super.dispose();
    }
  }
  return { safe: true, mimeTypes: [MIME], createRenderer: options => new RunOutput(options) };
}
