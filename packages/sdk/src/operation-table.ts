import { type RouteMetadata, routes } from '@stet/contract/routes'

/** Routers and single routes whose SDK name differs from the contract. */
export const routers = { documents: 'prompts', providerApiKeys: 'providerKeys', runRecords: 'runs' } as const
export const single = {
  'apiKeys.me': 'me',
  'runs.run': 'prompts.run',
  'runs.chat': 'conversations.chat',
  'tools.result': 'runs.toolResult',
  'evaluations.annotations': 'conversations.annotations',
} as const

/**
 * One line per operation: name, method, path and a flag. A POST is repeated only with an idempotency key, unless it has
 * the flag `r` (always) or `n` (never). The flag `b` is for a DELETE with a body. The build replaces this module by the
 * text, which is half as large as the contract's table.
 */
export const operationTable: string = linesWhere(true)

/** @param inCore false for the operations that most programs never call: `later-operations.ts` loads them. */
export function linesWhere(inCore: boolean): string {
  const all = [...Object.entries(routes).flatMap(linesOf), 'health GET /health']
  return (
    all
      .filter((line) => /^(prompts|runs\.(?!list|get|of)|conversations\.(?!update|feedback))/.test(line) === inCore)
      // The compressed text is shortest in this order.
      .sort((one, other) => (pathIn(one) < pathIn(other) ? -1 : 1))
      .join('\n')
  )
}

function pathIn(line: string): string {
  return line.split(' ')[2] ?? ''
}

function linesOf([router, records]: [string, Readonly<Record<string, RouteMetadata>>]): string[] {
  const renamed: Record<string, string> = { ...routers, ...single }
  return Object.entries(records).map(([route, metadata]) => {
    const name = renamed[`${router}.${route}`] ?? `${renamed[router] ?? router}.${route}`
    return [name, metadata.method, metadata.path, flagsOf(metadata)].join(' ').trimEnd()
  })
}

function flagsOf({ method, idempotent, repeatable, readsBody }: RouteMetadata): string {
  if (method === 'POST') return repeatable ? 'r' : idempotent ? '' : 'n'
  return readsBody ? 'b' : ''
}
