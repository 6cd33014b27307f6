import pg from 'pg'
import { databaseAway } from '../gate/database-error.ts'
import { Connection, isLockTimeout } from './connection.ts'

/** Connections that one statement, or all transactions together, may hold at a time. */
const PER_LANE = 4
const TRANSACTIONS = 'transactions'

interface Lane {
  name: string
  running: number
  waiting: Set<{ enter(): void; refuse(error: unknown): void }>
}

/**
 * A pool in which a locked table does not take every connection: statements of one text share a lane, and so do
 * transactions. When one runs into the lock timeout, those that wait behind it are refused with it.
 */
export class LanedPool extends pg.Pool {
  readonly #lanes = new Map<string, Lane>()
  readonly #waitMs: number

  constructor(config: pg.PoolConfig & { connectionTimeoutMillis: number }) {
    super(config)
    this.#waitMs = config.connectionTimeoutMillis
    this.query = this.#query.bind(this) as typeof this.query
    this.connect = this.#connect.bind(this) as typeof this.connect
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

  /** With a callback it is the pool itself that asks, for a statement that is in its lane already. */
  #connect(callback?: Parameters<pg.Pool['connect']>[0]): unknown {
    return callback ? super.connect(callback) : this.#connectTransaction()
  }

  async #connectTransaction(): Promise<pg.PoolClient> {
    const lane = await this.#enter(TRANSACTIONS)
    try {
      const client = await super.connect()
      const onLockTimeout = (error: unknown) => refuseWaiting(lane, error)
      client.on(Connection.LOCK_TIMEOUT as 'error', onLockTimeout)
      const release = client.release.bind(client)
      client.release = (error) => {
        client.off(Connection.LOCK_TIMEOUT, onLockTimeout)
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
    // A leaving caller passes its place to a waiting one, so the count does not change.
    if (lane.running >= PER_LANE) await waitIn(lane, this.#waitMs)
    else lane.running += 1
    return lane
  }

  #leave(lane: Lane): void {
    const [next] = lane.waiting
    if (next) {
      next.enter()
      return
    }
    lane.running -= 1
    if (lane.running === 0) this.#lanes.delete(lane.name)
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
