/** Reads the fields of both POST requests: settings, tools, format, identity, and what is ignored or refused. */

import type { Message } from '@stet/contract/vocabulary'
import { isToolName, type ToolDefinition, toolNames } from '@stet/template/config'
import { defined } from '@stet/template/defined'
import { isObject } from '@stet/template/parameters'
import type { CallerSettings } from '../../features/runs/run.ts'
import { refuseValue } from '../../shared/text-guards.ts'
import {
  booleanAt,
  DoorRefusal,
  type Fields,
  invalid,
  listAt,
  numberAt,
  objectAt,
  optional,
  textAt,
  unsupported,
} from './fields.ts'
import { type ItemReference, readChatMessages, readInput, readPart } from './messages.ts'
import { type PromptName, readPromptName } from './names.ts'

/** What a response repeats of its request. It is stored with the run, so its keys are those of the wire. */
export interface KeptRequest {
  model: string
  metadata: Record<string, string>
  tools: readonly Record<string, unknown>[]
  tool_choice: unknown
  parallel_tool_calls: boolean
  text: unknown
  reasoning: { effort: unknown; summary: unknown }
  instructions: string | null
  previous_response_id: string | null
  background: boolean
  max_output_tokens: number | null
  temperature: number
  top_p: number
  presence_penalty: number
  frequency_penalty: number
  user: string | null
  safety_identifier: string | null
}

export interface DoorRequest {
  prompt: PromptName
  parameters: Record<string, unknown>
  /** In the order of the request. */
  items: (Message | ItemReference)[]
  settings: CallerSettings
  customIdentifier: string | undefined
  stream: boolean
  includesUsage: boolean
  background: boolean
  previousResponseId: string | undefined
  conversationId: string | undefined
  kept: KeptRequest
  /** Names the fields that have no effect, for `X-Stet-Warning`. */
  warnings: string[]
}

type Door = 'chat' | 'responses'

/** @param header the header `X-Stet-Parameters`. @throws DoorRefusal */
export function readChatRequest(body: unknown, header?: string): DoorRequest {
  const fields = objectAt(body, '')
  const { messages } = fields
  const items = messages === undefined || messages === null ? [] : readChatMessages(messages)
  return readRequest('chat', fields, items, header)
}

/** @param header the header `X-Stet-Parameters`. @throws DoorRefusal */
export function readResponsesRequest(body: unknown, header?: string): DoorRequest {
  const fields = objectAt(body, '')
  const { input } = fields
  const items = input === undefined || input === null ? [] : readInput(input)
  const instructions = optional(fields, 'instructions', textAt)
  if (instructions !== undefined) items.unshift({ role: 'system', content: [{ type: 'text', text: instructions }] })
  return readRequest('responses', fields, items, header)
}

function readRequest(
  door: Door,
  fields: Fields,
  items: (Message | ItemReference)[],
  header: string | undefined,
): DoorRequest {
  refuseFields(fields)
  const { name: prompt, variables } = readPromptName(fields)
  const settings = settingsOf(fields)
  const tools = toolsOf(fields)
  const format = formatOf(fields, settings)
  const isResponses = door === 'responses'
  const background = isResponses && optional(fields, 'background', booleanAt) === true
  const previousResponseId = isResponses ? optional(fields, 'previous_response_id', textAt) : undefined
  const conversationId = isResponses ? conversationOf(fields) : undefined
  if (previousResponseId !== undefined && conversationId !== undefined)
    throw unsupported('conversation', 'Send `conversation` or `previous_response_id`')
  const streamOptions = optional(fields, 'stream_options', objectAt) ?? {}
  const identity = identityOf(fields)
  const { toolChoice, ...config } = settings
  return {
    prompt,
    parameters: parametersOf(fields, variables, header),
    items,
    settings: { config, toolChoice, tools },
    customIdentifier: identity.safety_identifier ?? identity.user ?? undefined,
    stream: optional(fields, 'stream', booleanAt) === true,
    includesUsage: optional(streamOptions, 'include_usage', booleanAt, 'stream_options.') === true,
    ...{ background, previousResponseId, conversationId },
    kept: {
      model: optional(fields, 'model', textAt) ?? shownName(prompt),
      metadata: metadataOf(fields),
      tools: tools.map(({ name, description = null, parameters, ...rest }) => ({
        type: 'function',
        ...{ name, description, parameters },
        strict: 'strict' in rest ? rest.strict : null,
      })),
      tool_choice: toolChoice ?? 'auto',
      parallel_tool_calls: optional(fields, 'parallel_tool_calls', booleanAt) ?? true,
      text: { format },
      reasoning: { effort: settings['reasoningEffort'] ?? null, summary: settings['reasoningSummary'] ?? null },
      instructions: optional(fields, 'instructions', textAt) ?? null,
      previous_response_id: previousResponseId ?? null,
      background,
      max_output_tokens: (settings['maxTokens'] as number | undefined) ?? null,
      temperature: optional(fields, 'temperature', numberAt) ?? 1,
      top_p: optional(fields, 'top_p', numberAt) ?? 1,
      presence_penalty: optional(fields, 'presence_penalty', numberAt) ?? 0,
      frequency_penalty: optional(fields, 'frequency_penalty', numberAt) ?? 0,
      ...identity,
    },
    warnings: warningsOf(door, fields),
  }
}

