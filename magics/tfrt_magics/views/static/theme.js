// How states look: a shape, a color (Okabe and Ito), and a word, so that readers need only one of the three.

/** For each state, its shape, its color on white, and its color on black. */
const LOOKS = {
  waiting: ["○", "#6b7280", "#9ca3af"],
  ready: ["◔", "#5b5bd6", "#a5a8ff"],
  running: ["◑", "#0072b2", "#56b4e9"],
  available: ["●", "#00805c", "#2fc79a"],
  error: ["▲", "#c24e00", "#ff8a47"],
  skipped: ["◇", "#9a6a00", "#e6b022"],
  cancelled: ["■", "#a3507d", "#e59bc6"],
  unrecorded: ["?", "#7a5230", "#d2a679"],
};
export const STATES = Object.keys(LOOKS);
export const [WAITING, READY, RUNNING, AVAILABLE, ERROR, SKIPPED, CANCELLED, UNRECORDED] = STATES.keys();
export const [SHAPES, COLORS, DARK] = [0, 1, 2].map(place =>
  Object.fromEntries(STATES.map(state => [state, LOOKS[state][place]])),
);
/** The colors of kernels, on white and on black.  None of them is the color of errors. */
const KERNELS = [
  ["#0072b2", "#56b4e9"],
  ["#00805c", "#2fc79a"],
  ["#7b4fc9", "#b9a5ff"],
  ["#a3507d", "#e59bc6"],
  ["#7a5230", "#d2a679"],
  ["#00707a", "#62d0da"],
  ["#6b6b00", "#cfcf52"],
  ["#5f6672", "#a9b0bb"],
];
export const KERNEL_COLORS = KERNELS.length;
const kernels = place => KERNELS.map((pair, at) => `--kernel${at}: ${pair[place]};`).join("");
const variables = colors => STATES.map(state => `--${state}: ${colors[state]};`).join("");

/** The statuses of a run: the state whose look each has, its name in text, and an explanation. */
export const STATUSES = {
  compiling: { look: "running", word: "compiling …" },
  running: { look: "running", word: "running" },
  done: { look: "available", word: "done" },
  failed: { look: "error", word: "failed" },
  cancelled: { look: "cancelled", word: "cancelled" },
  "timed-out": { look: "cancelled", word: "timed out" },
  "kernel-gone": {
    look: "cancelled",
    word: "lost its kernel",
    why: "The kernel is gone: states are as they were seen last.",
  },
  "saved-while-running": {
    look: "waiting",
    word: "was running when the file was saved",
    why: "The file was saved while this ran: its end is not in it.",
  },
};

/** For each kind of token, the theme's color, and a color without a theme, which is readable on white and on black. */
const TOKEN_COLORS = {
  comment: ["comment", "#408080"],
  keyword: ["keyword", "#2a8a2a"],
  string: ["string", "#c94f4f"],
  number: ["number", "#2a8a2a"],
  atom: ["atom", "#8080ff"],
  operator: ["operator", "#9a4fd0"],
  labelName: ["qualifier", "#808080"],
  attributeName: ["attribute", "#5a7ae0"],
  "variableName-standard": ["builtin", "#2a8a2a"],
  "variableName-special": ["variable-2", "#3a7abd"],
  "variableName-definition": ["def", "#5a7aff"],
};

