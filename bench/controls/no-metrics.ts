/** Preloaded into a server without the cost of metrics: recording a value does nothing. */
import { createRequire } from 'node:module'

interface PromClient {
  Counter: { prototype: { incWithoutExemplar(): void } }
  Histogram: { prototype: { observeWithoutExemplar(): void } }
}

const fromServer = createRequire(new URL('../../packages/server/package.json', import.meta.url))
const { Counter, Histogram } = fromServer('prom-client') as PromClient
// The constructors assign these to `inc` and `observe` of each metric.
Counter.prototype.incWithoutExemplar = () => undefined
Histogram.prototype.observeWithoutExemplar = () => undefined
