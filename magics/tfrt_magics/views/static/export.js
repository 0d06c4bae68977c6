// What a reader can take away: the run as text, its document, its graph as a picture, and its events for Perfetto.

import { asFile, bytesOf } from "./document.js";
import { button, download, duration, element } from "./dom.js";
import { extent, foldedLayout } from "./folding.js";
import { edgesOf } from "./history.js";
import { COLORS, SHAPES, STATUSES } from "./theme.js";
import { outcomesInWords, RACE } from "./views/schedules.js";
import { functionsOf, namesOf, progress, tableOf, timesOf } from "./views/values.js";

const ROWS = 200,
  WIDTH = 400,
  LOG = 20000;
const MOST = 500; // the maximum number of operations in an exported graph

/** The run as text, for the clipboard, for the notebook's search, and for "copy output". */
export function textOf(moment) {
  const { document, status } = moment.store;
  const [, , words] = progress(moment);
  const { isOver, isLive, end } = moment.store,
    past = isLive ? "" : `${duration(moment.time)} of `,
    times = isOver ? `, ${past}${duration(end)}` : "";
  const head = `${namesOf(moment)}: ${STATUSES[status].word}, ${words}${times}`;
  const parts = [head, document.note, document.outcomes && outcomesInWords(document.outcomes)].filter(Boolean);
  for (const pair of document.outcomes?.races ?? []) {
    parts.push(RACE, ...pair.map(op => `  line ${moment.program.operations[op]?.line}: ${moment.store.textOf(op)}`));
  }
  for (const function_ of functionsOf(moment)) {
    const rows = tableOf(moment, function_);
    parts.push(
      ...rows
        .slice(0, ROWS)
        .map(row =>
          [
            `${SHAPES[row.state]} ${row.state}`,
            [row.name, ...(row.tags ?? [])].join(" "),
            row.text.slice(0, WIDTH) + timesOf(row),
            row.type,
            row.worker,
          ]
            .filter(Boolean)
            .join("  "),
        ),
    );
    if (rows.length > ROWS) parts.push(`… and ${rows.length - ROWS} more values`);
  }
  const log = document.log
    .filter(([time]) => moment.isEnd || time <= moment.time)
    .map(([, , text]) => text)
    .join("")
    .slice(0, LOG);
  return [...parts, log].filter(Boolean).join("\n");
}

