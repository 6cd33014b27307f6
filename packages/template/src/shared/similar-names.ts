/**
 * Returns up to `limit` candidates, the most similar first.
 * @param atLeast the minimum similarity, from 0 (any name) to 1 (the same letter pairs).
 */
export function similarNames(
  name: string,
  candidates: Iterable<string>,
  { limit, atLeast }: { limit: number; atLeast: number },
): string[] {
  const wanted = pairsOf(name)
  return [...candidates]
    .map((candidate) => ({ candidate, likeness: likeness(wanted, pairsOf(candidate)) }))
    .filter((scored) => scored.likeness >= atLeast)
    .sort((a, b) => b.likeness - a.likeness || (a.candidate < b.candidate ? -1 : 1))
    .slice(0, limit)
    .map((scored) => scored.candidate)
}

// Dice's coefficient over letter pairs is linear in the length; an edit distance would be quadratic.
function likeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0
  for (const pair of a) if (b.has(pair)) shared += 1
  return (2 * shared) / (a.size + b.size)
}

function pairsOf(name: string): Set<string> {
  // A name can be as long as a request body, so only its start is compared.
  const text = ` ${name.slice(0, 512).toLowerCase()} `
  const pairs = new Set<string>()
  for (let index = 0; index < text.length - 1; index += 1) pairs.add(text.slice(index, index + 2))
  return pairs
}
