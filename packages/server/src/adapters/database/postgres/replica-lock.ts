import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterListening } from '../../../shared/clock.ts'
import type { Logger } from '../../../shared/telemetry.ts'
import type { Connection } from './connection.ts'

/** The advisory lock's key: `stet` in ASCII. */
const lockKey = 0x73746574
const tryEveryMs = 100
const retryAfterFailureMs = 500
/** The frequent confirmations also keep firewalls from dropping the connection. */
const confirmEveryMs = 200
const confirmedForMs = 600
/** The wait after a predecessor that did not release the lock. Must exceed `confirmedForMs`. */
const takeoverWaitMs = 1_000

/** Lets PostgreSQL detect within about 10 s that the lock holder's machine is gone, and release the lock. */
const keepAlive = [
  'SET tcp_keepalives_idle = 5',
  'SET tcp_keepalives_interval = 1',
  'SET tcp_keepalives_count = 5',
  'SET tcp_user_timeout = 10000',
].join('; ')

/** The id prefix of `instance` rows that mark a serving process. These rows never own runs. */
const serving = 'serving:'

export interface ReplicaLockOptions {
  silenceMs: number
  /** True with Redis: several servers share the lock, which excludes servers without Redis. */
  isShared?: boolean
  log: Logger
}

export interface ReplicaLockListener {
  /**
   * Called when the lock is taken, before any request is accepted, and when an exclusive lock is lost. Servers that share
   * the lock serve cached reads without it, because they receive each other's drops through Redis.
   */
  onChange(): void
  /** Called when another server took the lock after this one lost it. */
  onSuperseded(): void
}

interface Held {
  connection: Connection
  pid: number
  /** The session's start time, which distinguishes it from a later session with the same pid. */
  since: string
}

/**
 * Without Redis, rate limits, caches and active runs are in memory, so only one server may use a database. The lock
 * belongs to one database session and is confirmed every 200 ms. If the process pauses or loses its connection, the
 * confirmation expires and the server rejects requests. Servers with Redis share the lock and need no confirmation.
 */
export class ReplicaLock {
  readonly #connect: () => Connection
  readonly #options: ReplicaLockOptions
  readonly #id = `${serving}${randomUUID()}`
  readonly #stopping = new AbortController()
  #listener: ReplicaLockListener | undefined
  #candidate: Connection | undefined
  #held: Held | undefined
  #confirmedAt = Number.NEGATIVE_INFINITY
  #asking: Promise<void> | undefined

