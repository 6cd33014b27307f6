/** Limits that no schema of the contract has: a value at the limit passes, a larger one gets its exact error. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { prompt, type RunBench, runBench } from '../runs/run-bench.ts'
import type { ApiAnswer } from './api-call.ts'
import { createTestProject, issueKey, type TestProject } from './scenario.ts'

let bench: RunBench
let project: TestProject

beforeAll(async () => {
  bench = await runBench({
    hello: prompt('<user>Hi</user>'),
    typed: prompt('<user>Hi</user>', 'parameters:\n  rows:\n    type: array\n'),
  })
  project = await createTestProject(bench.api, { hello: prompt('<user>Hi</user>') })
})
afterAll(() => bench.close())

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ApiAnswer> {
  return bench.api('POST', path, { body, headers })
}

const text = (length: number) => 'x'.repeat(length)
const list = <T>(length: number, entry: (place: number) => T) => Array.from({ length }, (_, place) => entry(place))
const objectOf = (bytes: number) => ({ k: text(bytes - '{"k":""}'.length) })
const run = (more: object) => post(`${bench.live}/documents/run`, { path: 'hello', ...more })
const update = async (body: object) => post(`${await project.newDraft()}/documents/create-or-update`, body)
const saveExample = async (more: object) => {
  const { body } = await bench.api('GET', `${project.live}/documents/hello`)
  const example = { documentUuid: body['uuid'], name: randomUUID(), parameters: {}, ...more }
  return post(`/projects/${project.id}/examples`, example)
}
interface Row {
  limit: string
  /** The largest accepted value. The test also sends `at + 1`. */
  at: number
  send(size: number): Promise<ApiAnswer>
  /** The status at the limit. Default: 200. */
  passes?: number
  /** The error above the limit. Default: 400 BadRequestError. */
  refuses?: { status: number; name: string; details?: object }
}

const rows: Row[] = [
  {
    limit: 'values of a body',
    at: 50_000,
    send: (size) => post('/projects', JSON.stringify({ name: 'values', x: list(size - 2, () => 1) })),
    passes: 201,
  },
  {
    limit: 'different keys of a body',
    at: 5_000,
    send: (size) =>
      post('/projects', JSON.stringify({ name: 'keys', x: list(size - 2, (place) => ({ [`key-${place}`]: 1 })) })),
    passes: 201,
  },
  {
    limit: 'values of a parameter that is JSON text',
    at: 50_000,
    send: (size) => run({ path: 'typed', parameters: { rows: JSON.stringify(list(size, () => 1)) } }),
    refuses: { status: 422, name: 'UnprocessableEntityError' },
  },
  {
    limit: 'depth of a parameter that is JSON text',
    at: 64,
    send: (size) => run({ path: 'typed', parameters: { rows: `${'['.repeat(size)}${']'.repeat(size)}` } }),
    refuses: { status: 422, name: 'UnprocessableEntityError' },
  },
  {
    limit: 'document path on write, bytes after normalization',
    at: 512,
    send: (size) => update({ path: `/e\u0301${text(size - 2)}/`, prompt: '' }),
  },
  {
    limit: 'examples per prompt',
    at: 1_000,
    send: async (size) => {
      const { uuid } = (await update({ path: `p${size}`, prompt: 'Hi' })).body
      const { uuid: first } = (await saveExample({ documentUuid: uuid })).body
      const columns = 'workspace_id, project_id, document_uuid, parameters, messages, author_id, created_at, updated_at'
      await bench.server.database.session.query(
        `INSERT INTO example (uuid, name, ${columns})
         SELECT gen_random_uuid(), n, ${columns} FROM example, generate_series(3, $2::int) n WHERE uuid = $1::uuid`,
        [first, size],
      )
      return saveExample({ documentUuid: uuid })
    },
    passes: 201,
    refuses: { status: 409, name: 'ConflictError', details: { limit: 1_000 } },
  },
  {
    limit: 'a tool result, bytes serialized',
    at: 262_144,
    send: (size) => post('/tools/results', { toolCallId: 'unknown', result: objectOf(size) }),
    passes: 404,
  },
]

describe.each(rows)('$limit: $at', ({ at, send, passes = 200, refuses = { status: 400, name: 'BadRequestError' } }) => {
  it('passes at the limit', async () => {
    const answer = await send(at)
    expect(answer.status, answer.text.slice(0, 500)).toBe(passes)
  })

  it(`is refused with ${refuses.status} above it`, async () => {
    const { status, body } = await send(at + 1)
    const { status: expected, name, ...details } = refuses
    expect({ status, body }).toMatchObject({ status: expected, body: { name, errorCode: name, ...details } })
    if (expected === 400) expect(body['reason']).not.toBe('malformed-json')
  })
})

describe('other limits', () => {
  it('keeps existing names with control characters readable', async () => {
    const { body } = await post('/projects', { name: 'old' })
    const { id } = body['project'] as { id: number }
    await bench.server.database.session.query(`UPDATE project SET name = E'a\\nb' WHERE id = ${id}`)
    const { status, body: list } = await bench.api('GET', '/projects')
    expect(status).toBe(200)
    expect(list).toContainEqual(expect.objectContaining({ id, name: 'a\nb' }))
    expect((await bench.api('PUT', `/projects/${id}`, { body: { defaultModel: 'm' } })).body).toMatchObject({
      name: 'a\nb',
    })
  })
})

describe('run limits', () => {
  it('have the documented defaults', () => {
    expect(readConfig({})).toMatchObject({
      bodyLimitBytes: 4_194_304,
      runTimeoutSeconds: 3_600,
      maxStreamsPerKey: 200,
      maxQueuedPerKey: 1_000,
      graceMs: 30_000,
    })
    expect(bench.server.deps.runs.settings).toMatchObject({
      maxEvents: 500_000,
      maxEventBytes: 33_554_432,
      toolWaitMs: 300_000,
    })
  })
})

describe('pricing plans', () => {
  const limits = { hobby: 10, team: 166, enterprise: 500 }

  it.each([...Object.entries(limits), ['custom', 77]] as const)(
    '%s allows %i requests per second',
    async (plan, limit) => {
      const key = await issueKey(bench.api, { plan, ...(plan === 'custom' && { limit }) })
      const { body } = await bench.api('GET', '/me', { key })
      expect(body).toMatchObject({ apiKey: { plan, limit }, rateLimit: { limit, windowSeconds: 1 } })
    },
  )

  it('sends rate-limit headers with every authenticated response, and no Retry-After below the limit', async () => {
    const key = await issueKey(bench.api, { scopes: ['run'], plan: 'custom', limit: 40 })
    const as = { authorization: `Bearer ${key}` }
    const streamed = await bench.post(`${bench.live}/documents/run`, { path: 'hello', stream: true }, as)
    await streamed.text()
    const answers = [
      await bench.api('GET', '/me', { key }),
      await bench.api('POST', `${bench.live}/documents/run`, { key, body: {} }),
      await bench.api('POST', '/projects', { key, body: { name: 'x' } }),
      await bench.api('GET', '/nowhere', { key }),
      await bench.api('PATCH', '/projects', { key }),
      await bench.api('GET', '/projects/x', { key }),
      streamed,
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 403, 404, 405, 405, 200])
    for (const { headers } of answers) {
      expect(headers.get('x-ratelimit-limit')).toBe('40')
      expect(headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/)
      expect(headers.get('x-ratelimit-reset')).toMatch(/^\d{13}$/)
      expect(headers.has('retry-after')).toBe(false)
    }
  })
})
