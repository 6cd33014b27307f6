import { rename } from 'node:fs/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLong, linesOf, places, startHistory, timeFor } from './support/history.ts'

const step = fc.record({
  who: fc.constantFrom(0, 1),
  what: fc.constantFrom('edit', 'edit', 'move', 'rename', 'swap', 'pull', 'push', 'push', 'settle'),
  which: fc.nat(5),
  to: fc.constantFrom('a', 'b', 'c', 'd'),
  at: fc.constantFrom(0, 3),
})

// Few random histories have an edit of a prompt that the other person moves. In these, the edit meets the move in a push
// or in a pull.
const meeting = (['move', 'rename'] as const).flatMap((way) => {
  type Step = typeof step extends fc.Arbitrary<infer One> ? One : never
  const of = (who: 0 | 1, what: Step['what']): Step => ({ who, what, which: 0, to: 'c', at: 0 })
  const moved = [of(0, way), of(0, 'push'), of(1, 'edit')]
  const swapped = [of(0, 'swap'), of(0, 'push'), of(1, 'edit')]
  const end = [of(1, 'pull'), of(1, 'push'), of(0, 'pull')]
  return [
    [...moved, of(1, 'push'), ...end],
    [...swapped, of(1, 'push'), ...end],
    [of(0, 'edit'), ...moved, ...end],
  ]
})

const histories = isLong ? 200 : 2

test.each(places)(
  'two people who move and edit in any order, in %s: no line is lost that its author or the other one has not seen',
  async (place, flags) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 9 }), async (steps) => {
        const { people, served } = await startHistory(place)
        const published = new Set<string>()
        for (const [index, { who, what, which, to, at }] of steps.entries()) {
          const person = people[who] ?? people[0]
          const files = await person.files()
          const before = linesOf(files.values())
          const paths = [...files.keys()]
          const [path = ''] = paths.slice(which % Math.max(paths.length, 1))
          const own = (lines: string[]) => lines.filter((line) => line.includes(` by ${who} `) && !published.has(line))
          const move = (from: string, to: string) => rename(person.fileOf(from), person.fileOf(to))
          if (what === 'edit') await person.edit(path, at, `line by ${who} in step ${index}`)
          else if (what === 'move') await person.run('mv', path, to)
          else if (what === 'rename') {
            if (!paths.includes(to)) await move(path, to)
          } else if (what === 'swap') {
            const [other = path] = paths.filter((one) => one !== path)
            await move(path, 'aside')
            if (other !== path) await move(other, path)
            await move('aside', other)
          } else if (what === 'settle') await person.settle()
          else if (what === 'pull') {
            const { code, stderr } = await person.run('pull')
            expect([0, 1, 6], stderr).toContain(code)
            expect(linesOf((await person.files()).values())).toEqual(expect.arrayContaining(own(before)))
          } else {
            const there = linesOf((await served()).values())
            const { code, stderr } = await person.run('push', ...flags)
            expect([0, 1, 6], stderr).toContain(code)
            const after = linesOf((await served()).values())
            const lost = there.filter((line) => !after.includes(line))
            expect([...person.seen]).toEqual(expect.arrayContaining(lost))
            if (code === 0) expect(after).toEqual(expect.arrayContaining(own(before)))
            for (const line of after) published.add(line)
          }
        }
      }),
      {
        examples: meeting.map((steps): [typeof steps] => [steps]),
        numRuns: meeting.length + histories,
        seed: 20_261_128,
      },
    )
  },
  timeFor(histories),
)
