/** Everything that use cases may need, by role; a use case names its part with `Needs<…>`. */
import type { Clock } from '../shared/clock.ts'
import type { Logger } from '../shared/logger.ts'
import type { ApiKeyStore, WorkspaceStore } from './access/ports.ts'
import type { DeletionDeps } from './conversations/deletion/ports.ts'
import type { ConversationStore } from './conversations/ports.ts'
import type { DocumentStore } from './documents/ports.ts'
import type { AnnotationStore, EvaluationStore } from './evaluations/ports.ts'
import type { ExternalLogStore } from './external-logs/ports.ts'
import type { IdempotencyDeps, IdempotencyStore } from './idempotency/ports.ts'
import type { ProjectStore } from './projects/project.ts'
import type { ProviderDeps, ProviderKeyStore, SecretBox } from './providers/ports.ts'
import type { RunDeps } from './runs/ports.ts'
import type { TemplateEngine } from './templates/template-engine.ts'
import type { VersionStore } from './versions/ports.ts'

/** The stores of one database handle. Inside a transaction the parameter shadows the outer ones. */
export interface Stores {
  workspaces: WorkspaceStore
  apiKeys: ApiKeyStore
  projects: ProjectStore
  versions: VersionStore
  documents: DocumentStore
  providerKeys: ProviderKeyStore
  conversations: ConversationStore
  evaluations: EvaluationStore
  annotations: AnnotationStore
  idempotency: IdempotencyStore
  externalLogs: ExternalLogStore
}

/**
 * Recently read data, by cache scope (`project:<id>`, `workspace:<id>`, `key:<hash>`). A read that starts after a write was
 * answered sees that write: writers drop the scope after their commit and before their answer, and a load that began before the
 * drop never fills the cache.
 */
export interface LiveCache {
  /** The value of `key` in `scope`; parallel misses share one load. A load that throws is not remembered. */
  read<T>(scope: string, key: string, load: () => Promise<T>): Promise<T>
  drop(scope: string): void
  /** Drops everything, and no current load fills the cache: another server may have changed any of it. */
  clear(): void
  /** The number of drops so far. Read it before the sources of a derived value. */
  drops(): number
  /** Whether no scope has been dropped since the number was taken. */
  areCurrent(scopes: readonly string[], drops: number): boolean
}

export interface Deps {
  stores: Stores
  /** Runs `work` on stores of one transaction. Never around a provider call, a template call or a wait. */
  transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  runs: RunDeps
  deletions: DeletionDeps
  idempotency: IdempotencyDeps
  /** Like runs; those of `stores` write in their transaction. */
  externalLogs: ExternalLogStore
  providers: ProviderDeps
  secrets: SecretBox
  liveCache: LiveCache
  templates: TemplateEngine
  clock: Clock
  logger: Logger
}

export type Needs<K extends keyof Deps> = Pick<Deps, K>
