/** `value` is the placeholder for the flag's value. A flag without `value` is a switch. */
export interface Flag {
  long: string
  short?: string
  value?: string
  isMany?: boolean
  summary: string
  variable?: string
}

export const globalFlags: readonly Flag[] = [
  { long: '--base-url', value: '<url>', variable: 'STET_BASE_URL', summary: 'URL of the server' },
  { long: '--api-key-stdin', summary: 'read the API key from standard input' },
  {
    long: '--api-key',
    value: '<key>',
    variable: 'STET_API_KEY',
    summary: 'API key; visible in the process list and the shell history',
  },
  { long: '--project', short: '-P', value: '<id>', variable: 'STET_PROJECT_ID', summary: 'project' },
  {
    long: '--version-uuid',
    short: '-V',
    value: '<ref>',
    variable: 'STET_VERSION_UUID',
    summary: 'version: a uuid, at least its first 8 digits, or live',
  },
  {
    long: '--profile',
    value: '<name>',
    variable: 'STET_PROFILE',
    summary: 'use the login and overrides of this profile',
  },
  { long: '--cwd', short: '-C', value: '<dir>', summary: 'folder to work in' },
  { long: '--config', value: '<file>', variable: 'STET_CONFIG', summary: 'configuration file' },
  { long: '--env-file', value: '<file>', summary: 'read variables from a file' },
  { long: '--json', variable: 'STET_OUTPUT=json', summary: 'print JSON' },
  { long: '--quiet', short: '-q', summary: 'no messages on standard error' },
  { long: '--verbose', short: '-v', summary: 'show the origin of each setting' },
  { long: '--debug', variable: 'STET_DEBUG', summary: 'print requests (key masked) and stack traces' },
  { long: '--color', variable: 'FORCE_COLOR', summary: 'use colors' },
  { long: '--no-color', variable: 'NO_COLOR', summary: 'disable colors' },
  { long: '--yes', short: '-y', summary: 'answer confirmations with yes' },
  { long: '--no-input', variable: 'STET_NO_INPUT', summary: 'never ask questions' },
  { long: '--timeout', value: '<seconds>', summary: 'time limit per request' },
  { long: '--no-retry', summary: 'do not retry failed requests' },
]

/** If a property is absent, the environment, files and defaults decide. */
export interface GlobalFlags {
  baseUrl?: string
  apiKey?: string
  apiKeyStdin: boolean
  project?: string
  versionUuid?: string
  profile?: string
  cwd?: string
  config?: string
  envFile?: string
  json: boolean
  quiet: boolean
  verbose: boolean
  debug: boolean
  color?: boolean
  yes: boolean
  input: boolean
  timeout?: string
  retry: boolean
}

const texts = ['baseUrl', 'apiKey', 'project', 'versionUuid', 'profile', 'cwd', 'config', 'envFile', 'timeout'] as const

export function readGlobalFlags(options: Readonly<Record<string, unknown>>): GlobalFlags {
  const flags: GlobalFlags = {
    apiKeyStdin: options['apiKeyStdin'] === true,
    json: options['json'] === true,
    quiet: options['quiet'] === true,
    verbose: options['verbose'] === true,
    debug: options['debug'] === true,
    yes: options['yes'] === true,
    input: options['input'] !== false,
    retry: options['retry'] !== false,
  }
  if (typeof options['color'] === 'boolean') flags.color = options['color']
  for (const name of texts) {
    const value = options[name]
    if (typeof value === 'string') flags[name] = value
  }
  return flags
}
