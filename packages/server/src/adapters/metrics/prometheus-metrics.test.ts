import { expect, it, onTestFinished } from 'vitest'
import { usageOf } from '../../features/providers/usage.ts'
import { createPrometheusMetrics } from './prometheus-metrics.ts'

function open(metricsPrompts = 200) {
  const metrics = createPrometheusMetrics({ metricsPrompts })
  onTestFinished(() => metrics.close())
  return metrics
}

it('labels at most 100 models and 6 methods', async () => {
  const metrics = open()
  const call = { provider: 'openai', outcome: 'completed', seconds: 1, firstTextSeconds: 1, cost: 0.5 } as const
  for (let place = 0; place < 500; place += 1) {
    metrics.modelCallEnded({ ...call, model: `model "${place}"\n`, usage: usageOf({ input: 1, output: 1 }) })
    metrics.requestEnded({ method: `M${place}`, route: 'none', status: 404, seconds: 1 })
  }
  metrics.modelCallEnded({ ...call, model: 'x'.repeat(101), usage: usageOf({ input: 1, output: 1 }) })
  const text = await metrics.text()
  const models = new Set([...text.matchAll(/model="((?:[^"\\]|\\.)*)"/g)].map(([, model]) => model))
  expect(models.size).toBe(101)
  expect(text).toContain('stet_model_tokens_total{provider="openai",model="other",type="input"} 401')
  expect(text).toContain('stet_model_cost_usd_total{provider="openai",model="other"} 200.5')
  expect(text).toContain('stet_http_requests_total{method="other",route="none",status="404"} 500')
})

it('labels as many prompts as configured, by project', async () => {
  const metrics = open(2)
  const run = { status: 'completed', mode: 'sse', seconds: 1 } as const
  for (const path of ['a', 'a', 'b', 'c', 'd']) metrics.runEnded({ ...run, projectId: 1, path })
  metrics.runEnded({ ...run, projectId: 2, path: 'a' })
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('stet_runs_total{'))
  expect(lines).toEqual([
    'stet_runs_total{status="completed",mode="sse",project="1",prompt="a"} 2',
    'stet_runs_total{status="completed",mode="sse",project="1",prompt="b"} 1',
    'stet_runs_total{status="completed",mode="sse",project="other",prompt="other"} 3',
  ])
})

it('measures how long the event loop was blocked, and starts again at each scrape', async () => {
  const metrics = open()
  const longest = async () => Number(/lag_seconds\{quantile="1"\} (\S+)/.exec(await metrics.text())?.[1])
  // The first tick after a scrape only starts the measurement, so a blockage that begins before it is not seen.
  const afterBlockage = async () => {
    const end = performance.now() + 200
    while (performance.now() < end);
    await new Promise((resolve) => setTimeout(resolve, 25))
    return longest()
  }
  await expect.poll(afterBlockage).toBeGreaterThan(0.1)
  await expect.poll(longest).toBeLessThan(0.1)
  const busy = /^stet_event_loop_busy_seconds_total (\S+)$/m.exec(await metrics.text())
  expect(Number(busy?.[1])).toBeGreaterThan(0.2)
})
