import { frontMatterOf } from './front-matter.ts'
import { placeOf, type TextPlace } from './line-ends.ts'

/** Keys of maps and positions in lists, from the front matter inward. */
export type YamlPath = readonly (string | number)[]

/**
 * The line of a value in the front matter. Only block style is read, by its indentation: a value in flow style is on the
 * line of the block around it. Null if the front matter does not have the first key.
 */
export function placeOfValue(text: string, path: YamlPath): TextPlace | null {
  const area = frontMatterOf(text)
  if (!area) return null
  const lines = text.slice(area.from, area.to).split(/\r\n|\r|\n/)
  let found = -1
  let from = 0
  let indent = -1
  for (const step of path) {
    const next = childLine(lines, from, indent, step)
    if (next < 0) break
    found = next
    const line = lines[next] ?? ''
    indent = line.length - line.trimStart().length
    from = typeof step === 'number' ? next : next + 1
    // The first key of a list's entry is on the line of its dash.
    if (typeof step === 'number') lines[next] = line.replace('-', ' ')
  }
  return found < 0 ? null : { line: placeOf(text, area.from).line + found, column: 1 }
}

/** The line of a key or entry, in the block whose own line is indented by `indent`. Otherwise -1. */
function childLine(lines: readonly string[], from: number, indent: number, step: string | number): number {
  let level: number | null = null
  let entries = 0
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const content = line.trimStart()
    if (content === '' || content.startsWith('#')) continue
    const isEntry = /^-(?:\s|$)/.test(content)
    const own = line.length - content.length
    // A list may be indented as its key is.
    if (own < indent || (own === indent && !(isEntry && typeof step === 'number'))) return -1
    level ??= own
    if (own > level) continue
    if (own < level) return -1
    if (typeof step === 'string' ? isKey(content, step) : isEntry && entries++ === step) return at
  }
  return -1
}

function isKey(content: string, key: string): boolean {
  return [key, JSON.stringify(key), `'${key.replaceAll("'", "''")}'`].some(
    (written) => content.startsWith(written) && /^\s*:(?:\s|$)/.test(content.slice(written.length)),
  )
}
