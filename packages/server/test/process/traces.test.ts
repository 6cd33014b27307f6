import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { generateApiKey } from '../../src/features/access/api-key.ts'
import { apiCaller } from '../http/api-call.ts'
import { createTestProject } from '../http/scenario.ts'
import { otlpCollector } from '../support/otlp-collector.ts'
import { processTestMs, settingsFor, startServer } from '../support/server-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { testDatabase } from '../support/test-database.ts'

/** Runs a prompt on a server process and stops it. Returns its loaded files and its log lines. */
async function useProcess(environment: Record<string, string>) {
  const storage = await testDatabase()
  const coverage = await temporaryFolder()
  const adminKey = generateApiKey()
  const server = await startServer({
    ...settingsFor(storage),
    STET_ADMIN_KEY: adminKey,
    STET_LOG_LEVEL: 'info',
    NODE_V8_COVERAGE: coverage,
    ...environment,
  })
  const api = apiCaller(server.url, adminKey)
  const { live } = await createTestProject(api, { hello: '---\nprovider: demo\nmodel: demo\n---\n<user>Hi</user>' })
  const answer = await api('POST', `${live}/documents/run`, { body: { path: 'hello' } })
  server.child.kill('SIGTERM')
  const { code, stderr } = await server.ended
  await storage.close()
  const reports = readdirSync(coverage).map((name) => readFileSync(join(coverage, name), 'utf8'))
  rmSync(coverage, { recursive: true })
  expect({ status: answer.status, code }).toEqual({ status: 200, code: 0 })
  const files = reports.flatMap((text) => (JSON.parse(text) as { result: { url: string }[] }).result)
  const lines = stderr.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as LogLine] : []))
  return { files: files.map(({ url }) => url), lines, requestId: answer.headers.get('x-request-id') }
}

type LogLine = Record<string, unknown>

// prom-client depends on OpenTelemetry's API package, which only has types and no-ops.
const isTracing = (url: string) => /otel-tracing|@opentelemetry\/(?!api\/)/.test(url)

it(
  'loads no OpenTelemetry without an endpoint',
  async () => {
    const { files, lines } = await useProcess({ OTEL_TRACES_SAMPLER: 'always_on' })
    expect(files.filter((url) => url.endsWith('/dist/main.mjs'))).not.toEqual([])
    expect(files.filter(isTracing)).toEqual([])
    expect(lines.filter((line) => 'trace_id' in line)).toEqual([])
  },
  processTestMs,
)

it(
  'loads it with an endpoint, exports all spans before the process ends, and puts their ids into the log lines of the request',
  async () => {
    const collector = await otlpCollector()
    onTestFinished(() => collector.close())
    const { files, lines, requestId } = await useProcess({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    expect(files.filter(isTracing)).not.toEqual([])
    const run = collector.spans.find(({ name }) => name === 'run')
    const request = collector.spans.find(({ spanId }) => spanId === run?.parentSpanId)
    const lineOf = (event: string) => lines.filter((line) => line['event'] === event)
    expect(lineOf('run.ended')).toMatchObject([{ trace_id: run?.traceId, span_id: run?.spanId }])
    expect(lineOf('http.request').filter((line) => line['requestId'] === requestId)).toMatchObject([
      { trace_id: request?.traceId, span_id: request?.spanId },
    ])
  },
  processTestMs,
)
