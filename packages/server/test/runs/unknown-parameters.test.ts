/** Undeclared parameters are not an error. The caller and the operator get a warning. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { prompt, type RunBench, runBench } from './run-bench.ts'

let bench: RunBench
const warnings: unknown[] = []

beforeAll(async () => {
  bench = await runBench({
    reply: prompt(
      '<user>{{ ticket }} <prompt path="inner" name={{ name }} /></user>',
      'parameters: { customer: { type: text } }\n',
    ),
    inner: 'Hi {{ name }}',
    other: prompt('<user>{{ ticket }}</user>'),
    message: prompt('<user>{{ LATITUDE_USER_MESSAGE }}</user>'),
  })
  bench.server.deps.logger.warn = (event, fields) => void warnings.push({ event, ...fields })
})
afterAll(() => bench.close())

const known = { ticket: 'a', customer: 'b', name: 'c' }
const warningOf = async (path: string, body: Record<string, unknown>) =>
  (await bench.run(path, body)).headers.get('x-stet-warning')

it('reports unknown parameters in a header of every response form, with a suggestion', async () => {
  const body = { parameters: { ...known, tickt: 'x', frobnicate: 1 } }
  const said = 'unknown parameter "tickt", did you mean "ticket"?; unknown parameter "frobnicate"'
  for (const mode of [{}, { stream: true }, { background: true }]) {
    const answer = await bench.post(`${bench.live}/documents/run`, { path: 'reply', ...body, ...mode })
    expect({ mode, status: answer.status, said: answer.headers.get('x-stet-warning') }).toEqual({
      mode,
      status: 200,
      said,
    })
    await answer.text()
  }
  expect(warnings).toEqual([
    expect.objectContaining({
      event: 'run.unknown-parameters',
      path: 'reply',
      warning: said,
    }),
  ])
})

it('does not report the user message, or parameters that are declared or used, even in references', async () => {
  expect(await warningOf('reply', { parameters: known })).toBeNull()
  expect(await warningOf('message', { userMessage: 'Hi' })).toBeNull()
  expect(await warningOf('message', { parameters: { LATITUDE_USER_MESSAGE: 'Hi' } })).toBeNull()
})

it('sends one line of ASCII that names only a few of many unknown parameters', async () => {
  expect(await warningOf('other', { parameters: { ticket: '', 'ü"\n\u{1f600}': 1 } })).toBe(
    'unknown parameter "\\u00fc\\"\\n\\ud83d\\ude00"',
  )
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${'x'.repeat(500)}${index}`, 1]))
  const header = await warningOf('other', { parameters: { ticket: '', ...many } })
  expect(header?.length).toBeLessThan(600)
  expect(header?.match(/unknown parameter/g)).toHaveLength(5)
})