const shownName = ({ place, version }: PromptName) => (version === 'live' ? place : `${place}@${version}`)

/** Refuses what would change the answer and cannot be done. */
function refuseFields(fields: Fields): void {
  const n = optional(fields, 'n', numberAt)
  if (n !== undefined && n !== 1) throw unsupported('n', 'A request gets one answer: `n` must be 1')
  for (const key of ['functions', 'function_call']) {
    if (fields[key] !== undefined && fields[key] !== null)
      throw unsupported(key, `\`${key}\` is not supported: send \`tools\``)
  }
  for (const key of ['audio', 'web_search_options']) {
    if (fields[key] !== undefined && fields[key] !== null) throw unsupported(key, `\`${key}\` is not supported`)
  }
  const modalities = optional(fields, 'modalities', listAt)
  if (modalities?.some((each) => each !== 'text')) throw unsupported('modalities', 'Answers are text')
}

type Settings = Record<string, unknown>

const numbers = {
  temperature: 'temperature',
  top_p: 'topP',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
} as const

const limits = ['max_tokens', 'max_completion_tokens', 'max_output_tokens']

/** Returns the settings under their names in the front matter. */
function settingsOf(fields: Fields): Settings {
  const settings: Settings = {}
  for (const [key, name] of Object.entries(numbers)) set(settings, name, optional(fields, key, numberAt))
  const given = limits.flatMap((key) => optional(fields, key, tokensAt) ?? [])
  if (given.length > 0) settings['maxTokens'] = Math.min(...given)
  set(settings, 'stop', optional(fields, 'stop', stopAt))
  set(settings, 'reasoningEffort', optional(fields, 'reasoning_effort', wordAt))
  const reasoning = optional(fields, 'reasoning', objectAt) ?? {}
  set(settings, 'reasoningEffort', optional(reasoning, 'effort', wordAt, 'reasoning.'))
  set(settings, 'reasoningSummary', optional(reasoning, 'summary', wordAt, 'reasoning.'))
  set(settings, 'toolChoice', optional(fields, 'tool_choice', toolChoiceAt))
  set(settings, 'parallelToolCalls', optional(fields, 'parallel_tool_calls', booleanAt))
  return settings
}

function set(settings: Settings, key: string, value: unknown): void {
  if (value !== undefined) settings[key] = value
}

function tokensAt(value: unknown, param: string): number {
  const tokens = numberAt(value, param)
  if (!Number.isSafeInteger(tokens) || tokens < 1) throw invalid(param, 'a whole number of at least 1')
  return tokens
}

const longestWord = 64

function wordAt(value: unknown, param: string): string {
  const word = textAt(value, param)
  if (word.length > longestWord) throw invalid(param, `at most ${longestWord} characters`)
  return word
}

