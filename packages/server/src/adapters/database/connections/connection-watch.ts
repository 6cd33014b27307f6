import type pg from 'pg'
import type { Logger } from '../../../shared/logger.ts'
import { afterListening } from '../../../shared/time/listening-time.ts'
import { Connection } from './connection.ts'

/** Parts of the silence that is allowed: looking, suspecting and probing together stay within it. */
const LOOK_EVERY = 0.15
/** A connection that has been in use for so long makes us ask whether the server answers at all. */
const SUSPICIOUS = 0.3
const PROBE = 0.5

/**
 * Cuts all connections of a pool when the server is frozen or out of reach without having closed them: else statements
 * would wait for minutes. A statement that is merely slow, or waits for a lock, goes on. Returns how to stop.
 * @param silenceMs how long a server may say nothing at all.
 */
export function watchConnections(pool: pg.Pool, config: pg.ClientConfig, silenceMs: number, log: Logger): () => void {
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
    if (isProbing || ![...heldSince.values()].some((since) => now - since > silenceMs * SUSPICIOUS)) return
    isProbing = true
    const doesAnswer = await probe(config, silenceMs * PROBE)
    isProbing = false
    if (doesAnswer) return
    log.warn('database.does-not-answer', { connections: connections.size })
    for (const connection of connections) connection.cut()
  }
  const timer = setInterval(() => void look(), silenceMs * LOOK_EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

/** Whether the server answers on a new connection. */
async function probe(config: pg.ClientConfig, timeoutMs: number): Promise<boolean> {
  const connection = new Connection(config, timeoutMs)
  connection.on('error', () => undefined)
  const stopTimer = afterListening(timeoutMs, () => connection.cut())
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
