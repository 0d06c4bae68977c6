// A slider through the time of a run that is over: play, pause, one event forth or back.

import { button, duration, element, setAttributes, setText } from "./dom.js";

export function createReplay(store) {
  const slider = element("input", { type: "range", min: 0, step: "any", "aria-label": "Replay", style: "flex: 1 1 120px",
    oninput: () => { pause(); store.goTo(Number(slider.value)); } });
  const named = (label) => ({ "aria-label": label, title: label });
  const play = button("▶", () => (timer === null ? start() : pause()));
  const back = button("‹", () => { pause(); store.step(-1); }, named("Step back"));
  const forth = button("›", () => { pause(); store.step(1); }, named("Step forward"));
  const speed = element("select", { "aria-label": "Speed" },
    ...[20, 8, 3, 0].map((value) => element("option", { value, selected: value === 8 }, value ? `in ${value} s` : "as it was")));
  const time = element("span.soft");
  const node = element("div.bar", { role: "group", "aria-label": "Replay controls" }, play, back, forth, slider, time, speed);
  let timer = null, last = 0;

  /** One look in 33 ms is enough, and needs no motion of its own. */
  function start() {
    clearInterval(timer);
    if (store.isLive) store.goTo(0);
    last = performance.now();
    timer = setInterval(() => {
      const now = performance.now(), seconds = Number(speed.value) || Math.max(0.001, store.end / 1e9);
      store.goTo(Math.min(store.time, store.end) + ((now - last) / 1000 / seconds) * store.end);
      last = now;
      if (store.isLive) pause();
    }, 33);
    store.changed();
  }

  store.play = start;

  function pause() {
    clearInterval(timer);
    timer = null;
    store.changed();
  }

  function show(moment) {
    node.hidden = !store.isOver || !store.end;
    if (node.hidden) return;
    slider.max = store.end;
    const now = Math.min(store.time, store.end);
    if (Number(slider.value) !== now) slider.value = now;
    slider.setAttribute("aria-valuetext", `${duration(now)} of ${duration(store.end)}`);
    setText(time, `${duration(moment.time)} / ${duration(store.end)}`);
    setText(play, timer === null ? "▶" : "❙❙");
    setAttributes(play, named(timer === null ? "Play" : "Pause"));
  }

  return { node, show, dispose: () => clearInterval(timer) };
}
