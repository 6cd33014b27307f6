import { Experiment, ExperimentRowPage } from '@stet/contract'
import { EXPERIMENT_LIMITS, LIMITS } from '@stet/contract/vocabulary'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { applyExperimentRetention } from '../../src/features/experiments/work/experiment-retention.ts'
import { apiCaller } from '../http/api-call.ts'
import { prompt } from '../runs/run-bench.ts'
import { count, seed } from '../support/counts.ts'
import { gate } from '../support/gate.ts'
import { seededRandom } from '../support/random.ts'
import { type ExperimentBench, expectOk, experimentBench, experimentProject } from './experiment-bench.ts'

let bench: ExperimentBench
beforeAll(async () => {
  bench = await experimentBench()
})
afterAll(() => bench.close())

it('runs each arm on each row, and shows the answers side by side', async () => {
  await bench.addRows(['Ada', 'Leo'])
  bench.fake.setDefault(({ body }) => ({ text: `Answer to ${textIn(body)}` }))
  const created = Experiment.parse(await bench.created())
  expect(created).toMatchObject({
    ...{ state: 'running', reason: null, isStale: false, trials: 1, budgetUsd: 2, estimateUsd: null },
    counts: { total: 4, waiting: 4, running: 0, ended: 0, failed: 0 },
    arms: [{ label: 'live v1' }, { label: 'draft "next"', versionUuid: bench.draftUuid }],
  })
  const ended = await bench.ended(created.uuid)
  expect(ended).toMatchObject({ state: 'completed', reason: null, counts: { total: 4, waiting: 0, ended: 4 } })
  const rows = ExperimentRowPage.shape.items.parse(await bench.rows(created.uuid))
  expect(rows.map(({ name, items }) => [name, items.map(({ arm, state, answer }) => [arm, state, answer])])).toEqual([
    [
      'Ada',
      [
        [0, 'ended', 'Answer to Live: Ada'],
        [1, 'ended', 'Answer to Draft: Ada'],
      ],
    ],
    [
      'Leo',
      [
        [0, 'ended', 'Answer to Live: Leo'],
        [1, 'ended', 'Answer to Draft: Leo'],
      ],
    ],
  ])
  const costs = rows.flatMap(({ items }) => items.map(({ costUsd }) => costUsd ?? 0))
  expect(ended.costUsd).toBeCloseTo(
    costs.reduce((sum, cost) => sum + cost, 0),
    12,
  )
  const again = await bench.created()
  expect(again.estimateUsd).toBeCloseTo(ended.costUsd, 9)
  await bench.ended(again.uuid)
})

function textIn(body: Record<string, unknown>): string {
  return /(Live|Draft): \w+/.exec(JSON.stringify(body['messages']))?.[0] ?? ''
}

it('leaves the statistics and lists of callers as they were', async () => {
  const figures = async () => (await bench.api('GET', `/projects/${bench.projectId}/stats`)).body['total']
  const listed = async (query = '') =>
    (await bench.api('GET', `/projects/${bench.projectId}/runs${query}`)).body['items']
  expect(await figures()).toMatchObject({ figures: { runs: 0, cost: 0 } })
  expect(await listed()).toEqual([])
  expect((await bench.api('GET', '/conversations')).body['items']).toEqual([])
  expect(await listed('?via=experiment')).toHaveLength(8)
  expect(await listed('?via=all')).toHaveLength(8)
})

