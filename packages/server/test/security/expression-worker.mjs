/** Tries expressions on long texts made of their own parts. The thread can be ended during a match. */
import { parentPort, workerData } from 'node:worker_threads'

const common = [' ', '\t', '\n', 'a', '0', '"', "'", '\\', '/', '-', '_', '.', ' \n', 'a ', '""', "''", '\\"']
/** A text is read four times as slowly in linear time if it is four times as long, and 16 times in quadratic time. */
const [longer, tooMuchLonger] = [4, 9]
/** No comparison below this CPU time, because most matches end at once. */
const noticeableMs = 1

/** The literals of an expression, whole and by character. */
function piecesOf(source) {
  const pieces = new Set(common)
  for (const [found] of source.matchAll(/(?:[\w <>{}"'`=:@,!~#%&;/-]|\\[/{}()[\].*+?|$^\\-])+/g)) {
    const piece = found.replace(/\\(.)/g, '$1')
    for (const each of [piece, `${piece} `, `${piece}a`, ...piece]) pieces.add(each)
  }
  return [...pieces]
}

/** Each text as a function of its length. */
function* hostileTexts(source) {
  const pieces = piecesOf(source)
  const heads = new Set(['', 'a', '"', '```\n', '---\n', ...pieces.filter(({ length }) => length > 1)])
  for (const head of heads) {
    for (const piece of pieces) {
      for (const end of ['', '\0'])
        yield (characters) => head + piece.repeat(Math.ceil(characters / piece.length)) + end
    }
  }
}

const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function costOf(expression, text) {
  const startedAt = cpuMs()
  if (expression.global) text.replaceAll(expression, '')
  else expression.test(text)
  return cpuMs() - startedAt
}

/** Compares the least costs of several rounds, so that garbage collection and compilation do not count. */
function growsTooFast(expression, textOf, characters) {
  const [short, long] = [textOf(characters / longer), textOf(characters)]
  if (costOf(expression, long) < noticeableMs) return false
  let [least, leastLong] = [Infinity, Infinity]
  for (let round = 0; round < 20; round += 1) {
    least = Math.min(least, costOf(expression, short))
    leastLong = Math.min(leastLong, costOf(expression, long))
    if (leastLong < noticeableMs || (round > 2 && leastLong < tooMuchLonger * least)) return false
  }
  return true
}

parentPort.on('message', ({ source, flags, characters }) => {
  const expression = new RegExp(source, flags)
  // Shared, because a thread in a match sends no messages.
  const trying = Buffer.from(workerData)
  for (const textOf of hostileTexts(source)) {
    const start = textOf(80).slice(0, 80)
    trying.fill(0).write(start)
    if (growsTooFast(expression, textOf, characters)) return parentPort.postMessage({ slowOn: start })
  }
  parentPort.postMessage({ slowOn: undefined })
})
