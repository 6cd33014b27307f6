/** Tests a provider with one real call, through the same driver and with the same address rules as a run. */
import type { RunErrorCode } from '@stet/contract/vocabulary'
import { issueAt, RunError, refuse } from '../../shared/app-error.ts'
import type { Needs } from '../deps.ts'
import { listProviders } from './list-providers.ts'
import type { ModelChunk } from './model-driver.ts'
import { ProviderError, runErrorOf } from './provider-error.ts'
import { matchProvider, resolveProvider } from './resolve-provider.ts'

export interface TestedProvider {
  kind: string
  model: string
  durationMs: number
  firstTokenMs: number | null
  text: string
  /** Null if the call succeeded. */
  error: { errorCode: RunErrorCode; message: string } | null
}

interface TestProviderKeyInput {
  workspaceId: number
  apiKeyId: number
  name: string
  model?: string
  /** Aborted when the caller disconnects. */
  signal: AbortSignal
}

const mostTokens = 16
/** A service may ignore the token limit. */
const maxCharacters = 2_000

const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Reply with the word: stet' }] }]

/**
 * @throws AppError NotFoundError for an unknown name; BadRequestError if neither the input nor a default names a model;
 * ServiceUnavailableError if the caller disconnects, which also ends the call.
 */
export async function testProviderKey(
  deps: Needs<'stores' | 'liveCache' | 'providers' | 'secrets' | 'clock' | 'logger'>,
  { workspaceId, apiKeyId, name, model: named, signal: whileConnected }: TestProviderKeyInput,
): Promise<TestedProvider> {
  const entry = matchProvider(await listProviders(deps, workspaceId), name)
  if (!entry) throw refuse('unknown-provider-key')
  const model = named ?? entry.defaultModel ?? deps.providers.environment.defaultModel
  if (model === undefined) throw refuse('invalid-body', issueAt('model', 'is required: there is no default model'))
  const startedAt = performance.now()
  const sinceStart = () => Math.round(performance.now() - startedAt)
  const timeLimit = AbortSignal.timeout(deps.providers.testLimitMs)
  const signal = AbortSignal.any([whileConnected, timeLimit])
  let firstTokenMs: number | null = null
  let text = ''
  const take = (chunks: ModelChunk[]) => {
    for (const chunk of chunks) {
      if (chunk.type !== 'text-delta') continue
      firstTokenMs ??= sinceStart()
      if (text.length < maxCharacters) text += chunk.text
    }
    return undefined
  }
  let error: TestedProvider['error'] = null
  try {
    const { driver } = resolveProvider(deps, entry)
    const settings = { maxTokens: mostTokens }
    try {
      await driver.call({ model, messages, settings, tools: [], stream: true, maxRetries: 0, signal }, take)
    } finally {
      // A service may echo the request's headers.
      text = driver.scrubbed(text)
    }
  } catch (failure) {
    if (whileConnected.aborted) throw refuse('client-disconnected')
    error = timeLimit.aborted ? tooLong(entry.name, deps.providers.testLimitMs) : errorOf(failure, model)
  }
  const durationMs = sinceStart()
  deps.logger.info('audit.provider-key-tested', { workspaceId, by: apiKeyId, isWorking: error === null })
  return { kind: entry.kind, model, durationMs, firstTokenMs, text, error }
}

function tooLong(name: string, limitMs: number): TestedProvider['error'] {
  const message = `${name}: the response was not complete after ${limitMs / 1000} s`
  return { errorCode: 'run_timeout_error', message }
}

function errorOf(failure: unknown, model: string): TestedProvider['error'] {
  const error = failure instanceof ProviderError ? runErrorOf(failure, model) : failure
  if (!(error instanceof RunError)) throw error
  return { errorCode: error.code, message: error.message }
}