const css = `
:host { container-type: inline-size; display: block; position: relative; margin: 2px 0;
  border: 1px solid var(--line); border-radius: 6px; overflow: hidden;
  ${variables(COLORS)} ${kernels(0)}
  --ink: var(--jp-ui-font-color1, CanvasText); --soft: color-mix(in srgb, var(--ink) 70%, var(--paper));
  --line: var(--jp-border-color2, #8886);
  --paper: var(--jp-layout-color0, Canvas); --shade: var(--jp-layout-color2, #8882);
  --accent: var(--jp-brand-color1, #0072b2);
  --mark: color-mix(in srgb, var(--accent) 16%, transparent); --ui: var(--jp-ui-font-family, system-ui, sans-serif);
  --code-family: var(--jp-code-font-family, ui-monospace, monospace); --code: 12px/1.5 var(--code-family);
  color: var(--ink); background: var(--paper); font: 13px/1.4 var(--ui); text-align: left; }
:host([data-dark]) { ${variables(DARK)} ${kernels(1)} --accent: var(--jp-brand-color1, #56b4e9); }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: pre; }
button, input, select { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line);
  border-radius: 4px; padding: 1px 8px; margin: 0; }
button { cursor: pointer; }
button:hover { background: var(--shade); }
input[type=range] { padding: 0; accent-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.head, .bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; padding: 6px 12px; }
.space { flex: 1 1 0; }
.soft { color: var(--soft); font-variant-numeric: tabular-nums; }
.progress { height: 3px; background: var(--shade); }
.progress > div { height: 100%; width: 0; background: var(--running); }
.outcome { display: flex; flex-wrap: wrap; gap: 4px 24px; padding: 8px 12px 6px; border-bottom: 1px solid var(--line); }
.outcome button { border: 0; padding: 0 4px; font: 20px/1.4 var(--code-family); text-align: left;
  overflow-wrap: anywhere; }
.outcome button[data-state=available] .name { font-weight: 700; }
.outcome .type { font-size: 13px; }
.outcome button:not([data-state=available]) { color: var(--look); }
.problem { display: block; width: 100%; border: 0; border-bottom: 1px solid var(--line); border-radius: 0;
  padding: 6px 12px; text-align: left; font-weight: 600; overflow-wrap: anywhere; --look: var(--error); }
.printed { position: sticky; bottom: 0; padding: 4px 12px 6px; border-top: 1px solid var(--line);
  background: var(--paper); font: var(--code); }
.printed pre { max-height: 4.6em; overflow: hidden; }
.badge:empty { display: none; }
.badge { margin-left: 5px; padding: 0 6px; border-radius: 8px; background: var(--shade); font-size: 11px; }
.note { margin: 0; padding: 5px 12px; border-bottom: 1px solid var(--line); }
.note button { min-height: 24px; }
.tabs, .tabs [role=tablist] { display: flex; flex-wrap: wrap; }
.tabs { align-items: center; gap: 2px; padding: 0 8px;
  border-bottom: 1px solid var(--line); }
.tabs [role=tab] { border: 0; border-bottom: 2px solid transparent; border-radius: 0; padding: 4px 10px;
  color: var(--soft); }
.tabs [role=tab][aria-selected=true] { border-bottom-color: var(--accent); color: var(--ink); font-weight: 600; }
.panel { max-height: 440px; overflow: auto; position: relative; }
.shape { display: inline-block; width: 1.2em; text-align: center; color: var(--look); }
${STATES.map(state => `[data-state=${state}] { --look: var(--${state}); }`).join("\n")}
[data-state=unavailable] { --look: var(--waiting); }
[data-state=broken] { --look: var(--error); }
.chips .row > * { margin-right: 6px; }
.chips .name { font-weight: 700; }
.picture:empty { display: none; }
.chips .picture img { height: 18px; vertical-align: middle; }
.detail img { height: 120px; }
img { image-rendering: pixelated; border: 1px solid var(--line); }
.rows { position: relative; font: var(--code); }
.row { position: absolute; left: 0; right: 0; height: 24px; line-height: 24px; padding: 0 12px;
  white-space: nowrap; overflow: hidden; text-overflow: ellipsis; cursor: default; }
.row:hover { background: var(--shade); }
.row[aria-selected=true], .row[aria-current=true] { background: var(--mark); box-shadow: inset 3px 0 var(--accent); }
.row > *, .headings > * { overflow: hidden; text-overflow: ellipsis; vertical-align: top; }
.values { --columns: 92px minmax(90px, 3fr) minmax(90px, 3fr) minmax(128px, 1fr) var(--worker, 70px) 160px 66px; }
.values[data-simple] { --worker: 0; }
.values[data-simple] :is(.worker, .headings :nth-child(5)) { visibility: hidden; }
.values .row, .headings { display: grid; gap: 0 12px; grid-template-columns: var(--columns); }
.headings { position: sticky; top: 0; z-index: 1; padding: 0 12px; background: var(--paper);
  border-bottom: 1px solid var(--line); }
.headings button { border: 0; padding: 2px 0; color: var(--soft); text-align: left; width: 100%; white-space: nowrap; }
.headings [aria-sort=ascending] button::after { content: " ▴"; }
.headings [aria-sort=descending] button::after { content: " ▾"; }
.row .ui { font: 12px/24px var(--ui); }
.row button { padding: 0 6px; line-height: 18px; font-size: 11px; color: var(--soft); }
.row.result .name { font-weight: 700; }
.tag { margin-left: 6px; font: 11px var(--ui); color: var(--soft); }
.twist { display: inline-block; width: 16px; text-align: center; color: var(--soft); cursor: pointer; }
.log .row > * { display: inline-block; min-width: 64px; margin-right: 12px; }
.whole { position: sticky; bottom: 0; background: var(--paper); }
.timeline .row { display: grid; gap: 12px;
  grid-template-columns: minmax(110px, 1fr) minmax(0, 76px) minmax(0, 360px); }
.timeline[data-remote] .row { grid-template-columns: minmax(110px, 1fr) minmax(0, 160px) minmax(0, 3fr); }
.kinds { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 3px 12px; font-size: 12px; }
.kinds i { display: inline-block; width: 10px; height: 10px; margin-right: 5px; border-radius: 2px; }
.kinds b { color: var(--ink); font: var(--code); font-weight: 600; }
.area { color: var(--ink); background: var(--mark); }
h4 { margin: 0; padding: 6px 12px 2px; }
.track { position: relative; display: inline-block; width: 90px; height: 8px; margin-right: 8px;
  background: var(--shade); border-radius: 2px; }
.track i { position: absolute; top: 0; bottom: 0; min-width: 2px; border-radius: 2px; background: var(--look); }
.split { display: grid; grid-template-columns: minmax(0, 1fr) minmax(180px, 300px); }
.split.even { grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); }
.split > .scroll { max-height: 380px; overflow: auto; }
.split > * + * { border-left: 1px solid var(--line); }
.legend { margin: 0; padding: 3px 12px; font-size: 12px; }
.legend summary { cursor: pointer; }
.legend dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 12px; margin: 4px 0; }
.legend dt { font-weight: 600; } .legend dd { margin: 0; }
.stage { position: relative; overflow: hidden; }
canvas { display: block; width: 100%; touch-action: none; }
.tabs .bar { padding: 3px 4px; gap: 4px; }
.head [role=group] { display: flex; flex-wrap: wrap; gap: 4px; }
pre, .code { margin: 0; font: var(--code); white-space: pre-wrap; overflow-wrap: anywhere; }
.detail { border-top: 1px solid var(--line); padding: 6px 12px; max-height: 260px; overflow: auto; }
.detail ul { margin: 2px 0; padding-left: 18px; }
.line-number { display: inline-block; width: 3.5em; padding-right: 1em; text-align: right; color: var(--soft);
  user-select: none; }
.source .row { display: flex; white-space: pre; padding-left: 4px; height: 20px; line-height: 20px; }
.source .row > :not(:nth-last-child(3)) { flex: none; }
.split.even > * + * .line-number { width: 1.6em; padding: 0; text-align: center; }
.beside { margin-left: 24px; max-width: 60%; font-weight: 700; color: color-mix(in srgb, var(--look) 75%, var(--ink)); }
${Object.entries(TOKEN_COLORS)
  .map(
    ([name, [color, light]]) => `.token-${name} {
  color: color-mix(in srgb, var(--jp-mirror-editor-${color}-color, ${light}) 70%, var(--ink)); }`,
  )
  .join("\n")}
.token-keyword, .token-operator { font-weight: 700; }
.stages button[aria-pressed=true] { border-color: var(--accent); color: var(--ink); background: var(--mark); }
.detail .heat { display: block; height: auto; width: 240px; max-width: 100%; max-height: 150px; object-fit: fill; }
.scale { display: flex; gap: 8px; align-items: center; font: var(--code); }
.scale i { width: 160px; height: 10px; background: linear-gradient(90deg, #440154, #21918c, #fde725); }
.row .picture img { height: 20px; width: 30px; margin: 2px 6px 0 0; vertical-align: top; }
.outcome .picture img { height: 28px; width: 42px; margin: 0 4px; vertical-align: middle; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: 2px 12px 2px 0; vertical-align: top; font-weight: inherit; }
.add { background: color-mix(in srgb, var(--available) 18%, transparent); }
.cut { background: color-mix(in srgb, var(--error) 18%, transparent); }
tr[aria-current=true] td:first-child { font-weight: 700; box-shadow: inset 3px 0 var(--accent); padding-left: 8px; }
.head b { overflow-wrap: anywhere; }
@media (forced-colors: active) {
  :host { --ink: CanvasText; --soft: CanvasText; --line: CanvasText; --paper: Canvas; --shade: Canvas;
  --accent: Highlight; }
  .row[aria-selected=true], .row[aria-current=true], button[aria-pressed=true] { outline: 2px solid Highlight;
  outline-offset: -2px; }
  .tabs [role=tab]:not([aria-selected=true]) { border-color: Canvas; }
  .track i, .progress > div { background: CanvasText !important; }
}
@container (max-width: 820px) {
  .values { --columns: 82px minmax(90px, 7fr) minmax(90px, 10fr) 88px var(--worker, 66px) 98px 60px; }
  .values .row, .headings { gap: 0 8px; } .track { width: 28px; }
}
@container (max-width: 720px) {
  .values { --columns: 84px minmax(60px, 3fr) minmax(60px, 4fr) var(--worker, 66px) 64px 60px; }
  .type, .headings :nth-child(4), .track { display: none; }
}
@container (max-width: 560px) {
  .values { --columns: 84px minmax(60px, 3fr) minmax(60px, 4fr) 64px 60px; }
  .worker, .headings :nth-child(5) { display: none; }
}
@container (max-width: 380px) {
  .values { --columns: 84px minmax(60px, 3fr) minmax(60px, 4fr); }
  .when, .headings :nth-child(n + 6) { display: none; }
}
@container (max-width: 900px) { .graph.split { grid-template-columns: minmax(0, 1fr) 180px; } }
@container (max-width: 760px) {
  .graph.split { grid-template-columns: minmax(0, 1fr); }
  .graph.split > .scroll { max-height: 220px; }
  .graph.split > * + * { border: 0; border-top: 1px solid var(--line); }
}
@container (max-width: 640px) {
  .head, .bar { gap: 4px 6px; }
  .stages { flex-wrap: nowrap; overflow: auto; } .stages > * { flex: none; }
  .stages + * { max-height: 46px; overflow: auto; }
  .split, .split.even { grid-template-columns: minmax(0, 1fr); }
  .split > .scroll { max-height: 220px; } .split.even > :first-child { max-height: 110px; }
  .split > * + * { border: 0; border-top: 1px solid var(--line); }
}
@media (prefers-reduced-motion: no-preference) {
  .progress > div { transition: width .12s linear; }
  [data-state=running] > .shape, [data-state=running] > * > .shape { animation: pulse 1.6s ease-in-out infinite; }
}
@keyframes pulse { 50% { opacity: .3; } }
`;

