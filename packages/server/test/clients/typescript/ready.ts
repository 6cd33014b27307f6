import type { ClientBench } from '../matrix/client-bench.ts'
import type { PublishedClass, PublishedClient } from './published-client.ts'

export interface ReadyClient {
  bench: ClientBench
  client: PublishedClient
  Latitude: PublishedClass
  /** The value of `X-Latitude-SDK-Version`. Undefined if the version sends none. */
  declares: string | undefined
  another(key: string, options?: Record<string, unknown>): PublishedClient
}

/** Tests are declared before a client is connected, so they call this when they run. */
export type Ready = () => ReadyClient
