import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createJsonLogger, redact } from './json-logger.ts'

function gather(output: PassThrough): { lines(): string[] } {
  let text = ''
  output.on('data', (part) => {
    text += String(part)
  })
  return { lines: () => text.split('\n').slice(0, -1) }
}

test('writes one JSON line for each event at or above its level', async () => {
  const output = new PassThrough()
  const { lines } = gather(output)
  const log = createJsonLogger(output, 'warn')
  log.info('quiet')
  log.warn('loud', { count: 2, name: 'line\nend' })
  await expect.poll(lines).toHaveLength(1)
  expect(JSON.parse(lines()[0] ?? '')).toMatchObject({ level: 'warn', event: 'loud', count: 2, name: 'line\nend' })
})

test('coalesces lines of one tick into one write, in order; an error is written immediately', () => {
  const output = new PassThrough()
  const log = createJsonLogger(output, 'info')
  for (const event of ['a', 'b', 'c']) log.info(event)
  expect(output.read()).toBeNull()
  log.error('d')
  const events = String(output.read())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).event)
  expect(events).toEqual(['a', 'b', 'c', 'd'])
})

test('drops and counts lines if the reader stalls, so memory use stays bounded', async () => {
  const output = new PassThrough({ highWaterMark: 1 })
  const log = createJsonLogger(output, 'info')
  const held = () => Math.max(output.writableLength, output.readableLength)
  const text = 'x'.repeat(10_000)
  for (let index = 0; index < 1_000; index += 1) log.info('much', { text })
  await expect.poll(held).toBeGreaterThan(0)
  expect(held()).toBeLessThan(1_200_000)
  const { lines } = gather(output)
  await expect.poll(held).toBe(0)
  log.info('after')
  await expect.poll(() => lines().at(-1)).toContain('"event":"after"')
  expect(JSON.parse(lines().at(-1) ?? '')).toMatchObject({ event: 'after', droppedLines: expect.any(Number) })
})

test.each([`key stet_${'a'.repeat(36)} used`, 'authorization: Bearer abc.def-ghi', 'token sk-proj-0123456789abcdef'])(
  'redacts %s',
  (line) => {
    expect(redact(line)).toContain('[redacted]')
    expect(redact(line)).not.toMatch(/aaaa|abc\.def|0123456789/)
  },
)
