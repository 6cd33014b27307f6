import { open } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { EmbeddedPostgresError } from '../failure.ts'
import { type BackupRequest, readFrames } from './backup-wire.ts'

/** Codes of a connection whose other end is gone. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE'])

export interface RequestedBackup {
  connection: Socket
  /** The new file for the archive. */
  file: string
  work: string[]
  onProgress(read: number, total: number): void
}

/**
 * Receives a backup from the process that holds the lock. The connection stays open.
 * @returns false if the process does not accept requests
 * @throws EmbeddedPostgresError if the backup failed or was cut off
 */
export async function receiveBackup({ connection, file, work, onProgress }: RequestedBackup): Promise<boolean> {
  const handle = await open(file, 'w', 0o600)
  const request: BackupRequest = { backup: 1, work }
  connection.write(`${JSON.stringify(request)}\n`)
  let isAnswered = false
  try {
    for await (const { frame, bytes } of readFrames(connection)) {
      isAnswered = true
      if ('end' in frame) return true
      if ('error' in frame) throw new EmbeddedPostgresError(`The running server could not back up: ${frame.error}`)
      if ('accepted' in frame) continue
      await handle.writeFile(bytes)
      onProgress(frame.read, frame.total)
    }
  } catch (error) {
    if (!BROKEN.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    await handle.close()
  }
  if (isAnswered) throw brokenOff()
  return false
}

export function brokenOff(): EmbeddedPostgresError {
  return new EmbeddedPostgresError('The server stopped during the backup. Run the command again')
}
