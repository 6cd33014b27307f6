/**
 * `pnpm bench:template`: the CPU of one step of 20 example prompts, compared with a small prompt. The bench also
 * compares runs of a plain prompt with runs of a prompt with expressions.
 */
import { fileURLToPath } from 'node:url'
import { createEvaluator } from '../../../packages/server/src/adapters/evaluation/evaluator.ts'
import type { TemplateEngine } from '../../../packages/server/src/features/templates/template-engine.ts'
import { corpusCases, sourceOf } from '../../../packages/server/test/corpus/case.ts'
import { atBothLatencies, withColumnsAt0 } from '../measuring/latencies.ts'
import { requestLoad } from '../measuring/load.ts'
import {
  type Candidate,
  type Comparison,
  compare,
  type Figures,
  loadMeasures,
  percentile,
} from '../measuring/rounds.ts'
import { closeAll, runRequest, startStet, startUpstream } from '../subjects/candidates.ts'
import { cpuMsOf, familyOf } from '../subjects/process-figures.ts'

const steps = Number(process.env['STEPS'] ?? 400)
const load = { total: Number(process.env['REQUESTS'] ?? 2_000), parallel: 16 }

const examples = [
  ...['engine/customer-support', 'engine/classifier', 'engine/counting', 'engine/objects', 'engine/string-work'],
  ...['engine/parts', 'engine/references', 'engine/nested-lists', 'engine/whitespace', 'engine/chain'],
  ...['flow/conditions', 'flow/loops', 'flow/messages-in-loops', 'messages/roles', 'messages/tool-round-trip'],
  ...[
    'expressions/text-methods',
    'expressions/list-methods',
    'expressions/dates',
    'steps/two-steps',
    'references/ten-deep',
  ],
]

const measures: Comparison['measures'] = [
  { name: 'cpuMicros', title: 'CPU µs/step', digits: 0, isCompared: true },
  { name: 'p50Ms', title: 'p50 ms', digits: 3, isCompared: false },
  { name: 'chars', title: 'characters', digits: 0, isCompared: false },
]

const silent = () => undefined
const threadFile = fileURLToPath(new URL('../../../packages/server/dist/evaluation-thread.mjs', import.meta.url))
const log = { debug: silent, info: silent, warn: silent, error: silent }
const limits = { maxPerKey: 1_000, maxPerWorkspace: 2_000 }
const metrics = { workerDied: silent, evaluationEnded: silent, evaluationWaited: silent }
const engine = createEvaluator({ ...limits, threadFile, timeoutMs: 10_000, log, metrics })

const owner = { workspaceId: 1, apiKeyId: 1 }
const cases = corpusCases()
const cpuMs = () => familyOf(process.pid).reduce((sum, pid) => sum + cpuMsOf(pid), 0)

async function candidateOf(templates: TemplateEngine, name: string): Promise<Candidate> {
  const example = cases.find((found) => found.name === name)
  if (!example) throw new Error(`There is no example ${name}`)
  const source = sourceOf(example)
  await templates.scan(source, owner)
  const { parameters = {} } = example
  const round = async (): Promise<Figures> => {
    const times: number[] = []
    const before = cpuMs()
    for (let step = 0; step < steps; step += 1) {
      const startedMs = performance.now()
      await templates.step({ source, parameters, now: '2026-01-02T03:04:05.000Z' }, owner)
      times.push(performance.now() - startedMs)
    }
    const chars = example.content.length
    return { cpuMicros: ((cpuMs() - before) * 1000) / steps, p50Ms: percentile(times, 0.5), chars }
  }
  return { name, round }
}

const others: Candidate[] = []
for (const name of examples) others.push(await candidateOf(engine, name))
await compare({
  bench: 'template, one step',
  measures,
  // The smallest step with an expression.
  control: await candidateOf(engine, 'expressions/literals'),
  others,
})
await engine.close()

const upstream = await startUpstream({ CHUNKS: '50' })
const stet = await startStet(upstream.url)
const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await fetch(`${stet.url}/api/v3/projects/1/versions${path}`, {
    method: 'POST',
    headers: { ...stet.headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}
const front = '---\nprovider: openai\nmodel: bench\n---\nYou answer in one sentence.\n'
const { uuid } = await call('', { name: 'template' })
for (const [path, topic] of Object.entries({ joined: 'topic', rendered: "topic + ''" })) {
  const prompt = `${front}<user>Say something about {{ ${topic} }}.</user>\n`
  await call(`/${String(uuid)}/documents/create-or-update`, { path, prompt })
}
await call(`/${String(uuid)}/publish`, {})
const runOf = (path: string, latencyMs: number) => {
  const request = runRequest(false, stet.headers)
  return { ...request, body: JSON.stringify({ path, parameters: { topic: `after ${latencyMs} ms` }, stream: false }) }
}
const runsOf = (path: string) => atBothLatencies((latencyMs) => requestLoad(stet, runOf(path, latencyMs), load))
await compare({
  bench: `template, a run's share, ${load.parallel} at once`,
  measures: withColumnsAt0(loadMeasures, 'cpuMicros', 'unitsPerSecond'),
  control: { name: 'joined in the server', round: () => runsOf('joined') },
  others: [{ name: 'rendered by a child', subject: stet, round: () => runsOf('rendered') }],
})
await closeAll(stet, upstream)
