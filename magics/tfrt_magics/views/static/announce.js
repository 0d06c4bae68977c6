// What a screen reader hears of displayed values: each change once, politely, and many at once as a count.

import { count, element } from "./dom.js";

const READ_OUT = 3; // at most this many changes are read out one by one
const BETWEEN = 1500; // ms between two sentences
const unsaid = new Set();
let region = null,
  speaking = null,
  spokenAt = -Infinity;

/** Say `sentences` soon; those that several outputs have say it once. */
export function announce(sentences) {
  region ??= document.body.appendChild(
    element("div", {
      role: "status",
      "aria-live": "polite",
      className: "tfrt-announcer",
      style: "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)",
    }),
  );
  for (const sentence of sentences) unsaid.add(sentence);
  // Not at once: the region may be new, and what comes in a burst is one sentence.
  speaking ??= setTimeout(speakChanges, Math.max(200, BETWEEN - (performance.now() - spokenAt)));
}

function speakChanges() {
  speaking = null;
  spokenAt = performance.now();
  region.textContent = unsaid.size > READ_OUT ? `${count(unsaid.size)} values changed` : [...unsaid].join(". ");
  unsaid.clear();
}
