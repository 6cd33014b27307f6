import {
  API_PREFIX,
  causesOf,
  type ErrorCause,
  listConsoleRoutes,
  listRoutes,
  type Route,
  type RouteMetadata,
} from '@stet/contract'

export interface WalkedRoute {
  name: string
  method: string
  /** Precedes `path` in the address. Empty for the routes of the console. */
  prefix: string
  /** Contains `:parameters`. */
  path: string
  metadata: RouteMetadata
  successes: number[]
  causes: ErrorCause[]
  query: string[]
}

export const contractRoutes = listRoutes().map((route) => walked(route, API_PREFIX))
export const consoleRoutes = listConsoleRoutes().map((route) => walked(route, ''))
export const allRoutes = [...contractRoutes, ...consoleRoutes]

function walked({ router, name, route, metadata }: Route, prefix: string): WalkedRoute {
  return {
    name: `${router}.${name}`,
    method: route.method,
    prefix,
    path: route.path,
    metadata,
    successes: Object.keys(route.responses)
      .map(Number)
      .filter((status) => status < 400),
    causes: causesOf(route, metadata),
    query: queryNames(route.query),
  }
}

function queryNames(query: unknown): string[] {
  return typeof query === 'object' && query !== null && 'shape' in query ? Object.keys(Object(query.shape)) : []
}

export interface Placeholders {
  projectId?: string
  versionUuid?: string
  environment?: string
  path?: string
  conversationUuid?: string
  runUuid?: string
  evaluationUuid?: string
  exampleUuid?: string
  experimentUuid?: string
  id?: string
}

const unknown: Required<Placeholders> = {
  projectId: '2000000000',
  versionUuid: '00000000-0000-4000-8000-000000000000',
  environment: 'unknown',
  path: 'unknown',
  conversationUuid: '00000000-0000-4000-8000-000000000000',
  runUuid: '00000000-0000-4000-8000-000000000000',
  evaluationUuid: '00000000-0000-4000-8000-000000000000',
  exampleUuid: '00000000-0000-4000-8000-000000000000',
  experimentUuid: '00000000-0000-4000-8000-000000000000',
  id: '2000000000',
}

/** Fills in the path's parameters. Missing ones get ids that do not exist. */
export function fill(path: string, given: Placeholders = {}): string {
  return path.replace(/:(\w+)/g, (_whole, name: keyof Placeholders) => encodeURIComponent(given[name] ?? unknown[name]))
}

/** A valid body for each route that needs one. */
export const validBody: Record<string, Record<string, unknown>> = {
  'apiKeys.create': { name: 'x' },
  'projects.create': { name: 'x' },
  'projects.update': { name: 'x' },
  'projects.delete': { name: 'x' },
  'projects.setGates': { gates: [] },
  'versions.create': { name: 'x' },
  'versions.update': { name: 'x' },
  'versions.push': { changes: [{ path: 'a', status: 'modified', content: 'x' }] },
  'versions.import': { title: 'x', authorName: 'x', createdAt: '2026-01-02T03:04:05.678Z' },
  'documents.create': { path: 'a' },
  'documents.getOrCreate': { path: 'a' },
  'documents.createOrUpdate': { path: 'a', prompt: 'x' },
  'documents.move': { from: 'a', to: 'b' },
  'documents.check': { path: 'a' },
  'documents.merge': { items: [{ path: 'a', prompt: 'x', baseHash: '' }] },
  'runs.run': { path: 'a' },
  'tools.result': { toolCallId: 'call_unknown' },
  'runs.chat': { messages: [{ role: 'user', content: 'x' }] },
  'conversations.feedback': { value: 'up' },
  'evaluations.create': { projectId: 1, name: 'x', metric: 'binary' },
  'evaluations.annotate': { score: 1 },
  'examples.create': { documentUuid: unknown.evaluationUuid, name: 'x', parameters: {} },
  'examples.batch': { documentUuid: unknown.evaluationUuid, changes: [{ name: 'x' }] },
  'examples.fromRuns': { runs: [unknown.conversationUuid] },
  'examples.update': { name: 'y' },
  'experiments.create': { path: 'a', arms: [{ versionUuid: 'live' }] },
  'experiments.resume': {},
  'experiments.scores': { scores: [{ itemUuid: unknown.exampleUuid, evaluation: 'x', passed: true }] },
  'logs.create': { path: 'a', messages: [] },
  'providerApiKeys.create': { name: 'x', provider: 'openai', token: 'sk-0123456789abcdef' },
  'providerApiKeys.update': { defaultModel: 'x' },
  'providerApiKeys.test': { name: 'demo' },
  'console.signIn': { code: 'A'.repeat(43) },
}

/** A query that the route needs. Ids in it do not exist. */
export const validQuery: Record<string, string> = {
  'examples.list': `?documentUuid=${unknown.exampleUuid}`,
  'evaluations.queue': `?evaluation=${unknown.evaluationUuid}`,
}
