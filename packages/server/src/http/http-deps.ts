/** The dependencies of http: those of the use cases, limiters, settings, the drain and two probes of the process. */
import type { FailureLimiter, RateLimiter } from '../features/access/ports.ts'
import type { Deps } from '../features/deps.ts'
import type { Drain } from './operations/drain.ts'
import type { UnreadSettings } from './rate-limit/unread-budget.ts'

interface HttpSettings {
  /** Name and version for `/health`. */
  version: string
  /** Optional features of this server, listed by `/health` and `/me`. */
  features: readonly string[]
  /** Exact origins that browsers may call from; empty = CORS off. */
  corsOrigins: readonly string[]
  /** Bearer token of `/metrics`; undefined = loopback only. */
  metricsToken: string | undefined
  /** Largest request body, decompressed. */
  bodyLimitBytes: number
  /** Number of proxies in front of the server, for reading `X-Forwarded-For`. */
  trustProxy: number
  /** Open event streams that one key may hold. */
  maxStreamsPerKey: number
  unread: UnreadSettings
  /** Check response bodies against the contract: tests and development only. */
  validateResponses: boolean
}

/** Without Redis, only one server at a time may serve a database. Every API request first checks that it is this one. */
export interface Place {
  /** Whether no other server can answer at this moment. Costs nothing. */
  isConfirmed(): boolean
  /** The same; asks the database where it last did so too long ago. */
  confirm(): Promise<boolean>
}

/** Renders `/metrics`, and records finished requests. */
export interface HttpMetrics {
  requestEnded(request: { method: string; route: string; status: number; seconds: number }): void
  readonly contentType: string
  text(): Promise<string>
}

export interface HttpDeps extends Deps {
  rateLimiter: RateLimiter
  failures: FailureLimiter
  settings: HttpSettings
  drain: Drain
  place: Place
  /** Name -> whether the check passed; the server is ready when all did. */
  readiness: () => Promise<Readonly<Record<string, boolean>>>
  metrics: HttpMetrics
}
