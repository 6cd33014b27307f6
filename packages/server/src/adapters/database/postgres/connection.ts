/** Cuts connections to a silent PostgreSQL server. */
import { Socket } from 'node:net'
import pg from 'pg'
import { afterListening } from '../../../shared/clock.ts'
import type { Logger } from '../../../shared/telemetry.ts'

export interface ConnectionConfig extends pg.ClientConfig {
  /** Limit for connecting, in ms. `watchConnections` allows the same time for silence. */
  silenceMs: number
}

export class Connection extends pg.Client {
  readonly #socket: Socket

  constructor(config: ConnectionConfig) {
    const socket = new Socket()
    super({ ...config, stream: () => socket })
    this.#socket = socket
    // The connection has its own limit, because the pool's limit also covers waits for a free connection.
    const stopTimer = afterListening(config.silenceMs, () => socket.destroy(new Error('timeout expired')))
    this.once('connect', stopTimer).once('end', stopTimer)
  }

  cut(): void {
    this.#socket.destroy()
  }
}

/** Fractions of the allowed silence. All three together stay below 1. */
const lookEvery = 0.15
/** If a connection is in use for longer, a probe starts. */
const suspicious = 0.3
const probeShare = 0.5

/**
 * Cuts all connections to a frozen or unreachable server, because statements would otherwise wait for minutes. Slow and
 * lock-waiting statements continue while the server responds to probes. Returns a function that stops the watch.
 */
export function watchConnections(pools: readonly pg.Pool[], config: ConnectionConfig, log: Logger): () => void {
  const { silenceMs } = config
  const heldSince = new Map<pg.PoolClient, number | undefined>()
  let isProbing = false

  for (const pool of pools) {
    pool.on('connect', (client) => heldSince.set(client, undefined))
    pool.on('acquire', (client) => heldSince.set(client, performance.now()))
    pool.on('release', (_error, client) => heldSince.set(client, undefined))
    pool.on('remove', (client) => heldSince.delete(client))
  }

  const look = async () => {
    const now = performance.now()
    if (isProbing || ![...heldSince.values()].some((since = now) => now - since > silenceMs * suspicious)) return
    isProbing = true
    const responds = await probe({ ...config, silenceMs: silenceMs * probeShare })
    isProbing = false
    if (responds) return
    log.warn('database.does-not-answer', { connections: heldSince.size })
    for (const client of heldSince.keys()) (client as pg.PoolClient & Connection).cut()
  }
  const timer = setInterval(() => void look(), silenceMs * lookEvery)
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
