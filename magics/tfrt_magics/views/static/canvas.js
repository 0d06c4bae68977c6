// One canvas that pans, zooms and knows its size; what is on it is the view's.

import { button, eachFrame, element, setAttributes } from "./dom.js";
import { colours } from "./theme.js";

/** Draw what is within a rectangle. */
export function clipped(pen, x, y, width, height, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  draw();
  pen.restore();
}

const ZOOM = 1.25,
  EDGE = 6,
  READABLE = 0.5,
  SMALLEST = 1e-9,
  LARGEST = 50;

/**
 * `draw(pen, { width, height, scale, x, y, palette })` draws; `x`, `y` are what the left upper corner shows.
 * A flat one has its own scale of heights, and `left` pixels that do not move.  `size()` is the whole picture, and `start` of it the middle of what is seen first, `hit(x, y)` answers a click at a place of the picture.
 */
export function createCanvas({ draw, size, hit, height, isFlat = false, left = 0, describe }) {
  const canvas = element("canvas", { "aria-hidden": true });
  canvas.style.height = `${height}px`;
  const node = element("div.stage", {}, canvas);
  const tools = [
    button("−", () => zoom(1 / ZOOM), { "aria-label": "Zoom out" }),
    button("+", () => zoom(ZOOM), { "aria-label": "Zoom in" }),
    button("Fit", () => {
      isFitted = isWhole = true;
      redraw();
    }),
  ];
  let view = { x: 0, y: 0, scale: 1 },
    isFitted = true,
    isWhole = false,
    drag = null,
    host = null;
  const redraw = eachFrame(paint);
  const observer = new ResizeObserver(redraw);
  observer.observe(node);

  function fit(width) {
    const whole = size();
    const all = isFlat ? (width - left) / whole.width : Math.min(1.2, width / whole.width, height / whole.height);
    // Until the reader asks for all of it, a large picture is readable and shows its beginning.
    const scale = isFlat || isWhole ? all : Math.max(all, READABLE);
    const over = whole.width - width / scale;
    view = {
      scale,
      x: isFlat ? 0 : over < 0 ? over / 2 : Math.min(over, Math.max(0, whole.start - width / scale / 2)),
      y: Math.min(-EDGE, (whole.height - height / scale) / 2),
    };
  }

  function paint() {
    const width = node.clientWidth;
    if (!width || !node.isConnected) return;
    const ratio = window.devicePixelRatio || 1,
      [wide, high] = [width, height].map(each => Math.round(each * ratio));
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    if (isFitted) fit(width);
    setAttributes(canvas, { "data-view": [view.x, view.y, view.scale].join(" ") });
    host ??= node.getRootNode().host ?? node;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    draw(pen, { ...view, width, height, palette: colours(host) });
  }

  function zoom(factor, at = node.clientWidth / 2, down = height / 2) {
    isFitted = false;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor)); // beyond, numbers lack the digits
    view = {
      scale,
      x: view.x + at / view.scale - at / scale,
      y: isFlat ? view.y : view.y + down / view.scale - down / scale,
    };
    redraw();
  }

  /** Bring a part of the picture into view, if it is not, with as little motion as that takes. */
  function reveal(x, y, w, h) {
    if (!node.clientWidth) return;
    if (isFitted) fit(node.clientWidth);
    const moved = (at, size, from, room) => Math.min(Math.max(from, at + size + EDGE - room), at - EDGE);
    const next = {
      ...view,
      x: moved(x, w, view.x, node.clientWidth / view.scale),
      y: moved(y, h, view.y, height / view.scale),
    };
    if (next.x === view.x && next.y === view.y) return;
    isFitted = false;
    view = next;
    redraw();
  }

  canvas.addEventListener(
    "wheel",
    event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) return; // the page's own scrolling
      event.preventDefault();
      zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, event.offsetX - left, event.offsetY);
    },
    { passive: false },
  );
  canvas.onpointerdown = event => {
    drag = { x: event.clientX, y: event.clientY, view, moved: false };
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = event => {
    if (!drag) {
      if (describe) canvas.title = describe(...place(event)) ?? "";
      return;
    }
    const [right, down] = [event.clientX - drag.x, event.clientY - drag.y];
    if (Math.abs(right) + Math.abs(down) < 4 && !drag.moved) return;
    drag.moved = true;
    isFitted = false;
    view = { ...view, x: drag.view.x - right / view.scale, y: isFlat ? 0 : drag.view.y - down / view.scale };
    redraw();
  };
  canvas.onpointerup = event => {
    if (drag && !drag.moved) hit(...place(event));
    drag = null;
  };

  const place = event => [
    view.x + (event.offsetX - left) / view.scale,
    isFlat ? event.offsetY : view.y + event.offsetY / view.scale,
  ];

  return {
    node,
    tools,
    reveal,
    resize: next => {
      if (next !== height) {
        height = next;
        canvas.style.height = `${height}px`;
      }
      redraw();
    },
    dispose: () => observer.disconnect(),
  };
}
