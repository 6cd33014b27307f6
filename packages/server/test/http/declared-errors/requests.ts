/** A successful request for every route of the contract. A new route without one fails the walk. */
import { readsBody } from '@stet/contract'
import { type ApiAnswer, httpCall } from '../api-call.ts'
import { contractRoutes, fill, type Placeholders, validQuery, type WalkedRoute } from '../contract-routes.ts'
import { newName, openToolCall, type World } from './world.ts'

/** The routes of the console refuse a request without a key that lacks it. Other routes ignore it beside a key. */
export const consoleMark = { 'x-stet-console': '1' }

export interface RouteRequest {
  ids?: Placeholders
  query?: string
  /** Sent as JSON, or unchanged if it is a string. */
  body?: unknown
  headers?: Record<string, string>
  /** Default: the bench's key. null sends no key. */
  key?: string | null
}

const inProject = async ({ project }: World) => ({ projectId: String(project.id) })
const inLive = async ({ project }: World) => ({ projectId: String(project.id), versionUuid: 'live' })
const inDraft = async ({ project, newDraft }: World) => ({
  projectId: String(project.id),
  versionUuid: await newDraft(),
})
const conversation = async ({ conversationUuid }: World) => ({ conversationUuid })

const verdict = '{ passed: { type: boolean }, reason: { type: string } }'
const judgeSchema = `{ type: object, properties: ${verdict}, required: [passed, reason] }`

async function newJudge({ bench, project, newDraft }: World): Promise<string> {
  const draft = `/projects/${project.id}/versions/${await newDraft()}`
  const path = newName()
  await bench.api('POST', `${draft}/documents`, { body: { path, prompt: `---\nschema: ${judgeSchema}\n---\nJudge` } })
  const body = { projectId: project.id, name: path, type: 'judge', judge: path }
  return String((await bench.api('POST', '/evaluations', { body })).body['uuid'])
}

type Success = (world: World) => Promise<RouteRequest>

