/** All server settings: variable, rule, default and meaning. docs/configuration.md is generated from this file. */
import { z } from 'zod'

export interface Setting<T> {
  variable: string
  schema: z.ZodType<T>
  /** The default as text; undefined if there is none. */
  fallback: string | undefined
  /** Describes a default that is not a fixed value. */
  fallbackNote?: string
  meaning: string
  isSecret?: boolean
}

const text = z.string().min(1, 'must not be empty')
const optionalText = text.optional()
const whole = (least: number, most: number): z.ZodType<number> =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`)
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on')
const httpUrl = z.string().refine(isHttpUrl, 'must be an http or https URL').optional()

export const settings = {
  host: of('HOST', text, '127.0.0.1', 'Address to listen on. Put a proxy with TLS in front of anything but loopback.'),
  port: of('PORT', whole(0, 65_535), '8787', 'Port to listen on; 0 picks a free one.'),
  dataDir: of(
    'STET_DATA_DIR',
    text,
    './.stet',
    'Folder of the embedded database (`db/`), `admin.key` and `encryption.key`.',
  ),
  databaseUrl: of(
    'DATABASE_URL',
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must start with postgres:// or postgresql://')
      .optional(),
    undefined,
    'PostgreSQL 15 or later. Not set: the embedded database in `STET_DATA_DIR`.',
    { isSecret: true },
  ),
  databaseSilenceMs: of(
    'STET_DATABASE_SILENCE_MS',
    whole(100, 60_000),
    '1000',
    'How long to wait for any response from PostgreSQL before failing queries with 503, in ms.',
  ),
  encryptionKeys: of(
    'STET_ENCRYPTION_KEY',
    list
      .refine((keys) => keys.every(isEncryptionKey), 'must be 32 bytes in base64; several keys are separated by commas')
      .optional(),
    undefined,
    'Encrypts stored provider tokens, and stored responses that show an API key. Several keys, newest first: the first encrypts, all decrypt. Required with `DATABASE_URL`; create one with `stet-server generate-key encryption`.',
    { isSecret: true, fallbackNote: 'embedded: generated into `encryption.key`' },
  ),
  adminKey: of(
    'STET_ADMIN_KEY',
    optionalText,
    undefined,
    'Admin API key of the first start, as printed by `stet-server generate-key admin`.',
    { isSecret: true, fallbackNote: 'generated and printed once' },
  ),
  logLevel: of(
    'STET_LOG_LEVEL',
    z.enum(['error', 'warn', 'info', 'debug', 'off'], { error: 'must be error, warn, info, debug or off' }),
    'info',
    'Lowest level of log lines on standard error.',
  ),
  openaiApiKey: of('OPENAI_API_KEY', optionalText, undefined, 'Creates the provider key `openai`.', { isSecret: true }),
  openaiBaseUrl: of(
    'OPENAI_BASE_URL',
    httpUrl,
    undefined,
    'Base address for the provider key `openai`: any OpenAI-compatible service, private addresses included.',
    { fallbackNote: "OpenAI's own" },
  ),
  anthropicApiKey: of('ANTHROPIC_API_KEY', optionalText, undefined, 'Creates the provider key `anthropic`.', {
    isSecret: true,
  }),
  anthropicBaseUrl: of(
    'ANTHROPIC_BASE_URL',
    httpUrl,
    undefined,
    'Base address for the provider key `anthropic`: any service with the Messages API, private addresses included.',
    { fallbackNote: "Anthropic's own" },
  ),
  demoProvider: of(
    'STET_DEMO_PROVIDER',
    onOff,
    'on',
    'The built-in provider `demo`: deterministic, offline, not a model.',
  ),
  defaultProvider: of(
    'STET_DEFAULT_PROVIDER',
    optionalText,
    undefined,
    'Provider key for prompts and projects without a provider.',
    { fallbackNote: 'the only usable provider key; without one, `demo`' },
  ),
  defaultModel: of(
    'STET_DEFAULT_MODEL',
    optionalText,
    undefined,
    'Model for prompts, projects and provider keys without a model.',
  ),
  allowedPrivateHosts: of(
    'STET_ALLOWED_PRIVATE_HOSTS',
    list,
    '',
    'Hosts at private addresses, comma-separated, that stored provider keys may call (local models).',
  ),
  corsOrigins: of(
    'STET_CORS_ORIGINS',
    list.refine(
      (origins) => origins.every(isOrigin),
      'must be exact origins such as https://app.example.com, separated by commas',
    ),
    '',
    'Exact origins, comma-separated, from which browsers may call; no `*`. Off when empty.',
  ),
  metricsToken: of(
    'STET_METRICS_TOKEN',
    optionalText,
    undefined,
    'Bearer token of `/metrics`. Not set: loopback only.',
    { isSecret: true },
  ),
  trustProxy: of(
    'STET_TRUST_PROXY',
    whole(0, 10),
    '0',
    'Number of proxies in front of the server, for reading `X-Forwarded-For`.',
  ),
  authFailureLimit: of(
    'STET_AUTH_FAILURE_LIMIT',
    whole(0, 1_000_000),
    '20',
    'Failed authentications allowed per address in 10 s; 0 = no limit.',
  ),
  bodyLimitBytes: of(
    'STET_BODY_LIMIT_BYTES',
    whole(1_024, 104_857_600),
    '4194304',
    'Maximum size of a decompressed request body, in bytes.',
  ),
  graceMs: of(
    'STET_GRACE_MS',
    whole(0, 86_400_000),
    '30000',
    'How long a foreground run continues after its last reader disconnects, in ms; 0 stops it at once.',
  ),
  runTimeoutSeconds: of('STET_RUN_TIMEOUT_SECONDS', whole(1, 86_400), '3600', 'Maximum duration of a run, in seconds.'),
  tools: of(
    'STET_TOOLS',
    optionalText,
    undefined,
    'Path of an ES module with tools that prompts may use and the server runs. See docs/tools.md.',
  ),
  maxStreamsPerKey: of(
    'STET_MAX_STREAMS_PER_KEY',
    whole(1, 1_000_000),
    '200',
    'Maximum number of open event streams per API key.',
  ),
  maxConnections: of(
    'STET_MAX_CONNECTIONS',
    whole(1, 1_000_000),
    '16384',
    'Maximum number of open connections; further ones are closed at once. Keep it below the process limit for open files.',
  ),
  stallSeconds: of(
    'STET_STALL_SECONDS',
    whole(1, 86_400),
    '30',
    'How long a client may stop reading a response before its connection is closed, in seconds. Event streams have 5 minutes.',
  ),
  unreadBytes: of(
    'STET_UNREAD_BYTES',
    whole(1_048_576, 17_179_869_184),
    '33554432',
    'Total bytes of responses that clients have not read yet; above it, the connections stalled longest are closed.',
  ),
  endedRunBytes: of(
    'STET_ENDED_RUN_BYTES',
    whole(0, 17_179_869_184),
    '67108864',
    'Memory for queued and recently ended runs, in bytes. It only saves database reads; 0 keeps none.',
  ),
  workers: of(
    'STET_WORKERS',
    whole(1, 10_000),
    '25',
    'Maximum number of background runs at once; more wait in the queue.',
  ),
  maxQueuedPerKey: of(
    'STET_MAX_QUEUED_PER_KEY',
    whole(1, 1_000_000),
    '1000',
    'Maximum number of queued background runs per API key.',
  ),
  eventRetentionHours: of(
    'STET_EVENT_RETENTION_HOURS',
    whole(0, 8_760),
    '24',
    'How long the event log of an ended run is kept, in hours.',
  ),
  retentionDays: of(
    'STET_RETENTION_DAYS',
    whole(0, 3_650),
    '0',
    'Days after which ended conversations are deleted, unless their project sets `retentionDays`; 0 = never.',
  ),
  drainDelayMs: of(
    'STET_DRAIN_DELAY_MS',
    whole(0, 600_000).optional(),
    undefined,
    'How long a stopping server keeps serving, with `/ready` 503, before it closes its listener, in ms.',
    { fallbackNote: '0 embedded, 5000 with `DATABASE_URL`' },
  ),
  templateWorkers: of(
    'STET_TEMPLATE_WORKERS',
    whole(1, 64),
    '2',
    'Worker processes that one workspace may use at once to evaluate prompts. One more is started, so that no workspace can occupy all of them.',
  ),
  maxEvaluationsPerKey: of(
    'STET_MAX_EVALUATIONS_PER_KEY',
    whole(1, 1_000_000),
    '1000',
    'Maximum number of queued and running prompt evaluations per API key; further requests get 503.',
  ),
  maxEvaluationsPerWorkspace: of(
    'STET_MAX_EVALUATIONS_PER_WORKSPACE',
    whole(1, 1_000_000),
    '2000',
    'The same for all API keys of a workspace together.',
  ),
  backupDir: of(
    'STET_BACKUP_DIR',
    optionalText,
    undefined,
    'Folder for scheduled snapshots of the embedded database. Off when not set.',
  ),
  backupHours: of('STET_BACKUP_HOURS', whole(1, 8_760), '24', 'Hours between scheduled snapshots.'),
  backupKeep: of('STET_BACKUP_KEEP', whole(1, 1_000), '7', 'Number of scheduled snapshots to keep.'),
} as const

function of<T>(
  variable: string,
  schema: z.ZodType<T>,
  fallback: string | undefined,
  meaning: string,
  more: Pick<Setting<T>, 'fallbackNote' | 'isSecret'> = {},
): Setting<T> {
  return { variable, schema, fallback, meaning, ...more }
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

// An origin in the form that browsers send: no path, trailing slash, default port, upper case or wildcard.
function isOrigin(value: string): boolean {
  return isHttpUrl(value) && new URL(value).origin === value && !value.includes('*')
}

function isEncryptionKey(value: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(value)
}
