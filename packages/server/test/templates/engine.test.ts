import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createInlineShare } from '../../src/adapters/evaluation/evaluator.ts'
import { createScanCache } from '../../src/adapters/evaluation/scan-cache.ts'
import { createDeathRecord } from '../../src/adapters/evaluation/thread.ts'
import type { TemplateScan } from '../../src/features/templates/template-engine.ts'
import { now, sourceOf, startEngine, type TestEngine } from './support/engine.ts'

let engine: TestEngine

beforeAll(async () => {
  engine = await startEngine()
})
afterAll(() => engine.close())

describe('template engine', () => {
  it('scans a prompt', async () => {
    const source = sourceOf('---\nmodel: m\n---\n/* c */Hi {{ a }}<prompt path="b" />', { 'folder/b': 'B' })
    expect(await engine.scan(source)).toEqual({
      config: { model: 'm' },
      parameters: ['a'],
      resolvedContent: '---\nmodel: m\n---\nHi {{ a }}<scope>B</scope>',
      references: ['folder/b'],
      missing: [],
      usesSteps: false,
      stepAgents: { paths: [], isComputed: false },
      errors: [],
      warnings: [],
      issues: [],
    })
  })

  it('scans a broken prompt, and scans it again once a missing document exists', async () => {
    const content = '<prompt path="later" />'
    expect(await engine.scan(sourceOf(content))).toMatchObject({
      missing: ['folder/later'],
      errors: [{ code: 'reference-not-found' }],
    })
    expect(await engine.scan(sourceOf(content, { 'folder/later': 'x' }))).toMatchObject({ missing: [], errors: [] })
  })

  it('throws the documented run error with position and frame', async () => {
    const run = engine.step({ source: sourceOf('a\n{{ u.name }}'), parameters: {}, now })
    await expect(run).rejects.toMatchObject({
      code: 'chain_compile_error',
      message: expect.stringMatching(/^folder\/prompt:2:4 /),
      details: {
        compileCode: 'variable-not-defined',
        path: 'folder/prompt',
        line: 2,
        column: 4,
        frame: expect.stringContaining('^'),
      },
    })
  })

  it('does not let one run change the front matter of the next', async () => {
    const source = sourceOf('---\nmodel: m\ntools: [{ a: { description: x } }]\n---\nHi')
    const first = await engine.step({ source, parameters: {}, now })
    const { tools } = (first.done ? {} : first.config) as { tools: { a: { description: string } }[] }
    expect(() => tools.push({ a: { description: 'y' } })).toThrow(TypeError)
    const { config } = await engine.scan(source)
    expect(() => Object.assign((config['tools'] as object[])[0] ?? {}, { a: 1 })).toThrow(TypeError)
  })

  it('rejects calls after it was closed', async () => {
    const own = await startEngine()
    await own.close()
    await expect(own.checkAnswer({ schema: {}, value: 1 })).rejects.toMatchObject({ code: 'ServiceUnavailableError' })
  })
})

it('a workspace has 50 ms in the thread of the server each second', () => {
  const share = createInlineShare()
  share.spend(1, 0, 30)
  expect([share.has(1, 10), share.has(2, 10)]).toEqual([true, true])
  share.spend(1, 20, 30)
  expect([share.has(1, 30), share.has(2, 30)]).toEqual([false, true])
  expect(share.has(1, 1_000)).toBe(true)
})

describe('scan cache', () => {
  const scan: TemplateScan = {
    config: {},
    parameters: [],
    resolvedContent: '',
    references: [],
    missing: [],
    usesSteps: false,
    stepAgents: { paths: [], isComputed: false },
    errors: [],
    warnings: [],
    issues: [],
  }

  it('scans each text once, even for concurrent calls, and again after a temporary failure', async () => {
    const cache = createScanCache()
    let reads = 0
    const read = async () => {
      reads += 1
      return scan
    }
    await Promise.all([cache.get('a', read), cache.get('a', read)])
    await cache.get('a', read)
    expect(reads).toBe(1)
    await cache.get('b', async () => ({ ...(await read()), isTemporary: true }))
    await cache.get('b', read)
    expect(reads).toBe(3)
  })

  it('evicts the least recently used entries by resolved text size', async () => {
    const cache = createScanCache()
    let reads = 0
    const get = (hash: string) =>
      cache.get(hash, async () => {
        reads += 1
        return { ...scan, resolvedContent: 'x'.repeat(6 * 1024 * 1024) }
      })
    for (const hash of ['a', 'b', 'a', 'c', 'a']) await get(hash)
    expect(reads).toBe(3)
    await get('b')
    expect(reads).toBe(4)
  })
})

describe('death record', () => {
  it('refuses for a minute after two deaths within a minute', () => {
    let time = 0
    const deaths = createDeathRecord(() => time)
    const isRefused = (text: string, cause: string) => deaths.isRefused(text, () => cause)
    deaths.note('a', 'scan')
    time = 70_000
    deaths.note('a', 'scan')
    expect(isRefused('a', 'scan')).toBe(false)
    deaths.note('a', 'scan')
    expect(isRefused('a', 'scan')).toBe(true)
    expect(isRefused('a', 'a step')).toBe(false)
    expect(isRefused('b', 'scan')).toBe(false)
    time = 130_001
    expect(isRefused('a', 'scan')).toBe(false)
  })
})
