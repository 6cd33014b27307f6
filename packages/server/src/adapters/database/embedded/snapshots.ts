import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from '../../../shared/logger.ts'

const NAME = /^stet-(\d{4})(\d{2})(\d{2})-(\d{2})(\d{2})(\d{2})\.backup$/
/** Often enough that a process which starts late still keeps the interval. */
const LOOK_EVERY_MS = 60_000

export interface SnapshotOptions {
  /** Where they go; undefined switches them off. */
  directory: string | undefined
  everyHours: number
  /** Snapshots that are kept; older ones are deleted after the next one has been written. */
  keep: number
  log: Logger
}

/** What snapshots need of a database; PostgreSQL has no `backup`, its operators use its own tools. */
export interface Backable {
  backup?: (file: string) => Promise<void>
}

/** Writes `stet-<UTC time>.backup` into the directory whenever the newest one is older than the interval. */
export function startSnapshots(database: Backable, options: SnapshotOptions): { stop(): Promise<void> } {
  const { directory, log } = options
  const { backup } = database
  if (directory === undefined || backup === undefined) return { stop: () => Promise.resolve() }
  let running = Promise.resolve()
  const look = () => {
    running = running
      .then(() => snapshotIfDue({ ...options, directory, backup, now: new Date() }))
      .then(
        () => undefined,
        (error: unknown) => {
          log.error('snapshot.failed', { reason: error instanceof Error ? error.message : String(error) })
        },
      )
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

export interface DueSnapshot extends SnapshotOptions {
  directory: string
  backup(file: string): Promise<void>
  now: Date
}

/** One look at the folder; the name of the snapshot when one was due. */
export async function snapshotIfDue(options: DueSnapshot): Promise<string | undefined> {
  await mkdir(options.directory, { recursive: true, mode: 0o700 })
  const before = await listSnapshots(options.directory)
  const newest = before.at(-1)
  if (newest !== undefined && options.now.getTime() - timeOf(newest) < options.everyHours * 3_600_000) return undefined
  const stamp = options.now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15)
  const name = `stet-${stamp}.backup`
  await options.backup(join(options.directory, name))
  options.log.info('snapshot.written', { name })
  const surplus = (await listSnapshots(options.directory)).slice(0, -options.keep)
  for (const old of surplus) await rm(join(options.directory, old))
  return name
}

/** Names of the snapshots in a folder, oldest first; other files are left alone. */
async function listSnapshots(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort()
}

function timeOf(name: string): number {
  return Date.parse(name.replace(NAME, '$1-$2-$3T$4:$5:$6Z'))
}
