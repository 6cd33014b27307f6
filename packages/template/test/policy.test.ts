import { describe, expect, it } from 'vitest'
import { scan } from '../src/index.ts'
import { firstIssue, renderIssue, sourceOf, textOf } from './support.ts'

describe('allow-list', () => {
  const refused = `
    o[k] = 1   o[k]++   a ||= 1   delete p.x   "a" in p   #p in a   p instanceof q   2 ** 9   10n   /x/
    a.b.constructor   a["prototype"]   a.caller   p?.constructor   p.__proto__   p["__proto__"]   { __proto__: p }
    a.bind(b)   p.apply(p)   a.forEach(b)   a.concat(...b)   p.sort()   p.repeat(3)   p.padStart(9)   f()   (a, b)()
    a.matchAll("x")   p.match("^(a+)+$")   hasOwnProperty("x")   trim()   valueOf   constructor   this.process
    x => x   async () => 1   function () { return 1 }   class {}   { m() {} }   { get a() { return 1 } }   { [k]: 1 }
    new Map()   new Date()   import.meta   import("node:fs")   require("node:fs")   process.exit(1)   process.env.HOME
    "".constructor.constructor("return 1")()   ({}).constructor.constructor("return 1")()   fetch("http://a")
    p.constructor.constructor("return 1")()   p["constructor"]["constructor"]("return 1")()   p.at.constructor("return 1")
    p.trim.constructor("return 1")()   p[k]()   p[k][k]("return 1")()   "return 1".replace("return 1", p[k][k])`
  it.each([...refused.trim().split(/\s{3,}/), 'a.b`x`', '`${p}`'])('refuses {{ %s }}', async (expression) => {
    const content = `Line\n{{ ${expression} }}`
    const issue = (await firstIssue(content)) ?? (await renderIssue(content, { p: 'text', k: 'constructor', q: 1 }))
    const codes = /^(not-allowed|parse-error|unexpected-token|function-call-error|variable-not-defined|not-a-function)$/
    expect(issue).toMatchObject({ line: 2, path: 'folder/prompt', code: expect.stringMatching(codes) })
  })

  it.each([
    ['after a dot', '[{{ s.trim }}{{ l.at }}{{ o.toString }}{{ l.keys().next }}]', '[]'],
    ['by a computed name', '[{{ s[k] }}{{ l?.[k] }}]', '[]'],
    ['in a variable', '[{{ f = s[k] }}{{ f }}{{ typeof f }}]', '[undefined]'],
    ['at the end of a chain', '[{{ o?.a.toFixed }}{{ s.trim()?.at }}{{ o?.missing?.at }}]', '[]'],
    [
      'as an argument of replace',
      '{{ "99".replace("99", "x".repeat) }}{{ "99".replace("99", s[k]) }}',
      'undefinedundefined',
    ],
    ['as toJSON of an object', '{{ { toJSON: l.pop } }}', '{}'],
    ['as a promise', '{{ { then: l.push } }}{{ l }}', '{}[1]'],
  ])('reads a built-in function as nothing, %s', async (_name, content, expected) => {
    expect(await textOf(content, { s: 'x', l: [1], o: { a: 1 }, k: 'concat' })).toBe(expected)
  })

  it('reads data fields that have the names of built-in functions', async () => {
    const o = { link: 'a', at: 'b', values: ['c'], k: { search: 'd' } }
    expect(await textOf('{{ o.link }}{{ o.at }}{{ o["values"][0] }}{{ o?.k.search }}{{ o[n] }}', { o, n: 'at' })).toBe(
      'abcdb',
    )
  })

  it('assigns and increments members', async () => {
    expect(await textOf('{{ o.at = 1 }}{{ o.at++ }}{{ o.at += 2 }}{{ o }}', { o: {} })).toBe('1{"at":4}')
  })

  it('refuses expressions that are nested too deeply', async () => {
    expect((await firstIssue(`{{ ${'!'.repeat(300)}a }}`))?.code).toBe('limit-exceeded')
  })
})

describe('front matter', () => {
  it.each([
    ['core tags', '---\na: !!str 1\nb: [!!int "2", { c: !!bool true }]\n---\nx', { a: '1', b: [2, { c: true }] }],
    [
      'exclamation marks in texts of several lines',
      '---\na: Hi, !all - !x\nb: one\n  !two\nc: [x !y, "!z"]\nd: "b\n  - !c"\n---\nx',
      { a: 'Hi, !all - !x', b: 'one !two', c: ['x !y', '!z'], d: 'b - !c' },
    ],
  ])('reads %s', async (_name, content, config) => {
    expect(await scan(sourceOf(content))).toMatchObject({ config, errors: [] })
  })

  it.each([
    ['a: !evil x', 4],
    ['a: &b !evil x', 7],
    ['a:\n  !evil x', 6],
    ['- !evil x', 3],
    ['a: [1, !evil x]', 8],
    ['a: { b: !evil x }', 9],
    ['a: [\n  !evil x]', 8],
    ['? !evil a\n: b', 3],
    ['!evil a: b', 1],
    ['a: b\n!evil c: d', 6],
    ['a: "x: y"\nb: !<tag:evil> x', 14],
    ['a: !!binary AA==', 4],
    ['- a: |\n    text\n  b: !evil c', 22],
    ['a: !!str |\n  !text\nb: !evil c', 23],
  ])('refuses the tag of %j', async (yaml, at) => {
    const before = yaml.slice(0, at - 1).split('\n')
    expect(await firstIssue(`---\n${yaml}\n---\nx`)).toMatchObject({
      code: 'invalid-config',
      line: before.length + 1,
      column: (before.at(-1) ?? '').length + 1,
    })
  })

  it.each([
    ['an equal key', 'a: 1\nb: { c: 1, c: 2 }', 'invalid-config', 3, 12],
    ['an equal key of a map in a list', '- x: 1\n  y: 2\n  x: 3', 'invalid-config', 4, 3],
    ['text that is no YAML', 'a: 1\n b: [', 'invalid-config', 2, 4],
    ['deep lists', `a: ${'['.repeat(20_000)}`, 'invalid-config', 1, 4],
    ['an alias without an anchor', 'a: *b', 'invalid-config', 1, 4],
    ['a list', '- a', 'invalid-config', 1, 4],
    ['more than 64 KB', `a: ${'x'.repeat(65_536)}`, 'limit-exceeded', 1, 4],
  ])('refuses %s', async (_name, yaml, code, line, column) => {
    expect(await firstIssue(`---\n${yaml}\n---\nx`)).toMatchObject({ code, line, column })
  })

  it('reads it even if the text below does not parse', async () => {
    expect(await scan(sourceOf('---\na: 1\n---\n<user>'))).toMatchObject({ config: { a: 1 }, errors: [{}] })
  })
})

describe('variables', () => {
  it('lists free variables in order of appearance', async () => {
    const { parameters, usesSteps } = await scan(
      sourceOf(
        '{{ b }}{{ x = a }}{{ x }}{{ for i, n in list }}{{ i }}{{ n }}{{ endfor }}<step as="s">{{ $now }}{{ undefined }}</step>{{ s }}',
      ),
    )
    expect(parameters).toEqual(['b', 'a', 'list'])
    expect(usesSteps).toBe(true)
  })
})
