import { similarNames } from '@stet/template/similar-names'

/**
 * Compares the handlers of a call with the tools that its prompt declares. Returns what is probably a mistake, each as
 * one sentence. A handler that is `undefined` leaves its tool open on purpose.
 */
export function mismatches(handlers: readonly string[], declared: ReadonlySet<string>): string[] {
  const open = new Set([...declared].filter((name) => !handlers.includes(name)))
  const unknown = handlers
    .filter((name) => !declared.has(name))
    .map((name) => {
      const [meant] = similarNames(name, open.size > 0 ? open : declared, { limit: 1, atLeast: 0.5 })
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
