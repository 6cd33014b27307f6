import { rm } from 'node:fs/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLong, linesOf, places, startHistory, timeFor } from './support/history.ts'

const deeds = ['edit', 'remove', 'pull', 'push', 'send', 'send', 'settle'] as const

const step = fc.record({
  who: fc.constantFrom(0, 1),
  what: fc.constantFrom(...deeds),
  path: fc.constantFrom('a', 'b'),
  at: fc.constantFrom(0, 3),
})

// Five random histories seldom merge. In these, a pull or a push does, of edits of different lines and of the same line.
const merging = [3, 0].flatMap((at) => {
  const own = (what: (typeof deeds)[number]) => ({ who: 0, what, path: 'a', at: 0 })
  const edits = [own('edit'), { ...own('send'), who: 1, at }]
  return [
    [...edits, own('pull'), own('settle'), own('push')],
    [...edits, own('push'), own('pull')],
  ]
})

const histories = isLong ? 500 : 2

test.each(places)(
  'two people in any order, in %s: nobody overwrites or deletes what they have not seen, and no edit is lost to a pull',
  async (place, flags) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 7 }), async (steps) => {
        const published = new Set<string>()
        const { people, served } = await startHistory(place)
        for (const [index, { who, what, path, at }] of steps.entries()) {
          const person = people[who] ?? people[0]
          const filesBefore = await person.files()
          if (what === 'edit' || what === 'send') await person.edit(path, at, `${path} by ${who} in step ${index}`)
          if (what === 'edit') continue
          if (what === 'remove') await rm(person.fileOf(path), { force: true })
          else if (what === 'settle') await person.settle()
          else if (what === 'pull') {
            const { code } = await person.run('pull')
            const after = await person.files()
            const isMarked = [...after.values()].some((text) => text.includes('<<<<<<<'))
            if (isMarked) expect(code).toBe(6)
            expect([0, 6]).toContain(code)
            for (const [name, text] of filesBefore) {
              // A unique line must still exist unless the server has had it.
              for (const line of text.split('\n').filter((one) => one.includes(` by ${who} `))) {
                if (!published.has(line)) expect(after.get(name)?.split('\n')).toContain(line)
              }
            }
          } else {
            const [sent, liveBefore] = [await person.files(), await served()]
            const { code } = await person.run('push', '--delete', ...flags)
            const liveAfter = await served()
            const linesAfter = (name: string) => liveAfter.get(name)?.split('\n') ?? []
            if (code !== 0) expect([liveAfter, await person.files()]).toEqual([liveBefore, sent])
            for (const [name, text] of liveBefore) {
              const lost = text.split('\n').filter((line) => !linesAfter(name).includes(line))
              expect([...person.seen]).toEqual(expect.arrayContaining(lost))
            }
            for (const [name, text] of code === 0 ? sent : []) {
              const own = text.split('\n').filter((line) => line.includes(` by ${who} `) && !published.has(line))
              expect(linesAfter(name)).toEqual(expect.arrayContaining(own))
            }
            for (const line of linesOf(liveAfter.values())) published.add(line)
          }
        }
      }),
      { examples: merging.map((steps) => [steps]), numRuns: merging.length + histories, seed: 20_261_121 },
    )
  },
  timeFor(histories),
)
