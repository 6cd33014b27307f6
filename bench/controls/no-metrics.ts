/** Preloaded into a server whose metrics shall cost nothing: recording a value does nothing. */
import { createRequire } from 'node:module'

interface PromClient {
  Counter: { prototype: { inc(): void } }
  Histogram: { prototype: { observe(): void } }
}

const fromServer = createRequire(new URL('../../packages/server/package.json', import.meta.url))
const { Counter, Histogram } = fromServer('prom-client') as PromClient
Counter.prototype.inc = () => undefined
Histogram.prototype.observe = () => undefined
