import { join } from 'node:path'
import type { VersionStatus } from '@stet/contract/vocabulary'
import { CliError } from '../exit-code.ts'
import { isJsonObject, parseJsonObject, readTextIfPresent } from './json-file.ts'
import { writeFileAtomically } from './write-file.ts'

export interface LockEntry {
  /** The content hash at the last pull or push. Absent if the two sides have no common text yet. */
  hash?: string
  documentUuid?: string
  /** The hash of the text that `pull` merged the server's text `hash`, or live's, into. Kept until the file is pushed. */
  mine?: string
  /** The base of that merge. Absent if the sides had none. */
  base?: string
  /** Draft only: the hash of the live text that the draft's change builds on. Empty if live had no such prompt. */
  live?: string
  /** Draft only: the path in live of a prompt that the draft moves here. `live` is the text there. */
  movedFrom?: string
  /** Where `stet mv` has moved the file. Kept until the move is pushed. */
  movedTo?: string
  /** Draft only: the hash of the live text that `pull` merged into the file. The next push sends this hash. */
  merged?: string
}

/** The state after the last pull or push, which is the base of every comparison. */
export interface Lock {
  /** Includes the API prefix. */
  baseUrl: string
  projectId: number
  /** With `ref` live, the folder follows live. `seq` is the release of live with which the entries were compared. */
  version: { uuid: string; status: VersionStatus; name: string; ref?: 'live'; seq?: number }
  prompts: Record<string, LockEntry>
}

const lockfileVersion = 1

/** Each profile has its own lock, because two servers share no history. */
export function lockFileOf(root: string, profile: string): string {
  return join(root, profile === 'default' ? 'stet.lock.json' : `stet.lock.${profile}.json`)
}

export async function readLockFile(file: string): Promise<Lock | undefined> {
  const text = await readTextIfPresent(file)
  if (text === undefined) return undefined
  if (/^(<{7}|={7}|>{7})/m.test(text)) {
    throw new CliError('conflict', `${file} contains the markers of an unfinished merge`, {
      hint: 'keep one side completely, then run stet pull',
    })
  }
  return parseLock(parseJsonObject(text, file), file)
}

export async function writeLockFile(file: string, lock: Lock): Promise<void> {
  await writeFileAtomically(file, formatLock(lock))
}

/** Sorted keys keep git diffs small. */
export function formatLock({ baseUrl, projectId, version, prompts }: Lock): string {
  const lock = { lockfileVersion, baseUrl, projectId, version, prompts: sorted(prompts) }
  return `${JSON.stringify(lock, null, 2)}\n`
}

function sorted<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function parseLock(value: Record<string, unknown>, file: string): Lock {
  if (value['lockfileVersion'] !== lockfileVersion) {
    throw new CliError('usage', `${file} was written by another version of stet`, { hint: 'update @stet/cli' })
  }
  const { baseUrl, projectId, version, prompts } = value
  if (typeof baseUrl !== 'string' || typeof projectId !== 'number' || !isVersion(version) || !isJsonObject(prompts)) {
    throw new CliError('usage', `${file} is not a stet lock file`, { hint: 'run stet init --force to write a new one' })
  }
  const entries = Object.entries(prompts).map(([path, entry]): [string, LockEntry] => [path, parseEntry(entry)])
  return { baseUrl, projectId, version, prompts: Object.fromEntries(entries) }
}

function isVersion(value: unknown): value is Lock['version'] {
  if (!isJsonObject(value) || typeof value['uuid'] !== 'string' || typeof value['name'] !== 'string') return false
  return value['status'] === 'draft' || value['status'] === 'merged'
}

function parseEntry(value: unknown): LockEntry {
  const entry: LockEntry = {}
  if (!isJsonObject(value)) return entry
  for (const key of ['hash', 'documentUuid', 'mine', 'base', 'live', 'merged', 'movedFrom', 'movedTo'] as const) {
    const text = value[key]
    if (typeof text === 'string') entry[key] = text
  }
  return entry
}
