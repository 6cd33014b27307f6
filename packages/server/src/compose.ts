/** Builds the app from the configuration. This is the only file that imports all adapters. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { startSnapshots } from '@stet/embedded-postgres'
import { defined } from '@stet/template/defined'
import { LRUCache } from 'lru-cache'
import {
  connectDatabase,
  type Database,
  type DatabaseClient,
  type DatabaseOptions,
  openDatabase,
} from './adapters/database/database.ts'
import { requireOwnRows } from './adapters/database/migrate.ts'
import { postgresApiKeyStore } from './adapters/database/stores/api-key-store.ts'
import { postgresConversationStore, postgresLabelStore } from './adapters/database/stores/conversation-store.ts'
import { postgresDeletionStore } from './adapters/database/stores/deletion-store.ts'
import { postgresDocumentStore } from './adapters/database/stores/document-store.ts'
import { evaluationStores } from './adapters/database/stores/evaluation-store.ts'
import { postgresExampleStore } from './adapters/database/stores/example-store.ts'
import { postgresExperimentStore } from './adapters/database/stores/experiment-store.ts'
import { postgresExperimentWorkStore } from './adapters/database/stores/experiment-work-store.ts'
import { postgresExternalLogStore, transactionExternalLogStore } from './adapters/database/stores/external-log-store.ts'
import { postgresIdempotencyStore, postgresIdempotencyUpkeep } from './adapters/database/stores/idempotency-store.ts'
import { postgresProjectStore } from './adapters/database/stores/project-store.ts'
import { postgresProviderKeyStore } from './adapters/database/stores/provider-key-store.ts'
import { postgresReleaseStore } from './adapters/database/stores/release-store.ts'
import { postgresRunRecordStore } from './adapters/database/stores/run-record-store.ts'
import { postgresLeaseStore, postgresRunStore } from './adapters/database/stores/run-store.ts'
import {
  postgresInstallationStore,
  postgresSessionStore,
  postgresSignInLinkStore,
} from './adapters/database/stores/session-store.ts'
import { postgresStatsStore } from './adapters/database/stores/stats-store.ts'
import { postgresToolCallStore } from './adapters/database/stores/tool-call-store.ts'
import { postgresVersionStore } from './adapters/database/stores/version-store.ts'
import { postgresStorageMeter, postgresWorkspaceStore } from './adapters/database/stores/workspace-store.ts'
import { createEvaluator } from './adapters/evaluation/evaluator.ts'
import { createStatsTurns } from './adapters/evaluation/thread-queue.ts'
import { createLargeAnswers } from './adapters/in-process/large-answers.ts'
import { createLiveAdapters, type LiveAdapters } from './adapters/in-process/live-adapters.ts'
import { createJsonLogger } from './adapters/logging/json-logger.ts'
import { createPrometheusMetrics } from './adapters/metrics/prometheus-metrics.ts'
import type { ProcessState } from './adapters/metrics/series.ts'
import { priceBook } from './adapters/prices/price-book.ts'
import { createModelDrivers } from './adapters/providers/registry.ts'
import { addressGuard } from './adapters/providers/transport/address-guard.ts'
import type { ProviderLimits } from './adapters/providers/transport/transport.ts'
import { secretBox } from './adapters/secrets/secret-box.ts'
import { loadServerTools } from './adapters/server-tools/load-server-tools.ts'
import type { Config } from './config.ts'
import { encryptionKeysOf, hasKeyFile } from './data-files.ts'
import { createWorkspaceStorage } from './features/access/workspace-storage.ts'
import { createDeletionWork } from './features/conversations/deletion/purge-deleted.ts'
import type { Deps, Stores } from './features/deps.ts'
import { createExperimentDeps } from './features/experiments/find-experiment.ts'
import { withGates } from './features/experiments/gates/read-verdicts.ts'
import { environmentProviders } from './features/providers/list-providers.ts'
import { createStoredLogs } from './features/runs/events/stored-events.ts'
import { createActiveRuns } from './features/runs/leases/active-runs.ts'
import { defaultLeaseTimes } from './features/runs/leases/keep-lease.ts'
import type { LeaseTimes, RunSettings, RunStore } from './features/runs/ports.ts'
import type { ServerTools } from './features/runs/tools/tool.ts'
import { createStatsDeps } from './features/stats/pieces.ts'
import { createApp } from './http/app.ts'
import type { Place } from './http/http-deps.ts'
import { Drain } from './http/operations/drain.ts'
import type { HttpServer } from './http/server.ts'
import { type StartedWork, shutDown, startUp } from './lifecycle.ts'
import { systemClock } from './shared/clock.ts'
import { type Logger, noTracer } from './shared/telemetry.ts'
import { eventCodec } from './wire/event-log-format.ts'

export type Composition = Awaited<ReturnType<typeof compose>>

const runLimits = {
  maxEvents: 500_000,
  maxEventBytes: 32 * 1024 * 1024,
  ...{ stopWaitMs: 2_000, storeWaitMs: 60_000, toolWaitMs: 300_000 },
}
const features = [
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
  'releases',
]

export function storesFor(client: DatabaseClient): Stores {
  return {
    workspaces: postgresWorkspaceStore(client),
    apiKeys: postgresApiKeyStore(client),
    projects: postgresProjectStore(client),
    versions: postgresVersionStore(client),
    releases: postgresReleaseStore(client),
    documents: postgresDocumentStore(client),
    providerKeys: postgresProviderKeyStore(client),
    ...{ conversations: postgresConversationStore(client), labels: postgresLabelStore(client) },
    runRecords: postgresRunRecordStore(client),
    ...evaluationStores(client),
    ...{ examples: postgresExampleStore(client), experiments: postgresExperimentStore(client) },
    idempotency: postgresIdempotencyStore(client),
    externalLogs: transactionExternalLogStore(client),
    sessions: postgresSessionStore(client),
    signInLinks: postgresSignInLinkStore(client),
    installations: postgresInstallationStore(client),
  }
}

/** Opens the stores for an operator command. Takes no replica lock, so on PostgreSQL the server can keep running. */
export async function openStores(config: Config, logger: Logger): Promise<Database<Stores>> {
  return openDatabase({ ...databaseOptions(config, logger), sharing: 'all' })
}

