/** Repairs beyond the corpus of the server package, which has a prompt for every repair. */
import { describe, expect, it } from 'vitest'
import { chainOf, firstIssue, inputTexts, textOf } from './support.ts'

describe('repairs', () => {
  it.each([
    ['a falsy left side of &&', '{{ 0 && a.b }}', '0'],
    ['a mixed chain', '{{ ((a || o) && o.p.q) ?? "x" }}', 'deep'],
    ['a left side that acts', '{{ l.pop() || "none" }}{{ l }}', '3[1,2]'],
    ['an increment on the left', '{{ i = 1 }}{{ i++ && "one" }}{{ i }}', 'one2'],
    ['short circuits in loops', '{{ for x in (a && a.b) || l }}{{ x }}{{ endfor }}', '123'],
    ['an optional method', '{{ o.p.q?.toUpperCase() }}[{{ o.z?.trim() }}]', 'DEEP[]'],
  ])('%s', async (_name, content, expected) => {
    expect(await textOf(content, { o: { p: { q: 'deep' } }, l: [1, 2, 3] })).toBe(expected)
  })

  it('keeps positions after a repaired schema', async () => {
    const issue = await firstIssue('<step schema={{ type: "object" }}>hi</step> {{ x => 1 }}')
    expect(issue).toMatchObject({ code: 'not-allowed', line: 1, column: 48 })
  })

  it.each(['```\n{"a":1}\n```', ' {"a":1}\n'])('reads the fenced answer %j', async (answer) => {
    const steps = await chainOf('<step as="x" schema={{ { type: "object" } }}>q</step>{{ x.a }}', [answer])
    expect(inputTexts(steps[1])).toEqual(['q', answer, '1'])
  })
})