export const successes: Record<string, Success> = {
  'apiKeys.me': async () => ({}),
  'apiKeys.list': async () => ({}),
  'apiKeys.create': async () => ({ body: { name: newName() } }),
  'apiKeys.rotate': async (world) => ({ ids: { id: String((await world.newApiKey()).id) }, body: {} }),
  'apiKeys.revoke': async (world) => ({ ids: { id: String((await world.newApiKey()).id) } }),
  'projects.list': async () => ({}),
  'projects.create': async () => ({ body: { name: newName() } }),
  'projects.update': async (world) => ({ ids: await inProject(world), body: { name: newName() } }),
  'projects.delete': async ({ bench }) => {
    const { id, name } = await newProject(bench)
    return { ids: { projectId: String(id) }, body: { name } }
  },
  'projects.gates': async (world) => ({ ids: await inProject(world) }),
  'projects.setGates': async (world) => ({ ids: await inProject(world), body: { gates: [] } }),
  'projects.tags': async (world) => ({ ids: await inProject(world) }),
  'projects.stats': async (world) => ({ ids: await inProject(world) }),
  'versions.list': async (world) => ({ ids: await inProject(world) }),
  'versions.create': async (world) => ({ ids: await inProject(world), body: { name: newName() } }),
  'versions.get': async (world) => ({ ids: await inDraft(world) }),
  'versions.update': async (world) => ({ ids: await inDraft(world), body: { name: newName() } }),
  'versions.delete': async (world) => ({ ids: await inDraft(world) }),
  'versions.restore': async (world) => ({ ids: await inDraft(world) }),
  'versions.publish': async (world) => ({ ids: await inDraft(world), body: {} }),
  'versions.push': async (world) => ({
    ids: await inDraft(world),
    body: { changes: [{ path: newName(), status: 'added', content: 'x' }] },
  }),
  'versions.updateFromEnvironment': async (world) => ({ ids: await inDraft(world) }),
  'versions.revert': async (world) => ({ ids: await inDraft(world), body: {} }),
  'versions.diff': async (world) => ({ ids: await inDraft(world) }),
  'versions.tree': async (world) => ({ ids: await inDraft(world) }),
  'versions.checks': async (world) => ({ ids: await inDraft(world) }),
  'versions.import': async (world) => ({ ids: await inDraft(world), body: importedVersion() }),
  'environments.releases': async ({ project }) => ({ ids: { projectId: String(project.id), environment: 'live' } }),
  'environments.rollback': async (world) => {
    const publish = contractRoutes.find(({ name }) => name === 'versions.publish') as WalkedRoute
    for (let made = 0; made < 2; made += 1) await send(world, publish, { ids: await inDraft(world), body: {} })
    return { ids: { projectId: String(world.project.id), environment: 'live' }, body: {} }
  },
  'documents.list': async (world) => ({ ids: await inLive(world) }),
  'documents.create': async (world) => ({ ids: await inDraft(world), body: { path: newName() } }),
  'documents.get': async (world) => ({ ids: { ...(await inDraft(world)), path: 'hello' } }),
  'documents.getOrCreate': async (world) => ({ ids: await inDraft(world), body: { path: newName() } }),
  'documents.createOrUpdate': async (world) => ({ ids: await inDraft(world), body: { path: newName(), prompt: 'x' } }),
  'documents.delete': async (world) => ({ ids: { ...(await inDraft(world)), path: 'hello' } }),
  'documents.merge': async (world) => ({
    ids: await inDraft(world),
    body: { items: [{ path: 'hello', prompt: 'x', baseHash: '' }] },
  }),
  'documents.move': async (world) => ({ ids: await inDraft(world), body: { from: 'hello', to: newName() } }),
  'documents.check': async (world) => ({ ids: await inDraft(world), body: { path: 'hello' } }),
  'runs.run': async (world) => ({ ids: await inLive(world), body: { path: 'hello', parameters: { name: 'Ada' } } }),
  'runs.chat': async (world) => {
    const { body } = await world.bench.run('hello')
    const messages = [{ role: 'user', content: 'More' }]
    return { ids: { conversationUuid: String(body['uuid']) }, body: { messages } }
  },
  'runs.attach': async (world) => ({ ids: await conversation(world), body: {} }),
  'runs.stop': async (world) => ({ ids: await conversation(world) }),
  'runRecords.list': async (world) => ({ ids: await inProject(world) }),
  'runRecords.get': async ({ bench }) => ({ ids: { runUuid: String((await bench.run('hello')).body['uuid']) } }),
  'runRecords.ofConversation': async (world) => ({ ids: await conversation(world) }),
  'conversations.list': async ({ project }) => ({ query: `?projectId=${project.id}` }),
  'conversations.get': async (world) => ({ ids: await conversation(world) }),
  'conversations.update': async (world) => ({ ids: await conversation(world), body: { tags: ['a'], note: 'x' } }),
  'conversations.feedback': async (world) => ({ ids: await conversation(world), body: { value: 'up', by: 'x' } }),
  'conversations.erase': async () => ({ query: `?customIdentifier=${newName()}` }),
  'conversations.delete': async ({ bench }) => {
    const { body } = await bench.run('hello')
    return { ids: { conversationUuid: String(body['uuid']) } }
  },
  'tools.result': async (world) => ({ body: { toolCallId: await openToolCall(world), result: 1 } }),
  'evaluations.create': async ({ project }) => ({
    body: { projectId: project.id, name: newName(), metric: 'binary' },
  }),
  'evaluations.list': async ({ project }) => ({ query: `?projectId=${project.id}` }),
  'evaluations.update': async ({ evaluationUuid }) => ({ ids: { evaluationUuid }, body: { archived: false } }),
  'evaluations.get': async ({ evaluationUuid }) => ({ ids: { evaluationUuid } }),
  'evaluations.agreement': async (world) => ({ ids: { evaluationUuid: await newJudge(world) } }),
  'evaluations.queue': async (world) => ({
    ids: await inProject(world),
    query: `?evaluation=${world.evaluationUuid}`,
  }),
  'evaluations.annotate': async ({ conversationUuid, evaluationUuid }) => ({
    ids: { conversationUuid, evaluationUuid },
    body: { score: 3 },
  }),
  'evaluations.removeLabel': async ({ conversationUuid, evaluationUuid }) => ({
    ids: { conversationUuid, evaluationUuid },
  }),
  'evaluations.annotations': async (world) => ({ ids: await conversation(world) }),
  'examples.list': async (world) => ({ ids: await inProject(world), query: `?documentUuid=${world.documentUuid}` }),
  'examples.create': async (world) => ({
    ids: await inProject(world),
    body: { documentUuid: world.documentUuid, name: newName(), parameters: {} },
  }),
  'examples.batch': async (world) => ({
    ids: await inProject(world),
    body: { documentUuid: world.documentUuid, changes: [{ name: newName(), expected: 'x', tags: ['must'] }] },
  }),
  'examples.fromRuns': async (world) => ({
    ids: await inProject(world),
    body: { runs: [String((await world.bench.run('hello')).body['uuid'])] },
  }),
  'examples.update': async (world) => ({ ids: await world.newExample(), body: { parameters: { name: 'Ada' } } }),
  'examples.delete': async (world) => ({ ids: await world.newExample() }),
  'experiments.create': async (world) => ({
    ids: await inProject(world),
    body: { path: 'hello', arms: [{ versionUuid: 'live' }], examples: [(await world.newExample()).exampleUuid] },
  }),
  'experiments.list': async (world) => ({ ids: await inProject(world) }),
  'experiments.get': async (world) => ({ ids: await world.newExperiment() }),
  'experiments.items': async (world) => ({ ids: await world.newExperiment() }),
  'experiments.report': async (world) => ({ ids: await world.newExperiment() }),
  'experiments.stop': async (world) => ({ ids: await world.newExperiment() }),
  'experiments.resume': async (world) => ({ ids: await world.newExperiment(), body: {} }),
  'experiments.scores': async (world) => {
    const ids = await world.newExperiment()
    return { ids, body: { scores: [{ itemUuid: await itemOf(world, ids), evaluation: 'a.eval.ts:b', passed: true }] } }
  },
  'logs.create': async (world) => ({ ids: await inLive(world), body: { path: 'hello', messages: [] } }),
  'providerApiKeys.list': async () => ({}),
  'providerApiKeys.create': async () => ({
    body: { name: newName(), provider: 'openai', token: 'sk-0123456789abcdef' },
  }),
  'providerApiKeys.get': async (world) => ({ ids: { id: String((await world.newProviderKey()).id) } }),
  'providerApiKeys.update': async (world) => ({
    ids: { id: String((await world.newProviderKey()).id) },
    body: { defaultModel: 'x' },
  }),
  'providerApiKeys.test': async () => ({ body: { name: 'demo' } }),
  'providers.list': async () => ({}),
  'providerApiKeys.delete': async (world) => ({ ids: { id: String((await world.newProviderKey()).id) } }),
  'console.signIn': async (world) => ({ body: { apiKey: await world.keyWith({}) } }),
  'console.session': async (world) => bySession(await world.newSession()),
  'console.signOut': async (world) => bySession(await world.newSession()),
  'console.sessions': async () => ({}),
  'console.endSession': async (world) => ({ ids: { id: String((await world.newSession()).id) } }),
  'console.createLink': async () => ({ body: {} }),
}

