import { afterAll, beforeAll, expect, it } from 'vitest'
import { preparePrompt } from '../../src/features/documents/read-document.ts'
import { findProject, resolveVersion } from '../../src/features/documents/version-ref.ts'
import { updateProject } from '../../src/features/projects/update-project.ts'
import { endless, now, sourceOf, startEngine } from '../templates/support/engine.ts'
import { newBench, openWorkbench, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

it('lists the last edited project first, and only projects visible to the key', async () => {
  const caller = await workbench.newCaller()
  const bench = { deps: workbench.deps, caller }
  const [first, second] = [await newBench(bench), await newBench(bench)]
  const ids = async (projectId: number | null) =>
    (await workbench.deps.stores.projects.list(caller.workspaceId, projectId)).map(({ id }) => id)
  expect(await ids(null)).toEqual([second.projectId, first.projectId])
  await first.put(first.draft, 'a', '1')
  expect(await ids(null)).toEqual([first.projectId, second.projectId])
  expect(await ids(second.projectId)).toEqual([second.projectId])
})

it('updates the given fields, clears them with an empty text, and shows the change immediately', async () => {
  const { deps, caller } = workbench
  const { projectId } = await newBench(workbench)
  await findProject(deps, caller, projectId)
  const named = { caller, projectId, name: 'renamed', defaultProvider: 'openai', defaultModel: 'm' }
  expect(await updateProject(deps, named)).toMatchObject({
    name: 'renamed',
    defaultProvider: 'openai',
    defaultModel: 'm',
  })
  expect(await updateProject(deps, { caller, projectId, defaultProvider: '' })).toMatchObject({
    defaultProvider: null,
    defaultModel: 'm',
  })
  expect(await findProject(deps, caller, projectId)).toMatchObject({ name: 'renamed', defaultProvider: null })
})

it('loads everything for a repeated run without a statement', async () => {
  const { deps, caller } = workbench
  const bench = await newBench(workbench)
  await bench.put(bench.draft, 'a', '<step><prompt path="b" /></step>')
  await bench.put(bench.draft, 'b', 'inner')
  await bench.publish(bench.draft)
  const address = { caller, projectId: bench.projectId, versionRef: 'live', path: '/a' }
  const first = await preparePrompt(deps, address)
  expect(first).toMatchObject({
    project: { id: bench.projectId, liveVersionUuid: bench.draft.uuid },
    version: { uuid: bench.draft.uuid, number: 1 },
    text: { path: 'a' },
    source: { path: 'a', documents: { b: 'inner' } },
    scan: { usesSteps: true, errors: [] },
  })
  const before = workbench.statementCount()
  expect(await preparePrompt(deps, address)).toEqual(first)
  await resolveVersion(deps, address)
  expect(workbench.statementCount()).toBe(before)
  await bench.put('live', 'b', 'hot fix', { force: true })
  expect((await preparePrompt(deps, address)).source.documents).toEqual({ b: 'hot fix' })
  expect(workbench.statementCount()).toBeGreaterThan(before)
})

it("does not refuse a prompt shared by two keys because of one key's limit", async () => {
  const bench = await newBench(workbench)
  await bench.put(bench.draft, 'a', 'Hi {{ n + 1 }}')
  const templates = await startEngine({ poolSize: 1, maxPerKey: 1, timeoutMs: 20_000 })
  const deps = { ...workbench.deps, templates }
  const first = { ...workbench.caller, apiKeyId: 1 }
  const held = new AbortController()
  const owner = { workspaceId: first.workspaceId, apiKeyId: 1, signal: held.signal }
  const evaluation = templates.step({ source: sourceOf(endless), parameters: {}, now }, owner).catch(() => undefined)
  const address = { projectId: bench.projectId, versionRef: bench.draft.uuid, path: 'a' }
  const [refused, shared] = await Promise.allSettled([
    preparePrompt(deps, { ...address, caller: first }),
    preparePrompt(deps, { ...address, caller: { ...first, apiKeyId: 2 } }),
  ])
  expect(refused).toMatchObject({ reason: { code: 'ServiceUnavailableError' } })
  expect(shared).toMatchObject({ value: { scan: { parameters: ['n'], errors: [] } } })
  held.abort()
  await evaluation
  await templates.close()
})
