import { existsSync, statfsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type DatabaseFolder, databaseEntries } from '../directory/database-folder.ts'
import { EmbeddedPostgresError } from '../failure.ts'

/** Minimum free bytes. Below this, a write to the write-ahead log could fail, which ends the process. */
export const FLOOR_BYTES = 256 * 1024 * 1024
/** Bytes that opening a database may write: new write-ahead log files and recovery. */
const OPEN_BYTES = 16 * 1024 * 1024
const LOOK_EVERY_MS = 2_000

/**
 * Opening an existing database needs little space. A first start needs the full floor.
 * @throws EmbeddedPostgresError
 */
export async function requireSpace(directory: string, floorBytes = FLOOR_BYTES): Promise<void> {
  const exists = existsSync(join(directory, 'PG_VERSION'))
  const needed = exists ? Math.min(OPEN_BYTES, floorBytes) : floorBytes
  const free = await freeBytes(existsSync(directory) ? directory : dirname(directory))
  if (free >= needed) return
  const [has, needs] = [free, needed].map((bytes) => `${Math.floor(bytes / 1024 / 1024)} MB`)
  const what = exists ? 'opening the database' : 'a first start'
  throw new EmbeddedPostgresError(
    `The disk of ${directory} has ${has} free, and ${what} takes ${needs}: free some space, and start again`,
  )
}

export interface BackupSpace {
  /** The database is open, and keeps its floor free. */
  isOpen: boolean
  /** The backup is opened once, which takes a copy of the database on its disk. */
  isVerified: boolean
  floorBytes?: number
}

/**
 * Assumes a backup as large as the database, because the compression ratio is unknown.
 * @throws EmbeddedPostgresError
 */
export async function requireBackupSpace(
  database: DatabaseFolder,
  file: string,
  { isOpen, isVerified, floorBytes = FLOOR_BYTES }: BackupSpace,
): Promise<void> {
  const folder = dirname(resolve(file))
  const [own, target] = await Promise.all([stat(database.path), stat(folder)])
  const size = await sizeOf(database)
  const beside = (isOpen ? floorBytes : 0) + (isVerified ? size + OPEN_BYTES : 0)
  if (own.dev === target.dev) return requireFree(database.path, size + beside)
  await requireFree(database.path, beside)
  await requireFree(folder, size)
}

async function requireFree(folder: string, needed: number): Promise<void> {
  const free = await freeBytes(folder)
  if (free >= needed) return
  const [takes, has] = [needed, free].map((bytes) => `${Math.floor(bytes / 1024 / 1024)} MB`)
  throw new EmbeddedPostgresError(`The backup takes up to ${takes} on the disk of ${folder}, which has ${has} free`)
}

export async function sizeOf(folder: DatabaseFolder): Promise<number> {
  let bytes = 0
  for (const entry of await databaseEntries(folder)) {
    const path = join(folder.path, entry.name)
    bytes += entry.isDirectory()
      ? await sizeOf({ ...folder, path })
      : ((await stat(path).catch(() => undefined))?.size ?? 0)
  }
  return bytes
}

export interface DiskWatch {
  isLow(): boolean
  /** True if less than half of the floor is free. */
  isReserveUsed(): boolean
  stop(): void
}

export async function watchDiskSpace(directory: string, floorBytes = FLOOR_BYTES): Promise<DiskWatch> {
  let low = false
  const look = async () => {
    low = (await freeBytes(directory)) < floorBytes
  }
  await look()
  const timer = setInterval(() => void look().catch(() => undefined), LOOK_EVERY_MS)
  timer.unref()
  return {
    isLow: () => low,
    // Looks again, because writes that use the reserve could use all of it between two looks.
    isReserveUsed: () => low && freeBytesNow(directory) < floorBytes / 2,
    stop: () => clearInterval(timer),
  }
}

function freeBytesNow(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}
