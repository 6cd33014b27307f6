/** Limits the workers that a list of many prompts occupies. Evaluation stops when the client disconnects. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keepEvaluating } from '../templates/support/keep-evaluating.ts'
import { type Api, createTestProject, issueKey, type Opened, openServer } from './scenario.ts'

const perKey = 4
let opened: Opened
let busy: ReturnType<typeof keepEvaluating>

beforeAll(async () => {
  opened = await openServer({ STET_MAX_EVALUATIONS_PER_KEY: String(perKey) })
  // Another key of the workspace with its own limit. The workers alternate between it and the tested key.
  busy = keepEvaluating(opened.server.deps.templates, { workspaceId: 1, apiKeyId: 0 })
})
afterAll(async () => {
  await busy.stop()
  await opened.server.close()
})

/** Creates a draft with uncompiled texts, because a push does not compile. */
async function uncompiledDraft(api: Api, names: string[]): Promise<string> {
  const { draft } = await createTestProject(api)
  const changes = names.map((path) => ({ path, content: `${path} {{ a.b }}`, status: 'added' }))
  expect(await api('POST', `${draft}/push`, { body: { changes } })).toMatchObject({ status: 200 })
  return draft
}

it("cancels a list's evaluations when its client disconnects", async () => {
  const { server, api } = opened
  const names = Array.from({ length: perKey }, (_, index) => `listed${index}`)
  const draft = await uncompiledDraft(api, names)
  const other = await uncompiledDraft(
    api,
    Array.from({ length: 200 }, (_, index) => `other${index}`),
  )
  const key = await issueKey(api, { scopes: ['read'], plan: 'custom', limit: 10_000 })
  const headers = { authorization: `Bearer ${key}` }
  const read = async (name: string) =>
    (await fetch(`${server.url}/api/v3${other}/documents/${name}`, { headers })).status

  const controller = new AbortController()
  const { signal } = controller
  const list = fetch(`${server.url}/api/v3${draft}/documents`, { headers, signal }).catch(() => undefined)
  let count = 0
  const readNext = () => read(`other${count++}`)
  await expect.poll(readNext).toBe(503)
  controller.abort()
  await list
  await expect.poll(readNext).toBe(200)
})
