/** A list of many prompts stops evaluating when its client disconnects. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { keepEvaluating } from '../templates/support/keep-evaluating.ts'
import { type Api, createTestProject, issueKey, type Opened, openServer } from './scenario.ts'

let opened: Opened
let busy: ReturnType<typeof keepEvaluating>

beforeAll(async () => {
  opened = await openServer()
  // Another key of the workspace. The workers alternate between the keys, so each text of the list waits for its turn.
  busy = keepEvaluating(opened.server.deps.templates, { workspaceId: 1, apiKeyId: 0 })
})
afterAll(async () => {
  await busy.stop()
  await opened.server.close()
})

/** Creates a draft with uncompiled texts, because a push does not compile. */
async function uncompiledDraft(api: Api, count: number): Promise<{ draft: string; paths: string[] }> {
  const { draft } = await createTestProject(api)
  const paths = Array.from({ length: count }, (_, index) => `text${index}`)
  const changes = paths.map((path) => ({ path, content: `${draft} ${path} {{ a.b }}`, status: 'added' }))
  expect(await api('POST', `${draft}/push`, { body: { changes } })).toMatchObject({ status: 200 })
  return { draft, paths }
}

it("cancels a list's evaluations when its client disconnects", async () => {
  const { server, api } = opened
  const list = await uncompiledDraft(api, 40)
  const others = await uncompiledDraft(api, 6)
  const countCompiled = async () => {
    const { items } = (await api('GET', `${list.draft}/tree`)).body as { items: { compiles: boolean | null }[] }
    return items.filter(({ compiles }) => compiles !== null).length
  }
  const key = await issueKey(api, { scopes: ['read'], plan: 'custom', limit: 10_000 })
  const controller = new AbortController()
  const listing = fetch(`${server.url}/api/v3${list.draft}/documents`, {
    headers: { authorization: `Bearer ${key}` },
    signal: controller.signal,
  })
  await expect.poll(countCompiled).toBeGreaterThan(0)
  controller.abort()
  await expect(listing).rejects.toThrow('aborted')
  const atEnd = await countCompiled()
  // Each of these waits for a turn. The list would get one between two of them.
  for (const path of others.paths)
    expect(await api('GET', `${others.draft}/documents/${path}`)).toMatchObject({ status: 200 })
  // Evaluations that ran already may complete.
  expect((await countCompiled()) - atEnd).toBeLessThanOrEqual(2)
})
