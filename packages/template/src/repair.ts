/** Offsets of the braces inserted around a step's schema, in the repaired text. */
export interface SchemaRepair {
  open: number
  close: number
}

const BARE_SCHEMA = /<step(?=\s)[^<]*?\sschema\s*=\s*\{\{(?=\s*(?:[A-Za-z_$][\w$]*|"[^"\n]*"|'[^'\n]*')\s*:)/g

/**
 * Adds braces so that the engine reads `<step schema={{ type: "object" }}>` as an object. This is safe because no
 * expression starts with a name and a colon.
 */
export function insertSchemaBraces(text: string): { text: string; repairs: SchemaRepair[] } {
  if (!text.includes('<step')) return { text, repairs: [] }
  const pieces: string[] = []
  const repairs: SchemaRepair[] = []
  let done = 0
  for (const match of text.matchAll(BARE_SCHEMA)) {
    const open = match.index + match[0].length
    const close = open < done ? -1 : endOfExpression(text, open)
    if (close === -1) continue
    const shift = repairs.length * 2
    repairs.push({ open: open + shift, close: close + shift + 1 })
    pieces.push(text.slice(done, open), '{', text.slice(open, close), '}')
    done = close
  }
  return repairs.length === 0 ? { text, repairs } : { text: pieces.join('') + text.slice(done), repairs }
}

/** Returns the offset of the expression's closing braces, or -1 if there are none. */
function endOfExpression(text: string, start: number): number {
  let depth = 0
  let quote = ''
  for (let at = start; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (quote) {
      if (char === '\\') at += 1
      else if (char === quote) quote = ''
    } else if (char === '"' || char === "'") quote = char
    else if (char === '{') depth += 1
    else if (char === '}') {
      if (depth === 0) return text.charAt(at + 1) === '}' ? at : -1
      depth -= 1
    }
  }
  return -1
}

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
