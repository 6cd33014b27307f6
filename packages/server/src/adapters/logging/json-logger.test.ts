import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createJsonLogger, redact } from './json-logger.ts'

test('writes one JSON line for each event at or above its level', () => {
  const output = new PassThrough()
  const log = createJsonLogger(output, 'warn')
  log.info('quiet')
  log.warn('loud', { count: 2, name: 'line\nend' })
  const lines = String(output.read()).trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'warn', event: 'loud', count: 2, name: 'line\nend' })
})

test('a reader that does not read costs lines, which are counted, and no memory', () => {
  const output = new PassThrough({ highWaterMark: 1 })
  const log = createJsonLogger(output, 'info')
  const text = 'x'.repeat(10_000)
  for (let index = 0; index < 1_000; index += 1) log.info('much', { text })
  expect(output.writableLength).toBeLessThan(1_200_000)
  output.resume()
  return new Promise<void>((resolve) => {
    output.once('drain', () => {
      output.pause()
      log.info('after')
      const lines = String(output.read()).trimEnd().split('\n')
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'after', droppedLines: expect.any(Number) })
      resolve()
    })
  })
})

test.each([`key stet_${'a'.repeat(36)} used`, 'authorization: Bearer abc.def-ghi', 'token sk-proj-0123456789abcdef'])(
  'redacts %s',
  (line) => {
    expect(redact(line)).toContain('[redacted]')
    expect(redact(line)).not.toMatch(/aaaa|abc\.def|0123456789/)
  },
)
