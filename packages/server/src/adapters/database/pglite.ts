import type { Logger } from '../../shared/logger.ts'
import { diskFull } from './database-error.ts'
import { lockDirectory } from './embedded/directory/directory-lock.ts'
import { requireBackupSpace, requireSpace, watchDiskSpace } from './embedded/disk-space.ts'
import { compiledPglite } from './embedded/thread/compiled-pglite.ts'
import { startDatabaseThread } from './embedded/thread/database-thread.ts'
import { threadAdapter } from './embedded/thread/thread-adapter.ts'
import { threadSession } from './embedded/thread/thread-session.ts'
import { startUpkeep, type Upkeep } from './embedded/upkeep.ts'
import type { Engine } from './engine.ts'

export interface EmbeddedOptions {
  directory: string
  /** A database directory made at build time, which a first start copies when it is there. */
  template: string
  /** The program of the thread that the database works in. */
  threadFile: string
  /** Free space under which writes are refused. Bytes. */
  diskFloorBytes?: number
  log: Logger
}

/** Opens the embedded database in `directory`: lock, first start or recovery, self-test. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Engine> {
  const { directory, template, log } = options
  // It loads while the lock is taken, and touches nothing before it is told to open.
  const thread = startDatabaseThread(options.threadFile)
  const program = compiledPglite()
  const locking = requireSpace(directory, options.diskFloorBytes).then(() => lockDirectory(directory))
  const lock = await locking.catch(async (error) => {
    await thread.close()
    throw error
  })
  try {
    await thread.ask('open', { directory, template, program: await program })
    const disk = await watchDiskSpace(directory, options.diskFloorBytes)
    const session = threadSession(thread)
    let upkeep: Upkeep | undefined
    return {
      kind: 'embedded',
      adapter: threadAdapter(thread),
      session,
      writesClosed: disk.isLow,
      checks: () => ({ disk: !disk.isLow() }),
      startUpkeep(statementCount) {
        thread.watchSilence()
        upkeep = startUpkeep({
          session,
          hasRoom: () => !disk.isLow(),
          syncCount: thread.syncCount,
          statementCount,
          log,
        })
      },
      async backup(file) {
        if (disk.isLow()) throw diskFull()
        const { diskFloorBytes } = options
        await requireBackupSpace(directory, file, {
          isOpen: true,
          ...(diskFloorBytes !== undefined && { floorBytes: diskFloorBytes }),
        })
        const write = () => thread.ask('backup', { file })
        // A checkpoint would delete the log that the backup ends with.
        await (upkeep ? upkeep.pauseDuring(write) : write())
      },
      async close() {
        disk.stop()
        await upkeep?.stop()
        await thread.close()
        await lock.release()
      },
    }
  } catch (error) {
    await thread.close()
    await lock.release()
    throw error
  }
}
