import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { DatabaseFolder } from '../directory/database-folder.ts'
import { clearWorkOf } from '../directory/first-start.ts'
import type { Log } from '../maintenance/log.ts'
import { type BackupRequest, frameLine } from './backup-wire.ts'

/** A piece of the archive, and the bytes of database files read so far. */
export interface BackupPiece {
  bytes: Uint8Array
  read: number
}

export interface BackupService {
  folder: DatabaseFolder
  /** Makes an archive, and waits for each `send`. */
  backUp(send: (piece: BackupPiece & { total: number }) => Promise<void>): Promise<void>
  log: Log
}

const REQUEST_BYTES = 4096
const REQUEST_MS = 10_000
/** A command that stops reading delays checkpoints, so its backup ends after this time. */
const STALL_MS = 60_000

/** Answers a command's request for a backup of the running server's database. */
export async function serveBackup(connection: Socket, service: BackupService): Promise<void> {
  const request = await readRequest(connection)
  if (!request) {
    connection.destroy()
    return
  }
  const { folder, log } = service
  connection.once('close', () => void clearWorkOf(folder, request.work))
  let sent = 0
  try {
    await write(connection, frameLine({ accepted: true }))
    await service.backUp(async ({ bytes, read, total }) => {
      connection.setTimeout(STALL_MS)
      await write(connection, frameLine({ bytes: bytes.length, read, total }))
      await write(connection, bytes)
      sent += bytes.length
    })
    connection.setTimeout(0)
    await write(connection, frameLine({ end: true }))
    log.info('backup.sent', { bytes: sent })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn('backup.failed', { reason })
    if (!connection.destroyed) connection.end(frameLine({ error: reason }))
  }
}

/** @returns undefined for a connection that only checks whether the holder is alive */
async function readRequest(connection: Socket): Promise<BackupRequest | undefined> {
  let text = ''
  connection.setTimeout(REQUEST_MS).on('timeout', () => connection.destroy())
  while (!text.includes('\n')) {
    const chunk = connection.read() as Buffer | null
    if (chunk) text += chunk.toString('utf8')
    else if (connection.destroyed || connection.readableEnded || text.length > REQUEST_BYTES) return undefined
    else await Promise.race([once(connection, 'readable'), once(connection, 'close')])
  }
  connection.setTimeout(0)
  // Keeps reading, to notice if the command ends.
  connection.resume()
  return parseRequest(text)
}

function parseRequest(text: string): BackupRequest | undefined {
  try {
    const { backup, work } = JSON.parse(text) as Partial<BackupRequest>
    return backup === 1 && Array.isArray(work) ? { backup, work: work.map(String) } : undefined
  } catch {
    return undefined
  }
}

/** Resolves when the bytes are handed to the system, and rejects once the connection is closed. */
function write(connection: Socket, bytes: Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    connection.write(bytes, (error) => (error ? failed(new Error('The command disconnected')) : done()))
  })
}
