// Puts a board in place of each run that a page of the documentation holds; without scripts, its table stays.

import { createBoard } from "./board.js";
import { createChips } from "./chips.js";
import { unpack } from "./document.js";
import { Store } from "./store.js";

for (const data of document.querySelectorAll("script.tfrt-run")) {
  unpack(JSON.parse(data.textContent)).then(run => {
    const host = document.createElement("div");
    host.style.marginBottom = "1rem";
    (run.lines ? createChips : createBoard)(host, new Store(run));
    data.previousElementSibling.replaceWith(host);
  });
}
