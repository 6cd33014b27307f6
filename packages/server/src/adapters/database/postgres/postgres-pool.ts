/** Cuts connections to a silent PostgreSQL server. One locked table cannot exhaust the pool. */
import { Socket } from 'node:net'
import pg from 'pg'
import { afterListening } from '../../../shared/clock.ts'
import type { Logger } from '../../../shared/logger.ts'
import { codeOf, databaseAway } from '../database-error.ts'

function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03'
}

export interface ConnectionConfig extends pg.ClientConfig {
  /** Limit for connecting, in ms. `watchConnections` allows the same time for silence. */
  silenceMs: number
}

export class Connection extends pg.Client {
  onLockTimeout: ((error: unknown) => void) | undefined
  readonly #socket: Socket

  constructor(config: ConnectionConfig) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // The connection has its own limit, because the pool's limit also covers waits for a free connection.
    const stopTimer = afterListening(config.silenceMs, () => socket.destroy(new Error('timeout expired')))
    this.once('connect', stopTimer).once('end', stopTimer)
    const send = this.query.bind(this) as (...args: unknown[]) => unknown
    this.query = ((...args: unknown[]) => {
      const result = send(...args)
      if (result instanceof Promise) {
        result.catch((error: unknown) => isLockTimeout(error) && this.onLockTimeout?.(error))
      }
      return result
    }) as typeof this.query
  }

  cut(): void {
    this.#socket.destroy()
  }
}

/** Groups statements with the same SQL text, or all transactions. */
interface Lane {
  name: string
  running: number
  waiting: Set<{ enter(): void; refuse(error: unknown): void }>
}

/**
 * A lane gets another connection only while it uses fewer than are free. So one lane uses at most half of the pool
 * (ADR 48). After a lock timeout, the lane's waiting statements are rejected too.
 */
export class SharedPool extends pg.Pool {
  readonly #lanes = new Map<string, Lane>()
  readonly #waitMs: number
  #free: number

  constructor(config: ConnectionConfig & { connectionTimeoutMillis: number; max: number }) {
    super({ ...config, Client: Connection as unknown as new () => pg.ClientBase })
    this.#waitMs = config.connectionTimeoutMillis
    this.#free = config.max
    this.query = this.#query.bind(this) as typeof this.query
    this.connect = this.#connect.bind(this) as typeof this.connect
  }

  use(): { inUse: number; waiting: number; most: number } {
    const most = this.options.max
    let waiting = 0
    for (const lane of this.#lanes.values()) waiting += lane.waiting.size
    return { inUse: most - this.#free, waiting, most }
  }

  async #query(query: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> {
    const lane = await this.#enter(typeof query === 'string' ? query : query.text)
    try {
      return await super.query(query, values)
    } catch (error) {
      if (isLockTimeout(error)) refuseWaiting(lane, error)
      throw error
    } finally {
      this.#leave(lane)
    }
  }

  /** `pg.Pool.query` passes a callback. Its statement already has a lane. */
  #connect(callback?: Parameters<pg.Pool['connect']>[0]): unknown {
    return callback ? super.connect(callback) : this.#connectTransaction()
  }

  async #connectTransaction(): Promise<pg.PoolClient> {
    const lane = await this.#enter('transactions')
    try {
      const client = (await super.connect()) as pg.PoolClient & Connection
      client.onLockTimeout = (error) => refuseWaiting(lane, error)
      const release = client.release.bind(client)
      client.release = (error) => {
        client.onLockTimeout = undefined
        release(error)
        this.#leave(lane)
      }
      return client
    } catch (error) {
      this.#leave(lane)
      throw error
    }
  }

  async #enter(name: string): Promise<Lane> {
    const lane = this.#lanes.get(name) ?? { name, running: 0, waiting: new Set() }
    this.#lanes.set(name, lane)
    if (lane.waiting.size === 0 && lane.running < this.#free) this.#take(lane)
    else await waitIn(lane, this.#waitMs).finally(() => this.#dropIfEmpty(lane))
    return lane
  }

  #dropIfEmpty({ name, running, waiting }: Lane): void {
    if (running === 0 && waiting.size === 0) this.#lanes.delete(name)
  }

  #take(lane: Lane): void {
    lane.running += 1
    this.#free -= 1
  }

  #leave(left: Lane): void {
    left.running -= 1
    this.#free += 1
    for (const lane of this.#lanes.values()) {
      for (const next of lane.waiting) {
        if (lane.running >= this.#free) break
        this.#take(lane)
        next.enter()
      }
    }
    this.#dropIfEmpty(left)
  }
}

function waitIn({ waiting }: Lane, waitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const leaveQueue = () => {
      clearTimeout(timer)
      waiting.delete(waiter)
    }
    const waiter = {
      enter() {
        leaveQueue()
        resolve()
      },
      refuse(error: unknown) {
        leaveQueue()
        reject(databaseAway(error))
      },
    }
    const timer = setTimeout(() => waiter.refuse(new Error('No connection was free in time')), waitMs)
    waiting.add(waiter)
  })
}

function refuseWaiting({ waiting }: Lane, error: unknown): void {
  for (const waiter of waiting) waiter.refuse(error)
}

/** Fractions of the allowed silence. All three together stay below 1. */
const LOOK_EVERY = 0.15
/** If a connection is in use for longer, a probe starts. */
const SUSPICIOUS = 0.3
const PROBE = 0.5

/**
 * Cuts all connections to a frozen or unreachable server, because statements would otherwise wait for minutes. Slow and
 * lock-waiting statements continue while the server responds to probes. Returns a function that stops the watch.
 */
export function watchConnections(pool: pg.Pool, config: ConnectionConfig, log: Logger): () => void {
  const { silenceMs } = config
  const heldSince = new Map<pg.PoolClient, number | undefined>()
  let isProbing = false

  pool.on('connect', (client) => heldSince.set(client, undefined))
  pool.on('acquire', (client) => heldSince.set(client, performance.now()))
  pool.on('release', (_error, client) => heldSince.set(client, undefined))
  pool.on('remove', (client) => heldSince.delete(client))

  const look = async () => {
    const now = performance.now()
    if (isProbing || ![...heldSince.values()].some((since = now) => now - since > silenceMs * SUSPICIOUS)) return
    isProbing = true
    const responds = await probe({ ...config, silenceMs: silenceMs * PROBE })
    isProbing = false
    if (responds) return
    log.warn('database.does-not-answer', { connections: heldSince.size })
    for (const client of heldSince.keys()) (client as pg.PoolClient & Connection).cut()
  }
  const timer = setInterval(() => void look(), silenceMs * LOOK_EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

async function probe(config: ConnectionConfig): Promise<boolean> {
  const connection = new Connection(config)
  connection.on('error', () => undefined)
  const stopTimer = afterListening(config.silenceMs, () => connection.cut())
  try {
    await connection.connect()
    await connection.query('SELECT 1')
    return true
  } catch (error) {
    // A rejected login, for example because of too many connections, is a response too.
    return error instanceof Error && 'severity' in error
  } finally {
    stopTimer()
    void connection.end().catch(() => undefined)
  }
}
