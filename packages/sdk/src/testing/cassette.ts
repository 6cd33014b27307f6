import { ConfigurationError } from '../index.ts'
import { nearestDifference } from './difference.ts'

export interface Recording {
  request: { method: string; path: string; body?: unknown }
  response: { status: number; headers: Record<string, string>; body?: unknown }
}

export interface Cassette {
  file: string
  isRecording: boolean
  recordings: Recording[]
  /** The recordings that were replayed already. Each recording is replayed once. */
  played: Set<Recording>
}

interface Files {
  existsSync(path: string): boolean
  readFileSync(path: string, encoding: 'utf8'): string
  writeFileSync(path: string, text: string): void
  mkdirSync(path: string, o: { recursive: true }): void
}

/** @throws ConfigurationError if a cassette to replay is missing or invalid */
export function openCassette(file: string, mode: 'record' | 'replay' | 'auto'): Cassette {
  const { existsSync, readFileSync } = files()
  const isRecording = mode === 'record' || (mode === 'auto' && !existsSync(file))
  const cassette: Cassette = { file, isRecording, recordings: [], played: new Set() }
  if (isRecording) return cassette
  if (!existsSync(file)) throw new ConfigurationError(`There is no cassette ${file}; record it with mode 'record'`)
  try {
    cassette.recordings = JSON.parse(readFileSync(file, 'utf8')) as Recording[]
    return cassette
  } catch (cause) {
    throw new ConfigurationError(`The cassette ${file} cannot be read`, { cause })
  }
}

export function appended({ file, recordings }: Cassette, recording: Recording): void {
  recordings.push(recording)
  const folder = file.replace(/[^/\\]*$/, '')
  if (folder) files().mkdirSync(folder, { recursive: true })
  files().writeFileSync(file, `${JSON.stringify(recordings, null, 2)}\n`)
}

/**
 * Returns the next recording of this request that was not replayed yet.
 * @throws ConfigurationError if all of them were replayed, or if no recording matches (with the nearest difference)
 */
export function takeRecording({ file, recordings, played }: Cassette, request: Recording['request']): Recording {
  const wanted = textOf(request)
  const same = recordings.filter((recording) => textOf(recording.request) === wanted)
  const next = same.find((recording) => !played.has(recording))
  if (next) {
    played.add(next)
    return next
  }
  const about = `${request.method} ${request.path}`
  if (same.length > 0) {
    throw new ConfigurationError(
      `The cassette ${file} has ${about} ${same.length} times, and all of them were replayed`,
    )
  }
  const difference = nearestDifference(
    wanted,
    recordings.map((recording) => textOf(recording.request)),
  )
  throw new ConfigurationError(`The cassette ${file} has no recording of ${about}. ${difference}`)
}

function textOf({ method, path, body }: Recording['request']): string {
  return `${method} ${path}\n${body === undefined ? '' : JSON.stringify(sorted(body), null, 2)}`
}

/** Sorts keys recursively, because two requests that differ only in the order of keys are equal. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, child]) => [key, sorted(child)]))
}

// Load `node:fs` on demand, so that the other exports of `@stet/sdk/testing` work in runtimes without a file system.
function files(): Files {
  const host = globalThis as unknown as { process?: { getBuiltinModule?: (name: string) => unknown } }
  const found = host.process?.getBuiltinModule?.('node:fs')
  if (!found) throw new ConfigurationError('recordFetch needs files: it works in Node, Bun and Deno')
  return found as Files
}
