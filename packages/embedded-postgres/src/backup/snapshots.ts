import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../maintenance/log.ts'

/** The part of the name after `<owner>-`. */
const STAMP = /^(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})\.tar\.gz$/
const LOOK_EVERY_MS = 60_000
const MAX_PAUSE_MINUTES = 60
/** Tolerates small backward steps when the clock is synchronized over the network. */
const CLOCK_STEP_MS = 60_000

export interface SnapshotOptions {
  /** Undefined disables snapshots. */
  directory: string | undefined
  everyHours: number
  keep: number
  log: Log
  owner: string
}

export interface Backable {
  backup?: (file: string) => Promise<void>
}

/**
 * Checks every minute. Writes `<owner>-<UTC time>.tar.gz` if there is no snapshot or the newest one is older than
 * `everyHours`.
 */
export function startSnapshots(database: Backable, options: SnapshotOptions): { stop(): Promise<void> } {
  const { directory } = options
  const { backup } = database
  if (directory === undefined || backup === undefined) return { stop: () => Promise.resolve() }
  const lookAt = snapshotLooks({ ...options, directory, backup })
  let running = Promise.resolve()
  const look = () => {
    running = running.then(() => lookAt(new Date()))
  }
  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

interface SnapshotTarget extends SnapshotOptions {
  directory: string
  backup(file: string): Promise<void>
}

/**
 * Each failure doubles the pause before the next attempt, up to one hour. The pause counts calls, because the clock may
 * jump.
 */
export function snapshotLooks(options: SnapshotTarget): (now: Date) => Promise<void> {
  let failures = 0
  let pause = 0
  return async (now) => {
    if (pause > 0) {
      pause -= 1
      return
    }
    try {
      await snapshotIfDue({ ...options, now })
      failures = 0
    } catch (error) {
      failures += 1
      const retryInMinutes = Math.min(2 ** failures, MAX_PAUSE_MINUTES)
      pause = retryInMinutes - 1
      const reason = error instanceof Error ? error.message : String(error)
      options.log.error('snapshot.failed', { reason, retryInMinutes })
    }
  }
}

export interface DueSnapshot extends SnapshotTarget {
  now: Date
}

export async function snapshotIfDue(options: DueSnapshot): Promise<string | undefined> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  const newest = (await listSnapshots(options)).at(-1)
  if (newest !== undefined && !isFromFuture(options.owner, newest, options.now)) {
    if (options.now.getTime() - timeOf(options.owner, newest) < options.everyHours * 3_600_000) return undefined
  }
  const stamp = options.now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  const name = `${options.owner}-${stamp}.tar.gz`
  await options.backup(join(options.directory, name))
  options.log.info('snapshot.written', { name })
  const surplus = (await listSnapshots(options)).slice(0, -options.keep)
  for (const old of surplus) await rm(join(options.directory, old))
  return name
}

/** Returns the path of the newest snapshot. Undefined if there is none, or if the folder cannot be read. */
export async function newestSnapshot(directory: string, owner: string): Promise<string | undefined> {
  const names = await listSnapshots({ directory, owner, now: new Date() }).catch(() => [])
  const newest = names.at(-1)
  return newest === undefined ? undefined : join(directory, newest)
}

/**
 * Sorts oldest first. A snapshot from the future was written before the clock was set back. Such a snapshot counts as
 * oldest, so it does not delay the next one and is deleted first.
 */
async function listSnapshots({
  directory,
  owner,
  now,
}: Pick<DueSnapshot, 'directory' | 'owner' | 'now'>): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => !Number.isNaN(timeOf(owner, name))).sort()
  const future = names.filter((name) => isFromFuture(owner, name, now))
  return [...future, ...names.filter((name) => !future.includes(name))]
}

function isFromFuture(owner: string, name: string, now: Date): boolean {
  return timeOf(owner, name) > now.getTime() + CLOCK_STEP_MS
}

/** Returns NaN if the name is not one of the owner's snapshots. */
function timeOf(owner: string, name: string): number {
  return name.startsWith(`${owner}-`) && STAMP.test(name.slice(owner.length + 1))
    ? Date.parse(name.slice(owner.length + 1).replace(STAMP, '$1-$2-$3T$4:$5:$6Z'))
    : Number.NaN
}
