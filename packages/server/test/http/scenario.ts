import { createWorkspace } from '../../src/features/access/first-start.ts'
import { addProject } from '../../src/features/projects/save-project.ts'
import { type TestServer, type TestServerOptions, testServer } from '../support/test-server.ts'
import { type ApiAnswer, apiCaller } from './api-call.ts'

export type Api = ReturnType<typeof apiCaller>

export interface Opened {
  server: TestServer
  /** Sends requests with a key that has all scopes and never reaches its rate limit. */
  api: Api
  key: string
}

export async function openServer(
  environment: Record<string, string> = {},
  options: Omit<TestServerOptions, 'environment'> = {},
): Promise<Opened> {
  const server = await testServer({ ...options, environment })
  const admin = apiCaller(server.url, server.adminKey)
  const key = await issueKey(admin, { scopes: ['admin'], plan: 'custom', limit: 100_000 })
  return { server, key, api: apiCaller(server.url, key) }
}

export async function issueKey(api: Api, body: Record<string, unknown>): Promise<string> {
  const issued = await expectStatus(api('POST', '/api-keys', { body: { name: 'test', ...body } }), 201)
  return String(issued['key'])
}

export async function openTenant(server: TestServer, name: string): Promise<string> {
  return (await createWorkspace(server.deps, { name, createProject: addProject })).key
}

export interface TestProject {
  id: number
  /** The initial draft's uuid and its URL path. */
  draftUuid: string
  draft: string
  /** The live version's URL path. */
  live: string
  newDraft(): Promise<string>
}

/** Creates a project and publishes `prompts`. Without them it has no live version. */
export async function createTestProject(api: Api, prompts?: Record<string, string>): Promise<TestProject> {
  type Created = { project: { id: number }; version: { uuid: string } }
  const created = api<Created>('POST', '/projects', { body: { name: 'scenario' } })
  const { project, version } = await expectStatus(created, 201)
  const versions = `/projects/${project.id}/versions`
  const draft = `${versions}/${version.uuid}`
  if (prompts) {
    const changes = Object.entries(prompts).map(([path, content]) => ({ path, content, status: 'added' }))
    await expectStatus(api('POST', `${draft}/push`, { body: { changes } }), 200)
    await expectStatus(api('POST', `${draft}/publish`), 200)
  }
  return {
    id: project.id,
    draftUuid: version.uuid,
    draft,
    live: `${versions}/live`,
    async newDraft() {
      const made = await expectStatus(api('POST', versions, { body: { name: 'next' } }), 200)
      return `${versions}/${String(made['uuid'])}`
    },
  }
}

async function expectStatus<Body>(answer: Promise<ApiAnswer<Body>>, status: number): Promise<Body> {
  const { status: got, text, body } = await answer
  if (got !== status) throw new Error(`Expected ${status}, got ${got}: ${text}`)
  return body
}
