/** Resources for the fuzz test. Each route has its own, and gets a new one after a request consumed it. */
import type { TestServer } from '../support/test-server.ts'
import { type ApiAnswer, apiCaller } from './api-call.ts'
import type { Placeholders, WalkedRoute } from './contract-routes.ts'
import { type Api, issueKey, openTenant } from './scenario.ts'

export interface Existing {
  /** Some routes use a separate tenant, because their rows would make every list long. */
  api: Api
  /** Returns an id of an existing resource in a state in which the route can succeed. */
  id(name: keyof Placeholders): Promise<string>
  /** Returns the uuid of an existing prompt. */
  documentUuid(): Promise<string>
  /** Inspects a response. If the request consumed a resource, a new one is created before the next request. */
  saw(answer: ApiAnswer): void
}

/** The id of the resource that a successful request consumes. */
const usedUp: Record<string, keyof Placeholders> = {
  'apiKeys.rotate': 'id',
  'apiKeys.revoke': 'id',
  'providerApiKeys.delete': 'id',
  'versions.publish': 'versionUuid',
  'documents.delete': 'path',
  'conversations.delete': 'conversationUuid',
  'examples.delete': 'exampleUuid',
  'projects.delete': 'projectId',
}
const leavesMuch = new Set(['apiKeys.rotate', 'apiKeys.revoke', 'versions.publish'])

export async function existingFor(server: TestServer, shared: Api, route: WalkedRoute): Promise<Existing> {
  const api = leavesMuch.has(route.name) ? await tenantOf(server, route) : shared
  const there = new Map<keyof Placeholders, Promise<string>>()
  const id = (name: keyof Placeholders) => {
    const known = there.get(name) ?? make[name]()
    there.set(name, known)
    return known
  }
  const made = async (path: string, body: Record<string, unknown>) => {
    const answer = await api('POST', path, { body })
    if (answer.status >= 300) throw new Error(answer.text)
    return answer.body
  }
  const prompt = { path: 'a', prompt: 'Hello {{ name }}' }
  const versions = async () => `/projects/${await id('projectId')}/versions`
  const documentUuid = async () => {
    await id('path')
    const { body } = await api('GET', `${await versions()}/${await id('versionUuid')}/documents/${prompt.path}`)
    return String(body['uuid'])
  }
  let count = 0
  const make: Record<keyof Placeholders, () => Promise<string>> = {
    projectId: async () => String(((await made('/projects', { name: 'fuzz' }))['project'] as { id: number }).id),
    async versionUuid() {
      const uuid = String((await made(await versions(), { name: 'fuzz' }))['uuid'])
      await made(`${await versions()}/${uuid}/documents/create-or-update`, prompt)
      return uuid
    },
    async path() {
      await made(`${await versions()}/${await id('versionUuid')}/documents/create-or-update`, prompt)
      return prompt.path
    },
    async conversationUuid() {
      const log = `${await versions()}/${await id('versionUuid')}/documents/logs`
      return String((await made(log, { path: prompt.path, messages: [] }))['uuid'])
    },
    async evaluationUuid() {
      const body = { projectId: Number(await id('projectId')), name: 'fuzz', metric: 'rating' }
      return String((await made('/evaluations', body))['uuid'])
    },
    async exampleUuid() {
      count += 1
      const example = { documentUuid: await documentUuid(), name: `${count}`, parameters: {} }
      return String((await made(`/projects/${await id('projectId')}/examples`, example))['uuid'])
    },
    async id() {
      count += 1
      const list = route.path.startsWith('/api-keys') ? '/api-keys' : '/provider-api-keys'
      const entry = { name: `${route.name} ${count}`, provider: 'openai', token: 'sk-0123456789abcdef' }
      return String((await made(list, entry))['id'])
    },
  }
  return {
    api,
    id,
    documentUuid,
    saw({ status }) {
      const name = usedUp[route.name]
      if (status < 300 && name) there.delete(name)
    },
  }
}

async function tenantOf(server: TestServer, { name }: WalkedRoute): Promise<Api> {
  const admin = apiCaller(server.url, await openTenant(server, name))
  return apiCaller(server.url, await issueKey(admin, { scopes: ['admin'], plan: 'custom', limit: 100_000 }))
}
