import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { isWellFormedApiKey, maskApiKey } from './api-key-form.ts'
import { type Config, defaultConfig, findConfigFile, readConfigFile } from './config-file.ts'
import { type Credential, credentialsFileOf, findCredential } from './credentials.ts'
import type { GlobalFlags } from './global-flags.ts'
import { type Lock, lockFileOf, readLockFile } from './lock-file.ts'

/** A value and where it comes from. */
export interface Resolved<T> {
  value: T
  origin: string
}

/** Everything that flags, environment, files and defaults say, in that order. */
export interface Settings {
  /** The folder of the configuration file, else the working folder. */
  root: string
  configFile: string | undefined
  config: Config
  profile: Resolved<string>
  /** With its API prefix. */
  baseUrl: Resolved<string>
  apiKey: Resolved<string> | undefined
  /** Said when a key is kept that belongs to another address. */
  keyElsewhere: string | undefined
  projectId: Resolved<number> | undefined
  /** From flag or environment only; the lock's version is in the lock. */
  versionRef: Resolved<string> | undefined
  lockFile: string
  lock: Lock | undefined
  credentialsFile: string
  timeoutMs: number | undefined
}

/** What resolving needs of a context. */
export interface Surroundings {
  io: Io
  flags: GlobalFlags
  warn(message: string): void
  say(line: string): void
}

const defaultAddress = 'http://127.0.0.1:8787'

export async function resolveSettings({ io, flags, warn, say }: Surroundings): Promise<Settings> {
  const { cwd } = io
  const env = flags.envFile ? { ...(await readEnvFile(resolve(cwd, flags.envFile))), ...io.env } : io.env
  const from = (variable: string): Resolved<string> | undefined => {
    const value = env[variable]?.trim()
    return value ? { value, origin: variable } : undefined
  }
  const flag = (value: string | undefined, name: string): Resolved<string> | undefined =>
    value === undefined ? undefined : { value, origin: name }

  const named = flag(flags.config, '--config') ?? from('STET_CONFIG')
  const configFile = named ? resolve(cwd, named.value) : findConfigFile(cwd)
  const config = configFile ? await readConfigFile(configFile) : defaultConfig
  const root = configFile ? dirname(configFile) : cwd
  const profile = flag(flags.profile, '--profile') ?? from('STET_PROFILE') ?? { value: 'default', origin: 'default' }
  if (!/^[\w-]{1,64}$/.test(profile.value)) throw new CliError('usage', '--profile: letters, digits, - and _ only')

  const credentialsFile = credentialsFileOf(io)
  const credential = await findCredential(credentialsFile, profile.value, warn)
  const lockFile = lockFileOf(root, profile.value)
  const lock = await readLockFile(lockFile)
  const configured = { ...config, ...config.profiles[profile.value] }
  const address = flag(flags.baseUrl, '--base-url') ??
    from('STET_BASE_URL') ??
    flag(configured.baseUrl, 'configuration') ??
    flag(lock?.baseUrl, 'lock file') ??
    flag(credential?.baseUrl, `profile ${profile.value}`) ?? { value: defaultAddress, origin: 'default' }
  const baseUrl = { ...address, value: normalizeAddress(address.value) }
  const project =
    flag(flags.project, '--project') ??
    from('STET_PROJECT_ID') ??
    flag(configured.projectId?.toString(), 'configuration') ??
    flag(lock?.projectId.toString(), 'lock file')
  const settings: Settings = {
    root,
    configFile,
    config,
    profile,
    baseUrl,
    ...(await resolveKey(io, flags, from('STET_API_KEY'), credential, baseUrl.value, profile.value, warn)),
    projectId: project && { ...project, value: positiveInteger(project) },
    versionRef: flag(flags.versionUuid, '--version-uuid') ?? from('STET_VERSION_UUID'),
    lockFile,
    lock,
    credentialsFile,
    timeoutMs: flags.timeout === undefined ? undefined : seconds(flags.timeout) * 1000,
  }
  if (flags.verbose) describe(settings, say)
  return settings
}

/** An address as the server's routes need it: without a trailing slash, with the API prefix. */
export function normalizeAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CliError('usage', `Not an address: ${text}`, { hint: '--base-url' })
  if (url.username || url.password) throw new CliError('usage', 'The address must not hold a password')
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  return `${url.origin}${path.endsWith('/api/v3') ? path : `${path}/api/v3`}`
}

type ResolvedKey = Pick<Settings, 'apiKey' | 'keyElsewhere'>

// A kept key goes to the address it was kept for and to no other: a project file of a stranger could name its own.
async function resolveKey(
  io: Io,
  flags: GlobalFlags,
  variable: Resolved<string> | undefined,
  credential: Credential | undefined,
  baseUrl: string,
  profile: string,
  warn: (message: string) => void,
): Promise<ResolvedKey> {
  if (flags.apiKeyStdin) {
    const text = new TextDecoder().decode(await io.readStdin()).trim()
    return { apiKey: { value: checkForm(text), origin: '--api-key-stdin' }, keyElsewhere: undefined }
  }
  if (flags.apiKey !== undefined) {
    warn('--api-key is visible in the process list and the shell history; --api-key-stdin is not')
    return { apiKey: { value: checkForm(flags.apiKey.trim()), origin: '--api-key' }, keyElsewhere: undefined }
  }
  if (variable) return { apiKey: { ...variable, value: checkForm(variable.value) }, keyElsewhere: undefined }
  if (!credential) return { apiKey: undefined, keyElsewhere: undefined }
  if (credential.baseUrl !== baseUrl) return { apiKey: undefined, keyElsewhere: credential.baseUrl }
  return { apiKey: { value: credential.apiKey, origin: `profile ${profile}` }, keyElsewhere: undefined }
}

/** Refuses what cannot be a key before anything is sent. */
export function checkForm(key: string): string {
  if (isWellFormedApiKey(key)) return key
  throw new CliError('not_allowed', 'This is not an API key of stet (stet_ and 36 characters with a checksum)', {
    hint: 'copy the key whole; stet-server new-admin-key makes a new one',
  })
}

async function readEnvFile(file: string): Promise<NodeJS.Dict<string>> {
  try {
    return parseEnv(await readFile(file, 'utf8'))
  } catch {
    throw new CliError('usage', `Cannot read ${file}`, { hint: '--env-file' })
  }
}

function positiveInteger({ value, origin }: Resolved<string>): number {
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value)
  throw new CliError('usage', `${origin}: the project is a positive integer, not "${value}"`)
}

function seconds(text: string): number {
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new CliError('usage', `--timeout: seconds, not "${text}"`)
}

function describe(settings: Settings, say: (line: string) => void): void {
  const { baseUrl, profile, projectId, versionRef, apiKey, configFile } = settings
  const rows: [string, Resolved<string | number> | undefined][] = [
    ['server', baseUrl],
    ['profile', profile],
    ['api key', apiKey && { ...apiKey, value: maskApiKey(apiKey.value) }],
    ['project', projectId],
    ['version', versionRef],
  ]
  for (const [name, row] of rows) say(`${name}: ${row ? `${row.value} (${row.origin})` : 'not set'}`)
  say(`configuration: ${configFile ?? 'none'}`)
}
