// Puts a board in place of each run that a page of the documentation holds; without scripts, its table stays.

import { createBoard } from "./board.js";
import { createChips } from "./chips.js";
import { unpack } from "./document.js";
import { mayMove } from "./dom.js";
import { Store } from "./store.js";

const SEEN_PART = 0.6; // of a board: then it plays, once

const runs = [...document.querySelectorAll("script.tfrt-run")];
for (const data of runs) {
  unpack(JSON.parse(data.textContent)).then(run => {
    const host = document.createElement("div"),
      store = new Store(run);
    host.style.marginBottom = "1rem";
    const board = (run.lines ? createChips : createBoard)(host, store);
    data.previousElementSibling.replaceWith(host);
    // The first board of the site's first page shows what moves most.
    if (data === runs[0] && document.body.querySelector("h1")?.textContent.startsWith("tfrt-nb")) board.select("Graph");
    if (store.play && mayMove()) playOnceSeen(host, store);
  });
}

/** Play a run when its board is seen for the first time, unless its reader has begun to. */
function playOnceSeen(host, store) {
  const observer = new IntersectionObserver(
    entries => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      observer.disconnect();
      if (store.isLive && store.isOver) store.play();
    },
    { threshold: SEEN_PART },
  );
  observer.observe(host);
}
