const CORE_TAG = /^!!(?:str|int|float|bool|null|map|seq)$/

/** The offset of a tag outside the core schema, or -1. The YAML parser only warns about such tags and drops them. */
export function customTagAt(yaml: string): number {
  const text = withoutQuotesAndComments(yaml)
  let flowDepth = 0
  /** Whether a value or a key may begin here. Only there does `!` open a tag. */
  let beginsNode = true
  let beginsLine = true
  const token = /\n|[^\S\n]+|[!&][^\s,[\]{}]*|[^\s!&:,[\]{}?-]+|\S/g
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found.trim() === '') {
      beginsLine ||= found === '\n'
      continue
    }
    const isIndicator = /^[-?:]$/.test(found) && /^\s?$/.test(text.charAt(index + 1))
    if (beginsLine && flowDepth === 0) beginsNode ||= isIndicator || opensTaggedKey(text, index)
    beginsLine = false
    if (beginsNode && found.startsWith('!') && !CORE_TAG.test(found)) return index
    if (beginsNode && /^[!&]/.test(found)) continue
    if (beginsNode && /^[[{]$/.test(found)) flowDepth += 1
    else if (flowDepth > 0 && /^[\]}]$/.test(found)) flowDepth -= 1
    beginsNode = opensNode(found, isIndicator, beginsNode, flowDepth)
  }
  return -1
}

function opensNode(found: string, isIndicator: boolean, beginsNode: boolean, flowDepth: number): boolean {
  if (found === ':') return isIndicator || flowDepth > 0
  if (found === '-' || found === '?') return beginsNode && isIndicator
  return flowDepth > 0 && (found === ',' || (beginsNode && (found === '[' || found === '{')))
}

/** A continuation line cannot contain a key, so `!tag key:` is not one. */
function opensTaggedKey(text: string, index: number): boolean {
  const end = text.indexOf('\n', index)
  return /^!.*:(?:\s|$)/.test(text.slice(index, end === -1 ? undefined : end))
}

/** Replaces quoted scalars, comments and block scalars by blanks. Offsets do not change. */
function withoutQuotesAndComments(yaml: string): string {
  const blank = (text: string): string => text.replace(/[^\n]/g, ' ')
  // A quoted scalar is a value, so no value begins directly after it.
  const quoted = (text: string): string => (/^["']/.test(text) ? text.replace(/[^\n]/g, '_') : blank(text))
  let blockIndent = -1
  const lines = yaml.split('\n').map((line) => {
    const indent = line.search(/\S/)
    if (blockIndent >= 0 && (indent === -1 || indent > blockIndent)) return blank(line)
    const clean = line.replace(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|(?<=^|\s)#.*$/g, quoted)
    blockIndent = /[:-][ \t]+[|>][+-]?\d*[ \t]*$/.test(clean) ? indent : -1
    return clean
  })
  return lines.join('\n')
}
