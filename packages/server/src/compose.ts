/** Config -> Deps -> app: the only file that knows all adapters. */
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { type Database, type DatabaseClient, openDatabase } from './adapters/database/database.ts'
import { startSnapshots } from './adapters/database/embedded/snapshots.ts'
import { postgresApiKeyStore } from './adapters/database/stores/api-key-store.ts'
import { postgresConversationStore } from './adapters/database/stores/conversation-store.ts'
import { postgresDocumentStore } from './adapters/database/stores/document-store.ts'
import { postgresAnnotationStore, postgresEvaluationStore } from './adapters/database/stores/evaluation-store.ts'
import { postgresIdempotencyStore, postgresIdempotencyUpkeep } from './adapters/database/stores/idempotency-store.ts'
import { postgresLeaseStore } from './adapters/database/stores/lease-store.ts'
import { postgresLogStore, transactionLogStore } from './adapters/database/stores/log-store.ts'
import { postgresProjectStore } from './adapters/database/stores/project-store.ts'
import { postgresProviderKeyStore } from './adapters/database/stores/provider-key-store.ts'
import { postgresRunStore } from './adapters/database/stores/run-store.ts'
import { postgresToolCallStore } from './adapters/database/stores/tool-call-store.ts'
import { postgresVersionStore } from './adapters/database/stores/version-store.ts'
import { postgresWorkspaceStore } from './adapters/database/stores/workspace-store.ts'
import { createLiveCache } from './adapters/in-process/live-cache.ts'
import { createFailureLimiter, createRateLimiter } from './adapters/in-process/rate-limiter.ts'
import { createRunEventLog } from './adapters/in-process/run-event-log.ts'
import { createRunQueue } from './adapters/in-process/run-queue.ts'
import { createRunSignals } from './adapters/in-process/run-signals.ts'
import { createToolSignals } from './adapters/in-process/tool-signals.ts'
import { createJsonLogger } from './adapters/logging/json-logger.ts'
import { priceBook } from './adapters/prices/price-book.ts'
import { addressGuard } from './adapters/providers/address-guard.ts'
import { createModelDrivers } from './adapters/providers/registry.ts'
import type { ProviderLimits } from './adapters/providers/transport/limits.ts'
import { secretBox } from './adapters/secrets/secret-box.ts'
import { loadServerTools } from './adapters/server-tools/load-server-tools.ts'
import { createTemplateSandbox } from './adapters/template-sandbox/engine.ts'
import type { Config } from './config.ts'
import { encryptionKeysOf, keepAdminKey } from './data-files.ts'
import { type CreateProject, createFirstWorkspace } from './features/access/first-start.ts'
import type { Deps, Stores } from './features/deps.ts'
import { dropIdempotencyRecords, releaseLostClaims } from './features/idempotency/drop-records.ts'
import { addProject } from './features/projects/create-project.ts'
import { environmentProviders } from './features/providers/environment-providers.ts'
import { createActiveRuns } from './features/runs/active-runs.ts'
import { workRunQueue } from './features/runs/background/work-run-queue.ts'
import { dropEventLogs } from './features/runs/driving/drop-event-logs.ts'
import { keepLease, takeLease } from './features/runs/driving/keep-lease.ts'
import { recoverRuns } from './features/runs/driving/recover-runs.ts'
import type { ServerTools } from './features/runs/execution/tools/step-tool.ts'
import { createStoredLogs } from './features/runs/watching/stored-logs.ts'
import { type App, createApp } from './http/app.ts'
import { createDrain } from './http/request/drain.ts'
import { systemClock } from './shared/clock.ts'
import type { Logger } from './shared/logger.ts'
import { repeat } from './shared/time/repeat.ts'
import { shutDown } from './shut-down.ts'

export interface Composition {
  app: App
  deps: Deps
  database: Database<Stores>
  /** What to tell about the key of the first start; undefined when the database was not empty. */
  firstKey: string | undefined
  /** Drains and closes everything; `server` is the one that serves `app`. */
  shutDown(server: Server): Promise<void>
  /** Closes everything at once: for a server that never listened. */
  close(): Promise<void>
}

type ClosableModels = ReturnType<typeof createModelDrivers>

const maxEvents = 500_000
const maxEventBytes = 32 * 1024 * 1024
const stopWaitMs = 2_000
const storeWaitMs = 60_000
const toolWaitMs = 300_000

