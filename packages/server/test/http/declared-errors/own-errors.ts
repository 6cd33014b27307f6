/** Errors that a route gives in a way of its own, by `<route> <status>`. */
import type { ApiAnswer } from '../api-call.ts'
import { contractRoutes } from '../contract-routes.ts'
import { type RouteRequest, send } from './requests.ts'
import { failedRun, newName, type World } from './world.ts'

const unknownUuid = '00000000-0000-4000-8000-000000000000'

/** A request to the route of that name. */
function to(name: string, world: World, request: RouteRequest): Promise<ApiAnswer> {
  const route = contractRoutes.find((each) => each.name === name)
  if (!route) throw new Error(`There is no route ${name}`)
  return send(world, route, request)
}

const live = ({ project }: World) => ({ projectId: String(project.id), versionUuid: 'live' })
const draft = async ({ project, newDraft }: World) => ({
  projectId: String(project.id),
  versionUuid: await newDraft(),
})
const changed = { path: 'contested', status: 'modified', content: 'changed' }

export const ownErrors: Record<string, (world: World) => Promise<ApiAnswer>> = {
  'apiKeys.create 404': (world) => to('apiKeys.create', world, { body: { name: 'x', projectId: 2_000_000_000 } }),
  'apiKeys.rotate 409': async (world) => {
    const { id } = await world.newApiKey()
    await to('apiKeys.revoke', world, { ids: { id: String(id) } })
    return to('apiKeys.rotate', world, { ids: { id: String(id) }, body: {} })
  },
  'apiKeys.revoke 409': async (world) => {
    const { body } = await world.bench.api('GET', '/api-keys')
    const keys = body as unknown as { id: number; scopes: string[]; revokedAt: string | null }[]
    const own = (await world.bench.api('GET', '/me')).body['apiKey'] as { id: number }
    for (const { id, scopes, revokedAt } of keys) {
      if (id !== own.id && scopes.includes('admin') && revokedAt === null) {
        await to('apiKeys.revoke', world, { ids: { id: String(id) } })
      }
    }
    return to('apiKeys.revoke', world, { ids: { id: String(own.id) } })
  },
  'versions.publish 409': async (world) => {
    const [one, two] = [await draft(world), await draft(world)]
    for (const ids of [one, two]) {
      const content = newName()
      await to('versions.push', world, { ids, body: { changes: [{ ...changed, content }] } })
    }
    await to('versions.publish', world, { ids: one, body: {} })
    return to('versions.publish', world, { ids: two, body: {} })
  },
  'versions.publish 422': async (world) => {
    const ids = await draft(world)
    await to('documents.create', world, { ids, body: { path: newName(), prompt: '{{ if }}' } })
    return to('versions.publish', world, { ids, body: {} })
  },
  'versions.push 409': async (world) =>
    to('versions.push', world, { ids: await draft(world), body: { changes: [{ ...changed, baseHash: 'other' }] } }),
  'documents.create 409': async (world) =>
    to('documents.create', world, { ids: await draft(world), body: { path: 'hello' } }),
  'documents.createOrUpdate 409': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: await draft(world),
      body: { path: 'hello', prompt: 'x', baseHash: 'other' },
    }),
  'documents.createOrUpdate 412': async (world) =>
    to('documents.createOrUpdate', world, {
      ids: await draft(world),
      body: { path: 'hello', prompt: 'x' },
      headers: { 'if-none-match': '*' },
    }),
  'documents.delete 412': async (world) =>
    to('documents.delete', world, {
      ids: { ...(await draft(world)), path: 'hello' },
      headers: { 'if-match': '"other"' },
    }),
  'runs.run 422': (world) =>
    to('runs.run', world, { ids: live(world), body: { path: 'counting', parameters: { count: 'many' } } }),
  'runs.chat 409': async (world) => {
    const calls = world.bench.fake.requests.length
    world.bench.fake.enqueue({ deltas: ['half'], hang: 'mid-stream' })
    const conversationUuid = await world.bench.background('hello')
    await world.bench.fake.waitForRequest(calls + 1)
    const messages = [{ role: 'user', content: 'x' }]
    const answer = await to('runs.chat', world, { ids: { conversationUuid }, body: { messages } })
    await world.bench.stop(conversationUuid)
    return answer
  },
  'runs.chat 422': async (world) => {
    const { body } = await failedRun(world)
    world.bench.fake.enqueue({ status: 401 })
    const conversationUuid = String(body.details?.['conversationUuid'])
    return to('runs.chat', world, {
      ids: { conversationUuid },
      body: { messages: [{ role: 'user', content: 'x' }] },
    })
  },
  'runs.attach 422': async (world) => {
    const { body } = await failedRun(world)
    return to('runs.attach', world, {
      ids: { conversationUuid: String(body.details?.['conversationUuid']) },
      body: {},
    })
  },
  'conversations.list 404': (world) => to('conversations.list', world, { query: '?projectId=2000000000' }),
  'tools.result 404': (world) => to('tools.result', world, { body: { toolCallId: 'call_unknown' } }),
  'evaluations.create 404': (world) =>
    to('evaluations.create', world, { body: { projectId: 2_000_000_000, name: 'x', metric: 'binary' } }),
  'evaluations.list 404': (world) => to('evaluations.list', world, { query: '?projectId=2000000000' }),
  'evaluations.annotate 404': ({ conversationUuid, ...world }) =>
    to(
      'evaluations.annotate',
      { conversationUuid, ...world },
      {
        ids: { conversationUuid, evaluationUuid: unknownUuid },
        body: { score: 1 },
      },
    ),
  'evaluations.annotate 422': (world) => {
    const { conversationUuid, evaluationUuid } = world
    return to('evaluations.annotate', world, { ids: { conversationUuid, evaluationUuid }, body: { score: 6 } })
  },
  'providerApiKeys.create 409': async (world) => {
    const { name } = await world.newProviderKey()
    const body = { name: name.toUpperCase(), provider: 'openai', token: 'sk-0123456789abcdef' }
    return to('providerApiKeys.create', world, { body })
  },
  'providerApiKeys.update 409': async (world) => {
    const [one, two] = [await world.newProviderKey(), await world.newProviderKey()]
    return to('providerApiKeys.update', world, { ids: { id: String(one.id) }, body: { name: two.name } })
  },
  'providerApiKeys.delete 409': (world) => to('providerApiKeys.delete', world, { ids: { id: '0' } }),
}
