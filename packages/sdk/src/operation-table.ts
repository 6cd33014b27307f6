import { type RouteMetadata, routes } from '@stet/contract/routes'

/** Routers and single routes whose SDK name differs from the contract. */
export const routers = { documents: 'prompts', providerApiKeys: 'providerKeys' } as const
export const single = {
  'apiKeys.me': 'me',
  'runs.run': 'prompts.run',
  'runs.chat': 'conversations.chat',
  'tools.result': 'runs.toolResult',
  'evaluations.annotations': 'conversations.annotations',
} as const

/**
 * One line per operation: name, method, path and flags. The flags are `k` for a retry that needs an idempotency key, `r`
 * for a POST that may be repeated, `b` for a request with a body, and `o` for a route outside the API prefix. The build
 * replaces this module by the texts, which are half as large as the contract's table.
 */
export const operationTable: string = linesWhere(true)

/** @param inCore false for the operations that most programs never call: `later-operations.ts` loads them. */
export function linesWhere(inCore: boolean): string {
  const all = [...Object.entries(routes).flatMap(linesOf), 'health GET /health o']
  return all.filter((line) => /^(prompts|runs|conversations)\./.test(line) === inCore).join('\n')
}

function linesOf([router, records]: [string, Readonly<Record<string, RouteMetadata>>]): string[] {
  const renamed: Record<string, string> = { ...routers, ...single }
  return Object.entries(records).map(([route, metadata]) => {
    const name = renamed[`${router}.${route}`] ?? `${renamed[router] ?? router}.${route}`
    return [name, metadata.method, metadata.path, flagsOf(metadata)].join(' ').trimEnd()
  })
}

function flagsOf({ method, idempotent, repeatable, readsBody }: RouteMetadata): string {
  const retry = repeatable ? 'r' : idempotent ? 'k' : ''
  return `${retry}${method === 'POST' || method === 'PUT' || readsBody ? 'b' : ''}`
}
