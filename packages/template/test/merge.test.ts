import { expect, it } from 'vitest'
import { scan } from '../src/index.ts'
import { type MergeSides, mergeLines, mergeTexts } from '../src/merge/merge-texts.ts'
import { randomNumbers } from './engine-tree.ts'

const CASES = process.env['STET_TEST_LONG'] === '1' ? 20_000 : 1_000
const SEED = Number(process.env['STET_TEST_SEED'] ?? 7)

const names = { mine: 'mine', theirs: 'theirs' }
const merge = (base: string | undefined, mine: string, theirs: string) =>
  mergeTexts({ base, mine, theirs, names }, () => true)
const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('')
const conflict = (mine: string[], theirs: string[]): string =>
  text('<<<<<<< mine', ...mine, '=======', ...theirs, '>>>>>>> theirs')

interface Case {
  base: string[]
  mine: string[]
  theirs: string[]
  /** No line repeats, so that each one can be followed. */
  isUnique: boolean
}

function* randomCases(count: number, seed: number): Generator<Case> {
  const random = randomNumbers(seed)
  const below = (limit: number): number => Math.floor(random() * limit)
  for (let made = 0; made < count; made += 1) {
    const isUnique = made % 2 === 0
    const base = Array.from({ length: 1 + below(12) }, (_, at) => (isUnique ? `l${at}` : `l${below(3)}`))
    const edited = (mark: string): string[] => {
      const lines = [...base]
      for (let edits = below(3); edits > 0; edits -= 1) {
        const at = below(lines.length + 1)
        const kind = below(3)
        if (kind === 0) lines.splice(at, 0, mark + below(3))
        else if (kind === 1) lines.splice(at, 1)
        else if (at < lines.length) lines[at] = mark + below(3)
      }
      return lines
    }
    yield { base, mine: edited('m'), theirs: edited('t'), isUnique }
  }
}

it('random edits: one side alone wins, both orders agree, and no line of either side is lost without a conflict', async () => {
  let [clean, conflicting] = [0, 0]
  for (const { base, mine, theirs, isUnique } of randomCases(CASES, SEED)) {
    const [b, m, t] = [text(...base), text(...mine), text(...theirs)]
    const failure = JSON.stringify({ seed: SEED, base, mine, theirs })
    expect((await merge(b, m, b)).text, failure).toBe(m)
    expect((await merge(b, b, t)).text, failure).toBe(t)
    expect((await merge(b, m, m)).text, failure).toBe(m)
    const [merged, swapped] = [await merge(b, m, t), await merge(b, t, m)]
    expect(swapped.regions.length, failure).toBe(merged.regions.length)
    const lines = merged.text.split('\n').slice(0, -1)
    for (const { line, lines: length } of merged.regions) {
      expect([lines[line - 1], lines[line + length - 2]], failure).toEqual(['<<<<<<< mine', '>>>>>>> theirs'])
    }
    for (const line of [...mine, ...theirs]) if (!base.includes(line)) expect(lines, failure).toContain(line)
    if (merged.regions.length > 0) conflicting += 1
    else {
      clean += 1
      expect(swapped.text, failure).toBe(merged.text)
      const kept = base.filter((line) => mine.includes(line) && theirs.includes(line))
      if (isUnique)
        expect(
          lines.filter((line) => base.includes(line)),
          failure,
        ).toEqual(kept)
    }
  }
  expect(Math.min(clean, conflicting)).toBeGreaterThan(CASES / 10)
})

const base = text('one', 'two', 'three', 'four', 'five')

it.each<[string, string, string, string]>([
  [
    'edits of different lines',
    base.replace('one', '1'),
    base.replace('five', '5'),
    text('1', 'two', 'three', 'four', '5'),
  ],
  [
    'the same edit',
    base.replace('one', '1'),
    base.replace('one', '1').replace('five', '5'),
    text('1', 'two', 'three', 'four', '5'),
  ],
  [
    'the same insertion',
    text('zero', ...base.trim().split('\n')),
    text('zero', ...base.trim().split('\n')).replace('five', '5'),
    text('zero', 'one', 'two', 'three', 'four', '5'),
  ],
  [
    'a deletion and an edit elsewhere',
    base.replace('one\n', ''),
    base.replace('five', '5'),
    text('two', 'three', 'four', '5'),
  ],
  [
    'a lost final line break and an edit of the last line',
    base.trimEnd(),
    base.replace('five', '5'),
    text('one', 'two', 'three', 'four', '5').trimEnd(),
  ],
  [
    'other line ends and an edit',
    base.replaceAll('\n', '\r\n'),
    base.replace('five', '5'),
    text('one', 'two', 'three', 'four', '5').replaceAll('\n', '\r\n'),
  ],
])('%s merge', async (_, mine, theirs, expected) => {
  expect(await merge(base, mine, theirs)).toEqual({ text: expected, regions: [] })
  expect(await merge(base, theirs, mine)).toEqual({ text: expected, regions: [] })
})

