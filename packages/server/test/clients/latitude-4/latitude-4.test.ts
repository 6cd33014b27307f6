/** Runs the unmodified published client 4.1.9. Its constructor sets the server address. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { failureOf, openClientBench, sentDuring } from '../matrix/client-bench.ts'
import { clientMatrix } from '../matrix/client-matrix.ts'
import { surfaceOf } from '../matrix/surface.ts'
import { ErrorBody } from '../matrix/wire.ts'
import { createVersion, evaluationTests, projectTests, versionTests } from '../typescript/projects-and-versions.ts'
import { promptTests } from '../typescript/prompts.ts'
import type { PublishedClass } from '../typescript/published-client.ts'
import type { ReadyClient } from '../typescript/ready.ts'
import { instrumentationTests, renderTests } from '../typescript/rendering.ts'
import { requestTests } from '../typescript/requests.ts'
import { chatTests, runTests } from '../typescript/runs.ts'
import { agentTests, chatToolTests, runToolTests } from './tools.ts'

let opened: ReadyClient
const ready = () => opened

beforeAll(async () => {
  const bench = await openClientBench()
  const Latitude = (await import('latitude-sdk-4')).Latitude as unknown as PublishedClass
  const gateway = { host: '127.0.0.1', port: bench.front.port, ssl: false }
  const another = (key: string, options: Record<string, unknown> = {}) =>
    new Latitude(key, { projectId: 1, ...options, __internal: { gateway, retryMs: 1 } })
  opened = { bench, Latitude, another, client: another(bench.key), declares: undefined }
})
afterAll(() => opened?.bench.close())

const matrix = clientMatrix('latitude-4', {
  client: 'TypeScript SDK (@latitude-data/sdk)',
  version: '4.1.9',
  as: 'the published package, unchanged',
})

promptTests(matrix, ready)
matrix.method('prompts.run', () => {
  runTests(ready)
  runToolTests(ready)
})
matrix.method('prompts.chat', () => {
  chatTests(ready)
  chatToolTests(ready)
})
renderTests(matrix, ready)
agentTests(matrix, ready)
versionTests(matrix, ready)
matrix.method(
  'versions.create',
  () => {
    createVersion(ready)()

    test('without a name the error body is the result', async () => {
      const answer = await ready().client.versions.create('')
      expect(ErrorBody.parse(answer)).toMatchObject({ errorCode: 'BadRequestError' })
    })
  },
  'The client returns an error as the result, because it ignores the status.',
)
projectTests(matrix, ready)
matrix.notOffered('logs.create', 'The client fails before it sends a request.', () => {
  test('it rejects, and the server is never asked', async () => {
    const { client, bench } = ready()
    const call = () => failureOf(client.logs.create('greet', [{ role: 'user', content: 'Hello' }], { response: 'Hi!' }))
    expect((await sentDuring(bench, call)).lines).toEqual([])
  })
})
evaluationTests(matrix, ready)
instrumentationTests(matrix, ready)
requestTests(matrix, ready)

describe('the surface', () => {
  test('rendering uses parts that no namespace shows', () => {
    expect(surfaceOf(opened.client).inner).toEqual([
      'wrapMethods',
      'renderCompletion',
      'renderStep',
      'renderChain',
      'renderAgent',
      'renderTool',
      'handleToolRequests',
    ])
  })
})

matrix.close(() => surfaceOf(opened.client).methods)