export function storesFor(client: DatabaseClient): Stores {
  return {
    workspaces: postgresWorkspaceStore(client),
    apiKeys: postgresApiKeyStore(client),
    projects: postgresProjectStore(client),
    versions: postgresVersionStore(client),
    documents: postgresDocumentStore(client),
    providerKeys: postgresProviderKeyStore(client),
    conversations: postgresConversationStore(client),
    evaluations: postgresEvaluationStore(client),
    annotations: postgresAnnotationStore(client),
    idempotency: postgresIdempotencyStore(client),
    logs: transactionLogStore(client),
  }
}

/** @param onlyReplica false for a command that works beside the server on PostgreSQL. */
export async function openStores(config: Config, log: Logger, onlyReplica = true): Promise<Database<Stores>> {
  return openDatabase({
    ...(config.databaseUrl !== undefined && { url: config.databaseUrl }),
    directory: join(config.dataDir, 'db'),
    packageRoot: config.packageRoot,
    onlyReplica,
    silenceMs: config.databaseSilenceMs,
    storesFor,
    log,
  })
}

/** The first project of a new workspace. */
export const createFirstProject: CreateProject = (stores, input) =>
  addProject(stores, { ...input, at: systemClock.now() })

/** Opens everything; resolves when the server may listen. @param limits shorter ones of provider calls, for tests. */
export async function compose(config: Config, limits?: Partial<ProviderLimits>): Promise<Composition> {
  const log = createJsonLogger(process.stderr, config.logLevel)
  const serverTools = await loadServerTools(config.tools)
  const database = await openStores(config, log)
  const encryptionKeys = await findEncryptionKeys(config, database).catch(async (error) => {
    await database.close()
    throw error
  })
  const deps = createDeps({ config, database, encryptionKeys, serverTools, log, limits })
  try {
    const work = await startWork(deps, database)
    // Last of what may fail: a key that is generated here must reach its operator.
    let firstKey: string | undefined
    await createFirstWorkspace(deps, {
      adminKey: config.adminKey,
      createProject: createFirstProject,
      keepKey: (tenant) => {
        firstKey = keepAdminKey(config, tenant)
      },
    })
    const snapshots = startSnapshots(database, {
      directory: config.backupDir,
      everyHours: config.backupHours,
      keep: config.backupKeep,
      log,
    })
    const drain = createDrain()
    const upkeep = [keepLease(deps), dropEventLogs(deps), dropIdempotencyRecords(deps), snapshots]
    const close = async (): Promise<void> => {
      await work.stop()
      for (const loop of upkeep) await loop.stop()
      await releaseLease(deps)
      await deps.templates.close()
      await deps.models.close()
      await database.close()
    }
    const app = createApp({
      ...deps,
      drain,
      rateLimiter: createRateLimiter(),
      failures: createFailureLimiter(config.authFailureLimit),
      settings: httpSettings(config),
      readiness: async () => ({
        accepting: !drain.isDraining,
        recovered: work.hasBegun(),
        ...(await database.ready()),
      }),
      metrics: () => processMetrics(deps, database),
    })
    return {
      app,
      deps,
      database,
      firstKey,
      shutDown: (server) => shutDown({ server, drain, deps, queueWork: work, config, close }),
      close,
    }
  } catch (error) {
    await deps.templates.close()
    await database.close()
    throw error
  }
}

/** The encryption keys; made here when the database has never been used. @throws OperatorError */
export async function findEncryptionKeys(
  config: Config,
  { stores }: Pick<Database<Stores>, 'stores'>,
): Promise<readonly string[]> {
  return encryptionKeysOf(config, (await stores.workspaces.findFirst()) !== null)
}

interface Work {
  hasBegun(): boolean
  /** Takes no more runs. */
  stop(): Promise<void>
}

const roomLookMs = 1_000

/** Ends what a dead process left and works the queue. Both write: on a full disk they wait for room, while reads are answered. */
async function startWork(deps: Deps, database: Pick<Database<Stores>, 'writesClosed'>): Promise<Work> {
  let queueWork: { stop(): Promise<void> } | undefined
  const begin = async () => {
    await recoverRuns(deps)
    await releaseLostClaims(deps)
    await takeLease(deps)
    queueWork = await workRunQueue(deps)
  }
  if (!database.writesClosed()) await begin()
  else deps.log.warn('server.read-only', { reason: 'the disk of the database is almost full' })
  const looking = repeat(roomLookMs, async () => {
    if (queueWork || database.writesClosed()) return
    await begin().catch((error: unknown) => {
      deps.log.warn('server.recovery-failed', { reason: error instanceof Error ? error.message : String(error) })
    })
  })
  if (queueWork) await looking.stop()
  return {
    hasBegun: () => queueWork !== undefined,
    async stop() {
      await looking.stop()
      await queueWork?.stop()
    },
  }
}