  constructor(connect: () => Connection, options: ReplicaLockOptions) {
    this.#connect = connect
    this.#options = options
    const timer = setInterval(() => void this.#ask(), confirmEveryMs).unref()
    this.#stopping.signal.addEventListener('abort', () => clearInterval(timer))
  }

  listen(listener: ReplicaLockListener): void {
    this.#listener = listener
  }

  /** True if no other server can be serving right now. Sends no query. */
  isConfirmed(): boolean {
    return this.#held !== undefined && performance.now() - this.#confirmedAt < confirmedForMs
  }

  /** Like `isConfirmed`, but queries the database first if the last confirmation has expired. */
  async confirm(): Promise<boolean> {
    if (this.isConfirmed()) return true
    let isOver = false
    // Leaves most of `silenceMs` for the statement that follows.
    const stopTimer = afterListening(this.#options.silenceMs * 0.4, () => {
      isOver = true
    })
    while (this.#held !== undefined && !this.isConfirmed() && !isOver) await Promise.race([this.#ask(), delay(20)])
    stopTimer()
    return this.isConfirmed()
  }

  /**
   * Returns false if another server has the lock. If the previous holder did not release the lock, waits until that
   * holder's confirmation has expired.
   */
  async tryTake(): Promise<boolean> {
    if (this.#held !== undefined) return true
    const connection = await this.#connected()
    try {
      const tryLock = this.#options.isShared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock'
      const { rows } = await this.#query(connection, `SELECT ${tryLock}($1) AS taken`, [lockKey])
      if (rows[0]?.['taken'] !== true) return false
      await this.#outlivePredecessor(connection)
      const askedAt = performance.now()
      const session = 'SELECT pid, backend_start::text AS since FROM pg_stat_activity WHERE pid = pg_backend_pid()'
      const [own] = (await this.#query(connection, session)).rows
      this.#candidate = undefined
      if (this.#stopping.signal.aborted) throw new Error('The lock was released while it was being taken')
      this.#listener?.onChange()
      this.#held = { connection, pid: Number(own?.['pid']), since: String(own?.['since']) }
      this.#confirmedAt = askedAt
      return true
    } catch (error) {
      this.#candidate = undefined
      connection.cut()
      throw error
    }
  }

  /** Waits for the lock, even while the database is unavailable. Returns false if `release` was called first. */
  async take(): Promise<boolean> {
    this.#options.log.info('database.waiting-for-other-replica')
    while (!this.#stopping.signal.aborted) {
      const outcome = await this.tryTake().catch(() => undefined)
      if (outcome === true) {
        this.#options.log.info('database.replica-lock-taken')
        return true
      }
      await delay(outcome === undefined ? retryAfterFailureMs : tryEveryMs)
    }
    return false
  }

  /** Replaces the record of the previous serving process with this one's. Requires the schema. */
  async announce(connection = this.#held?.connection): Promise<void> {
    if (!connection) return
    await this.#query(connection, `DELETE FROM instance WHERE id LIKE '${serving}%' AND id <> $1`, [this.#id])
    if (this.#options.isShared) return
    const sql = 'INSERT INTO instance (id, lease_until) VALUES ($1, now()) ON CONFLICT DO NOTHING'
    await this.#query(connection, sql, [this.#id])
  }

  /** Releases the lock, so that the next server can start immediately. Also ends the wait in `take`. */
  async release(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    const connection = this.#held?.connection ?? this.#candidate
    const hasServed = this.#held !== undefined
    this.#held = undefined
    if (!connection) return
    try {
      // If this row remained, the next server would wait for `takeoverWaitMs`.
      if (hasServed) await this.#query(connection, 'DELETE FROM instance WHERE id = $1', [this.#id])
      await connection.end()
    } catch {
      connection.cut()
    }
  }

  async #connected(): Promise<Connection> {
    if (this.#candidate) return this.#candidate
    const connection = this.#connect()
    connection.on('error', () => undefined)
    connection.once('end', () => this.#onEnd(connection))
    try {
      await connection.connect()
      await this.#query(connection, keepAlive)
    } catch (error) {
      connection.cut()
      throw error
    }
    this.#candidate = connection
    return connection
  }

  async #query(connection: Connection, sql: string, params?: unknown[]) {
    const stopTimer = afterListening(this.#options.silenceMs, () => connection.cut())
    try {
      return await connection.query<Record<string, unknown>>(sql, params)
    } finally {
      stopTimer()
    }
  }

  /** A holder that has not noticed the loss of its session may serve until its last confirmation expires. */
  async #outlivePredecessor(connection: Connection): Promise<void> {
    const present = await this.#query(connection, `SELECT to_regclass('instance') IS NOT NULL AS present`)
    if (present.rows[0]?.['present'] !== true) return
    const others = `SELECT 1 FROM instance WHERE id LIKE '${serving}%' AND id <> $1`
    const { rows } = await this.#query(connection, others, [this.#id])
    if (rows.length > 0) await delay(takeoverWaitMs)
    await this.announce(connection)
  }

  #ask(): Promise<void> {
    const { connection } = this.#held ?? {}
    if (!connection) return Promise.resolve()
    this.#asking ??= (async () => {
      const askedAt = performance.now()
      await this.#query(connection, 'SELECT 1')
      if (this.#held?.connection === connection) this.#confirmedAt = askedAt
    })()
      .catch(() => {
        connection.cut()
        this.#onEnd(connection)
      })
      .finally(() => {
        this.#asking = undefined
      })
    return this.#asking
  }

  #onEnd(connection: Connection): void {
    if (this.#candidate === connection) this.#candidate = undefined
    const held = this.#held
    if (held?.connection !== connection) return
    this.#held = undefined
    this.#confirmedAt = Number.NEGATIVE_INFINITY
    this.#options.log.warn('database.replica-lock-lost')
    if (this.#options.isShared !== true) this.#listener?.onChange()
    void this.#takeAgain(held)
  }

  async #takeAgain(lost: Held): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const outcome = await this.#takeOrFindHolder(lost).catch(() => 'unknown' as const)
      if (outcome === 'taken') return this.#options.log.info('database.replica-lock-taken-again')
      if (outcome === 'superseded') {
        this.#options.log.error('database.replica-lock-taken-by-other')
        return this.#listener?.onSuperseded()
      }
      await delay(tryEveryMs)
    }
  }

  async #takeOrFindHolder(lost: Held): Promise<'taken' | 'superseded' | 'unknown'> {
    if (await this.tryTake()) return 'taken'
    const connection = await this.#connected()
    const [holder] = (await this.#query(connection, holderSql, [lockKey])).rows
    if (!holder) return 'unknown'
    if (Number(holder['pid']) !== lost.pid || holder['since'] !== lost.since) return 'superseded'
    // The holder is this server's own session. Its connection is broken, but PostgreSQL still considers it alive.
    await this.#query(connection, 'SELECT pg_terminate_backend($1)', [lost.pid])
    return 'unknown'
  }
}

const holderSql = `SELECT l.pid, a.backend_start::text AS since FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = $1 AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`
