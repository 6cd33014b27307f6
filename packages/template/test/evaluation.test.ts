/** Values are plain data, methods follow V8, and a chain can stop anywhere. */
import { describe, expect, it } from 'vitest'
import { callMethod, hasMethod, METHODS_OF } from '../src/evaluate/methods/methods.ts'
import { Meter } from '../src/evaluate/values/fuel.ts'
import { BINARY_OPERATORS } from '../src/evaluate/values/operators.ts'
import { readMember, type Value } from '../src/evaluate/values/values.ts'
import { CallerLimitError, compilePrompt, renderStep } from '../src/index.ts'
import { BINARY, METHODS } from '../src/syntax/policy.ts'
import { chainOf, inputTexts, now, renderIssue, sourceOf, textOf } from './support.ts'

describe('built-ins', () => {
  const kinds = [Object, Function, Array, String, Number, Boolean, Date, Map, Promise, RegExp, Symbol, globalThis]
  const holders: object[] = kinds.flatMap((kind) => ('prototype' in kind ? [kind, kind.prototype as object] : [kind]))
  const names = [...new Set(holders.flatMap((holder) => Object.getOwnPropertyNames(holder)))]
  const values: Value[] = ['text', '', 1, true, new Date(0), [1, 'a'], {}, { a: 1 }]

  it('are reached by no name', () => {
    expect(names.length).toBeGreaterThan(200)
    const meter = new Meter()
    for (const value of values) {
      for (const name of names) {
        const found = readMember(value, name, meter)
        expect(typeof found === 'function' || (typeof found === 'object' && found !== null), name).toBe(false)
      }
    }
  })

  it('are called by the names of the allow-list only', () => {
    for (const value of values) for (const name of names) if (hasMethod(value, name)) expect(METHODS).toContain(name)
    expect(new Set(Object.values(METHODS_OF).flatMap((methods) => Object.keys(methods)))).toEqual(METHODS)
    expect(new Set(BINARY_OPERATORS.keys())).toEqual(BINARY)
  })
})

describe('methods', () => {
  const texts = ['', 'a', 'Hello World', ' pad ', 'a,b,,c', 'ünï😀ß', 'aaaa', `${'ab'.repeat(40)}c`]
  const numbers = [undefined, 0, 1, -1, 2.7, 100, Number.NaN, Number.POSITIVE_INFINITY]
  const patterns = ['', 'a', 'aa', ',', 'ab'.repeat(20), `${'ab'.repeat(20)}c`, 'none']
  const replacements = ['', '-', '$&', "[$`|$']", '$$', '$1', '$<n>']
  const lists = [[], [1, 2, 3], ['a', 'b'], [[1, [2]], 3], [null, 'q', true, Number.NaN], [1, 1, 2]]

  /** Calls each method here and in V8 with each list of arguments, on copies because some methods change them. */
  function compare(self: Value, names: string, argumentLists: Value[][]): void {
    for (const name of names.split(' ')) {
      for (const args of argumentLists) {
        const [theirs, ours] = [structuredClone(self), structuredClone(self)]
        const shown = `${JSON.stringify(self)}.${name}(${JSON.stringify(args)})`
        expect(callOwn(ours, name, args), shown).toEqual(callBuiltIn(theirs, name, args))
        expect(ours).toEqual(theirs)
      }
    }
  }

  function callOwn(self: Value, name: string, args: Value[]): unknown {
    return outcomeOf(() => callMethod(self, name, args, new Meter()))
  }

  function callBuiltIn(self: Value, name: string, args: Value[]): unknown {
    const methods = self as unknown as Record<string, (...given: Value[]) => unknown>
    const result = outcomeOf(() => methods[name]?.(...args))
    const isIterator = typeof result === 'object' && result !== null && 'next' in result
    return isIterator ? [...(result as unknown as Iterable<unknown>)] : result
  }

  function outcomeOf(call: () => unknown): unknown {
    try {
      return call()
    } catch (error) {
      return error instanceof Error ? error.name : error
    }
  }

  const pairs = numbers.flatMap((one) => numbers.map((two) => [one, two]))

  it.each(texts)('of the text %j', (text) => {
    const searches = patterns.flatMap((pattern) => numbers.map((from) => [pattern, from]))
    compare(text, 'trim trimStart trimEnd toUpperCase toLowerCase toString', [[]])
    compare(text, 'slice substring substr', pairs)
    compare(text, 'charAt at', pairs)
    compare(text, 'includes indexOf lastIndexOf startsWith endsWith split', searches)
    compare(text, 'concat', [['x', 1, null]])
    const replaced = patterns.flatMap((pattern) => replacements.map((by) => [pattern, by]))
    compare(text, 'replace replaceAll', replaced)
  })

  it.each(lists.map((list) => [list]))('of the list %j', (list) => {
    const searches = [...numbers, 'a', null].flatMap((wanted) => numbers.map((from) => [wanted, from]))
    compare(list as Value, 'includes indexOf lastIndexOf', searches)
    compare(list as Value, 'lastIndexOf', [[1], ['a']])
    compare(list as Value, 'slice', pairs)
    compare(
      list as Value,
      'at flat',
      numbers.map((number) => [number]),
    )
    compare(list as Value, 'join', [[], ['-'], [null]])
    compare(list as Value, 'concat push unshift', [[1, [2, 3]], []])
    compare(list as Value, 'pop shift reverse keys values entries toString', [[]])
  })

  it.each([0, 1.005, -3, 1e21, 255])('of the number %d', (number) => {
    compare(
      number,
      'toString toFixed toPrecision',
      [...numbers, 2, 16, 36, 101].map((digits) => [digits]),
    )
  })
})

