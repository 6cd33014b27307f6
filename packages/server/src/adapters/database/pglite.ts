import type { PGlite } from '@electric-sql/pglite'
import type { SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils'
import { PrismaPGlite } from 'pglite-prisma-adapter'
import type { Logger } from '../../shared/logger.ts'
import { backUp } from './embedded/backup.ts'
import { lockDirectory } from './embedded/directory-lock.ts'
import { watchDiskSpace } from './embedded/disk-space.ts'
import { DurableFs } from './embedded/durable/durable-fs.ts'
import { prepareDirectory } from './embedded/first-start.ts'
import { openPglite } from './embedded/open-pglite.ts'
import { pgliteSession } from './embedded/pglite-session.ts'
import { startUpkeep } from './embedded/upkeep.ts'
import type { Engine } from './engine.ts'

export interface EmbeddedOptions {
  directory: string
  /** A database directory made at build time, which a first start copies when it is there. */
  template: string
  /** The operator's word that a holder of the lock which cannot be seen from here is gone. */
  takeOverLock?: boolean
  /** Free space under which writes are refused. Bytes. */
  diskFloorBytes?: number
  log: Logger
}

/** Opens the embedded database in `directory`: lock, first start or recovery, self-test. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Engine> {
  const { directory, log } = options
  const lock = await lockDirectory(directory, { takeOver: options.takeOverLock === true })
  try {
    await prepareDirectory(directory, options.template)
    const fs = new DurableFs(directory)
    const pglite = await openPglite(directory, fs)
    const disk = await watchDiskSpace(directory, options.diskFloorBytes)
    const session = pgliteSession(pglite)
    let upkeep: { stop(): Promise<void> } | undefined
    return {
      kind: 'embedded',
      adapter: honestAdapter(pglite),
      session,
      writesClosed: disk.isLow,
      checks: () => ({ disk: !disk.isLow() }),
      startUpkeep(statementCount) {
        upkeep = startUpkeep({ session, directory, syncCount: () => fs.syncCount, statementCount, log })
      },
      backup: (file) => backUp(pglite, directory, file),
      async close() {
        disk.stop()
        await upkeep?.stop()
        await pglite.close()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/**
 * pglite-prisma-adapter 0.7.2 swallows the failure of a COMMIT, so that a transaction which was rolled back would be
 * acknowledged. Here the commit also waits for the transaction's own outcome.
 */
function honestAdapter(pglite: PGlite): SqlDriverAdapterFactory {
  const factory = new PrismaPGlite(pglite)
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await factory.connect()
      return Object.assign(Object.create(adapter) as typeof adapter, { startTransaction: () => startHonestly(pglite) })
    },
  }
}

async function startHonestly(pglite: PGlite): Promise<Transaction> {
  let outcome: Promise<unknown> = Promise.resolve()
  const observed = {
    transaction<T>(work: Parameters<typeof pglite.transaction<T>>[0]) {
      const running = pglite.transaction(work)
      outcome = running
      return running
    },
  }
  // The adapter uses nothing but `transaction` of it here. One session is serial: isolation levels change nothing.
  const adapter = await new PrismaPGlite(observed as PGlite).connect()
  const transaction = await adapter.startTransaction()
  return Object.assign(Object.create(transaction) as Transaction, {
    commit: async () => {
      await transaction.commit()
      await outcome
    },
  })
}
