import { configError, readTools, type ToolDefinition } from './prompt-tools.ts'

export interface PromptConfig {
  provider?: string
  model?: string
  /** Model calls per step, including the tool loop. */
  maxSteps: number
  /** Retries of one model call before its first byte. */
  maxRetries: number
  type: 'prompt' | 'agent'
  name?: string
  description?: string
  tools: ToolDefinition[]
  serverTools: string[]
  /** Paths of other documents, relative to this one. */
  agents: string[]
  schema?: Record<string, unknown>
  /** Settings for the provider: known keys in camel case, unknown keys unchanged. */
  settings: Record<string, unknown>
}

type Check = (value: unknown) => { value: unknown } | { expected: string }

const DEFAULT_MAX_STEPS = 20
const DEFAULT_MAX_RETRIES = 2

const checks: Readonly<Record<string, Check>> = {
  provider: text,
  model: text,
  temperature: number,
  topP: number,
  topK: number,
  presencePenalty: number,
  frequencyPenalty: number,
  seed: number,
  maxTokens: integer(1),
  maxOutputTokens: integer(1),
  stop: textOrTexts,
  stopSequences: textOrTexts,
  maxSteps: integer(1, 150),
  maxRetries: integer(0, 10),
  type: (value) => (value === 'prompt' || value === 'agent' ? { value } : { expected: '`prompt` or `agent`' }),
  name: text,
  description: text,
  parameters: object,
  tools: anything,
  agents: texts,
  schema: object,
  reasoningEffort: anything,
  reasoningSummary: anything,
  thinking: anything,
  cacheControl: anything,
  thinkingConfig: object,
  safetySettings: object,
  providerOptions: object,
  azure: object,
  headers: object,
}

/** Keys that are not sent to the provider. */
const ownKeys = new Set(
  'provider model maxSteps maxRetries type name description parameters tools agents schema isolated mcpHeaders'.split(
    ' ',
  ),
)

const camelNames = new Map(Object.keys(checks).map((key) => [snakeCase(key), key]))

const reservedHeaders = new Set(
  (
    'authorization host content-length connection keep-alive proxy-authenticate proxy-authorization proxy-connection ' +
    'te trailer transfer-encoding upgrade'
  ).split(' '),
)

/** @throws RunError `document_config_error` with `key` and `path`, or `unsupported_feature_error` with `feature`. */
export function readPromptConfig(
  config: Readonly<Record<string, unknown>>,
  path: string,
  supplied: readonly string[] = [],
): PromptConfig {
  const known = new Map<string, unknown>()
  const settings = new Map<string, unknown>()
  for (const [written, value] of Object.entries(config)) {
    if (value === undefined || value === null) continue
    const key = camelNames.get(written) ?? written
    const checked = checkKey(key, written, value, path)
    if (Object.hasOwn(checks, key)) known.set(key, checked)
    if (!ownKeys.has(key)) settings.set(key, checked)
  }
  const headers = known.get('headers')
  if (headers) settings.set('headers', checkedHeaders(headers, path))
  const given = Object.fromEntries(
    ['provider', 'model', 'name', 'description', 'schema'].flatMap((key) =>
      known.has(key) ? [[key, known.get(key)]] : [],
    ),
  )
  return {
    ...given,
    maxSteps: Number(known.get('maxSteps') ?? DEFAULT_MAX_STEPS),
    maxRetries: Number(known.get('maxRetries') ?? DEFAULT_MAX_RETRIES),
    type: known.get('type') === 'agent' ? 'agent' : 'prompt',
    ...readTools(known.get('tools'), path, supplied),
    agents: (known.get('agents') ?? []) as string[],
    settings: Object.fromEntries(settings),
  }
}

function checkKey(key: string, written: string, value: unknown, path: string): unknown {
  if (key === 'subagents')
    throw configError(path, key, '`subagents` is not supported: list the documents under `agents`')
  const check = Object.hasOwn(checks, key) ? checks[key] : undefined
  if (!check) return value
  const result = check(value)
  if ('expected' in result) throw configError(path, written, `\`${written}\` must be ${result.expected}`)
  return result.value
}

function checkedHeaders(headers: unknown, path: string): Record<string, string> {
  const entries = Object.entries(headers as Record<string, unknown>).map(([name, value]): [string, string] => {
    const fail = (reason: string) => configError(path, `headers.${name}`, `The header '${name}' ${reason}`)
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw fail('is no header name')
    if (reservedHeaders.has(name.toLowerCase())) throw fail('cannot be set by a prompt')
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    // A line break would start another header.
    if (!isPlain || !/^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))) throw fail('must be one line of text')
    return [name, String(value)]
  })
  return Object.fromEntries(entries)
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function text(value: unknown): ReturnType<Check> {
  return typeof value === 'string' && value !== '' ? { value } : { expected: 'text' }
}

function texts(value: unknown): ReturnType<Check> {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  return isList ? { value } : { expected: 'a list of texts' }
}

function textOrTexts(value: unknown): ReturnType<Check> {
  return typeof value === 'string'
    ? { value }
    : 'value' in texts(value)
      ? { value }
      : { expected: 'text or a list of texts' }
}

/** Step attributes are text, so a number may arrive as text. */
function number(value: unknown): ReturnType<Check> {
  const read = typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? { value: read } : { expected: 'a number' }
}

function integer(lowest: number, highest = Number.MAX_SAFE_INTEGER): Check {
  const range = highest === Number.MAX_SAFE_INTEGER ? `of at least ${lowest}` : `from ${lowest} to ${highest}`
  return (value) => {
    const read = number(value)
    const isInside = 'value' in read && Number.isInteger(read.value) && Number(read.value) >= lowest
    return isInside && Number(read.value) <= highest ? read : { expected: `a whole number ${range}` }
  }
}

function object(value: unknown): ReturnType<Check> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? { value } : { expected: 'a map' }
}

function anything(value: unknown): ReturnType<Check> {
  return { value }
}
