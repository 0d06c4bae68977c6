// Cells of a documentation page that the reader can edit and run, in a Python that the page starts for the first one.
//
// A site has that Python if it was built with the notebooks (`make lite`); on other sites, nothing changes.

import { createBoard } from "./board.js";
import { broadcast } from "./broadcast.js";
import { createChips } from "./chips.js";
import { extend, MIME, unpack } from "./document.js";
import { element } from "./dom.js";
import { fragmentOf } from "./link.js";
import { Store } from "./store.js";

const CELLS = ".tfrt-cell, .tfrt-program, .cell_input";
const OUTPUTS = ".tfrt-output, .cell_output";
const LOADS = /^%load_ext tfrt_nb\n?/;
const COLOR = /\x1b\[[\d;]*m/g;
// Errors in a page that a notebook on the reader's machine would not raise.
const LACKS = [
  [/^ModuleNotFoundError: No module named '(\w+)/m, name => `This page's Python has no ${name}`],
  [/^FileNotFoundError: /m, () => "This page's Python has no files, except those that its cells write"],
];
const IMAGES = ["image/svg+xml", "image/png", "image/jpeg"];

/**
 * Make the page's cells editable.  `site` is the address of the site's notebooks, whose Python `worker` starts.
 */
export function showCells(site, worker) {
  const cells = [...document.querySelectorAll(CELLS)].map((node, place) => new Cell(node, place));
  const session = crypto.randomUUID(),
    runs = new Map();
  let python = null,
    isReady = false,
    running = null;

  function start() {
    python = new Worker(worker, { type: "module" });
    python.onmessage = ({ data: [kind, ...contents] }) => answers[kind]?.(...contents);
    python.onerror = ({ message }) => answers.failed(message);
    python.postMessage({ pyodide: `${site}static/pyodide/`, session });
  }

  /** Stop everything.  The next cell starts a new Python, in which no cell has run. */
  function stop(said) {
    python?.terminate();
    python = null;
    isReady = false;
    for (const run of runs.values()) run.lose();
    runs.clear();
    running?.end(said);
    for (const cell of cells) cell.isRun = false;
  }

  /** Run the cells in order, one after another. */
  async function run(queue) {
    if (running) return;
    if (!python) start();
    for (const cell of queue) {
      running = cell;
      cell.say(isReady ? "Running…" : "Starting Python…");
      const isFine = await cell.run(python);
      running = null;
      if (isFine) continue;
      if (cell !== queue.at(-1)) queue.at(-1).say("A cell above has failed, so this one did not run.");
      break;
    }
  }

  /** A notebook's cell needs the cells above it; a program needs none. */
  const neededFor = cell =>
    cell.isAlone ? [cell] : inOrder.filter(each => each === cell || (each.place < cell.place && !each.isRun));

  const answers = {
    started: () => {
      isReady = true;
      running?.say("Running…");
    },
    failed: problem => stop(`Python could not start or go on: ${problem}`),
    done: (_, traceback) => running?.end(traceback),
    stream: (_, text) => running?.print(text),
    display: (data, metadata, transient) => running?.display(data, transient?.display_id, show),
    result: (count, data) => running?.display(data, null, show),
    update: (data, metadata, transient) => cells.forEach(cell => cell.update(data, transient?.display_id, show)),
    clear: () => running?.clear(),
    comm: (type, { data }) => runs.get(data?.run)?.take(data),
  };

  /** Return a node that shows an output. */
  function show(data) {
    if (!data[MIME]) return shown(data);
    const linkOf = source => `${site}lab/index.html${fragmentOf(source.trim())}`;
    const run = new Run(data[MIME], question => broadcast(session, question), linkOf);
    runs.set(run.id, run);
    return run.node;
  }

  const inOrder = cells.filter(({ isAlone }) => !isAlone);
  for (const cell of cells) {
    cell.all.hidden = cell !== inOrder[0] || inOrder.length < 2;
    cell.onIntent = () => python ?? start();
    cell.onRun = () => (running ? stop("Stopped.  The next run starts Python again.") : run(neededFor(cell)));
    cell.onRunAll = () => run(inOrder);
  }
}

/** Return a node that shows an output other than a run. */
function shown(data) {
  const image = IMAGES.find(type => data[type]);
  if (image) {
    const text = [data[image]].flat().join("");
    const source = image.endsWith("xml") ? `${image},${encodeURIComponent(text)}` : `${image};base64,${text}`;
    return element("img", { src: `data:${source}`, alt: data["text/plain"] ?? "" });
  }
  const html = data["text/html"];
  if (html) {
    const node = element("div");
    node.innerHTML = [html].flat().join("");
    return node;
  }
  return element("pre", {}, [data["text/plain"] ?? ""].flat().join(""));
}

/** A run on the page: its document grows with the messages of its Python. */
class Run {
  constructor(head, ask, linkOf) {
    this.id = head.run;
    this.head = head;
    this.node = element("div");
    const question = content => {
      if ("cancel" in content && this.head.flag) URL.revokeObjectURL(this.head.flag); // a busy worker polls it
      return ask({ ...content, run: this.id });
    };
    this.ready = unpack(head).then(found => {
      this.store = new Store(found, () => this.head.status);
      if (found.lines) createChips(this.node, this.store);
      else createBoard(this.node, this.store, { ask: question, linkOf });
    });
  }

  async take(message) {
    await this.ready;
    const { document } = this.store;
    if (message.stages) document.stages = message.stages;
    if (this.head.status === "running") {
      extend(document, message);
      if (message.frame) this.store.present(message.frame);
      if (message.bundle) await this.adopt(message.bundle[MIME]);
    }
    this.store.changed();
  }

  /** Replace the document that grew during the run with the final one. */
  async adopt(head) {
    this.head = head;
    this.store.replace(await unpack(head));
  }

  async lose() {
    await this.ready;
    if (this.head.status !== "running") return;
    this.head = { ...this.head, status: "kernel-gone" };
    this.store.document.status = "kernel-gone";
    this.store.changed();
  }
}

/** A cell: the source in the page, its buttons, and its output, which replaces the one in the page. */
class Cell {
  constructor(node, place) {
    Object.assign(this, { node, place, isRun: false, isAlone: node.matches(".tfrt-program") });
    this.raises = node.closest(".tfrt-raises, .tag_raises-exception") !== null;
    this.source = node.querySelector("pre");
    // Errors count lines from the magic, so the reader must see it.
    if (this.isAlone && !this.source.textContent.startsWith("%%")) this.source.prepend("%%tfrt\n");
    this.original = this.source.cloneNode(true);
    this.saved = [];
    for (let next = node.nextElementSibling; next?.matches(OUTPUTS); next = next.nextElementSibling)
      this.saved.push(next);
    this.output = element("div.tfrt-live", { "aria-live": "polite", hidden: true });
    (this.saved.at(-1) ?? node).after(this.output);
    this.shown = new Map(); // for each display id, its node
    this.tools(node);
    this.edit();
  }

  tools(node) {
    const button = (text, title, onclick) => element("button", { type: "button", title, onclick }, text);
    this.runs = button("▶ Run", "Run this cell, after the cells above it (Shift+Enter)", () => this.onRun());
    this.all = button("Run all", "Run all cells of this page", () => this.onRunAll());
    this.resets = button("Reset", "Restore this cell and its output", () => this.reset());
    this.resets.hidden = true;
    this.said = element("span", { role: "status" });
    node.classList.add("tfrt-editable");
    node.append(element("div.tfrt-tools", {}, this.said, this.resets, this.all, this.runs));
    // Start Python a moment early, but not for a reader who only scrolls: it is a download of more than 10 MB.
    this.runs.onpointerenter = node.onfocusin = () => this.onIntent();
  }

  edit() {
    const { source } = this;
    source.contentEditable = "plaintext-only";
    source.spellcheck = false;
    source.setAttribute("role", "textbox");
    source.setAttribute("aria-multiline", "true");
    source.setAttribute("aria-label", `Cell ${this.place + 1}`);
    source.oninput = () => {
      this.isRun = false;
      this.resets.hidden = false;
    };
    source.onkeydown = event => {
      event.stopPropagation(); // the theme turns pages with the arrow keys
      if (event.key === "Enter" && (event.shiftKey || event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.onRun();
      }
    };
  }

  /** The text to run, without the line that loads the extension, because Python has already loaded it. */
  get text() {
    return this.source.innerText.replace(LOADS, "");
  }

  /** Run the cell, and return whether the cells below it may run. */
  run(python) {
    this.clear();
    for (const each of this.saved) each.hidden = true;
    this.output.hidden = this.resets.hidden = false;
    this.runs.textContent = "■ Stop";
    python.postMessage({ cell: String(this.place), source: this.text });
    return new Promise(resolve => (this.ended = resolve));
  }

  say(text) {
    this.said.textContent = text;
  }

  /** Show why the cell failed, if it did. */
  end(traceback) {
    const text = traceback.replace(COLOR, "");
    if (text) this.output.append(element("pre.tfrt-error", {}, text));
    for (const [pattern, said] of LACKS) {
      const found = pattern.exec(text);
      if (found) this.output.append(element("p", {}, `${said(found[1])}: run the cell in a notebook on your machine.`));
    }
    this.isRun = !text;
    this.runs.textContent = "▶ Run";
    this.say("");
    this.ended(!text || this.raises);
  }

  print(text) {
    const last = this.output.lastElementChild;
    if (last?.matches(".tfrt-printed")) last.append(text);
    else this.output.append(element("pre.tfrt-printed", {}, text));
  }

  display(data, id, show) {
    if (!Object.keys(data).length) return;
    const node = show(data);
    if (id) this.shown.set(id, node);
    this.output.append(node);
  }

  update(data, id, show) {
    const old = this.shown.get(id);
    if (!old?.isConnected || data[MIME]) return; // a run's messages have already updated its board
    const node = show(data);
    this.shown.set(id, node);
    old.replaceWith(node);
  }

  clear() {
    this.output.replaceChildren();
    this.shown.clear();
  }

  reset() {
    const fresh = this.original.cloneNode(true);
    this.source.replaceWith(fresh);
    this.source = fresh;
    this.edit();
    this.clear();
    for (const each of this.saved) each.hidden = false;
    this.output.hidden = this.resets.hidden = true;
    this.isRun = false;
  }
}
