import { describe, expect, it } from 'vitest'
import { scan } from '../src/index.ts'
import { chainOf, firstIssue, inputTexts, now, renderIssue, sourceOf, textOf } from './support.ts'

describe('repairs', () => {
  it.each([
    ['quoted keys', '{{ { "type": "object", \'a b\': 1, 3: 2 } }}', '{"3":2,"type":"object","a b":1}'],
    ['&& with a missing left side', '[{{ a && a.b }}]', '[]'],
    ['|| with a present left side', '{{ t || a.b }}', 'yes'],
    ['?? with a present left side', '{{ t ?? a.b }}', 'yes'],
    ['?? with a missing left side', '{{ a ?? "none" }}', 'none'],
    ['|| with null, zero and empty', '{{ null || 0 || "" || "end" }}', 'end'],
    ['a falsy left side of &&', '{{ 0 && a.b }}', '0'],
    ['a mixed chain', '{{ ((a || o) && o.p.q) ?? "x" }}', 'deep'],
    ['a left side that acts', '{{ l.pop() || "none" }}{{ l }}', '3[1,2]'],
    ['an increment on the left', '{{ i = 1 }}{{ i++ && "one" }}{{ i }}', 'one2'],
    ['a whole optional chain', '[{{ a?.b.c }}{{ a?.b.c.trim().length }}{{ a?.["x"].y }}]', '[]'],
    ['an optional chain that is there', '{{ o?.p?.q }}{{ o?.p.q.toUpperCase()?.length }}', 'deep4'],
    ['an optional method', '{{ o.p.q?.toUpperCase() }}[{{ o.z?.trim() }}]', 'DEEP[]'],
    ['short circuits in conditions', '{{ if a && a.b }}x{{ else if t || a.b }}y{{ endif }}', 'y'],
    ['short circuits in loops', '{{ for x in (a && a.b) || l }}{{ x }}{{ endfor }}', '123'],
    [
      'iterators',
      '{{ for i in l.keys() }}{{ i }}{{ endfor }}{{ k = l.entries() }}{{ k }}{{ l?.values() }}',
      '012[[0,1],[1,2],[2,3]][1,2,3]',
    ],
    ['a sequence', '{{ (i = 1, i + 1) }}{{ (1, 2, t) }}', '2yes'],
    ['a sequence in a condition', '{{ if (i = 0, i) }}x{{ else }}y{{ endif }}', 'y'],
    ['$now printed', '{{ $now }} {{ d = $now }}{{ d }}', `${now} ${now}`],
    ['getters of $now', '{{ $now.getUTCFullYear() }}', '2026'],
    ['values beside a clock', '{{ d = $now }}{{ t }}{{ o.p }}{{ null }}[{{ a }}]', 'yes{"q":"deep"}null[]'],
  ])('%s', async (_name, content, expected) => {
    const parameters = { t: 'yes', o: { p: { q: 'deep' } }, l: [1, 2, 3] }
    expect(await textOf(content, parameters)).toBe(expected)
  })

  it('reads a schema without inner braces as an object, warns, and reports it as written', async () => {
    const content =
      'Go\n<step as="x" schema={{ type: "object", properties: { a: { type: "string" } } }}>hi</step>{{ x.a }}'
    const { errors, warnings, resolvedContent } = await scan(sourceOf(content))
    expect(errors).toEqual([])
    expect(warnings).toMatchObject([{ code: 'schema-without-braces', line: 2, column: 23 }])
    expect(resolvedContent).toBe(content)
    const [first, second] = await chainOf(content, ['{"a":"A"}'])
    expect(first).toMatchObject({ config: { schema: { type: 'object', properties: { a: { type: 'string' } } } } })
    expect(inputTexts(second).at(-1)).toBe('A')
  })

  it('keeps positions after a repaired schema', async () => {
    const issue = await firstIssue('<step schema={{ type: "object" }}>hi</step> {{ x => 1 }}')
    expect(issue).toMatchObject({ code: 'not-allowed', line: 1, column: 48 })
  })

  it('keeps line ends out of the front matter', async () => {
    const { config } = await scan(sourceOf('---\r\nprovider: openai\r\nmodel: "m"\r\n---\r\nx'))
    expect(config).toEqual({ provider: 'openai', model: 'm' })
  })

  it.each(['```json\n{"a":1}\n```', '```\n{"a":1}\n```', ' {"a":1}\n'])(
    'reads the fenced answer %j',
    async (answer) => {
      const steps = await chainOf('<step as="x" schema={{ { type: "object" } }}>q</step>{{ x.a }}', [answer])
      expect(inputTexts(steps[1])).toEqual(['q', answer, '1'])
    },
  )

  it('reports the position of a missing value', async () => {
    const issue = await renderIssue('a\n<user>{{ if 1 }}{{ user.name }}{{ endif }}</user>')
    expect(issue).toMatchObject({ code: 'variable-not-defined', line: 2, column: 20, path: 'folder/prompt' })
  })

  it('reports the position of an arrow function inside an expression', async () => {
    expect(await firstIssue('<user>\n{{ items.map(x => x.name) }}\n</user>')).toEqual({
      code: 'not-allowed',
      message: 'Arrow functions are not part of the prompt language',
      path: 'folder/prompt',
      line: 2,
      column: 14,
      endLine: 2,
      endColumn: 25,
      frame: '  1 | <user>\n  2 | {{ items.map(x => x.name) }}\n    |              ^',
    })
  })
})
