/** Prompts that try to take time or memory without an end. Every one ends by a limit or cheaply. */
import { describe, expect, it } from 'vitest'
import { CallerLimitError, CompileIssueError, compilePrompt, renderStep } from '../src/index.ts'
import { now, sourceOf } from './support.ts'

const thousand = Array.from({ length: 1_000 }, (_, index) => index)
const parameters = {
  s: 'x'.repeat(100_000),
  l: [1, 2, 3],
  list: thousand,
  huge: 'a'.repeat(2_000_000),
  wide: Array.from({ length: 200_000 }, (_, index) => index),
  objects: Array.from({ length: 20_000 }, (_, index) => ({ a: index, b: `text${index}` })),
}

const each = (body: string): string => `{{ for a in list }}${body}{{ endfor }}`
const twice = (body: string): string => each(`{{ for b in list }}${body}{{ endfor }}`)
const doubled = (first: string, times: number): string => `{{ t = ${first} }}${'{{ t = t + t }}'.repeat(times)}`
const nested = (levels: number, wrap: string): string => `{{ o = [] }}${`{{ o = ${wrap} }}`.repeat(levels)}`

const inBlocks = (depth: number, body: string): string =>
  `${'{{ if 1 }}'.repeat(depth)}${body}${'{{ endif }}'.repeat(depth)}`

