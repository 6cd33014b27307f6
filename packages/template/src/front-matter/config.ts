/** The rules of front matter and step attributes. A run, a check and the language reference use the same ones. */
import { type ReportFault, readTools, type ToolDefinition } from './tools.ts'

export type { ConfigFault, ReportFault, ToolDefinition } from './tools.ts'
export { isToolName, toolNames } from './tools.ts'

export interface PromptConfig {
  provider?: string
  model?: string
  /** Maximum model calls per step, including those of the tool loop. */
  maxSteps: number
  /** Maximum retries of one model call. A call is never retried after a successful response has started. */
  maxRetries: number
  type: 'prompt' | 'agent'
  name?: string
  description?: string
  tools: ToolDefinition[]
  serverTools: string[]
  /** Paths of other documents, relative to this one. */
  agents: string[]
  schema?: Record<string, unknown>
  /** False if answers are not checked against the schema. */
  validate: boolean
  /** Settings for the provider: known keys in camel case, unknown keys unchanged. */
  settings: Record<string, unknown>
}

interface Check {
  expected: string
  /** Returns undefined for an invalid value. */
  read(value: unknown): unknown
  /** The lowest and the highest usual number. Others are a warning, because the provider decides. */
  usual?: readonly number[]
}

const text: Check = {
  expected: 'text',
  read: (value) => (typeof value === 'string' && value !== '' ? value : undefined),
}
const textOrTexts: Check = {
  expected: 'text or a list of texts',
  read: (value) => (typeof value === 'string' ? value : readTexts(value)),
}
const number = (...usual: number[]): Check => ({ expected: 'a number', read: readNumber, usual })
const object: Check = {
  expected: 'a map',
  read: (value) => (isMap(value) ? value : undefined),
}
const anything: Check = { expected: '', read: (value) => value }

export const keysByCheck: [Check, string[]][] = [
  [text, ['provider', 'model', 'name', 'description']],
  [number(0, 2), ['temperature']],
  [number(0, 1), ['topP']],
  [number(), ['topK', 'seed']],
  [number(-2, 2), ['presencePenalty', 'frequencyPenalty']],
  [integer(1), ['maxTokens', 'maxOutputTokens']],
  [integer(1, 150), ['maxSteps']],
  [integer(0, 10), ['maxRetries']],
  [textOrTexts, ['stop', 'stopSequences']],
  [{ expected: 'a list of texts', read: readTexts }, ['agents']],
  [{ expected: '`prompt` or `agent`', read: (type) => ['prompt', 'agent'].find((each) => each === type) }, ['type']],
  [{ expected: '`true` or `false`', read: readBoolean }, ['validate']],
  [object, ['parameters', 'schema', 'thinkingConfig', 'safetySettings', 'providerOptions', 'azure', 'headers']],
  [anything, ['reasoningEffort', 'reasoningSummary', 'thinking', 'cacheControl']],
]
const checks = new Map(keysByCheck.flatMap(([check, keys]) => keys.map((key) => [key, check] as const)))

/** Keys that become fields of `PromptConfig` and not `settings`. */
const promptKeys = new Set('provider model maxSteps maxRetries type name description agents schema validate'.split(' '))
/** Other keys of the front matter that do not become `settings`. */
export const otherKeys = new Set(['parameters', 'tools', 'isolated', 'mcpHeaders'])

const camelNames = new Map([...checks.keys()].map((key) => [snakeCase(key), key]))

const reservedHeaders = new Set(
  (
    'authorization host content-length connection keep-alive proxy-authenticate proxy-authorization proxy-connection ' +
    'te trailer transfer-encoding upgrade'
  ).split(' '),
)

/**
 * @param report called for each fault. The result counts only if there is none.
 * @param supplied names of the operator's tools. Without it, tools that are listed only by name are not checked.
 */
export function readConfig(
  config: Readonly<Record<string, unknown>>,
  report: ReportFault,
  supplied?: readonly string[],
): PromptConfig {
  const prompt: Partial<PromptConfig> = {}
  const settings = new Map<string, unknown>()
  for (const [written, value] of Object.entries(config)) {
    if (value === undefined || value === null) continue
    const key = camelNames.get(written) ?? written
    const check = checks.get(key)
    const checked = check ? check.read(value) : value
    if (check && checked === undefined) {
      report({ key: written, at: [written], message: `\`${written}\` must be ${check.expected}` })
    } else if (key === 'subagents') {
      report({ key, at: [key], message: '`subagents` is not supported: list the documents under `agents`' })
    } else if (promptKeys.has(key)) Object.assign(prompt, { [key]: checked })
    else if (key === 'headers') settings.set(key, checkedHeaders(checked as Record<string, unknown>, report))
    else if (!otherKeys.has(key)) settings.set(key, checked)
  }
  return {
    maxSteps: 20,
    maxRetries: 2,
    type: 'prompt',
    agents: [],
    validate: true,
    ...prompt,
    ...readTools(config['tools'], report, supplied),
    settings: Object.fromEntries(settings),
  }
}

/** Other keys that set the same as a key, in the order in which a provider's request prefers them. */
const synonyms: Readonly<Record<string, readonly string[]>> = { maxTokens: ['maxOutputTokens'] }

/**
 * Replaces settings of the front matter, however they are written there. Also removes them from each object in
 * `providerOptions`, whose settings a provider's request prefers.
 * @example withOverrides({ model: 'a', top_p: 1 }, { topP: 0.5 }) // { model: 'a', topP: 0.5 }
 */
