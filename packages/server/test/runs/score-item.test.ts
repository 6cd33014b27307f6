/** Automatic scores of answers, judges that run in the background, their agreement with people, and the queue of labels. */
import { randomUUID } from 'node:crypto'
import type * as wire from '@stet/contract/vocabulary'
import type { Check } from '@stet/contract/vocabulary'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ensureChecks } from '../../src/features/evaluations/built-in.ts'
import type { Judge } from '../../src/features/evaluations/judge/judge.ts'
import { findJudgePrompt } from '../../src/features/evaluations/judge/judge-prompt.ts'
import { judgeText } from '../../src/features/evaluations/judge/judge-run.ts'
import { type ScoredRow, scoreItem } from '../../src/features/evaluations/score-item.ts'
import { apiCaller } from '../http/api-call.ts'
import { issueKey } from '../http/scenario.ts'
import type { FakeReplyFor } from '../support/fake-provider.ts'
import { caller, prompt, type RunBench, sharedBench } from './run-bench.ts'

const schema =
  'schema: { type: object, properties: { passed: { type: boolean }, reason: { type: string } }, required: [passed, reason] }\n'
const once = 'maxRetries: 0\n'

let bench: RunBench
let projectId: number
let checksUuid: string
beforeAll(async () => {
  bench = await sharedBench({
    answer: prompt('<user>{{ ticket }}</user>', `${once}maxSteps: 1\n`),
    object: prompt('<user>Rate</user>', `${once}schema: { type: object, properties: { level: { type: integer } } }\n`),
    tools: prompt('<user>Look</user>', `${once}tools:\n  - look_up: { description: x }\n`),
    judge: prompt('Judge.<user>{{ input }} {{ expected }} {{ answer }}</user>', once + schema),
    unchecked: prompt('<user>{{ answer }}</user>', `${once}${schema}validate: false\n`),
    strict: prompt(
      '<user>{{ answer }}</user>',
      `${once}${schema}parameters: { tone: { type: text, required: true } }\n`,
    ),
  })
  projectId = Number(bench.live.split('/')[2])
  checksUuid = await ensureChecks(bench.server.deps.stores, { workspaceId: 1, projectId, at: new Date() })
})
afterAll(() => bench.close())
afterEach(() => bench.fake.clear())

async function answerTo(reply: FakeReplyFor, path = 'answer'): Promise<string> {
  bench.fake.enqueue(reply)
  const body = path === 'answer' ? { parameters: { ticket: 'Where is it?' } } : {}
  return String((await bench.run(path, { ...body })).headers.get('x-conversation-uuid'))
}

const row = (more: Partial<ScoredRow> = {}): ScoredRow => ({
  ...{ expected: null, checks: [], parameters: { ticket: 'Where is it?' }, messages: [], ...more },
})

interface Scoring {
  evaluationUuids?: string[]
  judges?: Judge[]
  now?: Date
  mayAskJudges?: boolean
}

/** Returns true if the answer has all of its scores. */
async function score(conversationUuid: string, scored: ScoredRow, given: Scoring = {}) {
  const { evaluationUuids, judges = [], now, mayAskJudges = true } = given
  const { deps } = bench.server
  const { state } = await scoreItem(now ? { ...deps, clock: { ...deps.clock, now: () => now } } : deps, {
    ...{ workspaceId: 1, projectId, conversationUuid, row: scored, judges, mayAskJudges },
    evaluationUuids: evaluationUuids ?? [checksUuid],
  })
  return state === 'complete'
}

async function scoresOf(conversationUuid: string): Promise<wire.ListedAnnotation[]> {
  const { body } = await bench.api('GET', `/conversations/${conversationUuid}/annotations?states=all`)
  return body as unknown as wire.ListedAnnotation[]
}

async function evaluation(body: Record<string, unknown>): Promise<string> {
  const answer = await bench.api('POST', '/evaluations', { body: { projectId, name: randomUUID(), ...body } })
  expect(answer.status, answer.text).toBe(201)
  return String(answer.body['uuid'])
}

const label = (conversationUuid: string, evaluationUuid: string, value: number) =>
  bench.api('POST', `/conversations/${conversationUuid}/evaluations/${evaluationUuid}/annotate`, {
    body: { score: value, metadata: { reason: 'mine' } },
  })

const contains = (text: string): Check => ({ type: 'contains', all: [text] })

