const SUSPECT = /\\u(?:0000|d[89a-f])/
const ESCAPE = /\\(?:u0000|ud[89a-f][0-9a-f]{2}|.)/g

/**
 * Removes NUL and lone surrogates, which databases cannot store. A prompt can create both (`"😀".charAt(0)`).
 * `JSON.stringify` escapes them in exactly this form.
 */
export function wellFormedJson(json: string): string {
  if (!SUSPECT.test(json)) return json
  return json.replace(ESCAPE, (found) => (SUSPECT.test(found) ? '\uFFFD' : found))
}
