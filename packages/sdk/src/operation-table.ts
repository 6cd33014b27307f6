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

type Row = [name: string, method: string, path: string, flag: string]

const health: Row = ['health', 'GET', '/health', '']

/**
 * One line per operation: name, method, path and a flag. A path begins with the number of segments that it shares with
 * the path before. A POST is repeated only with an idempotency key, unless it has the flag `r` (always) or `n` (never).
 * The flag `b` is for a DELETE with a body. The build replaces this module by the text, which is half as large as the
 * contract's table.
 */
export const operationTable: string = [...Object.entries(routes).flatMap(rowsOf), health]
  // The text is shortest in this order.
  .sort(([, , one], [, , other]) => (one < other ? -1 : 1))
  .map(([name, method, path, flag], place, rows) => {
    const segments = path.split('/')
    const before = rows[place - 1]?.[2].split('/') ?? []
    const shared = segments.findIndex((segment, index) => segment !== before[index] || index === segments.length - 1)
    return [name, method, [shared, ...segments.slice(shared)].join('/'), flag].join(' ').trimEnd()
  })
  .join('\n')

function rowsOf([router, records]: [string, Readonly<Record<string, RouteMetadata>>]): Row[] {
  const renamed: Record<string, string> = { ...routers, ...single }
  return Object.entries(records).map(([route, metadata]) => {
    const name = renamed[`${router}.${route}`] ?? `${renamed[router] ?? router}.${route}`
    return [name, metadata.method, metadata.path, flagOf(metadata)]
  })
}

function flagOf({ method, idempotent, repeatable, readsBody }: RouteMetadata): string {
  if (method === 'POST') return repeatable ? 'r' : idempotent ? '' : 'n'
  return readsBody ? 'b' : ''
}