it('ends an item whose row was edited or deleted before its turn, and keeps those that ran', async () => {
  const { bench: own, uuids } = await ownProject(['a', 'b', 'c'])
  const held = gate()
  bench.fake.enqueue({ gate: held.opened, text: 'first' })
  const calls = bench.fake.requests.length
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 1 })
  await bench.fake.waitForRequest(calls + 1)
  const row = (at: number) => `/projects/${own.projectId}/examples/${uuids[at]}`
  await expectOk(bench.api('PUT', row(0), { body: { parameters: { name: 'other' } } }))
  await expectOk(bench.api('PUT', row(1), { body: { parameters: { name: 'other' } } }))
  await expectOk(bench.api('DELETE', row(2)))
  held.open()
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed', counts: { total: 3, ended: 1, failed: 2 } })
  const rows = await own.rows(uuid)
  expect(rows.map(({ hasChanged, items: [item] }) => [hasChanged, item?.state, item?.code])).toEqual([
    [true, 'ended', null],
    [true, 'failed', 'row-changed'],
    [true, 'failed', 'row-changed'],
  ])
  expect(bench.fake.requests).toHaveLength(calls + 1)
  const resumed = await expectOk(bench.api('POST', `/experiments/${uuid}/resume`, { body: { rows: 'new' } }))
  expect(resumed.body).toMatchObject({ state: 'running', counts: { waiting: 2 } })
  expect(await own.ended(uuid)).toMatchObject({ counts: { ended: 2, failed: 1 } })
  expect((await own.rows(uuid)).map(({ items: [item] }) => item?.attempt)).toEqual([2, 2, 1])
})

it('is stopped with its active items, and resumed without repeating the others', async () => {
  const { bench: own } = await ownProject(['a', 'b', 'c'])
  const calls = bench.fake.requests.length
  bench.fake.enqueue({ text: 'first' }, { deltas: ['half'], hang: 'mid-stream' })
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 1 })
  await bench.fake.waitForRequest(calls + 2)
  const stopped = await expectOk(bench.api('POST', `/experiments/${uuid}/stop`))
  expect(stopped.body).toMatchObject({ state: 'stopped', reason: 'user', counts: { waiting: 1, ended: 1, failed: 1 } })
  expect(await expectOk(bench.api('POST', `/experiments/${uuid}/stop`))).toMatchObject({ body: stopped.body })
  await expectOk(bench.api('POST', `/experiments/${uuid}/resume`, { body: {} }))
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed', reason: null, counts: { ended: 3 } })
  expect(bench.fake.requests).toHaveLength(calls + 4)
  const [rows, { costUsd }] = [await own.rows(uuid), await own.get(uuid)]
  expect(rows.map(({ items: [item] }) => item?.attempt)).toEqual([1, 2, 1])
  // A chat that continues the conversation of an item is no part of it.
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'And in French?' }] }]
  const chat = `/conversations/${rows[0]?.items[0]?.conversationUuid}/chat`
  await expectOk(bench.api('POST', chat, { body: { messages } }))
  expect([await own.rows(uuid), (await own.get(uuid)).costUsd]).toEqual([rows, costUsd])
})

it('is also stopped while a look starts its items', async () => {
  const { bench: own } = await ownProject(['a'])
  const { experiments } = bench.server.deps
  const { listWaiting, listRunning } = experiments.work
  const held = gate()
  const callsBefore = bench.fake.requests.length
  let calls = callsBefore
  const statuses: unknown[] = []
  bench.fake.setDefault({ gate: held.opened, text: 'Late' })
  for (const stop of ['before', 'after'] as const) {
    const [looked, ended] = [gate(), gate()]
    experiments.work.listWaiting = async (uuid, filter) => {
      const first = stop === 'after' ? await listWaiting(uuid, filter) : undefined
      await expectOk(bench.api('POST', `/experiments/${uuid}/stop`))
      looked.open()
      return first ?? (await listWaiting(uuid, filter))
    }
    const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }] })
    await looked.opened
    // A look begins only when the one before has ended.
    experiments.work.listRunning = () => {
      ended.open()
      return listRunning()
    }
    experiments.loop.wake()
    await ended.opened
    if (stop === 'after') await vi.waitUntil(async () => (await own.get(uuid)).counts.failed === 1, { timeout: 10_000 })
    else calls = bench.fake.requests.length
    const [row] = await own.rows(uuid)
    statuses.push([row?.items[0]?.state, row?.items[0]?.code])
  }
  Object.assign(experiments.work, { listWaiting, listRunning })
  held.open()
  bench.fake.setDefault({ text: 'Hello' })
  expect(statuses).toEqual([
    ['waiting', null],
    ['failed', 'abort_error'],
  ])
  expect(calls).toBe(callsBefore)
})

