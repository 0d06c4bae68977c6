// A program as a link: the fragment of a page's address holds its source.  `tfrt-nb share` prints the same.

const FRAGMENT = "#tfrt=";

/** The fragment for a source: base64url of UTF-8. */
export function fragmentOf(source) {
  const bytes = Array.from(new TextEncoder().encode(source), each => String.fromCharCode(each));
  return FRAGMENT + btoa(bytes.join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** The source in a fragment; null if it holds none. */
export function sourceIn(fragment) {
  if (!fragment.startsWith(FRAGMENT)) return null;
  try {
    const text = atob(fragment.slice(FRAGMENT.length).replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, each => each.charCodeAt(0)));
  } catch {
    return null;
  }
}