describe('conversions', () => {
  it('never call prompt data', async () => {
    expect(await textOf('{{ o + "" }}|{{ [o] + 1 }}|{{ o == "[object Object]" }}', { o: { toString: 'x' } })).toBe(
      '[object Object]|[object Object]1|true',
    )
  })

  it('set no member of a list, a text or a date', async () => {
    for (const target of ['l.x = 1', 's.x = 1', 'd.x = 1']) {
      const issue = await renderIssue(`{{ d = $now }}{{ ${target} }}`, { l: [1], s: 'a' })
      expect(issue).toMatchObject({ code: 'variable-not-defined', message: expect.stringContaining('Cannot set') })
    }
    expect(await textOf('{{ l.length = 1 }}{{ l }}', { l: [1, 2] })).toBe('[1]')
  })
})

describe('the state of a chain', () => {
  it('keeps every kind of value, and the identity of lists and objects', async () => {
    const content =
      '{{ a = [0 / 0, 1 / 0, -1 / 0, 0 * -1, undefined, null, $now, "t"] }}{{ o = { a } }}' +
      '<step as="x">{{ 1 }}</step>{{ a.push(x) }}{{ o.a.length }} {{ 1 / a[3] }} {{ a[4] }}{{ a[6] }} {{ a[0] }} {{ a[1] }}'
    const steps = await chainOf(content, ['last'])
    expect(inputTexts(steps[1]).at(-1)).toBe('99 -Infinity 2026-01-02T03:04:05.000Z NaN Infinity')
  })

  it('stores parameters by name unless the prompt may change them', async () => {
    const big = { list: Array.from({ length: 1_000 }, (_, index) => index) }
    const [read] = await chainOf('<step>{{ p = list }}{{ p.length }}</step>{{ p.length }}', [], big)
    expect(JSON.stringify(read).length).toBeLessThan(1_000)
    const [changed] = await chainOf('<step>{{ list.pop() }}</step>{{ list.length }}', [], big)
    expect(JSON.stringify(changed).length).toBeGreaterThan(3_000)
  })

  it('keeps the identity of parts of parameters', async () => {
    const parameters = { o: { list: [[1], [2]], same: { a: 1 } } }
    const content =
      '{{ x = o.list[1] }}{{ y = { part: o.same } }}{{ for item, at in o.list }}<step>a</step>{{ item == o.list[at] }}' +
      '{{ endfor }}{{ x == o.list[1] }}{{ y.part == o.same }}{{ x == o.list[0] }}'
    const read = await chainOf(content, ['one', 'two'], parameters)
    expect(inputTexts(read.at(-1)).at(-1)).toBe('truetruetruefalse')
    const changed = await chainOf(`{{ x = o.list[1] }}<step>a</step>{{ x.push(3) }}{{ o.list }}`, ['one'], parameters)
    expect(inputTexts(changed.at(-1)).at(-1)).toBe('2[[1],[2,3]]')
  })

  it('is paid for when it is read', async () => {
    const prompt = compilePrompt(sourceOf('{{ x = l.slice(0) }}<step>a</step>b'))
    const parameters = { l: Array.from({ length: 10_000 }, (_, index) => index) }
    const first = renderStep(prompt, { parameters, now })
    if (first.done) throw new Error('It has no step')
    const { state } = first
    expect(() => renderStep(prompt, { parameters, now, state }, 5_000)).toThrow(CallerLimitError)
    expect(renderStep(prompt, { parameters, now, state })).toMatchObject({ done: false })
  })

  it('continues in the middle of loops and conditions, without evaluating them again', async () => {
    const content =
      '{{ n = 0 }}{{ for i in [1, 2] }}{{ if n++ < 5 }}<step as="x">{{ i }}</step>{{ x }}{{ endif }}{{ endfor }}{{ n }}'
    const steps = await chainOf(content, ['one', 'two'])
    expect(steps).toHaveLength(3)
    expect(inputTexts(steps[2])).toEqual(['1', 'one', 'one', '2', 'two', 'two2'])
  })
})