describe('checks', () => {
  it('score an answer once, however often they are repeated and by how many at once', async () => {
    const uuid = await answerTo({ text: 'We refund it' })
    const rule = await evaluation({ type: 'rule', checks: [contains('order')] })
    const all = { evaluationUuids: [checksUuid, rule, await evaluation({}), randomUUID()] }
    const scored = row({ checks: [contains('refund')] })
    expect(await Promise.all([1, 2, 3].map(() => score(uuid, scored, all)))).toEqual([true, true, true])
    expect(await score(uuid, scored, all)).toBe(true)
    const found = await scoresOf(uuid)
    expect(found.length).toBe(2)
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          evaluationUuid: checksUuid,
          hasPassed: true,
          score: 1,
          source: 'rule',
          metadata: {},
        }),
        expect.objectContaining({
          ...{ evaluationUuid: rule, hasPassed: false, normalizedScore: 0, error: null },
          metadata: { reason: 'does not contain "order"' },
        }),
      ]),
    )
  })

  it('are scored again after an edit, back and forth, without a model call', async () => {
    const uuid = await answerTo({ text: 'We refund it' })
    const calls = bench.fake.requests.length
    const edits: [Partial<ScoredRow>, boolean | null][] = [
      [{ expected: 'We refund it' }, true],
      [{ expected: 'No' }, false],
      [{ expected: 'We refund it' }, true],
      [{ checks: [contains('refund'), contains('no')] }, false],
      [{}, null],
    ]
    for (const [edit, hasPassed] of edits) {
      expect(await score(uuid, row(edit))).toBe(true)
      expect(await scoresOf(uuid)).toMatchObject([{ hasPassed }])
    }
    expect(await scoresOf(uuid)).toMatchObject([{ state: 'unscored', error: 'no-expected', score: null }])
    expect(bench.fake.requests.length).toBe(calls)
  })

  it('leave the expected value to a rule that reads it', async () => {
    const uuid = await answerTo({ text: 'We refund it' })
    const [reads, other] = [
      await evaluation({ type: 'rule', checks: [{ type: 'contains' }] }),
      await evaluation({ type: 'rule', checks: [contains('refund')] }),
    ]
    const resultsWith = async (rule: string) => {
      await score(uuid, row({ expected: 'refund' }), { evaluationUuids: [checksUuid, rule] })
      const found = new Map((await scoresOf(uuid)).map((one) => [one.evaluationUuid, one.hasPassed]))
      return [found.get(checksUuid), found.get(rule)]
    }
    expect(await resultsWith(other)).toEqual([false, true])
    expect(await resultsWith(reads)).toEqual([null, true])
  })

  it('read the object, the cost and the duration of a run', async () => {
    const uuid = await answerTo({ text: '{"level":3}' }, 'object')
    const fits: Check[] = [
      { type: 'exact', field: '/level', value: 3 },
      { type: 'latency', max: 600_000 },
    ]
    await score(uuid, row({ checks: [...fits, { type: 'cost', max: 1 }, { type: 'regex', pattern: 'level' }] }))
    expect(await scoresOf(uuid)).toMatchObject([{ error: null, hasPassed: true }])
  })

  it.each<[string, FakeReplyFor, string, Partial<wire.ListedAnnotation>]>([
    ['its own failure', { text: 'no JSON' }, 'object', { hasPassed: false, error: null }],
    ['a refused request', { status: 400 }, 'answer', { hasPassed: false }],
    ['a refused key', { status: 401 }, 'answer', { hasPassed: null, error: 'ai_run_error' }],
    ['a rate limit', { status: 429 }, 'answer', { hasPassed: null, error: 'rate_limit_error' }],
    ['a failed provider', { status: 500 }, 'answer', { hasPassed: null, error: 'ai_run_error' }],
    [
      'an open tool call',
      { toolCalls: [{ name: 'look_up', args: {} }] } as never,
      'tools',
      { error: 'open-tool-call' },
    ],
  ])('after %s', async (_name, reply, path, expected) => {
    const uuid = await answerTo(reply, path)
    await score(uuid, row({ checks: [contains('x')] }))
    expect(await scoresOf(uuid)).toMatchObject([expected])
  })

  it('wait for the end of a run, and leave deleted conversations and other projects alone', async () => {
    const elsewhere = {
      workspaceId: 1,
      projectId: projectId + 1,
      row: row(),
      evaluationUuids: [checksUuid],
      judges: [],
    }
    const uuid = await answerTo({ text: 'x' })
    expect(await scoreItem(bench.server.deps, { ...elsewhere, conversationUuid: uuid })).toEqual({
      ...{ state: 'complete', hasStored: false },
    })
    expect(await scoresOf(uuid)).toEqual([])
    await bench.api('DELETE', `/conversations/${uuid}`)
    expect(await score(uuid, row({ expected: 'x' }))).toBe(true)
    bench.fake.enqueue({ text: 'x', delayMs: 200 } as never)
    const running = await bench.background('answer', { parameters: { ticket: 'x' } })
    expect(await score(running, row({ expected: 'x' }))).toBe(false)
    await expect.poll(() => score(running, row({ expected: 'x' }))).toBe(true)
  })
})

