/** Runs the unmodified published client 5.1.0, configured only by its environment variables. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failureOf, openClientBench, sentDuring } from '../matrix/client-bench.ts'
import { clientMatrix } from '../matrix/client-matrix.ts'
import { surfaceOf } from '../matrix/surface.ts'
import { Log, Version } from '../matrix/wire.ts'
import { createVersion, evaluationTests, projectTests, versionTests } from '../typescript/projects-and-versions.ts'
import { promptTests } from '../typescript/prompts.ts'
import type { PublishedClass } from '../typescript/published-client.ts'
import type { ReadyClient } from '../typescript/ready.ts'
import { instrumentationTests, renderTests } from '../typescript/rendering.ts'
import { requestTests } from '../typescript/requests.ts'
import { chatTests, runTests } from '../typescript/runs.ts'
import { runTestsOf5 } from './runs.ts'
import { chatToolTests, runToolTests, toolBehaviours } from './tools.ts'

let opened: ReadyClient
const ready = () => opened

beforeAll(async () => {
  const bench = await openClientBench()
  // The client reads these on import, and treats any text in GATEWAY_SSL as true.
  process.env['GATEWAY_HOSTNAME'] = '127.0.0.1'
  process.env['GATEWAY_PORT'] = String(bench.front.port)
  process.env['GATEWAY_SSL'] = ''
  const Latitude = (await import('latitude-sdk-5')).Latitude as unknown as PublishedClass
  const another = (key: string, options: Record<string, unknown> = {}) =>
    new Latitude(key, { projectId: 1, ...options, __internal: { retryMs: 1, ...(options['__internal'] ?? {}) } })
  opened = { bench, Latitude, another, client: another(bench.key), declares: '5.1.0' }
})
afterAll(() => opened?.bench.close())

const matrix = clientMatrix('latitude-5', {
  client: 'TypeScript SDK (@latitude-data/sdk)',
  version: '5.1.0',
  as: 'the published package, unchanged',
})

promptTests(matrix, ready)
matrix.method('prompts.run', () => {
  runTests(ready)
  runTestsOf5(ready)
  runToolTests(ready)
})
matrix.method('prompts.chat', () => {
  chatTests(ready)
  chatToolTests(ready)
})
renderTests(matrix, ready)
versionTests(matrix, ready)
matrix.method('versions.create', () => {
  createVersion(ready)()

  test('without a name it rejects', async () => {
    expect(await failureOf(ready().client.versions.create(''))).toMatchObject({
      status: 400,
      errorCode: 'BadRequestError',
    })
  })
})
matrix.method('versions.getAll', () => {
  test('every version, drafts first', async () => {
    const { client, bench } = ready()
    const draft = await bench.newDraft()
    const { answer, lines } = await sentDuring(bench, () => client.versions.getAll(1))
    expect(lines).toEqual(['GET /api/v3/projects/1/versions'])
    const versions = Version.array().parse(answer)
    expect(versions[0]).toMatchObject({ uuid: draft, status: 'draft' })
    expect(versions.at(-1)).toMatchObject({ uuid: bench.liveUuid, status: 'merged', version: 1, isLive: true })
  })

  test('an unknown project rejects', async () => {
    expect(await failureOf(ready().client.versions.getAll(999_999))).toMatchObject({ status: 404 })
  })
})
projectTests(matrix, ready)
matrix.method('logs.create', () => {
  test('an execution made elsewhere, its text as a plain string', async () => {
    const { client, bench } = ready()
    const log = Log.parse(await client.logs.create('greet', [{ role: 'user', content: 'Hello' }], { response: 'Hi!' }))
    expect((await bench.server.client.conversations.get(log.uuid)).conversation).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hi!' }] },
    ])
  })

  test('an unknown prompt rejects', async () => {
    const failure = await failureOf(ready().client.logs.create('nowhere', []))
    expect(failure).toMatchObject({ status: 404, serverResponse: expect.stringContaining('nowhere') })
  })
})
evaluationTests(matrix, ready)
instrumentationTests(matrix, ready)
toolBehaviours(matrix, ready)

matrix.behaviour(
  'server address',
  () => {
    test('by its constructor', async () => {
      const { bench, another } = ready()
      const gateway = { host: 'localhost', port: bench.front.port, ssl: false }
      const client = another(bench.key, { __internal: { gateway } })
      const { lines } = await sentDuring(bench, () => client.prompts.get('greet'))
      expect(lines).toHaveLength(1)
    })

    test('by its environment, which every other call of this suite uses', async () => {
      const { bench, client } = ready()
      expect((await sentDuring(bench, () => client.prompts.get('greet'))).lines).toHaveLength(1)
    })
  },
  'For plain HTTP, set GATEWAY_SSL to an empty string. Any other value, even `false`, means HTTPS.',
)
requestTests(matrix, ready)

describe('the surface', () => {
  test('rendering uses parts that no namespace shows', () => {
    expect(surfaceOf(opened.client).inner).toEqual([
      'wrapMethods',
      'renderCompletion',
      'renderStep',
      'renderChain',
      'renderTool',
      'handleToolRequests',
    ])
  })
})

matrix.close(() => surfaceOf(opened.client).methods)
