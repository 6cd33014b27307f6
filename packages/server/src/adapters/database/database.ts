import { join } from 'node:path'
import type { SqlSession } from '@stet/embedded-postgres/sql-session'
import { defined } from '@stet/template/defined'
import { type Prisma, PrismaClient } from '../../../generated/prisma/client.ts'
import { afterListening } from '../../shared/clock.ts'
import type { Logger } from '../../shared/telemetry.ts'
import { LostRowsError, translating } from './database-error.ts'
import { embeddedFolder, openEmbedded } from './embedded.ts'
import type { Engine } from './engine.ts'
import { migrate } from './migrate.ts'
import { gatedAdapter, gatedSession, type StatementGate, statementGate, throwUncarried } from './statement-gate.ts'
import { createWriteBatch, type WriteBatch, type WriteBatchOptions } from './write-batch.ts'

export type DatabaseClient = Prisma.TransactionClient

/** Casts without a check. The store must read the type that it writes. */
export function fromJson<T>(column: Prisma.JsonValue): T {
  return column as unknown as T
}

/** Casts without a check. Use only for types that consist of JSON. */
export function toJson(value: object): Prisma.InputJsonObject {
  return value as Prisma.InputJsonObject
}

export interface DatabaseOptions<Stores> {
  url?: string
  directory: string
  /** Contains `prisma/migrations` and, after a build, `dist/database-thread.mjs` and `dist/database-template.tar.gz`. */
  packageRoot: string
  /**
   * The processes that may use a PostgreSQL database at the same time: only this one, several servers with Redis, or all
   * (for operator commands, which take no lock).
   */
  sharing: 'none' | 'replicas' | 'all'
  /** Milliseconds to wait for any response from PostgreSQL before pending statements fail. */
  silenceMs: number
  /** True if there was an embedded database, so that an empty directory means a lost or unmounted one. */
  mustExist?: boolean
  /** See `STET_ACCEPT_LOST_WRITES`. */
  acceptedLoss?: string | undefined
  /** The folder of the snapshots, the newest of which is named if the embedded database is damaged. */
  backupDir?: string | undefined
  /** Free bytes on the embedded database's disk below which writes are rejected. */
  diskFloorBytes?: number
  storesFor(client: DatabaseClient): Stores
  log: Logger
  writeBatch?: WriteBatchOptions
}

type SharedWithEngine = 'kind' | 'lock' | 'writesClosed' | 'backup' | 'connections' | 'reportDamage'

/** Has a `lock` on PostgreSQL, unless `sharing` is `all`. */
export interface Database<Stores> extends Pick<Engine, SharedWithEngine> {
  client: DatabaseClient
  stores: Stores
  session: SqlSession
  /** Used by background loops. `statementCount` excludes its statements, so that an idle server counts as idle. */
  ownSession: SqlSession
  /** Like `ownSession`, but never waits for requests. */
  leaseSession: SqlSession
  writeBatch: WriteBatch
  transaction<T>(work: (stores: Stores) => Promise<T>): Promise<T>
  /** True if `connectDatabase` took the lock, or if no lock is needed. */
  isTaken: boolean
  /** Names the damage and the way out if `work` fails because of damaged files. @throws OperatorError; errors of `work`. */
  namingDamage<T>(work: () => Promise<T>): Promise<T>
  /** Waits for the lock, then migrates once. Resolves with false if the lock was released first, as `close` does. */
  take(): Promise<boolean>
  /** Results by check name; true means passed. */
  ready(): Promise<Record<string, boolean>>
  /** The number of SQL statements since the start, without those of `ownSession` and `leaseSession`. */
  statementCount(): number
  close(): Promise<void>
}

export async function openDatabase<Stores>(options: DatabaseOptions<Stores>): Promise<Database<Stores>> {
  const database = await connectDatabase(options)
  try {
    await database.take()
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

/** Opens the database and tries to take its lock. Do not read or write before `take`. */
export async function connectDatabase<Stores>(options: DatabaseOptions<Stores>): Promise<Database<Stores>> {
  return translating(async () => {
    const engine = await openEngine(options)
    try {
      return useEngine(engine, (await engine.lock?.tryTake()) ?? true, options)
    } catch (error) {
      await engine.close()
      throw error
    }
  })
}

async function openEngine<Stores>(options: DatabaseOptions<Stores>): Promise<Engine> {
  if (options.url !== undefined) {
    const { openPostgres } = await import('./postgres/postgres.ts')
    return openPostgres({ ...options, url: options.url })
  }
  return openEmbedded({
    ...options,
    folder: embeddedFolder(options.directory),
    template: join(options.packageRoot, 'dist', 'database-template.tar.gz'),
    threadFile: join(options.packageRoot, 'dist', 'database-thread.mjs'),
  })
}

function useEngine<Stores>(engine: Engine, isTaken: boolean, options: DatabaseOptions<Stores>): Database<Stores> {
  const { log, packageRoot, storesFor } = options
  const gate = statementGate(engine)
  const session = gatedSession(engine.session, gate)
  const client = createClient(engine, gate)
  const writeBatch = createWriteBatch(session, options.writeBatch)
  const take = async () => {
    if (!isTaken && !(await engine.lock?.take())) return false
    for (const name of await migrate(session, join(packageRoot, 'prisma', 'migrations'))) {
      log.info('database.migration-applied', { name })
    }
    await engine.lock?.announce()
    engine.startUpkeep?.(gate.count)
    return true
  }
  const namingDamage = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      if (error instanceof LostRowsError) throw (await engine.describeDamage?.(error.message)) ?? error
      throw (await engine.damage?.()) ?? error
    }
  }
  let taken: Promise<boolean> | undefined
  return {
    kind: engine.kind,
    ...defined({ lock: engine.lock }),
    isTaken,
    take() {
      taken ??= namingDamage(take)
      return taken
    },
    namingDamage,
    client,
    stores: storesFor(client),
    session,
    ownSession: gatedSession(engine.requestSession, statementGate(engine)),
    leaseSession: gatedSession(engine.session, statementGate(engine)),
    writeBatch,
    writesClosed: engine.writesClosed,
    transaction: (work) => client.$transaction((transaction) => work(storesFor(transaction))).catch(throwUncarried),
    async ready() {
      const [database] = await Promise.all([answers(engine.session), engine.lock?.confirm()])
      return { database, ...engine.checks() }
    },
    statementCount: gate.count,
    connections: engine.connections,
    ...defined({ backup: engine.backup, reportDamage: engine.reportDamage }),
    async close() {
      await writeBatch.flush()
      await client.$disconnect()
      await engine.close()
    },
  }
}

function createClient(engine: Engine, gate: StatementGate): PrismaClient {
  const client = new PrismaClient({
    adapter: gatedAdapter(engine.adapter, gate),
    transactionOptions: { maxWait: 30_000, timeout: 30_000 },
    errorFormat: 'minimal',
  })
  const extended = client.$extends({
    query: { $allOperations: ({ args, query }) => query(args).catch(throwUncarried) },
  })
  // The extension adds no members, so the plain client type is accurate.
  return extended as unknown as PrismaClient
}

const readyTimeoutMs = 1_000

async function answers(session: SqlSession): Promise<boolean> {
  let stopTimer = () => {}
  const silence = new Promise<false>((resolve) => {
    stopTimer = afterListening(readyTimeoutMs, () => resolve(false), readyTimeoutMs / 4)
  })
  const answer = session.query('SELECT 1').then(Boolean, () => false)
  return Promise.race([answer, silence]).finally(stopTimer)
}
