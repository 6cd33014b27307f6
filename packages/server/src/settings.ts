/** All server settings: variable, rule, default and meaning. `scripts/emit-configuration.ts` documents them. */

import { z } from 'zod'

/** @param fallbackNote describes a default that is not a fixed value. */
function setting<S extends z.ZodType>(variable: string, schema: S, fallbackNote?: string): S {
  return schema.meta({ variable, fallbackNote })
}

export function variableOf(schema: z.ZodType): string {
  return String(schema.meta()?.['variable'])
}

const text = z.string().min(1, 'must not be empty')
const optionalText = text.optional()
const dollars = z
  .string()
  .refine((value) => /^\d{1,6}(\.\d{1,6})?$/.test(value), 'must be a number of USD such as 0.5')
  .transform(Number)

const whole = (least: number, most: number) =>
  z
    .string()
    .refine(
      (value) => /^\d+$/.test(value) && Number(value) >= least && Number(value) <= most,
      `must be a whole number from ${least} to ${most}`,
    )
    .transform(Number)
const list = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
)
const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on')
const httpUrl = z.string().refine(isHttpUrl, 'must be an http or https URL').optional()
// Addresses are made by appending a path, so the URL has no trailing slash.
const baseUrl = z
  .string()
  .refine(isBaseUrl, 'must be an http or https URL without user, query and fragment')
  .transform((value) => withoutSlash(new URL(value).href))
  .optional()

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export const settings = {
  host: setting('HOST', text.prefault('127.0.0.1')).describe(
    'Address to listen on. Put a proxy with TLS in front of anything but loopback.',
  ),
  port: setting('PORT', whole(0, 65_535).prefault('8787')).describe('Port to listen on; 0 picks a free one.'),
  publicUrl: setting(
    'STET_PUBLIC_URL',
    baseUrl,
    '`http://` with `HOST` and `PORT`; `0.0.0.0` and `::` are shown as `127.0.0.1`',
  ).describe(
    'Address of this server in browsers, used in sign-in links. An https address marks console cookies as `Secure`. A path, for a proxy that serves stet below one, is the base of the console.',
  ),
  console: setting('STET_CONSOLE', onOff.prefault('on')).describe(
    'The console, a web app at `/`, with its sign-in at `/console`. Off: `/` redirects to `/docs`.',
  ),
  openaiApi: setting('STET_OPENAI_API', onOff.prefault('on')).describe(
    'The routes below `/v1`, for clients of OpenAI’s API. See docs/start/openai-clients.md.',
  ),
  mcp: setting('STET_MCP', onOff.prefault('on')).describe(
    'The MCP server at `/mcp`, for coding agents and other hosts. See docs/mcp.md.',
  ),
  mcpPublish: setting('STET_MCP_PUBLISH', onOff.prefault('off')).describe(
    'Whether MCP clients may publish drafts, with a key that has the scope `publish`. Off: a person publishes.',
  ),
  dataDir: setting('STET_DATA_DIR', text.prefault('./.stet')).describe(
    'Folder of the embedded database (`db/`), `admin.key` and `encryption.key`.',
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    z
      .string()
      .regex(/^postgres(ql)?:\/\//, 'must start with postgres:// or postgresql://')
      .optional(),
  ).describe('PostgreSQL 15 or later. Not set: the embedded database in `STET_DATA_DIR`.'),
  redisUrl: setting(
    'REDIS_URL',
    z
      .string()
      .regex(/^rediss?:\/\//, 'must start with redis:// or rediss://')
      .optional(),
  ).describe(
    'Redis 7 or later, for several servers on one database. Requires `DATABASE_URL`. Not set: one server. See docs/scaling.md.',
  ),
  redisPrefix: setting(
    'STET_REDIS_PREFIX',
    z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, `.`, `-` or `_`')
      .prefault('stet'),
  ).describe('Prefix of all keys in Redis, so that several installations can share one Redis.'),
  redisTimeoutMs: setting('STET_REDIS_TIMEOUT_MS', whole(10, 10_000).prefault('50')).describe(
    'How long a request waits for Redis before it continues without it, in ms.',
  ),
  databaseSilenceMs: setting('STET_DATABASE_SILENCE_MS', whole(100, 60_000).prefault('1000')).describe(
    'How long to wait for any response from PostgreSQL before failing queries with 503, in ms.',
  ),
  encryptionKeys: setting(
    'STET_ENCRYPTION_KEY',
    list
      .refine(
        (keys) => keys.every((key) => /^[A-Za-z0-9+/]{43}=$/.test(key)),
        'must be 32 bytes in base64; several keys are separated by commas',
      )
      .optional(),
    'embedded: generated into `encryption.key`',
  ).describe(
    'Encrypts stored provider tokens, and stored responses that show an API key. Several keys, newest first: the first encrypts, all decrypt. Required with `DATABASE_URL`; create one with `stet-server generate-key encryption`.',
  ),
  adminKey: setting('STET_ADMIN_KEY', optionalText, 'generated and printed once').describe(
    'Admin API key of the first start, as printed by `stet-server generate-key admin`.',
  ),
  logLevel: setting(
    'STET_LOG_LEVEL',
    z
      .enum(['error', 'warn', 'info', 'debug', 'off'], { error: 'must be error, warn, info, debug or off' })
      .prefault('info'),
  ).describe('Lowest level of log lines on standard error.'),
  openaiApiKey: setting('OPENAI_API_KEY', optionalText).describe('Creates the provider key `openai`.'),
  openaiBaseUrl: setting('OPENAI_BASE_URL', httpUrl, "OpenAI's own").describe(
    'Base address for the provider key `openai`: any OpenAI-compatible service, private addresses included.',
  ),
  anthropicApiKey: setting('ANTHROPIC_API_KEY', optionalText).describe('Creates the provider key `anthropic`.'),
  anthropicBaseUrl: setting('ANTHROPIC_BASE_URL', httpUrl, "Anthropic's own").describe(
    'Base address for the provider key `anthropic`: any service with the Messages API, private addresses included.',
  ),
  demoProvider: setting('STET_DEMO_PROVIDER', onOff.prefault('on')).describe(
    'The built-in provider `demo`: deterministic, offline, not a model.',
  ),
  defaultProvider: setting(
    'STET_DEFAULT_PROVIDER',
    optionalText,
    'the only usable provider key; without one, `demo`',
  ).describe('Provider key for prompts and projects without a provider.'),
  defaultModel: setting('STET_DEFAULT_MODEL', optionalText).describe(
    'Model for prompts, projects and provider keys without a model.',
  ),
  allowedPrivateHosts: setting('STET_ALLOWED_PRIVATE_HOSTS', list.prefault('')).describe(
    'Hosts at private addresses, comma-separated, that stored provider keys may call (local models).',
  ),
  corsOrigins: setting(
    'STET_CORS_ORIGINS',
    list
      .refine(
        (origins) => origins.every(isOrigin),
        'must be exact origins such as https://app.example.com, separated by commas',
      )
      .prefault(''),
  ).describe('Exact origins, comma-separated, from which browsers may call; no `*`. Off when empty.'),
  metricsToken: setting('STET_METRICS_TOKEN', optionalText).describe(
    'Bearer token of `/metrics`. Not set: loopback only.',
  ),
  metricsPrompts: setting('STET_METRICS_PROMPTS', whole(0, 10_000).prefault('200')).describe(
    'Maximum number of prompts with their own label in `stet_runs_total`; the others share `other`.',
  ),
  otlpEndpoint: setting('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl).describe(
    'Base address of an OpenTelemetry collector (OTLP over HTTP, JSON), for example `http://localhost:4318`. Not set: no traces.',
  ),
  otlpHeaders: setting('OTEL_EXPORTER_OTLP_HEADERS', optionalText).describe(
    'Headers for the collector, as `name=value` pairs separated by commas; values are URL-encoded.',
  ),
  serviceName: setting('OTEL_SERVICE_NAME', text.prefault('stet')).describe('`service.name` of the traces.'),
  resourceAttributes: setting('OTEL_RESOURCE_ATTRIBUTES', optionalText).describe(
    'Further attributes of all traces, as `name=value` pairs separated by commas.',
  ),
  tracesSampler: setting(
    'OTEL_TRACES_SAMPLER',
    z.enum(samplers, { error: `must be one of ${samplers.join(', ')}` }).prefault('parentbased_always_on'),
  ).describe('Decides which requests are traced. The `parentbased_` samplers follow the decision of a traced caller.'),
  tracesSamplerArg: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    z
      .string()
      .refine((value) => Number(value) >= 0 && Number(value) <= 1, 'must be a number from 0 to 1')
      .transform(Number)
      .optional(),
    '1',
  ).describe('Share of traced requests for the samplers with `traceidratio`, for example `0.1`.'),
  traceContent: setting('STET_TRACE_CONTENT', onOff.prefault('off')).describe(
    'Whether traces contain prompts, parameters, answers and tool results.',
  ),
  trustProxy: setting('STET_TRUST_PROXY', whole(0, 10).prefault('0')).describe(
    'Number of proxies in front of the server, for reading `X-Forwarded-For` and `X-Forwarded-Proto`.',
  ),
  authFailureLimit: setting('STET_AUTH_FAILURE_LIMIT', whole(0, 1_000_000).prefault('20')).describe(
    'Failed authentications allowed per address in 10 s; 0 = no limit.',
  ),
  bodyLimitBytes: setting('STET_BODY_LIMIT_BYTES', whole(1_024, 104_857_600).prefault('4194304')).describe(
    'Maximum size of a decompressed request body, in bytes.',
  ),
  bytesPerSecond: setting('STET_MAX_BYTES_PER_SECOND', whole(65_536, 1_073_741_824).prefault('10485760')).describe(
    'Maximum bytes per second that an API key may send in request bodies above 32 KB. Its console sessions count too.',
  ),
  workspaceMaxMb: setting('STET_WORKSPACE_MAX_MB', whole(1, 1_073_741_824).optional()).describe(
    'Maximum size of the data of one workspace, in MB (1048576 bytes), as the database stores it. A workspace above it gets 429 (`workspace-full`) for requests that would store more. Measured once a minute. Not set: no limit.',
  ),
  graceMs: setting('STET_GRACE_MS', whole(0, 86_400_000).prefault('30000')).describe(
    'How long a foreground run continues after its last reader disconnects, in ms; 0 stops it at once.',
  ),
  runTimeoutSeconds: setting('STET_RUN_TIMEOUT_SECONDS', whole(1, 86_400).prefault('3600')).describe(
    'Maximum duration of a run, in seconds.',
  ),
  tools: setting('STET_TOOLS', optionalText).describe(
    'Path of an ES module with tools that prompts may use and the server runs. See docs/tools.md.',
  ),
  maxStreamsPerKey: setting('STET_MAX_STREAMS_PER_KEY', whole(1, 1_000_000).prefault('200')).describe(
    'Maximum number of open event streams per API key.',
  ),
  maxConnections: setting('STET_MAX_CONNECTIONS', whole(1, 1_000_000).prefault('16384')).describe(
    'Maximum number of open connections; further ones are closed at once. Keep it below the process limit for open files.',
  ),
  stallSeconds: setting('STET_STALL_SECONDS', whole(1, 86_400).prefault('30')).describe(
    'How long a client may stop reading a response before its connection is closed, in seconds. Event streams have 5 minutes.',
  ),
  unreadBytes: setting('STET_UNREAD_BYTES', whole(1_048_576, 17_179_869_184).prefault('33554432')).describe(
    'Total bytes of responses that clients have not read yet; above it, the connections stalled longest are closed.',
  ),
  endedRunBytes: setting('STET_ENDED_RUN_BYTES', whole(0, 17_179_869_184).prefault('67108864')).describe(
    'Memory for queued and recently ended runs, in bytes. It only saves database reads; 0 keeps none.',
  ),
  workers: setting('STET_WORKERS', whole(1, 10_000).prefault('25')).describe(
    'Maximum number of background runs at once; more wait in the queue.',
  ),
  maxQueuedPerKey: setting('STET_MAX_QUEUED_PER_KEY', whole(1, 1_000_000).prefault('1000')).describe(
    'Maximum number of queued background runs per API key.',
  ),
  eventRetentionHours: setting('STET_EVENT_RETENTION_HOURS', whole(0, 8_760).prefault('24')).describe(
    'How long the event log of an ended run is kept, in hours.',
  ),
  retentionDays: setting('STET_RETENTION_DAYS', whole(0, 3_650).prefault('0')).describe(
    'Days after which ended conversations are deleted, unless their project sets `retentionDays`; 0 = never.',
  ),
  keepParameters: setting('STET_KEEP_PARAMETERS', onOff.prefault('on')).describe(
    'Whether runs keep the parameters that they were given, unless their project sets `keepParameters`.',
  ),
  experimentMaxUsd: setting('STET_EXPERIMENT_MAX_USD', dollars.prefault('20')).describe(
    'The highest `budgetUsd` that an experiment may have, in USD.',
  ),
  experimentRetentionDays: setting('STET_EXPERIMENT_RETENTION_DAYS', whole(0, 3_650).prefault('90')).describe(
    'Days after the end of an experiment after which the messages of its runs are dropped; 0 = never. Figures and scores stay.',
  ),
  drainDelayMs: setting(
    'STET_DRAIN_DELAY_MS',
    whole(0, 600_000).optional(),
    '0 embedded, 5000 with `DATABASE_URL`',
  ).describe('How long a stopping server keeps serving, with `/ready` 503, before it closes its listener, in ms.'),
  drainSeconds: setting('STET_DRAIN_SECONDS', whole(0, 3_600).prefault('30')).describe(
    'How long a stopping server gives its active runs to end, in s. Runs that are still active then end with `worker_lost`. The process ends within 20 s after that.',
  ),
  maxEvaluationsPerKey: setting('STET_MAX_EVALUATIONS_PER_KEY', whole(1, 1_000_000).prefault('1000')).describe(
    'Maximum number of queued and running prompt evaluations per API key; further requests get 503.',
  ),
  maxEvaluationsPerWorkspace: setting(
    'STET_MAX_EVALUATIONS_PER_WORKSPACE',
    whole(1, 1_000_000).prefault('2000'),
  ).describe('The same for all API keys of a workspace together.'),
  acceptLostWrites: setting('STET_ACCEPT_LOST_WRITES', optionalText).describe(
    'The position that the server prints when it refuses an embedded database with a damaged write-ahead log. It then starts without the writes between the damage and that position.',
  ),
  backupDir: setting('STET_BACKUP_DIR', optionalText).describe(
    'Folder for scheduled snapshots of the embedded database. Off when not set.',
  ),
  backupHours: setting('STET_BACKUP_HOURS', whole(1, 8_760).prefault('24')).describe(
    'Hours between scheduled snapshots.',
  ),
  backupKeep: setting('STET_BACKUP_KEEP', whole(1, 1_000).prefault('7')).describe(
    'Number of scheduled snapshots to keep.',
  ),
} as const

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
}

function isBaseUrl(value: string): boolean {
  if (!isHttpUrl(value)) return false
  const { username, password } = new URL(value)
  return username === '' && password === '' && !/[?#]/.test(value)
}

// Accepts only the form that browsers send: no path, trailing slash, default port, upper case or wildcard.
function isOrigin(value: string): boolean {
  return isHttpUrl(value) && new URL(value).origin === value && !value.includes('*')
}

function withoutSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url
}
