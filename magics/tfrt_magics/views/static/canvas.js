// A canvas that pans, zooms, and knows its size; a view decides what is on it.

import { button, eachFrame, element, setAttributes } from "./dom.js";
import { colors } from "./theme.js";

const MAP = [150, 110], // the maximum size of a minimap
  MAP_AGE = 250; // ms until the minimap is drawn again
const FRAME = 40; // ms between two frames of an animation

/** Draw only inside a rectangle. */
export function clipped(pen, x, y, width, height, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  draw();
  pen.restore();
}

export const READABLE = 9 / 11; // the scale at which text of 11 pixels is 9 pixels high
const ZOOM = 1.25,
  EDGE = 6,
  SMALLEST = 1e-9,
  LARGEST = 50;

/**
 * `draw(pen, { width, height, scale, x, y, palette })` draws the picture and returns whether a part of it is moving;
 * `x` and `y` are the point in the upper left corner.  If `isFlat`, heights are not scaled, and the first `left` pixels
 * do not move.
 *
 * `size()` returns the size of the whole picture and, as `start`, the horizontal middle of the part to show first.
 * `hit(x, y)` handles a click at a point of the picture.  `onArea({ left, right, top, bottom })` is called with the
 * area that the reader selects with Shift or with the button, or with null if the reader only clicks.
 *
 * `drawMap(pen, palette)` draws the whole picture as a minimap, which is shown while a part of the picture is out of
 * view.  `memory` is an object that keeps the reader's view; the view is restored once `isStable()` returns true.
 */