function bySession({ cookie }: { cookie: string }): RouteRequest {
  return { key: null, headers: { cookie } }
}

export function importedVersion() {
  return { title: newName(), authorName: 'Ada', createdAt: '2026-01-02T03:04:05.678Z' }
}

async function newProject({ api }: World['bench']): Promise<{ id: number; name: string }> {
  const name = newName()
  const { body } = await api('POST', '/projects', { body: { name } })
  return { id: (body['project'] as { id: number }).id, name }
}

/** Sends the request. Missing path parameters get ids that do not exist. */
export function send({ bench }: World, route: WalkedRoute, request: RouteRequest = {}): Promise<ApiAnswer> {
  const { ids, query = validQuery[route.name] ?? '', key = bench.key, headers, body } = request
  const isRaw = typeof body === 'string'
  const sendsBody = readsBody(route, route.metadata)
  return httpCall(route.method, `${bench.server.url}${route.prefix}${fill(route.path, ids)}${query}`, {
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...consoleMark,
      ...(isRaw && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sendsBody && body !== undefined && { body }),
  })
}

export async function successOf(world: World, route: WalkedRoute): Promise<RouteRequest> {
  const make = successes[route.name]
  if (!make) throw new Error(`${route.name} has no request that succeeds: add one to declared-errors/requests.ts`)
  return make(world)
}

/** An item of an experiment. */
export async function itemOf({ bench }: World, { experimentUuid }: { experimentUuid: string }): Promise<string> {
  const { text } = await bench.api('GET', `/experiments/${experimentUuid}/items`)
  return String(JSON.parse(text).items[0].items[0].uuid)
}