export function withOverrides(front: Readonly<Record<string, unknown>>, overrides: object): Record<string, unknown> {
  const keys = Object.keys(overrides)
  const replaced = new Set(
    keys.flatMap((key) => [key, ...(synonyms[key] ?? [])]).flatMap((key) => [key, snakeCase(key)]),
  )
  const without = (settings: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(settings).filter(([key]) => !replaced.has(key)))
  const kept = without(front)
  for (const key of ['providerOptions', 'provider_options']) {
    const options = kept[key]
    if (!isMap(options)) continue
    const cleaned = Object.entries(options).map(([kind, each]) => [kind, isMap(each) ? without(each) : each])
    kept[key] = Object.fromEntries(cleaned)
  }
  return { ...kept, ...overrides }
}

/** Settings of a caller, and the keys among them that the prompt sets itself. */
export interface WithDefaults {
  config: Record<string, unknown>
  ignored: string[]
}

/** Other keys, or keys within a map, that set the same for some provider. A prompt may write them for that provider. */
const otherPlaces: Readonly<Record<string, readonly (readonly [string, string?])[]>> = {
  maxTokens: [['maxOutputTokens'], ['maxCompletionTokens']],
  stop: [['stopSequences']],
  reasoningEffort: [
    ['reasoning', 'effort'],
    ['output_config', 'effort'],
  ],
  reasoningSummary: [['reasoning', 'summary']],
  schema: [['responseFormat'], ['text', 'format']],
}

/**
 * Adds settings of a caller, which count only where the prompt has none, however they are written there. Of two limits
 * of tokens, the smaller one counts.
 * @example withDefaults({ model: 'a', top_p: 1 }, { topP: 0.5, seed: 1 }) // { config: { model: 'a', top_p: 1, seed: 1 }, ignored: ['topP'] }
 */
export function withDefaults(config: Readonly<Record<string, unknown>>, defaults: object): WithDefaults {
  const result: WithDefaults = { config: { ...config }, ignored: [] }
  for (const [key, value] of Object.entries(defaults)) {
    const own = ownSettings(config, key)
    if (own.length === 0) {
      result.config[key] = value
      continue
    }
    // A smaller limit of the caller applies to each of the prompt's limits, because providers read different ones.
    const larger = key === 'maxTokens' ? own.filter((name) => Number(readNumber(config[name])) >= value) : []
    for (const name of larger) result.config[name] = value
    if (larger.length === 0) result.ignored.push(key)
  }
  return result
}

/** The keys, as written in the configuration, that set the same as `key`. */
function ownSettings(config: Readonly<Record<string, unknown>>, key: string): string[] {
  const places = [[key], ...(otherPlaces[key] ?? [])] as const
  const names = [config, ...optionsIn(config)].flatMap((settings) =>
    places.flatMap(([outer, inner]) =>
      [outer, snakeCase(outer)].filter((name) => {
        const value = Object.getOwnPropertyDescriptor(settings, name)?.value
        return isSet(inner !== undefined && isMap(value) ? Object.getOwnPropertyDescriptor(value, inner)?.value : value)
      }),
    ),
  )
  return [...new Set(names)]
}

/** The maps within `providerOptions`, whose settings a provider's request prefers. */
function optionsIn(config: Readonly<Record<string, unknown>>): object[] {
  const options = config['providerOptions'] ?? config['provider_options']
  return isMap(options) ? Object.values(options).filter(isMap) : []
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The lowest and the highest usual number for a key, if there are such. */
export function usualRange(written: string): Check['usual'] {
  return checks.get(camelNames.get(written) ?? written)?.usual
}

/** The keys that a run does not pass on as they are written. */
export const knownKeys: ReadonlySet<string> = new Set([
  ...checks.keys(),
  ...camelNames.keys(),
  ...otherKeys,
  'subagents',
])

function checkedHeaders(headers: Record<string, unknown>, report: ReportFault): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]): [string, string] => {
    const reason = headerFault(name, value)
    if (reason) {
      report({ key: `headers.${name}`, at: ['headers', name], message: `The header '${name}' ${reason}` })
    }
    return [name, String(value)]
  })
  return Object.fromEntries(entries)
}

function headerFault(name: string, value: unknown): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is no header name'
  if (reservedHeaders.has(name.toLowerCase())) return 'cannot be set by a prompt'
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  // A line break would start another header.
  if (!isPlain || !/^[\t\x20-\x7e\x80-\xff]*$/.test(String(value))) return 'must be one line of text'
  return undefined
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function readTexts(value: unknown): unknown {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined
}

/** Step attributes are text. */
function readBoolean(value: unknown): boolean | undefined {
  if (value === true || value === 'true') return true
  return value === false || value === 'false' ? false : undefined
}

/** Step attributes are text, so a number may arrive as text. */
function readNumber(value: unknown): number | undefined {
  const read = typeof value === 'string' && /^[+-]?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}

function integer(lowest: number, highest = Number.MAX_SAFE_INTEGER): Check {
  const range = highest === Number.MAX_SAFE_INTEGER ? `of at least ${lowest}` : `from ${lowest} to ${highest}`
  return {
    expected: `a whole number ${range}`,
    read(value) {
      const read = readNumber(value)
      return read !== undefined && Number.isInteger(read) && read >= lowest && read <= highest ? read : undefined
    },
  }
}