it('reads what waits once for all items that it starts, and notes their starts at once', async () => {
  const { bench: own } = await ownProject([...'abcdef'])
  const { work } = bench.server.deps.experiments
  const { listWaiting, markStarted } = work
  const read: number[] = []
  const noted: number[] = []
  work.listWaiting = async (uuid, filter) => {
    const found = await listWaiting(uuid, filter)
    read.push(found.length)
    return found
  }
  work.markStarted = (uuids) => {
    noted.push(uuids.length)
    return markStarted(uuids)
  }
  await own.ended((await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 6 })).uuid)
  Object.assign(work, { listWaiting, markStarted })
  expect([read, noted]).toEqual([[6], [6]])
})

it('never exceeds its budget by more than the runs that were active', async () => {
  const random = seededRandom(seed)
  const micro = 0.000_002_5
  for (let schedule = 0; schedule < count(1, 100); schedule += 1) {
    const { bench: own } = await ownProject([...'abcdefgh'])
    const costs: number[] = []
    bench.fake.setDefault(() => {
      const tokens = 1 + Math.floor(random() ** 3 * 100_000)
      costs.push(tokens * micro)
      return { text: 'Hello', usage: { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens } }
    })
    const [concurrency, budgetUsd] = [1 + Math.floor(random() * 4), 0.01 + random() * 2]
    const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency, budgetUsd })
    const { state, costUsd, counts } = await own.ended(uuid)
    const active = costs.toSorted((one, other) => other - one).slice(0, concurrency)
    const overshoot = active.reduce((sum, cost) => sum + cost, 0)
    const spent = costs.reduce((sum, cost) => sum + cost, 0)
    const facts = `seed ${seed}, schedule ${schedule}: ${JSON.stringify({ costs, concurrency, budgetUsd, state })}`
    expect(costUsd, facts).toBeCloseTo(spent, 9)
    expect(costUsd - overshoot, facts).toBeLessThan(budgetUsd)
    expect(state === 'completed' ? counts.waiting === 0 : spent >= budgetUsd, facts).toBe(true)
  }
  bench.fake.setDefault({ text: 'Hello' })
})

/** Costs half a dollar. */
const dear = { text: 'dear', usage: { prompt_tokens: 200_000, completion_tokens: 0, total_tokens: 200_000 } }

it('starts nothing more when the recorded cost has reached the budget', async () => {
  const { bench: own } = await ownProject(['a', 'b', 'c', 'd'])
  bench.fake.setDefault(dear)
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 1, budgetUsd: 1 })
  const ended = await own.ended(uuid)
  expect(ended).toMatchObject({ state: 'stopped', reason: 'budget', counts: { waiting: 2, ended: 2 } })
  expect(ended.costUsd).toBeCloseTo(1, 9)
  await expectOk(bench.api('POST', `/experiments/${uuid}/resume`, { body: { budgetUsd: 5 } }))
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed', counts: { ended: 4 } })
  bench.fake.setDefault({ text: 'Hello' })
})

it('counts and scores runs whose start a dead process did not note, also when it may start no more', async () => {
  const { work } = bench.server.deps.experiments
  const { listRunning } = work
  const { session } = bench.server.database
  bench.fake.setDefault(dear)
  const cases = [
    { budgetUsd: 0.5, isKeyGone: false },
    { budgetUsd: 5, isKeyGone: true },
  ]
  for (const { budgetUsd, isKeyGone } of cases) {
    const { bench: own, uuids } = await ownProject(['a', 'b'], { expected: 'dear' })
    const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }] })
    await own.ended(uuid)
    const unnoted = await session.query(
      'UPDATE experiment_item SET started_at = NULL WHERE example_uuid = $1 RETURNING conversation_uuid::text AS uuid',
      [uuids[0]],
    )
    await session.query('DELETE FROM annotation WHERE conversation_uuid = $1', [unnoted.rows[0]?.['uuid']])
    work.listRunning = async () => (await listRunning()).map((each) => ({ ...each, isKeyGone }))
    await expectOk(bench.api('POST', `/experiments/${uuid}/resume`, { body: { budgetUsd } }))
    expect(await own.ended(uuid)).toMatchObject({ state: 'completed', reason: null, counts: { ended: 2 } })
    const scores = (await own.rows(uuid)).map(({ items: [item] }) => [item?.attempt, item?.scores[0]?.passed])
    expect(scores).toEqual(Array(2).fill([1, true]))
    work.listRunning = listRunning
  }
  bench.fake.setDefault({ text: 'Hello' })
})

