import { afterAll, beforeAll, expect, test } from 'vitest'
import { assistantMessage, prompt, type RunBench, runBench, userMessage } from '../../runs/run-bench.ts'
import { deviationList } from './deviation-list.ts'

const unknown = '00000000-0000-4000-8000-000000000000'

let bench: RunBench
beforeAll(async () => {
  bench = await runBench({
    hello: prompt('<user>Hi {{ name }}</user>', 'maxRetries: 0\n'),
    typed: prompt('<user>{{ count + 1 }}</user>', 'parameters:\n  count: { type: number }\n'),
    plus: prompt('<user>{{ value + 1 }}</user>'),
    object: prompt('<user>Hi</user>', 'schema: { type: object }\n'),
    looping: prompt('<user>Hi</user>', 'maxSteps: 2\ntools:\n  - known: { description: x }\n'),
  })
})
afterAll(() => bench?.close())

/** Starts a run whose model has sent one word and waits for `finish`. */
async function openRun(): Promise<{ uuid: string; leave(): void; finish(): void }> {
  let finish = () => {}
  const gate = new Promise<void>((resolve) => {
    finish = resolve
  })
  bench.fake.enqueue({ deltas: ['First', ' and last'], gate })
  const controller = new AbortController()
  const called = bench.fake.waitForRequest(bench.fake.requests.length + 1)
  const response = await bench.open('hello', {}, controller.signal)
  await called
  return {
    uuid: response.headers.get('x-conversation-uuid') ?? '',
    leave: () => controller.abort(),
    finish: () => finish(),
  }
}

const { deviation, close } = deviationList()

deviation(
  'Unknown API key',
  { before: '404', stet: '401 UnauthorizedError', reason: 'An invalid key is not a missing resource.' },
  () => {
    test('401', async () => {
      expect(await bench.api('GET', '/projects', { key: 'not-a-key' })).toMatchObject({
        status: 401,
        body: { name: 'UnauthorizedError', errorCode: 'UnauthorizedError' },
      })
    })
  },
)

deviation(
  'Refused requests and unknown routes',
  { before: 'other body formats', stet: 'the documented error body', reason: 'Otherwise clients lose the reason.' },
  () => {
    test.each([
      ['POST', '/projects', 400, 'BadRequestError'],
      ['GET', '/nowhere', 404, 'NotFoundError'],
      ['PATCH', '/projects', 405, 'MethodNotAllowedError'],
    ])('%s %s is %i', async (method, path, status, errorCode) => {
      const answer = await bench.api(method, path)
      expect(answer).toMatchObject({ status, body: { name: errorCode, errorCode, details: expect.any(Object) } })
      expect(typeof answer.body['message']).toBe('string')
    })
  },
)

deviation(
  'Publishing an unknown version',
  {
    before: '404',
    stet: '400 BadRequestError',
    reason: 'The API documents one response for every version that is not a draft.',
  },
  () => {
    test('400, as for a published one', async () => {
      const answers = await Promise.all(
        [unknown, 'live'].map((version) => bench.api('POST', `${bench.live.replace('live', version)}/publish`)),
      )
      expect(answers.map(({ status }) => status)).toEqual([400, 400])
      expect(answers[0]?.body).toEqual(answers[1]?.body)
    })
  },
)

deviation(
  'Text in parameters',
  {
    before: 'parsed if it looks like JSON',
    stet: 'kept as text, unless a type is declared',
    reason: 'A user who types 7 or null means the text.',
  },
  () => {
    test('"7" is a text, unless it is declared as a number', async () => {
      const [plus, typed] = [
        await bench.run('plus', { parameters: { value: '7' } }),
        await bench.run('typed', { parameters: { count: '7' } }),
      ]
      expect(plus.body['conversation']).toContainEqual(userMessage('71'))
      expect(typed.body['conversation']).toContainEqual(userMessage('8'))
    })
  },
)

deviation(
  'New prompts',
  { before: 'front matter is added', stet: 'stored as sent', reason: 'Files in git must equal the stored prompts.' },
  () => {
    test('the text comes back byte for byte', async () => {
      const draft = await bench.api('POST', bench.live.replace('/live', ''), { body: { name: 'next' } })
      const documents = `${bench.live.replace('live', String(draft.body['uuid']))}/documents`
      const text = 'No front matter.\r\n'
      const { body } = await bench.api('POST', documents, { body: { path: 'plain', prompt: text } })
      expect(body).toMatchObject({ content: text, config: {} })
    })
  },
)

