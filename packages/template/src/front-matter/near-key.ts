import { knownKeys } from './config.ts'

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
  // OpenRouter has a list of models.
  if (written === 'models' || written.length > 40) return undefined
  const letters = lettersOf(written)
  for (const [known, key] of keysByLetters) if (isNear(letters, known)) return key
  return undefined
}

function lettersOf(key: string): string {
  return key.replace(/[_-]/g, '').toLowerCase()
}

function isNear(written: string, known: string): boolean {
  if (Math.abs(written.length - known.length) > 2) return false
  const distance = distanceOf(written, known)
  if (known.length > shortKey) return distance <= 2
  const isMove = written.length !== known.length || sorted(written) === sorted(known)
  return distance < 2 && isMove
}

function sorted(letters: string): string {
  return [...letters].sort().join('')
}

/** How many letters are missing, too many, other ones, or swapped with a neighbor. */
function distanceOf(written: string, known: string): number {
  let beforeLast: number[] = []
  let last = [...known, ''].map((_, column) => column)
  for (let row = 1; row <= written.length; row += 1) {
    const costs = [row]
    for (let column = 1; column <= known.length; column += 1) {
      const isSame = written[row - 1] === known[column - 1]
      const isSwapped = written[row - 1] === known[column - 2] && written[row - 2] === known[column - 1]
      const others = [last[column], costs[column - 1], last[column - 1], isSwapped ? beforeLast[column - 2] : undefined]
      costs.push(
        isSame ? (last[column - 1] ?? 0) : 1 + Math.min(...others.map((cost) => cost ?? Number.POSITIVE_INFINITY)),
      )
    }
    beforeLast = last
    last = costs
  }
  return last.at(-1) ?? 0
}
