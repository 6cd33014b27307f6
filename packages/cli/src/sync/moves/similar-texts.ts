/** Comparing more pairs than this would take seconds. */
const maxPairs = 40_000

const leastOfText = 0.6
const leastOfBody = 0.5

/**
 * Pairs texts of which at least 60 % of the lines are equal, if neither has a second such counterpart. At least half of
 * the lines below the front matter must be equal too, because unrelated prompts often have the same front matter.
 */
export function similarPairs(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): [string, string][] {
  if (before.size * after.size > maxPairs) return []
  const news = [...after].map(([to, text]) => ({ to, ...linesOf(text) }))
  const pairs = [...before].flatMap(([from, text]) => {
    const lines = linesOf(text)
    return news.filter((other) => isSimilar(lines, other)).map(({ to }): [string, string] => [from, to])
  })
  return pairs.filter(([from, to]) => pairs.filter((pair) => pair[0] === from || pair[1] === to).length === 1)
}

interface Lines {
  all: string[]
  body: string[]
}

function linesOf(text: string): Lines {
  const [head = ''] = /^---\r?\n[\s\S]*?\n---(?=\r?\n|$)/.exec(text) ?? []
  return { all: tellingLines(text), body: tellingLines(text.slice(head.length)) }
}

/** Leaves out blank lines, separators, and tags without attributes, which most prompts have. */
function tellingLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !/^(-*|<\/?[\w-]+>)$/.test(line))
}

function isSimilar(one: Lines, other: Lines): boolean {
  // A text without a body has no share of equal lines.
  return shareOf(one.all, other.all) >= leastOfText && !(shareOf(one.body, other.body) < leastOfBody)
}

function shareOf(lines: readonly string[], others: readonly string[]): number {
  const longer = Math.max(lines.length, others.length)
  if (Math.min(lines.length, others.length) < longer * leastOfBody) return 0
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  let equal = 0
  for (const line of others) {
    const left = counts.get(line) ?? 0
    if (left > 0) equal += 1
    counts.set(line, left - 1)
  }
  return equal / longer
}
