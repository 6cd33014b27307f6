import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { API_PREFIX } from '@stet/contract/routes'
import { CliError } from '../exit-code.ts'
import type { Io } from '../io.ts'
import { type Config, defaultConfig, findConfigFile, readConfigFile } from './config-file.ts'
import { type Credential, credentialsFileOf, isWellFormedApiKey, maskApiKey, readLogins } from './credentials.ts'
import type { GlobalFlags } from './global-flags.ts'
import { type Lock, lockFileOf, readLockFile } from './lock-file.ts'
import { isWithin } from './write-file.ts'

export interface Resolved<T> {
  value: T
  origin: string
}

/** Values from flags, the environment, files and defaults, in this order of precedence. */
export interface Settings {
  /** The configuration file's folder, or the working folder. */
  root: string
  configFile: string | undefined
  config: Config
  profile: Resolved<string>
  /** Includes the API prefix. */
  baseUrl: Resolved<string>
  apiKey: Resolved<string> | undefined
  /** Explains why an existing key is not sent to this address. */
  withheld: { message: string; hint: string } | undefined
  /** True if the address comes only from a project file, matches no login and is not the default. */
  isAddressForeign: boolean
  projectId: Resolved<number> | undefined
  /** Comes only from the flag or the environment. The lock has its own version. */
  versionRef: Resolved<string> | undefined
  lockFile: string
  lock: Lock | undefined
  credentialsFile: string
  timeoutMs: number | undefined
}

export interface Surroundings {
  io: Io
  flags: GlobalFlags
  warn(message: string): void
  say(line: string): void
}

const defaultAddress = 'http://127.0.0.1:8787'

/** Origins of values from project files. These files belong to a checkout, so their values are untrusted. */
const projectOrigins = { config: 'configuration', lock: 'lock file' }

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
  if (configFile) await refusePathsOutside({ root, config, configFile })
  const profile = flag(flags.profile, '--profile') ?? from('STET_PROFILE') ?? { value: 'default', origin: 'default' }
  if (!/^[\w-]{1,64}$/.test(profile.value))
    throw new CliError('usage', '--profile may contain only letters, digits, - and _')

  const credentialsFile = credentialsFileOf(io)
  const logins = await readLogins(credentialsFile, warn)
  const credential = logins[profile.value]
  const lockFile = lockFileOf(root, profile.value)
  const lock = await readLockFile(lockFile)
  const configured = { ...config, ...config.profiles[profile.value] }
  const address = flag(flags.baseUrl, '--base-url') ??
    from('STET_BASE_URL') ??
    flag(configured.baseUrl, projectOrigins.config) ??
    flag(lock?.baseUrl, projectOrigins.lock) ??
    flag(credential?.baseUrl, `profile ${profile.value}`) ?? { value: defaultAddress, origin: 'default' }
  const baseUrl = { ...address, value: normalizeAddress(address.value) }
  const isAddressForeign = isForeign(baseUrl, logins)
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
    isAddressForeign,
    ...resolveKey(
      await givenKey(io, flags, from('STET_API_KEY'), warn),
      credential,
      baseUrl,
      profile.value,
      isAddressForeign,
    ),
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

/**
 * Throws if a configured folder or file is outside the project. A checkout is untrusted, so its paths and links must
 * stay inside.
 */
export async function refusePathsOutside({
  root,
  config,
  configFile,
}: Pick<Settings, 'root' | 'config' | 'configFile'>): Promise<void> {
  for (const [key, path] of [
    ['promptsDir', config.promptsDir],
    ['types.out', config.types.out],
  ] as const) {
    if (await isWithin(root, resolve(root, path))) continue
    throw new CliError('usage', `${configFile ?? root}: "${key}" is outside the project: ${path}`, {
      hint: `use a path below ${root}, outside of .git, that does not link elsewhere`,
    })
  }
}

/** Removes trailing slashes, and adds the API prefix if it is missing. */
export function normalizeAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new CliError('usage', `Invalid URL: ${text}`, { hint: 'check --base-url' })
  if (url.username || url.password) throw new CliError('usage', 'The URL must not contain a user name or password')
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  return `${url.origin}${path.endsWith(API_PREFIX) ? path : path + API_PREFIX}`
}

// A file of a cloned repository must not choose where a key is sent.
function isForeign({ value, origin }: Resolved<string>, logins: Readonly<Record<string, Credential>>): boolean {
  if (!Object.values(projectOrigins).includes(origin) || value === normalizeAddress(defaultAddress)) return false
  return !Object.values(logins).some((login) => login.baseUrl === value)
}

async function givenKey(
  io: Io,
  flags: GlobalFlags,
  variable: Resolved<string> | undefined,
  warn: (message: string) => void,
): Promise<Resolved<string> | undefined> {
  if (flags.apiKeyStdin) {
    const text = new TextDecoder().decode(await io.readStdin()).trim()
    return { value: checkForm(text), origin: '--api-key-stdin' }
  }
  if (flags.apiKey !== undefined) {
    warn('--api-key is visible in the process list and the shell history; use --api-key-stdin')
    return { value: checkForm(flags.apiKey.trim()), origin: '--api-key' }
  }
  return variable && { ...variable, value: checkForm(variable.value) }
}

// A given key is not sent to a foreign address. A stored key is sent only to the address of its login.
function resolveKey(
  given: Resolved<string> | undefined,
  credential: Credential | undefined,
  baseUrl: Resolved<string>,
  profile: string,
  isAddressForeign: boolean,
): Pick<Settings, 'apiKey' | 'withheld'> {
  if (given && !isAddressForeign) return { apiKey: given, withheld: undefined }
  if (given) {
    const message = `The key of ${given.origin} is not sent to ${baseUrl.value}, because that address comes only from the ${baseUrl.origin}`
    const hint = `if you trust it, pass --base-url ${baseUrl.value}, set STET_BASE_URL to it, or log in there first`
    return { apiKey: undefined, withheld: { message, hint } }
  }
  if (!credential) return { apiKey: undefined, withheld: undefined }
  if (credential.baseUrl === baseUrl.value) {
    return { apiKey: { value: credential.apiKey, origin: `profile ${profile}` }, withheld: undefined }
  }
  const message = `The stored key belongs to ${credential.baseUrl}, not to ${baseUrl.value}`
  const hint = `run stet login --base-url ${baseUrl.value} --profile <name>`
  return { apiKey: undefined, withheld: { message, hint } }
}

/** Returns the key. Throws if the key is malformed, so that no request is sent. */
export function checkForm(key: string): string {
  if (isWellFormedApiKey(key)) return key
  throw new CliError('not_allowed', 'Not a stet API key (stet_ and 36 characters, including a checksum)', {
    hint: 'copy the whole key, or create one with stet-server new-admin-key',
  })
}

async function readEnvFile(file: string): Promise<NodeJS.Dict<string>> {
  try {
    return parseEnv(await readFile(file, 'utf8'))
  } catch {
    throw new CliError('usage', `Cannot read ${file}`, { hint: 'check --env-file' })
  }
}

function positiveInteger({ value, origin }: Resolved<string>): number {
  if (/^[1-9]\d{0,9}$/.test(value)) return Number(value)
  throw new CliError('usage', `${origin}: the project must be a positive integer, not "${value}"`)
}

function seconds(text: string): number {
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new CliError('usage', `--timeout must be a number of seconds, not "${text}"`)
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
