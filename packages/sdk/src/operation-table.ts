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

export const versionPath = '/projects/:projectId/versions/:versionUuid'

/**
 * One line per operation: name, method, path and at most one flag. `*` stands for the path of a version. The flags are `r`
 * for a POST that may be repeated without an idempotency key, `n` for one that may not be repeated, `b` for a DELETE with
 * a body, and `o` for a route outside the API prefix. The build replaces this module by the text, which is half as large as
 * the contract's table.
 */
export const operationTable: string = [...Object.entries(routes).flatMap(linesOf), 'health GET /health o'].join('\n')

function linesOf([router, records]: [string, Readonly<Record<string, RouteMetadata>>]): string[] {
  const renamed: Record<string, string> = { ...routers, ...single }
  return Object.entries(records).map(([route, metadata]) => {
    const name = renamed[`${router}.${route}`] ?? `${renamed[router] ?? router}.${route}`
    const path = metadata.path.replace(versionPath, '*')
    return [name, metadata.method, path, flagOf(metadata)].join(' ').trimEnd()
  })
}

function flagOf({ method, idempotent, repeatable, readsBody }: RouteMetadata): string {
  if (method !== 'POST') return readsBody ? 'b' : ''
  return repeatable ? 'r' : idempotent ? '' : 'n'
}
