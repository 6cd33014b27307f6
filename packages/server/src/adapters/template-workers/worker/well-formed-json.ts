const SUSPECT = /\\u(?:0000|d[89a-f])/
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g

/**
 * Replaces NUL and lone surrogates with U+FFFD, because databases cannot store them. A prompt can create both, for
 * example with `"😀".charAt(0)`. `JSON.stringify` writes both as the escapes in `SUSPECT`.
 */
export function wellFormedJson(json: string): string {
  if (!SUSPECT.test(json)) return json
  return json.replace(ESCAPE, (found) => (SUSPECT.test(found) ? '\uFFFD' : found))
}