it('leaves unscored annotations out of the list, unless they are asked for', async () => {
  const uuid = await answerTo({ text: 'x' })
  await score(uuid, row())
  expect((await bench.api('GET', `/conversations/${uuid}/annotations`)).body).toEqual([])
  expect(await scoresOf(uuid)).toMatchObject([{ state: 'unscored' }])
})

it("a person's label outranks automatic scores, also later ones", async () => {
  const uuid = await answerTo({ text: 'x' })
  await score(uuid, row({ expected: 'x' }))
  expect((await label(uuid, checksUuid, 0)).status).toBe(201)
  await score(uuid, row({ expected: 'y' }))
  const { deps } = bench.server
  const other = await answerTo({ text: 'x' })
  await score(other, row())
  expect(await deps.stores.scores.list(1, [uuid, other], [checksUuid])).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        conversationUuid: uuid,
        label: expect.objectContaining({ hasPassed: false, author: expect.objectContaining({ name: 'test' }) }),
        auto: { hasPassed: false, code: null },
      }),
      expect.objectContaining({ conversationUuid: other, label: null, auto: { hasPassed: null, code: 'no-expected' } }),
    ]),
  )
  expect(await deps.stores.scores.list(2, [uuid], [checksUuid])).toEqual([])
})

it("a removed label lets the automatic score count again, and leaves other people's labels", async () => {
  const uuid = await answerTo({ text: 'x' })
  await score(uuid, row({ expected: 'x' }))
  const path = `/conversations/${uuid}/evaluations/${checksUuid}`
  const ben = apiCaller(bench.server.url, await issueKey(bench.api, { name: 'Ben', scopes: ['run'] }))
  await ben('POST', `${path}/annotate`, { body: { score: 1 } })
  await label(uuid, checksUuid, 1)
  await label(uuid, checksUuid, 0)
  const counting = async () => {
    const [found] = await bench.server.deps.stores.scores.list(1, [uuid], [checksUuid])
    return found?.label ? [found.label.author?.name, found.label.hasPassed] : found?.auto?.hasPassed
  }
  expect(await counting()).toEqual(['test', false])
  expect((await bench.api('DELETE', `${path}/label`)).body).toEqual({ deleted: 2 })
  expect(await counting()).toEqual(['Ben', true])
  expect((await bench.api('DELETE', `${path}/label`)).body).toEqual({ deleted: 0 })
  expect((await ben('DELETE', `${path}/label`)).body).toEqual({ deleted: 1 })
  expect(await counting()).toBe(true)
})

async function newJudge(path = 'judge', fingerprint = 'first'): Promise<Judge> {
  const evaluationUuid = await evaluation({ type: 'judge', judge: path })
  const found = await findJudgePrompt(bench.server.deps, { caller, projectId, judge: path })
  return { evaluationUuid, fingerprint, documentUuid: found.text.documentUuid, text: judgeText(found) }
}

/** Scores the answer until the judge has given its verdict. */
async function judged(uuid: string, judge: Judge, reply: FakeReplyFor, more: Scoring & { row?: ScoredRow } = {}) {
  const { row: scored = row({ expected: 'Tomorrow' }), ...scoring } = more
  const given = { evaluationUuids: [judge.evaluationUuid], judges: [judge], ...scoring }
  bench.fake.enqueue(reply)
  await expect.poll(() => score(uuid, scored, given)).toBe(true)
  bench.fake.clear()
  const found = await scoresOf(uuid)
  return found.find(({ evaluationUuid, source }) => evaluationUuid === judge.evaluationUuid && source === 'judge')
}

