/** Every place in a request that accepts an id. Tests fill it with an id of another tenant. */
import { readsBody } from '@stet/contract'
import { vi } from 'vitest'
import type { TestServer } from '../support/test-server.ts'
import type { ApiAnswer } from './api-call.ts'
import { contractRoutes, fill, type Placeholders, validBody, validQuery, type WalkedRoute } from './contract-routes.ts'
import { type Api, createTestProject } from './scenario.ts'

export interface Holdings {
  projectId: number
  versionUuid: string
  documentUuid: string
  conversationUuid: string
  evaluationUuid: string
  exampleUuid: string
  experimentUuid: string
  apiKeyId: number
  providerKeyId: number
}

let made = 0

export async function openHoldings(api: Api): Promise<Holdings> {
  made += 1
  const project = await createTestProject(api, { a: '---\nprovider: demo\n---\nHello' })
  const draft = await project.newDraft()
  const post = async (path: string, body: Record<string, unknown>) => {
    const answer = await api('POST', path, { body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body
  }
  const run = await post(`${project.live}/documents/run`, { path: 'a' })
  const evaluation = await post('/evaluations', { projectId: project.id, name: 'e', metric: 'binary' })
  const token = 'sk-0123456789abcdef'
  const providerKey = await post('/provider-api-keys', { name: `holding ${made}`, provider: 'openai', token })
  const document = await api('GET', `${project.live}/documents/a`)
  const documentUuid = String(document.body['uuid'])
  const example = { documentUuid, name: 'e', parameters: {} }
  const exampleUuid = String((await post(`/projects/${project.id}/examples`, example))['uuid'])
  const arms = [{ versionUuid: 'live' }]
  const experimentUuid = String((await post(`/projects/${project.id}/experiments`, { path: 'a', arms }))['uuid'])
  // Its runs store rows, which a test may count.
  const state = async () => (await api('GET', `/experiments/${experimentUuid}`)).body['state']
  await vi.waitUntil(async () => (await state()) !== 'running', { timeout: 60_000 })
  return {
    projectId: project.id,
    versionUuid: draft.split('/').at(-1) ?? '',
    documentUuid,
    conversationUuid: String(run['uuid']),
    evaluationUuid: String(evaluation['uuid']),
    exampleUuid,
    experimentUuid,
    apiKeyId: Number((await post('/api-keys', { name: 'held' }))['id']),
    providerKeyId: Number(providerKey['id']),
  }
}

export interface ForeignReference {
  /** `<route> <place>`. Names of list filters start with `filter `. */
  name: string
  belongsToWorkspace: boolean
  /** Sends the request with a foreign or unknown id in the given places. All other ids belong to the caller. */
  send(id: 'foreign' | 'unknown'): Promise<ApiAnswer>
}

interface Sides {
  own: Holdings
  foreign: Holdings
}

const unknownUuid = '00000000-0000-4000-8000-000000000000'
const nobodys: Holdings = {
  projectId: 2_000_000_000,
  versionUuid: unknownUuid,
  documentUuid: unknownUuid,
  conversationUuid: unknownUuid,
  evaluationUuid: unknownUuid,
  exampleUuid: unknownUuid,
  experimentUuid: unknownUuid,
  apiKeyId: 2_000_000_000,
  providerKeyId: 2_000_000_000,
}

export function foreignReferences(api: Api, sides: Sides): ForeignReference[] {
  return [...pathReferences(api, sides), ...otherReferences(api, sides)]
}

function pathReferences(api: Api, { own, foreign }: Sides): ForeignReference[] {
  return contractRoutes.flatMap((route) => {
    // A path is unique only within its version, and an environment within its project.
    const inOwner = ['path', 'environment']
    const names = [...route.path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) => (inOwner.includes(name) ? [] : name))
    const sets = [...names.map((name) => [name]), ...(names.length > 1 ? [names] : [])]
    return sets.map((set) => ({
      name: `${route.name} ${set.join(' and ')}`,
      belongsToWorkspace: /^\/(provider-)?api-keys/.test(route.path),
      send(id: 'foreign' | 'unknown') {
        const ids = placeholders(route, own)
        const others = placeholders(route, id === 'foreign' ? foreign : nobodys)
        const replaced = Object.entries(others).filter(([name]) => set.includes(name))
        return ask(api, route, { ...ids, ...Object.fromEntries(replaced) })
      },
    }))
  })
}

function placeholders({ path }: WalkedRoute, holdings: Holdings): Required<Placeholders> {
  const id = path.startsWith('/provider-api-keys') ? holdings.providerKeyId : holdings.apiKeyId
  const { versionUuid, conversationUuid, evaluationUuid, exampleUuid, experimentUuid } = holdings
  return {
    projectId: String(holdings.projectId),
    versionUuid,
    conversationUuid,
    // A conversation's uuid stands for its latest run.
    runUuid: conversationUuid,
    evaluationUuid,
    exampleUuid,
    experimentUuid,
    id: String(id),
    environment: 'live',
    path: 'a',
  }
}

function ask(api: Api, route: WalkedRoute, ids: Placeholders): Promise<ApiAnswer> {
  const hasBody = readsBody(route, route.metadata)
  const address = fill(route.path, ids) + (validQuery[route.name] ?? '')
  return api(route.method, address, hasBody ? { body: validBody[route.name] ?? {} } : {})
}

function otherReferences(api: Api, { own, foreign }: Sides): ForeignReference[] {
  const versions = `/projects/${own.projectId}/versions/${own.versionUuid}`
  const annotate = `/conversations/${own.conversationUuid}/evaluations/${own.evaluationUuid}/annotate`
  const examples = `/projects/${own.projectId}/examples`
  const experiments = `/projects/${own.projectId}/experiments`
  const evaluation = { projectId: own.projectId, name: 'x', metric: 'binary' }
  const requests: Record<string, (other: Holdings) => Promise<ApiAnswer>> = {
    'apiKeys.create projectId': ({ projectId }) => api('POST', '/api-keys', { body: { name: 'x', projectId } }),
    'evaluations.create projectId': ({ projectId }) =>
      api('POST', '/evaluations', { body: { ...evaluation, projectId } }),
    'evaluations.queue evaluation': ({ evaluationUuid }) =>
      api('GET', `/projects/${own.projectId}/queue?evaluation=${evaluationUuid}`),
    'evaluations.create judge': ({ documentUuid }) =>
      api('POST', '/evaluations', { body: { ...evaluation, type: 'judge', judge: documentUuid } }),
    'evaluations.create documentUuid': ({ documentUuid }) =>
      api('POST', '/evaluations', { body: { ...evaluation, documentUuid } }),
    'evaluations.annotate versionUuid': ({ versionUuid }) => api('POST', annotate, { body: { score: 1, versionUuid } }),
    'examples.create documentUuid': ({ documentUuid }) =>
      api('POST', examples, { body: { documentUuid, name: 'x', parameters: {} } }),
    'examples.batch documentUuid': ({ documentUuid }) =>
      api('POST', `${examples}/batch`, { body: { documentUuid, changes: [{ name: 'x' }] } }),
    'experiments.create versionUuid': ({ versionUuid }) =>
      api('POST', experiments, { body: { path: 'a', arms: [{ versionUuid }] } }),
    'experiments.create examples': ({ exampleUuid }) =>
      api('POST', experiments, { body: { path: 'a', arms: [{ versionUuid: 'live' }], examples: [exampleUuid] } }),
    'experiments.create evaluations': ({ evaluationUuid }) =>
      api('POST', experiments, { body: { path: 'a', arms: [{ versionUuid: 'live' }], evaluations: [evaluationUuid] } }),
    'experiments.report evaluation': ({ evaluationUuid }) =>
      api('GET', `/experiments/${own.experimentUuid}/report?evaluation=${evaluationUuid}`),
    'filter experiments.list documentUuid': ({ documentUuid }) =>
      api('GET', `${experiments}?documentUuid=${documentUuid}`),
    'versions.diff base': ({ versionUuid }) => api('GET', `${versions}/diff?base=${versionUuid}`),
    'conversations.erase projectId': ({ projectId }) =>
      api('DELETE', `/conversations?customIdentifier=nobody&projectId=${projectId}`),
    'conversations.list projectId': ({ projectId }) => api('GET', `/conversations?projectId=${projectId}`),
    'evaluations.list projectId': ({ projectId }) => api('GET', `/evaluations?projectId=${projectId}`),
    'filter examples.list documentUuid': ({ documentUuid }) => api('GET', `${examples}?documentUuid=${documentUuid}`),
    'filter conversations.list versionUuid': ({ versionUuid }) =>
      api('GET', `/conversations?versionUuid=${versionUuid}`),
    'filter conversations.list documentUuid': ({ documentUuid }) =>
      api('GET', `/conversations?documentUuid=${documentUuid}`),
    'filter runRecords.list documentUuid': ({ documentUuid }) =>
      api('GET', `/projects/${own.projectId}/runs?documentUuid=${documentUuid}`),
    'filter runRecords.list uuid': ({ conversationUuid }) =>
      api('GET', `/projects/${own.projectId}/runs?uuid=${conversationUuid}`),
    'filter evaluations.list documentUuid': ({ documentUuid }) =>
      api('GET', `/evaluations?documentUuid=${documentUuid}`),
  }
  return Object.entries(requests).map(([name, request]) => ({
    name,
    belongsToWorkspace: name.startsWith('apiKeys'),
    send: (id) => request(id === 'foreign' ? foreign : nobodys),
  }))
}

export async function countRows({ database: { session } }: TestServer): Promise<unknown> {
  const tables = await session.query(`SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`)
  const counts = tables.rows.map(({ name }) => `(SELECT count(*)::int FROM "${String(name)}") AS "${String(name)}"`)
  return (await session.query(`SELECT ${counts.join(', ')}`)).rows[0]
}
