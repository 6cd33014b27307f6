import type { FailureLimiter, RateLimiter } from '../features/access/ports.ts'
import type { Deps } from '../features/deps.ts'
import type { Drain } from './operations/drain.ts'
import type { UnreadSettings } from './rate-limit/unread-budget.ts'

interface HttpSettings {
  version: string
  /** Contains `dist/reference.js.gz`, the script of `/docs`. */
  packageRoot: string
  /** Optional features of this server, listed by `/health` and `/me`. */
  features: readonly string[]
  host: string
  database: 'embedded' | 'postgres'
  /** Whether the console and its sign-in exist. */
  console: boolean
  /** Whether `/v1` exists. */
  openaiApi: boolean
  /** Whether `/mcp` exists. */
  mcp: boolean
  /** Whether MCP clients may publish. */
  mcpPublish: boolean
  /** The configured address of the server in browsers, without a trailing slash. */
  publicUrl: string | undefined
  /** Exact origins that browsers may call from. An empty list disables CORS. */
  corsOrigins: readonly string[]
  /** Bearer token for `/metrics`. Without a token, only loopback may read the metrics. */
  metricsToken: string | undefined
  /** Maximum size of a request body, before and after decompression. */
  bodyLimitBytes: number
  /** The limit of one API key, for bodies above 32 KB. */
  bytesPerSecond: number
  trustProxy: number
  maxStreamsPerKey: number
  unread: UnreadSettings
  /** Validates response bodies against the contract. Only for tests and development. */
  validateResponses: boolean
}

/** Without Redis, only one server may serve a database. API requests check that this server is the one. */
export interface Place {
  /** True if this server may serve API requests now. Sends no query. */
  isConfirmed(): boolean
  /** Like `isConfirmed`, but queries the database if the last confirmation has expired. */
  confirm(): Promise<boolean>
}

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
  /** Results by check name. The server is ready if all are true. */
  readiness: () => Promise<Readonly<Record<string, boolean>>>
  metrics: HttpMetrics
}
