/** JSON for the data of an event: one line for every reader's notion of line breaks. */

/** Characters besides CR and LF that some clients take for line breaks; in JSON they may be raw or escaped. */
const lineEnds = /[\u0085\u2028\u2029]/
const allLineEnds = new RegExp(lineEnds, 'g')

export function frameJson(value: unknown): string {
  return inOneLine(JSON.stringify(value))
}

/** The same JSON with no character that could end a line. Searched once, where it is made: not by each reader. */
export function inOneLine(json: string): string {
  if (!lineEnds.test(json)) return json
  return json.replace(allLineEnds, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
