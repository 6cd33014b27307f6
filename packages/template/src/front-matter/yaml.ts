import { isMap, isNode, isPair, isScalar, isSeq, type ParsedNode, parseDocument } from 'yaml'

/** Browsers without V8 have no such limit. */
const traces = Error as { stackTraceLimit?: number | undefined }

/**
 * Parses YAML as all of stet does. `errors` have no stack: hostile text has thousands of them, and each stack would take
 * more time than the text.
 */
export function parseYaml(yaml: string) {
  const depth = traces.stackTraceLimit
  traces.stackTraceLimit = 0
  try {
    // The parser's own check for equal keys takes quadratic time.
    return parseDocument(yaml, { uniqueKeys: false, prettyErrors: false, logLevel: 'error' })
  } finally {
    traces.stackTraceLimit = depth
  }
}

/**
 * Returns the range of the last key or list entry of a path through maps and lists. It does not follow aliases: the range
 * is then the last one before the alias.
 */
export function rangeAt(
  contents: ParsedNode | null,
  way: readonly (string | number)[],
): { start: number; end: number } {
  let node: unknown = contents
  let range = { start: 0, end: 0 }
  for (const step of way) {
    const found = childOf(node, step)
    const place = isPair(found) ? found.key : found
    if (!isNode(place) || !place.range) break
    range = { start: place.range[0], end: place.range[1] }
    node = isPair(found) ? found.value : found
  }
  return range
}

function childOf(node: unknown, step: string | number): unknown {
  if (isSeq(node)) return node.items[Number(step)]
  // The parsed value names a key by its text.
  const isNamed = (key: unknown) => isScalar(key) && String(key.value ?? '') === step
  return isMap(node) ? node.items.find(({ key }) => isNamed(key)) : undefined
}
