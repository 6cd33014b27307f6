import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject } from '../http/scenario.ts'
import { prompt } from '../runs/run-bench.ts'
import { fakeProvider } from '../support/fake-provider.ts'
import { hasProcessFigures, settledBytes } from '../support/process-figures.ts'
import { settingsFor, startServerBin } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const megabyte = 1024 * 1024
/** Older versions of Node cannot begin anew with other settings. */
const isMeasured = hasProcessFigures && 'execve' in process

// A first start unpacks the database and compiles all WebAssembly: the most that a start leaves behind.
it.skipIf(!isMeasured)('an embedded server takes at most 300 MB after its first start and a run', async () => {
  const dataDir = await temporaryFolder()
  onTestFinished(() => rm(dataDir, { recursive: true }))
  const fake = await fakeProvider()
  onTestFinished(() => fake.close())
  const key = generateApiKey()
  const server = await startServerBin({
    ...settingsFor({ dataDir }),
    STET_ADMIN_KEY: key,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: fake.url,
  })
  onTestFinished(async () => {
    server.child.kill('SIGTERM')
    await server.ended
  })
  const api = apiCaller(server.url, key)
  const { live } = await createTestProject(api, { sum: prompt('<user>{{ 1 + 2 }}</user>') })
  const answer = await api('POST', `${live}/documents/run`, { body: { path: 'sum' } })
  expect(answer).toMatchObject({ status: 200, body: { conversation: [{ content: [{ text: '3' }] }, {}] } })
  expect(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')).toContain('--expose-gc')
  expect((await settledBytes(server.child)) / megabyte).toBeLessThanOrEqual(300)
})
