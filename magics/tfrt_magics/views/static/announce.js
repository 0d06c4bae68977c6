// What a screen reader hears of displayed values: each change once, politely, and many at once as a count.

import { count, element } from "./dom.js";

const FEW = 3, BETWEEN = 1500; // changes that are read out; ms between two sentences
const waiting = new Set();
let region = null, timer = null, said = -Infinity;

/** Say `sentences` soon; those that several outputs have say it once. */
export function announce(sentences) {
  region ??= document.body.appendChild(element("div", { role: "status", "aria-live": "polite", className: "tfrt-announcer",
    style: "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)" }));
  for (const sentence of sentences) waiting.add(sentence);
  // Not at once: the region may be new, and what comes in a burst is one sentence.
  timer ??= setTimeout(speak, Math.max(200, BETWEEN - (performance.now() - said)));
}

function speak() {
  timer = null;
  said = performance.now();
  region.textContent = waiting.size > FEW ? `${count(waiting.size)} values changed` : [...waiting].join(". ");
  waiting.clear();
}
