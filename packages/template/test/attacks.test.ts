/** Prompts that try to take time or memory without an end. Every one ends by a limit or cheaply. */
import { describe, expect, it } from 'vitest'
import { CallerLimitError, CompileIssueError, compilePrompt, renderStep } from '../src/index.ts'
import { attacks, each, inBlocks, parameters, thousand } from './attacks.ts'
import { leastCpuMs, now, sourceOf } from './support.ts'

describe.each(Object.entries(attacks))('%s', (_name, content) => {
  const prompt = compilePrompt(sourceOf(content))
  const outcomeWith = (fuel?: number): string => {
    try {
      renderStep(prompt, { parameters, now }, fuel)
      return 'done'
    } catch (error) {
      if (error instanceof CompileIssueError) return error.issue.code
      if (error instanceof CallerLimitError) return 'needs more'
      throw error
    }
  }

  it('ends with a position', () => {
    expect(prompt.issues).toEqual([])
    expect(outcomeWith()).toMatch(/^(?:limit-exceeded|function-call-error|done)$/)
    // The bar is 150 ms on a free machine.
    expect(leastCpuMs(2, () => outcomeWith())).toBeLessThan(1_000)
  })

  it('takes little of the thread of the server', () => {
    outcomeWith(10_000)
    // The bar is 5 ms on a free machine.
    expect(leastCpuMs(5, () => outcomeWith(10_000))).toBeLessThan(30)
  })
})

it('names in nested blocks are found as fast as others', () => {
  const names = `{{ [${'a,'.repeat(4_000)}] }}`.repeat(20)
  const msIn = (depth: number) => leastCpuMs(3, () => compilePrompt(sourceOf(inBlocks(depth, names))))
  expect(msIn(190)).toBeLessThan(1.5 * msIn(1) + 20)
})

describe('front matter', () => {
  const closed = (open: string, close: string, levels: number): string =>
    `${open.repeat(levels)}a${close.repeat(levels)}`

  it.each([
    ['lists as keys', `{? ${closed('[? ', ']', 120)}}`],
    ['maps as keys', closed('{? ', ' : 1}', 500)],
    ['lists before a colon', closed('[', ']: 1', 680)],
    ['keys on lines', `${'? '.repeat(2_000)}a`],
    ['lists behind an open list', `- [\n${'- '.repeat(2_000)}a`],
    ['keys behind an open map', `? {\n${'? '.repeat(2_000)}a`],
    ['lists on a line', `${'- '.repeat(2_000)}a`],
    [
      'lists and keys on lines',
      Array.from({ length: 20 }, (_, at) => `${' '.repeat(160 * at)}${'- ? '.repeat(40)}\n`).join(''),
    ],
    ['maps on lines', Array.from({ length: 300 }, (_, at) => `${' '.repeat(at)}a:\n`).join('')],
    ['a deep list as a key', `? ${closed('[', ']', 2_000)}`],
    ['lists that stay open', '{? [? '.repeat(680)],
  ])('of %s is refused at once', (_name, yaml) => {
    const source = sourceOf(`---\n${yaml}\n---\nx`)
    expect(compilePrompt(source).issues[0]).toMatchObject({
      code: 'invalid-config',
      message: 'The front matter is nested too deeply',
    })
    // The bar is 10 ms on a free machine.
    expect(leastCpuMs(3, () => compilePrompt(source))).toBeLessThan(40)
  })

  it('is not deep because its lines are long', () => {
    const lines = Array.from({ length: 100 }, (_, at) => [
      `${'a'.repeat(at + 1)}: 1`,
      `"b${at}": "b\n  c: - ? d"`,
      `[c${', c'.repeat(at)}]: {}`,
    ])
    expect(compilePrompt(sourceOf(`---\n${lines.flat().join('\n')}\n---\nx`)).issues).toEqual([])
    const deep = Array.from({ length: 60 }, (_, at) => `${'  '.repeat(at)}a: # b: c\n`).join('')
    expect(compilePrompt(sourceOf(`---\n${deep}${'  '.repeat(60)}- b\n---\nx`)).issues).toEqual([])
  })

  it('may have lists and maps as keys', () => {
    const { config } = compilePrompt(sourceOf('---\na: {{ x }}\n? [1, { b: 2 }]\n: c\n---\nx'))
    expect(config).toEqual({ a: { '{ x }': null }, '[ 1, { b: 2 } ]': 'c' })
  })
})

describe('references', () => {
  const references = '<prompt path="/a"/>'.repeat(190)
  const limits = { maxTextChars: 16_384 }

  it('are limited in how often they repeat a text in the thread of the server', () => {
    const source = sourceOf(references, { a: '{{ a }}'.repeat(700) })
    expect(() => compilePrompt(source, limits)).toThrow(CallerLimitError)
    expect(() => compilePrompt(sourceOf('<prompt path="/a"/>', { a: 'x' }), limits)).not.toThrow()
  })

  it('stop at the last issue that is reported', () => {
    const source = sourceOf(references, { a: `${'\n'.repeat(6_000)}${'<prompt/>'.repeat(300)}` })
    expect(leastCpuMs(1, () => compilePrompt(source))).toBeLessThan(1_000)
    expect(compilePrompt(source).issues).toHaveLength(20)
  })
})

describe('a file whose source is no text', () => {
  const sourceFile = (content: string, url: unknown) => {
    const file = { __promptlType: 'file', isImage: true, url }
    return () => renderStep(compilePrompt(sourceOf(content)), { parameters: { file, list: thousand }, now })
  }

  it('cannot contain itself', () => {
    const content = '{{ o = {} }}{{ o.self = o }}{{ file.url = o }}{{ file }}'
    expect(sourceFile(content, 'x')).toThrow(CompileIssueError)
  })

  it('counts as output each time', () => {
    expect(sourceFile(each('{{ file }}'), thousand)).toThrow(CompileIssueError)
  })
})