deviation(
  'Cost',
  {
    before: 'cached and reasoning tokens counted twice',
    stet: 'counted once',
    reason: "The cost must equal the provider's bill.",
  },
  () => {
    test('cached tokens cost their own price only, reasoning is part of the output', async () => {
      bench.fake.enqueue({
        text: 'Hi.',
        usage: {
          prompt_tokens: 1_000,
          prompt_tokens_details: { cached_tokens: 600 },
          completion_tokens: 200,
          completion_tokens_details: { reasoning_tokens: 50 },
          total_tokens: 1_200,
        },
      })
      // gpt-4o, in USD per million tokens: 2.50 in, 1.25 cached, 10 out.
      const usd = (400 * 2.5 + 600 * 1.25 + 200 * 10) / 1_000_000
      expect((await bench.run('hello')).body['cost']).toBeCloseTo(usd, 9)
    })
  },
)

deviation(
  'Attach and stop',
  {
    before: 'background runs only; 404 after they finish',
    stet: 'any run, even after it finishes',
    reason: 'A lost connection must not lose a paid run.',
  },
  () => {
    test('a foreground run can be attached to and stopped', async () => {
      const { uuid } = await openRun()
      const attached = bench.streamAttach(uuid)
      expect((await bench.stop(uuid)).body).toEqual({ uuid, stopped: true, status: 'stopped' })
      expect((await attached).last).toMatchObject({ type: 'chain-error', error: { code: 'abort_error' } })
    })

    test('a finished run can be attached to; stopping it changes nothing', async () => {
      const { body } = await bench.run('hello')
      const uuid = String(body['uuid'])
      expect(await bench.attach(uuid)).toMatchObject({ status: 200, body: { uuid } })
      expect((await bench.stop(uuid)).body).toEqual({ uuid, stopped: false, status: 'completed' })
    })
  },
)

deviation(
  'Closing the connection',
  {
    before: 'cancels a foreground run',
    stet: 'cancels it after a grace period (30 s by default)',
    reason: 'Mobile networks and proxies drop connections while users still wait.',
  },
  () => {
    test('the run goes on, and can be attached to', async () => {
      const { uuid, leave, finish } = await openRun()
      leave()
      const attached = bench.attach(uuid)
      finish()
      expect((await attached).body).toMatchObject({ response: { text: 'First and last' } })
    })
  },
)

deviation(
  'After chain-error',
  { before: 'chain-completed follows', stet: 'chain-error is the last event', reason: 'A run has exactly one end.' },
  () => {
    test('nothing comes after it', async () => {
      bench.fake.enqueue({ status: 401 })
      const { types } = await bench.stream('hello')
      expect(types.at(-1)).toBe('chain-error')
      expect(types).not.toContain('chain-completed')
    })
  },
)

deviation(
  'A response that should match a schema but is not JSON',
  { before: '`{}`', stet: 'invalid_response_format_error', reason: 'An empty object looks like a valid response.' },
  () => {
    test('the run fails, and the text is told', async () => {
      bench.fake.enqueue({ text: 'Sorry, no.' })
      expect(await bench.run('object')).toMatchObject({
        status: 422,
        body: { errorCode: 'invalid_response_format_error', details: { text: 'Sorry, no.' } },
      })
    })
  },
)

deviation(
  'Reaching maxSteps',
  {
    before: 'stops without an error',
    stet: 'max_step_count_exceeded_error',
    reason: 'A partial response must not look complete.',
  },
  () => {
    test('the run fails with the limit', async () => {
      const faulty = { toolCalls: [{ id: 'x', name: 'unknown_tool', arguments: {} }] }
      bench.fake.enqueue(faulty, faulty)
      expect(await bench.run('looping')).toMatchObject({
        status: 422,
        body: { errorCode: 'max_step_count_exceeded_error', details: { maxSteps: 2 } },
      })
    })
  },
)

deviation(
  'Scores out of range',
  { before: 'clamped and rounded', stet: '422; scores are kept as sent', reason: 'A wrong scale should be noticed.' },
  () => {
    test('a score above the range is refused, a fraction inside it is kept', async () => {
      const projectId = Number(bench.live.split('/')[2])
      const evaluation = await bench.api('POST', '/evaluations', {
        body: { projectId, name: 'Helpful', metric: 'rating' },
      })
      const { body } = await bench.run('hello')
      const path = `/conversations/${String(body['uuid'])}/evaluations/${String(evaluation.body['uuid'])}/annotate`
      expect(await bench.api('POST', path, { body: { score: 6 } })).toMatchObject({
        status: 422,
        body: { details: { min: 1, max: 5 } },
      })
      expect(await bench.api('POST', path, { body: { score: 4.5 } })).toMatchObject({
        status: 201,
        body: { score: 4.5 },
      })
      expect((await bench.conversation(body['uuid']))['conversation']).toContainEqual(
        assistantMessage('Hello from the fake provider.'),
      )
    })
  },
)

close()
