const FENCE = '```'
const OPENING_FENCE = /^\s*```[\w-]*[ \t]*\r?\n/
const LAST_BLANKS = /\r?\n?(?<![ \t])[ \t]*$/

const THOUGHT_END = '</think>'

/** Removes the reasoning before JSON. Some services omit the opening mark. */
function withoutThought(text: string): string {
  const end = /^\s*[[{"`]/.test(text) ? -1 : text.indexOf(THOUGHT_END)
  return end < 0 ? text : text.slice(end + THOUGHT_END.length)
}

/** Removes what models put around JSON: reasoning before it, and a code fence that encloses all the rest. */
export function jsonPart(answer: string): string {
  const text = withoutThought(answer)
  const opened = OPENING_FENCE.exec(text)
  const rest = text.trimEnd()
  if (!opened || !rest.endsWith(FENCE) || rest.length < opened[0].length + FENCE.length) return text
  return rest.slice(opened[0].length, -FENCE.length).replace(LAST_BLANKS, '')
}
