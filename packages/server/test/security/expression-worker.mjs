/** Tries expressions on long texts made of their own parts. The thread can be ended during a match. */
import { parentPort } from 'node:worker_threads'

const common = [' ', '\t', '\n', 'a', '0', '"', "'", '\\', '/', '-', '_', '.', ' \n', 'a ', '""', "''", '\\"']

/** The literals of an expression, whole and by character. */
function piecesOf(source) {
  const pieces = new Set(common)
  for (const [found] of source.matchAll(/(?:[\w <>{}"'`=:@,!~#%&;/-]|\\[/{}()[\].*+?|$^\\-])+/g)) {
    const piece = found.replace(/\\(.)/g, '$1')
    for (const each of [piece, `${piece} `, `${piece}a`, ...piece]) pieces.add(each)
  }
  return [...pieces]
}

function* hostileTexts(source, characters) {
  const pieces = piecesOf(source)
  const heads = new Set(['', 'a', '"', '```\n', '---\n', ...pieces.filter(({ length }) => length > 1)])
  for (const head of heads) {
    for (const piece of pieces) {
      const body = head + piece.repeat(Math.ceil(characters / piece.length))
      yield body
      yield `${body}\0`
    }
  }
}

function timeOf(expression, text) {
  const startedAt = performance.now()
  if (expression.global) text.replaceAll(expression, '')
  else expression.test(text)
  return performance.now() - startedAt
}

parentPort.on('message', ({ source, flags, characters, limitMs }) => {
  const expression = new RegExp(source, flags)
  for (const text of hostileTexts(source, characters)) {
    parentPort.postMessage({ trying: text.slice(0, 80) })
    // A busy machine may delay one or two matches, but not all.
    let attempts = 20
    while (attempts > 0 && timeOf(expression, text) > limitMs) attempts -= 1
    if (attempts === 0) return parentPort.postMessage({ slowOn: text.slice(0, 80) })
  }
  parentPort.postMessage({ slowOn: undefined })
})
