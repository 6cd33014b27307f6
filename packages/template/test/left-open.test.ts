import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { scan } from '../src/index.ts'
import { firstIssue, sourceOf } from './support.ts'

it.each([
  ['a condition', '<user>\n{{ if a }}x</user>', 2, 1],
  ['a loop', '<user>{{ for a in l }}x</user> y', 1, 7],
  ['after else if', '<user>{{ if a }}x{{ else if b }}{{ if c }}y{{ endif }}</user>', 1, 7],
  ['with an escaped end', '<user>{{ if a }}\\{{ endif }}</user>', 1, 7],
  ['behind a repaired schema', '<step schema={{ type: "object" }}>{{ if a }}x</step>', 1, 35],
])('a block that the tag around it ends is left open: %s', async (_name, content, line, column) => {
  expect(await firstIssue(content)).toMatchObject({ code: 'unclosed-block', line, column })
})

it('reports the position in a referenced document', async () => {
  const issue = await firstIssue('Hi <prompt path="/other" />', { other: 'A\n<user>{{ if a }}x</user>' })
  expect(issue).toMatchObject({ code: 'unclosed-block', path: 'other', line: 2, column: 7 })
})

const mark = { if: '\u0001if\u0002', for: '\u0001for\u0002' }
const space = fc.constantFrom('', ' ', '\n')
const { content } = fc.letrec<{ content: string; node: string; condition: string; loop: string }>((tie) => ({
  content: fc.array(tie('node'), { maxLength: 3 }).map((nodes) => nodes.join('')),
  node: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('text', '{{ v }}', '\\{{ endif }}', '/* c */', '{{ "}}" }}', ' \n'),
    tie('condition'),
    tie('loop'),
  ),
  condition: fc
    .tuple(space, tie('content'), fc.option(tie('content')), fc.option(tie('content')))
    .map(
      ([blank, then, elseIf, otherwise]) =>
        `{{${blank}if a }}${blank}${then}${elseIf === null ? '' : `{{ else if b }}${blank}${elseIf}`}` +
        `${otherwise === null ? '' : `{{ else }}${otherwise}`}${mark.if}`,
    ),
  loop: fc
    .tuple(space, tie('content'), fc.option(tie('content')))
    .map(
      ([blank, each, none]) => `{{ for _ in l }}${blank}${each}${none === null ? '' : `{{ else }}${none}`}${mark.for}`,
    ),
}))

it('is reported for every prompt with a missing end, and not for closed blocks', async () => {
  const errorsOf = async (text: string) => (await scan(sourceOf(`<user>${text}</user>`))).errors
  const codesOf = async (text: string) =>
    (await errorsOf(text)).map(({ code }) => code).filter((code) => code !== 'variable-already-declared')
  const ends = /\u0001(if|for)\u0002/g
  await fc.assert(
    fc.asyncProperty(content, fc.nat(), async (text, pick) => {
      expect(await codesOf(text.replaceAll(ends, '{{ end$1 }}'))).toEqual([])
      const count = [...text.matchAll(ends)].length
      if (count === 0) return
      let at = -1
      const cut = text.replaceAll(ends, (_, kind: string) => {
        at += 1
        return at === pick % count ? '' : `{{ end${kind} }}`
      })
      expect((await codesOf(cut)).length).toBeGreaterThan(0)
    }),
    { numRuns: 300 },
  )
})