const escape = text => String(text).replace(/[&<>"']/g, each => `&#${each.codePointAt(0)};`);

/** The graph of the first operations as SVG. */
function svgOf(moment) {
  const operations = moment.program.operations.slice(0, MOST),
    places = foldedLayout(moment.document.layout, { operations }, new Set());
  const { x, y, w, h, boxes } = places,
    { width, height } = extent(places);
  const frames = boxes.map(
    box => `<rect x="${box.x}" y="${box.y}" width="${box.w}" height="${box.h}" fill="none" stroke="#888"/>`,
  );
  const order = places.order.map(([from, to]) => ({ from, to, isChain: true }));
  const edges = [...edgesOf({ ...moment.program, operations }), ...order]
    .filter(({ from, to }) => from < MOST && to < MOST)
    .map(({ from, to, isChain }) => {
      const place = `M${x[from] + w[from] / 2} ${y[from] + h[from]}L${x[to] + w[to] / 2} ${y[to]}`;
      return `<path d="${place}" stroke="#888" fill="none"${isChain ? ' stroke-dasharray="5 4"' : ""}/>`;
    });
  const nodes = operations.map(({ kernel, regions, results }, i) => {
    const look = `rx="5" fill="${regions.length ? "none" : "#fff"}" stroke="${COLORS[moment.stateOf(i)]}"`;
    // A member of a group has room for its name only.
    const text = (places.groupOf.has(i) && moment.program.values[results[0]]?.name) || kernel;
    return (
      `<g><title>${escape(moment.store.textOf(i))}</title>` +
      `<rect x="${x[i]}" y="${y[i]}" width="${w[i]}" height="${h[i]}" ${look}/>` +
      `<text x="${x[i] + 8}" y="${y[i] + 18}">${escape(text)}</text></g>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"` +
    ` font-family="monospace" font-size="11"><rect width="100%" height="100%" fill="#fff"/>` +
    `${[...frames, ...edges, ...nodes].join("")}</svg>`
  );
}

/** The operations in Graphviz's language. */
function dotOf(store) {
  const edges = [...edgesOf(store.program)].map(
    ({ from, to, isChain }) => `  ${from} -> ${to}${isChain ? " [style=dashed]" : ""};`,
  );
  const nodes = store.program.operations.map(({ id }) => `  ${id} [label=${JSON.stringify(store.textOf(id))}];`);
  return ["digraph run {", "  node [shape=box, fontname=monospace];", ...nodes, ...edges, "}", ""].join("\n");
}

/**
 * The spans in the format of Chrome's tracing and Perfetto.  A kernel whose thread leaves it before its results are
 * there is an asynchronous event, because it overlaps what the thread runs in the meantime.
 */
function traceOf(moment) {
  const { operations } = moment.program,
    last = moment.store.end;
  const events = moment.store.live.spans.flatMap(({ op, instance, worker, begin, end, isLate }, id) => {
    const one = {
      name: operations[op].kernel,
      cat: isLate ? "wait" : "kernel",
      pid: 1,
      tid: Math.max(worker, 0),
      ts: begin / 1000,
      args: { operation: moment.store.textOf(op), instance },
    };
    const dur = ((isNaN(end) ? last : end) - begin) / 1000;
    return isLate || operations[op].regions.length || one.args.operation.includes("@")
      ? [
          { ...one, id, ph: "b" },
          { ...one, id, ph: "e", ts: one.ts + dur, args: {} },
        ]
      : [{ ...one, ph: "X", dur }];
  });
  const names = moment.document.workers.map((name, tid) => ({
    name: "thread_name",
    ph: "M",
    pid: 1,
    tid,
    args: { name },
  }));
  return JSON.stringify({ traceEvents: [...names, ...events] });
}

/** A page with the board and its code, which a browser shows without a server; without scripts, it shows the text. */
async function pageOf(store, code, title) {
  const run = { ...asFile(store.document), status: store.isOver ? store.status : "saved-while-running" };
  return [
    '<!doctype html><html lang="en"><meta charset="utf-8">',
    "<style>:root{color-scheme:light dark}body{background:Canvas}</style>",
    `<title>${escape(title)}</title><div><pre>${escape(textOf(store.now))}</pre></div>`,
    `<script type="module">${await code()}`,
    'createBoard(document.querySelector("div"),',
    // Otherwise, a tag in the data, or the end tag in this code, would end the script element of the page.
    `new Store(await unpack(${JSON.stringify(run).replaceAll("<", "\\u003c")})))<\/script>`,
  ].join("\n");
}

/**
 * The Export button and its menu.  `code()` returns this module's source; `code` is null if no page can be exported.
 */
export function exports(store, ask, canAsk, code) {
  const name = ending => `tfrt-${store.document.functions[0]?.name ?? "run"}.${ending}`;
  const forms = {
    ...(code && { "HTML page": async () => download(name("html"), await pageOf(store, code, name("")), "text/html") }),
    "SVG graph": () => download(name("svg"), svgOf(store.now), "image/svg+xml"),
    "PNG graph": () => raster(svgOf(store.now), picture => download(name("png"), picture)),
    "DOT graph": () => download(name("dot"), dotOf(store), "text/vnd.graphviz"),
    "Chrome trace": () => download(name("json"), traceOf(store.now), "application/json"),
    BEF: async () => {
      const bytes = (await ask({ bef: store.document.run }))?.bef;
      if (bytes) download(name("bef"), bytesOf(bytes), "application/octet-stream");
    },
  };
  const menu = element("span", { hidden: true, role: "group", "aria-label": "Export as" });
  const entry = ([text, run]) =>
    button(text, () => {
      run();
      menu.hidden = true;
      main.setAttribute("aria-expanded", false);
    });
  const main = button(
    "Export",
    () => {
      if (!menu.children.length) menu.append(...Object.entries(forms).map(entry));
      menu.hidden = !menu.hidden;
      main.setAttribute("aria-expanded", !menu.hidden);
      // The kernel has no run for an exploration.
      menu.lastChild.hidden = !canAsk() || !!store.document.outcomes || !store.isProgram;
    },
    { "aria-expanded": false },
  );
  return { nodes: [main, menu] };
}

function raster(svg, done) {
  const image = new Image();
  image.onload = () => {
    const canvas = element("canvas", { width: 2 * image.width, height: 2 * image.height });
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(done);
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
}
