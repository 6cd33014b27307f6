/** The metrics of a server after a short load. The dashboard and the alert rules use only metrics and labels of it. */
import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type OtlpCollector, otlpCollector } from '../support/otlp-collector.ts'
import { endless } from '../templates/support/engine.ts'
import { prompt, type RunBench, runBench } from './run-bench.ts'

interface Dashboard {
  panels: { title: string; targets?: { expr: string }[] }[]
}

interface Rules {
  groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[]
}

const deployFile = (path: string) => readFileSync(new URL(`../../../../deploy/${path}`, import.meta.url), 'utf8')
const dashboard = JSON.parse(deployFile('grafana/dashboard.json')) as Dashboard
const { groups } = parse(deployFile('prometheus/alerts.yaml')) as Rules
const queries = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr }))),
  ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ name: alert, expr }))),
]
/** Prometheus itself adds these. */
const addedLabels = ['job', 'instance', 'le']

let collector: OtlpCollector
let bench: RunBench
beforeAll(async () => {
  collector = await otlpCollector()
  const prompts = {
    hello: prompt('<user>Hi</user>'),
    computed: prompt('<user>{{ 1 + 2 }}</user>'),
    endless: prompt(`<user>${endless}</user>`),
  }
  bench = await runBench(prompts, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
})
afterAll(() => bench.close().finally(collector.close))

it('returns requests, runs, provider calls and tokens', async () => {
  const usage = { inputTokens: 12, outputTokens: 8 }
  bench.fake.enqueue({ text: 'One' }, { text: 'Two' }, { status: 400, body: { error: { message: 'No' } } })
  expect((await bench.run('hello')).status).toBe(200)
  expect((await bench.stream('hello')).status).toBe(200)
  expect((await bench.run('hello')).status).toBe(422)
  const shown = await samples(bench.server.url)
  const run = { method: 'POST', route: '/projects/:projectId/versions/:versionUuid/documents/run' }
  expect(shown('stet_http_requests_total', { ...run, status: '200' })).toBe(2)
  expect(shown('stet_http_requests_total', { ...run, status: '422' })).toBe(1)
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

it('uses only exported metrics and labels', async () => {
  const exported = await labelsAfterLoad()
  exported.set('up', new Set())
  expect(queries.length).toBeGreaterThan(40)
  const used = new Set<string>()
  for (const { name, expr } of queries) {
    const { metrics, labels } = readQuery(expr)
    expect(metrics.length, `${name}: ${expr}`).toBeGreaterThan(0)
    for (const metric of metrics) {
      used.add(metric)
      expect([...exported.keys()], name).toContain(metric)
    }
    const known = metrics.flatMap((metric) => [...(exported.get(metric) ?? [])])
    for (const label of labels) expect([...addedLabels, ...known], `${name}: ${expr}`).toContain(label)
  }
  const base = (metric: string) => metric.replace(/_(bucket|sum|count)$/, '')
  const shown = new Set([...used].map(base))
  // Its histogram has the same values by route.
  const older = ['stet_http_requests_total', 'stet_run_duration_seconds']
  const unshown = [...exported.keys()].map(base).filter((metric) => metric.startsWith('stet_') && !shown.has(metric))
  expect([...new Set(unshown)].sort()).toEqual(older.sort())
})

it('is documented', () => {
  const page = readFileSync(new URL('../../../../docs/metrics.md', import.meta.url), 'utf8')
  const used = queries.flatMap(({ expr }) => readQuery(expr).metrics)
  for (const metric of new Set(used)) {
    if (metric !== 'up') expect(page).toContain(`\`${metric.replace(/_(bucket|sum|count)$/, '')}\``)
  }
})

/** Makes each kind of request and run. Returns each exported metric with its labels. */
async function labelsAfterLoad(): Promise<Map<string, Set<string>>> {
  bench.fake.enqueue({ text: 'One' }, { text: 'Two' }, { text: 'Three' }, { status: 400, body: {} })
  await bench.run('hello')
  await bench.stream('computed')
  const uuid = await bench.background('hello')
  await expect.poll(async () => (await bench.conversation(uuid))['status']).toBe('completed')
  expect((await bench.run('hello')).status).toBe(422)
  expect((await bench.run('endless')).status).toBe(422)
  for (let read = 0; read < 3; read += 1) await bench.api('GET', `${bench.live}/documents/hello`)
  await collector.traceWith('run')
  const text = await (await fetch(`${bench.server.url}/metrics`)).text()
  const exported = new Map<string, Set<string>>()
  for (const line of text.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, name = '', pairs = ''] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? []
    const labels = exported.get(name) ?? new Set()
    for (const [, label = ''] of pairs.matchAll(/(\w+)="(?:[^"\\]|\\.)*"/g)) labels.add(label)
    exported.set(name, labels)
  }
  return exported
}

/** @throws if the query is not valid PromQL. */
function readQuery(expr: string): { metrics: string[]; labels: string[] } {
  // Grafana replaces its variables before it sends a query.
  const query = expr.replaceAll('[$__rate_interval]', '[5m]').replaceAll('$job', 'stet').replaceAll('$instance', '.*')
  const metrics: string[] = []
  const labels: string[] = []
  parser.parse(query).iterate({
    enter: ({ name, type, from, to, node }) => {
      if (type.isError) throw new Error(`Not PromQL at ${from}: ${query}`)
      const text = query.slice(from, to)
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector') metrics.push(text)
      if (name === 'LabelName') labels.push(text)
    },
  })
  return { metrics, labels }
}

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