function stopAt(value: unknown, param: string): string | string[] {
  return typeof value === 'string'
    ? value
    : listAt(value, param).map((each, place) => textAt(each, `${param}[${place}]`))
}

function toolChoiceAt(value: unknown, param: string): unknown {
  const word = typeof value === 'string' ? value : undefined
  if (word !== undefined) {
    if (word === 'auto' || word === 'none' || word === 'required') return word
    throw invalid(param, '`auto`, `none`, `required` or a function')
  }
  const choice = objectAt(value, param)
  if (choice['type'] !== 'function') throw unsupported(param, 'Only functions can be chosen', 'unsupported_tool')
  const named = isObject(choice['function']) ? choice['function'] : choice
  return { type: 'function', name: wordAt(named['name'], `${param}.name`) }
}

const mostTools = 128

function toolsOf(fields: Fields): (ToolDefinition & { strict?: boolean })[] {
  const tools = optional(fields, 'tools', listAt) ?? []
  if (tools.length > mostTools) throw invalid('tools', `a list of at most ${mostTools} tools`)
  const names = new Set<string>()
  return tools.map((value, place) => {
    const param = `tools[${place}]`
    const tool = objectAt(value, param)
    const type = textAt(tool['type'], `${param}.type`)
    if (type !== 'function')
      throw unsupported(`${param}.type`, `A tool of the type '${type}' is not supported`, 'unsupported_tool')
    const [written, at] = isObject(tool['function']) ? [tool['function'], `${param}.function.`] : [tool, `${param}.`]
    const name = textAt(written['name'], `${at}name`)
    if (!isToolName(name)) throw invalid(`${at}name`, toolNames)
    if (names.has(name)) throw invalid(`${at}name`, 'a name that no other tool has')
    names.add(name)
    const description = optional(written, 'description', textAt, at)
    const strict = optional(written, 'strict', booleanAt, at)
    return {
      name,
      ...defined({ description }),
      parameters: { ...(optional(written, 'parameters', objectAt, at) ?? { type: 'object', properties: {} }) },
      ...defined({ strict }),
    }
  })
}

/** Returns the format as a response repeats it, and sets `schema`. */
function formatOf(fields: Fields, settings: Settings): unknown {
  const text = optional(fields, 'text', objectAt) ?? {}
  const written = optional(fields, 'response_format', objectAt)
  const [format, param] = written
    ? [written, 'response_format']
    : [optional(text, 'format', objectAt, 'text.') ?? {}, 'text.format']
  const type = optional(format, 'type', textAt, `${param}.`) ?? 'text'
  if (type === 'text') return { type }
  if (type === 'json_object') {
    settings['schema'] = { type: 'object' }
    return { type }
  }
  if (type !== 'json_schema') throw unsupported(`${param}.type`, `The format '${type}' is not supported`)
  const [described, at] = isObject(format['json_schema'])
    ? [format['json_schema'], `${param}.json_schema.`]
    : [format, `${param}.`]
  const schema = objectAt(described['schema'], `${at}schema`)
  settings['schema'] = { ...schema }
  const { name = null, description = null, strict = null } = described
  return { type, name, description, strict, schema }
}

function conversationOf(fields: Fields): string | undefined {
  const { conversation } = fields
  if (conversation === undefined || conversation === null) return undefined
  return typeof conversation === 'string'
    ? conversation
    : textAt(objectAt(conversation, 'conversation')['id'], 'conversation.id')
}

const longestIdentifier = 256

function identityOf(fields: Fields): Pick<KeptRequest, 'user' | 'safety_identifier'> {
  const read = (key: string) => {
    const text = optional(fields, key, textAt) ?? null
    if (text !== null && text.length > longestIdentifier) throw invalid(key, `at most ${longestIdentifier} characters`)
    return text
  }
  return { user: read('user'), safety_identifier: read('safety_identifier') }
}

const mostMetadata = 16
const longestMetadata = 512
const longestKey = 64