export function createCanvas({
  draw,
  size,
  hit,
  height,
  isFlat = false,
  left = 0,
  describe,
  onArea = null,
  drawMap = null,
  memory = {},
  isStable = () => true,
}) {
  const canvas = element("canvas", { "aria-hidden": true });
  canvas.style.height = `${height}px`;
  const node = element("div.stage", {}, canvas);
  const tools = [
    button("−", () => zoom(1 / ZOOM), { "aria-label": "Zoom out" }),
    button("+", () => zoom(ZOOM), { "aria-label": "Zoom in" }),
    button("Fit", () => {
      isFitted = isWhole = true;
      keep();
      redraw();
    }),
  ];
  const selecting = button("Select", () => setAttributes(selecting, { "aria-pressed": !isSelecting() }), {
    "aria-pressed": false,
    title: "Drag over an area for its totals; or Shift + drag",
  });
  const isSelecting = () => selecting.getAttribute("aria-pressed") === "true";
  if (onArea) tools.unshift(selecting);
  let view = { x: 0, y: 0, scale: 1 },
    isFitted = true,
    isWhole = false,
    isRestored = false,
    drag = null,
    host = null,
    map = null; // where the minimap is: `{ left, top, scale, width, height }`
  const drawnMap = { at: -Infinity, key: "", canvas: element("canvas") };
  const redraw = eachFrame(paint);
  const observer = new ResizeObserver(redraw);
  observer.observe(node);

  function fit(width) {
    const whole = size();
    const all = isFlat ? (width - left) / whole.width : Math.min(1.2, width / whole.width, height / whole.height);
    // Until the reader asks for the whole picture, show a large picture at a readable size, with its beginning in view.
    const scale = isFlat || isWhole ? all : Math.max(all, READABLE);
    const over = whole.width - width / scale;
    view = {
      scale,
      x: isFlat ? 0 : over < 0 ? over / 2 : Math.min(over, Math.max(0, whole.start - width / scale / 2)),
      y: Math.min(-EDGE, (whole.height - height / scale) / 2),
    };
  }

  /** The key under which a view is kept: the same for all flat pictures, and one per size for other pictures. */
  const keyOf = ({ width, height }) => (isFlat ? "flat" : `${Math.round(width)} ${Math.round(height)}`);

  function keep() {
    const whole = size(),
      unit = isFlat ? whole.width : 1;
    const { x, y, scale } = view;
    Object.assign(memory, { key: keyOf(whole), x: x / unit, y, scale: scale * unit, isFitted, isWhole });
  }

  function restore() {
    const whole = size(),
      unit = isFlat ? whole.width : 1;
    isRestored = true;
    if (memory.key !== keyOf(whole)) return;
    ({ isFitted, isWhole } = memory);
    view = { x: memory.x * unit, y: memory.y, scale: memory.scale / unit };
  }

  function paint() {
    const width = node.clientWidth;
    // A hidden canvas has no width.  The observer calls this again when the canvas is shown.
    if (!width || !node.isConnected) return;
    const ratio = window.devicePixelRatio || 1,
      [wide, high] = [width, height].map(each => Math.round(each * ratio));
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    if (!isRestored && isStable()) restore();
    if (isFitted) fit(width);
    setAttributes(canvas, { "data-view": [view.x, view.y, view.scale].join(" ") });
    host ??= node.getRootNode().host ?? node;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const palette = colors(host);
    if (draw(pen, { ...view, width, height, palette })) setTimeout(redraw, FRAME);
    map = drawMap && mapOf(width);
    setAttributes(canvas, { "data-map": map ? [map.left, map.top, map.width, map.height].join(" ") : null });
    if (map) {
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      paintMap(pen, ratio, palette, width);
    }
  }

  /** The place of the minimap, or null if the whole picture is in view. */
  function mapOf(width) {
    const whole = size(),
      isWithin = view.x <= EDGE && view.y <= EDGE && view.x + width / view.scale >= whole.width - 3 * EDGE;
    if (isWithin && view.y + height / view.scale >= whole.height - 3 * EDGE) return null;
    const scale = Math.min(MAP[0] / whole.width, MAP[1] / whole.height),
      [w, h] = [Math.max(24, whole.width * scale), Math.max(24, whole.height * scale)];
    return { left: width - w - EDGE, top: height - h - EDGE, scale, width: w, height: h };
  }

  function paintMap(pen, ratio, palette, width) {
    const now = performance.now(),
      key = [map.scale, ratio, palette.paper].join(" ");
    const { left, top, scale } = map,
      from = drawnMap.canvas;
    if (key !== drawnMap.key || now - drawnMap.at > MAP_AGE) {
      Object.assign(drawnMap, { key, at: now });
      Object.assign(from, { width: Math.ceil(map.width * ratio), height: Math.ceil(map.height * ratio) });
      const own = from.getContext("2d");
      own.scale(scale * ratio, scale * ratio);
      drawMap(own, palette);
    }
    pen.globalAlpha = 0.92;
    pen.fillStyle = palette.paper;
    pen.fillRect(left, top, map.width, map.height);
    pen.globalAlpha = 1;
    pen.drawImage(from, left, top, map.width, map.height);
    pen.lineWidth = 1;
    pen.strokeStyle = palette.line;
    pen.strokeRect(left, top, map.width, map.height);
    const [x, y] = [left + Math.max(0, view.x) * scale, top + Math.max(0, view.y) * scale];
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 2;
    pen.strokeRect(
      x,
      y,
      Math.max(3, Math.min(left + map.width - x, (width / view.scale) * scale)),
      Math.max(3, Math.min(top + map.height - y, (height / view.scale) * scale)),
    );
    pen.lineWidth = 1;
  }

  /** Center the view on the point of the minimap that the reader points to. */
  function goToMap({ offsetX, offsetY }) {
    isFitted = false;
    view = {
      ...view,
      x: (offsetX - map.left) / map.scale - node.clientWidth / view.scale / 2,
      y: (offsetY - map.top) / map.scale - height / view.scale / 2,
    };
    keep();
    redraw();
  }

  const isOnMap = ({ offsetX, offsetY }) => map !== null && offsetX >= map.left && offsetY >= map.top;

  function zoom(factor, at = node.clientWidth / 2, down = height / 2) {
    isFitted = false;
    const scale = Math.min(LARGEST, Math.max(SMALLEST, view.scale * factor)); // numbers lack digits beyond this
    view = {
      scale,
      x: view.x + at / view.scale - at / scale,
      y: isFlat ? view.y : view.y + down / view.scale - down / scale,
    };
    keep();
    redraw();
  }

  /** Bring a part of the picture into view with as little motion as possible. */
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
      if (!event.ctrlKey && !event.metaKey && !event.altKey) return; // let the page scroll
      event.preventDefault();
      zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, event.offsetX - left, event.offsetY);
    },
    // A passive listener could not keep the page from scrolling.
    { passive: false },
  );
  canvas.onpointerdown = event => {
    drag = { x: event.clientX, y: event.clientY, view, moved: false };
    if (onArea && (event.shiftKey || isSelecting())) drag.from = place(event);
    if (isOnMap(event)) {
      drag.isMap = true;
      goToMap(event);
    }
    // With the capture, a drag continues outside the canvas.
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = event => {
    if (!drag) {
      if (describe) canvas.title = isOnMap(event) ? "Minimap" : (describe(...place(event)) ?? "");
      return;
    }
    if (drag.isMap) return goToMap(event);
    const [right, down] = [event.clientX - drag.x, event.clientY - drag.y];
    if (Math.abs(right) + Math.abs(down) < 4 && !drag.moved) return;
    drag.moved = true;
    if (drag.from) {
      const [[left, top], [right, bottom]] = [drag.from, place(event)];
      onArea({
        left: Math.min(left, right),
        right: Math.max(left, right),
        top: Math.min(top, bottom),
        bottom: Math.max(top, bottom),
      });
      return;
    }
    isFitted = false;
    view = { ...view, x: drag.view.x - right / view.scale, y: isFlat ? 0 : drag.view.y - down / view.scale };
    redraw();
  };
  canvas.onpointerup = event => {
    if (drag?.from && !drag.moved) onArea(null);
    else if (drag?.moved) keep();
    else if (drag && !drag.isMap) hit(...place(event));
    drag = null;
  };

  const place = event => [
    view.x + (event.offsetX - left) / view.scale,
    isFlat ? event.offsetY : view.y + event.offsetY / view.scale,
  ];

  return {
    node,
    tools,
    redraw,
    start: () => view.x,
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
