const LIKE = 0.5

/**
 * Compares the handlers of a call with the tools that its prompt declares. Returns what is probably a mistake, each as
 * one sentence. A handler that is `undefined` leaves its tool open on purpose.
 */
export function mismatches(handlers: readonly string[], declared: ReadonlySet<string>): string[] {
  const open = new Set([...declared].filter((name) => !handlers.includes(name)))
  const unknown = handlers
    .filter((name) => !declared.has(name))
    .map((name) => {
      const meant = nearest(name, open.size > 0 ? open : declared)
      if (meant !== undefined) open.delete(meant)
      return `the prompt declares no tool "${name}"${meant === undefined ? '' : `, did you mean "${meant}"?`}`
    })
  const missing = [...open].map((name) => `no handler for the tool "${name}", so its calls end the run`)
  return [...unknown, ...missing]
}

/** Returns the tools with a definition. The server answers those that are listed only by name. */
export function declaredTools(config: Record<string, unknown>): string[] {
  const { tools } = config
  const maps = Array.isArray(tools) ? tools : [tools]
  return maps.flatMap((map: unknown) => (typeof map === 'object' && map ? Object.keys(map) : []))
}

/** Returns the candidate that is spelled most alike, if any is alike enough. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  const scored = [...candidates].map((candidate) => ({ candidate, likeness: likeness(name, candidate) }))
  const [best] = scored.sort((a, b) => b.likeness - a.likeness)
  return best && best.likeness >= LIKE ? best.candidate : undefined
}

/** Dice's coefficient over letter pairs, from 0 to 1. */
function likeness(a: string, b: string): number {
  const [first, second] = [pairsOf(a), pairsOf(b)]
  const shared = [...first].filter((pair) => second.has(pair)).length
  return (2 * shared) / (first.size + second.size)
}

function pairsOf(name: string): Set<string> {
  const text = ` ${name.toLowerCase()} `
  return new Set(Array.from(text.slice(1), (letter, index) => text[index] + letter))
}