it('does not stop at its budget while another process has started more than the look counted', async () => {
  const { bench: own, uuids } = await ownProject(['a', 'b'], { expected: 'dear' })
  const { work } = bench.server.deps.experiments
  const { finish } = work
  const { session } = bench.server.database
  bench.fake.setDefault(dear)
  work.finish = async (...args) => {
    work.finish = finish
    await session.query('UPDATE experiment_item SET started_at = now() WHERE example_uuid = $1', [uuids[1]])
    return finish(...args)
  }
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 1, budgetUsd: 0.5 })
  // Its conversation is missing, as if it was deleted.
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed', reason: null, counts: { ended: 1, failed: 1 } })
  bench.fake.setDefault({ text: 'Hello' })
})

it('takes turns with another experiment, and starts nothing in a hot loop while none may start', async () => {
  const names = (letter: string) => Array.from({ length: 16 }, (_, row) => `${letter}${row}`)
  const [first, second] = [(await ownProject(names('a'))).bench, (await ownProject(names('b'))).bench]
  const held = gate()
  const calls = bench.fake.requests.length
  bench.fake.setDefault({ gate: held.opened, text: 'Hello' })
  const whole = { arms: [{ versionUuid: 'live' }], concurrency: 16 }
  const { uuid } = await first.created(whole)
  await bench.fake.waitForRequest(calls + 8)
  const { work } = bench.server.deps.experiments
  const { listRunning } = work
  let looks = 0
  work.listRunning = () => {
    looks += 1
    return listRunning()
  }
  const other = await second.created(whole)
  // Its own look, and at most two more for the ends of requests before.
  await expect.poll(() => looks).toBeGreaterThan(0)
  const [{ counts }] = await Promise.all([second.get(other.uuid), first.get(uuid)])
  expect([counts.waiting, looks <= 3]).toEqual([16, true])
  work.listRunning = listRunning
  held.open()
  await Promise.all([first.ended(uuid), second.ended(other.uuid)])
  const order = bench.fake.requests.slice(calls).map(({ body }) => /Live: (a|b)/.exec(JSON.stringify(body))?.[1])
  expect(order.slice(0, 8)).toEqual(Array(8).fill('a'))
  expect(order.slice(8, 16).filter((letter) => letter === 'b').length).toBeGreaterThanOrEqual(3)
  bench.fake.setDefault({ text: 'Hello' })
})

it('fails after ten external failures in a row', async () => {
  const { bench: own } = await ownProject([...'abcdefghijklmnopqrst'])
  const calls = bench.fake.requests.length
  bench.fake.setDefault({ status: 500 })
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 2 })
  expect(await own.ended(uuid)).toMatchObject({ state: 'failed', reason: 'provider' })
  expect(bench.fake.requests.length - calls).toBeLessThanOrEqual(12)
  bench.fake.setDefault({ text: 'Hello' })
})

it('repeats an item once after a rate limit, and not before 30 seconds', async () => {
  const { bench: own } = await ownProject(['a'])
  bench.fake.enqueue({ status: 429 }, { status: 429 })
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }] })
  const { session } = bench.server.database
  const endedEarlier = () =>
    session.query(
      `UPDATE run SET ended_at = ended_at - interval '31 seconds'
       WHERE error_code = 'rate_limit_error' AND ended_at > now() - interval '30 seconds'`,
    )
  const item = async () => (await own.rows(uuid))[0]?.items[0]
  await expect.poll(item).toMatchObject({ state: 'waiting', code: 'rate_limit_error', attempt: 1 })
  bench.server.deps.experiments.loop.wake()
  expect(await own.get(uuid)).toMatchObject({ state: 'running', counts: { waiting: 1 } })
  await endedEarlier()
  bench.server.deps.experiments.loop.wake()
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed', counts: { failed: 1 } })
  expect(await item()).toMatchObject({ state: 'failed', code: 'rate_limit_error', attempt: 2 })
})

