import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { link, mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { hostname } from 'node:os'
import { basename, dirname, resolve } from 'node:path'
import { OperatorError } from '../../../shared/app-error.ts'

export interface DirectoryLock {
  release(): Promise<void>
}

interface Holder {
  pid: number
  /** Clock ticks after boot, from /proc: tells a process from a later one with the same pid. */
  startTime: string | null
  bootId: string | null
  host: string
  pidNamespace: string | null
  netNamespace: string | null
}

/**
 * Takes the lock beside `directory`, or fails naming who holds it. Two processes on one directory lose data silently.
 * The lock of a dead process is taken over, never an old one: age proves nothing. Of a holder which cannot be seen from
 * here, in another host or container, an operator who knows that it is gone deletes the file.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const absolute = resolve(directory)
  await mkdir(dirname(absolute), { recursive: true, mode: 0o700 })
  const file = `${absolute}.lock`
  const socket = process.platform === 'linux' ? await bindSocket(absolute, file) : undefined
  try {
    await writeHolder(absolute, file)
  } catch (error) {
    socket?.close()
    throw error
  }
  return {
    async release() {
      await rm(file, { force: true })
      await new Promise<void>((done) => (socket === undefined ? done() : socket.close(() => done())))
    },
  }
}

/** An abstract socket has no file: binding it is atomic, and the kernel frees it with the process. */
async function bindSocket(directory: string, file: string): Promise<Server> {
  const { dev, ino } = await stat(dirname(directory))
  const name = createHash('sha256')
    .update(`${dev}:${ino}:${basename(directory)}`)
    .digest('hex')
    .slice(0, 40)
  const server = createServer((connection) => connection.destroy())
  const bound = await new Promise<boolean>((done, failed) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? done(false) : failed(error)))
    server.listen({ path: `\0stet-database-${name}` }, () => done(true))
  })
  if (!bound) throw inUse(directory, await readHolder(file))
  server.unref()
  return server
}

async function writeHolder(directory: string, file: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const self = describeSelf()
  await writeFile(temporary, `${JSON.stringify(self)}\n`, { mode: 0o600 })
  try {
    for (;;) {
      if (await linkIfAbsent(temporary, file)) return
      const holder = await readHolder(file)
      if (holder !== undefined && !isGone(holder, self)) throw inUse(directory, holder)
      // Moved away, not deleted: of several who judged the same file only one succeeds.
      await rename(file, `${temporary}.stale`).catch(ignoreAbsent)
    }
  } finally {
    await rm(temporary, { force: true })
    await rm(`${temporary}.stale`, { force: true })
  }
}

async function linkIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Whether the process that wrote the file is certainly dead. The caller holds the socket, where there are sockets. */
function isGone(holder: Holder, self: Holder): boolean {
  const isSameBoot = holder.bootId === self.bootId
  // There it would hold the socket still.
  if (self.netNamespace !== null && isSameBoot && holder.netNamespace === self.netNamespace) return true
  if (isSameBoot && holder.pidNamespace === self.pidNamespace && holder.host === self.host) {
    return !isAlive(holder)
  }
  // The same host after a boot, or the same container after a restart.
  return holder.host === self.host
}

function isAlive(holder: Holder): boolean {
  try {
    process.kill(holder.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
  }
  return holder.startTime === null || holder.startTime === startTimeOf(holder.pid)
}

function describeSelf(): Holder {
  return {
    pid: process.pid,
    startTime: startTimeOf(process.pid),
    bootId: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    host: hostname(),
    pidNamespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    netNamespace: attempt(() => readlinkSync('/proc/self/ns/net')),
  }
}

function startTimeOf(pid: number): string | null {
  // The name in parentheses may hold spaces; field 22 counts from behind it.
  const line = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  return line?.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? null
}

async function readHolder(file: string): Promise<Holder | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreAbsent)
  return attempt(() => JSON.parse(text ?? '') as Holder) ?? undefined
}

function inUse(directory: string, holder: Holder | undefined): OperatorError {
  const who = holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`
  // Only a person can know that another host, or a container that was deleted, does not come back.
  const isElsewhere = holder !== undefined && holder.host !== hostname()
  const hint = isElsewhere ? `. If ${holder.host} is gone for good, delete ${directory}.lock` : ''
  return new OperatorError(`The database in ${directory} is in use by ${who}; only one process may open it${hint}`)
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function attempt<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
