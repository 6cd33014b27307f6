/** The dashboard and the alert rules use only metrics and labels that a server exports after a short load. */
import { readFileSync } from 'node:fs'
import { parser } from '@prometheus-io/lezer-promql'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { otlpCollector } from '../support/otlp-collector.ts'
import { endless } from '../templates/support/engine.ts'
import { prompt, runBench } from './run-bench.ts'

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
  const older = ['stet_http_requests_total', 'stet_http_request_seconds_total', 'stet_run_duration_seconds']
  const unshown = [...exported.keys()].map(base).filter((metric) => metric.startsWith('stet_') && !shown.has(metric))
  expect([...new Set(unshown)].sort()).toEqual(older.sort())
})

it('is documented', () => {
  const page = readFileSync(new URL('../../../../docs/observability.md', import.meta.url), 'utf8')
  const used = queries.flatMap(({ expr }) => readQuery(expr).metrics)
  for (const metric of new Set(used)) {
    if (metric !== 'up') expect(page).toContain(`\`${metric.replace(/_(bucket|sum|count)$/, '')}\``)
  }
})

/** Makes each kind of request and run. Returns each exported metric with its labels. */
async function labelsAfterLoad(): Promise<Map<string, Set<string>>> {
  const collector = await otlpCollector()
  const prompts = {
    hello: prompt('<user>Hi</user>'),
    computed: prompt('<user>{{ 1 + 2 }}</user>'),
    endless: prompt(`<user>${endless}</user>`),
  }
  const bench = await runBench(prompts, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  onTestFinished(() => bench.close().finally(collector.close))
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