it('stops when its API key is revoked', async () => {
  const { bench: own } = await ownProject(['a', 'b'])
  const issued = await expectOk(
    bench.api('POST', '/api-keys', { body: { name: 'short', scopes: ['run', 'read'] } }),
    201,
  )
  const runner = apiCaller(bench.server.url, String(issued.body['key']))
  const calls = bench.fake.requests.length
  bench.fake.enqueue({ deltas: ['half'], hang: 'mid-stream' })
  const body = { path: 'greet', arms: [{ versionUuid: 'live' }], concurrency: 1 }
  const started = await expectOk(runner('POST', `/projects/${own.projectId}/experiments`, { body }), 201)
  await bench.fake.waitForRequest(calls + 1)
  await expectOk(bench.api('DELETE', `/api-keys/${String(issued.body['id'])}`))
  bench.server.deps.experiments.loop.wake()
  expect(await own.ended(String(started.body['uuid']))).toMatchObject({ state: 'stopped', reason: 'key' })
})

it('takes scores of code, filters rows by them, and scores answers again when only the expected value changes', async () => {
  const { bench: own, uuids } = await ownProject(['a', 'b'], { expected: 'Hello' })
  bench.fake.setDefault({ text: 'Hello' })
  const older = await own.created()
  await own.ended(older.uuid)
  const { uuid } = await own.created()
  const done = await own.ended(uuid)
  expect(done.evaluations.map(({ name, type }) => [name, type])).toEqual([['Checks', 'rule']])
  const [first, second] = await own.rows(uuid)
  expect([first, second].flatMap((row) => row?.items.map(({ scores }) => scores[0]?.passed))).toEqual(
    Array(4).fill(true),
  )
  const scores = [
    { itemUuid: first?.items[0]?.uuid, evaluation: 'a.eval.ts:short', passed: true },
    { itemUuid: first?.items[1]?.uuid, evaluation: 'a.eval.ts:short', passed: false, score: 0.2, reason: 'long' },
    { itemUuid: second?.items[1]?.uuid, evaluation: 'a.eval.ts:short', passed: null },
  ]
  const added = await expectOk(bench.api('POST', `/experiments/${uuid}/scores`, { body: { scores } }))
  expect(added.body).toEqual({ added: 3 })
  const code = (await own.get(uuid)).evaluations.find(({ type }) => type === 'code')
  const named = async (filter: string) =>
    (await own.rows(uuid, `?filter=${filter}&evaluationUuid=${code?.uuid ?? ''}`)).map(({ name }) => name)
  // Comparing all answers takes long, so only the filter that shows differences does it.
  const { experiments } = bench.server.deps.stores
  const { listPositions } = experiments
  const compared: (number | null)[] = []
  experiments.listPositions = (workspaceId, experimentUuid, arm) => {
    compared.push(arm)
    return listPositions(workspaceId, experimentUuid, arm)
  }
  expect([await named('broke'), await named('fixed'), await named('unscored')]).toEqual([['a'], [], ['b']])
  expect([(await own.rows(uuid)).length, await named('differs'), compared]).toEqual([
    2,
    [],
    [null, null, null, null, 1],
  ])
  experiments.listPositions = listPositions
  const calls = bench.fake.requests.length
  await expectOk(bench.api('PUT', `/projects/${own.projectId}/examples/${uuids[0]}`, { body: { expected: 'Bye' } }))
  const passed = async () =>
    (await own.rows(uuid)).map(({ items }) =>
      items.map(({ scores: all }) => all.find(({ evaluationUuid }) => evaluationUuid !== code?.uuid)?.passed),
    )
  await expect.poll(passed).toEqual([
    [false, false],
    [true, true],
  ])
  expect(bench.fake.requests).toHaveLength(calls)
  // The scores of the earlier expectation count nowhere, and an older experiment is not scored again by itself.
  const kept = (await own.rows(older.uuid)).map(({ items }) => items.map(({ scores: all }) => all.length))
  expect(kept).toEqual([
    [0, 0],
    [1, 1],
  ])
})

