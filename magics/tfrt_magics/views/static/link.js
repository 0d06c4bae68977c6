// A program as a link: the fragment of a page's address contains its source.  `tfrt-nb share` prints the same link.

const FRAGMENT = "#tfrt=";

/** Return the fragment for a source: UTF-8 in base64url. */
export function fragmentOf(source) {
  const bytes = Array.from(new TextEncoder().encode(source), each => String.fromCharCode(each));
  return FRAGMENT + btoa(bytes.join("")).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** Return the source in a fragment, or null if the fragment contains no source. */
export function sourceIn(fragment) {
  if (!fragment.startsWith(FRAGMENT)) return null;
  try {
    const text = atob(fragment.slice(FRAGMENT.length).replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(text, each => each.charCodeAt(0)));
  } catch {
    return null;
  }
}
