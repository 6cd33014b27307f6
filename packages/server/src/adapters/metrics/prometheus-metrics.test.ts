import { expect, it } from 'vitest'
import { usageOf } from '../../features/providers/usage.ts'
import { createPrometheusMetrics } from './prometheus-metrics.ts'

it('labels at most 100 models and 6 methods', async () => {
  const metrics = createPrometheusMetrics({ activeRuns: () => 0, statementCount: () => 0 })
  const call = { provider: 'openai', outcome: 'completed', seconds: 1, firstTextSeconds: 1 } as const
  for (let place = 0; place < 500; place += 1) {
    metrics.modelCallEnded({ ...call, model: `model "${place}"\n`, usage: usageOf({ input: 1, output: 1 }) })
    metrics.requestEnded({ method: `M${place}`, route: 'none', status: 404, seconds: 1 })
  }
  metrics.modelCallEnded({ ...call, model: 'x'.repeat(101), usage: usageOf({ input: 1, output: 1 }) })
  const text = await metrics.text()
  const models = new Set([...text.matchAll(/model="((?:[^"\\]|\\.)*)"/g)].map(([, model]) => model))
  expect(models.size).toBe(101)
  expect(text).toContain('stet_model_tokens_total{provider="openai",model="other",type="input"} 401')
  expect(text).toContain('stet_http_requests_total{method="other",route="none",status="404"} 500')
})