function databaseOptions(config: Config, logger: Logger): DatabaseOptions<Stores> {
  return {
    ...defined({ url: config.databaseUrl }),
    directory: join(config.dataDir, 'db'),
    ...{ mustExist: hasKeyFile(config), acceptedLoss: config.acceptLostWrites, backupDir: config.backupDir },
    ...{ packageRoot: config.packageRoot, silenceMs: config.databaseSilenceMs },
    sharing: config.redisUrl === undefined ? 'none' : 'replicas',
    storesFor,
    log: logger,
  }
}

/** Settings that tests replace in a composition. */
export type Replaced = { providerLimits?: Partial<ProviderLimits>; lease?: Partial<LeaseTimes> }

/** Opens the database and builds the app. Resolves when the server may listen, even if another one owns the database. */
export async function compose(config: Config, replaced: Replaced = {}) {
  const { endTelemetry, ...telemetry } = await openTelemetry(config)
  const { logger, metrics } = telemetry
  for (const unknown of config.unknownVariables) logger.warn('config.unknown-variable', { ...unknown })
  const serverTools = await loadServerTools(config.tools)
  const { database, ...opened } = await connectWithKeys(config, telemetry)
  let work: StartedWork | undefined
  // True if the disk is almost full, or if the recovery at the start is incomplete.
  const isReadOnly = () => database.writesClosed() || work?.queueWork.hasBegun() === false
  const runs = postgresRunStore({ ...database, writesClosed: isReadOnly })
  const live = await openLiveAdapters(config, runs, logger)
  const deps = withGates(createDeps({ config, database, ...opened, serverTools, ...telemetry, replaced, runs, live }))
  metrics.watch(processState(deps, database))
  const drain = new Drain()
  const start = async (): Promise<StartedWork | undefined> => {
    if (!(await database.take())) return undefined
    const isUsed = await requireOwnRows(database.session)
    const { writesClosed } = database
    const isSuccessor = !database.isTaken || config.redisUrl !== undefined
    work = await startUp({ deps, config, isUsed, isSuccessor, writesClosed })
    const snapshots = { directory: config.backupDir, everyHours: config.backupHours, keep: config.backupKeep }
    work.upkeep.push(startSnapshots(database, { ...snapshots, owner: 'stet', log: logger }))
    database.reportDamage?.()
    return work
  }
  const close = () => closeAll({ database, deps, live, work, endTelemetry })
  const superseded = forgetWithLock(deps, database)
  const started = database.namingDamage(start)
  try {
    if (database.isTaken) await started
  } catch (error) {
    await close()
    throw error
  }
  const place = placeOf(config, database, () => work !== undefined)
  const app = createApp({
    ...deps,
    drain,
    place,
    rateLimiter: live.rateLimiter,
    failures: live.failures,
    settings: {
      ...config,
      database: database.kind,
      features,
      unread: { stallMs: config.stallSeconds * 1_000, mostBytes: config.unreadBytes },
    },
    readiness: async () => ({
      accepting: work !== undefined && !drain.isDraining,
      recovered: work?.queueWork.hasBegun() ?? false,
      ...(await database.ready()),
    }),
    metrics,
  })
  return {
    app,
    deps,
    database,
    /** True if another server owned the database at the start. The API then returns 503 until `started` resolves. */
    isWaiting: !database.isTaken,
    /** Resolves when the start-up work is done, or with undefined if the server was closed first. */
    started,
    /** Resolves when another server has taken over the database. This server must then drain and end. */
    superseded,
    shutDown: (server: HttpServer) =>
      shutDown({
        server,
        drain,
        deps,
        queueWork: { stop: async () => work?.queueWork.stop() },
        config,
        isServing: place.isConfirmed(),
        handOver: async () => database.lock?.release(),
        close,
      }),
    /** Closes everything without draining, for a server that never listened. */
    close,
  }
}

