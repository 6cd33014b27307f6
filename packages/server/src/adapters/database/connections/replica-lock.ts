import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { Logger } from '../../../shared/logger.ts'
import { translateDatabaseError } from '../gate/database-error.ts'

/** `stet` in ASCII: the advisory lock "only replica". */
const LOCK_KEY = 0x73746574
const RETRY_MS = 500

export interface ReplicaLock {
  isHeld(): boolean
  release(): Promise<void>
}

/**
 * Takes the place of the only replica and resolves once it has it: without Redis a second server would have its own
 * rate limits, caches and live runs, silently wrong. When its connection breaks it is taken again, not ready meanwhile.
 */
export async function holdReplicaLock(connect: () => pg.Client, log: Logger): Promise<ReplicaLock> {
  const stopping = new AbortController()
  let holder: pg.Client | undefined

  const takeAgain = async () => {
    while (!stopping.signal.aborted && holder === undefined) {
      await delay(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
      await take().catch(() => undefined)
    }
  }
  const take = async () => {
    const client = connect()
    client.on('error', () => undefined)
    try {
      await client.connect()
      await waitForLock(client, stopping.signal, log)
    } catch (error) {
      await client.end().catch(() => undefined)
      throw translateDatabaseError(error)
    }
    holder = client
    client.once('end', () => {
      holder = undefined
      if (stopping.signal.aborted) return
      log.warn('database.replica-lock-lost')
      void takeAgain()
    })
  }

  await take()
  return {
    isHeld: () => holder !== undefined,
    async release() {
      stopping.abort()
      await holder?.end()
    },
  }
}

async function waitForLock(client: pg.Client, stopping: AbortSignal, log: Logger): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [LOCK_KEY])
    if (rows[0]?.taken === true) return
    if (attempt === 0) log.info('database.waiting-for-other-replica')
    await delay(RETRY_MS, undefined, { signal: stopping })
  }
}
