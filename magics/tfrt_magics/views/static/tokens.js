// The kinds of words in a program, for their colors in cells and on boards.

// In order: the first pattern that matches at the cursor names the token.  The names are those for which JupyterLab's
// themes have a color: "atom" rather than "typeName", for example.
export const TOKENS = [
  [/^\/\/.*/, "comment"],
  [/^"[A-Za-z_][\w$]*(?:\.[\w$]+)+"(?=\s*\()/, "variableName.standard"],
  [/^"(?:[^"\\]|\\.)*"?/, "string"],
  [/^%[\w$.-]+(?:#\d+)?/, "variableName.special"],
  [/^@(?:[\w$.-]+|"[^"]*")/, "variableName.definition"],
  [/^\^[\w$.-]+/, "labelName"],
  [/^![\w$.]+(?:<[^>\n]*>)?/, "atom"],
  [/^#[\w$.]+/, "attributeName"],
  [/^(?:[su]?i\d+|f\d+|bf16|index|none|tensor|memref|vector|tuple|complex)\b/, "atom"],
  [/^-?(?:0x[\da-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)/, "number"],
  [/^(?:func\.func|func|async\.func|return|module|else|loc|attributes|true|false|unit|dense)\b/, "keyword"],
  [/^[A-Za-z_][\w$]*(?:\.[\w$]+)+/, "variableName.standard"],
  [/^->/, "operator"],
  [/^[A-Za-z_][\w$]*/, null],
];

const COLORED = 400; // a line with more characters has no colors

/** Show a line of a program in `node`, in the same colors as in a cell. */
export function showProgramText(node, text) {
  if (node.textContent === text && node.childNodes.length) return;
  if (text.length > COLORED) return void (node.textContent = text);
  const parts = [];
  let plain = "";
  for (let rest = text; rest; ) {
    const [found, name] = TOKENS.map(([pattern, name]) => [pattern.exec(rest)?.[0], name]).find(([text]) => text) ?? [
      rest[0],
      null,
    ];
    rest = rest.slice(found.length);
    if (name === null) {
      plain += found;
      continue;
    }
    const part = document.createElement("span");
    part.className = `token-${name.replace(".", "-")}`;
    part.textContent = found;
    parts.push(plain, part);
    plain = "";
  }
  node.replaceChildren(...parts.filter(part => part !== ""), plain);
}