it('counts an ended row once, and scores it again after an edit while the others run', async () => {
  const { bench: own, uuids } = await ownProject(['a', 'b', 'c'], { expected: 'Hello' })
  const { work } = bench.server.deps.experiments
  const { progress } = work
  const counted: number[] = []
  work.progress = (uuid, range) => {
    counted.push(range.from)
    return progress(uuid, range)
  }
  const held = gate()
  const calls = bench.fake.requests.length
  bench.fake.enqueue({ text: 'Hello' }, { gate: held.opened, text: 'Hello' }, { text: 'Hello' })
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], concurrency: 1 })
  await bench.fake.waitForRequest(calls + 2)
  const passed = async () => (await own.rows(uuid)).map(({ items: [item] }) => item?.scores[0]?.passed ?? null)
  await expect.poll(passed).toEqual([true, null, null])
  bench.server.deps.experiments.loop.wake()
  await expect.poll(() => counted.at(-1)).toBe(1)
  await expectOk(bench.api('PUT', `/projects/${own.projectId}/examples/${uuids[0]}`, { body: { expected: 'Bye' } }))
  bench.server.deps.experiments.loop.wake()
  await expect.poll(passed).toEqual([false, null, null])
  held.open()
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed', counts: { total: 3, ended: 3, failed: 0 } })
  expect(await passed()).toEqual([false, true, true])
  work.progress = progress
})

it('does not complete before the scores that an edit in its last moment has dropped, nor hangs on a start that was not noted', async () => {
  const { bench: own, uuids } = await ownProject(['a'], { expected: 'Hello' })
  const row = `/projects/${own.projectId}/examples/${uuids[0]}`
  const { session } = bench.server.database
  const { work } = bench.server.deps.experiments
  const { finish } = work
  work.finish = async (...args) => {
    work.finish = finish
    await expectOk(bench.api('PUT', row, { body: { expected: 'Bye' } }))
    await session.query('UPDATE experiment_item SET started_at = NULL WHERE example_uuid = $1', [uuids[0]])
    return finish(...args)
  }
  const { uuid } = await own.created()
  expect(await own.ended(uuid)).toMatchObject({ state: 'completed' })
  expect((await own.rows(uuid))[0]?.items.map(({ scores }) => scores[0]?.passed)).toEqual([false, false])
})

it('drops the messages of old experiments, and keeps figures and scores', async () => {
  const { bench: own } = await ownProject(['a'], { expected: 'Hello' })
  bench.fake.setDefault({ text: 'Hello' })
  const { uuid } = await own.created()
  const before = await own.ended(uuid)
  const [shown] = await own.rows(uuid)
  const { session } = bench.server.database
  await session.query(`UPDATE experiment SET finished_at = finished_at - interval '91 days' WHERE uuid = $1`, [uuid])
  expect(await applyExperimentRetention(bench.server.deps, AbortSignal.timeout(60_000))).toBe(1)
  const [row] = await own.rows(uuid)
  expect(row?.items).toEqual(shown?.items.map((item) => ({ ...item, answer: null, isAnswerDropped: true })))
  expect(await own.get(uuid)).toEqual({ ...before, finishedAt: expect.any(String) })
  // An answer that was dropped before it was scored is given again.
  const first = shown?.items[0]
  await session.query(`DELETE FROM annotation WHERE conversation_uuid = $1`, [first?.conversationUuid])
  // The process that stored the run may have died before it noted the start. The cost still counts.
  const unnoted = 'UPDATE experiment_item SET started_at = NULL WHERE conversation_uuid = $1'
  await session.query(unnoted, [first?.conversationUuid])
  await expectOk(bench.api('POST', `/experiments/${uuid}/resume`, { body: {} }))
  expect((await own.ended(uuid)).costUsd).toBeCloseTo(before.costUsd * 1.5, 9)
  const again = (await own.rows(uuid))[0]?.items ?? []
  expect(again.map(({ attempt, scores, isAnswerDropped }) => [attempt, scores[0]?.passed, isAnswerDropped])).toEqual([
    [2, true, false],
    ...again.slice(1).map(() => [1, true, true]),
  ])
  const conversationUuid = row?.items[0]?.conversationUuid
  // The process remembers the conversation for a minute.
  const stored = await session.query('SELECT messages::text AS text FROM conversation WHERE uuid = $1', [
    conversationUuid,
  ])
  expect(stored.rows).toEqual([{ text: '[]' }])
  expect((await bench.api('GET', `/runs/${conversationUuid}`)).body).toMatchObject({ parameters: null, spans: [] })
  expect(await applyExperimentRetention(bench.server.deps, AbortSignal.timeout(60_000))).toBe(0)
})

