/** All dependencies of use cases, by role. A use case picks its own with `Needs<…>`. */
import type { Clock } from '../shared/clock.ts'
import type { Logger, Tracer } from '../shared/telemetry.ts'
import type { ApiKeyStore, StorageDeps, WorkspaceStore } from './access/ports.ts'
import type { DeletionDeps } from './conversations/deletion/ports.ts'
import type { ConversationStore, LabelStore, RunRecordStore } from './conversations/ports.ts'
import type { DocumentStore } from './documents/ports.ts'
import type { AnnotationStore, EvaluationStore } from './evaluations/evaluation.ts'
import type { ScoreStore } from './evaluations/ports.ts'
import type { ExampleStore } from './examples/example.ts'
import type { ExperimentDeps, ExperimentStore } from './experiments/ports.ts'
import type { ExternalLogStore } from './external-logs/external-log.ts'
import type { IdempotencyDeps, IdempotencyStore } from './idempotency/ports.ts'
import type { ProjectStore } from './projects/project.ts'
import type { ReleaseStore } from './projects/release.ts'
import type { ProviderDeps, ProviderKeyStore, SecretBox } from './providers/ports.ts'
import type { RunDeps } from './runs/run-deps.ts'
import type { InstallationStore, SessionStore, SignInLinkStore } from './sessions/ports.ts'
import type { StatsDeps } from './stats/ports.ts'
import type { TemplateEngine } from './templates/template-engine.ts'
import type { GateVerdicts, VersionStore } from './versions/ports.ts'

/** The stores of one database handle. Inside a transaction, use the callback's `stores` instead of the outer ones. */
export interface Stores {
  workspaces: WorkspaceStore
  apiKeys: ApiKeyStore
  projects: ProjectStore
  versions: VersionStore
  releases: ReleaseStore
  documents: DocumentStore
  providerKeys: ProviderKeyStore
  conversations: ConversationStore
  labels: LabelStore
  runRecords: RunRecordStore
  evaluations: EvaluationStore
  annotations: AnnotationStore
  scores: ScoreStore
  examples: ExampleStore
  experiments: ExperimentStore
  idempotency: IdempotencyStore
  externalLogs: ExternalLogStore
  sessions: SessionStore
  signInLinks: SignInLinkStore
  installations: InstallationStore
}

/**
 * Caches reads by cache scope, such as `project:<id>`, `workspace:<id>` or `key:<hash>`. A read that starts after a
 * write's response sees that write: writers drop the cache scope after their commit and before their response. A load
 * that began before the drop never fills the cache.
 */
export interface LiveCache {
  /** Returns the value of `key` in the cache scope. Concurrent misses share one load. A failed load is not cached. */
  read<T>(scope: string, key: string, load: () => Promise<T>): Promise<T>
  /** Resolves when no server uses the dropped values for a new request. If Redis fails, other servers may use them longer. */
  drop(scope: string): Promise<void>
  /** Drops values of this server only. For values that became unusable without a write. */
  dropHere(scope: string): void
  /** Applies the drops of other servers. Call it before the first read of a request. Absent on a single server. */
  sync?(): Promise<void>
  /** Drops everything, because another server may have changed the data. Results of running loads are not cached. */
  clear(): void
}

export interface Deps {
  stores: Stores
  /** Runs `work` in one transaction. `work` must not call a provider, evaluate a template or wait. */
  transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /** For `work` with a single write, which is atomic by itself. Opens a transaction only to store the response with it. */
  singleWrite<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  runs: RunDeps
  deletions: DeletionDeps
  experiments: ExperimentDeps
  idempotency: IdempotencyDeps
  providers: ProviderDeps
  secrets: SecretBox
  /** Absent without a limit of stored bytes. */
  storage?: StorageDeps
  liveCache: LiveCache
  stats: StatsDeps
  gates: GateVerdicts
  templates: TemplateEngine
  clock: Clock
  logger: Logger
  tracer: Tracer
}

export type Needs<K extends keyof Deps> = Pick<Deps, K>
