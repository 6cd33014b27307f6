import { createHash, randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseInUseError, EmbeddedPostgresError } from '../failure.ts'
import { type DatabaseFolder, ownNames } from './database-folder.ts'
import { type LockServer, listen, listenAt, shortPath, stateOf } from './lock-socket.ts'
import { bootId, isMountedByOneKernel } from './machine.ts'

export interface DirectoryLock {
  /** Only the lock's user can connect, because the socket's folder is private. Does nothing on Windows. */
  serve: LockServer['serve']
  stopServing: LockServer['stopServing']
  release(): Promise<void>
}

interface Holder {
  pid: number
  host: string
  bootId: string | null
}

/** Error codes if another process holds the lock, or deleted our folder before its socket listened. */
const LOST_RACE = new Set(['ENOTEMPTY', 'EEXIST', 'ENOENT'])
const SOCKET = '.sock'
const DESCRIPTION = '.json'

/**
 * Locks the directory, because two processes on one directory would silently lose data. The lock is a socket, which
 * works across containers that share the file system. The kernel closes the socket when the process dies.
 */
export async function lockDirectory(folder: DatabaseFolder): Promise<DirectoryLock> {
  const absolute = resolve(folder.path)
  const { lock } = ownNames(folder)
  await mkdir(absolute, { recursive: true, mode: 0o700 })
  if (process.platform === 'win32') return lockByPipe(absolute, folder.owner)
  const short = shortPath(absolute)
  try {
    for (;;) {
      await clearDead(absolute, short.path, lock, lock)
      const taken = await take(absolute, short.path, lock)
      if (taken === undefined) continue
      await clearRemains(absolute, short.path, lock)
      return taken
    }
  } finally {
    short.close()
  }
}

async function take(directory: string, shortDirectory: string, lock: string): Promise<DirectoryLock | undefined> {
  const name = randomBytes(6).toString('hex')
  const own = join(directory, `${lock}-${name}`)
  let server: LockServer | undefined
  try {
    await mkdir(own, { mode: 0o700 })
    const self: Holder = { pid: process.pid, host: hostname(), bootId: bootId() }
    await writeFile(join(own, `${name}${DESCRIPTION}`), `${JSON.stringify(self)}\n`, { mode: 0o600 })
    // Listens before the rename, so that a new lock always has a listening holder.
    server = await listenAt(directory, join(shortDirectory, `${lock}-${name}`, `${name}${SOCKET}`))
    await chmod(join(own, `${name}${SOCKET}`), 0o600)
    // `rename` fails if the target folder has entries, so only one process succeeds.
    await rename(own, join(directory, lock))
  } catch (error) {
    await server?.close()
    await rm(own, { recursive: true, force: true })
    if (LOST_RACE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
  const { serve, stopServing, close } = server
  return {
    serve,
    stopServing,
    async release() {
      await removeEntries(join(directory, lock), name)
      await close()
    },
  }
}

/**
 * Connects to the process that holds the lock.
 * @returns undefined if no process on this machine can be reached
 * @throws EmbeddedPostgresError if the holder runs as another user
 */
export async function connectToHolder(folder: DatabaseFolder): Promise<Socket | undefined> {
  if (process.platform === 'win32') return undefined
  const directory = join(resolve(folder.path), ownNames(folder).lock)
  const name = (await readdir(directory).catch(ignoreAbsent))?.find((entry) => entry.endsWith(SOCKET))
  if (name === undefined) return undefined
  const { uid } = await stat(join(directory, name))
  // Root could connect too, but would leave files that the holder's user cannot delete.
  if (uid !== process.getuid?.())
    throw new EmbeddedPostgresError(`Run this command as the user of the running server (user id ${uid})`)
  const short = shortPath(directory)
  const connection = connect(join(short.path, name))
  return new Promise<Socket | undefined>((tell) => {
    connection.once('connect', () => tell(connection)).once('error', () => tell(undefined))
  }).finally(short.close)
}

/**
 * Deletes the files of dead holders. File names are unique, so a newer lock keeps its files.
 * @throws EmbeddedPostgresError if the holder is alive, or may be alive on another machine.
 */
async function clearDead(directory: string, shortDirectory: string, lock: string, folder: string): Promise<void> {
  const entries = await readdir(join(directory, folder)).catch(ignoreAbsent)
  for (const entry of entries ?? []) {
    if (!entry.endsWith(SOCKET)) continue
    const name = entry.slice(0, -SOCKET.length)
    const holder = await readHolder(join(directory, folder, `${name}${DESCRIPTION}`))
    const state = await stateOf(join(shortDirectory, folder, entry))
    if (state === 'alive' || (state === 'dead' && holder && mayLiveElsewhere(holder, directory)))
      throw inUse(directory, lock, holder)
  }
  for (const entry of entries ?? []) await rm(join(directory, folder, entry), { force: true })
}

/**
 * A connection attempt reaches only holders on this machine. After a reboot, the boot id differs; a container that was
 * replaced has another host name too. On a file system that only one kernel can mount, no other machine has a holder.
 */
function mayLiveElsewhere(holder: Holder, directory: string): boolean {
  return holder.bootId !== bootId() && holder.host !== hostname() && !isMountedByOneKernel(directory)
}

/** Deletes folders of processes that died before they got the lock. */
async function clearRemains(directory: string, shortDirectory: string, lock: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(`${lock}-`))
  for (const name of names) {
    await clearDead(directory, shortDirectory, lock, name)
      .then(() => rmdir(join(directory, name)))
      .catch(() => undefined)
  }
}

async function removeEntries(folder: string, name: string): Promise<void> {
  await rm(join(folder, `${name}${SOCKET}`), { force: true })
  await rm(join(folder, `${name}${DESCRIPTION}`), { force: true })
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    // Another process may have taken the lock in the meantime.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'ENOENT') throw error
  })
}

/** On Windows, a named pipe has no file and disappears with its process. */
async function lockByPipe(directory: string, owner: string): Promise<DirectoryLock> {
  const name = createHash('sha256').update(realpathSync.native(directory).toLowerCase()).digest('hex')
  const server = await listen(`\\\\.\\pipe\\${owner}-database-${name}`).catch(() => {
    throw inUse(directory, '', undefined)
  })
  // Other users can connect to a named pipe, so no requests use it.
  return { serve: () => undefined, stopServing: () => undefined, release: server.close }
}

async function readHolder(file: string): Promise<Holder | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  try {
    return JSON.parse(text) as Holder
  } catch {
    return undefined
  }
}

function inUse(directory: string, lock: string, holder: Holder | undefined): DatabaseInUseError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
  // Only a person can decide that another machine is permanently gone.
  const hint =
    holder && mayLiveElsewhere(holder, directory)
      ? `. If ${holder.host} is gone for good, delete ${join(directory, lock)}`
      : ''
  return new DatabaseInUseError(`The database in ${directory} is in use by ${who}; only one process may open it${hint}`)
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