const verdict = (passed: boolean): FakeReplyFor => ({ text: JSON.stringify({ passed, reason: 'because' }) })

describe('a judge', () => {
  it('reads the inputs, what is expected and the answer, once', async () => {
    const uuid = await answerTo({ text: 'On {{ its }} way' })
    const judge = await newJudge()
    const calls = bench.fake.requests.length
    expect(await judged(uuid, judge, verdict(true))).toMatchObject({
      ...{ hasPassed: true, source: 'judge', metadata: { fingerprint: 'first', reason: 'because' } },
      judgeConversationUuid: expect.any(String),
    })
    expect(bench.fake.requests.length).toBe(calls + 1)
    const sent = JSON.stringify(bench.fake.requests.at(-1)?.body['messages'])
    for (const text of ['Where is it?', 'Tomorrow', 'On {{ its }} way']) expect(sent).toContain(text)
    // Back to an earlier text: its verdict is read from its run.
    expect(await judged(uuid, judge, verdict(false), { row: row({ expected: 'Never' }) })).toMatchObject({
      hasPassed: false,
    })
    expect(await judged(uuid, judge, { reset: true })).toMatchObject({ hasPassed: true })
    expect(bench.fake.requests.length).toBe(calls + 2)
    const run = (await scoresOf(uuid))[0]?.judgeConversationUuid
    expect((await bench.api('GET', `/conversations/${run}`)).body).toMatchObject({ via: 'judge', origin: 'background' })
  })

  it.each<[string, string, FakeReplyFor, string]>([
    ['is down', 'judge', { status: 500 }, 'ai_run_error'],
    ['answers text', 'judge', { text: 'It passes.' }, 'judge-format'],
    ['answers another type', 'judge', { text: '{"passed":"yes","reason":"x"}' }, 'judge-format'],
    ['answers another type unchecked', 'unchecked', { text: '{"passed":"yes"}' }, 'judge-format'],
    ['refuses', 'judge', { text: 'I cannot', finishReason: 'content_filter' } as never, 'judge-format'],
    ['needs another input', 'strict', { reset: true }, 'judge-input'],
  ])('that %s leaves the answer unscored', async (_name, path, reply, error) => {
    const uuid = await answerTo({ text: 'x' })
    expect(await judged(uuid, await newJudge(path), reply)).toMatchObject({ hasPassed: null, state: 'unscored', error })
  })

  it('does not start once the budget is spent', async () => {
    const uuid = await answerTo({ text: 'x' })
    const judge = await newJudge()
    const calls = bench.fake.requests.length
    const given = { evaluationUuids: [checksUuid, judge.evaluationUuid], judges: [judge] }
    const facts = { workspaceId: 1, projectId, conversationUuid: uuid, row: row(), mayAskJudges: false }
    const look = () => scoreItem(bench.server.deps, { ...facts, ...given })
    expect(await look()).toEqual({ state: 'left', hasStored: true })
    expect(await look()).toEqual({ state: 'left', hasStored: false })
    expect(bench.fake.requests).toHaveLength(calls)
  })

  it('does not start for an answer that was deleted meanwhile', async () => {
    const conversationUuid = await answerTo({ text: 'x' })
    const judge = await newJudge()
    const calls = bench.fake.requests.length
    const { deps } = bench.server
    const scores = {
      ...deps.stores.scores,
      async noteJudge() {
        expect((await bench.api('DELETE', `/conversations/${conversationUuid}`)).status).toBe(200)
      },
    }
    const given = { evaluationUuids: [judge.evaluationUuid], judges: [judge], row: row() }
    const look = { ...deps, stores: { ...deps.stores, scores } }
    await scoreItem(look, { workspaceId: 1, projectId, conversationUuid, ...given })
    const { rows } = await bench.server.database.session.query(
      'SELECT uuid FROM conversation WHERE judged_uuid = $1::uuid',
      [conversationUuid],
    )
    expect([rows, bench.fake.requests.length]).toEqual([[], calls])
  })

  it('is asked again once, 30 s after a rate limit', async () => {
    const uuid = await answerTo({ text: 'x' })
    const judge = await newJudge()
    const given = { evaluationUuids: [judge.evaluationUuid], judges: [judge] }
    bench.fake.enqueue({ status: 429 })
    await score(uuid, row(), given)
    const calls = bench.fake.requests.length
    await expect.poll(() => bench.fake.requests.length).toBeGreaterThanOrEqual(calls)
    expect(await score(uuid, row(), given)).toBe(false)
    const now = new Date(Date.now() + 60_000)
    expect(await judged(uuid, judge, verdict(true), { row: row(), now })).toMatchObject({ hasPassed: true })
  })

  it.each<[string, FakeReplyFor, string, object]>([
    ["the prompt's own failure", { status: 400 }, 'answer', { hasPassed: false }],
    ['another failure', { status: 500 }, 'answer', { error: 'ai_run_error' }],
    [
      'an open tool call',
      { toolCalls: [{ name: 'look_up', args: {} }] } as never,
      'tools',
      { error: 'open-tool-call' },
    ],
  ])('is not asked after %s', async (_name, reply, path, expected) => {
    const uuid = await answerTo(reply, path)
    const calls = bench.fake.requests.length
    expect(await judged(uuid, await newJudge(), { reset: true })).toMatchObject(expected)
    expect(bench.fake.requests.length).toBe(calls)
  })

  it('is compared with the labels of people, for its text of now', async () => {
    const judge = await newJudge()
    const said: [person: number, judge: boolean][] = [
      [1, true],
      [1, false],
      [0, false],
      [0, false],
    ]
    const uuids: string[] = []
    for (const [person, passed] of said) {
      const uuid = await answerTo({ text: 'x' })
      await judged(uuid, judge, verdict(passed))
      await label(uuid, judge.evaluationUuid, 1 - person)
      await label(uuid, judge.evaluationUuid, person)
      uuids.push(uuid)
    }
    const agreement = async (query = '') =>
      (await bench.api<wire.Agreement>('GET', `/evaluations/${judge.evaluationUuid}/agreement${query}`)).body
    expect(await agreement('?judge=first')).toMatchObject({
      ...{ judge: 'first', isShown: false, beforeEdit: 0 },
      ...{ truePass: { labeled: 2, agreed: 1, rate: 0.5 }, trueFail: { labeled: 2, agreed: 2, rate: 1 } },
      disagreements: [
        {
          conversationUuid: uuids[1],
          label: { hasPassed: true, reason: 'mine', author: { name: 'test' } },
          verdict: { hasPassed: false, reason: 'because' },
        },
      ],
    })
    // The fingerprint of now is another one.
    expect(await agreement()).toMatchObject({
      judge: expect.stringMatching(/^[0-9a-f]{64}$/),
      truePass: { labeled: 0, rate: null },
    })
  })
})

