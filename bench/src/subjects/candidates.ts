/** The candidates of most benches: the controls, and stet with one live prompt. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { providerLatencyMs } from '../measuring/latencies.ts'
import type { LoadRequest } from '../measuring/load.ts'
import { pinLoad, type Subject, startSubject } from './subject.ts'

const controls = fileURLToPath(new URL('../../controls/', import.meta.url))
export const server = fileURLToPath(new URL('../../../packages/server/bin/stet-server.mjs', import.meta.url))
/** Another built checkout of stet to compare with, e.g. the previous release. */
const baseline = process.env['BASELINE']
export const baselineServer = baseline === undefined ? undefined : join(baseline, 'packages/server/bin/stet-server.mjs')

const prompt =
  '---\nprovider: openai\nmodel: bench\n---\nYou answer in one sentence.\n<user>Say something about {{ topic }}.</user>\n'

/** A server on PostgreSQL requires an encryption key, and stores no admin key in its folder. */
export const encryptionKey = randomBytes(32).toString('base64')
export const adminKey = spawnSync(process.execPath, [server, 'generate-key', 'admin'], {
  encoding: 'utf8',
}).stdout.trim()

export interface Stet extends Subject {
  /** The headers contain an API key whose rate limit exceeds the load. */
  headers: Record<string, string>
}

export function startControl(
  name: 'raw-proxy' | 'bare-express' | 'express-openai' | 'event-stream' | 'sql-by-hand',
  environment: Record<string, string> = {},
): Promise<Subject> {
  return startSubject(name, ['--import', 'tsx', join(controls, `${name}.ts`)], { environment })
}

/** Pins the provider and this process to core 1. Subjects run on core 0 by default. */
export function startUpstream(environment: Record<string, string> = {}): Promise<Subject> {
  pinLoad()
  const program = join(controls, 'upstream.ts')
  return startSubject('upstream', ['--import', 'tsx', program], { environment, core: '1' })
}

export async function startBaseline(upstreamUrl: string): Promise<Stet | undefined> {
  return baselineServer === undefined ? undefined : startStet(upstreamUrl, {}, baselineServer)
}

/**
 * Starts stet, which logs to a file, and creates a live prompt. Uses PostgreSQL if `BENCH_DATABASE_URL` is set. That
 * database must be empty.
 */
export async function startStet(
  upstreamUrl: string,
  environment: Record<string, string> = {},
  program = server,
): Promise<Stet> {
  const dataDir = mkdtempSync(join(tmpdir(), 'stet-bench-'))
  const database = process.env['BENCH_DATABASE_URL']
  const subject = await openStet(
    upstreamUrl,
    dataDir,
    { ...(database === undefined ? {} : { DATABASE_URL: database }), ...environment },
    { program },
  )
  const headers = await seedStet(subject.url)
  return {
    ...subject,
    headers,
    close: async () => {
      await subject.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export function openStet(
  upstreamUrl: string,
  dataDir: string,
  environment: Record<string, string> = {},
  { program = server, core = '0' }: { program?: string | undefined; core?: string } = {},
): Promise<Subject> {
  return startSubject('stet', ['--expose-gc', program], {
    core,
    environment: {
      PORT: '0',
      STET_DATA_DIR: dataDir,
      ...(environment['DATABASE_URL'] !== undefined && { STET_ENCRYPTION_KEY: encryptionKey }),
      STET_ADMIN_KEY: adminKey,
      STET_MAX_STREAMS_PER_KEY: '100000',
      OPENAI_API_KEY: 'bench',
      OPENAI_BASE_URL: `${upstreamUrl}/v1`,
      ...environment,
    },
    logFile: join(dataDir, 'server.log'),
    isProfiled: program === server,
  })
}

/** The kind of provider stream, selected by the user's question. */
export type Pace = 'paced' | 'burst' | 'silent' | 'flood'

interface Question {
  pace?: Pace | undefined
  latencyMs?: number | undefined
  gapMs?: number | undefined
}

/** @param more additional body fields, e.g. `background`. */
export function runRequest(
  stream: boolean,
  headers: Record<string, string> = {},
  { pace, latencyMs, gapMs, ...more }: Question & { background?: true } = {},
): LoadRequest {
  return {
    method: 'POST',
    path: '/api/v3/projects/1/versions/live/documents/run',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      path: 'bench',
      parameters: { topic: topicOf({ pace, latencyMs, gapMs }) },
      stream,
      ...more,
    }),
  }
}

/** The same question as a chat completion, for the provider itself and for gateways that forward it. */
export function chatRequest(
  stream: boolean,
  headers: Record<string, string> = {},
  question: Question = {},
): LoadRequest {
  const content = `Say something about ${topicOf(question)}.`
  return {
    method: 'POST',
    path: '/v1/chat/completions',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'bench', messages: [{ role: 'user', content }], stream }),
  }
}

function topicOf({ pace = 'paced', latencyMs = providerLatencyMs, gapMs = 10 }: Question): string {
  return `${pace} rivers after ${latencyMs} ms, a word every ${gapMs} ms`
}

export function attachRequest(uuid: string, headers: Record<string, string>, stream = true): LoadRequest {
  return conversationRequest(`${uuid}/attach`, headers, { stream })
}

export function stopRequest(uuid: string, headers: Record<string, string>): LoadRequest {
  return conversationRequest(`${uuid}/stop`, headers, {})
}

function conversationRequest(path: string, headers: Record<string, string>, body: object): LoadRequest {
  return {
    method: 'POST',
    path: `/api/v3/conversations/${path}`,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

export async function closeAll(...subjects: readonly Subject[]): Promise<void> {
  await Promise.all(subjects.map((subject) => subject.close()))
}

/** Creates one live prompt. Returns the headers of an API key whose rate limit exceeds the load. */
export async function seedStet(url: string): Promise<Record<string, string>> {
  await addPrompts({ url }, ['bench'])
  return { authorization: await addKey({ url }) }
}

/** Creates live prompts with the same text. */
export async function addPrompts(subject: Pick<Subject, 'url'>, paths: readonly string[]): Promise<void> {
  const draft = await call(subject, '/projects/1/versions', { name: 'bench' })
  const version = `/projects/1/versions/${String(draft['uuid'])}`
  await call(subject, `${version}/push`, { changes: paths.map((path) => ({ path, content: prompt, status: 'added' })) })
  await call(subject, `${version}/publish`, {})
}

/** Creates an API key whose rate limit exceeds the load. Returns its `Authorization` header. */
export async function addKey(subject: Pick<Subject, 'url'>): Promise<string> {
  const { key } = await call(subject, '/api-keys', { name: 'bench', plan: 'custom', limit: 100_000 })
  return `Bearer ${String(key)}`
}

async function call({ url }: Pick<Subject, 'url'>, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${url}/api/v3${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}