/**
 * If there is no encryption key yet, migrates the database first to check whether it has a workspace. A database with a
 * workspace must not get a new key.
 */
async function connectWithKeys(config: Config, { logger, metrics }: Telemetry) {
  const storage = createWorkspaceStorage(config)
  const writeBatch = { metrics, onAdded: storage?.add }
  const database = await connectDatabase({ ...databaseOptions(config, logger), writeBatch })
  try {
    const isUsed = async () => {
      await database.take()
      return requireOwnRows(database.session)
    }
    const encryptionKeys = await encryptionKeysOf(config, () => database.namingDamage(isUsed))
    return { database, encryptionKeys, storage }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Drops cached rows whenever an exclusive lock is lost, or a lock is taken. Resolves when another server has taken the lost lock. */
function forgetWithLock(deps: Deps, { lock }: Database<Stores>): Promise<void> {
  const onChange = () => {
    deps.liveCache.clear()
    deps.runs.active.forgetAll()
  }
  return new Promise((onSuperseded) => lock?.listen({ onChange, onSuperseded }))
}

/**
 * A server serves the API only after its start-up work. Without Redis, it also needs a confirmed lock, because no other
 * server may serve.
 */
function placeOf({ redisUrl }: Config, database: Database<Stores>, hasStarted: () => boolean): Place {
  const lock = redisUrl === undefined ? database.lock : undefined
  return {
    isConfirmed: () => hasStarted() && (lock === undefined || lock.isConfirmed()),
    confirm: async () => hasStarted() && (lock === undefined || (await lock.confirm())),
  }
}

/** Loads OpenTelemetry only if traces are exported. */
async function openTelemetry(config: Config) {
  const logger = createJsonLogger(process.stderr, config.logLevel)
  const metrics = createPrometheusMetrics(config)
  const { otlpEndpoint } = config
  if (otlpEndpoint === undefined)
    return { logger, metrics, tracer: noTracer, endTelemetry: async () => metrics.close() }
  const { createOtelTracing } = await import('./adapters/tracing/otel-tracing.ts')
  const { tracer, close } = createOtelTracing({ ...config, otlpEndpoint }, logger, metrics)
  const endTelemetry = () => close().finally(metrics.close)
  return { logger, metrics, tracer, endTelemetry }
}

function processState(deps: ReturnType<typeof createDeps>, database: Database<Stores>): ProcessState {
  const { runs, templates, storage } = deps
  return {
    activeRuns: () => runs.active.list().length,
    queuedRuns: runs.queue.depth,
    eventLogReaders: runs.eventLog.readerCount,
    templatesWaiting: templates.waiting,
    statementCount: database.statementCount,
    connections: database.connections,
    ...(storage && { storedBytes: storage.use.totalBytes }),
  }
}

interface Opened {
  database: Database<Stores>
  deps: ReturnType<typeof createDeps>
  live: LiveAdapters
  /** Undefined if the start-up work has not begun. */
  work: StartedWork | undefined
  endTelemetry(): Promise<void>
}

async function closeAll({ database, deps, live, work, endTelemetry }: Opened): Promise<void> {
  // `release` also ends this server's own wait for the lock, so that no work starts during the close.
  await database.lock?.release()
  await work?.queueWork.stop()
  for (const loop of work?.upkeep ?? []) await loop.stop()
  if (work) await releaseLease(deps)
  await deps.templates.close()
  await deps.providers.drivers.close()
  await live.close()
  await database.close()
  await endTelemetry()
}

// If the release fails, the lease expires on its own.
async function releaseLease(deps: Pick<Deps, 'runs' | 'logger'>): Promise<void> {
  try {
    await deps.runs.leases.release(deps.runs.settings.instanceId)
  } catch {
    deps.logger.warn('server.lease-not-released')
  }
}

type Telemetry = Omit<Awaited<ReturnType<typeof openTelemetry>>, 'endTelemetry'>

interface Parts extends Telemetry, Awaited<ReturnType<typeof connectWithKeys>> {
  config: Config
  serverTools: ServerTools
  replaced: Replaced
  runs: RunStore
  live: LiveAdapters
}

function createDeps(parts: Parts) {
  const { config, database, logger, replaced, runs, live, storage } = parts
  const guard = { allowedPrivateHosts: config.allowedPrivateHosts }
  const stores = { ...database.stores, externalLogs: postgresExternalLogStore(database) }
  return {
    stores,
    ...{ transaction: database.transaction, singleWrite: (work) => work(stores) },
    runs: {
      store: runs,
      ...{ queue: live.queue, signals: live.signals, eventLog: live.eventLog, toolSignals: live.toolSignals },
      leases: postgresLeaseStore(database.leaseSession),
      ...{ storedLogs: createStoredLogs(runs, eventCodec), codec: eventCodec },
      // With Redis, another server may continue a conversation, so no idle conversation stays in memory.
      active: createActiveRuns(config.redisUrl === undefined ? endedRunShare(config) : 1),
      metrics: parts.metrics,
      settings: runSettings(config, database, replaced),
      largeAnswers: createLargeAnswers(config.unreadBytes),
      toolCalls: postgresToolCallStore(database),
      serverTools: parts.serverTools,
    },
    deletions: { store: postgresDeletionStore(database.ownSession), work: createDeletionWork() },
    experiments: createExperimentDeps(postgresExperimentWorkStore(database.ownSession), config),
    idempotency: { upkeep: postgresIdempotencyUpkeep(database.ownSession), claimsInWork: new Map() },
    providers: {
      drivers: createModelDrivers({ guard, clock: systemClock, limits: replaced.providerLimits }),
      resolved: new LRUCache({ max: 500 }),
      environment: environmentProviders({ ...config, since: systemClock.now() }),
      addressGuard: addressGuard(guard),
      prices: priceBook(),
      testLimitMs: 20_000,
    },
    secrets: secretBox(parts.encryptionKeys),
    ...(storage && { storage: { use: storage, meter: postgresStorageMeter(database.ownSession) } }),
    liveCache: live.liveCache,
    stats: createStatsDeps(postgresStatsStore(database.ownSession), createStatsTurns().take),
    templates: createEvaluator({
      threadFile: join(config.packageRoot, 'dist', 'evaluation-thread.mjs'),
      timeoutMs: 2_000,
      maxPerKey: config.maxEvaluationsPerKey,
      maxPerWorkspace: config.maxEvaluationsPerWorkspace,
      ...{ log: logger, metrics: parts.metrics },
    }),
    ...{ clock: systemClock, logger, tracer: parts.tracer },
  } satisfies Omit<Deps, 'gates'>
}

/** Loads the Redis adapters only if they are used, because they take memory and time at the start. */
async function openLiveAdapters(config: Config, runs: RunStore, log: Logger): Promise<LiveAdapters> {
  const options = { ...config, endedLogBytes: endedRunShare(config) }
  if (config.redisUrl === undefined) return createLiveAdapters(options)
  const { createRedisAdapters } = await import('./adapters/redis/redis-adapters.ts')
  const address = { url: config.redisUrl, prefix: config.redisPrefix, timeoutMs: config.redisTimeoutMs }
  return createRedisAdapters({ ...options, ...address, codec: eventCodec, countQueued: runs.countQueued, log })
}

/** A third each for event logs, conversations and queued runs. At least 1, because 0 means no limit in lru-cache. */
function endedRunShare(config: Config): number {
  return Math.max(1, Math.floor(config.endedRunBytes / 3))
}

function runSettings(config: Config, database: Database<Stores>, { lease }: Replaced): RunSettings {
  return {
    instanceId: randomUUID(),
    graceMs: config.graceMs,
    runTimeoutMs: config.runTimeoutSeconds * 1000,
    ...runLimits,
    sharesDatabase: database.kind === 'postgres',
    lease: { ...defaultLeaseTimes, ...lease },
    ...{ retentionDays: config.retentionDays, keepParameters: config.keepParameters },
    eventRetentionMs: config.eventRetentionHours * 3_600_000,
  }
}