describe('the queue', () => {
  it('lists ended conversations without a label, newest first, in pages', async () => {
    const uuids: string[] = []
    for (const text of ['1', '2', '3', '4']) uuids.push(await answerTo({ text }))
    const { documentUuid } = (await bench.api('GET', `/conversations/${uuids[0]}`)).body
    const mine = await evaluation({ documentUuid })
    await label(String(uuids[2]), mine, 1)
    await bench.api('PUT', `/conversations/${uuids[1]}`, { body: { tags: ['late'] } })
    const read = async (query = '') =>
      (await bench.api<wire.QueuePage>('GET', `/projects/${projectId}/queue?evaluation=${mine}${query}`)).body
    const first = await read('&limit=1')
    expect(first.items.map(({ uuid }) => uuid)).toEqual([uuids[3]])
    const second = await read(`&limit=2&cursor=${first.nextCursor}`)
    expect(second.items.map(({ uuid }) => uuid)).toEqual([uuids[1], uuids[0]])
    expect(await read('&tag=late')).toMatchObject({
      items: [{ uuid: uuids[1], path: 'answer', via: 'api' }],
      nextCursor: null,
    })
    expect(await read('&from=2999-01-01T00:00:00Z')).toEqual({ items: [], nextCursor: null })
    const invalid = await bench.api('GET', `/projects/${projectId}/queue?evaluation=${mine}&cursor=x`)
    expect(invalid.status).toBe(400)
    const all = await bench.api<wire.QueuePage>(
      'GET',
      `/projects/${projectId}/queue?evaluation=${checksUuid}&limit=100`,
    )
    expect(all.body.items.some(({ via }) => via === 'judge')).toBe(false)
  })
})
