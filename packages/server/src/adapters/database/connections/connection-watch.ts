import type pg from 'pg'
import type { Logger } from '../../../shared/logger.ts'
import { Connection } from './connection.ts'
import { afterListening } from './listening-time.ts'

/** A connection that has been in use for so long makes us ask whether the server answers at all. */
const SUSPICIOUS_MS = 300
const LOOK_EVERY_MS = 150
const PROBE_TIMEOUT_MS = 500

/**
 * Cuts all connections of a pool when the server is frozen or out of reach without having closed them: else statements
 * would wait for minutes. A statement that is merely slow, or waits for a lock, goes on. Returns how to stop.
 */
export function watchConnections(pool: pg.Pool, config: pg.ClientConfig, log: Logger): () => void {
  const connections = new Set<Connection>()
  const heldSince = new Map<pg.PoolClient, number>()
  let isProbing = false

  pool.on('connect', (client) => {
    if (client instanceof Connection) connections.add(client)
  })
  pool.on('remove', (client) => {
    if (client instanceof Connection) connections.delete(client)
    heldSince.delete(client)
  })
  pool.on('acquire', (client) => heldSince.set(client, performance.now()))
  pool.on('release', (_error, client) => heldSince.delete(client))

  const look = async () => {
    const now = performance.now()
    if (isProbing || ![...heldSince.values()].some((since) => now - since > SUSPICIOUS_MS)) return
    isProbing = true
    const doesAnswer = await probe(config)
    isProbing = false
    if (doesAnswer) return
    log.warn('database_does_not_answer', { connections: connections.size })
    for (const connection of connections) connection.cut()
  }
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** Whether the server answers on a new connection. */
async function probe(config: pg.ClientConfig): Promise<boolean> {
  const connection = new Connection(config)
  connection.on('error', () => undefined)
  const stopTimer = afterListening(PROBE_TIMEOUT_MS, () => connection.cut())
  try {
    await connection.connect()
    await connection.query('SELECT 1')
    return true
  } catch (error) {
    // A server that refuses, because it is full for example, is there.
    return error instanceof Error && 'severity' in error
  } finally {
    stopTimer()
    void connection.end().catch(() => undefined)
  }
}
