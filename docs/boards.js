// Replaces the table of each run on a documentation page with a board.  Without scripts, the table stays.
//
// If the site's notebooks are at the address `data-site`, relative to the site's root, cells can be edited and run.

import { createBoard } from "./board.js";
import { showCells } from "./cells.js";
import { createChips } from "./chips.js";
import { unpack } from "./document.js";
import { mayMove } from "./dom.js";
import { Store } from "./store.js";

const SEEN_PART = 0.6; // the fraction of a board that must be visible before it plays, once

const script = document.currentScript,
  root = new URL("..", script.src);
if (script.dataset.site) showCells(new URL(script.dataset.site, root).href, new URL("_static/python.js", root).href);

const runs = [...document.querySelectorAll("script.tfrt-run")];
for (const data of runs) {
  unpack(JSON.parse(data.textContent)).then(run => {
    const host = document.createElement("div"),
      store = new Store(run);
    host.style.marginBottom = "1rem";
    data.previousElementSibling.replaceWith(host); // first, because a board's colors depend on the page's background
    const board = (run.lines ? createChips : createBoard)(host, store);
    const view = viewOf(host, data === runs[0]);
    if (view) board.select(view);
    if (store.play && mayMove()) playOnceSeen(host, store);
  });
}

/**
 * Return the view that a board opens on, or undefined for the usual one.
 *
 * A heading such as "Graph: a tree of sums" names it.  On the site's start page, the first board opens on the graph,
 * where most is moving.
 */
function viewOf(host, isFirst) {
  const title = host.closest("section")?.querySelector("h1, h2")?.textContent ?? "";
  if (isFirst && title.startsWith("tfrt-nb")) return "Graph";
  return /^(Values|Graph|Timeline|Log|Source|Stages): /.exec(title)?.[1];
}

/** Play a run when its board first scrolls into view, unless the reader has already started a replay. */
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
