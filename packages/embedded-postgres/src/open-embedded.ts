import type { SqlDriverAdapterFactory } from '@prisma/driver-adapter-utils'
import { type BackupService, serveBackup } from './backup/serve-backups.ts'
import type { DatabaseFolder } from './directory/database-folder.ts'
import { lockDirectory } from './directory/directory-lock.ts'
import { DamagedDatabaseError, EmbeddedPostgresError } from './failure.ts'
import { FLOOR_BYTES, requireBackupSpace, requireSpace, sizeOf, watchDiskSpace } from './maintenance/disk-space.ts'
import type { Log } from './maintenance/log.ts'
import { startUpkeep, type Upkeep } from './maintenance/upkeep.ts'
import type { SqlSession } from './sql-session.ts'
import { compiledPglite } from './thread/compiled-pglite.ts'
import { type DatabaseThread, startDatabaseThread } from './thread/database-thread.ts'
import type { OpenInput } from './thread/messages.ts'
import { threadAdapter, threadSession } from './thread/thread-client.ts'

export interface EmbeddedPostgresOptions extends OpenInput {
  threadFile: string
  /** Called once, when the first statement has failed because of damaged files. */
  onDamage?(error: DamagedDatabaseError): void
  diskFloorBytes?: number
  log: Log
}

export interface EmbeddedPostgres {
  session: SqlSession
  adapter: SqlDriverAdapterFactory
  isDiskLow(): boolean
  /** True if less than half of the floor is free. Looks at the disk while it is low. */
  isReserveUsed(): boolean
  /**
   * Starts checkpoints, vacuums and the watch for a silent database. Accepts `backupDatabase` requests of other
   * processes.
   * @param statementCount increases with each of the owner's statements; unchanged means idle.
   */
  startUpkeep(statementCount: () => number): void
  /** Writes a consistent copy into one tar.gz while statements continue to run. */
  backup(file: string): Promise<void>
  close(): Promise<void>
}

/** Takes the lock, creates or recovers the database, and tests its durability. @throws EmbeddedPostgresError */
export async function openEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { folder, template, mustExist, acceptedLoss, diskFloorBytes: floorBytes = FLOOR_BYTES, log } = options
  // Loads the thread while the lock is taken. The thread touches no database file before `open`.
  let isDamaged = false
  const thread = startDatabaseThread(options.threadFile, folder.owner, (message) => {
    if (isDamaged) return
    isDamaged = true
    options.onDamage?.(new DamagedDatabaseError(`The database in ${folder.path} is damaged: ${message}`, 'files'))
  })
  const program = compiledPglite()
  const locking = requireSpace(folder.path, floorBytes).then(() => lockDirectory(folder))
  const lock = await locking.catch(async (error) => {
    await thread.close()
    throw error
  })
  try {
    const lostAfter = await thread.ask('open', { folder, template, mustExist, acceptedLoss, program: await program })
    if (lostAfter !== undefined) log.warn('database.writes-lost', { after: lostAfter, upTo: String(acceptedLoss) })
    const disk = await watchDiskSpace(folder.path, floorBytes)
    const session = threadSession(thread)
    let upkeep: Upkeep | undefined
    return {
      session,
      adapter: threadAdapter(thread),
      isDiskLow: disk.isLow,
      isReserveUsed: disk.isReserveUsed,
      startUpkeep(statementCount) {
        thread.watchSilence()
        const hasRoom = () => !disk.isLow()
        const started = startUpkeep({ session, hasRoom, syncCount: thread.syncCount, statementCount, log })
        upkeep = started
        const backUp: BackupService['backUp'] = (send) => {
          if (disk.isLow()) throw new EmbeddedPostgresError(`The disk of ${folder.path} is almost full`)
          return started.pauseDuring(() => sendBackup(thread, folder, send))
        }
        lock.serve((connection) => void serveBackup(connection, { folder, backUp, log }))
      },
      async backup(file) {
        if (disk.isLow()) throw new EmbeddedPostgresError(`The disk of ${folder.path} is almost full`)
        await requireBackupSpace(folder, file, { isOpen: true, isVerified: false, floorBytes })
        const write = () => thread.ask('backup', { file })
        // A checkpoint would delete the part of the write-ahead log that the backup reads last.
        await (upkeep ? upkeep.pauseDuring(write) : write())
      },
      async close() {
        disk.stop()
        lock.stopServing()
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

async function sendBackup(
  thread: DatabaseThread,
  folder: DatabaseFolder,
  send: Parameters<BackupService['backUp']>[0],
): Promise<void> {
  const total = await sizeOf(folder)
  try {
    for (;;) {
      const piece = await thread.ask('readBackup', undefined)
      if (!piece) return
      await send({ ...piece, total })
    }
  } finally {
    await thread.ask('endBackup', undefined)
  }
}