it.each<[string, string, string, string]>([
  [
    'edits of the same line',
    base.replace('two', '2'),
    base.replace('two', 'II'),
    base.replace('two\n', conflict(['2'], ['II'])),
  ],
  [
    'edits of adjacent lines',
    base.replace('two', '2'),
    base.replace('three', '3'),
    base.replace('two\nthree\n', conflict(['2', 'three'], ['two', '3'])),
  ],
  [
    'a deletion against an edit',
    base.replace('two\n', ''),
    base.replace('two', 'II'),
    base.replace('two\n', conflict([], ['II'])),
  ],
  [
    'insertions at the same place',
    base.replace('two', 'a\ntwo'),
    base.replace('two', 'b\ntwo'),
    base.replace('two\n', `${conflict(['a'], ['b'])}two\n`),
  ],
  [
    'an emptied text against an edit',
    '',
    base.replace('two', 'II'),
    conflict([], ['one', 'II', 'three', 'four', 'five']),
  ],
])('%s conflict', async (_, mine, theirs, expected) => {
  expect(await merge(base, mine, theirs)).toMatchObject({ text: expected, regions: [expect.anything()] })
})

it('names the lines of each conflict, and keeps CRLF in and around its markers', async () => {
  const crlf = (lf: string): string => lf.replaceAll('\n', '\r\n')
  const mine = base.replace('one', '1').replace('five', '5')
  const theirs = base.replace('one', 'I').replace('five', 'V')
  const expected = conflict(['1'], ['I']) + text('two', 'three', 'four') + conflict(['5'], ['V'])
  const regions = [
    { line: 1, lines: 5 },
    { line: 9, lines: 5 },
  ]
  expect(await merge(base, mine, theirs)).toEqual({ text: expected, regions })
  expect(await merge(crlf(base), crlf(mine), crlf(theirs))).toEqual({ text: crlf(expected), regions })
})

it('without a base every difference conflicts, also in line ends', async () => {
  const mine = base.replace('two', '2')
  expect(await merge(undefined, mine, base)).toEqual({
    text: base.replace('two\n', conflict(['2'], ['two'])),
    regions: [{ line: 2, lines: 5 }],
  })
  // A different last line break or line end is a difference too.
  for (const theirs of [base.trimEnd(), base.replaceAll('\n', '\r\n')]) {
    const lines = base.trimEnd().split('\n')
    expect(await merge(undefined, base, theirs)).toEqual({
      text: conflict(lines, lines),
      regions: [{ line: 1, lines: 2 * lines.length + 3 }],
    })
  }
})

it('a merge that does not compile although both sides do is a conflict', async () => {
  const compiles = (content: string): boolean => scan({ path: 'p', content, documents: {} }).errors.length === 0
  const sides: MergeSides = {
    base: text('---', 'model: a', 'seed: 1', 'top_p: 1', '---', 'Hi'),
    mine: text('---', 'temperature: 0', 'model: a', 'seed: 1', 'top_p: 1', '---', 'Hi'),
    theirs: text('---', 'model: a', 'seed: 1', 'top_p: 1', 'temperature: 1', '---', 'Hi'),
    names,
  }
  const merged = await mergeTexts(sides, compiles)
  expect(merged).toEqual({
    text: `---\n${conflict(
      ['temperature: 0', 'model: a', 'seed: 1', 'top_p: 1'],
      ['model: a', 'seed: 1', 'top_p: 1', 'temperature: 1'],
    )}---\nHi\n`,
    regions: [{ line: 2, lines: 11 }],
  })
  const broken = { ...sides, mine: sides.mine.replace('Hi', 'Hi {{') }
  expect((await mergeTexts(broken, compiles)).regions).toEqual([])
})

const lineCount = 131_072
const linesOf = (line: (at: number) => string, count = lineCount): string =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('')
const random = randomNumbers(7)
const anyOf = (limit: number) => () => String(Math.floor(random() * limit))
const longLine = 'x'.repeat(500)

it.each<[string, string, string, string]>([
  ['different', linesOf(() => ''), linesOf(() => 'm'), linesOf(() => 't')],
  ['random', linesOf(anyOf(5)), linesOf(anyOf(5)), linesOf(anyOf(5))],
  ['periodic', linesOf((at) => String(at % 2)), linesOf((at) => String(at % 3)), linesOf((at) => String(at % 5))],
  [
    'shifted',
    linesOf((at) => String(at % 300)),
    linesOf((at) => String((at + 150) % 300)),
    linesOf((at) => String((at + 75) % 300)),
  ],
  [
    'almost periodic',
    linesOf((at) => String(at % 400 === 0)),
    linesOf((at) => String(at % 401 === 0)),
    linesOf((at) => String(at % 399 === 0)),
  ],
  [
    'edited everywhere',
    linesOf(String),
    linesOf((at) => (at % 1000 === 0 ? 'm' : String(at))),
    linesOf((at) => (at % 1000 === 500 ? 't' : String(at))),
  ],
  ['emptied', linesOf(String), '', linesOf((at) => String(at + 1))],
  [
    'of long lines',
    linesOf((at) => longLine + (at % 2), 500),
    linesOf((at) => longLine + (at % 3), 500),
    linesOf((at) => longLine + (at % 5), 500),
  ],
])('hostile texts are bounded: %s', async (_, base, mine, theirs) => {
  const before = process.cpuUsage()
  await merge(base, mine, theirs)
  await merge(undefined, mine, theirs)
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(2_000)
})

it('without names, a conflict has the lines of mine, among the merged ones', () => {
  const mine = text('one', '2 mine', 'three', 'four', 'five')
  const theirs = text('one', '2 theirs', 'three', 'four', '5')
  const merged = { text: text('one', '2 mine', 'three', 'four', '5'), regions: [{ line: 2, lines: 1 }] }
  expect(mergeLines({ base, mine, theirs })).toEqual(merged)
})
