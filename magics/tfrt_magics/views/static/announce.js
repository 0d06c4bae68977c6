// Announcements of displayed values to screen readers: each change once and politely, and many at once as a count.

import { count, element } from "./dom.js";

const READ_OUT = 3; // up to this many changes are read out one by one
const BETWEEN = 1500; // ms between two announcements
const unsaid = new Set();
let region = null,
  speaking = null,
  spokenAt = -Infinity;

/** Announce `sentences` soon; a sentence that several outputs announce is read out once. */
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
  // Wait a little: the region may be new, and changes that come in a burst become one announcement.
  speaking ??= setTimeout(speakChanges, Math.max(200, BETWEEN - (performance.now() - spokenAt)));
}

function speakChanges() {
  speaking = null;
  spokenAt = performance.now();
  region.textContent = unsaid.size > READ_OUT ? `${count(unsaid.size)} values changed` : [...unsaid].join(". ");
  unsaid.clear();
}
