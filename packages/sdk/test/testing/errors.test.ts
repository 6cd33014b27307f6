import { ERROR_CAUSES } from '@stet/contract/vocabulary'
import { describe, expect, it } from 'vitest'
import * as sdk from '../../src/index.ts'
import { createMockStet, errors } from '../../src/testing/index.ts'

const { ApiError, hasReason, NotFoundError, RateLimitError, RunError, StetError } = sdk
const failure = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('errors.api', () => {
  it('makes the error of every reason, with a whole message and all details', () => {
    for (const [reason, cause] of Object.entries(ERROR_CAUSES) as [
      sdk.ErrorReason,
      { details?: readonly string[] },
    ][]) {
      const error = errors.api(reason)
      expect(error).toBeInstanceOf(ApiError)
      expect(error.reason).toBe(reason)
      expect(error.status).toBeGreaterThanOrEqual(400)
      expect(Object.keys(error.details as object)).toEqual([...(cause.details ?? [])])
      expect(Object.values(error.details as object)).not.toContain(undefined)
      expect(error.message).not.toMatch(/[{}]/)
    }
  })

  it('takes details, a message and more', () => {
    const error = errors.api('unknown-document', { path: 'a/b', suggestions: ['a/c'] }, { requestId: 'req_1' })
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error.message).toBe('404 Document not found at path: a/b [req_1]')
    expect(error.details.suggestions).toEqual(['a/c'])
    expect(errors.api('unknown-document', {}, { message: 'Gone' }).message).toBe('404 Gone')
    const limited = errors.api('rate-limited', {}, { headers: { 'X-RateLimit-Limit': '10', 'X-RateLimit-Reset': '1' } })
    expect(limited).toBeInstanceOf(RateLimitError)
    expect(limited).toMatchObject({ retryable: true, rateLimit: { limit: 10 } })
  })

  it('keeps its reason, details and message through a mock', async () => {
    const error = errors.api('unknown-document', { path: 'a', suggestions: ['b'] })
    const stet = createMockStet({ a: error, 'prompts.list': errors.api('missing-scope', { required: 'read' }) })
    const [got, run, list] = [
      await failure(stet.prompts.get('a')),
      await failure(stet.prompts.run('a')),
      await failure(stet.prompts.list()),
    ]
    for (const each of [got, run]) {
      expect(each).toBeInstanceOf(NotFoundError)
      expect(each).toMatchObject({ reason: 'unknown-document', details: { path: 'a', suggestions: ['b'] } })
      expect((each as Error).message).toMatch(/^404 Document not found at path: a \(/)
    }
    expect(list).toMatchObject({ status: 403, message: "403 This API key lacks the scope 'read'" })
    expect(stet.calls).toHaveLength(3)
  })
})

describe('errors.api with a reason that no server sends', () => {
  it('names the nearest reason', () => {
    const make = (reason: string) => () => errors.api(reason as sdk.ErrorReason)
    expect(make('unknown-documents')).toThrow(
      new sdk.ConfigurationError(
        `errors.api: there is no reason "unknown-documents", did you mean "unknown-document"?`,
      ),
    )
    expect(make('zzz')).toThrow(new sdk.ConfigurationError('errors.api: there is no reason "zzz"'))
    expect(make('toString')).toThrow(sdk.ConfigurationError)
  })
})

describe('errors.run', () => {
  it('makes an answer that does not match its schema, as a server reports it', () => {
    expect(errors.run('invalid_response_format_error')).toMatchObject({
      message: 'The response was requested as JSON, but it does not parse',
      details: { text: 'Hello', finishReason: 'stop' },
    })
  })

  it('makes a failed run, with the usual details of a provider failure', () => {
    const error = errors.run('ai_run_error', { prompt: 'support/reply', text: 'Hel' })
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({
      errorCode: 'ai_run_error',
      status: 422,
      reason: 'run-failed',
      message: 'openai: 500 The model failed (prompt support/reply)',
      partial: { text: 'Hel', conversation: [] },
      conversationUuid: expect.any(String),
    })
    expect(errors.run('worker_lost').message).toBe('The run failed (worker_lost)')
    expect(errors.run('missing_provider_error', { message: 'No key' }).message).toBe('No key')
  })

  it.each([true, false])('is the failure of a mocked run, with its details (stream: %s)', async (stream) => {
    const details = { provider: 'anthropic', status: 529, providerMessage: 'Overloaded' }
    const stet = createMockStet({ a: errors.run('ai_run_error', { details, text: 'Hel', conversationUuid: 'u-1' }) })
    const error = await failure(stet.prompts.run('a', { stream }))
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({ errorCode: 'ai_run_error', details, conversationUuid: 'u-1' })
    expect((error as Error).message).toBe('anthropic: 529 Overloaded (prompt a)')
    if (stream) expect(error).toMatchObject({ partial: { text: 'Hel' } })
  })
})

it('hasReason narrows the details', () => {
  const error: unknown = errors.api('missing-parameters', { missing: ['ticket'] })
  expect(hasReason(error, 'missing-parameters') && error.details.missing.join()).toBe('ticket')
  for (const other of [error, new StetError('x'), errors.api('unforeseen'), undefined, 'text']) {
    expect(hasReason(other, 'path-taken')).toBe(false)
  }
})
