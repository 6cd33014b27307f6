import type { ClientBench } from '../matrix/client-bench.ts'
import type { PublishedClass, PublishedClient } from './published-client.ts'

/** One version of the published TypeScript client, connected to a bench. */
export interface ReadyClient {
  bench: ClientBench
  client: PublishedClient
  Latitude: PublishedClass
  /** The value of `X-Latitude-SDK-Version`; undefined if the version sends none. */
  declares: string | undefined
  /** Another client of the same bench. */
  another(key: string, options?: Record<string, unknown>): PublishedClient
}

/** Tests are declared before anything is open, and read this when they run. */
export type Ready = () => ReadyClient
