import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDeathRecord, createTemplateEngine } from '../../src/adapters/template-workers/engine.ts'
import { createScanCache } from '../../src/adapters/template-workers/scan-cache.ts'
import type { TemplateScan } from '../../src/features/templates/template-engine.ts'
import {
  charged,
  defaults,
  now,
  patient,
  rendered,
  sourceOf,
  startEngine,
  type TestEngine,
  workerPids,
  workspaceOne,
} from './support/engine.ts'

let engine: TestEngine

beforeAll(async () => {
  engine = await startEngine({ poolSize: 1 })
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
      errors: [],
      warnings: [],
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

  it('does not charge a prompt for time in which the server could not read its response', async () => {
    const own = patient(await startEngine({ poolSize: 1, timeoutMs: 300 }))
    await rendered(own, 'warm')
    const answer = rendered(own, 'Hello {{ name }}', { name: 'Ada' })
    // The call is sent after two event-loop ticks. Its time limit expires before the next tick.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    const until = performance.now() + 500
    while (performance.now() < until) Math.sqrt(Math.random())
    expect(await answer).toBe('Hello Ada')
    await own.close()
  })

  it('repeats an evaluation of a started run until it gets CPU time, and refuses any other one', async () => {
    const others = await workerPids()
    const own = await startEngine({ poolSize: 1, timeoutMs: 100 })
    const answer = { schema: { type: 'string' }, value: 'a' }
    const checkStopped = async (isRun: boolean) => {
      for (const pid of await workerPids()) if (!others.includes(pid)) process.kill(pid, 'SIGSTOP')
      return own.checkAnswer(answer, { ...workspaceOne, isRun, signal: new AbortController().signal })
    }
    await patient(own).checkAnswer(answer)
    expect(await checkStopped(true)).toEqual({ issues: [] })
    await expect(checkStopped(false)).rejects.toMatchObject({ reason: 'too-many-evaluations' })
    await own.close()
  })

  it('ends its worker processes on close and rejects further calls', async () => {
    const others = await workerPids()
    const own = await startEngine({ poolSize: 1 })
    expect(await own.scan(sourceOf('x'))).toMatchObject({ errors: [] })
    const isNew = (pid: number) => !others.includes(pid)
    expect((await workerPids()).filter(isNew)).toHaveLength(2)
    await own.close()
    expect((await workerPids()).filter(isNew)).toEqual([])
    await expect(own.scan(sourceOf('y'))).rejects.toMatchObject({ code: 'ServiceUnavailableError' })
  })

  it('fails calls if its worker processes cannot start', async () => {
    const broken = charged(createTemplateEngine({ ...defaults, workerFile: import.meta.filename, timeoutMs: 50 }))
    await expect(broken.scan(sourceOf('x'))).rejects.toMatchObject({
      reason: 'too-many-evaluations',
      details: { limitOf: 'server' },
    })
    await broken.close()
  })
})

describe('scan cache', () => {
  const scan: TemplateScan = {
    config: {},
    parameters: [],
    resolvedContent: '',
    references: [],
    missing: [],
    usesSteps: false,
    errors: [],
    warnings: [],
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
  it('refuses for a minute after three deaths within a minute', () => {
    let time = 0
    const deaths = createDeathRecord(() => time)
    const isRefused = (text: string, cause: string) => deaths.isRefused(text, () => cause)
    deaths.note('a', 'scan')
    time = 50_000
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
