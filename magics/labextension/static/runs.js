// What this page knows of runs: one board from the first event to the reopened file.
//
// A watcher of each notebook routes the kernel's messages to runs, drawn or not; the renderer of our MIME type draws
// them.
// Live needs no request.  What a page has missed it asks for once, on the control channel, which answers while a cell
// is busy.

import { createBoard } from "./board/board.js";
import { createChips } from "./board/chips.js";
import { asFile, extend, MIME, unpack } from "./board/document.js";
import { fragmentOf } from "./board/link.js";
import { Store } from "./board/store.js";
import { markLine, onCursor } from "./current.js";
import { createAsk, IN_PAGE, TARGET } from "./services.js";
import { showSkeleton } from "./skeleton.js";

const RELOAD = 5000; // ms that a window which reloads may take to come back
const DEAD = ["dead", "restarting", "autorestarting", "terminating"];

/** The runs of this page, by id; `start` begins to watch the notebooks of a tracker. */
export function createRuns({ services, tracker }) {
  const runs = new Map(),
    locks = new Map(),
    tried = new Set();
  const ask = createAsk(services);
  const panelOf = resolver => tracker?.find(panel => panel.content.rendermime.resolver === resolver);

  /** The run of an output, which may be drawn in several places. */
  function runFor(data, panel) {
    let run = runs.get(data.run);
    if (!run) runs.set(data.run, (run = new Run(data)));
    if (panel && run.panel !== panel && (!run.panel || run.panel.isDisposed)) run.connect(panel);
    return run;
  }

  /** Whether a notebook of this page that is open has the run. */
  const isOpen = id => runs.has(id) && !runs.get(id).panel?.isDisposed;

  const cellsOf = panel => [...(panel?.content.model?.cells ?? [])];

  /** The outputs of a notebook that hold a run, drawn or not: outputs out of view have no renderer. */
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
    }); // a notebook that is closed leaves its kernel
    context.connectionStatusChanged.connect(greet);
    panel.context.saveState.connect((_, state) => {
      if (state === "started") mine().forEach(run => run.beforeSave());
    });
    panel.context.ready
      .then(() => {
        for (const { data } of outputsOf(panel)) runFor(data[MIME], panel);
      })
      .then(greet);

    /** Ask what was missed. JupyterLab keeps what is sent before it is connected until a busy kernel's cell is over. */
    async function greet() {
      await panel.context.ready;
      const kernel = context.session?.kernel;
      if (kernel?.connectionStatus !== "connected") return;
      mine().forEach(run => run.catchUp());
      // A run that ended while no page was open is silent: ask, but only where a cell speaks of us.
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
   * Runs of one execution of a cell of this kernel whose outputs are not in the document, because a reload came before
   * a save.
   *
   * Where the document was saved after a run had begun, its reader has put something else there, or nothing.
   */
  async function restore(panel, execution) {
    const cell = cellsOf(panel).find(each => each.id === execution[0].cell && each.type === "code");
    const missing = execution.filter(({ run }) => cell && !isOpen(run) && !tried.has(run));
    for (const { run } of missing) tried.add(run); // whatever comes of it
    const isKept = () =>
      [...outputsOf(panel)].some(({ data }) =>
        ["session", "cell", "execution"].every(part => data[MIME][part] === execution[0][part]),
      );
    for (const { run } of missing) {
      if (!(await mayWrite(run))) continue; // another window has it
      const found = await ask(panel.sessionContext.session?.kernel, { run }),
        data = found?.bundle;
      if (!data || isOpen(run) || found.began * 1000 < Date.parse(panel.context.contentsModel?.last_modified)) continue;
      if (!isKept()) cell.outputs.clear(); // the outputs are of an execution before
      cell.outputs.add({ output_type: "display_data", data, metadata: {} });
      makeHome(run);
      runFor(data[MIME], panel);
    }
  }

  /** What this page knows of one run; `head` is what a file says about it outside of its body. */
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

    /** A file that says "running" is believed when the kernel says so too. */
    get status() {
      return this.head.status === "running" && !this.isAlive ? "saved-while-running" : this.head.status;
    }
    get kernel() {
      return this.panel?.sessionContext.session?.kernel ?? null;
    }

    ask(question) {
      this.hasAsked ||= "stages" in question;
      if ("cancel" in question && this.head.flag) URL.revokeObjectURL(this.head.flag); // a busy worker looks at it
      return ask(this.kernel, { ...question, run: this.id });
    }

    async connect(panel) {
      this.panel = panel;
      if (this.head.status !== "running") return;
      this.isAlive = this.kernel?.clientId === this.head.client; // executed here
      if (this.isAlive) makeHome(this.id);
      // In an Output widget, which draws later, it may have missed its end; there, no output of a cell will say so.
      if (!this.isAlive || !this.outputs().length) this.catchUp();
      if (isHome(this.id)) mayWrite(this.id); // taken now, so that no other window has it at the end
      this.store?.changed();
    }

    /** Ask for what came since the last event that is here. */
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

    /** The stages of the program, which come when a page asks; the one that asked keeps them in its file. */
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

    /** The final document takes the place of the one that grew. */
    adopt(head) {
      if (this.head.status !== "running" && head.status === this.head.status) return;
      this.head = head;
      this.ready = unpack(head).then(document => {
        this.store.replace(document);
        return this.store;
      });
    }

    /** The kernel is gone: what is here is all that there will be. */
    lose() {
      // Not seen alive here: the file is right as it is.
      if (this.head.status !== "running" || !this.isAlive || !this.store) return;
      const { document } = this.store;
      document.status = "kernel-gone";
      this.head = { ...this.head, status: "kernel-gone" };
      this.last = { [MIME]: asFile(document), "text/plain": "The kernel was lost while this ran." };
      this.persist();
      this.store.changed();
    }

    /**
     * A file that is saved in the middle of the run has it as far as it went; afterwards it has the end, whichever
     * window saves it.
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

    /** The end goes into the document once: by the window that ran the cell, or by another where that is closed. */
    async persist() {
      if (!this.stale().length || this.panel.context.contentsModel?.writable === false || !(await mayWrite(this.id)))
        return;
      this.write(() => this.last);
    }
  }

  /** Whether this window ran it: survives a reload, and does not exist in another window. */
  const key = run => `${TARGET}:${run}`;
  const isHome = run => sessionStorage.getItem(key(run)) !== null;
  const makeHome = run => sessionStorage.setItem(key(run), "home");

  /**
   * A lock that the browser gives to one window and frees when that is closed or reloaded; the window that ran it takes
   * it back.
   */
  async function mayWrite(run) {
    if (!navigator.locks) return true; // plain http from another machine
    const how = isHome(run) ? { steal: true } : { ifAvailable: true };
    if (!locks.has(run))
      locks.set(
        run,
        new Promise(resolve =>
          navigator.locks
            .request(key(run), how, lock => {
              if (!lock) locks.delete(run); // ask again another time
              resolve(lock !== null);
              return lock && new Promise(() => {}); // held until the page goes
            })
            .catch(() => locks.delete(run)),
        ),
      ); // taken back
    if (!(await locks.get(run)) || isHome(run)) return locks.has(run);
    await new Promise(resolve => setTimeout(resolve, RELOAD));
    return locks.has(run);
  }

  function start() {
    for (const name of Object.keys(sessionStorage))
      if (name.startsWith(`${TARGET}:`)) mayWrite(name.slice(TARGET.length + 1)); // after a reload, at once
    tracker?.widgetAdded.connect((_, panel) => watch(panel));
    tracker?.forEach(watch);
  }

  return { start, runFor: (data, resolver) => runFor(data, panelOf(resolver)) };
}

/**
 * A renderer factory for JupyterLab: our MIME type drawn, the same from the run's first event to the reopened file;
 * `safe`, because a board enters no HTML of the notebook's.
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
