import { describe, expect, it } from 'vitest'
import { RunError, refuse } from '../../shared/app-error.ts'
import { errorResponse } from './error-response.ts'

describe('errorResponse', () => {
  it('returns only a request id for unexpected errors', () => {
    const failure = new Error('relation "api_key" does not exist', { cause: new Error('password=hunter2') })
    expect(errorResponse(failure, 'req_1')).toEqual({
      status: 500,
      headers: {},
      body: {
        name: 'InternalServerError',
        message: 'Internal server error',
        errorCode: 'internal_server_error',
        reason: 'unforeseen',
        details: { requestId: 'req_1' },
      },
    })
  })

  it.each([['text'], [null], [undefined], [{ status: 200 }]])('returns 500 for %s', (thrown) => {
    expect(errorResponse(thrown, 'req_1').body.message).toBe('Internal server error')
  })

  it('names the cause of a run that could not be stored, and hides why', () => {
    const failure = refuse('run-not-stored', {}, { cause: new Error('password=hunter2') })
    expect(errorResponse(failure, 'req_1')).toEqual({
      status: 500,
      headers: {},
      body: {
        name: 'InternalServerError',
        message: 'The run could not be stored',
        errorCode: 'internal_server_error',
        reason: 'run-not-stored',
        details: {},
      },
    })
  })

  it('returns 422 for run errors, with the code in both fields', () => {
    const { status, headers, body } = errorResponse(
      new RunError('ai_run_error', 'refused', { details: { conversationUuid: 'u', provider: 'openai' } }),
      'req_1',
    )
    expect(status).toBe(422)
    expect(headers).toEqual({ 'X-Conversation-Uuid': 'u' })
    expect(body).toEqual({
      name: 'DocumentRunError',
      message: 'refused',
      errorCode: 'ai_run_error',
      reason: 'run-failed',
      details: { conversationUuid: 'u', provider: 'openai', errorCode: 'ai_run_error' },
    })
  })

  it.each([
    [refuse('no-key'), { 'WWW-Authenticate': 'Bearer' }],
    [refuse('method-not-allowed', { method: 'PUT', allow: ['GET', 'HEAD'] }), { Allow: 'GET, HEAD' }],
    [refuse('rate-limited', { limit: 1, retryAfter: 0.2 }), { 'Retry-After': '1' }],
    [refuse('conversation-busy', { retryAfter: 1 }), { 'Retry-After': '1' }],
    [
      refuse('workspace-full', { limitMb: 1, storedMb: 2, retryAfter: 60 }),
      { 'Retry-After': '60', 'X-Should-Retry': 'false' },
    ],
    [refuse('revoked-key'), {}],
    [refuse('server-stopping'), { 'Retry-After': '1' }],
    [refuse('score-not-binary', { min: 0, max: 1 }), {}],
  ])('%#: sets the headers of %s', (error, headers) => {
    expect(errorResponse(error, 'req_1').headers).toEqual(headers)
  })

  it('returns 400 for a malformed escape in the path', () => {
    const refused = Object.assign(new URIError('Failed to decode param'), { status: 400 })
    expect(errorResponse(refused, 'req_1')).toMatchObject({
      status: 400,
      body: { reason: 'malformed-path', details: {} },
    })
  })
})