it('counts what every judge costs, and deletions, retention and erasures reach its conversation', async () => {
  const { bench: own } = await ownProject([])
  const judge = await addJudge(own)
  const usage = { prompt_tokens: 1_000, completion_tokens: 0, total_tokens: 1_000 }
  bench.fake.setDefault(({ body }) => {
    const isJudge = JSON.stringify(body['messages']).includes('Judge')
    return { text: isJudge ? '{"passed": true, "reason": "kind"}' : 'Hello', usage }
  })
  const { projectId } = own
  const asked = { path: 'greet', parameters: { name: 'Ada' }, customIdentifier: 'customer-7' }
  const answered = await expectOk(bench.api('POST', `${own.live}/documents/run`, { body: asked }))
  const run = await expectOk(bench.api('GET', `/runs/${String(answered.body['uuid'])}`))
  const saved = { runs: [run.body['uuid']] }
  await expectOk(bench.api('POST', `/projects/${projectId}/examples/from-runs`, { body: saved }))
  const calls = bench.fake.requests.length
  const { uuid } = await own.created({ evaluations: [judge] })
  await own.ended(uuid)
  const [row] = await own.rows(uuid)
  const each = row?.items[0]?.costUsd ?? 0
  const spent = async () => (await own.get(uuid)).costUsd / each
  expect(await spent()).toBeCloseTo(bench.fake.requests.length - calls, 6)
  const example = `/projects/${projectId}/examples/${row?.exampleUuid}`
  await expectOk(bench.api('PUT', example, { body: { expected: 'Bye' } }))
  await own.ended(uuid)
  expect(bench.fake.requests.length - calls).toBe(6)
  expect(await spent()).toBeCloseTo(6, 6)

  const { session } = bench.server.database
  const left = async (where = 'true') => {
    const sql = `SELECT via FROM conversation WHERE project_id = $1 AND ${where} ORDER BY via`
    return (await session.query(sql, [projectId])).rows.map(({ via }) => via)
  }
  const all = ['api', 'experiment', 'experiment', ...Array(4).fill('judge')]
  expect(await left("custom_identifier = 'customer-7'")).toEqual(all)
  await session.query(`UPDATE experiment SET finished_at = finished_at - interval '91 days' WHERE uuid = $1`, [uuid])
  expect(await applyExperimentRetention(bench.server.deps, AbortSignal.timeout(60_000))).toBe(1)
  expect(await left("messages::text <> '[]'")).toEqual(['api'])
  await expectOk(bench.api('DELETE', `/conversations/${row?.items[0]?.conversationUuid}`))
  await expect.poll(() => left()).toEqual(['api', 'experiment', 'judge', 'judge'])
  const erased = await expectOk(bench.api('DELETE', '/conversations?customIdentifier=customer-7'))
  expect(erased.body).toEqual({ deleted: 4, active: 0 })
  await expect.poll(() => left()).toEqual([])
  bench.fake.setDefault({ text: 'Hello' })
})

