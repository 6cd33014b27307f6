import { knownKeys } from './config.ts'

/** Settings of providers that only look like a misspelled key: OpenRouter's list of models. */
const ownKeys = new Set(['models'])
const shortestKey = 5
/** In a key of at most this length, another letter may make another word. */
const shortKey = 6

/** The keys by their letters, so that `max-tokens`, `max_tokens` and `MaxTokens` are as near as `maxTokens`. */
const keysByLetters = new Map(
  [...knownKeys]
    .filter((key) => key.length >= shortestKey && !key.includes('_') && key !== 'subagents')
    .map((key) => [lettersOf(key), key]),
)

/** The known key that was probably meant by an unknown one. Takes time that depends on the known keys only. */
export function nearKey(written: string): string | undefined {
  if (knownKeys.has(written) || ownKeys.has(written) || written.length > 40) return undefined
  const letters = lettersOf(written)
  const same = keysByLetters.get(letters)
  if (same) return same
  for (const [known, key] of keysByLetters) {
    if (known.length <= shortKey ? isSlip(letters, known) : isWithinTwo(letters, known)) return key
  }
  return undefined
}

function lettersOf(key: string): string {
  return key.replace(/[_-]/g, '').toLowerCase()
}

/** Whether one letter is missing or too many, or two neighbors are swapped. */
function isSlip(written: string, known: string): boolean {
  const [short, long] = written.length < known.length ? [written, known] : [known, written]
  let at = 0
  while (at < short.length && short[at] === long[at]) at += 1
  if (long.length === short.length + 1) return short.slice(at) === long.slice(at + 1)
  const isSwapped = long.length === short.length && short[at] === long[at + 1] && short[at + 1] === long[at]
  return isSwapped && short.slice(at + 2) === long.slice(at + 2)
}

/** Whether at most two letters are missing, too many, other ones, or swapped with a neighbor. */
function isWithinTwo(written: string, known: string): boolean {
  if (Math.abs(written.length - known.length) > 2) return false
  let beforeLast: number[] = []
  let last = Array.from({ length: known.length + 1 }, (_, column) => column)
  for (let row = 1; row <= written.length; row += 1) {
    const costs = [row]
    for (let column = 1; column <= known.length; column += 1) {
      const isSame = written[row - 1] === known[column - 1]
      const isSwapped = written[row - 1] === known[column - 2] && written[row - 2] === known[column - 1]
      const swap = isSwapped ? (beforeLast[column - 2] ?? Number.POSITIVE_INFINITY) + 1 : Number.POSITIVE_INFINITY
      const replace = (last[column - 1] ?? 0) + (isSame ? 0 : 1)
      costs.push(Math.min((last[column] ?? 0) + 1, (costs[column - 1] ?? 0) + 1, replace, swap))
    }
    if (Math.min(...costs) > 2) return false
    beforeLast = last
    last = costs
  }
  return (last.at(-1) ?? 0) <= 2
}
