import type { RenderedMessage, RenderedPart } from '@stet/template'
import { ConfigurationError } from '../index.ts'
import { invalidContent } from './failures.ts'
import { formatOfObject, isAdapterObject } from './formats/adapter-object.ts'
import { anthropic } from './formats/anthropic.ts'
import type { Format } from './formats/format.ts'
import { openai } from './formats/openai.ts'
import { openaiResponses, SEARCHES } from './formats/openai-responses.ts'
import type { AdapterName, Rendered, RenderOptions } from './options.ts'

/** Only the server reads these keys. A provider would reject them. */
const SERVICE_KEYS = new Set(
  (
    'provider maxSteps max_steps maxRetries max_retries type name description parameters tools agents schema validate isolated ' +
    'mcpHeaders mcp_headers'
  ).split(' '),
)

const FORMATS: ReadonlyMap<unknown, Format> = new Map<AdapterName, Format>([
  [
    'default',
    { write: (config, messages) => ({ config, messages: [...messages] }), read: (answer) => [inFull(answer)] },
  ],
  ['openai', openai],
  ['openaiResponses', openaiResponses],
  ['anthropic', anthropic],
])

/** @throws ConfigurationError for an invalid adapter, or content that the format does not support */
export function writeConversation<M>(
  config: Record<string, unknown>,
  messages: readonly RenderedMessage[],
  { adapter, stripServiceConfig }: RenderOptions,
): Rendered<M> {
  const written = formatOf(adapter).write(config, messages)
  const kept = Object.entries(written.config).filter(([key]) => !SERVICE_KEYS.has(key))
  return {
    config: stripServiceConfig ? Object.fromEntries(kept) : written.config,
    messages: written.messages as M[],
  }
}

/**
 * Reads one message of a model. The result may be several of stet's messages.
 * @throws ConfigurationError for an invalid adapter or message
 */
export function readAnswer(answer: Record<string, unknown>, adapter: RenderOptions['adapter']): RenderedMessage[] {
  return formatOf(adapter).read(answer)
}

/**
 * Reads what `onStep` returned. In a list, searches of OpenAI's own are left out: they need no answer.
 * @throws ConfigurationError for an invalid adapter or message, or a list without messages
 */
export function readAnswers(said: object, adapter: RenderOptions['adapter']): RenderedMessage[] {
  if (!Array.isArray(said)) return readAnswer({ role: 'assistant', ...said }, adapter)
  const items = (said as Record<string, unknown>[]).filter(({ type }) => !SEARCHES.has(type))
  const answers = items.flatMap((item) => readAnswer({ role: 'assistant', ...item }, adapter))
  if (answers.length === 0) throw invalidContent('onStep returned a list without messages')
  return answers
}

function formatOf(adapter: RenderOptions['adapter'] = 'openai'): Format {
  const format = FORMATS.get(adapter)
  if (format) return format
  if (typeof adapter === 'object' && adapter !== null && isAdapterObject(adapter)) return formatOfObject(adapter)
  throw new ConfigurationError(
    'adapter must be default, openai, openaiResponses, anthropic, or an object of promptl-ai',
  )
}

function inFull({ content, ...rest }: Record<string, unknown>): RenderedMessage {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
  return { role: 'assistant', ...rest, content: parts as RenderedPart[] }
}
