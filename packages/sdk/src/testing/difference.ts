export function nearestDifference(text: string, candidates: readonly string[]): string {
  const lines = text.split('\n')
  const ranked = candidates.map((candidate) => {
    const others = candidate.split('\n')
    return { others, common: commonLines(lines, others) }
  })
  const [nearest] = ranked.sort((a, b) => b.common.length - a.common.length)
  if (!nearest) return 'It is empty.'
  return `The nearest recording (-) differs from the request (+):\n${written(lines, nearest.others, nearest.common)}`
}

/** The longest common subsequence of lines. */
function commonLines(a: readonly string[], b: readonly string[]): string[] {
  let row: string[][] = Array.from({ length: b.length + 1 }, () => [])
  for (const line of a) {
    const next: string[][] = [[]]
    for (const [index, other] of b.entries()) {
      const [left = [], above = [], before = []] = [next[index], row[index + 1], row[index]]
      next.push(line === other ? [...before, line] : above.length >= left.length ? above : left)
    }
    row = next
  }
  return row.at(-1) ?? []
}

function written(request: readonly string[], recording: readonly string[], common: readonly string[]): string {
  const lines: string[] = []
  let [r, q] = [0, 0]
  for (const line of [...common, undefined]) {
    for (; r < recording.length && recording[r] !== line; r++) lines.push(`- ${recording[r]}`)
    for (; q < request.length && request[q] !== line; q++) lines.push(`+ ${request[q]}`)
    if (line !== undefined) lines.push(`  ${line}`)
    r += 1
    q += 1
  }
  return lines.join('\n')
}
