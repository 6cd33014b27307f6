import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Version } from '../../src/features/projects/project.ts'
import { createVersion } from '../../src/features/versions/create-version.ts'
import { AppError, isUnavailable } from '../../src/shared/app-error.ts'
import { count, seed, timeFor } from '../support/counts.ts'
import { recordHistory } from './history.ts'
import { type Bench, newBench, openWorkbench, type Workbench } from './workbench.ts'

let workbench: Workbench

beforeAll(async () => {
  workbench = await openWorkbench()
})
afterAll(() => workbench.close())

const workers = 32
const operations = count(200, 10_000)
// 300 + 200 + 200 + 100 of a thousand, and the rest as four publishers for each draft.
const share = (part: number) => (operations / 1_000) * part
const counts = {
  increments: share(300),
  writes: share(200),
  reads: share(200),
  pushes: share(100),
  drafts: share(50),
  publishers: 4,
}

async function runOperations(bench: Bench, drafts: readonly Version[]) {
  const { draft } = bench
  const history = recordHistory('register 0')
  const counted = { won: 0, lost: 0 }
  const winners = new Map<string, number[]>()

  const increment = async () => {
    const { content, contentHash } = await bench.read(draft, 'counter')
    try {
      await bench.put(draft, 'counter', String(Number(content) + 1), { baseHash: contentHash })
      counted.won += 1
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'ConflictError')) throw error
      counted.lost += 1
    }
  }
  const publish = async (version: Version) => {
    try {
      const { number } = await bench.publish(version)
      winners.set(version.uuid, [...(winners.get(version.uuid) ?? []), number ?? 0])
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'BadRequestError')) throw error
    }
  }
  const pushPair = (index: number) =>
    bench.push(
      draft,
      [`left/${index}`, `right/${index}`].map((path) => ({ path, status: 'added', content: `${index}` })),
    )

  const repeat = (times: number, work: (index: number) => Promise<unknown>) =>
    Array.from({ length: times }, (_, index) => () => work(index))
  const work = [
    ...repeat(counts.increments, increment),
    ...repeat(counts.writes, (index) => {
      const value = `register ${index + 1}`
      return history.write(value, () => bench.put(draft, 'register', value))
    }),
    ...repeat(counts.reads, () => history.read(async () => (await bench.read(draft, 'register')).content)),
    ...repeat(counts.pushes, pushPair),
    ...drafts.flatMap((version) => repeat(counts.publishers, () => publish(version))),
  ]
  await runParallel(shuffled(work, seed), workers)
  await history.read(async () => (await bench.read(draft, 'register')).content)
  return { done: work.length, counted, winners, violations: history.violations() }
}

describe('concurrent work on one project', () => {
  it('promise 3: no lost update, one winner per publish', { timeout: timeFor(operations, 500) }, async () => {
    const bench = await newBench(workbench)
    await bench.put(bench.draft, 'counter', '0')
    await bench.put(bench.draft, 'register', 'register 0')
    const drafts: Version[] = []
    for (let index = 0; index < counts.drafts; index += 1) {
      const version = await bench.newDraft()
      await bench.put(version, `from/${index}`, `${index}`)
      drafts.push(version)
    }
    const { done, counted, winners, violations } = await runOperations(bench, drafts)
    const seeded = `seed ${seed}`
    expect(done, seeded).toBe(operations)

    expect(violations, seeded).toEqual([])
    const texts = await bench.texts(bench.draft)
    expect(counted.won + counted.lost, seeded).toBe(counts.increments)
    expect(counted.won, seeded).toBeGreaterThan(0)
    expect(texts['counter'], seeded).toBe(String(counted.won))
    for (let index = 0; index < counts.pushes; index += 1) {
      expect([texts[`left/${index}`], texts[`right/${index}`]], seeded).toEqual([`${index}`, `${index}`])
    }

    expect(
      [...winners.values()].every((numbers) => numbers.length === 1),
      seeded,
    ).toBe(true)
    const numbers = [...winners.values()].flat().sort((a, b) => a - b)
    expect(numbers, seeded).toEqual(Array.from({ length: counts.drafts }, (_, index) => index + 1))
    const live = await bench.texts('live')
    expect(Object.keys(live), seeded).toHaveLength(counts.drafts)
    await expectHistoryOfSets(bench, drafts)

    expect((await bench.publish(bench.draft)).number).toBe(counts.drafts + 1)
    expect(await bench.texts('live')).toEqual(texts)
  })

  it('makes one draft for 20 requests that reuse it by name', async () => {
    const bench = await newBench(workbench)
    const { deps, caller } = workbench
    const input = { caller, projectId: bench.projectId, name: 'pull request', reuse: true, replace: true }
    const changes = (index: number) => [{ path: 'a', status: 'added' as const, content: `${index}`, baseHash: '' }]
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, index) => createVersion(deps, { ...input, changes: changes(index) })),
    )
    const drafts = await deps.stores.versions.list(caller.workspaceId, bench.projectId, { status: 'draft' })
    expect(drafts.map(({ title }) => title)).toEqual(['pull request', 'Initial version'])
    expect(new Set(made.map(({ uuid }) => uuid))).toEqual(new Set([drafts[0]?.uuid]))
  })

  it('publishes a consistent snapshot of a draft during edits', async () => {
    const bench = await newBench(workbench)
    const pair = (index: number) =>
      bench.push(
        bench.draft,
        ['left', 'right'].map((path) => ({ path, status: 'modified', content: `${index}` })),
      )
    await pair(0)
    const edits = Array.from({ length: 40 }, (_, index) => pair(index + 1).catch((error: unknown) => error))
    await publishOnceItRests(bench)
    const outcomes = await Promise.all(edits)
    const { left, right } = await bench.texts('live')
    expect(left).toBe(right)
    const refused = outcomes.filter((outcome) => outcome instanceof AppError)
    for (const error of refused) expect(error).toMatchObject({ code: 'BadRequestError' })
    expect(await bench.texts(bench.draft)).toEqual({ left, right })
  })
})

/** Repeats a publication that failed because the draft kept changing. The changes end eventually. */
async function publishOnceItRests(bench: Bench): Promise<void> {
  for (;;) {
    try {
      await bench.publish(bench.draft)
      return
    } catch (error) {
      if (!(error instanceof AppError && error.reason === 'draft-kept-changing')) throw error
    }
  }
}

async function expectHistoryOfSets(bench: Bench, drafts: readonly Version[]): Promise<void> {
  const versions = await workbench.deps.stores.versions.list(workbench.caller.workspaceId, bench.projectId, {
    status: 'merged',
  })
  const expected: string[] = []
  for (const version of versions.reverse()) {
    expected.push(`from/${drafts.findIndex(({ uuid }) => uuid === version.uuid)}`)
    expect(Object.keys(await bench.texts(version)).sort()).toEqual([...expected].sort())
  }
}

async function runParallel(operations: readonly (() => Promise<unknown>)[], parallel: number): Promise<void> {
  const queue = [...operations]
  const work = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) await untilAvailable(next)
  }
  await Promise.all(Array.from({ length: parallel }, work))
}

/** Repeats a write that has waited too long for the project's lock, as clients do for a 503. It has changed nothing. */
async function untilAvailable(operation: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await operation()
      return
    } catch (error) {
      if (!isUnavailable(error)) throw error
    }
  }
}

function shuffled<T>(items: readonly T[], seed: number): T[] {
  let state = seed
  const order = items.map((item) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return { item, rank: state }
  })
  return order.sort((a, b) => a.rank - b.rank).map(({ item }) => item)
}