let sheet;

/** Give `root` the style sheet that all boards share. */
export function adoptStyle(root) {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
  }
  root.adoptedStyleSheets = [sheet];
}

/** Whether a board at `node` is dark, according to the notebook or else to the background color. */
export function isDark(node) {
  const light = node.closest("[data-jp-theme-light]")?.dataset.jpThemeLight;
  if (light) return light === "false";
  const [red, green, blue] = (getComputedStyle(node).backgroundColor.match(/[\d.]+/g) ?? [255, 255, 255]).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue < 110;
}

/**
 * Call `action` when the page's colors may have changed, which a canvas does not notice.  Returns a function that stops
 * this.
 */
export function onOtherColors(action) {
  const observer = new MutationObserver(action);
  observer.observe(document.body, {
    attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "data-theme", "class"],
  });
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map(query => matchMedia(query));
  for (const query of queries) query.addEventListener("change", action);
  return () => {
    observer.disconnect();
    for (const query of queries) query.removeEventListener("change", action);
  };
}

/** The colors in the form that a canvas needs. */
export function colors(host) {
  const style = getComputedStyle(host);
  const read = name => style.getPropertyValue(`--${name}`).trim() || "#888";
  return Object.fromEntries(
    [...STATES, ...KERNELS.map((_, at) => `kernel${at}`), "ink", "soft", "line", "paper", "shade", "accent"].map(
      name => [name, read(name)],
    ),
  );
}
