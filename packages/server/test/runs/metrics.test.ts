import { expect, it, onTestFinished } from 'vitest'
import { prompt, runBench } from './run-bench.ts'

it('returns requests, runs, provider calls and tokens', async () => {
  const bench = await runBench({ hello: prompt('<user>Hi</user>') })
  onTestFinished(() => bench.close())
  const usage = { inputTokens: 12, outputTokens: 8 }
  bench.fake.enqueue({ text: 'One' }, { text: 'Two' }, { status: 400, body: { error: { message: 'No' } } })
  expect((await bench.run('hello')).status).toBe(200)
  expect((await bench.stream('hello')).status).toBe(200)
  expect((await bench.run('hello')).status).toBe(422)
  const shown = await samples(bench.server.url)
  const run = { method: 'POST', route: '/projects/:projectId/versions/:versionUuid/documents/run' }
  expect(shown('stet_http_requests_total', { ...run, status: '200' })).toBe(2)
  expect(shown('stet_http_requests_total', { ...run, status: '422' })).toBe(1)
  expect(shown('stet_http_request_seconds_total', { ...run, status: '200' })).toBeGreaterThan(0)
  expect(shown('stet_http_request_duration_seconds_count', { ...run, status_class: '2xx' })).toBe(2)
  expect(shown('stet_http_request_duration_seconds_bucket', { le: '+Inf', ...run, status_class: '4xx' })).toBe(1)
  expect(shown('stet_run_duration_seconds_count', { status: 'completed' })).toBe(2)
  expect(shown('stet_run_duration_seconds_count', { status: 'error' })).toBe(1)
  expect(shown('stet_provider_call_duration_seconds_count', { provider: 'openai', outcome: 'completed' })).toBe(2)
  expect(shown('stet_provider_call_duration_seconds_count', { provider: 'openai', outcome: 'rejected' })).toBe(1)
  const model = { provider: 'openai', model: 'gpt-4o' }
  expect(shown('stet_model_first_text_seconds_count', model)).toBe(1)
  expect(shown('stet_model_tokens_total', { ...model, type: 'input' })).toBe(2 * usage.inputTokens)
  expect(shown('stet_model_tokens_total', { ...model, type: 'output' })).toBe(2 * usage.outputTokens)
  expect(shown('stet_runs_active')).toBe(0)
  expect(shown('stet_sql_statements_total')).toBeGreaterThan(0)
  expect(shown('process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
  expect(shown('process_uptime_seconds')).toBeGreaterThan(0)
})

/** Returns a lookup of samples by name and labels. Labels must be in the order of the output. */
async function samples(url: string): Promise<(name: string, labels?: Record<string, string>) => number | undefined> {
  const response = await fetch(`${url}/metrics`)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const values = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
  return (name, labels = {}) => {
    const pairs = Object.entries(labels).map(([key, value]) => `${key}="${value}"`)
    return values.get(pairs.length === 0 ? name : `${name}{${pairs.join(',')}}`)
  }
}