function metadataOf(fields: Fields): Record<string, string> {
  const entries = Object.entries(optional(fields, 'metadata', objectAt) ?? {})
  if (entries.length > mostMetadata) throw invalid('metadata', `an object of at most ${mostMetadata} texts`)
  return Object.fromEntries(
    entries.map(([key, value]) => {
      if (key.length > longestKey)
        throw invalid('metadata', `an object whose keys have at most ${longestKey} characters`)
      const text = textAt(value, `metadata.${key}`)
      if (text.length > longestMetadata) throw invalid(`metadata.${key}`, `at most ${longestMetadata} characters`)
      return [key, text]
    }),
  )
}

const longestHeader = 8192

/** At most one of the three places may have parameters. */
function parametersOf(fields: Fields, variables: Fields | undefined, header: string | undefined) {
  const places = [
    { param: 'parameters', values: optional(fields, 'parameters', objectAt) ?? {} },
    { param: 'prompt.variables', values: variables ? variableValues(variables) : {} },
    { param: 'X-Stet-Parameters', values: header === undefined ? {} : headerValues(header) },
  ].filter(({ values }) => Object.keys(values).length > 0)
  const [first, second] = places
  if (first && second) {
    const message = `Parameters are in \`${first.param}\` and in \`${second.param}\`: send them in one place`
    throw new DoorRefusal(400, { code: 'parameters_twice', param: second.param, message })
  }
  return { ...first?.values }
}

function headerValues(header: string): Fields {
  const param = 'X-Stet-Parameters'
  if (header.length > longestHeader) throw invalid(param, `at most ${longestHeader} bytes`)
  // Node reads headers as Latin-1, so other characters would arrive changed.
  if (!/^[\x20-\x7e\t]*$/.test(header)) throw invalid(param, 'ASCII: write other characters as `\\u` escapes')
  try {
    const values: unknown = JSON.parse(header)
    if (isObject(values) && refuseValue(values) === undefined) return values
  } catch {
    // Refused below.
  }
  throw invalid(param, 'the JSON text of an object')
}

/** A variable of OpenAI's prompts is a text, or a content part. */
function variableValues(variables: Fields): Fields {
  const entries = Object.entries(variables).map(([name, value]) => {
    if (!isObject(value) || typeof value['type'] !== 'string' || !value['type'].startsWith('input_'))
      return [name, value]
    const part = readPart(value, `prompt.variables.${name}`)
    if (part.type === 'text') return [name, part.text]
    return [name, part.type === 'image' ? part.image : part.type === 'file' ? part.file : value]
  })
  return Object.fromEntries(entries) as Fields
}

const read = new Set(
  (
    'model prompt parameters messages input instructions temperature top_p max_tokens max_completion_tokens max_output_tokens ' +
    'stop seed presence_penalty frequency_penalty reasoning_effort reasoning tool_choice parallel_tool_calls ' +
    'response_format text tools safety_identifier user metadata stream stream_options background ' +
    'previous_response_id conversation n modalities functions function_call audio web_search_options'
  ).split(' '),
)
const withoutEffect = new Set(
  'store include service_tier prompt_cache_key prompt_cache_retention verbosity prediction'.split(' '),
)
/** Fields that only the other interface has. */
const foreign: Readonly<Record<Door, ReadonlySet<string>>> = {
  chat: new Set(['input', 'instructions', 'background', 'previous_response_id', 'conversation']),
  responses: new Set(['messages', 'stream_options']),
}
const maxNamed = 5

function warningsOf(door: Door, fields: Fields): string[] {
  const ignored: string[] = []
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || value === null || withoutEffect.has(key)) continue
    if (read.has(key) && !(foreign[door].has(key) && value !== false)) continue
    if (key === 'truncation' && value === 'disabled') continue
    if (key === 'logprobs' && value === false) continue
    ignored.push(key)
  }
  const warnings = ignored.length === 0 ? [] : [`ignored: ${ignored.slice(0, maxNamed).map(printable).join(', ')}`]
  if (door === 'responses' && fields['store'] === false)
    warnings.push('store: false has no effect, the operator decides')
  return warnings
}

/** Headers take ASCII only. */
const printable = (name: string) => name.slice(0, 64).replace(/[^\x21-\x7e]/g, '?')
