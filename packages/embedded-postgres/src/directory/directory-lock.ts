import { createHash, randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { EmbeddedPostgresError } from '../failure.ts'
import { type DatabaseFolder, ownNames } from './database-folder.ts'
import { bootId, isMountedByOneKernel } from './machine.ts'

export interface DirectoryLock {
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
/** Some systems truncate or reject longer socket paths. On Linux, `shortPath` avoids the limit. */
const MAX_SOCKET_PATH = 103

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
  let server: Server | undefined
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
    if (server) await close(server)
    await rm(own, { recursive: true, force: true })
    if (LOST_RACE.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
  const held = server
  return {
    async release() {
      await removeEntries(join(directory, lock), name)
      await close(held)
    },
  }
}

async function listenAt(directory: string, path: string): Promise<Server> {
  if (process.platform !== 'linux' && path.length > MAX_SOCKET_PATH) {
    throw new EmbeddedPostgresError(`The path of the database, ${directory}, is too long for the socket of its lock`)
  }
  return listen(path).catch((error: NodeJS.ErrnoException) => {
    // Node reports EACCES if the folder was deleted.
    if (!existsSync(dirname(path))) throw Object.assign(new Error(error.message), { code: 'ENOENT' })
    if (error.code === 'ENOSPC') throw error
    const advice = 'put the folder on a local file system that has sockets'
    throw new EmbeddedPostgresError(`The database in ${directory} cannot be locked (${error.message}): ${advice}`)
  })
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

function stateOf(path: string): Promise<'alive' | 'dead' | 'absent'> {
  return new Promise((tell) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      tell('alive')
    })
    // A dead holder's socket refuses connections. Errors other than ECONNREFUSED and ENOENT count as alive.
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') tell('absent')
      else tell(error.code === 'ECONNREFUSED' ? 'dead' : 'alive')
    })
  })
}

/** On Linux, shortens the path through a directory descriptor, because socket paths are limited to 107 characters. */
function shortPath(directory: string): { path: string; close(): void } {
  if (process.platform !== 'linux') return { path: directory, close: () => undefined }
  const descriptor = openSync(directory, 'r')
  return { path: `/proc/self/fd/${descriptor}`, close: () => closeSync(descriptor) }
}

/** On Windows, a named pipe has no file and disappears with its process. */
async function lockByPipe(directory: string, owner: string): Promise<DirectoryLock> {
  const name = createHash('sha256').update(realpathSync.native(directory).toLowerCase()).digest('hex')
  const server = await listen(`\\\\.\\pipe\\${owner}-database-${name}`).catch(() => {
    throw inUse(directory, '', undefined)
  })
  return { release: () => close(server) }
}

function listen(path: string): Promise<Server> {
  const server = createServer((connection) => connection.destroy())
  server.unref()
  return new Promise((done, failed) => {
    server.once('error', failed)
    server.listen({ path }, () => done(server))
  })
}

function close(server: Server): Promise<void> {
  return new Promise((done) => server.close(() => done()))
}

async function readHolder(file: string): Promise<Holder | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '')
  try {
    return JSON.parse(text) as Holder
  } catch {
    return undefined
  }
}

function inUse(directory: string, lock: string, holder: Holder | undefined): EmbeddedPostgresError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
  // Only a person can decide that another machine is permanently gone.
  const hint =
    holder && mayLiveElsewhere(holder, directory)
      ? `. If ${holder.host} is gone for good, delete ${join(directory, lock)}`
      : ''
  return new EmbeddedPostgresError(
    `The database in ${directory} is in use by ${who}; only one process may open it${hint}`,
  )
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
