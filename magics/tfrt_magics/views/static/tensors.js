// Tensors as readers want them: `f32 24x16`, the numbers if there are few, and a picture with a scale.

import { element } from "./dom.js";

const TENSOR = /^(?:Dense|Coo)HostTensor dtype = (\w+), shape = \[([\d, ]*)\](?:.*values = \[(.*)\])?/s;
const MOST_NUMBERS = 12; // the maximum count of numbers in a line

const brief = number => (/^-?\d+$/.test(number) ? String(number) : String(Number(Number(number).toPrecision(4))));

/** Shorten a value's text to a line; a tensor is named by its type and shape. */
export function shortened(text) {
  const [, type, shape, values] = TENSOR.exec(text) ?? [];
  if (!type) return text;
  const name = `${type} ${shape.replaceAll(", ", "x")}`,
    numbers = values ? values.split(", ") : [];
  const isShort = text.startsWith("Dense") && numbers.length <= MOST_NUMBERS && !numbers.some(each => isNaN(each));
  return isShort ? `${name} [${numbers.map(brief).join(", ")}]` : name;
}

/** The picture of a tensor, and the numbers that its colors represent. */
function pictureOf(moment, value) {
  const { parent } = moment.program.values[value] ?? {};
  if (parent != null) return pictureOf(moment, parent);
  return moment.state(value) === "available" ? moment.document.pictures?.[value] : null;
}

const scaleOf = (low, high) => (low == null ? "no finite number" : `${brief(low)} to ${brief(high)}`);

/** Show a value's picture in `node`, if it has one. */
export function showPicture(node, moment, value) {
  const found = value == null ? null : pictureOf(moment, value),
    [address, low, high] = found ?? [];
  if (node.address === address) return;
  node.address = address;
  const title = `${shortened(moment.preview(value)).replace(/ \[.*/, "")}: ${scaleOf(low, high)}`;
  node.replaceChildren(...(found ? [element("img", { src: address, alt: title, title })] : []));
}

/** A value's large picture, below its scale. */
export function largePicture(moment, value) {
  const found = pictureOf(moment, value);
  if (!found) return [];
  const [address, low, high] = found,
    text = shortened(moment.preview(value)).replace(/ \[.*/, "");
  return [
    ...(low == null ? [] : [element("div.scale", {}, brief(low), element("i"), brief(high))]),
    element("img.heat", { src: address, alt: `${text} as a heat map: ${scaleOf(low, high)}` }),
  ];
}
