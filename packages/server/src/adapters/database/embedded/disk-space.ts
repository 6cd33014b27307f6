import { statfs } from 'node:fs/promises'

/** Below this PostgreSQL could meet a full disk in its log, which ends the process. Bytes. */
const FLOOR_BYTES = 256 * 1024 * 1024
const LOOK_EVERY_MS = 2_000

export interface DiskWatch {
  isLow(): boolean
  stop(): void
}

/** Looks at the free space under `directory` now and every two seconds. */
export async function watchDiskSpace(directory: string, floorBytes = FLOOR_BYTES): Promise<DiskWatch> {
  let low = false
  const look = async () => {
    const { bavail, bsize } = await statfs(directory)
    low = bavail * bsize < floorBytes
  }
  await look()
  // A file system that cannot be asked for a moment keeps its last answer.
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS)
  timer.unref()
  return { isLow: () => low, stop: () => clearInterval(timer) }
}
