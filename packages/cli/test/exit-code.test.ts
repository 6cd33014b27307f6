import * as sdk from '@stet/sdk'
import { expect, test } from 'vitest'
import { CliError, describeFailure, exitCodes } from '../src/exit-code.ts'
import { failureText } from '../src/terminal/output.ts'

const answer = (status: number, errorCode = 'X') => ({
  status,
  errorCode,
  message: 'refused',
  details: {},
  requestId: 'req_1',
  headers: new Headers(),
  serverResponse: '{"message":"refused"}',
  method: 'GET',
  url: 'http://127.0.0.1:1/api/v3/me',
  attempts: 1,
})

test.each([
  [new sdk.BadRequestError(answer(400)), 7],
  [new sdk.UnauthorizedError(answer(401)), 4],
  [new sdk.ForbiddenError(answer(403)), 4],
  [new sdk.NotFoundError(answer(404)), 5],
  [new sdk.ConflictError(answer(409)), 6],
  [new sdk.ConflictError(answer(412)), 6],
  [new sdk.ApiError(answer(413)), 7],
  [new sdk.UnprocessableEntityError(answer(422)), 7],
  [new sdk.RunError(answer(422, 'ai_run_error')), 8],
  [new sdk.RunError(answer(422, 'chain_compile_error')), 7],
  [new sdk.RateLimitError(answer(429)), 10],
  [new sdk.InternalServerError(answer(500)), 1],
  [new sdk.InternalServerError(answer(502)), 9],
  [new sdk.InternalServerError(answer(503)), 9],
  [new sdk.InternalServerError(answer(504)), 9],
  [new sdk.ConnectionError('no route'), 9],
  [new sdk.TimeoutError('too slow'), 9],
  [new sdk.StreamInterruptedError('cut', { conversationUuid: 'c' }), 9],
  [new sdk.ConfigurationError('no project'), 2],
  [new sdk.AbortError('left'), 130],
  [new CliError('differences', 'differs'), 3],
  [new Error('bug'), 1],
])('%s has an exit code, which its JSON line includes', async (error, exitCode) => {
  const failure = await describeFailure(error)
  expect(failure.exitCode).toBe(exitCode)
  const io = { env: {}, tty: { stdin: false, stdout: false, stderr: false } } as Parameters<typeof failureText>[2]
  const line = failureText(failure, true, io, false)
  expect(line.trim().split('\n')).toHaveLength(1)
  expect(JSON.parse(line).error).toMatchObject({ code: failure.code, exitCode, message: failure.message })
})

test('a failed run names the provider, its status, its message and the prompt', async () => {
  const details = { provider: 'openai', status: 401, providerMessage: 'Incorrect API key provided.' }
  const init = { ...answer(422, 'ai_run_error'), details, prompt: 'support/reply' }
  const { message, requestId, next } = await describeFailure(new sdk.RunError(init))
  expect(next).toBe('check the provider key: stet providers test openai')
  expect(message).toBe('openai: 401 Incorrect API key provided (prompt support/reply)')
  expect(requestId).toBe('req_1')
})

test('missing parameters are named as flags', async () => {
  const error = new sdk.UnprocessableEntityError({
    ...answer(422),
    details: { missing: ['ticket', 'name'], invalid: [] },
  })
  expect((await describeFailure(error)).next).toBe('pass -p ticket=… -p name=…')
})

test('a missing scope is named, because another sign-in with the same key would not help', async () => {
  const { next } = await describeFailure(new sdk.ForbiddenError({ ...answer(403), details: { required: 'run' } }))
  expect(next).toBe('use a key with the scope run; stet whoami lists the scopes of this key')
  expect((await describeFailure(new sdk.UnauthorizedError(answer(401)))).next).toContain('stet login')
})

test('a lost stream names the command that continues it', async () => {
  const uuid = '9f0d6c1e-2c1b-4f43-8d5e-0a9b0c1d2e3f'
  const { next } = await describeFailure(new sdk.StreamInterruptedError('cut', { conversationUuid: uuid }))
  expect(next).toContain(`stet attach ${uuid}`)
})

test('a response from another server suggests checking the address, and only a prompt conflict names the next step', async () => {
  const page = new sdk.NotFoundError({ ...answer(404), serverResponse: '<html>not here</html>' })
  expect((await describeFailure(page)).next).toContain('--base-url')
  expect((await describeFailure(new sdk.ConflictError(answer(409)))).next).toBeUndefined()
  const conflict = new sdk.ConflictError({ ...answer(409), details: { conflicts: [{ path: 'a' }] } })
  expect(await describeFailure(conflict)).toMatchObject({ lines: ['a'], next: expect.stringContaining('stet pull') })
})

test('every exit code has one meaning', () => {
  const codes = Object.values(exitCodes)
  expect(new Set(codes).size).toBe(codes.length)
})
