import { contract, type RouteMetadata } from '@stet/contract'

export interface WalkedRoute {
  name: string
  method: string
  /** With `:parameters`. */
  path: string
  metadata: RouteMetadata
  /** The statuses that it declares. */
  successes: number[]
  errors: number[]
}

/** Every route of the contract. */
export const contractRoutes: WalkedRoute[] = Object.entries(contract).flatMap(([router, routes]) =>
  Object.entries(routes).map(([name, { method, path, metadata, responses }]) => {
    const statuses = Object.keys(responses).map(Number)
    return {
      name: `${router}.${name}`,
      method,
      path,
      metadata,
      successes: statuses.filter((status) => status < 400),
      errors: statuses.filter((status) => status >= 400),
    }
  }),
)

export interface Placeholders {
  projectId?: string
  versionUuid?: string
  path?: string
  conversationUuid?: string
  evaluationUuid?: string
  id?: string
}

const unknown: Required<Placeholders> = {
  projectId: '2000000000',
  versionUuid: '00000000-0000-4000-8000-000000000000',
  path: 'unknown',
  conversationUuid: '00000000-0000-4000-8000-000000000000',
  evaluationUuid: '00000000-0000-4000-8000-000000000000',
  id: '2000000000',
}

/** The path with its parameters filled in; those not given name nothing that exists. */
export function fill(path: string, given: Placeholders = {}): string {
  return path.replace(/:(\w+)/g, (_whole, name: keyof Placeholders) => encodeURIComponent(given[name] ?? unknown[name]))
}

/** A body that the route's schema accepts, where it asks for one. */
export const validBody: Record<string, Record<string, unknown>> = {
  'apiKeys.create': { name: 'x' },
  'projects.create': { name: 'x' },
  'projects.update': { name: 'x' },
  'versions.create': { name: 'x' },
  'versions.push': { changes: [{ path: 'a', status: 'modified', content: 'x' }] },
  'documents.create': { path: 'a' },
  'documents.getOrCreate': { path: 'a' },
  'documents.createOrUpdate': { path: 'a', prompt: 'x' },
  'runs.run': { path: 'a' },
  'tools.result': { toolCallId: 'call_unknown' },
  'runs.chat': { messages: [{ role: 'user', content: 'x' }] },
  'evaluations.create': { projectId: 1, name: 'x', metric: 'binary' },
  'evaluations.annotate': { score: 1 },
  'logs.create': { path: 'a', messages: [] },
  'providerApiKeys.create': { name: 'x', provider: 'openai', token: 'sk-0123456789abcdef' },
  'providerApiKeys.update': { defaultModel: 'x' },
}