const attacks: Readonly<Record<string, string>> = {
  'a growing list': '{{ l = [1] }}{{ for x in l }}{{ l.push(x) }}{{ endfor }}',
  'nested loops': twice('{{ for c in list }}x{{ endfor }}'),
  'a doubled text': `${doubled('"xxxxxxxxxxxxxxxx"', 26)}{{ t }}`,
  'a doubled list': `{{ t = [1] }}${'{{ t = t.concat(t) }}'.repeat(28)}{{ t }}`,
  'a large output': `${doubled('"xxxxxxxxxxxxxxxx"', 17)}${'{{ t }}'.repeat(50)}`,
  'the case of a large text': `${doubled('"xxxxxxxxxxxxxxxx"', 18)}${each('{{ t.toUpperCase() }}')}`,
  'a split text': `${doubled('"xxxxxxxxxxxxxxxx"', 17)}{{ t.split("") }}`,
  'an object in itself': '{{ o = {} }}{{ o.self = o }}{{ o }}',
  'an object in itself as an attribute': '{{ o = {} }}{{ o.self = o }}<user meta={{ o }}>x</user>',
  'an object in itself over a step': '{{ o = {} }}{{ o.self = o }}<step>x</step>',
  'a deep attribute': `${nested(3_000, '[o]')}<user meta={{ o }}>x</user>`,
  'a deep list that is printed': `${nested(3_000, '[o]')}{{ o }}`,
  'a deep list that is joined': `${nested(3_000, '[o]')}{{ o.join() }}`,
  'a deep list over a step': `${nested(3_000, '[o]')}<step>x</step>`,
  'a diamond that is printed': `${nested(40, '[o, o]')}{{ o }}`,
  'a diamond that is joined': `${nested(40, '[o, o]')}{{ o.join() }}`,
  'a diamond that is flattened': `${nested(40, '[o, o]')}{{ o.flat(100).length }}`,
  'a diamond that is compared': `${nested(40, '[o, o]')}{{ o == "x" }}`,
  'a diamond as an attribute': `${nested(40, '[o, o]')}<user meta={{ o }}>x</user>`,
  'a list in itself that is flattened': '{{ l = [1] }}{{ l.push(l) }}{{ l.push(l) }}{{ l.flat(1000000) }}',
  'a text replaced by itself': '{{ s.replaceAll("", s) }}',
  'a text joined by itself': '{{ s.split("").join(s) }}',
  'signs in a replacement': `{{ s.replaceAll("x", "$'$'$'$'") }}`,
  'a long pattern': '{{ huge.indexOf(huge.slice(0, 30000) + "b" + huge.slice(0, 30000)) }}',
  'a long pattern from the end': '{{ huge.lastIndexOf("b" + huge.slice(0, 1000000)) }}',
  'a short pattern again and again': each('{{ huge.includes("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab") }}'),
  'numbers in a language': twice('{{ a.toLocaleString("de", { style: "currency", currency: "EUR" }) }}'),
  'dates in a language': twice('{{ $now.toLocaleString("ja", { dateStyle: "full", timeStyle: "full" }) }}'),
  'many digits': twice('{{ 1.1.toFixed(100) }}'),
  'a printed list': each('{{ wide }}'),
  'printed objects': each('{{ objects }}'),
  'a joined list': each('{{ x = wide.join() }}'),
  'texts that are linked and read': each('{{ r = huge + a }}{{ x = r.at(0) }}'),
  'kept lists': `{{ t = [] }}${each('{{ t.push(wide.concat(a)) }}')}`,
  'kept objects': `{{ t = [] }}${twice('{{ t.push({ a: 1, b: 2, c: 3, d: 4 }) }}')}`,
  'kept entries': `{{ t = [] }}${each('{{ t.push(list.entries()) }}')}`,
  'kept pieces': `{{ t = [] }}${each('{{ t.push(s.split("x")) }}')}`,
  'spread objects': '{{ o = {} }}{{ for a in objects }}{{ o = { ...o, ...a } }}{{ endfor }}',
  'many messages': twice('<user>x</user>'),
  'many attributes': each(`<user ${Array.from({ length: 1_000 }, (_, at) => `a${at}`).join(' ')}>x</user>`),
  'many attributes of a scope': each(`<scope ${Array.from({ length: 1_000 }, (_, at) => `a${at}`).join(' ')}></scope>`),
  'names in nested blocks': inBlocks(190, each(`{{ x = [${'s,'.repeat(4_000)}] }}`)),
  'large attributes': each('<user meta={{ objects }}>x</user>'),
  'the front of a long list': twice('{{ wide.unshift(1) }}'),
  'a reversed list': each('{{ x = wide.reverse().length }}'),
  'a long locale':
    '{{ l = "en-v1234" }}{{ for a in list }}{{ l = l + "-v" + (1000 + a) }}{{ endfor }}{{ (1).toLocaleString(l) }}',
  'a joined name of a character': each('{{ r = huge + a }}{{ x = "a"[r] }}'),
  'a joined name of a member': each('{{ r = huge + a }}{{ x = objects[0][r] }}'),
  'the order of a joined text': each('{{ r = huge + a }}{{ x = r < "ab" }}'),
  'a text many times in an attribute': `<user a="${'{{ huge }}'.repeat(100)}">x</user>`,
  'equal long texts': `{{ h = huge + "a" }}{{ g = huge + "b" }}${twice('{{ x = h == g }}')}`,
  'a long number': each('{{ x = +huge }}'),
  'the characters of a text': '{{ for c in huge }}{{ c }}{{ endfor }}',
  'blank lines': `{{ n = "\\n  x" }}${'{{ n = n + n }}'.repeat(19)}<user>{{ n }}</user>`,
}

/** The lowest of several readings, because other processes disturb a reading. */
function leastCpuMs(runs: number, work: () => unknown): number {
  const readings = Array.from({ length: runs }, () => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...readings)
}

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
    ['a deep list as a key', `? ${closed('[', ']', 2_000)}`],
    ['lists that stay open', '{? [? '.repeat(680)],
  ])('of %s is refused at once', (_name, yaml) => {
    const source = sourceOf(`---\n${yaml}\n---\nx`)
    expect(compilePrompt(source).issues[0]).toMatchObject({ code: 'invalid-config' })
    // The bar is 10 ms on a free machine.
    expect(leastCpuMs(3, () => compilePrompt(source))).toBeLessThan(40)
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
