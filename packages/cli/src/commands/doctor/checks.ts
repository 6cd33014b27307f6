import { createRequire } from 'node:module'
import type { Stet } from '@stet/sdk'
import { version } from '../../../package.json' with { type: 'json' }
import { compileTexts, problemsOf } from '../../compile/compile-texts.ts'
import type { Context } from '../../context.ts'
import { isJsonObject } from '../../settings/json-file.ts'
import type { Settings } from '../../settings/resolve.ts'
import { scanProject } from '../../sync/scan.ts'
import { describeVersion, findVersionToRun } from '../../sync/version-ref.ts'
import { refuseOtherLock } from '../../sync/workspace.ts'
import { countOf, shownFile } from '../../terminal/output.ts'
import { generateTypes } from '../types/generated-types.ts'

/** The `Date` header has a resolution of one second. Small differences are harmless. */
const CLOCK_TOLERANCE_MS = 5_000

type Result = Omit<Finding, 'name'>

export function checkPrograms(): Result {
  const sdk: unknown = createRequire(import.meta.url)('@stet/sdk/package.json')
  const sdkVersion = isJsonObject(sdk) ? sdk['version'] : 'unknown'
  return ok(`node ${process.versions.node} · stet ${version} · sdk ${sdkVersion}`)
}

/** Warns if there is no configuration file. An invalid file already fails in `ctx.settings()`. */
export function checkConfig({ configFile }: Settings, { io }: Context): Result {
  return configFile ? ok(shownFile(configFile, io.cwd)) : warn('no stet.config.json: run stet init')
}

export function checkLock(settings: Settings): Result {
  if (!settings.lock) return warn('none: run stet init or stet pull')
  refuseOtherLock(settings)
  return ok(`${Object.keys(settings.lock.prompts).length} prompts, version ${settings.lock.version.uuid.slice(0, 8)}`)
}

export async function checkServer({ baseUrl }: Settings, client: Stet): Promise<{ server: Result; clock: Result }> {
  // The first request opens the connection. The second one measures the response time.
  await client.health()
  const startedAt = Date.now()
  const { data, response } = await client.health().withResponse()
  const took = Date.now() - startedAt
  const date = Date.parse(response.headers.get('date') ?? '')
  return {
    server: ok(`${baseUrl.value} · version ${data.version} · ${took} ms`),
    clock: Number.isNaN(date)
      ? { status: 'skip', message: 'the server sent no Date header' }
      : clockOf(date, startedAt, took),
  }
}

/** Compares the response's `Date` with the local time of the request. All values are in milliseconds. */
export function clockOf(date: number, startedAt: number, tookMs: number): Result {
  const ahead = Math.round((date - (startedAt + tookMs / 2)) / 1000)
  if (Math.abs(date - startedAt) <= CLOCK_TOLERANCE_MS + tookMs) return ok('in sync with the server')
  return warn(`server is ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead of' : 'behind'} the local clock`)
}

export async function checkAuth({ apiKey }: Settings, client: Stet): Promise<Result> {
  const me = await client.me()
  const { name, scopes, expiresAt } = me.apiKey
  const until = expiresAt === null ? '' : ` · expires ${expiresAt.slice(0, 10)}`
  return ok(`key "${name}" · ${scopes.join(', ')}${until} (${apiKey?.origin})`)
}

export async function checkProject({ projectId }: Settings, client: Stet, ctx: Context): Promise<Result> {
  if (!projectId) return warn('none: use --project <id>, STET_PROJECT_ID, or stet init')
  const found = await client.versions.get(await findVersionToRun(client, ctx))
  return ok(`${projectId.value} (${projectId.origin}) · ${describeVersion(found)}`)
}

export async function checkPrompts(settings: Settings): Promise<Result> {
  const idle: string[] = []
  const { prompts, refused } = await scanProject(settings, (message) => idle.push(message))
  const scans = await compileTexts(new Map([...prompts].map(([path, { text }]) => [path, text])))
  const errors = problemsOf(scans, prompts).filter(({ severity }) => severity === 'error')
  const [first] = errors
  if (first) {
    return {
      status: 'fail',
      message: `${countOf(errors.length, 'error')}, first ${first.path}:${first.line} ${first.message} · stet check`,
    }
  }
  const [left] = refused
  if (left) return warn(`${prompts.size} files compile; skipped ${left.path}: ${left.reason}`)
  if (idle.length > 0) return warn(idle.join(' · '))
  return prompts.size === 0 ? { status: 'skip', message: 'no prompt files' } : ok(`${prompts.size} files compile`)
}

export async function checkTypes({ config }: Settings, ctx: Context): Promise<Result> {
  if (!config.types.isConfigured) return { status: 'skip', message: 'not configured' }
  const { file, isCurrent } = await generateTypes({ out: undefined, isLocal: false, isLoose: false }, ctx)
  return isCurrent
    ? ok(shownFile(file, ctx.io.cwd))
    : warn(`${shownFile(file, ctx.io.cwd)} is out of date: run stet types generate`)
}

function ok(message: string): Result {
  return { status: 'ok', message }
}

function warn(message: string): Result {
  return { status: 'warn', message }
}

export interface Finding {
  name: string
  /** `skip` means that there was nothing to check, or that the check was impossible. */
  status: 'ok' | 'warn' | 'fail' | 'skip'
  message: string
}