// A lease that stays behind ends by itself.
async function releaseLease(deps: Deps): Promise<void> {
  try {
    await deps.leases.release(deps.runSettings.instanceId)
  } catch {
    deps.log.warn('server.lease-not-released')
  }
}

interface Parts {
  config: Config
  database: Database<Stores>
  encryptionKeys: readonly string[]
  serverTools: ServerTools
  log: Logger
  limits: Partial<ProviderLimits> | undefined
}

function createDeps({
  config,
  database,
  encryptionKeys,
  serverTools,
  log,
  limits,
}: Parts): Deps & { models: ClosableModels } {
  const guard = { allowedPrivateHosts: config.allowedPrivateHosts }
  const runs = postgresRunStore(database)
  return {
    stores: database.stores,
    transaction: database.transaction,
    runs,
    toolCalls: postgresToolCallStore(database),
    toolSignals: createToolSignals(),
    serverTools,
    leases: postgresLeaseStore(database.ownSession),
    runQueue: createRunQueue(config),
    runSignals: createRunSignals(),
    logs: postgresLogStore(database),
    idempotencyUpkeep: postgresIdempotencyUpkeep(database.ownSession),
    claimsInWork: new Map(),
    eventLog: createRunEventLog(),
    storedLogs: createStoredLogs(runs),
    activeRuns: createActiveRuns(),
    runSettings: {
      instanceId: randomUUID(),
      graceMs: config.graceMs,
      runTimeoutMs: config.runTimeoutSeconds * 1000,
      maxEvents,
      maxEventBytes,
      stopWaitMs,
      storeWaitMs,
      toolWaitMs,
      sharesDatabase: database.kind === 'postgres',
      eventRetentionMs: config.eventRetentionHours * 3_600_000,
    },
    liveCache: createLiveCache(),
    templates: createTemplateSandbox({
      childFile: join(config.packageRoot, 'dist', 'template-child.mjs'),
      poolSize: config.templateWorkers,
      maxPerKey: config.maxEvaluationsPerKey,
      maxPerWorkspace: config.maxEvaluationsPerWorkspace,
      log,
    }),
    models: createModelDrivers({ guard, clock: systemClock, ...(limits && { limits }) }),
    addressGuard: addressGuard(guard),
    environmentProviders: environmentProviders({ ...config, since: systemClock.now() }),
    prices: priceBook(),
    secrets: secretBox(encryptionKeys),
    clock: systemClock,
    log,
  }
}

function httpSettings(config: Config) {
  return {
    version: config.version,
    features: [
      'stream',
      'background',
      'attach',
      'stop',
      'chat',
      'structured-output',
      'requested-tools',
      'waiting-tools',
      'agents',
      'server-tools',
    ],
    corsOrigins: config.corsOrigins,
    metricsToken: config.metricsToken,
    bodyLimitBytes: config.bodyLimitBytes,
    trustProxy: config.trustProxy,
    maxStreamsPerKey: config.maxStreamsPerKey,
    unread: { stallMs: config.stallSeconds * 1_000, mostBytes: config.unreadBytes },
    validateResponses: config.validateResponses,
  }
}

function processMetrics(deps: Deps, database: Database<Stores>) {
  const memory = process.memoryUsage()
  return [
    {
      name: 'stet_runs_active',
      help: 'Runs that this process drives.',
      type: 'gauge',
      samples: [{ value: deps.activeRuns.list().length }],
    },
    {
      name: 'stet_sql_statements_total',
      help: 'SQL statements sent.',
      type: 'counter',
      samples: [{ value: database.statementCount() }],
    },
    {
      name: 'process_resident_memory_bytes',
      help: 'Resident memory, without child processes.',
      type: 'gauge',
      samples: [{ value: memory.rss }],
    },
    {
      name: 'process_uptime_seconds',
      help: 'Seconds since the start.',
      type: 'gauge',
      samples: [{ value: process.uptime() }],
    },
  ] as const
}