it('keeps a deleted answer until its judge has ended, also that of an earlier attempt, and then deletes both', async () => {
  const { bench: own } = await ownProject(['a'])
  const evaluations = [await addJudge(own)]
  const held = gate()
  bench.fake.setDefault(({ body }) => {
    const isJudge = JSON.stringify(body['messages']).includes('Judge')
    return isJudge ? { gate: held.opened, text: '{"passed": true, "reason": "kind"}' } : { text: 'Hello' }
  })
  const calls = bench.fake.requests.length
  const { uuid } = await own.created({ arms: [{ versionUuid: 'live' }], evaluations })
  await bench.fake.waitForRequest(calls + 2)
  const answer = (await own.rows(uuid))[0]?.items[0]?.conversationUuid
  const { database, deps } = bench.server
  const { rows } = await database.session.query(
    `UPDATE experiment_item SET other_uuids = other_uuids || conversation_uuid, conversation_uuid = gen_random_uuid()
     WHERE conversation_uuid = $1 RETURNING other_uuids[1]::text AS judge`,
    [answer],
  )
  await expectOk(bench.api('DELETE', `/conversations/${answer}`))
  expect((await deps.deletions.store.listHidden()).uuids).not.toContain(answer)
  held.open()
  const judge = `/conversations/${String(rows[0]?.['judge'])}`
  await expect.poll(async () => (await bench.api('GET', judge)).body['status']).toBe('completed')
  const left = async () => {
    deps.deletions.work.wake()
    return (await database.session.query('SELECT via FROM conversation WHERE project_id = $1', [own.projectId])).rows
  }
  await expect.poll(left).toEqual([])
  expect((await bench.api('GET', judge)).status).toBe(404)
  bench.fake.setDefault({ text: 'Hello' })
})

it('keeps to the limits of evaluations and of running experiments when requests come at once', async () => {
  const { bench: own } = await ownProject(['a'])
  const { projectId } = own
  const { session } = bench.server.database
  const { work } = bench.server.deps.experiments
  const { listRunning } = work
  work.listRunning = async () => []
  await own.created()
  await session.query(
    `INSERT INTO evaluation (uuid, workspace_id, project_id, name, metric, configuration, created_at, updated_at)
     SELECT gen_random_uuid(), workspace_id, id, 'many', 'binary', '{}', now(), now()
     FROM project, generate_series(1, $2::int - (SELECT count(*)::int FROM evaluation WHERE project_id = $1)) WHERE id = $1`,
    [projectId, LIMITS.evaluations - 2],
  )
  const columns = await session.query(
    `SELECT string_agg(quote_ident(column_name), ', ') AS names FROM information_schema.columns
     WHERE table_name = 'experiment' AND column_name NOT IN ('id', 'uuid', 'content_key')`,
  )
  const names = String(columns.rows[0]?.['names'])
  await session.query(
    `INSERT INTO experiment (uuid, content_key, ${names}) SELECT gen_random_uuid(), n::text, ${names}
     FROM (SELECT * FROM experiment WHERE project_id = $1 AND state = 'running' LIMIT 1) e,
       generate_series(1, $2::int - (SELECT count(*)::int FROM experiment WHERE state = 'running')) n`,
    [projectId, EXPERIMENT_LIMITS.running - 2],
  )
  const atOnce = [2, 3, 4, 5]
  const statuses = async (ask: (at: number) => Promise<{ status: number }>) =>
    (await Promise.all(atOnce.map(ask))).map(({ status }) => status).sort()
  const evaluation = (at: number) => ({ projectId, name: `at once ${at}`, metric: 'binary' })
  const answers = [
    await statuses((at) => bench.api('POST', '/evaluations', { body: evaluation(at) })),
    await statuses((trials) => own.start({ trials })),
  ]
  await session.query(`UPDATE experiment SET state = 'stopped', finished_at = now() WHERE project_id = $1`, [projectId])
  work.listRunning = listRunning
  expect(answers).toEqual(Array(2).fill([201, 201, 409, 409]))
})

async function addJudge({ projectId, draft }: Pick<ExperimentBench, 'projectId' | 'draft'>): Promise<string> {
  const schema =
    'schema: { type: object, properties: { passed: { type: boolean }, reason: { type: string } }, required: [passed, reason] }\n'
  const judgePrompt = { path: 'judge', prompt: prompt('Judge.<user>{{ answer }}{{ expected }}</user>', schema) }
  await expectOk(bench.api('POST', `${draft}/documents/create-or-update`, { body: judgePrompt }))
  const given = { projectId, name: 'Tone', type: 'judge', judge: 'judge', metric: 'binary' }
  return String((await expectOk(bench.api('POST', '/evaluations', { body: given }), 201)).body['uuid'])
}

async function ownProject(names: readonly string[], more: Record<string, unknown> = {}) {
  const own = await experimentProject(bench)
  return { bench: own, uuids: await own.addRows(names, more) }
}
